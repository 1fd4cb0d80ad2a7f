"""A record: the labels of its rows."""

from __future__ import annotations

import pytest

from bartviz.record.attention import Kind
from bartviz.record.record import Reading
from tests.support import stand_in

RECORD = stand_in.record()
READ = RECORD.attention("decoder").query


@pytest.mark.parametrize(
    ("kind", "reading", "expected"),
    [
        ("encoder", None, RECORD.source),
        ("encoder", "predicts", RECORD.source),
        ("decoder", None, READ),
        ("decoder", "reads", READ),
        ("decoder", "predicts", RECORD.output),
        ("cross", None, RECORD.output),
        ("cross", "reads", READ),
        ("cross", "predicts", RECORD.output),
    ],
)
def test_rows_of_cross_attention_are_labelled_by_what_they_predict(
    kind: Kind, reading: Reading | None, expected: object
) -> None:
    assert RECORD.rows(kind, reading) == expected
    assert RECORD.output != READ
