"""Whether the texts of a record are those of its tokens, by the model's own tokenizer.

A text may have been read, written by the model, given to it, or made from tokens of which one was exchanged. Whatever a
record says of itself, its texts and tokens are right if they come out of one of these, in every field.
Letters: n tokens of the text that is read, m rows of a decoder.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, replace
from itertools import zip_longest

import numpy as np
from torch import Tensor

from bartviz.errors import BartvizError
from bartviz.experiments.replay import respelled
from bartviz.models.model import Model
from bartviz.record.record import Record
from bartviz.record.vocabulary import DECODER_START, EDITED
from bartviz.run.batch import shifted, start_token
from bartviz.text import tokenize
from bartviz.text.labels import CONTINUES
from bartviz.text.tokens import Tokens

FIRST_CHOICE_LIMIT = 1e-3  # of a logit


def other_tokens(a: Tokens, b: Tokens) -> int:
    """How many positions differ in any field; in their ids alone where the numbers of tokens differ: a record may have
    a text of any length, and to name each of its tokens takes long."""
    if len(a) != len(b):
        return sum(one != other for one, other in zip_longest(a.ids.tolist(), b.ids.tolist()))
    rows = (zip(*(list(getattr(tokens, field.name)) for field in fields(Tokens)), strict=True) for tokens in (a, b))
    return sum(one != other for one, other in zip_longest(*rows))


def wrong_texts(model: Model, record: Record, logits: Tensor | None) -> int:
    """How many tokens or texts are not those of each other. logits (m, V): of a pass, for a decoder-only model."""
    if record.reads_own_text:
        return _own_text(model, record, logits) + (record.pair_text is not None)
    source = record.source.take(slice(0, _seen(record, "encoder")))
    wrong = _padding(model, record.source, len(source)) + min(_as_read(model, record, source))
    if record.cross is None or record.output is None:
        return wrong + (record.target_text is not None)
    decoder = record.attention("decoder")
    rows = _seen(record, "decoder")
    output = record.output.take(slice(0, rows))
    wrong += _padding(model, record.output, len(output))
    known = {start_token(model), start_token(model, output)}
    if isinstance(chosen := record.provenance.settings.get(DECODER_START), int):
        known = {chosen}
    first = int(decoder.query.ids[0])
    if first in known or record.provenance.mode != EDITED:
        start = first if first in known else start_token(model)
        reads = _relabelled(record, decoder.query, shifted(model, start, record.output))
        return wrong + min(_as_output(model, record, output, source)) + other_tokens(decoder.query, reads)
    return wrong + _other_start(model, record, rows)


def _seen(record: Record, kind: str) -> int:
    """How many tokens of a stack are not padding, which is at the end."""
    return int(np.count_nonzero(record.attention(kind).mask.any(axis=0)))


def _padding(model: Model, tokens: Tokens, count: int) -> int:
    """How many tokens after the first ``count`` are not padding as the tokenizer makes it."""
    if count == len(tokens):
        return 0
    return other_tokens(tokens, tokenize.pad(tokens.take(slice(0, count)), model.tokenizer, len(tokens)))


def _as_read(model: Model, record: Record, source: Tokens) -> Iterator[int]:
    """The number of wrong tokens if the source text was read unchanged, or is the text of its tokens."""
    for special in (False, True):
        yield _read(model, record, source, allow_special=special)
    text, pair, tokens = respelled(model, _named(model, record, source))
    yield other_tokens(source, tokens) + (text != record.source_text) + (pair != record.pair_text)


def _read(model: Model, record: Record, source: Tokens, *, allow_special: bool) -> int:
    made = tokenize.encode(model.tokenizer, record.source_text, pair=record.pair_text, allow_special=allow_special)
    return other_tokens(source, made)


def _as_output(model: Model, record: Record, output: Tokens, source: Tokens) -> Iterator[int]:
    """How many output tokens are wrong if they were written, or were given as a text, or are the text that was read."""
    text, tokens = tokenize.from_ids(model.tokenizer, output.ids.tolist())
    yield other_tokens(output, _relabelled(record, output, tokens)) + (text != record.target_text)
    if record.target_text is None:
        yield other_tokens(output, source)
        return
    with suppress(BartvizError):
        yield other_tokens(output, tokenize.encode(model.tokenizer, record.target_text, target=True))


def _other_start(model: Model, record: Record, rows: int) -> int:
    """How many tokens are wrong after an edit of the token that the decoder reads first: it is part of the text."""
    assert record.output is not None
    whole = tokenize.join(
        record.attention("decoder").query.take(slice(0, rows)), record.output.take(slice(rows - 1, rows))
    )
    text, tokens = tokenize.from_ids(model.tokenizer, whole.ids.tolist())
    made = _relabelled(record, whole, tokens)
    reads = record.attention("decoder").query.take(slice(0, rows))
    wrong = other_tokens(reads, made.take(slice(0, -1)))
    return (
        wrong
        + other_tokens(record.output.take(slice(0, rows)), made.take(slice(1, None)))
        + (text != record.target_text)
    )


def _own_text(model: Model, record: Record, logits: Tensor | None) -> int:
    """The same of a decoder-only model, whose output goes on with the text that it reads."""
    decoder = record.attention("decoder")
    count = _seen(record, "decoder")
    reads, padded = decoder.query.take(slice(0, count)), _padding(model, decoder.query, count)
    if record.output is None:
        return padded + min(_as_read(model, record, reads))
    output = record.output.take(slice(0, count))
    wrong = padded + _padding(model, record.output, count)
    if record.target_text is None and record.provenance.mode != EDITED:
        return wrong + min(_as_read(model, record, reads)) + _not_the_next(model, reads, output, logits)
    first = len(reads) if record.target_text is None else _prompt(model, record, reads)
    whole = tokenize.join(reads, output.take(slice(-1, None)))
    tokens = _relabelled(record, whole, tokenize.from_ids(model.tokenizer, whole.ids.tolist())[1])
    wrong += other_tokens(reads, tokens.take(slice(0, -1))) + other_tokens(output, tokens.take(slice(1, None)))
    wrong += min(_prompts(model, record, reads, first))
    return wrong if record.target_text is None else wrong + _continues(model, record, whole, first)


def _prompt(model: Model, record: Record, reads: Tokens) -> int:
    """How many tokens come before those that the model wrote, or was given."""
    if len(record.steps):
        return record.steps[0].row + 1
    counts = [
        len(tokenize.encode(model.tokenizer, record.source_text, allow_special=special)) for special in (False, True)
    ]
    fitting = [count for count in counts if count <= len(reads)]
    return fitting[0] if fitting else len(reads)


def _prompts(model: Model, record: Record, reads: Tokens, first: int) -> Iterator[int]:
    """How many tokens of the prompt are not those of the source text."""
    ids = reads.ids[:first].tolist()
    for special in (False, True):
        made = tokenize.encode(model.tokenizer, record.source_text, allow_special=special).ids.tolist()
        yield sum(a != b for a, b in zip_longest(ids, made))
    yield int(tokenize.from_ids(model.tokenizer, ids)[0] != record.source_text)


def _continues(model: Model, record: Record, whole: Tokens, first: int) -> int:
    """1 if the target text is neither the text of its tokens nor one that has them."""
    ids = whole.ids[first:].tolist()
    if tokenize.from_ids(model.tokenizer, ids)[0] == record.target_text:
        return 0
    with suppress(BartvizError):
        return int(tokenize.encode(model.tokenizer, record.target_text or "", target=True).ids.tolist() != ids)
    return 1


def _not_the_next(model: Model, reads: Tokens, output: Tokens, logits: Tensor | None) -> int:
    """How many output tokens of a text that was read are not the next ones; after the last, the model's first
    choice."""
    wrong = other_tokens(output.take(slice(0, -1)), tokenize.join(reads.take(slice(1, None))))
    last = int(output.ids[-1])
    named = replace(tokenize.from_ids(model.tokenizer, [last])[1], spans=(None,))
    expected = tokenize.join(reads.take(slice(1, None)), named).take(slice(-1, None))
    wrong += other_tokens(output.take(slice(-1, None)), expected)
    if logits is None:
        return wrong
    row = logits[len(reads) - 1]
    return wrong + int(float(row.max() - row[last]) > FIRST_CHOICE_LIMIT * max(1.0, float(row.max().abs())))


def _named(model: Model, record: Record, tokens: Tokens) -> Tokens:
    """The tokens by their ids, with the segments and special tokens of a pair."""
    made = tokenize.from_ids(model.tokenizer, tokens.ids.tolist())[1]
    return replace(_relabelled(record, tokens, made), segments=tokens.segments, special=made.special)


def _relabelled(record: Record, tokens: Tokens, made: Tokens) -> Tokens:
    """After an exchange the other tokens keep the labels that they had: ``made`` with those of ``tokens``, where
    they differ only in how they are joined to what came before."""
    if record.provenance.mode != EDITED or len(tokens) != len(made):
        return made
    labels = tuple(
        own if CONTINUES in (own, other) or own.removeprefix(CONTINUES) == other.removeprefix(CONTINUES) else other
        for own, other in zip(tokens.labels, made.labels, strict=True)
    )
    return replace(made, labels=labels)
