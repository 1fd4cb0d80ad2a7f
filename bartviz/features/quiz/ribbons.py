"""Questions about the ribbons of the start page: which word was looked at most, and which word looked at one most."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.random import Generator

from bartviz.analysis import start, word_colors
from bartviz.arrays import Floats
from bartviz.features.quiz.heads import CLEARLY, LOOKS
from bartviz.features.quiz.question import (
    Grid,
    Maker,
    Material,
    Option,
    Question,
    Subject,
    Touch,
    alone,
    heads_query,
    told_apart,
)
from bartviz.language import later, mark
from bartviz.language.percentages import percent

LETTERS_ACROSS = 40
"""The most letters of a line of words, so that a phone has room for it."""


def _pairs(material: Material) -> list[Subject]:
    """The first row of every word below that looks most at a word above, and at none of the others nearly as much."""
    found = material.ribbons
    if found is None:
        return []
    return [
        (found.head.kind, found.below[t].start)
        for t in range(len(found.below))
        if _clear(found.weights[t], [word.text for word in found.above]) is not None
    ]


def _clear(weights: Floats, texts: list[str]) -> int | None:
    """The place of the largest weight, if it is clearly the largest and its word occurs once."""
    best = int(weights.argmax())
    second = float(np.delete(weights, best).max(initial=0))
    return best if alone(texts)[best] and weights[best] >= max(LOOKS, second + CLEARLY) else None


def _ask(material: Material, random: Generator, subject: Subject, *, back: bool) -> Question | None:
    """Which word did a word look at most? ``back``: which word looked at that one most?"""
    found = material.ribbons
    assert found is not None
    kind, row = found.head.kind, subject[1]
    above, below = start.plain(found.above), start.plain(found.below)
    t = next((t for t in below if found.below[t].start == row), None)
    s = None if t is None else _clear(found.weights[t], [word.text for word in found.above])
    if t is None or s not in above:
        return None
    lines = tuple(
        tuple(line[at].text for at in places) for line, places in ((found.above, above), (found.below, below))
    )
    if max(sum(map(len, line)) for line in lines) > LETTERS_ACROSS or not alone(lines[1])[below.index(t)]:
        return None
    if len(lines[back]) < 2:  # nothing to choose from
        return None
    if back and _clear(found.weights[below, s], list(lines[1])) != below.index(t):
        return None
    lines = tuple(map(told_apart, lines))
    low, high, weights = f"“{found.below[t].text}”", f"“{found.above[s].text}”", found.weights[np.ix_(below, above)]
    rows, columns = word_colors.of(material.record).sides(kind)
    partners = kind == "cross" and rows[found.below[t].start] == columns[found.above[s].start] != word_colors.NONE
    grid = Grid(
        lines[1],
        lines[0],
        tuple(tuple(map(float, row)) for row in weights.round(3)),
        kind,
        digits=False,
        ribbons=True,
        colors=(
            tuple(rows[found.below[at].start] for at in below),
            tuple(columns[found.above[at].start] for at in above),
        ),
    )

    answer = below.index(t) if back else above.index(s)
    named = {"low": low, "high": high, "share": percent(found.weights[t, s])}
    why = (
        later("The widest ribbon of {high} goes down to {low}.", **named)
        if back
        else later("The widest ribbon of {low} goes up to {high}, with {share} of the attention.", **named)
    )

    def option(at: int) -> Option:
        """A word, and what is true of the ribbon between it and the one that is asked about."""
        pair = (at, above.index(s)) if back else (below.index(t), at)
        other = {"low": f"“{lines[1][pair[0]]}”", "high": f"“{lines[0][pair[1]]}”", "share": percent(weights[pair])}
        said = (
            later("No ribbon goes from {low} to {high}.", **other)
            if weights[pair] < start.FAINTEST
            else later("From {low} to {high} the ribbon is narrower: {share} of the attention.", **other)
        )
        return Option(f"“{lines[back][at]}”", why if at == answer else said, at)

    options = tuple(map(option, range(len(lines[back]))))
    paper = sorted([answer, *sorted(set(range(len(options))) - {answer}, key=lambda at: abs(at - answer))[:3]])
    wrote = kind == "cross" and not found.given
    return Question(
        "ribbon_back" if back else "ribbon",
        later(_prompt(back, wrote), **named),
        options,
        answer,
        why,
        "heads",
        heads_query(kind, (found.head.layer, found.head.head), row=str(row)),
        (grid,),
        {"kind": kind, "row": row, "column": found.above[s].start},
        marked=above.index(s) if back else below.index(t),
        touch=Touch("row" if back else "column", tuple(range(len(options))), tuple(paper)),
        hidden=partners and not back and len(below) > 2,  # its meaning and the other words tell it
    )


def _prompt(back: bool, wrote: bool) -> str:
    """The question; ``wrote``: the words below are the model's own output."""
    if back:
        return (
            mark("Which of the words below was the model about to write when this head looked at {high} most?")
            if wrote
            else mark("Which word below looks at {high} most?")
        )
    return (
        mark("Before the model wrote {low}, which word in the top row did this head look at most?")
        if wrote
        else mark("Which word in the top row does {low} look at most?")
    )


ribbon = Maker(_pairs, partial(_ask, back=False))
ribbon_back = Maker(_pairs, partial(_ask, back=True))
