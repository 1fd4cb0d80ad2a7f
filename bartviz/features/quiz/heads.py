"""Questions about heads: which one looks at the previous token or at special tokens, what it looks at, which one the
mean hides."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from bartviz.analysis import head_view
from bartviz.analysis.distance import jensen_shannon
from bartviz.analysis.masks import quote
from bartviz.analysis.measures import counted, padding
from bartviz.analysis.sentence_words import later_kind
from bartviz.arrays import Floats
from bartviz.features.quiz.question import (
    TRIES,
    Material,
    Option,
    Question,
    alone,
    any_attention,
    drawn,
    in_order,
    shuffled,
    small,
)
from bartviz.language import later
from bartviz.record.attention import Kind
from bartviz.record.record import Record

CLEARLY = 0.1
"""The least margin of the right answer, as a share of a row's weight."""
FARTHER = 0.05
"""The least margin of the right head's distance from the mean (Jensen-Shannon distance)."""
LOOKS = 0.3
"""The least share of weight for saying that a head looks somewhere."""


def previous(material: Material, random: Generator) -> Question | None:
    """Which of these heads looks most at the previous token?"""
    return _most(
        material,
        random,
        "previous",
        lambda kind: later("Which of these {kind} heads looks most at the token before?", kind=kind),
        lambda said: later(
            "Averaged over the rows of this text's words, {head} puts {share:.2f} of a row's weight on the token just "
            "before it. The next best of these puts {next:.2f} there.",
            **said,
        ),
    )


def rest(material: Material, random: Generator) -> Question | None:
    """Which of these heads has most weight on special tokens?"""
    return _most(
        material,
        random,
        "special",
        lambda kind: later("Which of these {kind} heads has most weight on special tokens?", kind=kind),
        lambda said: later(
            "{head} puts {share:.2f} of a row's weight on special tokens, averaged over the rows of words. The "
            "next best of these puts {next:.2f} there. A head with nothing to look for may put its weight on them.",
            **said,
        ),
    )


def _most(
    material: Material,
    random: Generator,
    measure: str,
    ask: Callable[[str], str],
    tell: Callable[[dict[str, object]], str],
) -> Question | None:
    """The head with the largest value of a measure among some that have clearly less."""
    kinds = [kind for kind in material.record.kinds if measure in material.measured(kind).defined]
    for number in drawn(random, range(len(kinds)), len(kinds)):
        kind = kinds[number]
        values = material.measured(kind).values[measure]  # (L, H)
        found = _clear(values, random)
        if found is None:
            continue
        best, *others = found
        options, answer = in_order(
            _head(values, best, values[best]), [_head(values, other, values[best]) for other in others]
        )
        attention = material.record.attention(kind)
        maps = sum((small(material.record, kind, attention.head(*one), _short(one)) for one in sorted(found)), ())
        said = {"head": _short(best), "share": float(values[best]), "next": max(float(values[one]) for one in others)}
        return Question(
            measure if measure == "previous" else "rest",
            ask(later_kind(kind)),
            options,
            answer,
            tell(said),
            "heads",
            _query(kind, best),
            maps,
            {"kind": kind, "measure": measure},
        )
    return None


def _clear(values: Floats, random: Generator) -> list[tuple[int, int]] | None:
    """A head with a large value, and two or three with clearly smaller ones; None if there are none."""
    places = [(int(one[0]), int(one[1])) for one in np.argwhere(values >= LOOKS)]
    for number in drawn(random, range(len(places)), len(places)):
        best = places[number]
        lower = [(int(one[0]), int(one[1])) for one in np.argwhere(values <= values[best] - CLEARLY)]
        if len(lower) >= 2:
            return [best, *(lower[other] for other in drawn(random, range(len(lower)), 3))]
    return None


def _head(values: Floats, place: tuple[int, int], best: float) -> Option:
    share = float(values[place])
    says = later(
        "{head} puts {share:.2f} there; the best of these {best:.2f}.",
        head=_short(place),
        share=share,
        best=float(best),
    )
    return Option(_short(place), says, _short(place))


def _short(place: tuple[int, int]) -> str:
    return f"L{place[0]}H{place[1]}"


def _query(kind: Kind, place: tuple[int, int], **more: str) -> dict[str, str]:
    """The query of the page's address, with the same labels of rows as here."""
    reading = {} if kind == "encoder" else {"reading": "predicts" if kind == "cross" else "reads"}
    return {"kind": kind, "layer": str(place[0]), "head": str(place[1]), **more, **reading}


def look(material: Material, random: Generator) -> Question | None:
    """At which token does a row look most, in one head?"""
    record = material.record
    for _try in range(TRIES):
        attention = any_attention(record, random)
        kind = attention.kind
        place = (int(random.integers(attention.shape[0])), int(random.integers(attention.shape[1])))
        row = int(random.integers(attention.shape[2]))
        found = _strongest(record, kind, place, row)
        if found is None:
            continue
        weights, best, others = found
        labels = attention.key.labels
        near = sorted(drawn(random, others, len(others)), key=lambda column: -float(weights[column]))[:3]
        options, answer = shuffled(random, _token(labels, weights, best), [_token(labels, weights, at) for at in near])
        rows = record.rows(kind)
        named = {"head": f"{_short(place)}", "token": quote(rows.labels[row]), "row": row, "kind": later_kind(kind)}
        prompt = (
            later("While {token} was written (row {row}), at which source token did head {head} look most?", **named)
            if kind == "cross"
            else later("In {kind} head {head}, at which token does the row of {token} (row {row}) look most?", **named)
        )
        why = later(
            "{weight:.2f} of this row's weight is on {key}; no other token has more than {second:.2f}.",
            weight=float(weights[best]),
            key=quote(labels[best]),
            second=float(np.delete(weights, best).max()),
        )
        return Question(
            "look",
            prompt,
            options,
            answer,
            why,
            "heads",
            _query(kind, place, row=str(row)),
            small(record, kind, attention.head(*place), _short(place)),
            {"kind": kind, "head": _short(place), "row": row},
        )
    return None


def _strongest(record: Record, kind: Kind, place: tuple[int, int], row: int) -> tuple[Floats, int, list[int]] | None:
    """The row's weights (K,), its clearly strongest column, and other visible ones, distinguishable by their labels."""
    attention = record.attention(kind)
    rows = record.rows(kind)
    if not counted(attention, rows)[row] or padding(record, kind)[row] or not rows.labels[row].strip():
        return None
    weights = attention.head(*place)[row]  # (K,)
    best = int(weights.argmax())
    known = alone(attention.key.labels)
    others = [int(at) for at in np.flatnonzero(known & attention.mask[row]) if at != best]
    second = float(np.delete(weights, best).max())
    if not known[best] or len(others) < 2 or weights[best] < max(LOOKS, second + CLEARLY):
        return None
    return weights, best, others


def _token(labels: tuple[str, ...], weights: Floats, at: int) -> Option:
    label = quote(labels[at])
    return Option(label, later("{token} gets {weight:.2f} here.", token=label, weight=float(weights[at])), at)


def average(material: Material, random: Generator) -> Question | None:
    """Which of these heads does the mean of its layer hide most?"""
    record = material.record
    for _try in range(TRIES // 6):
        attention = any_attention(record, random)
        kind = attention.kind
        layer = int(random.integers(attention.shape[0]))
        rows = counted(attention, record.rows(kind))
        rows &= ~padding(record, kind)
        if attention.shape[1] < 3 or not rows.any():
            continue
        mean = head_view.mean(attention, layer)[rows]
        far = np.array([float(jensen_shannon(one[rows], mean).mean()) for one in attention.layer(layer)])  # (H,)
        chosen = drawn(random, range(len(far)), 3)
        best = max(chosen, key=lambda head: float(far[head]))
        others = [head for head in chosen if head != best]
        if far[best] < max(far[others]) + FARTHER:
            continue
        options, answer = in_order(_distance(far, layer, best), [_distance(far, layer, one) for one in others])
        said = {"kind": later_kind(kind), "layer": layer, "count": attention.shape[1]}
        maps = small(record, kind, head_view.mean(attention, layer), later("the mean"))
        maps += sum((small(record, kind, attention.head(layer, one), f"L{layer}H{one}") for one in sorted(chosen)), ())
        return Question(
            "average",
            later(
                "A mean hides heads. Which of these is farthest from the mean of the {count} heads of {kind} layer "
                "{layer}?",
                **said,
            ),
            options,
            answer,
            later(
                "{head} is {far:.2f} away from the mean (Jensen-Shannon distance, 0 to 1), the next of these only "
                "{next:.2f}.",
                head=f"L{layer}H{best}",
                far=float(far[best]),
                next=float(max(far[others])),
            ),
            "heads",
            _query(kind, (layer, best), weights="layer"),
            maps,
            {"kind": kind, "layer": layer},
        )
    return None


def _distance(far: np.ndarray[tuple[int, ...], np.dtype[np.float64]], layer: int, head: int) -> Option:
    name = f"L{layer}H{head}"
    return Option(name, later("{head} is {far:.2f} away from the mean.", head=name, far=float(far[head])), name)
