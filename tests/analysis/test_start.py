"""Ribbons: words, merged weights, the aligning head and the sentences, with numbers a person can check."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from bartviz.analysis import start
from bartviz.analysis.look_ahead import AHEAD, head_directions
from bartviz.analysis.words import Word
from bartviz.families.family import ModelKind
from bartviz.record.attention import Attention, Head, Kind
from bartviz.record.record import Provenance, Record
from bartviz.record.steps import Candidate, Step, StepNumbers, Steps
from bartviz.serving import saved_records as records
from bartviz.text.tokens import Tokens
from tests.support import stand_in


def attention(kind: Kind, weights: np.ndarray, query: Tokens, key: Tokens) -> Attention:
    """Attention whose one head has exactly these weights (Q, K): scores are their logarithms."""
    q = np.log(np.maximum(weights, 1e-12))[None, None].astype(np.float32)  # (1, 1, Q, K)
    k = np.eye(weights.shape[1], dtype=np.float32)[None, None]  # (1, 1, K, K)
    return Attention(kind, q, k, 1.0, np.ones(weights.shape, bool), query, key)


def two_words(probability: float = 0.5, rule: str | None = None, mode: str = "greedy") -> Record:
    """ "old cat" -> "Katze": "Kat" + "ze", each half of the weight on one source word, and </s>."""
    source, output = stand_in.tokens(("old", " cat", "</s>")), stand_in.tokens(("Kat", "ze", "</s>"))
    given = stand_in.tokens(("</s>", "Kat", "ze"))
    cross = np.array([[0.1, 0.8, 0.1], [0.3, 0.6, 0.1], [0.1, 0.2, 0.7]])
    own = stand_in.attention("decoder", given, given, layers=1, heads=1)
    encoder = stand_in.attention("encoder", source, source, layers=1, heads=1)
    steps = tuple(
        Step(i, i, Candidate(i, "x", probability, 0.0), (), 1.0, float(np.log(probability)), rule) for i in range(3)
    )
    return Record(
        stand_in.model_info(),
        "old cat",
        "Katze",
        encoder,
        own,
        attention("cross", cross, given, source),
        output=output,
        steps=steps,
        provenance=Provenance(settings={"mode": mode}),
    )


def test_the_best_head_is_the_one_with_the_largest_score_of_those_that_look_ahead(record: Record) -> None:
    best, cross = start.ribbons(record), record.attention("cross")
    heads = [Head("cross", i, j) for i in range(3) for j in range(4)]
    ahead = [
        head for head in heads if head_directions(cross.head(head.layer, head.head), record.output, cross.key) == AHEAD
    ]
    scores = {head: start.ribbons(record, head=head).score for head in ahead}
    assert 0 < len(ahead) < len(heads)
    assert best.score == max(scores.values())
    assert scores[best.head] == best.score
    cut = replace(record, output=None, steps=())  # which way a head looks cannot be told
    assert start.ribbons(cut).score == max(start.ribbons(cut, head=head).score for head in heads)


def test_a_word_in_pieces_has_the_product_of_their_probabilities() -> None:
    found = start.ribbons(two_words())
    assert [word.text for word in found.below] == ["Katze", "</s>"]
    np.testing.assert_allclose(found.weights, [[0.2, 0.7, 0.1], [0.1, 0.2, 0.7]], atol=1e-6)
    assert found.say_below[0] == "“Katze” was chosen with 25%, looking most at “cat” (0.70)."
    assert found.say_below[1] == (
        "</s> was chosen with 50%, looking most at </s> (0.70), and among the words at “cat” (0.20)."
    )
    assert found.say_above == (
        "“old” is looked at most by “Katze” (0.20).",
        "“cat” is looked at most by “Katze” (0.70).",
        "</s> is looked at most by </s> (0.70).",
    )
    assert found.edges() == [(0, 0, 0.2), (0, 1, 0.7), (0, 2, 0.1), (1, 0, 0.1), (1, 1, 0.2), (1, 2, 0.7)]


def test_the_table_has_every_weight() -> None:
    table = start.table(start.ribbons(two_words()))
    assert list(table.columns) == ["word that looks", "word looked at", "weight"]
    assert table.shape == (6, 3)
    assert list(table.iloc[1])[:2] == ["Katze", "cat"]
    assert table["weight"][1] == pytest.approx(0.7)


def test_a_rule_and_a_given_output_are_never_called_a_choice() -> None:
    forced = start.ribbons(two_words(rule="forced first token"))
    assert forced.say_below[0].startswith("“Katze” was not chosen but set by a rule (forced first token), looking")
    given = start.ribbons(two_words(mode="given target"))
    assert given.say_below[0].startswith("“Katze” was given; the model would have chosen it with 25%, looking")


def test_a_text_that_looks_at_itself(record: Record) -> None:
    kinds: tuple[ModelKind, ...] = ("encoder", "decoder")
    for kind in kinds:
        found = start.ribbons(stand_in.record(kind=kind))
        assert found.head.kind == kind
        assert found.above == found.below
        assert "chosen" not in " ".join(found.say_below)


def test_the_notice_names_the_word_whose_ribbon_crosses_most() -> None:
    labels = ("a", " b", " c", " d")
    tokens, turned = stand_in.tokens(labels), stand_in.tokens(("long", " a", " b", " longer"))
    weights = np.array([[0, 0, 0, 0.97], [0.97, 0, 0, 0], [0, 0.97, 0, 0], [0, 0, 0.97, 0]]) + 0.0075
    made = two_words()
    cross = attention("cross", weights, turned, tokens)
    own = stand_in.attention("decoder", turned, turned, layers=1, heads=1)
    encoder = stand_in.attention("encoder", tokens, tokens, layers=1, heads=1)
    record = replace(
        made,
        source_text="a b c d",
        target_text="long a b longer",
        encoder=encoder,
        decoder=own,
        cross=cross,
        output=turned,
        steps=(),
    )
    said = start.notice(start.ribbons(record))
    assert said == "Ribbons cross where the order of words differs: “long” looks at “d” (0.98)."


def test_the_notice_does_not_invent_a_pair() -> None:
    tokens = stand_in.tokens(("a", " b", " c", " d", " e"))
    even = attention("encoder", np.full((5, 5), 0.2), tokens, tokens)
    record = Record(stand_in.model_info("encoder"), "a b c d e", None, even, None, None)
    assert start.notice(start.ribbons(record)).startswith("No word of this text singles out one other")
    only = stand_in.tokens(("<s>", "</s>"))
    special = Record(stand_in.model_info("encoder"), "", None, attention("encoder", np.eye(2), only, only), None, None)
    assert start.notice(start.ribbons(special)) == "There are only special tokens here: nothing to align."


def self_attention(labels: list[str], weights: np.ndarray) -> start.Ribbons:
    """The ribbons of an encoder whose one head has exactly these weights (n, n)."""
    tokens = stand_in.tokens(tuple(labels))
    own = attention("encoder", weights, tokens, tokens)
    text = "".join(label for label in labels if not label.startswith("<"))
    return start.ribbons(Record(stand_in.model_info("encoder"), text, None, own, None, None))


def next_ones(count: int) -> np.ndarray:
    """(n, n) weights that go to the next word."""
    return np.roll(np.eye(count), 1, axis=1)


def test_the_notice_names_only_words_that_are_drawn() -> None:
    labels = [f" w{place}" for place in range(70)]
    labels[60] = " the-longest-word-of-all"
    said = start.notice(self_attention(labels, next_ones(70)))
    assert said == "Follow one ribbon: “w10” looks most at “w11” (1.00)."  # the first of the longest
    far = np.full((70, 70), 1 / 70)
    far[60:69] = next_ones(70)[60:69]
    said = start.notice(self_attention(labels, far))
    assert said == "None of the words drawn here singles out one other word that is drawn."


def test_the_notice_names_only_words_that_are_found() -> None:
    said = start.notice(self_attention(["several", " on", " On", " in", " at", " several"], next_ones(6)))
    assert said == "Follow one ribbon: “in” looks most at “at” (1.00)."
    said = start.notice(self_attention(["on", " in", " on", " in"], next_ones(4)))
    assert said.startswith("The words that single out one other word occur several times")


def test_a_weight_that_rounds_to_nothing_is_not_said() -> None:
    weights = np.array([[1, 0, 0], [0.997, 0.001, 0.002], [0.99, 0.004, 0.006]])
    found = self_attention(["<s>", "cat", " dog"], weights)
    assert found.say_below[1] == "“cat” looks most at <s> (1.00)."
    assert found.say_above[1:] == tuple(
        f"No word looks at “{word}” with a weight of 0.01 or more." for word in ("cat", "dog")
    )
    assert "0.00" not in " ".join(found.say_below + found.say_above)


def test_a_long_text_is_cut_for_the_picture_alone() -> None:
    record = stand_in.record(source=["<s>", *[" w"] * 99, "</s>"], output=["<s>", *[" v"] * 70, "</s>"])
    found = start.ribbons(record)
    cut = found.first(10)
    assert (len(found.above), len(found.below), found.weights.shape) == (101, 72, (72, 101))
    assert (len(cut.above), len(cut.below), cut.weights.shape, len(cut.say_above)) == (10, 10, (10, 10), 10)


def test_a_sentence_that_names_a_word_beyond_those_drawn_says_so() -> None:
    cut = self_attention(["a", " b", " c", " d"], next_ones(4)).first(2)
    more = "That word comes after those drawn here."
    assert cut.say_below == ("“a” looks most at “b” (1.00).", f"“b” looks most at “c” (1.00). {more}")
    assert cut.say_above == (f"“a” is looked at most by “d” (1.00). {more}", "“b” is looked at most by “a” (1.00).")


def test_the_sentences_need_no_label_of_a_candidate() -> None:
    """Labels are decoded one by one, ten for each step: none is shown on the start page."""

    def label(token: int, row: int) -> str:
        raise AssertionError(f"token {token} was labelled")

    record = two_words()
    numbers = [
        StepNumbers(step.position, step.row, [(0, math.log(0.5))], 0.0, 1.0, 0, math.log(0.5)) for step in record.steps
    ]
    unlabelled = replace(record, steps=Steps(numbers, label))
    assert start.ribbons(unlabelled).say_below == start.ribbons(record).say_below
    assert start.notice(start.ribbons(unlabelled)) == start.notice(start.ribbons(record))


def test_a_newcomer_is_told_without_numbers_and_special_tokens(record: Record) -> None:
    found = start.simple(start.ribbons(record))
    assert not any(word.special for word in (*found.above, *found.below))
    assert found.weights.shape == (len(found.below), len(found.above))
    said = " ".join((*found.say_below, *found.say_above))
    assert not any(letter.isdigit() for letter in said)


def test_what_a_newcomer_is_told_of_one_row() -> None:
    rows = np.array([[0.6, 0.3, 0.1], [0.2, 0.25, 0.55], [0.95, 0.05, 0.0]])
    found = start.simple(self_attention(["<s>", "cat", " dog"], rows))
    assert [word.text for word in found.below] == ["cat", "dog"]
    assert found.say_below == (
        "“cat” looks at “dog” more than at any other word.",
        "“dog” looked at no other word in particular.",
    )
    assert found.say_above == ("“cat” looks most at “cat”.", "“cat” looks most at “dog”.")
    none = start.simple(self_attention(["<s>", "</s>"], np.eye(2)))
    assert (none.below, none.say_below, start.to_touch(none)) == ((), (), None)


def test_a_gloss_names_the_word_that_is_mostly_looked_at() -> None:
    found = start.simple(start.ribbons(two_words()))  # “Katze” looks at “old” (0.2) and “cat” (0.7)
    assert [word.text for word in found.below] == ["Katze"]
    assert start.glosses(found) == ("cat",)
    assert start.to_touch(found) == 0
    at_old = replace(found, weights=np.array([[0.6, 0.4]], np.float32))  # which means something else
    assert start.glosses(at_old) == ("old",)
    spread = replace(found, weights=np.array([[0.29, 0.28]], np.float32))
    assert start.glosses(spread) == ("",)
    empty = replace(found, above=(), weights=np.zeros((1, 0), np.float32))
    assert start.glosses(empty) == ("",)
    assert not any(start.glosses(self_attention(["a", " b"], next_ones(2))))  # a text that looks at itself has none


def test_the_word_to_touch_is_one_that_a_phone_shows() -> None:
    names = [f"w{i}" for i in range(12)]
    order = [0, 1, 3, 2, *range(4, 9), 11, 10, 9]  # those at the end cross two others, 2 and 3 one
    line = tuple(Word(name, (name,), False, i, i + 1) for i, name in enumerate(names))
    weights = (0.9 * np.eye(12)[order]).astype(np.float32)
    found = replace(start.ribbons(two_words()), above=line, below=line, weights=weights)
    assert start.to_touch(found) in (2, 3)
    far = replace(found, weights=np.where(np.arange(12)[:, None] < start.NEAR, np.float32(0.05), weights))
    assert start.to_touch(far) in (9, 10, 11)


def test_the_mask_of_a_text_is_what_one_looks_at_first() -> None:
    tokens = replace(
        stand_in.tokens(("[CLS]", " old", " [MASK]", " cat", "[SEP]")),
        special=np.array([True, False, True, False, True]),
        words=(None, 0, None, 1, None),
        spans=(None, (0, 3), None, (11, 14), None),
    )
    to_word, to_sign = np.full((5, 5), 0.2), np.full((5, 5), 0.2)
    to_word[2], to_sign[2] = [0.1, 0.1, 0.0, 0.7, 0.1], [0.9, 0.0, 0.0, 0.0, 0.1]
    weights = np.stack([to_sign, to_word])[None]  # (1, 2, 5, 5): the second head's gap looks at a word
    q = np.log(np.maximum(weights, 1e-12)).astype(np.float32)
    k = np.broadcast_to(np.eye(5, dtype=np.float32), (1, 2, 5, 5))
    own = Attention("encoder", q, k, 1.0, np.ones((5, 5), bool), tokens, tokens)
    found = start.ribbons(Record(stand_in.model_info("encoder"), "old [MASK] cat", None, own, None, None))
    assert found.head == Head("encoder", 0, 1)
    assert (start.mask_of(found), start.to_touch(found)) == (2, 2)
    assert start.notice(found) == "The mask: [MASK] looks most at “cat” (0.70)."
    simple = start.simple(found)
    assert [word.text for word in simple.below] == ["old", "[MASK]", "cat"]
    assert simple.say_below[1] == "[MASK] looks at “cat” more than at any other word."


@pytest.mark.parametrize("name", records.NAMES)
def test_the_first_head_of_a_text_that_looks_at_itself_says_something_about_it(name: str) -> None:
    record = records.read(name)
    for kind in record.kinds:
        if kind == "cross":
            continue
        attention, first = record.attention(kind), start.head_of(record, kind)
        rows, words = ~record.rows(kind).special, ~attention.key.special
        shares = np.stack(
            [
                attention.layer(layer)[:, rows][:, :, words].sum(axis=2).mean(axis=1)
                for layer in range(attention.shape[0])
            ]
        )  # (L, H)
        assert shares[first.layer, first.head] >= 0.5 or shares.max() < 0.5
        assert np.diagonal(attention.head(first.layer, first.head), -1).mean() < 0.5  # the token before


def test_the_gap_looks_at_a_word_that_is_not_next_to_it() -> None:
    found = start.ribbons(records.read("mask"))
    mask = start.mask_of(found)
    assert mask is not None
    looked_at = int(found.weights[mask].argmax())
    assert not found.above[looked_at].special
    assert abs(looked_at - mask) > 1


def test_neighbours_full_stops_and_special_tokens_do_not_count() -> None:
    tokens = replace(stand_in.tokens(("I", " buy", " a", " car", ".", "</s>")), special=np.array([False] * 5 + [True]))
    before, stop, end, far = (np.full((6, 6), 0.02) for _head in range(4))
    for row in range(6):
        before[row, max(row - 1, 0)] = stop[row, 4] = end[row, 5] = 0.9
        far[row, (row + 2) % 4] = 0.4  # I and a, buy and car choose each other
    q = np.log(np.stack([before, stop, end, far]))[None].astype(np.float32)  # (1, 4, 6, 6)
    k = np.broadcast_to(np.eye(6, dtype=np.float32), (1, 4, 6, 6))
    own = Attention("encoder", q, k, 1.0, np.ones((6, 6), bool), tokens, tokens)
    found = start.ribbons(Record(stand_in.model_info("encoder"), "I buy a car.", None, own, None, None))
    assert found.head == Head("encoder", 0, 3)
    assert start.pairs(found) == [(0, 2), (1, 3), (2, 0), (3, 1), (4, 2)]
