"""One word in two texts, against hidden states of transformers' own pass."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import bartviz
from bartviz.analysis.word_states import sentence
from bartviz.errors import TextError
from bartviz.experiments.word_states import word_states
from bartviz.models.model import Model
from tests.support import loaded

RIVER, MONEY = "I walked along the bank of the river.", "She took her money to the bank."


@pytest.fixture(scope="module")
def bert() -> Model:
    return bartviz.load("bert-tiny-en")


def by_hand(model: Model, text: str, word: str) -> list[np.ndarray]:
    """The mean state of the word's pieces in each layer, found by the tokenizer's own words."""
    given = model.tokenizer(text, return_tensors="pt")
    wanted = text.lower().replace(".", " .").split().index(word)
    columns = [place for place, index in enumerate(given.word_ids(0)) if index == wanted]
    with torch.inference_mode():
        hidden = model.network(input_ids=given["input_ids"], output_hidden_states=True).hidden_states
    return [layer[0, columns].double().mean(0).numpy() for layer in hidden]


def test_states_of_a_word_in_two_texts_are_those_of_the_network(bert: Model) -> None:
    found = word_states(bert, "bank", RIVER, MONEY)
    for layer, (a, b) in enumerate(zip(by_hand(bert, RIVER, "bank"), by_hand(bert, MONEY, "bank"), strict=True)):
        assert found.same[layer] == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b), abs=1e-5)
    # seven and six other words, less the pairs of "the": twice in the first text, once in the second
    assert found.others.shape == (len(found.same), 7 * 6 - 2)
    assert "“bank”" in sentence(found)
    assert len(found.table()) == len(found.same)


def test_same_text_twice_has_the_same_states(bert: Model) -> None:
    np.testing.assert_allclose(word_states(bert, "Bank", RIVER, RIVER).same, 1, atol=1e-6)


@pytest.mark.parametrize("family", ["bart", "gpt2", "t5"])
def test_models_of_every_kind_have_states(family: str) -> None:
    model = loaded.model(family)
    found = word_states(model, "cat", "The cat is sleeping.", "A dog and the cat.")
    assert found.stack == ("decoder" if family == "gpt2" else "encoder")
    assert np.isfinite(found.others).all()
    assert -1.001 <= found.same.min() <= found.same.max() <= 1.001


@pytest.mark.parametrize("texts", [(RIVER, "A cat sleeps."), ("bank", MONEY)])
def test_word_that_is_not_there_and_a_text_of_one_word_are_refused(bert: Model, texts: tuple[str, str]) -> None:
    with pytest.raises(TextError):
        word_states(bert, "bank", *texts)
