"""The saved records that the lessons show; they need neither a loaded model nor a network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bartviz.record.record import open_record
from bartviz.serving.first_record import FILE
from bartviz.serving.read_once import read_once

if TYPE_CHECKING:
    from bartviz.record.record import Record

NAMES = ("start", "given", "repair", "words", "mask")
GIVEN: Mapping[str, str] = {"given": "Ich will ein Haus kaufen."}  # outputs given to the model instead of its own
PAIRS: Mapping[str, str] = {"mask": "It is very old."}  # second sentences


@read_once
def read(name: str) -> Record:
    """The record of that name (one of NAMES), read once per process. Raises RecordError if it is missing."""
    return open_record(FILE.with_name(f"{name}.safetensors"))


def controls(name: str) -> dict[str, str]:
    """The sidebar's values for this record: model, texts, and whether typed masks are special tokens."""
    record = read(name)
    return {
        "model": record.model.name,
        "text": record.source_text,
        "pair": PAIRS.get(name, ""),
        "target": GIVEN.get(name, ""),
        "special": "true" if "<mask>" in record.source_text or "[MASK]" in record.source_text else "gaps",
    }
