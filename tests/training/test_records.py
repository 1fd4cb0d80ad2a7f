"""The shipped records equal those that their command makes from the shipped models."""

from __future__ import annotations

import pytest

import bartviz
from bartviz.models.load import load
from bartviz.serving.first_record import FILE
from training.records import RECORDS, Wanted


@pytest.mark.slow
@pytest.mark.parametrize("wanted", RECORDS, ids=lambda wanted: wanted.name)
def test_a_saved_record_is_of_the_embedded_model_as_it_is_now(wanted: Wanted) -> None:
    record = bartviz.open(FILE.with_name(f"{wanted.name}.safetensors"))
    assert record.model.fingerprint == load(wanted.model).info.fingerprint
    assert record.source_text.startswith(wanted.text)
    assert all(check.passed for check in record.provenance.checks)
    assert {record.attention(kind).v is not None for kind in record.kinds} == {wanted.values}
    if wanted.target is not None:
        assert record.target_text == wanted.target
