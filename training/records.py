"""Make the saved records that the start page and the lessons show before any model is loaded.

``python -m training.records``; with values kept, every page can draw a record, at 3 MB of the translator's size.
"""

from __future__ import annotations

from dataclasses import dataclass

import bartviz
from bartviz.serving.first_record import FILE


@dataclass(frozen=True, slots=True)
class Wanted:
    """One record: the file's name, the embedded model, and what it is given."""

    name: str
    model: str
    text: str
    pair: str | None = None
    target: str | None = None
    allow_special: bool = False
    values: bool = True


RECORDS = (
    Wanted("start", "bart-tiny-en-de", "I want to buy a car."),
    Wanted("given", "bart-tiny-en-de", "I want to buy a car.", target="Ich will ein Haus kaufen.", values=False),
    Wanted("repair", "bart-tiny-denoise", "I want to <mask> a car.", allow_special=True, values=False),
    Wanted("words", "bert-tiny-en", "The cat did not cross the street because it was too tired."),
    Wanted("mask", "bert-tiny-en", "I want to buy a [MASK].", pair="It is very old.", allow_special=True),
)


def main() -> None:
    """Write every record from the embedded models, beside each other."""
    FILE.parent.mkdir(parents=True, exist_ok=True)
    for wanted in RECORDS:
        record = bartviz.capture(
            bartviz.load(wanted.model),
            wanted.text,
            pair=wanted.pair,
            target=wanted.target,
            allow_special=wanted.allow_special,
            values=wanted.values,
        )
        file = FILE.with_name(f"{wanted.name}.safetensors")
        record.save(file)
        print(f"{file.name}: {record.target_text or record.source_text} ({file.stat().st_size / 1e6:.2f} MB)")


if __name__ == "__main__":
    main()
