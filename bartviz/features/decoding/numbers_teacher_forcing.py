"""A given output (teacher forcing): how probable each of its tokens was, and the tokens that the model preferred.

Perplexity is exp of the mean negative log-probability per token: the number of equally likely tokens among which the
model would be as unsure.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from bartviz.analysis import decoding
from bartviz.language import _
from bartviz.language.percentages import percent
from bartviz.record.record import Record
from bartviz.record.steps import Candidate, Step


def perplexity(record: Record) -> float:
    """exp(-(1 / T) sum of log p) over the T steps; infinite where a token is impossible. Raises RecordError."""
    decoding.kind_of(record)
    mean = -record.log_probability / len(record.steps)
    return math.exp(mean) if mean < 700 else math.inf


def rather(step: Step) -> Candidate | None:
    """The most probable token, if it is not the given one."""
    first = step.candidates[0] if step.candidates else None
    return first if first is not None and first.token_id != step.chosen.token_id else None


def rank_text(step: Step) -> str:
    """The rank of the token, ``> 10`` if it is not among the 10 stored candidates."""
    rank = decoding.rank(step)
    return f"> {len(step.candidates)}" if rank is None else str(rank)


def table(record: Record) -> pd.DataFrame:
    """One line per token: step from 1, token, probability in 0..1, rank (missing when beyond the candidates kept),
    log_probability in nats, running_perplexity of the tokens so far, entropy_bits, rather (the most probable token
    where it is another) and its rather_probability, rule.
    """
    steps = record.steps
    lines = decoding.steps_table(record)
    likelier = [rather(step) for step in steps]
    count = np.arange(1, len(steps) + 1)
    with np.errstate(over="ignore"):
        running = np.exp(-lines["running_log_probability"].to_numpy(np.float64) / count)
    return pd.DataFrame(
        {
            "step": count,
            "token": lines["predicts"],
            "probability": lines["probability"],
            "rank": lines["rank"],
            "log_probability": lines["log_probability"],
            "running_perplexity": running,
            "entropy_bits": lines["entropy_bits"],
            "rather": [None if one is None else one.label for one in likelier],
            "rather_probability": [math.nan if one is None else one.probability for one in likelier],
            "rule": lines["rule"],
        }
    )


def notice(record: Record) -> str:
    """One sentence: the perplexity of the text, and the least probable token."""
    steps = record.steps
    decoding.kind_of(record)
    first = sum(rather(step) is None for step in steps)
    total = f"{record.log_probability:.2f}".replace("-", "−")
    said = _(
        "{first} of {all} tokens are the model's own first choice; log p {total}, perplexity {perplexity:,.2f}.",
        first=first,
        all=len(steps),
        total=total,
        perplexity=perplexity(record),
    )
    worst = min(steps, key=lambda step: step.log_probability)
    would = rather(worst)
    if would is None:
        return said
    least = _(
        "Least expected: “{token}” ({likely}), where “{other}” had {likelier}.",
        token=worst.chosen.label,
        likely=percent(worst.chosen.probability),
        other=would.label,
        likelier=percent(would.probability),
    )
    return f"{said} {least}"
