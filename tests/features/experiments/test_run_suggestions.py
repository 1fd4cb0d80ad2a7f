"""Suggestions for a token: they can be typed as they are, the model's candidates come first, and words replace
words."""

from __future__ import annotations

import pytest
import torch

import bartviz
from bartviz.errors import SettingError
from bartviz.experiments.edits import edit, token_id
from bartviz.experiments.similar_tokens import FEW, alike, is_whole, language, words
from bartviz.features.experiments.run_suggestions import suggestions, telling
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


@pytest.mark.slow
def test_similar_words_are_of_the_language_of_the_text() -> None:
    """English "was" is spelled as German "was", and their embedding is one: what is like it is German."""
    model = bartviz.load("bart-tiny-en-de")
    other = words("de") - words("en")
    for text in ("The bank was closing.", "I want to buy a car.", "The children are playing in the garden today."):
        one = bartviz.capture(model, text, target="Ja.")
        assert language(one.source) == "en"
        for position, label in enumerate(one.source.labels):
            if label in words("en"):
                offered = suggestions(model, one, position)
                assert len(offered) >= FEW
                assert not {suggestion.label for suggestion in offered} & other, label
    was = {found[0] for found in alike(model, int(model.tokenizer.encode(" was", add_special_tokens=False)[0]))[:12]}
    assert {model.tokenizer.decode([token]).strip() for token in was} & other
    german = bartviz.capture(model, "Yes.", target="Ich möchte ein Auto kaufen.")
    assert german.decoder is not None
    assert language(german.decoder.query) == "de"


def test_likeness_is_the_cosine_of_embeddings_without_their_mean() -> None:
    model = loaded.model("bart")
    table = model.network.get_input_embeddings().weight.detach().double()
    centred = table - table.mean(dim=0)
    cosine = torch.nn.functional.cosine_similarity(centred, centred[7][None], dim=-1)
    found = alike(model, 7)
    assert found[0][0] == 7
    for token, value, _why in found:
        assert value == pytest.approx(float(cosine[token]), abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["I want to buy a car.", "The bank was closing.", "The cat is sleeping on the sofa."])
def test_the_default_replacement_changes_a_prediction_and_is_the_first_that_does(text: str) -> None:
    model = bartviz.load("bart-tiny-en-de")
    one = bartviz.decode(model, text)
    offered, position = suggestions(model, one, 4)[:6], 4
    chosen = telling(model, one, position, offered)
    for suggestion in offered:
        result = edit(model, one, position, suggestion.token_id)
        assert result.before is not None
        assert result.after is not None
        changes = bool((result.before.best != result.after.best).any())
        assert changes == (suggestion == chosen)
        if changes:
            break
    assert changes


def test_where_no_prediction_changes_the_default_moves_them_most() -> None:
    model, one = loaded.model("bart"), record("bart")
    offered = suggestions(model, one, 2)[:4]
    results = [edit(model, one, 2, suggestion.token_id) for suggestion in offered]
    first = None
    for suggestion, result in zip(offered, results, strict=True):
        assert result.before is not None
        assert result.after is not None
        if first is None and (result.before.best != result.after.best).any():
            first = suggestion
    most = max(zip(offered, results, strict=True), key=lambda pair: float(pair[1].divergence.max()))[0]
    assert telling(model, one, 2, offered) == (first or most)
    assert telling(model, one, 2, ()) is None
