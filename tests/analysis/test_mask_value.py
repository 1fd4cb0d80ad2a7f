"""What is added to masked scores: checked against numbers a person can compute, against torch, and as properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bartviz.analysis.mask_value import (
    FORMATS,
    LOWEST,
    NUMBERS,
    Format,
    additive,
    compare_numbers,
    exactly_zero_from,
    number_of,
    rounded,
    softmax_added,
)
from bartviz.arrays import Bools, Floats
from bartviz.errors import SettingError
from bartviz.record.softmax import masked_softmax

torch = pytest.importorskip("torch")

SCORES = np.array([1.0, 0.0, 3.0], np.float32)
TWO = np.array([True, True, False])
NONE = np.zeros(3, np.bool_)
finite = st.floats(-30, 30, width=32)


def test_matrix_holds_zero_where_a_row_may_look_and_the_number_elsewhere() -> None:
    np.testing.assert_array_equal(additive(np.tri(2).astype(np.bool_), -1e4), [[0, -1e4], [0, 0]])


def test_weights_of_a_row_by_hand() -> None:
    e = np.e
    np.testing.assert_allclose(softmax_added(SCORES, TWO, -1e9), [e / (e + 1), 1 / (e + 1), 0], rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "to", "expected"),
    [
        ("-10,000", "float32", "as if unmasked"),
        ("-10,000", "bfloat16", "uniform"),  # steps of 64 near 10,000
        ("-10,000", "float16", "uniform"),  # steps of 8
        ("-1e9", "float32", "uniform"),  # steps of 64
        ("-1e9", "float16", "NaN"),  # beyond 65,504: infinite
        ("lowest", "float32", "uniform"),
        ("lowest", "float16", "uniform"),
        ("-inf", "float32", "NaN"),
    ],
)
def test_row_that_is_masked_wholly(name: str, to: Format, expected: str) -> None:
    frame = compare_numbers(SCORES).set_index(["added", "format"])
    assert frame.loc[(name, to), "row masked wholly"] == expected


def test_scores_far_apart_are_distorted_by_the_steps_of_float16() -> None:
    frame = compare_numbers(np.array([0.0, 5.0, 6.0, 7.0], np.float32)).set_index(["added", "format"])
    assert frame.loc[("-10,000", "float16"), "row masked wholly"] == "distorted"


def test_each_number_makes_one_masked_key_exactly_zero() -> None:
    frame = compare_numbers(SCORES)
    assert len(frame) == len(NUMBERS) * len(FORMATS)
    assert frame["exactly 0"].all()


@pytest.mark.parametrize(("to", "number"), [("float32", -103.98), ("bfloat16", -92.75), ("float16", -17.34)])
def test_from_where_on_a_weight_is_exactly_zero(to: Format, number: float) -> None:
    assert exactly_zero_from(to) == number
    # The smallest power of two of each format, 2^-149, 2^-133, 2^-24: half of it rounds to 0.
    smallest = {"float32": 149, "bfloat16": 133, "float16": 24}[to]
    assert number == pytest.approx(-(smallest + 1) * np.log(2), abs=0.4)


def test_small_numbers_only_make_weights_small() -> None:
    assert softmax_added(np.zeros(2, np.float32), np.array([True, False]), -10)[1] == pytest.approx(4.54e-5, rel=1e-3)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(arrays(np.float32, (4, 5), elements=finite), arrays(np.bool_, (4, 5)))
def test_lowest_number_gives_the_weights_of_the_record(scores: Floats, mask: Bools) -> None:
    np.testing.assert_allclose(
        softmax_added(scores, mask, LOWEST["float32"]), masked_softmax(scores.copy(), mask), atol=1e-6
    )


@settings(max_examples=50, deadline=None)
@given(arrays(np.float32, 20, elements=st.floats(-1e5, 1e5, width=32)))
def test_formats_round_as_torch_does(values: Floats) -> None:
    for to in FORMATS:
        theirs = torch.from_numpy(values).to(getattr(torch, to)).float().numpy()
        np.testing.assert_array_equal(rounded(values, to), theirs)
    assert float(torch.finfo(torch.bfloat16).min) == pytest.approx(LOWEST["bfloat16"], rel=1e-7)


def test_unknown_numbers_and_formats_are_refused_with_the_choices() -> None:
    with pytest.raises(SettingError, match="-1e9, lowest or -inf"):
        number_of("-5")
    with pytest.raises(SettingError, match="bfloat16 or float16"):
        softmax_added(SCORES, TWO, -1e9, "float64")  # type: ignore[arg-type]
    assert number_of("lowest", "float16") == -65504
