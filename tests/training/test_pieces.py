"""BPE with merges left out: without dropout it is the tokenizer's, with it the same text in other pieces."""

from __future__ import annotations

import numpy as np
import pytest
from transformers import BartTokenizer

from bartviz.families.catalogue import EMBEDDED
from training import everyday
from training.pieces import Pieces

TEXTS = [*(case.en for case in everyday.cases()), "I WANT TO BUY A CAR.", "0176 4432, don't!", "Äpfel  und 한국", ""]


@pytest.fixture(scope="module")
def tokenizer() -> BartTokenizer:
    return BartTokenizer.from_pretrained(EMBEDDED / "bart-tiny-en-de")


def test_without_dropout_it_is_the_tokenizers(tokenizer: BartTokenizer) -> None:
    found = Pieces(tokenizer, 12).encode(TEXTS, 0.0, np.random.default_rng(0))
    assert found == tokenizer(TEXTS, truncation=True, max_length=12)["input_ids"]


def test_with_dropout_the_text_is_the_same_in_more_pieces(tokenizer: BartTokenizer) -> None:
    made = Pieces(tokenizer, 128)
    whole = made.encode(TEXTS, 0.0, np.random.default_rng(0))
    found = made.encode(TEXTS, 0.1, np.random.default_rng(0))
    assert tokenizer.batch_decode(found) == tokenizer.batch_decode(whole)
    assert 1.05 < sum(map(len, found)) / sum(map(len, whole)) < 1.5
    assert found == made.encode(TEXTS, 0.1, np.random.default_rng(0))
    assert found != made.encode(TEXTS, 0.1, np.random.default_rng(1))


def test_where_every_merge_is_left_out_characters_are_left(tokenizer: BartTokenizer) -> None:
    assert Pieces(tokenizer, 128).cut("Ġhouse", 1.0, np.random.default_rng(0)) == list("Ġhouse")
