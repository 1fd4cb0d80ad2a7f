"""What is said of a beam search, of searches by models of every family that writes."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

import bartviz
from bartviz.features.decoding import numbers_beams as beams
from bartviz.models.model import Model
from bartviz.record import store
from bartviz.record.record import Record
from bartviz.text.tokenize import encode, from_ids
from tests.run.test_beam_search import early
from tests.support import loaded
from tests.support.writers import TEXT, WRITERS, chosen, with_rules


def encoded(model: Model, text: str) -> tuple[Any, Any]:
    made = encode(model.tokenizer, text, target=True)
    return made.ids, made.spans


def test_punctuation_and_halves_of_characters_are_decoded() -> None:
    """With labels: “She didn 't”, and the two bytes of a letter one by one."""
    model = loaded.model("bart")
    ids = [int(i) for i, span in zip(*encoded(model, "She didn't, Ü."), strict=True) if span is not None]
    record = bartviz.decode(model, TEXT, beams=2, force=dict(enumerate(ids)), max_new_tokens=len(ids), use_rules=False)
    assert record.beams is not None
    said = beams.text(record.beams, record.beams.best)
    assert said == record.target_text == "She didn't, Ü."
    on_the_way = {record.beams.nodes[n].text for n in record.beams.path(record.beams.best)}
    assert all(text is not None and said.startswith(text) for text in on_the_way)


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["repetition_penalty", "encoder_repetition_penalty", "no_repeat_ngram_size"])
@pytest.mark.parametrize("family", ["bart", "marian", "gpt2"])
def test_statements_about_greedy_search_are_true(family: str, rule: str) -> None:
    """A penalty divides positive logits and multiplies negative ones; log p is never positive."""
    model = with_rules(loaded.model(family), **{rule: 1 if rule == "no_repeat_ngram_size" else 1.3})
    for count, new in ((2, 3), (3, 6), (4, 12)):
        record = bartviz.decode(model, TEXT, beams=count, max_new_tokens=new)
        greedy = bartviz.decode(model, TEXT, max_new_tokens=new)
        said = beams.notice(record)
        if "would write the same" in said:
            assert chosen(record) == chosen(greedy)
        assert ("which may therefore write another text" in said) == (rule != "no_repeat_ngram_size")
        for step, token in beams.turns(record):
            before = dict(enumerate(chosen(record)[: step.position]))
            there = bartviz.decode(model, TEXT, max_new_tokens=new, force=before).steps[step.position]
            assert there.chosen.token_id == token.token_id


@pytest.mark.some("bart", "t5", "marian", "gpt2")
@pytest.mark.slow
@pytest.mark.parametrize("family", WRITERS)
def test_texts_that_ended_are_as_the_tokenizer_decodes_them(family: str) -> None:
    model = loaded.model(family)
    for record in (early(family), bartviz.decode(model, TEXT, beams=4, max_new_tokens=20)):
        tree = record.beams
        assert tree is not None
        assert beams.text(tree, tree.best) == record.target_text
        alive = beams.survivors(tree)
        for number, node in enumerate(tree.nodes):
            assert (node.text is not None) == (number in alive)
            if node.state in ("finished", "best"):
                ids = [tree.nodes[n].token.token_id for n in tree.path(number)]
                assert node.text == from_ids(model.tokenizer, ids)[0]
                on_the_way = [tree.nodes[n].text or "" for n in tree.path(number)]
                assert all(len(a) <= len(b) for a, b in pairwise(on_the_way))
        assert store.decode(store.encode(record), Record)[0] == record


def test_a_tree_without_texts_is_joined_from_labels() -> None:
    tree = bartviz.decode(loaded.model("bart"), TEXT, beams=2, max_new_tokens=3).beams
    assert tree is not None
    older = replace(tree, nodes=tuple(replace(node, text=None) for node in tree.nodes))
    assert beams.text(older, older.best)
