"""The prediction of a fine-tuned model: in a sentence, as a table, and the answer within the text.

Letters in shapes: n tokens, C labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bartviz.arrays import Bools
from bartviz.errors import SettingError
from bartviz.language import _, percentages
from bartviz.record.prediction import Prediction
from bartviz.record.record import Record

LONGEST = 30  # tokens of an answer
_MOST = 700.0  # nats; the exponential of more is not a number of 64 bits
Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Answer:
    """The best answer in the second text: its first and last token, its text, and the probabilities of both ends.

    ``probability`` is their product; ``none`` the same for the first token, which models that may find no answer
    point at.
    """

    first: int
    last: int
    text: str
    start: float
    end: float
    none: float

    @property
    def probability(self) -> float:
        return self.start * self.end


def times(nats: float) -> float:
    """How many times as likely something is whose log p is higher by ``nats``: always a number above 0.

    >>> times(0.0)
    1.0
    """
    return math.exp(min(max(nats, -_MOST), _MOST))


def prediction_of(record: Record) -> Prediction:
    """The record's prediction; raises SettingError if it has none."""
    if record.prediction is None:
        raise SettingError("This record has no prediction: its model was not fine-tuned to label texts.")
    return record.prediction


def divergence(before: Prediction, after: Prediction, rows: Bools | None = None) -> float:
    """KL(before || after) in nats between the predictions of two passes over the same text.

    Of tokens the mean over ``rows`` (n,), by default over all; of an answer the mean of its two ends; of labels that do
    not exclude each other their sum. NaN for a head whose output has no probabilities.
    """
    if before.scale == "none":
        return float("nan")
    was, now = (one.logits.astype(np.float64) for one in (before, after))
    if before.scale == "sigmoid":
        apart = sum(_relative(-np.logaddexp(0, sign * was), -np.logaddexp(0, sign * now)) for sign in (-1, 1))
        found = np.asarray(apart).sum(axis=1)
    else:
        axis = 0 if before.task == "answer" else 1
        shares = (one - np.logaddexp.reduce(one, axis=axis, keepdims=True) for one in (was, now))
        found = _relative(*shares).sum(axis=axis)
    if before.task == "tokens" and rows is not None and rows.any():
        found = found[rows]
    return max(float(found.mean()), 0.0)


def said_label(before: Prediction, after: Prediction, rows: Bools | None = None) -> tuple[float, float]:
    """What becomes of the label that was said: the change of its log probability (nats), and of its margin, how far its
    logit is above that of the best other label. Below 0 the label is less sure, below minus its margin another is said.

    Of tokens the mean over ``rows`` (n,), by default over all; of an answer the mean of its two ends; of labels that do
    not exclude each other the log probability of what is said of all of them, and the margin of the least sure. NaN for
    a head whose output has no probabilities.
    """
    if before.scale == "none":
        return float("nan"), float("nan")
    was, now = (one.logits.astype(np.float64) for one in (before, after))
    if before.scale == "sigmoid":
        sign = np.where(was >= 0, 1.0, -1.0)
        log_p = np.logaddexp(0, -sign * was) - np.logaddexp(0, -sign * now)
        return float(log_p.sum(axis=1).mean()), float(((sign * now).min(axis=1) - (sign * was).min(axis=1)).mean())
    if before.task == "answer":
        was, now = was.T, now.T  # (2, n)
    elif before.task == "tokens" and rows is not None and rows.any():
        was, now = was[rows], now[rows]
    said = was.argmax(axis=1)[:, None]  # (R, 1)
    log_p, margin = (of(now, said) - of(was, said) for of in (_log_p_of, _margin_of))
    return float(log_p.mean()), float(margin.mean())


def turned(before: Prediction, after: Prediction, rows: Bools | None = None) -> float:
    """The share of what was said, 0..1, in whose place another label is said now: of the text 0 or 1, of tokens that of
    ``rows`` (n,), of an answer that of its two ends, of labels that do not exclude each other that of all of them. NaN
    for a head whose output has no probabilities.
    """
    if before.scale == "none":
        return float("nan")
    was, now = before.logits, after.logits
    if before.scale == "sigmoid":
        return float(((was >= 0) != (now >= 0)).mean())
    axis = 0 if before.task == "answer" else 1
    other = was.argmax(axis=axis) != now.argmax(axis=axis)
    if before.task == "tokens" and rows is not None and rows.any():
        other = other[rows]
    return float(other.mean())


def value_change(before: Prediction, after: Prediction) -> float:
    """The change of the number that a head without probabilities gives (regression), in the unit that it was trained
    on; of several numbers that of the one that changes most. NaN for a head with probabilities.
    """
    if before.scale != "none":
        return float("nan")
    moved = (after.logits.astype(np.float64) - before.logits).ravel()
    return float(moved[np.abs(moved).argmax()])


@dataclass(frozen=True, slots=True)
class LabelChange:
    """What becomes of a prediction, by ``divergence``, ``said_label``, ``turned`` and ``value_change``: NaN where the
    head says nothing of the kind."""

    divergence: float
    log_probability: float
    margin: float
    turned: float
    value: float


NO_LABELS = LabelChange(*[float("nan")] * 5)


def change(before: Prediction | None, after: Prediction | None, rows: Bools | None = None) -> LabelChange:
    """All of it; NaN without predictions. ``rows`` (n,): the tokens that count where tokens are labelled."""
    if before is None or after is None:
        return NO_LABELS
    return LabelChange(
        divergence(before, after, rows),
        *said_label(before, after, rows),
        turned(before, after, rows),
        value_change(before, after),
    )


def _log_p_of(logits: Doubles, label: NDArray[np.int64]) -> Doubles:
    """(R,) from logits (R, C) and a label of each row (R, 1)."""
    return np.asarray(np.take_along_axis(logits, label, 1)[:, 0] - np.logaddexp.reduce(logits, axis=1))


def _margin_of(logits: Doubles, label: NDArray[np.int64]) -> Doubles:
    """(R,) NaN where there is no other label."""
    others = logits.copy()
    np.put_along_axis(others, label, -np.inf, 1)
    best = others.max(axis=1)
    return np.asarray(np.take_along_axis(logits, label, 1)[:, 0] - np.where(np.isinf(best), np.nan, best))


def _relative(was: Doubles, now: Doubles) -> Doubles:
    """The parts of a Kullback-Leibler divergence, from log probabilities."""
    return np.asarray(np.exp(was) * (was - now))


def answer(record: Record, said: Prediction | None = None) -> Answer | None:
    """The pair of ends of the largest probability, the end not before the start and at most LONGEST tokens.

    Both are in the second text, whose tokens the first one, the question, asks about; None without a second text.
    ``said``: a prediction of another pass over the record's texts, in place of its own.
    """
    said = prediction_of(record) if said is None else said
    p, source = said.probabilities, record.source  # p (n, 2)
    inside = np.array(
        [segment == 1 and span is not None for segment, span in zip(source.segments, source.spans, strict=True)]
    )[: len(p)]
    places = np.flatnonzero(inside)
    if said.task != "answer" or record.pair_text is None or not len(places):
        return None
    starts, ends = p[places, 0].astype(float), p[places, 1].astype(float)
    joint = np.triu(np.outer(starts, ends)) - np.triu(np.full((len(places), len(places)), np.inf), LONGEST)
    first, last = np.unravel_index(int(joint.argmax()), joint.shape)
    tokens = int(places[first]), int(places[last])
    spans = [source.spans[token] for token in tokens]
    assert spans[0] is not None
    assert spans[1] is not None
    text = record.pair_text[spans[0][0] : spans[1][1]].strip()
    return Answer(*tokens, text, float(starts[first]), float(ends[last]), float(p[0, 0]) * float(p[0, 1]))


def sentence(record: Record) -> str:
    """The prediction, in one sentence of the reader's language."""
    said = prediction_of(record)
    if said.task == "answer":
        return _answer_sentence(answer(record))
    best = said.logits.argmax(axis=1)  # (R,)
    if said.task == "tokens":
        source = record.source
        labels = [said.labels[best[token]] for token in range(len(best)) if not source.special[token]]
        counts = pd.Series(labels).value_counts()
        listed = ", ".join(f"{label} {count}" for label, count in counts.items())
        return _("The model labels each of {count} tokens: {listed}.", count=len(labels), listed=listed)
    label, p = said.labels[best[0]], float(said.probabilities[0, best[0]])
    if said.scale == "none":
        numbers = ", ".join(
            f"{name} {value:.3f}" for name, value in zip(said.labels, said.logits[0].tolist(), strict=True)
        )
        return _("The model gives the text a number: {numbers}.", numbers=numbers)
    read = _source(record, said)
    if said.scale == "sigmoid":
        chosen = [
            percentages.filled("{name} ({value:.1%})", {"name": name, "value": value})
            for name, value in zip(said.labels, said.probabilities[0].tolist(), strict=True)
            if value >= 0.5
        ]
        return _(
            "Of {count} labels, which do not exclude each other, the model finds {listed}. {read}",
            count=len(said.labels),
            listed=", ".join(chosen) or _("none"),
            read=read,
        )
    return _("The model says “{label}”, with a probability of {p:.1%}. {read}", label=label, p=p, read=read)


def _source(record: Record, said: Prediction) -> str:
    """Which state the label was read from."""
    if said.row is not None:
        return _("It is read from the decoder's last state, in row {row}, which has seen the whole text.", row=said.row)
    return _("It is read from the encoder's state of the first token, {token}.", token=record.source.labels[0])


def _answer_sentence(found: Answer | None) -> str:
    if found is None:
        return _("This model looks for an answer in a second text: put the question first, and the text second.")
    said = _(
        "The model answers “{text}”: tokens {first} to {last}, with a probability of {start:.1%} for the start and "
        "{end:.1%} for the end.",
        text=found.text,
        first=found.first,
        last=found.last,
        start=found.start,
        end=found.end,
    )
    if found.none <= found.probability:
        return said
    return f"{said} " + _("It finds it more likely ({none:.1%}) that the text has no answer.", none=found.none)


def table(record: Record) -> pd.DataFrame:
    """The numbers. Of a text: label, logit, probability. Of tokens and answers: token, text, and for each label (or
    end) its probability; of tokens also the label of the largest one. Raises SettingError without a prediction."""
    said = prediction_of(record)
    p = said.probabilities
    if said.task == "text":
        frame = pd.DataFrame({"label": said.labels, "logit": said.logits[0]})
        return frame if said.scale == "none" else frame.assign(probability=p[0])
    frame = pd.DataFrame({"position": range(len(p)), "token": record.source.labels[: len(p)]})
    if said.task == "tokens":
        frame["label"] = [said.labels[best] for best in p.argmax(axis=1)]
    for number, label in enumerate(said.labels):
        frame[f"p({label})"] = p[:, number]
    return frame
