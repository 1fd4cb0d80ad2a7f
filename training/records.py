"""Make the saved records that the start page and the lessons show before any model is loaded.

``python -m training.records``; with values kept, every page can draw a record, at 3 MB of the translator's size.
"""

from __future__ import annotations

from typing import Any

import bartviz
from bartviz.serving.first_record import FILE

# the file's name -> the embedded model, its text, and what else it is given
RECORDS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "start": ("bart-tiny-en-de", "I want to buy a car.", {"values": True}),
    "given": ("bart-tiny-en-de", "I want to buy a car.", {"target": "Ich will ein Haus kaufen."}),
    "repair": ("bart-tiny-denoise", "I want to <mask> a car.", {"allow_special": True}),
    "words": ("bert-tiny-en", "The cat did not cross the street because it was too tired.", {"values": True}),
    "mask": (
        "bert-tiny-en",
        "I want to buy a [MASK].",
        {"pair": "It is very old.", "allow_special": True, "values": True},
    ),
}


def main() -> None:
    """Write every record from the embedded models, beside each other."""
    FILE.parent.mkdir(parents=True, exist_ok=True)
    for name, (model, text, given) in RECORDS.items():
        record = bartviz.capture(bartviz.load(model), text, **given)
        file = FILE.with_name(f"{name}.safetensors")
        record.save(file)
        print(f"{file.name}: {record.target_text or record.source_text} ({file.stat().st_size / 1e6:.2f} MB)")


if __name__ == "__main__":
    main()
