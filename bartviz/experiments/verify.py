"""verify(): run a record's texts and tokens through its model again, and measure every difference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from itertools import zip_longest

import numpy as np
import torch

from bartviz.arrays import Bools, Floats
from bartviz.experiments.replay import Replay
from bartviz.language import mark
from bartviz.models.model import Model, expect_model
from bartviz.record.attention import Attention
from bartviz.record.checks import LOGITS, TEXT, Check, worst
from bartviz.record.prediction import Prediction
from bartviz.record.record import ModelInfo, Record
from bartviz.record.steps import bare, chosen_ids
from bartviz.record.vocabulary import EDITED, WRITTEN
from bartviz.run import predict
from bartviz.run.branches import scaled
from bartviz.run.candidates import Summary
from bartviz.safety.torch_defaults import torch_defaults
from bartviz.tape.tape import Tape
from bartviz.text import tokenize
from bartviz.text.tokens import Tokens

WEIGHTS = mark("weights of the model")
MODEL = mark("description of the model")
REPEATED = mark("queries, keys and values of a second run")
REPEAT_LIMIT = 1e-3  # the same computation in other shapes, relative to the largest number
PREDICTION = mark("logits of the labels")
LABELS_LIMIT = 1e-3  # of a logit
LOGITS_LIMIT = 1e-2  # nats of log p


@torch_defaults()
def verify(model: Model, record: Record, *, cancelled: Callable[[], bool] = lambda: False) -> tuple[Check, ...]:
    """Run a record's tokens through its model again, in one pass, and compare with the record.

    It compares the model's weights (by fingerprint) and description, the texts with the tokens, the names of tokens and
    candidates, the queries, keys and values of every layer and head, log p of every step, and the logits of a
    fine-tuned head. A record of another model fails the first check, and nothing else is compared. Raises SettingError
    if the arguments are not a model and a record, BudgetError, Cancelled.
    """
    expect_model(model, record)
    same = Check(WEIGHTS, float(model.info.fingerprint != record.model.fingerprint), 0.0)
    if not same.passed:
        return (same,)
    replay = Replay(model, record)
    values = any(record.attention(kind).v is not None for kind in record.kinds)
    tape = Tape(values=values, scale_heads=scaled(record), cancelled=cancelled)
    out = replay.run(tape)
    logits = out.logits
    again = replay.kept(tape)
    repeated = [
        Check(REPEATED, _apart(record.attention(kind), again.attention(kind)), REPEAT_LIMIT, kind)
        for kind in record.kinds
    ]
    steps = [] if logits is None or not len(record.steps) else [_log_p(record, logits[0])]
    if record.prediction is not None:
        steps.append(Check(PREDICTION, _apart_labels(model, record.prediction, out.labels), LABELS_LIMIT))
    described = Check(MODEL, float(_described_otherwise(model.info, record.model)), 0.0)
    return (same, described, *_texts(model, record), *repeated, *steps)


def _described_otherwise(info: ModelInfo, other: ModelInfo) -> int:
    """How many facts differ; a record may lack some, and its model may have been found under another name."""
    pairs = (
        (getattr(info, fact.name), getattr(other, fact.name))
        for fact in fields(ModelInfo)
        if fact.name not in ("name", "source")
    )
    return sum(said is not None and said != known for known, said in pairs)


def _texts(model: Model, record: Record) -> list[Check]:
    """Whether the tokens are those of the source text, the written text is that of its tokens, and every token and
    candidate has its own name."""
    mode, wrong = record.provenance.mode, 0
    if mode != EDITED:  # an edited text is made from its tokens, and may be tokenized differently
        count = int(_seen(record).sum())
        wrong += min(_different_tokens(model, record, count, allow_special=special) for special in (False, True))
    if mode in WRITTEN:
        wrong += tokenize.from_ids(model.tokenizer, chosen_ids(record.steps))[0] != record.target_text
    wrong += _other_names(model, record)
    return [Check(TEXT, float(wrong), 0.0)]


def _seen(record: Record) -> Bools:
    """(n,) the source tokens that are not padding."""
    attention = record.encoder or record.attention("decoder")
    seen: Bools = np.any(attention.mask, axis=0)
    return seen


def _different_tokens(model: Model, record: Record, count: int, *, allow_special: bool) -> int:
    """How many tokens of the source text differ from the record's first ``count``; a decoder-only model's text may
    continue after them."""
    made = tokenize.encode(model.tokenizer, record.source_text, pair=record.pair_text, allow_special=allow_special)
    count = min(count, len(made)) if model.info.kind == "decoder" else count
    return sum(a != b for a, b in zip_longest(_named(made), _named(record.source)[:count]))


def _named(tokens: Tokens) -> list[tuple[int, str, str, bool]]:
    return list(zip(tokens.ids.tolist(), tokens.pieces, tokens.labels, tokens.special.tolist(), strict=True))


def _other_names(model: Model, record: Record) -> int:
    """How many candidates have a name that is not their token's."""
    if record.decoder is None:
        return 0
    summary, read = Summary(model.tokenizer, 1), record.decoder.query.ids.tolist()
    return sum(
        one.label != summary.label(one.token_id, read[: step.row + 1])
        for step in record.steps
        for one in (step.chosen, *step.candidates)
    )


def _apart(first: Attention, second: Attention) -> float:
    """The largest difference of two attentions of the same tokens, relative to the largest number of each array."""
    if first.shape != second.shape:
        return float("inf")
    pairs = [(first.queries, second.queries), (first.keys, second.keys)]
    if first.v is not None and second.v is not None:
        pairs.append((first.v, second.v))
    return max(_relative(a, b) for a, b in pairs)


def _relative(a: Floats, b: Floats) -> float:
    size = max(float(np.abs(a).max(initial=0.0)), 1e-6)
    return float(np.abs(a - b).max(initial=0.0)) / size


def _apart_labels(model: Model, prediction: Prediction, logits: torch.Tensor | None) -> float:
    """The largest difference between the labels' logits and those of a second run; infinity where those have another
    shape."""
    if logits is None or model.head is None or model.head.labels != prediction.labels:
        return float("inf")
    again = predict.prediction(model, logits[0], len(prediction.logits), prediction.row).logits
    same_shape = again.shape == prediction.logits.shape
    return float(np.abs(again - prediction.logits).max()) if same_shape else float("inf")


def _log_p(record: Record, logits: torch.Tensor) -> Check:
    """log p of every step against a second run's; minus infinity in both is no difference."""
    largest = 0.0
    for step in bare(record.steps):
        token = int(record.output.ids[step.row]) if record.output is not None else 0
        again = float(logits[step.row].double().log_softmax(-1)[token])
        largest = worst(largest, 0.0 if again == step.log_probability else abs(again - step.log_probability))
    return Check(LOGITS, largest, LOGITS_LIMIT)
