"""Pairs whose second sentence lacks a word of the first: read, guessed and counted."""

from __future__ import annotations

import pytest
from transformers import BertForPreTraining, BertTokenizer

import bartviz
from bartviz.app.frame.examples import BY_MODEL
from bartviz.families.catalogue import EMBEDDED
from training import context
from training.context import Case, Guess


def test_the_pairs_are_read() -> None:
    found = context.cases()
    assert len(found) == 20
    assert len({case.word for case in found}) == 20
    assert all(case.word in case.first.lower() and case.word not in case.second for case in found)


@pytest.mark.parametrize("line", ["A dog.|It is a ____.", "A dog.|It is a dog.|dog", "A dog.|It is a ____.|cat"])
def test_a_line_that_is_no_pair_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="Not a pair"):
        context.case(line)


def test_guesses_are_counted() -> None:
    pair = Case("A dog.", "It is a ____.", "dog")
    found = [
        (pair, Guess("cat", "dog", 0.1, 0.9)),
        (pair, Guess("dog", "dog", 0.5, 0.6)),
        (pair, Guess("dog", "cat", 0.5, 0.4)),
        (pair, Guess("cat", "cat", 0.2, 0.2)),
    ]
    assert list(context.counts(found).values()) == [2, 2, 1, 2]


def test_the_shipped_model_guesses_by_itself_and_with_the_sentence_before() -> None:
    folder = EMBEDDED / "bert-tiny-en"
    model, tokenizer = BertForPreTraining.from_pretrained(folder).eval(), BertTokenizer.from_pretrained(folder)
    found = context.guess(model, tokenizer, Case("He has a dog.", "The ____ is old.", "dog"))
    other = context.guess(model, tokenizer, Case("He has a house.", "The ____ is old.", "house"))
    assert (found.alone, 0 < found.before < 1) == (other.alone, True)
    assert found.after > found.before
    with pytest.raises(ValueError, match="not one token"):
        context.guess(model, tokenizer, Case("hippopotamuses", "____", "hippopotamuses"))


def test_the_pair_that_the_app_offers_is_filled_and_a_head_looks_at_the_word() -> None:
    folder, example = EMBEDDED / "bert-tiny-en", BY_MODEL["bert-tiny-en"][-1]
    model, tokenizer = BertForPreTraining.from_pretrained(folder).eval(), BertTokenizer.from_pretrained(folder)
    pair = Case(example.text, example.pair.replace("[MASK]", context.GAP), "island")
    found = context.guess(model, tokenizer, pair)
    assert (found.alone != "island", found.together) == (True, "island")
    record = bartviz.capture(
        bartviz.load("bert-tiny-en"), example.text, pair=example.pair, allow_special=example.special
    )
    labels, attention = list(record.source.labels), record.attention("encoder")
    mask, word = labels.index("[MASK]"), labels.index("island")
    layers, heads = attention.shape[:2]
    assert max(attention.head(layer, head)[mask, word] for layer in range(layers) for head in range(heads)) > 0.5
