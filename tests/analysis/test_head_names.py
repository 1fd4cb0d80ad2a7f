"""Names: only with a score above the threshold, and never if even attention scores the same."""

from __future__ import annotations

import numpy as np
import pytest

import bartviz
from bartviz.analysis import head_names
from bartviz.analysis.look_ahead import BACK, NEITHER
from bartviz.analysis.measures import measures, of_record
from tests.analysis.test_measures import head
from tests.support import stand_in


def test_a_head_is_named_by_its_score_and_the_threshold() -> None:
    found = head_names.name(measures(head(np.eye(6, k=-1) * 0.83 + 0.17 / 6)), 0, 0)
    assert found is not None
    assert (found.title, found.threshold) == ("previous token", 0.5)
    assert str(found) == f"previous token {found.score:.2f} (threshold 0.5)"


def test_a_higher_threshold_takes_the_name_away() -> None:
    measured = measures(head(np.eye(6, k=-1) * 0.6 + 0.4 / 6))
    assert head_names.name(measured, 0, 0) is not None
    assert head_names.name(measured, 0, 0, threshold=0.9) is None
    assert head_names.sentence(head_names.name(measured, 0, 0, threshold=0.9)) == "unclassified"


def test_an_even_head_is_named_so_even_where_two_keys_get_half_each() -> None:
    found = head_names.name(measures(head(np.full((2, 2), 0.5), labels=("a", " b"))), 0, 0)
    assert found is not None
    assert (found.title, found.threshold) == ("spreads evenly", 0.9)


def test_rest_on_the_first_token_is_not_called_rest_on_all_special_ones() -> None:
    weights = np.full((6, 6), 0.02)
    weights[:, 0] = 0.9
    found = head_names.name(measures(head(weights)), 0, 0)
    assert found is not None
    assert found.title == "first token"
    weights[:, 0], weights[:, 5] = 0.42, 0.5
    found = head_names.name(measures(head(weights)), 0, 0)
    assert found is not None
    assert found.title == "special tokens"


def test_names_hold_only_heads_that_have_one() -> None:
    weights = np.full((6, 6), 0.1)
    weights[:, 2] = 0.5  # on b: no measure asks for it, and it is far from even
    weights[:, 3] = 0.3
    measured = measures(head(weights / weights.sum(axis=1, keepdims=True)))
    assert head_names.names(measured) == {}


ALIGNED = {  # the words of the output are in another order, so that no head is a diagonal
    True: ((0, 0, 0, 1, 0), (0, 0, 1, 0, 0), (0, 1, 0, 0, 0), (0, 0, 0, 0, 1)),  # each row at what it predicts
    False: ((1, 0, 0, 0, 0), (0, 0, 0, 1, 0), (0, 0, 1, 0, 0), (0, 1, 0, 0, 0)),  # at what it has just read
}
KEY = ("<s>", "a", " b", " c", "</s>")
OUTPUT = stand_in.tokens(("C", " B", " A", "</s>"))


@pytest.mark.parametrize(("ahead", "called"), [(True, "one to one"), (False, "one to one, except the first word")])
def test_a_head_that_pairs_words_is_said_to_rest_in_its_first_row(ahead: bool, called: str) -> None:
    attention = head(ALIGNED[ahead], KEY, "cross")
    found = head_names.name(measures(attention, query=OUTPUT), 0, 0)
    assert found is not None
    assert str(found) == f"{called} 1.00 (threshold 0.5)"


@pytest.mark.parametrize("shift", [0, 1, 2])
def test_a_head_that_pairs_words_is_not_said_to_align_them(shift: int) -> None:
    """Row i looks at word i + shift: with 0 rightly, otherwise at a wrong one. The weights of all three pair words."""
    weights = np.zeros((7, 8))
    for row in range(6):
        weights[row, 1 + (row + shift) % 6] = 1
    weights[6, 7] = 1
    labels = ("<s>", *(f" {letter}" for letter in "abcdef"), "</s>")
    output = stand_in.tokens((*(f" {letter}" for letter in "ABCDEF"), "</s>"))
    measured = measures(head(weights, labels, "cross"), query=output)
    found = head_names.name(measured, 0, 0)
    assert found is not None
    assert measured.values["alignment"][0, 0] == 1
    assert "align" not in found.title
    if shift:
        assert found.title == "one to one"


def test_where_it_cannot_be_told_a_head_pairs_words() -> None:
    one_word = head(np.array(ALIGNED[True])[:1], KEY, "cross")
    found = head_names.name(measures(one_word, query=OUTPUT.take(slice(0, 1))), 0, 0)
    assert found is not None
    assert (found.title, found.direction) == ("one to one", NEITHER)


@pytest.mark.slow
def test_the_best_of_those_that_rest_in_the_first_row_and_of_those_that_do_not_come_first() -> None:
    model = bartviz.load("bart-tiny-en-de")
    measured = of_record(bartviz.capture(model, "I want to buy a car."), "cross")
    first = [(place, given.title) for place, given in head_names.clearest(measured)[:4]]
    assert ((1, 4), "one to one, except the first word") in first
    assert [title for _, title in first].count("one to one") == 1


def test_every_name_has_a_habit_with_its_share_of_the_attention() -> None:
    """Of an even head the score is no share of attention, so its habit says none."""
    for measure in (*head_names.NAMES, "evenness"):
        habit = head_names.Name(measure, 0.9, 0.5).habit
        assert habit.endswith("(with 90% of its attention)") == (measure != "evenness")
    assert (
        head_names.Name("alignment", 0.9, 0.5, BACK).habit
        == "links words one to one, except the first word (with 90% of its attention)"
    )


def test_every_name_is_explained_in_a_sentence_of_its_own() -> None:
    names = [head_names.Name(measure, 0.9, 0.5) for measure in (*head_names.NAMES, "evenness")]
    said = [name.explained for name in names]
    assert len(set(said)) == len(names)
    assert all(one.endswith(".") for one in said)
    assert head_names.Name("alignment", 0.9, 0.5, BACK).explained.startswith(f"{said[0]} Before the first word")
