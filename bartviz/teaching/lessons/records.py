"""The saved records that lessons show: no model is loaded for them, and no network is needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bartviz.record.record import open_record
from bartviz.serving.first_record import FILE
from bartviz.serving.read_once import read_once

if TYPE_CHECKING:
    from bartviz.record.record import Record

NAMES = ("start", "given", "repair", "words", "mask")
GIVEN: Mapping[str, str] = {"given": "Ich will ein Haus kaufen."}  # outputs that were not the model's own
PAIRS: Mapping[str, str] = {"mask": "It is very old."}  # second sentences


@read_once
def read(name: str) -> Record:
    """The record of that name (one of NAMES), read once per process. Raises RecordError for one that is not there."""
    return open_record(FILE.with_name(f"{name}.safetensors"))


def controls(name: str) -> dict[str, str | bool]:
    """What the sidebar's controls hold where this record is made: model, texts, and whether typed masks count."""
    record = read(name)
    return {
        "model": record.model.name,
        "text": record.source_text,
        "pair": PAIRS.get(name, ""),
        "target": GIVEN.get(name, ""),
        "special": "<mask>" in record.source_text or "[MASK]" in record.source_text,
    }
