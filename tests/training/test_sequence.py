"""Token ids for training."""

from __future__ import annotations

import pytest

from training import sequence
from training.vocabulary import train_bart

TEXTS = ["the cat sleeps on the mat", "the cat eats the fish on the mat"]


@pytest.fixture(scope="module")
def tokenizer() -> object:
    return train_bart(TEXTS * 20, 320)


def test_dropped_merges_cut_words_in_other_pieces_that_say_the_same(tokenizer: object) -> None:
    whole = sequence.encode(tokenizer, TEXTS)
    cut = sequence.encode(tokenizer, TEXTS * 10, drop=0.5)
    assert sum(map(len, cut)) > 10 * sum(map(len, whole))
    assert len({tuple(ids) for ids in cut}) > 10
    assert {tokenizer.decode(ids, skip_special_tokens=True) for ids in cut} == set(TEXTS)  # type: ignore[attr-defined]


def test_afterwards_nothing_is_dropped(tokenizer: object) -> None:
    before = sequence.encode(tokenizer, TEXTS)
    sequence.encode(tokenizer, TEXTS, drop=0.9)
    assert sequence.encode(tokenizer, TEXTS) == before
