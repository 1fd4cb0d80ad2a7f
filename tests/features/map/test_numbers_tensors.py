"""What the map shows of one text: shapes that follow from the record, and small maps of the weights themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bartviz.analysis.thumbnails import MASKED, ONE
from bartviz.families.family import ModelKind
from bartviz.features.map import numbers, parts
from bartviz.features.map import numbers_tensors as tensors
from bartviz.language.percentages import fine, tenths
from bartviz.record.attention import Attention
from bartviz.record.record import Record
from bartviz.serving import saved_records
from tests.support import stand_in


def found(record: Record) -> dict[tuple[str, str], tensors.Tensor]:
    """What leaves each box, by its stack and text."""
    columns = numbers.columns(record.model, steps=bool(record.steps))
    return {
        (column.stack, box.text): tensors.tensor(record, column, box)
        for column in columns
        for box in (*column.before, *(box for group in column.layer for box in group), *column.after)
    }


def test_candidates_that_read_alike_are_told_apart_or_left_out(record: Record) -> None:
    step = tensors.first_word(record)
    assert step is not None
    first, second, *rest = step.candidates
    twins = replace(step, candidates=(first, replace(second, label=first.label), *rest))
    changed = replace(record, steps=tuple(twins if one is step else one for one in record.steps))
    columns = numbers.columns(record.model, steps=True)
    column, box = next((one, box) for one in columns for box in one.after if box.gives == "scores")
    told, plain = (dict(tensors.tensor(changed, column, box, plain=plain).bars) for plain in (False, True))
    assert list(told)[:2] == [first.label, f"{first.label} (2)"]
    assert told[f"{first.label} (2)"] == second.probability
    assert list(plain)[:2] == [one.label for one in (first, *rest[:1])]
    assert sum(plain.values()) == pytest.approx(1)
    assert len(parts.said_of_twins(changed)) == 1
    assert not parts.said_of_twins(record)


def first_with(record: Record, shares: list[float]) -> Record:
    """A record whose first word has candidates of these probabilities."""
    step = tensors.first_word(record)
    assert step is not None
    made = tuple(replace(step.candidates[0], label=f"w{at}", probability=p) for at, p in enumerate(shares))
    changed = replace(step, candidates=made)
    return replace(record, steps=tuple(changed if one is step else one for one in record.steps))


def test_tiny_shares_that_are_seen_together_are_said(record: Record) -> None:
    usual = [0.9, *[0.0004] * 9]
    count, rest = record.model.vocabulary - tensors.LIKELIEST, 1 - 0.9 - 4 * 0.0004
    said = tensors.of_others(first_with(record, usual), plain=True)
    assert said == (
        f"In the output, the {count:,} others have {tenths(rest)} together, "
        f"but only {fine(rest / count)} each on average."
    )
    assert not tensors.of_others(first_with(record, [0.9, *[0.01] * 9]), plain=True)  # some have more
    assert not tensors.of_others(first_with(record, [0.995, *[0.0004] * 9]), plain=True)  # they are not seen
    assert not tensors.of_others(first_with(record, usual[:5]), plain=True)  # nobody knows what the next one has
    assert not tensors.of_others(replace(record, steps=()), plain=True)


def test_a_twin_that_is_left_out_is_one_of_the_others(record: Record) -> None:
    changed = first_with(record, [0.5, 0.4, *[0.0004] * 8])
    step = tensors.first_word(changed)
    assert step is not None
    first, twin, *rest = step.candidates
    with_twin = replace(step, candidates=(first, replace(twin, label=first.label), *rest))
    changed = replace(changed, steps=tuple(with_twin if one is step else one for one in changed.steps))
    assert tensors.of_others(changed, plain=False)
    assert not tensors.of_others(changed, plain=True)


def test_shapes_are_those_of_the_record(record: Record) -> None:
    given = found(record)
    source, output, width = len(record.source), len(record.attention("decoder").query), record.model.width
    assert given["encoder", "Source text"].shape == f"{source} tokens"
    assert given["encoder", "Hidden states"].shape == f"{source} × {width} numbers"
    _layers, heads, rows, columns = record.attention("cross").shape
    assert (rows, columns) == (output, source)
    cross = given["decoder", f"Cross-attention to the encoder, {heads} heads"]
    assert cross.shape == f"{output} × {source}, mean over {heads} heads"
    step = tensors.first_word(record)
    assert step is not None
    scores = given["decoder", "Output layer and softmax"]
    after = record.attention("decoder").query.labels[step.row]
    assert scores.shape == f"{record.model.vocabulary:,} scores for the token after “{after}”"
    *likeliest, (others, rest) = scores.bars
    kept = step.candidates[:5]
    assert likeliest == [(one.label, one.probability) for one in kept]
    assert others == f"{record.model.vocabulary - len(kept):,} others"
    assert rest == pytest.approx(1 - sum(one.probability for one in kept))
    assert given["decoder", "Next token, appended to “Output so far”"].tokens == (step.chosen.label,)


def in_words(record: Record) -> dict[str, set[str]]:
    """What a newcomer reads on the boxes that give states or sums, by what they give."""
    boxes = [
        (column, box)
        for column in (stack.of_parts() for stack in numbers.columns(record.model))
        for box in (*column.before, *(box for group in column.layer for box in group), *column.after)
    ]
    said: dict[str, set[str]] = {}
    for column, box in boxes:
        said.setdefault(box.gives, set()).add(tensors.tensor(record, column, box, plain=True).shape)
    return said


def test_a_newcomer_reads_words_instead_of_shapes(record: Record) -> None:
    said = in_words(record)
    assert said["sum"] == {"adds the input again, then rescales"}
    assert all(said["states"])
    assert not any(letter.isdigit() for text in said["states"] for letter in text)
    model = replace(record.model, family="mbart")  # its LayerNorm is before each part
    assert model.known.norm == "pre"
    assert in_words(replace(record, model=model))["sum"] == {"adds the input again"}


def test_the_word_that_is_shown_is_the_first_that_the_model_chose() -> None:
    record = saved_records.read("start")  # its first token is forced, and no word
    step = tensors.first_word(record)
    assert step is not None
    assert record.steps[0].rule is not None
    assert step.chosen.label == "Ich"


def test_the_output_so_far_ends_before_the_word_that_is_shown() -> None:
    record = saved_records.read("start")  # the decoder reads </s> and <s> before it writes “Ich”
    given = found(record)
    so_far = given["decoder", "Output so far"]
    assert so_far.written == 2
    assert so_far.shape == f"here 2 of {len(so_far.tokens)} tokens: only the start"
    assert so_far.tokens[2] == "Ich"
    assert given["encoder", "Source text"].written is None
    (box, *_others) = parts.payload(record, parts.drawn(record, small=False))["columns"][1]["before"]
    assert box["written"] == 2


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_a_single_stack_has_what_it_reads(kind: ModelKind) -> None:
    record = stand_in.record(kind=kind)
    read = found(record)[kind, "Source text" if kind == "encoder" else "Text so far"]
    assert read.tokens == record.attention(kind).query.labels[: tensors.WORDS + 1]


def test_a_small_map_is_the_mean_of_the_heads_and_grey_where_masked() -> None:
    tokens = stand_in.tokens(("a", "b"))
    weights = np.array([[[1.0, 0.0], [0.25, 0.75]], [[1.0, 0.0], [0.75, 0.25]]])  # (H, Q, K)
    q = np.log(np.maximum(weights, 1e-12))[None].astype(np.float32)  # (1, H, Q, K)
    k = np.broadcast_to(np.eye(2, dtype=np.float32), (1, 2, 2, 2))
    causal = np.tril(np.ones((2, 2), bool))
    record = replace(stand_in.record(kind="decoder"), decoder=Attention("decoder", q, k, 1.0, causal, tokens, tokens))
    assert tensors.maps(record, "decoder").tolist() == [[[ONE, MASKED], [ONE // 2, ONE // 2]]]


def test_a_cell_of_a_long_text_is_the_largest_of_its_block() -> None:
    record = stand_in.record(source=["<s>", *[" w"] * 48, "</s>"])
    small = tensors.maps(record, "encoder")
    assert small.shape[1:] == (17, 17)  # blocks of three tokens, for at most 24 cells
    heads = np.rint(ONE * record.attention("encoder").layer(0)).mean(axis=0)  # (50, 50)
    blocks = np.pad(heads, (0, 1)).reshape(17, 3, 17, 3).max(axis=(1, 3))
    assert np.abs(small[0] - blocks).max() <= 1
