"""Lines 19e and 21d: ids, and a larger vocabulary, counted again by the library of tokenizers."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from transformers import BertForPreTraining

from bartviz import load
from bartviz.families.catalogue import EMBEDDED
from bartviz.features.textbook import chapter_inputs as inputs
from bartviz.features.textbook.sentences import SEARCHED
from tests.features.textbook.ledger import found, judged
from training import networks

FOLDER = EMBEDDED / inputs.TINY_BERT


def tokenizer(entries: int) -> Tokenizer:
    """The shipped tokenizer with the first entries of its vocabulary alone."""
    whole = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
    kept = {name: number for name, number in whole.get_vocab().items() if number < entries}
    smaller = Tokenizer(WordPiece(kept, unk_token="[UNK]"))
    smaller.normalizer, smaller.pre_tokenizer = whole.normalizer, whole.pre_tokenizer
    return smaller


@pytest.mark.parametrize("entries", [200, inputs.FEW, 8000])
def test_words_are_cut_as_the_library_cuts_them(entries: int) -> None:
    cut = tokenizer(entries)
    kept = frozenset(inputs.vocabulary()[:entries])
    for text in (*SEARCHED, "Łódź, naïveté & 東京: 3,5 km!", "unbelievably ☃"):
        plain = str(cut.normalizer.normalize_str(text))
        assert [piece for word in inputs.pieces(plain, kept) for piece in word] == cut.encode(text).tokens


def test_line_21d_counts_words_without_an_entry_and_tokens() -> None:
    verdict = judged("21d")
    assert verdict.word == "caveat"
    missing, tokens = [], []
    for entries in (inputs.FEW, 8000):
        cut = tokenizer(entries)
        encodings = [cut.encode(text) for text in SEARCHED]
        sizes = [count for one in encodings for count in Counter(one.word_ids).values()]
        assert "[UNK]" not in [token for one in encodings for token in one.tokens]
        missing.append(sum(size > 1 for size in sizes))
        tokens.append(sum(sizes))
        assert f"of {len(sizes)}: " in verdict.numbers[0].label
    assert missing[1] < missing[0]
    assert (verdict.numbers[0].stated, verdict.numbers[0].found) == (f"< {missing[0]}", missing[1])
    assert (verdict.numbers[2].stated, verdict.numbers[2].found) == (f"< {tokens[0]}", tokens[1])
    table = load(inputs.TINY_BERT).network.bert.embeddings.word_embeddings.weight
    assert found(verdict, "parameters of the embeddings") == table.numel()
    assert verdict.numbers[1].stated == f"> {inputs.FEW * 192:,}"
    assert found(verdict, "unknown words") == 0
    assert not verdict.numbers[3].agrees


def test_line_19e_an_id_is_a_place_and_an_embedding_a_row() -> None:
    verdict = judged("19e")
    assert verdict.word == "fails"
    ids = load(inputs.TINY_BERT).tokenizer(inputs.WALKING, add_special_tokens=False)["input_ids"]
    assert ", ".join(map(str, ids)) in verdict.why
    assert (verdict.numbers[0].claimed, verdict.numbers[0].found) == (len(ids), len(ids) * 768)
    network = networks.opened(BertForPreTraining, FOLDER)
    table = network.bert.embeddings.word_embeddings.weight.detach()
    entries, beside, words = inputs.vocabulary(), 0, 0
    for place in range(0, len(entries), inputs.EACH):
        if entries[place].isalpha():
            alike = torch.cosine_similarity(table[place], table, dim=1)
            alike[place] = -1
            beside += abs(int(alike.argmax()) - place) == 1
            words += 1
    assert (verdict.numbers[1].claimed, verdict.numbers[1].found) == (words, beside)
    assert np.isfinite(beside)
