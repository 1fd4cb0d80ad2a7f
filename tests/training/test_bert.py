"""Masked examples and sentence pairs."""

from __future__ import annotations

import numpy as np

from training import bert


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
