"""Two outputs side by side, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bartviz.features.experiments.numbers_output_diff import aligned, paired
from tests.analysis.test_ablation import ablation
from tests.support import stand_in


def test_outputs_are_laid_side_by_side() -> None:
    a, b = stand_in.tokens(("I", " want", " a", " car")), stand_in.tokens(("I", " want", " a", " car"))
    b = replace(b, ids=np.array([0, 9, 8, 2]))  # want became two tokens, the last one fell out
    found = aligned(a, b)
    assert [(part.same, part.before, part.after) for part in found] == [
        (True, slice(0, 1), slice(0, 1)),
        (False, slice(1, 2), slice(1, 3)),
        (True, slice(2, 3), slice(3, 4)),
        (False, slice(3, 4), slice(4, 4)),
    ]


@pytest.mark.slow
@given(st.lists(st.integers(0, 4), min_size=1, max_size=8), st.lists(st.integers(0, 4), min_size=1, max_size=8))
def test_every_token_of_both_outputs_is_in_one_stretch(first: list[int], second: list[int]) -> None:
    a, b = (replace(stand_in.tokens(["x"] * len(ids)), ids=np.array(ids)) for ids in (first, second))
    found = aligned(a, b)
    assert [i for part in found for i in range(part.before.start, part.before.stop)] == list(range(len(first)))
    assert [i for part in found for i in range(part.after.start, part.after.stop)] == list(range(len(second)))
    assert all(first[part.before] == second[part.after] for part in found if part.same)


def test_guesses_are_paired_row_by_row() -> None:
    found = ablation([0.5] * 3, [0.5] * 3, [7, 3, 7])
    assert [part.same for part in paired(found)] == [True, False, True]
