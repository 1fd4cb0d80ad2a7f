"""How unsure a model was of its output: the geometric mean of the tokens' probabilities, and the least probable words.

exp of the mean log-probability: 0.5 means that each token had a probability of one half. Tokens decided by a rule and
given tokens do not count. NumPy alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from bartviz.analysis.words import words
from bartviz.language import _
from bartviz.language.percentages import percent
from bartviz.record.record import Record
from bartviz.record.steps import bare
from bartviz.record.vocabulary import SAMPLING, WRITTEN

UNSURE = 0.75
"""Below this mean a text is called unsure: a rule of thumb, under which most mistakes of the translator that ships fall
and few of its right sentences."""
MOST = 3  # words named
RISKY = 0.5  # a word below it is named, the least sure one in any case


@dataclass(frozen=True, slots=True)
class OutputConfidence:
    """``mean`` in 0..1 over ``tokens`` that the model chose, the end token included; ``least``: the words and
    punctuation marks of lowest probability (the product over their tokens), lowest first; ``drawn``: whether tokens
    were sampled."""

    mean: float
    tokens: int
    least: tuple[tuple[str, float], ...]
    drawn: bool

    @property
    def unsure(self) -> bool:
        return self.mean < UNSURE


def output_confidence(record: Record) -> OutputConfidence | None:
    """None if the model did not choose the text: it was given or replayed, or there is none."""
    mode = record.provenance.mode
    chosen = {step.row: step.log_probability for step in bare(record.steps) if step.rule is None}
    if mode not in WRITTEN or record.output is None or not chosen:
        return None
    texts = () if record.reads_own_text else (record.target_text or "",)
    shares = [
        (word.text, math.exp(sum(chosen[row] for row in rows)))
        for word in words(record.output, *texts)
        if (rows := [row for row in range(word.start, word.end) if row in chosen])
    ]
    mean = math.exp(sum(chosen.values()) / len(chosen))
    return OutputConfidence(mean, len(chosen), _least(shares), mode == SAMPLING)


def _least(shares: Iterable[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """The words to name, lowest probability first."""
    sure = sorted(shares, key=lambda one: (one[1], one[0]))
    return tuple(one for one in sure[:MOST] if one[1] < RISKY or one[1] == sure[0][1])


def notice(record: Record, *, numbers: bool = True) -> str:
    """One line to show next to the output, empty if the model was sure; without ``numbers`` it has words only."""
    found = output_confidence(record)
    if found is None or not found.unsure:
        return ""
    said = _said(record, found, ", ".join(_named(word, share, numbers) for word, share in found.least))
    if not numbers:
        return said
    mean = math.floor(100 * found.mean) / 100  # never rounded up to the limit
    return (
        said
        + " "
        + _(
            "The probabilities of its {count} tokens have a geometric mean of {mean:.2f}; this line appears "
            "below {limit:.2f}.",
            count=found.tokens,
            mean=mean,
            limit=UNSURE,
        )
    )


def _said(record: Record, found: OutputConfidence, least: str) -> str:
    if found.drawn:
        said = _("This text was sampled at random, and the model gave it little probability.")
        return f"{said} " + _("The least probable: {words}.", words=least) if least else said
    if record.reads_own_text:  # it continues a text: no continuation is the right one
        said = _("The model was unsure how to continue: other words would have fitted too.")
    else:
        said = _("The model was unsure of this text: it may be wrong.")
    return f"{said} " + _("Least sure: {words}.", words=least) if least else said


def _named(word: str, share: float, numbers: bool) -> str:
    return f"“{word}” ({percent(share)})" if numbers else f"“{word}”"
