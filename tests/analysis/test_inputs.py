"""Positions and sums with numbers that can be checked by hand, then for any size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bartviz.analysis import inputs
from bartviz.analysis.inputs import Inputs
from bartviz.errors import SettingError
from tests import stand_in


def made(token: list[list[float]], position: list[list[float]] | None) -> Inputs:
    tokens = stand_in.tokens(["<s>", " cat"])
    parts = {"token": np.array(token)} | ({} if position is None else {"position": np.array(position)})
    whole = sum(parts.values(), np.zeros((2, 2)))
    rows = None if position is None else np.arange(2)
    return Inputs("m", "gpt2", "decoder", tokens, parts, 1.0, rows, whole, None, whole, whole + 2e-6, parts["token"])


def test_lengths_and_shares_of_two_parts() -> None:
    one = made([[3, 0], [6, 0]], [[0, 4], [2, 0]])
    lengths = inputs.norms(one)
    assert lengths["token"].tolist() == [3, 6]
    assert lengths["position"].tolist() == [4, 2]
    assert lengths["sum"].tolist() == [5, 8]
    assert inputs.shares(one)["token"].tolist() == [9 / 25, 0.75]
    assert inputs.shares(one)["position"].tolist() == [16 / 25, 0.25]
    assert inputs.table(one)["share: position"].tolist() == [16 / 25, 0.25]
    assert inputs.formula(one) == "token + position"
    assert "3.0 times as long" in inputs.sentence(one)
    assert "25% of its sum" in inputs.sentence(one)


def test_the_self_check_has_a_limit() -> None:
    one = made([[3, 0], [6, 0]], None)
    assert one.error == pytest.approx(2e-6)
    assert one.passed
    assert "adds nothing" in inputs.sentence(one)
    wrong = replace(one, own=one.own + 1)
    assert not wrong.passed


def test_the_encoding_of_the_paper() -> None:
    table = inputs.sinusoidal(3, 4)
    np.testing.assert_allclose(table[0], [0, 1, 0, 1])
    np.testing.assert_allclose(table[2], [np.sin(2), np.cos(2), np.sin(0.02), np.cos(0.02)])


@given(width=st.integers(1, 40), shift=st.integers(-30, 30), rows=st.integers(31, 60))
def test_a_shift_of_sines_is_one_rotation_for_all_positions(width: int, shift: int, rows: int) -> None:
    table = inputs.sinusoidal(rows, 2 * width)
    turn = inputs.rotation(2 * width, shift)
    np.testing.assert_allclose(turn @ turn.T, np.eye(2 * width), atol=1e-12)
    first, then = (table[:-shift], table[shift:]) if shift > 0 else (table[-shift:], table[: rows + shift])
    np.testing.assert_allclose(first @ turn, then, atol=1e-12)


def test_an_odd_width_has_no_rotation() -> None:
    with pytest.raises(SettingError, match="even width"):
        inputs.rotation(3, 1)


def test_a_line_is_shifted_exactly_and_noise_is_not() -> None:
    line = np.arange(32.0)[:, None] * np.array([[1.0, 2.0]])
    found = inputs.shift(line)
    assert found.shifts.tolist() == list(range(1, 9))
    assert found.held.max() < 1e-9
    assert found.exact.max() < 1e-12
    noise = inputs.shift(np.random.default_rng(0).normal(size=(64, 128)))
    assert noise.seen.max() < 1e-9  # as many dimensions as positions: a perfect fit ...
    assert noise.held.min() > 0.8  # ... that means nothing
    assert "no better" in inputs.shift_sentence(noise) or "better than nothing" in inputs.shift_sentence(noise)
    with pytest.raises(SettingError, match="at least 8"):
        inputs.shift(line[:7])


def test_similarities_are_cosines() -> None:
    found = inputs.similarity(np.array([[2.0, 0], [0, 3], [-1, 0], [0, 0]]))
    assert found.tolist() == [[1, 0, -1, 0], [0, 1, 0, 0], [-1, 0, 1, 0], [0, 0, 0, 0]]


def test_a_bias_by_distance() -> None:
    bias = np.array([[[5, 7], [3, 5]]], float)
    steps, values = inputs.distances(bias)
    assert steps.tolist() == [-1, 0, 1]
    assert values.tolist() == [[3, 5, 7]]


def test_what_is_told_of_the_pieces() -> None:
    tokens = stand_in.tokens(stand_in.OUTPUT)
    assert inputs.told(tokens) == (
        "The model does not see letters: 6 words became 9 ids, 2 special tokens among them; “kaufen” is cut into 2 "
        "pieces."
    )
    frame = inputs.pieces(tokens)
    assert frame["id"].tolist() == list(range(9))
    assert frame["special"].sum() == 2
