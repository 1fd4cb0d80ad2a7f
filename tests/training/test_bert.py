"""Masked examples and sentence pairs."""

from __future__ import annotations

import numpy as np

from training import bert
from training.vocabulary import train_bert

RNG = np.random.default_rng(0)


def test_an_example_hides_some_tokens_and_remembers_them() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        ids, segments, labels, follows = bert.example([10, 11, 12], [13, 14], 0, rng)
        assert len(ids) == len(segments) == len(labels) == 8
        assert segments == [0, 0, 0, 0, 0, 1, 1, 1]
        assert follows == [0]
        clean = [token if label == bert.IGNORED else label for token, label in zip(ids, labels, strict=True)]
        assert clean == [bert.CLS, 10, 11, 12, bert.SEP, 13, 14, bert.SEP]
        assert any(label != bert.IGNORED for label in labels)
        assert labels[0] == labels[4] == labels[-1] == bert.IGNORED


def test_a_single_text_has_one_segment() -> None:
    ids, segments, _, follows = bert.example([10] * 20, [], bert.IGNORED, np.random.default_rng(0))
    assert len(ids) == 22
    assert set(segments) == {0}
    assert follows == [bert.IGNORED]


def test_fifteen_in_a_hundred_tokens_are_to_be_predicted() -> None:
    rng = np.random.default_rng(1)
    hidden = sum(label != bert.IGNORED for _ in range(200) for label in bert.example([10] * 40, [], 0, rng)[2])
    assert 0.13 < hidden / (200 * 40) < 0.17


def test_a_row_of_two_sentences_is_split() -> None:
    assert bert.split_in_two("I'm tired. Let's go!") == ("I'm tired.", "Let's go!")
    assert bert.split_in_two("I'm tired.") is None
    assert bert.split_in_two("") is None


def test_tokens_to_hide_are_masked_in_any_case() -> None:
    rng = np.random.default_rng(0)
    for _ in range(30):
        ids, _, labels, _ = bert.example([10, 11], [12, 13, 14], bert.IGNORED, rng, hide=[1])
        assert ids[5] == bert.MASK
        assert labels[5] == 13
        assert labels[3] == labels[7] == bert.IGNORED


def test_texts_that_share_a_word() -> None:
    texts = ["A hedgehog sleeps.", "It is an owl.", "I saw the Hedgehog!"]
    (found,) = bert.sharing(texts)
    assert found == bert.Shared("A hedgehog sleeps.", "I saw the ", "Hedgehog", "!")
    assert bert.sharing(["the cat sat"] * (bert.COMMON + 1)) == []
    assert bert.MOST / 2 < len(bert.sharing(["an owl"] * bert.COMMON)) < bert.MOST


def test_the_shared_word_is_masked_in_the_second_text() -> None:
    tokenizer = train_bert(["a hedgehog sleeps .", "i saw the hedgehog !"] * 20, 60)
    rows = bert.with_shared(tokenizer, [bert.Shared("A hedgehog.", "I saw the ", "hedgehog", "!")] * 5, RNG)
    word = tokenizer("hedgehog", add_special_tokens=False)["input_ids"]
    assert len(rows) == 5
    for ids, segments, labels, follows in rows:
        start = segments.index(1) + 3  # i saw the
        assert labels[start : start + len(word)] == word
        assert ids[start : start + len(word)] == [bert.MASK] * len(word)
        assert follows == [bert.IGNORED]
