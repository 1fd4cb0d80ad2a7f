"""Positions and sums with numbers that can be checked by hand, then for any size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bartviz.analysis import inputs
from bartviz.analysis.inputs import Inputs
from tests.support import stand_in


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
    assert "25% of their sum, measured along it" in inputs.sentence(one)


def test_the_self_check_has_a_limit() -> None:
    one = made([[3, 0], [6, 0]], None)
    assert one.error == pytest.approx(2e-6)
    assert one.passed
    assert "adds nothing" in inputs.sentence(one)
    wrong = replace(one, own=one.own + 1)
    assert not wrong.passed


def test_the_sentence_about_the_pieces() -> None:
    tokens = stand_in.tokens(stand_in.OUTPUT)
    assert inputs.pieces_sentence(tokens) == (
        "The model gets 9 numbers and no letters: 7 for the pieces of 6 words and punctuation marks, 2 for special "
        "tokens. “kaufen” alone is cut into 2."
    )
    frame = inputs.pieces(tokens)
    assert frame["id"].tolist() == list(range(9))
    assert frame["special"].sum() == 2


def test_the_numbers_of_the_sentence_add_up_where_no_word_is_cut() -> None:
    tokens = stand_in.tokens(["<s>", " a", " cat", ".", "</s>"])
    assert inputs.pieces_sentence(tokens) == (
        "The model gets 5 numbers and no letters: 3 for words and punctuation marks, 2 for special tokens. No word "
        "had to be split."
    )
    assert inputs.pieces_sentence(stand_in.tokens([" a", " cat"])) == (
        "The model gets 2 numbers and no letters: 2 for words and punctuation marks, none for special tokens. No word "
        "had to be split."
    )
    assert inputs.pieces_sentence(stand_in.tokens(["<s>", "</s>"])) == "The model gets 2 ids: 2 for special tokens."
    assert inputs.marks_sentence([tokens]) == "“<s>” and “</s>” mark where the text begins and ends."
    assert inputs.marks_sentence([tokens, stand_in.tokens(["</s>", "<s>", " a"])]) == ""  # as a decoder reads them
    assert inputs.marks_sentence([]) == ""
