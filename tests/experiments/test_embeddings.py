"""The sum of embeddings is the input of the network's first layer, for every family."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bartviz
from bartviz.analysis import inputs as analysis
from bartviz.errors import SettingError
from bartviz.experiments.embeddings import inputs, split
from tests.support import loaded, networks

TEXT = "The cat is sleeping on the sofa."
WORDS = st.lists(
    st.sampled_from(["cat", "dog", "sleeps", "나는", "🐈", "the", "unbelievably", ",", "kaufen"]),
    min_size=1,
    max_size=12,
)


@pytest.mark.some
@pytest.mark.parametrize("family", networks.FAMILIES)
def test_the_sum_is_the_networks_own_first_hidden_state(family: str) -> None:
    model = loaded.model(family)
    record = bartviz.capture(model, TEXT, target="Die Katze." if family in networks.ENCODER_DECODERS else None)
    for stack in ("encoder", "decoder") if record.cross is not None else (None,):
        found = inputs(model, record, stack=stack)
        assert found.own.shape == (len(found.tokens), 32)
        assert np.abs(found.own).max() > 0.01
        assert found.error <= 1e-5
        assert found.passed


@pytest.mark.slow
@pytest.mark.parametrize("family", ["bert", "bart", "t5", "gpt2"])
@settings(max_examples=15)
@given(words=WORDS)
def test_it_is_so_for_any_text(family: str, words: list[str]) -> None:
    model = loaded.model(family)
    target = "Die Katze." if family in networks.ENCODER_DECODERS else None
    assert inputs(model, bartviz.capture(model, " ".join(words), target=target)).error <= 1e-5


@pytest.mark.parametrize(
    ("family", "parts", "first", "norm"),
    [
        ("bert", ["token", "position", "segment"], 0, True),
        ("roberta", ["token", "position", "segment"], 2, True),
        ("distilbert", ["token", "position"], 0, True),
        ("bart", ["token", "position"], 2, True),
        ("gpt2", ["token", "position"], 0, False),
        ("t5", ["token"], None, False),
        ("marian", ["token", "position"], 0, False),
    ],
)
def test_the_parts_that_each_family_adds(family: str, parts: list[str], first: int | None, norm: bool) -> None:
    model = loaded.model(family)
    target = "Die Katze." if family in networks.ENCODER_DECODERS else None
    found = inputs(model, bartviz.capture(model, TEXT, target=target))
    assert list(found.parts) == parts
    assert (None if found.rows is None else int(found.rows[0])) == first
    assert (found.normed is not None) == norm
    assert sum(analysis.shares(found).values()) == pytest.approx(np.ones(len(found.tokens)))


def test_the_second_sentence_of_a_pair_has_the_other_segment() -> None:
    model = loaded.model("bert")
    found = inputs(model, bartviz.capture(model, "the cat", pair="a dog"))
    assert found.passed
    first, second = (found.parts["segment"][found.tokens.segments == i] for i in (0, 1))
    assert (first == first[0]).all()
    assert (second == second[0]).all()
    assert not np.allclose(first[0], second[0])


@pytest.mark.slow
def test_scaled_tokens_are_shown_as_they_are_summed(tmp_path: object) -> None:
    folder = networks.save("bart", tmp_path / "scaled", spread=0.3, scale_embedding=True)  # type: ignore[operator]
    model = bartviz.load(folder)
    found = inputs(model, bartviz.capture(model, TEXT, target="Die Katze."))
    assert found.scale == pytest.approx(32**0.5)
    assert found.passed
    assert analysis.formula(found).startswith("5.657 × token + position")


def test_a_stack_that_is_not_there_and_a_record_of_another_model_are_refused() -> None:
    model = loaded.model("bert")
    record = bartviz.capture(model, TEXT)
    with pytest.raises(SettingError, match="no decoder"):
        inputs(model, record, stack="decoder")
    with pytest.raises(SettingError, match="another model"):
        inputs(loaded.model("gpt2"), record)


def test_an_emoji_is_unknown_to_word_pieces_and_bytes_to_byte_pieces() -> None:
    words, letters = split(loaded.model("bert"), "the 🐈"), split(loaded.model("bart"), "the 🐈")
    assert words.unknown.sum() == 1
    assert "WordPiece" in words.how
    assert letters.unknown.sum() == 0
    assert letters.count >= 4  # an emoji is four bytes
    assert analysis.splits((words, letters))["unknown"].tolist() == [1, 0]
