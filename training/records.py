"""Make the saved records that the app shows before any model is loaded: ``python -m training.records``."""

from __future__ import annotations

import bartviz
from bartviz.ui.saved import FILE

MODEL = "bart-tiny-en-de"
TEXT = "I want to buy a car."


def main() -> None:
    """Write the start page's record from the embedded translator."""
    record = bartviz.capture(bartviz.load(MODEL), TEXT)
    FILE.parent.mkdir(parents=True, exist_ok=True)
    record.save(FILE)
    print(f"{FILE.name}: {record.target_text} ({FILE.stat().st_size / 1e6:.2f} MB)")


if __name__ == "__main__":
    main()
