"""Words from tokens: sums over columns, means over rows, by hand and as a property."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bartviz.analysis.words import Merged, merge_words, pieces_of, word_groups, word_labels, words
from bartviz.errors import RecordError
from bartviz.text import tokenize
from bartviz.text.tokens import Tokens
from tests.support import stand_in
from tests.support.small_tokenizers import NAMES, tokenizer


def rising(words: list[int | None]) -> list[int | None]:
    """The same with their numbers in order, each None where it was."""
    numbers = iter(sorted(word for word in words if word is not None))
    return [None if word is None else next(numbers) for word in words]


WORDS = st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=1, max_size=12).map(rising)


def made(words: list[int | None], labels: list[str] | None = None, segments: list[int] | None = None) -> Tokens:
    """Tokens of these words; labels are their positions."""
    n = len(words)
    return Tokens(
        ids=np.arange(n),
        pieces=("x",) * n,
        labels=tuple(labels or map(str, range(n))),
        words=tuple(words),
        special=np.array([word is None for word in words]),
        segments=np.array(segments or [0] * n),
        spans=(None,) * n,
    )


def test_groups() -> None:
    assert word_groups(made([None, 0, 0, 1, None, None])) == ((0,), (1, 2), (3,), (4,), (5,))
    assert word_groups(made([0, None, 0])) == ((0,), (1,), (2,))  # a word is a run of neighbours
    assert word_groups(made([0, 0], segments=[0, 1])) == ((0,), (1,))
    assert word_groups(made([])) == ()


def test_sum_over_keys_and_mean_over_queries() -> None:
    weights = np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.1, 0.1, 0.3], [0.0, 0.0, 1.0, 0.0]], dtype=np.float32)
    merged = merge_words(weights, made([0, 0, None]), made([None, 0, 0, 1]))
    # columns:   <s>   word 0     word 1
    expected = [[0.3, (0.5 + 0.2) / 2, 0.35], [0.0, 1.0, 0.0]]
    assert isinstance(merged, Merged)
    np.testing.assert_allclose(merged.weights, expected, atol=1e-7)
    assert merged.weights.dtype == np.float32
    assert merged.query_groups == ((0, 1), (2,))
    assert merged.key_groups == ((0,), (1, 2), (3,))
    assert (merged.query_labels, merged.key_labels) == (("01", "2"), ("0", "12", "3"))


@pytest.mark.slow
@settings(deadline=None)
@given(WORDS, WORDS, st.integers(0, 2), st.integers(0, 1000))
def test_rows_still_sum_to_1(rows: list[int | None], columns: list[int | None], heads: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    query, key = made(rows), made(columns)
    scores = random.normal(size=(*(3,) * heads, len(rows), len(columns))) * 4
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    merged = merge_words(weights.astype(np.float32), query, key)
    assert merged.weights.shape == (*(3,) * heads, len(merged.query_labels), len(merged.key_labels))
    np.testing.assert_allclose(merged.weights.sum(-1), 1, atol=1e-5)
    assert [i for group in merged.key_groups for i in group] == list(range(len(columns)))
    for r, row in enumerate(merged.query_groups):
        for c, column in enumerate(merged.key_groups):
            block = weights[..., list(row), :][..., list(column)]
            np.testing.assert_allclose(merged.weights[..., r, c], block.sum(-1).mean(-1), atol=1e-6)


def test_what_was_masked_stays_exactly_0() -> None:
    weights = np.tril(np.full((4, 4), 0.25, dtype=np.float32))
    merged = merge_words(weights, made([0, 1, 2, 2]), made([0, 1, 2, 2]))
    assert merged.weights[0, 1] == merged.weights[1, 2] == 0


def test_shapes_that_do_not_fit() -> None:
    with pytest.raises(RecordError, match=r"\(2, 2\).* 3 query and 2 key"):
        merge_words(np.zeros((2, 2), dtype=np.float32), made([0, 1, 2]), made([0, 1]))
    with pytest.raises(RecordError):
        merge_words(np.zeros(2, dtype=np.float32), made([0]), made([0, 1]))


def test_labels_are_joined_pieces() -> None:
    pieces = made([None, 0, 0, 0, 1, 2, 2, 3], ["<s>", "trans", "⋯lation", "⋯s", "⋯", "␣", "한", "."])
    assert word_labels(pieces) == ("<s>", "translations", "⋯", "한", ".")  # a typed ⋯ is a word
    assert word_labels(made([0, 0], ["한", "⋯"])) == ("한",)
    assert word_labels(made([None, 0], ["␣", "a"])) == ("␣", "a")


@pytest.mark.parametrize("name", NAMES)
def test_labels_are_the_words_of_the_reader(name: str) -> None:
    first, second = "The old teacher doesn't like 한국어, 👨‍👩‍👧 e\u0301!", "Three 뷁 Books."
    encoded = tokenize.encode(tokenizer(name), first, pair=second)
    labels = word_labels(encoded, (first, second))
    inside = [label for label, group in zip(labels, word_groups(encoded), strict=True) if not encoded.special[group[0]]]
    assert inside[:6] == ["The", "old", "teacher", "doesn't", "like", "한국어"]
    assert inside[6:] == [",", "👨‍👩‍👧", "e\u0301", "!", "Three", "뷁", "Books", "."]
    assert [labels[i] for i, group in enumerate(word_groups(encoded)) if encoded.special[group[0]]] == [
        label for label, special in zip(encoded.labels, encoded.special, strict=True) if special
    ]


@pytest.mark.parametrize("name", ["bart", "gpt2"])
def test_labels_without_the_text_are_as_good_where_pieces_keep_it(name: str) -> None:
    text = "The old teacher doesn't like 한국어, 뷁e\u0301!"
    encoded = tokenize.encode(tokenizer(name), text)
    assert word_labels(encoded) == word_labels(encoded, text)


def test_labels_never_hide_what_is_invisible() -> None:
    text = "a \u202e b"
    encoded = tokenize.encode(tokenizer("gpt2"), text)
    assert word_labels(encoded, text) == ("a", "‹RLO›", "b")


def test_words_have_pieces_and_special_tokens_are_words_of_their_own() -> None:
    found = words(stand_in.tokens(("<s>", "Ein", " Kat", "ze", "</s>")), "Ein Katze")
    assert [(word.text, word.pieces, word.special) for word in found] == [
        ("<s>", ("<s>",), True),
        ("Ein", ("Ein",), False),
        ("Katze", ("Kat", "ze"), False),
        ("</s>", ("</s>",), True),
    ]
    assert [(word.start, word.end) for word in found] == [(0, 1), (1, 2), (2, 4), (4, 5)]


def test_the_bytes_of_one_character_are_one_piece() -> None:
    labels = ("한", "⋯", "⋯", "⋯국")
    tokens = replace(
        stand_in.tokens(("a", "b", "c", "d")), labels=labels, words=(0, 0, 0, 0), spans=((0, 1), (0, 1), (0, 1), (1, 2))
    )
    (word,) = words(tokens, "한국")
    assert (word.text, word.pieces, word.end) == ("한국", ("한", "국"), 4)


def test_each_token_without_a_word_is_a_word() -> None:
    tokens = replace(stand_in.tokens(("a", " b")), words=(None, None), spans=(None, None))
    assert [word.text for word in words(tokens, "")] == ["a", "b"]


def test_each_sentence_of_a_pair_is_shown_as_it_was_written() -> None:
    labels = ("a", " cat", "</s>", "it", " slept", "</s>")
    tokens = replace(
        stand_in.tokens(labels),
        segments=np.array([0, 0, 0, 1, 1, 1]),
        spans=((0, 1), (2, 5), None, (0, 2), (3, 8), None),
        words=(0, 1, None, 2, 3, None),
    )
    assert [word.text for word in words(tokens, "A Cat", "It SLEPT")] == ["A", "Cat", "</s>", "It", "SLEPT", "</s>"]
    assert [word.text for word in words(tokens, "A Cat")] == ["A", "Cat", "</s>", "it", "slept", "</s>"]


def test_pieces_are_named_with_their_word_and_signs_are_none() -> None:
    tokens = stand_in.tokens(("<s>", "Or", "gan", "ization", " of", " Lü", "beck", ".", "</s>"))
    found = pieces_of(tokens)
    assert found == {1: "Organization", 2: "Organization", 3: "Organization", 5: "Lübeck", 6: "Lübeck"}
    marked = replace(stand_in.tokens((" kau", "⋯fen", ".")), words=(0, 0, 0))
    assert pieces_of(marked) == {0: "kaufen", 1: "kaufen"}
