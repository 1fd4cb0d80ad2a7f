"""The measures of a batch are those of the compare page, and do not depend on what a text is padded with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bartviz
from bartviz.analysis import aligners, alignment, contributions, gold_alignment, measures
from bartviz.analysis.head_measures import MEASURES, OfPattern
from bartviz.corpus.batch_looks import TokenNames
from bartviz.corpus.batch_measures import BatchMeasures
from bartviz.corpus.encode import Encoded, encode, side, simple_side
from bartviz.corpus.measure import batches, measure, padded
from bartviz.corpus.pattern_shares import pairs
from bartviz.corpus.read import Line
from bartviz.models.model import Model
from bartviz.patterns.grammar import Pattern, parse
from bartviz.patterns.named import NAMED
from bartviz.record.record import Record
from bartviz.run.prepare import prepare, prepare_target
from tests.support import loaded

SOURCES = (
    "the cat sat on the mat",
    "a dog",
    "the cat, the dog and the cat ran to the mat and the cat sat.",
    "we saw it, and then we saw it again",
)
TARGETS = ("the mat sat on the cat", "a dog a dog, a dog", "the dog", "and we saw it")
FAMILIES = ("bert", "bart", "t5", "gpt2", "albert", "marian", "gemma2", "mistral", "umt5")


def encoded(model: Model, gold: Sequence[str | None] = (None,) * 4) -> list[Encoded]:
    rows = zip(SOURCES, TARGETS, gold, strict=True)
    both = model.info.kind == "encoder-decoder"
    return [
        encode(model, Line(number, "corpus.tsv", number + 2, text, None, target if both else None, links))
        for number, (text, target, links) in enumerate(rows)
    ]


def record(model: Model, number: int) -> Record:
    """A given output counts as complete: the record does not say how probable its end was."""
    target = TARGETS[number] if model.info.kind == "encoder-decoder" else None
    return replace(bartviz.capture(model, SOURCES[number], target=target, values=True), steps=())


@pytest.mark.parametrize("family", FAMILIES)
def test_a_text_in_a_batch_has_the_measures_of_its_record(family: str) -> None:
    model = loaded.model(family)
    found = measure(model, encoded(model))
    for number in range(len(SOURCES)):
        made = record(model, number)
        for kind in made.kinds:
            alone = measures.of_record(made, kind)
            for place, name in enumerate(found[kind].names):
                if name in alone.values:
                    np.testing.assert_allclose(
                        found[kind].values[number, ..., place], alone.values[name], atol=5e-5, err_msg=f"{kind} {name}"
                    )
                    np.testing.assert_allclose(found[kind].even[number, place], alone.even[name], rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("name", MEASURES)
def test_a_record_and_a_corpus_call_one_function_for_each_measure(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    defined, called = MEASURES[name], 0
    compute: Any = defined.compute
    assert compute is not None
    function = Pattern.mask if isinstance(compute, OfPattern) else compute.function

    def counted(*given: Any) -> Any:
        nonlocal called
        called += not isinstance(compute, OfPattern) or given[0] == compute.pattern
        return function(*given)

    if isinstance(compute, OfPattern):
        monkeypatch.setattr(Pattern, "mask", counted)
    else:
        monkeypatch.setitem(MEASURES, name, replace(defined, compute=replace(compute, function=counted)))
    model = loaded.model("bart")
    measures.of_record(record(model, 2), defined.kinds[-1])
    by_record = called
    measure(model, encoded(model))
    assert 0 < by_record < called


def test_a_new_measure_needs_one_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    """The weight on the last token, which is not the last column of a text that is padded."""
    function = OfPattern(parse("from not special to last"))
    monkeypatch.setitem(MEASURES, "last", replace(MEASURES["special"], name="last", compute=function))
    model = loaded.model("bart")
    found = measure(model, encoded(model))["encoder"]
    for number in range(len(SOURCES)):
        made = record(model, number)
        attention = made.attention("encoder")
        rows = measures.counted(attention)
        by_hand = np.stack([attention.layer(layer)[:, rows, -1].mean(axis=1) for layer in range(attention.shape[0])])
        alone = measures.of_record(made, "encoder").values["last"]
        np.testing.assert_allclose(alone, by_hand, rtol=1e-5)
        np.testing.assert_allclose(found.values[number, ..., found.names.index("last")], by_hand, rtol=1e-4)


@pytest.mark.parametrize("text", [*NAMED, "from last to last word", "from any to next word of same token or within 2"])
def test_a_pattern_marks_in_a_batch_what_it_marks_in_a_text(text: str) -> None:
    model, pattern = loaded.model("bart"), parse(text)
    rows = encoded(model)
    source, inputs, output = padded(model, rows)
    assert inputs is not None
    for kind in pattern.kinds(("encoder", "decoder", "cross")):
        reads, key = (source if kind == "encoder" else inputs), (inputs if kind == "decoder" else source)
        query = output if kind == "cross" and output is not None else reads
        batch = BatchMeasures(kind, TokenNames.of(model), query, reads, key)
        marked = pattern.mask(batch.cells.pair).numpy()
        for number, row in enumerate(rows):
            alone = pattern.mask(pairs(row, [kind])[kind])
            queries, keys = alone.shape
            np.testing.assert_array_equal(marked[number, :queries, :keys], alone)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_text_alone_has_the_numbers_that_it_has_in_any_batch(family: str) -> None:
    model = loaded.model(family)
    rows = encoded(model)
    together = measure(model, rows)
    for number, row in enumerate(rows):
        for others in ([row], [rows[number - 1], row], [row, *rows]):
            found = measure(model, others)
            for kind, values in found.items():
                at = others.index(row)
                np.testing.assert_allclose(
                    values.values[at], together[kind].values[number], rtol=1e-5, atol=1e-6, err_msg=kind
                )


def test_norms_are_those_of_the_projected_values() -> None:
    model = loaded.model("bart")
    found = measure(model, encoded(model))["encoder"]
    attention = record(model, 2).encoder
    assert attention is not None
    special = attention.key.special
    counts = measures.counted(attention)
    for layer, head in np.ndindex(attention.shape[:2]):
        lengths = np.linalg.norm(contributions.projected(attention, layer, head), axis=1)
        first = found.values[2, layer, head, found.names.index("first_value")]
        assert np.isclose(first, lengths[0] / lengths.mean(), rtol=1e-4)
        norms = contributions.norms(attention, layer, head)[counts]
        by_norm = found.values[2, layer, head, found.names.index("special_by_norm")]
        assert np.isclose(by_norm, (norms[:, special].sum(axis=1) / norms.sum(axis=1)).mean(), rtol=1e-4)


def test_error_rates_are_those_of_the_alignment_page() -> None:
    model = loaded.model("bart")
    links = ("0-0 1-5 2?2 5-1", None, "1-1 0-0", "0-1 1-2 2?3")
    found = measure(model, encoded(model, links))["cross"]
    for number, by_hand in enumerate(links):
        made = record(model, number)
        for reading in aligners.READINGS:
            values = found.values[number, ..., found.names.index(f"error_{reading}")]
            if by_hand is None:
                assert np.isnan(values).all()
                continue
            source, target = alignment.lines(made)
            gold = gold_alignment.read(by_hand, len(source), len(target))
            for head in alignment.heads_of(made):
                shown = alignment.table(made, [head], reading=reading)
                rate = gold_alignment.score(alignment.links(shown.weights), gold).error_rate
                assert rate is not None
                assert np.isclose(values[head.layer, head.head], rate, atol=1e-6)


def test_batches_hold_every_row_once_and_rows_of_about_the_same_length() -> None:
    model = loaded.model("bart")
    rows = encoded(model) * 300
    found = batches(rows)
    assert sorted(index for batch in found for index in batch) == list(range(len(rows)))
    assert len(found) > 1
    sizes = [np.array([rows[index].size for index in batch]) for batch in found]  # (B, 2) each
    padded = sum(len(size) * size.max(axis=0).sum() for size in sizes)
    assert padded <= 1.1 * sum(size.sum() for size in sizes)


def test_without_a_target_the_model_writes_its_own() -> None:
    model = loaded.model("bart")
    row = encode(model, Line(0, "corpus.txt", 1, SOURCES[0]))
    written = bartviz.decode(model, SOURCES[0]).target_text
    assert written
    given = encode(model, Line(0, "corpus.txt", 1, SOURCES[0], None, written))
    assert row.output is not None
    assert given.output is not None
    np.testing.assert_array_equal(row.output.ids, given.output.ids)


PARTS = ("the", "Cat", "cat", "don't", "Mädchen", "straße", "42", "x9", ",", "...", "'", "(", "«", "한국어", " ", "  ")
OTHERS = ("猫", "e\u0301", "👍🏽", "\u00a0", "[MASK]", "</s>", "\t", "ก")


@given(
    st.sampled_from(("bert", "bart", "t5", "marian", "mbart", "pegasus")),
    st.lists(st.sampled_from((*PARTS, *OTHERS)), min_size=1, max_size=12).map("".join).filter(str.strip),
    st.booleans(),
)
def test_simple_texts_have_the_arrays_of_described_ones(family: str, text: str, target: bool) -> None:
    model = loaded.model(family)
    described: dict[str, int] = {"cat": 0}
    simple = dict(described)
    fast = simple_side(model.tokenizer, text, simple, limit=model.info.positions, target=target)
    if fast is None:
        assert simple == described
        return
    prepared = prepare_target(model, text) if target else prepare(model, text)
    slow = side(prepared.tokens, (prepared.text,), described)
    for field in fields(slow):
        np.testing.assert_array_equal(getattr(fast, field.name), getattr(slow, field.name), err_msg=field.name)
    assert simple == described


def test_a_line_without_a_target_has_the_one_that_is_decoded() -> None:
    model = bartviz.load("bart-tiny-en-de")
    row = encode(model, Line(0, "corpus.tsv", 1, "It is late.", None, None, None))
    assert row.output is not None
    target = bartviz.decode(model, "It is late.").target_text
    assert target is not None
    assert row.output.ids.tolist() == prepare_target(model, target).tokens.ids.tolist()


def test_usual_sentences_are_simple() -> None:
    tokenizer = bartviz.load("bart-tiny-en-de").tokenizer
    for text in ("Don't say so: he's 42!", "We saw it, and then we saw it again.", "Das große Mädchen läuft."):
        assert simple_side(tokenizer, text, {}, limit=None) is not None
