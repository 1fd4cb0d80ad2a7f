"""Heads that look sharply and may be silenced, and how even rows are: by hand, and over random records."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from bartviz.analysis.ablation import Sweep
from bartviz.analysis.measures import of_record
from bartviz.features.pitfalls import numbers_experiment_findings as experiment_findings
from bartviz.record.attention import Head
from bartviz.record.record import Record
from tests.features.pitfalls.test_numbers import ABC, encoder
from tests.support import records


def test_a_sharp_head_whose_silence_changes_little_is_the_quietest() -> None:
    record = encoder(
        [[[[0.9, 0.1, 0]] * 3, [[0.6, 0.2, 0.2]] * 3, [[0.98, 0.01, 0.01]] * 3, [[0.34, 0.33, 0.33]] * 3]], ABC
    )
    heads = tuple(Head("encoder", 0, head) for head in range(4))
    change = np.array([-0.05, 0.0, -3.0, 0.0], np.float32)
    nothing = np.zeros(4, np.float32)
    sweep = Sweep(heads, 0.0, False, -1.0, 1, change, nothing, np.zeros(4, np.int64), nothing)
    found = experiment_findings.quiet(sweep, {"encoder": of_record(record, "encoder")})
    np.testing.assert_allclose(found.peak, [0.9, 0.6, 0.98, 0.34], atol=1e-5)
    assert (found.sharp, found.idle) == (3, 2)
    assert found.quietest == 0


def test_without_a_sharp_head_none_is_quietest() -> None:
    record = encoder(np.full((1, 1, 3, 3), 1 / 3), ABC)
    nothing = np.zeros(1, np.float32)
    sweep = Sweep((Head("encoder", 0, 0),), 0.0, False, -1.0, 1, nothing, nothing, np.zeros(1, np.int64), nothing)
    found = experiment_findings.quiet(sweep, {"encoder": of_record(record, "encoder")})
    assert found.quietest is None
    assert found.sharp == found.idle == 0


def test_even_rows_have_all_the_bits_there_are() -> None:
    [found] = experiment_findings.evenness(encoder(np.full((2, 2, 4, 4), 0.25), (*ABC, " d")))
    assert found.bits == pytest.approx(2, abs=1e-5)
    assert found.possible == pytest.approx(2, abs=1e-5)
    assert found.share == pytest.approx(1, abs=1e-5)
    [sharp] = experiment_findings.evenness(encoder([[[[1, 0, 0, 0]] * 4]], (*ABC, " d")))
    assert sharp.bits == pytest.approx(0, abs=1e-5)


@pytest.mark.slow
@settings(max_examples=60)
@given(records.records())
def test_no_row_has_more_bits_than_are_possible(record: Record) -> None:
    for one in experiment_findings.evenness(record):
        assert -1e-5 <= one.bits <= one.possible + 1e-4
        assert one.kind in record.kinds
