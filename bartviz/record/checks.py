"""The checks of a record, computed from its contents on demand. NumPy only.

A check measures something against a limit. A check that cannot be made (an older file has no digest, a record made by
hand no kernel output) counts as not passed, but not as failed either.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING

import numpy as np
import regex

from bartviz.arrays import Bools
from bartviz.language import mark
from bartviz.record.attention import KINDS, Attention, Kind
from bartviz.record.steps import Step, StepNumbers, bare, chosen_ids
from bartviz.record.validation import ROW_LIMIT
from bartviz.record.vocabulary import STEPPED, WRITTEN
from bartviz.text.labels import CONTINUES, normalized, visible
from bartviz.text.tokens import Tokens

if TYPE_CHECKING:
    from bartviz.record.beam_tree import BeamTree
    from bartviz.record.record import Record

_MARKED = regex.compile(r"[\p{M}\p{C}]")  # combining marks, and what is invisible

OUTPUT_LIMIT = 1e-4  # largest difference to the kernel's output, relative to its largest number
PROBABILITY_LIMIT = 1e-4  # how far probabilities, logits and entropy of a step may disagree

LAYERS = mark("layers and heads")
TAPE = mark("layers on the tape")
MASK = mark("mask")
TOKENS = mark("tokens")
KERNEL = mark("the kernel's output")
SUMS = mark("sums of the rows")
CLOSED = mark("weights of masked cells")
IDS = mark("token ids")
PROBABILITIES = mark("probabilities")
SPANS = mark("places in the text")
TEXT = mark("text")
LOGITS = mark("the network's logits")
RUN = mark("checks of the run")
FILE = mark("file")
LIMITS = {TAPE: 0.0, LOGITS: 4e-4}  # of what only the run itself can compare; logits: relative to the largest


@dataclass(frozen=True, slots=True)
class Check:
    """One check of a record: a measured value, None where there is nothing to compare with, and its limit.

    ``name`` is a message; ``kind`` the attention that it is about, None for the record as a whole.
    """

    name: str
    value: float | None
    limit: float
    kind: Kind | None = None

    @property
    def passed(self) -> bool:
        """Whether the value is there and within its limit; NaN is not."""
        return self.value is not None and self.value <= self.limit

    @property
    def failed(self) -> bool:
        """Whether the value is there and contradicts the limit."""
        return self.value is not None and not self.passed


def run(record: Record, *, again: bool = True) -> tuple[Check, ...]:
    """Every check of a record. ``again``: compare with the kernel's output now, even where that was done before."""
    checks: list[Check] = []
    for kind in KINDS:
        checks += _kind(record, kind, again=again)
    if record.output is not None or len(record.steps):
        checks.append(Check(IDS, float(_wrong_ids(record)), 0.0))
    if len(record.steps):
        totals = 0.0 if record.beams is None else _wrong_totals(record.beams)
        checks.append(Check(PROBABILITIES, worst(_largest_disagreement(record), totals), PROBABILITY_LIMIT))
    if not record.reads_own_text:  # what a decoder-only model reads and writes is one text, which no record holds
        checks.append(Check(SPANS, float(_outside(record.source, record.texts)), 0.0))
        # It holds its prompt as the text, so there is none to compare its output with either.
        wrong = _wrong_source(record)
        wrong += _wrong_text(record) if record.cross is not None and record.provenance.mode in WRITTEN else 0
        checks.append(Check(TEXT, float(wrong), 0.0))
    checks += _of_run(record)
    if record.seal != "made":
        value = {"unchanged": 0.0, "changed": 1.0, "older": None}[record.seal]
        checks.append(Check(FILE, value, 0.0))
    return tuple(checks)


def _of_run(record: Record) -> Iterator[Check]:
    """The comparisons made during the run, by the limits of this code: a file has the values, but no limits.

    A check that a run makes and the record lacks has no value; one that no run makes is counted as wrong.
    """
    kept = record.provenance.checks
    needed: list[tuple[str, Kind | None]] = [
        (TAPE, kind) for kind in record.kinds if record.attention(kind).weights is None
    ]
    needed += [(LOGITS, None)] if len(record.steps) and needed else []
    for name, kind in needed:
        values = [check.value for check in kept if (check.name, check.kind) == (name, kind)]
        for value in values or [None]:
            yield Check(name, value, LIMITS[name], kind)
    unknown = sum((check.name, check.kind) not in (*needed, (LOGITS, None)) for check in kept)
    if unknown:
        yield Check(RUN, float(unknown), 0.0)


def _kind(record: Record, kind: Kind, *, again: bool) -> Iterator[Check]:
    expected, attention = _expected(record, kind), getattr(record, kind)
    shape = (0, 0) if attention is None else attention.shape[:2]
    if shape == (0, 0) == expected:
        return
    yield Check(LAYERS, float(sum(abs(a - b) for a, b in zip(shape, expected, strict=True))), 0.0, kind)
    if attention is not None:
        yield Check(MASK, float(_wrong_cells(record, attention)), 0.0, kind)
        yield Check(TOKENS, float(_wrong_tokens(record, attention)), 0.0, kind)
        if attention.weights is not None:
            yield Check(SUMS, float(np.abs(attention.weights.sum(axis=-1) - 1).max()), ROW_LIMIT, kind)
            yield Check(CLOSED, float(np.count_nonzero(attention.weights[:, :, ~attention.mask])), 0.0, kind)
            return
        yield Check(KERNEL, attention.compare() if again else attention.difference, OUTPUT_LIMIT, kind)


def _expected(record: Record, kind: Kind) -> tuple[int, int]:
    """Layers and heads of a kind, as the model has them; 0 and 0 where it has none."""
    model = record.model
    has: Sequence[Kind] = KINDS if model.kind == "encoder-decoder" else (model.kind,)
    if kind not in has:
        return (0, 0)
    return (
        (model.encoder_layers, model.encoder_heads)
        if kind == "encoder"
        else (model.decoder_layers, model.decoder_heads)
    )


def _wrong_cells(record: Record, attention: Attention) -> int:
    """Cells of a mask that are wrong for this kind of attention: no row may attend to padding, and a decoder row
    attends to itself and to what precedes it."""
    mask = attention.mask
    seen = _columns(mask)
    if attention.kind == "cross" and record.encoder is not None:
        encoder_seen = _columns(record.encoder.mask)
        seen = encoder_seen if len(encoder_seen) == len(seen) else seen
    should = np.broadcast_to(seen, mask.shape)
    if attention.kind == "decoder":
        should = np.tril(should)
    text = ~attention.key.special
    return int((mask != should).sum()) + int((text & ~seen).sum())


def _columns(mask: Bools) -> Bools:
    """(K,) True for the columns that some row may attend to."""
    seen: Bools = np.any(mask, axis=0)
    return seen


def _wrong_tokens(record: Record, attention: Attention) -> int:
    """How many axes carry other tokens than their stack: the keys of cross-attention are the source's."""
    decoder = attention.query if record.decoder is None else record.decoder.query
    encoder = attention.key if record.encoder is None else record.encoder.query
    rows = encoder if attention.kind == "encoder" else decoder
    columns = decoder if attention.kind == "decoder" else encoder
    pairs = ((attention.query, rows), (attention.key, columns))
    return sum(not (a is b or a == b) for a, b in pairs)


def _wrong_ids(record: Record) -> int:
    """Predicted tokens that the next row does not read, steps whose token is not the one in the output, steps that are
    missing or in another order, and candidates that cannot be."""
    output, decoder = record.output, record.decoder
    if output is None or decoder is None:
        return 1  # steps without an output
    rows = np.flatnonzero(_columns(decoder.mask))  # not padding
    reads, predicts = decoder.query.ids[rows][1:], output.ids[rows][:-1]
    chosen = zip(bare(record.steps), chosen_ids(record.steps), strict=True)
    wrong = int((reads != predicts).sum()) + sum(int(output.ids[step.row]) != token for step, token in chosen)
    wrong += _wrong_order(record, rows.tolist())
    return wrong + sum(_wrong_candidates(step, record.model.vocabulary) for step in bare(record.steps))


def _wrong_order(record: Record, rows: Sequence[int]) -> int:
    """Steps that are not where one belongs: there is one for each of the decoder's ``rows``, in their order.

    A decoder-only model has none for its prompt, and none for the last row of a text that it only read.
    """
    steps = [(step.position, step.row) for step in bare(record.steps)]
    if not steps:
        return int(record.provenance.mode in STEPPED)
    if record.reads_own_text:
        only_read = record.target_text is None
        rows = rows[:-1] if only_read else [row for row in rows if row >= min(steps)[1]]
    return sum(one != other for one, other in zip_longest(steps, enumerate(rows)))


def _wrong_candidates(step: Step | StepNumbers, vocabulary: int) -> int:
    """Candidates that are not in the vocabulary, or there twice."""
    ids = [i for i, _ in step.best] if isinstance(step, StepNumbers) else [one.token_id for one in step.candidates]
    return sum(not 0 <= i < vocabulary for i in ids) + len(ids) - len(set(ids))


def _largest_disagreement(record: Record) -> float:
    return worst(*(disagreement(step, record.model.vocabulary) for step in bare(record.steps)))


def _wrong_totals(tree: BeamTree) -> float:
    """How far a total of a beam tree is from the sum of log p of the tokens up to its node."""
    apart = [0.0]
    for node in tree.nodes:
        before = 0.0 if node.parent is None else tree.nodes[node.parent].total
        if not math.isinf(before):  # a token that the model thinks impossible may have been forced
            apart.append(abs(math.exp(min(node.total - before, 1.0)) - node.token.probability))
    return worst(*apart)


def worst(*values: float) -> float:
    """The largest value; infinity if any is NaN, which ``max`` might skip."""
    return math.inf if any(map(math.isnan, values)) else max(values)


def disagreement(step: Step | StepNumbers, vocabulary: int) -> float:
    """How far the numbers of a step are from a softmax over the vocabulary: p = exp(logit - log_z), largest first, at
    most 1 in total, and an entropy that the remaining tokens can account for."""
    if isinstance(step, StepNumbers):
        logits, log_z = [logit for _, logit in step.best], step.log_z
        given = [math.exp(logit - log_z) for logit in logits]
        bits, token_error = step.bits, 0.0
    else:
        logits, given = [c.logit for c in step.candidates], [c.probability for c in step.candidates]
        if not given or not all(0 < p <= 1 + PROBABILITY_LIMIT for p in given[:1]):
            return math.inf
        log_z, bits = logits[0] - math.log(given[0]), step.entropy
        expected = step.chosen.logit - log_z  # log p; minus infinity for an impossible token
        token_error = 0.0 if expected == step.log_probability else abs(expected - step.log_probability)
        token_error = worst(token_error, abs(step.chosen.probability - math.exp(min(expected, 1.0))))
    with np.errstate(invalid="ignore"):  # infinite numbers in a file: their difference is NaN, which is refused
        p = np.exp(np.minimum(np.array(logits) - log_z, 1.0))
        largest = float(np.abs(p - np.array(given)).max())
    order = max((b - a for a, b in pairwise(logits) if b > a), default=0.0)
    total, known = float(p.sum()), p[p > 0]
    partial = float(-(known * np.log2(known)).sum())
    rest, others = max(1 - total, 0.0), max(vocabulary - len(p), 1)
    most = partial + (rest * math.log2(others / rest) if rest > 0 else 0.0)
    tolerance = 0.01  # bits: float32 over a large vocabulary
    return worst(token_error, largest, order, total - 1, partial - bits - tolerance, bits - most - tolerance)


def _outside(tokens: Tokens, texts: Sequence[str]) -> int:
    """Tokens whose span ends beyond the text of their segment."""
    ends = [len(texts[segment]) if segment < len(texts) else 0 for segment in (0, 1)]
    spans = zip(tokens.spans, tokens.segments.tolist(), strict=True)
    return sum(span is not None and span[1] > ends[segment] for span, segment in spans)


def _wrong_source(record: Record) -> int:
    """Source tokens whose label is another word than the text has at their span.

    A tokenizer may rewrite a text before it reads it, so only what none rewrites is compared: letters, without case and
    accents, of texts in their plain form.
    """
    source, wrong = record.source, 0
    plain = [not _MARKED.search(text) and unicodedata.is_normalized("NFKC", text) for text in record.texts]
    for label, span, segment in zip(source.labels, source.spans, source.segments.tolist(), strict=True):
        if span is not None and segment < len(plain) and plain[segment]:
            read, written = _letters(label.removeprefix(CONTINUES)), _letters(record.texts[segment][slice(*span)])
            wrong += read.isalnum() and written.isalnum() and read not in written
    return wrong


def _letters(text: str) -> str:
    """The text without case and accents."""
    bare_text: str = _MARKED.sub("", normalized("NFKD", text))
    return bare_text.casefold()


def _wrong_text(record: Record) -> int:
    """Output tokens that do not match the text at their span, and characters that no token covers."""
    output, text = record.output, record.target_text
    if output is None or text is None:
        return 0
    if (outside := _outside(output, (text,))) > 0:
        return outside
    wrong, covered = 0, [sign.isspace() for sign in text]
    for label, span in zip(output.labels, output.spans, strict=True):
        if span is None:
            continue
        covered[span[0] : span[1]] = [True] * (span[1] - span[0])
        body, written = label.removeprefix(CONTINUES), text[slice(*span)]
        if body and "‹" not in body:
            wrong += body not in (visible(written.strip() or written), visible(written))
    return wrong + covered.count(False)
