"""Suggestions for a token: they can be typed as they are, the model's candidates come first, and words replace
words."""

from __future__ import annotations

import pytest

import bartviz
from bartviz.errors import SettingError
from bartviz.experiments.edits import token_id
from bartviz.experiments.suggestions import FEW, is_whole, suggestions, words
from bartviz.text.labels import CONTINUES
from tests.experiments.test_edits import TEXT, record
from tests.support import loaded


def test_what_is_offered_can_be_taken_as_it_is_typed() -> None:
    for family in ("bert", "bart", "t5", "gpt2"):
        model, one = loaded.model(family), record(family)
        offered = suggestions(model, one, 4)
        for number, suggestion in enumerate(offered):
            assert token_id(model, suggestion.typed, one.source, 4) == suggestion.token_id != one.source.ids[4]
            assert number == 0 or offered[number - 1].value >= suggestion.value


def test_a_written_token_is_offered_its_own_rivals() -> None:
    model = loaded.model("bart")
    one = bartviz.decode(model, TEXT, max_new_tokens=9, top_k=20)
    rivals = {candidate.token_id for candidate in one.steps[2].candidates}
    offered = suggestions(model, one, 3, part="target")
    assert {suggestion.token_id for suggestion in offered} <= rivals
    assert all(suggestion.why == "probability" for suggestion in offered)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bart-tiny-en-de", "bart-tiny-denoise", "bert-tiny-en"])
def test_words_are_offered_for_a_word(name: str) -> None:
    model = bartviz.load(name)
    target = None if "bert" in name else "Ja."
    one = bartviz.capture(model, "The cat is sleeping on the sofa.", target=target)
    for position in (2, 4, 7):
        offered = suggestions(model, one, position)
        assert len(offered) >= FEW
        assert {suggestion.label for suggestion in offered} <= words()
    assert "earthqu" not in words()


@pytest.mark.slow
def test_pieces_are_offered_for_a_piece() -> None:
    model = bartviz.load("bart-tiny-en-de")
    one = bartviz.capture(model, "an unbelievableness", target="Ja.")
    place = next(i for i, label in enumerate(one.source.labels) if label.startswith(CONTINUES))
    assert not is_whole(one.source, place)
    offered = suggestions(model, one, place)
    assert offered
    assert all(suggestion.label.startswith(CONTINUES) for suggestion in offered)


def test_a_language_without_a_list_keeps_its_pieces() -> None:
    model = loaded.model("bart")
    one = bartviz.capture(model, "고양이", target="Ja")
    assert suggestions(model, one, 1)


def test_a_place_that_is_not_there_is_refused() -> None:
    with pytest.raises(SettingError, match="position"):
        suggestions(loaded.model("bert"), record("bert"), -1)
