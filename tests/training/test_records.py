"""The shipped records equal those that their command makes from the shipped models."""

from __future__ import annotations

import pytest

import bartviz
from bartviz.models.load import load
from bartviz.serving.first_record import FILE
from training.records import RECORDS


@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDS)
def test_a_saved_record_is_of_the_embedded_model_as_it_is_now(name: str) -> None:
    model, text, given = RECORDS[name]
    record = bartviz.open(FILE.with_name(f"{name}.safetensors"))
    assert record.model.fingerprint == load(model).info.fingerprint
    assert record.source_text.startswith(text)
    assert all(check.passed for check in record.provenance.checks)
    assert {record.attention(kind).v is not None for kind in record.kinds} == {given.get("values", False)}
    assert given.get("target") in (None, record.target_text)
