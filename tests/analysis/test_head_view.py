"""Heads as a reader sees them: three tokens by hand, then any record."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bartviz.analysis import head_view
from bartviz.arrays import Bools, Floats
from bartviz.errors import SettingError
from bartviz.record.attention import Attention, Kind
from bartviz.text.tokens import Tokens
from tests.support import records, stand_in

TOKENS = stand_in.tokens(("<s>", "a", "b", "."))
ALL = np.ones((4, 4), np.bool_)


def by_hand(
    rows: Sequence[Sequence[float]], kind: Kind = "encoder", mask: Bools = ALL, tokens: Tokens = TOKENS
) -> Attention:
    """One layer, one head, whose weights are these rows: q is log w, k the identity."""
    weights = np.maximum(np.array(rows, np.float32), 1e-30)
    identity = np.eye(len(rows), dtype=np.float32)
    return Attention(kind, np.log(weights)[None, None], identity[None, None], 1.0, mask, tokens, tokens)


PREVIOUS: list[list[float]] = [[0.25, 0.25, 0.25, 0.25], [1, 0, 0, 0], [0, 0.75, 0, 0.25], [0.5, 0, 0.5, 0]]


def test_view_of_a_head_is_its_weights() -> None:
    shown = head_view.view(by_hand(PREVIOUS), 0, 0)
    np.testing.assert_allclose(shown.weights, PREVIOUS, atol=1e-6)
    assert shown.name == "encoder L0H0"
    assert shown.key_labels == ("<s>", "a", "b", ".")
    assert head_view.hidden_note(shown) == ""


def test_sinks_are_special_tokens_and_ends_of_sentences_and_a_decoders_first_token() -> None:
    assert head_view.sinks(by_hand(PREVIOUS)).tolist() == [True, False, False, True]
    words = stand_in.tokens(("a", "b", ",", "!?"))
    assert head_view.sinks(by_hand(PREVIOUS, tokens=words)).tolist() == [False, False, False, True]
    assert head_view.sinks(by_hand(PREVIOUS, "decoder", tokens=words)).tolist() == [True, False, False, True]


def test_hidden_sinks_leave_their_share() -> None:
    shown = head_view.view(by_hand(PREVIOUS), 0, 0, hide_sinks=True)
    assert shown.key_labels == ("a", "b")
    assert shown.hidden_labels == ("<s>", ".")
    np.testing.assert_allclose(shown.hidden, [0.5, 1.0, 0.25, 0.5], atol=1e-6)
    assert shown.hidden_share == pytest.approx(0.5625)
    assert head_view.hidden_note(shown).startswith(
        "56% of the attention went to “<s>” “.”, hidden; rows do not sum to 1"
    )


def test_renormalised_rows_sum_to_one_where_something_is_left() -> None:
    shown = head_view.view(by_hand(PREVIOUS), 0, 0, hide_sinks=True, renormalise=True)
    expected = np.array([[0.5, 0.5], [0, 0], [1, 0], [0, 1]])
    np.testing.assert_allclose(shown.weights, expected, atol=1e-6)
    assert "is renormalised" in head_view.hidden_note(shown)


def test_text_of_sinks_alone_keeps_them() -> None:
    only = stand_in.tokens(("<s>", ".", "!", "</s>"))
    assert head_view.view(by_hand(PREVIOUS, tokens=only), 0, 0, hide_sinks=True).weights.shape == (4, 4)


def test_words_sum_over_keys_and_average_over_queries() -> None:
    pieces = stand_in.tokens(("<s>", "kau", "fen", "</s>"))  # "kaufen" is one word
    rows: list[list[float]] = [[1, 0, 0, 0], [0, 0.5, 0.5, 0], [0.5, 0.25, 0, 0.25], [0, 0, 0, 1]]
    shown = head_view.view(by_hand(rows, tokens=pieces), 0, 0, words=True)
    assert shown.query_labels == ("<s>", "kaufen", "</s>")
    assert shown.query_groups == ((0,), (1, 2), (3,))
    expected = np.array([[1, 0, 0], [0.25, 0.625, 0.125], [0, 0, 1]])
    np.testing.assert_allclose(shown.weights, expected, atol=1e-6)
    assert shown.key_special.tolist() == [True, False, True]


def test_means_are_called_means() -> None:
    own = records.attention("cross", TOKENS, TOKENS, layers=2, heads=3)
    layer, every = head_view.view(own, 1), head_view.view(own)
    np.testing.assert_allclose(layer.weights, own.layer(1).mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(every.weights, (own.layer(0).mean(0) + own.layer(1).mean(0)) / 2, atol=1e-6)
    assert layer.name == "mean of the 3 heads of cross layer 1"
    assert every.name == "mean of all 6 cross heads"


def test_strongest_links_leave_out_special_tokens() -> None:
    assert head_view.links(head_view.view(by_hand(PREVIOUS), 0, 0)) == [("b", "a", 0.75), (".", "b", 0.5)]


def test_directions_are_described_with_their_even_share() -> None:
    found = {
        where: (share, even) for where, share, even in head_view.directions(head_view.view(by_hand(PREVIOUS), 0, 0))
    }
    share, even = found["the previous token"]
    assert share == pytest.approx((0 + 1 + 0.75 + 0.5) / 4)
    assert even == pytest.approx(3 / 16)
    assert "the next token" not in found


def test_the_first_row_of_a_causal_head_has_no_choice() -> None:
    causal = np.tri(4).astype(np.bool_)
    shown = head_view.view(by_hand([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], "decoder", causal), 0, 0)
    assert shown.has_choice.tolist() == [False, True, True, True]
    assert "the token itself" in head_view.notice(shown)


def test_notice_names_links_and_shares() -> None:
    sentence = head_view.notice(head_view.view(by_hand(PREVIOUS), 0, 0))
    assert sentence.startswith("Encoder L0H0: strongest between words and pieces of words: “b” to “a” (0.75)")
    assert "56% goes to the previous token (if spread evenly, 19%)" in sentence


def test_a_piece_is_not_called_a_word() -> None:
    attention = by_hand(PREVIOUS)  # “a” and “b” are one word, and the full stop is a token of its own
    assert "strongest between words and pieces of words" in head_view.notice(head_view.view(attention, 0, 0))
    assert "pieces" not in head_view.notice(head_view.view(attention, 0, 0, words=True))
    whole = replace(TOKENS, words=(None, 0, 1, 1), pieces=("<s>", " a", " b", "."))  # “a” and “b.”
    shown = head_view.view(by_hand(PREVIOUS, tokens=whole), 0, 0)
    assert "strongest between words: “b” to “a” (0.75)" in head_view.notice(shown)


def test_the_plain_sentence_has_one_number() -> None:
    for shown in (head_view.view(by_hand(PREVIOUS), 0, 0), head_view.view(by_hand([[1, 0, 0, 0]] * 4), 0, 0)):
        said = head_view.plainly(shown)
        assert len(re.findall(r"\d+(?:\.\d+)?%?", said.partition(":")[2])) == 1
        assert "evenly" not in said


def test_a_habit_is_said_in_words() -> None:
    assert head_view.of_habit("It", "rests (56% of its attention)") == "It rests (56% of its attention)."


def test_a_resting_place_is_said_before_the_words() -> None:
    rests = head_view.view(by_hand([[1, 0, 0, 0], [0.8, 0, 0.2, 0], [0.9, 0.1, 0, 0], [0.9, 0.1, 0, 0]]), 0, 0)
    assert head_view.notice(rests).startswith(
        "Encoder L0H0: 90% goes to special tokens (if spread evenly, 25%); strongest between words and pieces of words"
    )
    alone = head_view.view(by_hand([[1, 0, 0, 0]] * 4), 0, 0)
    assert head_view.notice(alone) == "Encoder L0H0: 100% goes to special tokens (if spread evenly, 25%)."


def test_tables_and_arrays_hold_every_number() -> None:
    own = by_hand(PREVIOUS)
    shown = head_view.view(own, 0, 0)
    row = head_view.row_table(shown, 2)
    np.testing.assert_allclose(row["weight"].to_numpy(), PREVIOUS[2], atol=1e-6)
    assert not row["masked"].any()
    whole = head_view.table(shown)
    assert list(whole.columns) == ["query", "0 <s>", "1 a", "2 b", "3 ."]
    saved = head_view.arrays(own, 0)
    np.testing.assert_allclose(saved["weights"][0], PREVIOUS, atol=1e-6)
    assert saved["key"].tolist() == ["<s>", "a", "b", "."]


def test_wrong_choices_are_refused() -> None:
    own = by_hand(PREVIOUS)
    with pytest.raises(SettingError, match="choose the layer too"):
        head_view.view(own, head=1)
    with pytest.raises(SettingError, match="choose 0 to 0"):
        head_view.view(own, 0, 3)
    with pytest.raises(SettingError, match="0 to 3"):
        head_view.row_table(head_view.view(own, 0, 0), 4)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(records.attentions(), st.booleans(), st.booleans())
def test_what_is_shown_and_what_is_hidden_are_all_there_is(own: Attention, words: bool, hide: bool) -> None:
    shown = head_view.view(own, 0, 0, words=words, hide_sinks=hide)
    total: Floats = shown.weights.sum(axis=1) + shown.hidden
    np.testing.assert_allclose(total, 1, atol=1e-5)
    assert shown.weights.shape == shown.mask.shape == (len(shown.query_labels), len(shown.key_labels))
    assert head_view.notice(shown).endswith(".")
