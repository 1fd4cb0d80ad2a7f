"""verify(): a record's texts and tokens through its model once more, and how far every number is from the record's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from bartviz.arrays import Bools, Floats, Ints
from bartviz.experiments.replay import Replay
from bartviz.language import mark
from bartviz.models.model import Model, expect_model
from bartviz.record.attention import Attention
from bartviz.record.checks import LOGITS, TEXT, Check
from bartviz.record.record import Record
from bartviz.record.steps import bare, chosen_ids
from bartviz.record.vocabulary import EDITED, WRITTEN
from bartviz.run.branches import scaled
from bartviz.tape.tape import Tape
from bartviz.text import tokenize

WEIGHTS = mark("weights of the model")
REPEATED = mark("queries, keys and values of a second run")
REPEAT_LIMIT = 1e-3  # two runs of the same numbers in other shapes, relative to the largest
LOGITS_LIMIT = 1e-2  # nats of log p


def verify(model: Model, record: Record, *, cancelled: Callable[[], bool] = lambda: False) -> tuple[Check, ...]:
    """Run a record's tokens through its model again, in one pass, and compare with the record.

    Compared are the model's weights (by fingerprint), the texts with what the tokenizer makes of the tokens, queries,
    keys and values of every layer and head, and log p of every step. A record of another model fails the first check,
    and nothing else is compared. Raises SettingError where the arguments are no model and record, BudgetError,
    Cancelled.
    """
    expect_model(model, record)
    same = Check(WEIGHTS, float(model.info.fingerprint != record.model.fingerprint), 0.0)
    if not same.passed:
        return (same,)
    replay = Replay(model, record)
    values = any(record.attention(kind).v is not None for kind in record.kinds)
    tape = Tape(values=values, scale_heads=scaled(record), cancelled=cancelled)
    logits = replay.run(tape).logits
    again = replay.kept(tape)
    repeated = [
        Check(REPEATED, _apart(record.attention(kind), again.attention(kind)), REPEAT_LIMIT, kind)
        for kind in record.kinds
    ]
    steps = [] if logits is None or not len(record.steps) else [_log_p(record, logits[0])]
    return (same, *_texts(model, record), *repeated, *steps)


def _texts(model: Model, record: Record) -> list[Check]:
    """Whether the tokens are those of the source text, and the text that was written that of its tokens."""
    mode, wrong = record.provenance.mode, 0
    if mode != EDITED:  # whose text is made from the tokens, and may be cut into others
        ids = record.source.ids[: int(_seen(record).sum())]
        wrong += min(_other(model, record, ids, allow_special=special) for special in (False, True))
    if mode in WRITTEN:
        wrong += tokenize.from_ids(model.tokenizer, chosen_ids(record.steps))[0] != record.target_text
    return [Check(TEXT, float(wrong), 0.0)]


def _seen(record: Record) -> Bools:
    """(n,) the source tokens that are not padding."""
    own = record.encoder or record.attention("decoder")
    seen: Bools = np.any(own.mask, axis=0)
    return seen


def _other(model: Model, record: Record, ids: Ints, *, allow_special: bool) -> int:
    """Tokens of the source text that the record has otherwise; a decoder-only model's text may go on behind them."""
    made = tokenize.encode(model.tokenizer, record.source_text, pair=record.pair_text, allow_special=allow_special).ids
    ids = ids[: len(made)] if model.info.kind == "decoder" else ids
    return int((made != ids).sum()) if len(made) == len(ids) else max(len(made), len(ids))


def _apart(ours: Attention, theirs: Attention) -> float:
    """The largest difference of two attentions of the same tokens, relative to the largest number of each array."""
    if ours.shape != theirs.shape:
        return float("inf")
    pairs = [(ours.q, theirs.q), (ours.k, theirs.k)]
    if ours.v is not None and theirs.v is not None:
        pairs.append((ours.v, theirs.v))
    return max(_relative(a, b) for a, b in pairs)


def _relative(a: Floats, b: Floats) -> float:
    size = max(float(np.abs(a).max(initial=0.0)), 1e-6)
    return float(np.abs(a - b).max(initial=0.0)) / size


def _log_p(record: Record, logits: torch.Tensor) -> Check:
    """log p of every step against a second run's; minus infinity in both is no difference."""
    apart = 0.0
    for one in bare(record.steps):
        token = int(record.output.ids[one.row]) if record.output is not None else 0
        again = float(logits[one.row].double().log_softmax(-1)[token])
        apart = max(apart, 0.0 if again == one.log_probability else abs(again - one.log_probability))
    return Check(LOGITS, apart, LOGITS_LIMIT)
