"""Why the bar of all other tokens is long although each of them is unlikely: thousands of tiny shares add up."""

from __future__ import annotations

from bartviz.analysis import other_tokens
from bartviz.language import _
from bartviz.language.percentages import percent
from bartviz.record.record import Record
from bartviz.record.steps import Step

FEWEST = 5  # bars above that of the others, on a small screen (picture.js)
SMOOTHED = frozenset({"bart-tiny-en-de"})
"""Models that were trained with label smoothing (their README)."""


def sentences(record: Record) -> str:
    """Where the others' bar comes from, if at most steps it is seen and no token in it has more than a tiny share; else
    empty."""
    steps = [step for step in record.steps if step.rule is None]
    if 2 * sum(map(_adds_up, steps)) <= len(steps):
        return ""
    said = _(
        "**Why do the others have so much?** The model chooses among {count:,} tokens, and nearly all of them are in "
        "the last bar. At most steps each of these has less than {tiny}, but they add up.",
        count=record.model.vocabulary,
        tiny=percent(other_tokens.TINY),
    )
    if record.model.source != "embedded" or record.model.name not in SMOOTHED:
        return said
    habit = _(
        "That is a habit from training: the model was taught never to be wholly sure, and to leave every token a "
        "little (*label smoothing*)."
    )
    return f"{said} {habit}"


def _adds_up(step: Step) -> bool:
    """Whether the others are seen together, and each of them has a tiny share at most."""
    likeliest = sorted((one.probability for one in step.candidates), reverse=True)
    return len(likeliest) > FEWEST and other_tokens.add_up(likeliest[: FEWEST + 1], likeliest[FEWEST])
