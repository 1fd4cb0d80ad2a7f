"""Decoding, step by step: what each row read, predicted and looked at, how sure it was, and what the cache saved.

A decoding step is a row: row t *reads* token t and *predicts* token t + 1. The probability of a whole output is the
product of its steps' probabilities, so their logarithms add up (the chain rule of probability):
log p(y | x) = sum over t of log p(y_t | y_<t, x).

Letters in shapes: T steps, Q decoder rows, K key columns, S source tokens.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bartviz.analysis import sentence_words
from bartviz.analysis.masks import piece
from bartviz.analysis.words import pieces_of
from bartviz.arrays import Floats, Ints
from bartviz.errors import RecordError, SettingError
from bartviz.language import _, later, plural
from bartviz.language.percentages import percent
from bartviz.record.attention import Kind
from bartviz.record.record import Reading, Record
from bartviz.record.steps import Step
from bartviz.record.vocabulary import BY_USER, GIVEN_TARGET, ONE_PASS

BYTES = 4  # of one float32 number


def kind_of(record: Record) -> Kind:
    """The kind of attention that explains a step: cross-attention if there is an encoder, else self-attention.

    Raises RecordError for an encoder-only record and for one without steps: neither was decoded.
    """
    if record.decoder is None:
        raise RecordError(
            later(
                "{model} is an encoder: it reads a whole text at once and writes no text. Choose an "
                "encoder-decoder or a decoder model to decode.",
                model=record.model.name,
            )
        )
    if not record.steps:
        raise RecordError(later("This record has no decoding steps: run the text again to decode it."))
    return "decoder" if record.cross is None else "cross"


def step_rows(record: Record) -> Ints:
    """(T,) the decoder row of each step."""
    kind_of(record)
    return np.array([step.row for step in record.steps], dtype=np.int64)


def given(record: Record) -> bool:
    """Whether the tokens were given (teacher forcing, or a text read in one pass) and not chosen by the model."""
    mode = record.provenance.mode
    return mode == GIVEN_TARGET or (mode == ONE_PASS and record.cross is None)


def labels(record: Record, reading: Reading = "predicts") -> tuple[str, ...]:
    """The T labels of the steps: the token that each row *predicts*, or the one that it *reads*."""
    rows = step_rows(record)
    assert record.decoder is not None
    if reading == "predicts":
        return tuple(step.chosen.label for step in record.steps)
    return tuple(record.decoder.query.labels[row] for row in rows)


def rank(step: Step) -> int | None:
    """1 for the most probable candidate, 2 for the next...; None when the chosen token is not among the candidates."""
    ids = [candidate.token_id for candidate in step.candidates]
    return ids.index(step.chosen.token_id) + 1 if step.chosen.token_id in ids else None


def steps_table(record: Record) -> pd.DataFrame:
    """One line per step.

    position; row; reads, predicts (labels); token_id and rank of the chosen token (rank 1 is the most probable, missing
    when it is not among the candidates kept); probability in 0..1 from the raw logits; log_probability in nats;
    entropy_bits over the vocabulary; running_log_probability (the sum so far) and running_probability (the product so
    far); rule that decided, if any; candidates as a JSON list of [label, probability].
    """
    steps, running = record.steps, np.cumsum([step.log_probability for step in record.steps])
    return pd.DataFrame(
        {
            "position": [step.position for step in steps],
            "row": step_rows(record),
            "reads": labels(record, "reads"),
            "predicts": labels(record, "predicts"),
            "token_id": [step.chosen.token_id for step in steps],
            "rank": pd.array([rank(step) for step in steps], dtype="Int64"),
            "probability": [step.chosen.probability for step in steps],
            "log_probability": [step.log_probability for step in steps],
            "entropy_bits": [step.entropy for step in steps],
            "running_log_probability": running,
            "running_probability": np.exp(running),
            "rule": [step.rule for step in steps],
            "candidates": [_as_json(step) for step in steps],
        }
    )


def _as_json(step: Step) -> str:
    return json.dumps([[c.label, round(c.probability, 6)] for c in step.candidates], ensure_ascii=False)


def alignment(record: Record, kind: Kind | None = None, *, layer: int | None = None, head: int | None = None) -> Floats:
    """(T, K) float32: what each step looked at; rows sum to 1.

    ``kind`` defaults to ``kind_of``. ``head`` None is the mean of the layer's heads, ``layer`` None that of every
    head. Raises SettingError for a layer or head that is not there, and for a head without its layer.
    """
    rows, attention = step_rows(record), record.attention(kind or kind_of(record))
    if layer is None and head is not None:
        raise SettingError(
            later("A head belongs to a layer: name the layer too, or leave both out for the mean of all heads.")
        )
    layers, heads = attention.shape[:2]
    total = np.zeros((len(rows), attention.shape[3]), np.float32)  # (T, K)
    chosen = [
        (at, of)
        for at in (range(layers) if layer is None else [layer])
        for of in (range(heads) if head is None else [head])
    ]
    for at, of in chosen:
        total += attention.head(at, of)[rows]
    return total / np.float32(len(chosen))


def least_sure(record: Record) -> Step:
    """The step of least probability among those that the probabilities decided; raises RecordError without steps.

    Of the steps that write a word or a part of one, where there are any: a model is about as sure of every full stop
    and of every end.
    """
    kind_of(record)
    free = [step for step in record.steps if step.rule is None] or list(record.steps)
    return min([step for step in free if _writes(record, step)] or free, key=lambda step: step.chosen.probability)


def _writes(record: Record, step: Step) -> bool:
    special = record.output is not None and bool(record.output.special[step.row])
    return not special and any(sign.isalnum() for sign in step.chosen.label)


def named(record: Record, steps: Sequence[Step]) -> list[str]:
    """What each of these steps chose, as in a sentence: quoted, a piece with the word that it is one of."""
    words = {} if record.output is None else pieces_of(record.output)
    return [piece(step.chosen.label, words.get(step.row)) for step in steps]


def notice(record: Record) -> str:
    """One sentence of what to notice in this output: where the model was least sure, and what else it considered."""
    step = least_sure(record)
    others = [c for c in step.candidates if c.token_id != step.chosen.token_id]
    filled = {"token": named(record, [step])[0], "likely": percent(step.chosen.probability), "bits": step.entropy}
    if given(record):
        said = _("Of all words, the model is least sure of {token} ({likely}, {bits:.1f} bits)", **filled)
    else:
        said = _("Least sure word: {token} ({likely}, {bits:.1f} bits)", **filled)
    if others:
        other = {"token": others[0].label, "likely": percent(others[0].probability)}
        said = _("{said}: “{token}” had {likely}", said=said, **other)
    count = len(record.steps)
    if count == 1:
        return f"{said}."
    total = f"{record.log_probability:.1f}".replace("-", "−")
    return _(
        "{said}. All {count} steps together: {likely} (log p {total}).",
        said=said,
        count=count,
        likely=percent(math.exp(record.log_probability)),
        total=total,
    )


def rules_notice(record: Record) -> str:
    """Which rules acted in this run, and at which steps (from 1) one decided; empty where there is none."""
    decided: dict[str, list[int]] = {}
    for step in record.steps:
        if step.rule is not None and step.rule not in BY_USER:
            decided.setdefault(step.rule, []).append(step.position + 1)
    active = record.provenance.settings.get("rules") or ()
    names = dict.fromkeys([*(active if isinstance(active, tuple) else ()), *decided])
    if not names:
        return ""
    said = [_rule_said(name, decided.get(name, [])) for name in names]
    return _("Rules in force, and where they decided: {rules}.", rules="; ".join(said))


def _rule_said(name: str, positions: list[int]) -> str:
    filled = {"rule": sentence_words.rule(name), "steps": ", ".join(map(str, positions[:8]))}
    if not positions:
        return _("{rule} (no step)", rule=filled["rule"])
    if more := positions[8:]:
        return _("{rule} (steps {steps} and {more} more)", more=len(more), **filled)
    return plural("{rule} (step {steps})", "{rule} (steps {steps})", len(positions), **filled)


def cache_table(record: Record) -> pd.DataFrame:
    """The cost of each step with the key-value cache and without it, one line per step.

    position; new_rows: decoder rows computed at this step with the cache; all_rows: those computed without it;
    self_bytes and cross_bytes: keys and values held *per layer* after the step; cache_bytes: both, over all layers;
    operations_cached, operations_uncached: multiplications and additions of the decoder's attention (projections,
    scores, weighted sums; the masked half of the scores is computed too). Feed-forward and output layers are left
    out: they cost the same for every row, so they grow with the rows. The encoder's output is reused in both.

    The cross keys and values are computed at the first step and never again. Numbers are float32: 4 bytes each.
    """
    rows = step_rows(record)  # (T,)
    assert record.decoder is not None
    layers, heads, _rows, width = record.decoder.queries.shape
    inner = heads * width  # of all heads together
    source = 0 if record.cross is None else record.cross.shape[3]  # S
    now, new = rows + 1, np.diff(rows, prepend=-1)  # (T,) rows so far, rows of this step
    own = 2 * inner * now * BYTES
    cross = np.full_like(own, 2 * inner * source * BYTES)
    cost = _Cost(layers, inner, record.model.width, source)
    first = np.arange(len(rows)) == 0
    return pd.DataFrame(
        {
            "position": [step.position for step in record.steps],
            "new_rows": new,
            "all_rows": now,
            "self_bytes": own,
            "cross_bytes": cross,
            "cache_bytes": layers * (own + cross),
            "operations_cached": cost.operations(new, now, first),
            "operations_uncached": cost.operations(now, now, np.ones_like(first)),
        }
    )


@dataclass(frozen=True, slots=True)
class _Cost:
    """Operations of a decoder's attention; a product of (a, b) and (b, c) is 2abc of them."""

    layers: int
    inner: int
    model: int
    source: int

    def operations(self, new: Ints, now: Ints, cross_keys: NDArray[np.bool_]) -> Ints:
        """(T,) for ``new`` rows that look at ``now`` rows, computing the cross keys and values if needed."""
        project = 2 * self.model * self.inner
        own = 4 * project * new + 4 * self.inner * new * now
        cross = (2 * project + 4 * self.inner * self.source) * new if self.source else 0 * new
        keys = np.where(cross_keys, 2 * project * self.source, 0)
        return (self.layers * (own + cross + keys)).astype(np.int64)


def encoder_operations(record: Record) -> int:
    """Operations of the encoder's attention, done once for all steps; 0 without an encoder."""
    if record.encoder is None:
        return 0
    layers, heads, rows, _columns = record.encoder.shape
    inner = heads * record.encoder.queries.shape[3]
    return int(layers * (4 * 2 * record.model.width * inner * rows + 4 * inner * rows * rows))


def arrays(record: Record, *, layer: int | None = None, head: int | None = None) -> dict[str, NDArray[np.generic]]:
    """The numbers of the page by name, for an NPZ: ``alignment`` (T, K), ``decoder`` (T, Q), and the labels of both."""
    kind = kind_of(record)
    assert record.decoder is not None
    table = steps_table(record)
    return {
        "alignment": alignment(record, layer=layer, head=head),
        "alignment_columns": np.array(record.attention(kind).key.labels),
        "decoder": alignment(record, "decoder", layer=layer, head=head),
        "decoder_columns": np.array(record.decoder.key.labels),
        "row_reads": np.array(labels(record, "reads")),
        "row_predicts": np.array(labels(record, "predicts")),
        "log_probability": table["log_probability"].to_numpy(np.float64),
        "entropy_bits": table["entropy_bits"].to_numpy(np.float64),
    }
