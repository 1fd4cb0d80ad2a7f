"""Questions about heads: what a row looks at, what looks at a token, which head looks at the previous token or at
special tokens, which one the mean hides."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from bartviz.analysis import head_view
from bartviz.analysis.distance import jensen_shannon
from bartviz.analysis.masks import quote
from bartviz.analysis.measures import counted, padding
from bartviz.analysis.sentence_words import later_before_noun
from bartviz.arrays import Floats
from bartviz.features.quiz.question import (
    TRIES,
    WIDEST,
    Maker,
    Material,
    Option,
    Question,
    Subject,
    Touch,
    alone,
    any_head,
    drawn,
    heads_query,
    in_order,
    in_words,
    row_of,
    rows_of,
    short,
    shuffled,
    small,
    told_apart,
    wrote,
)
from bartviz.language import later, mark
from bartviz.record.attention import KINDS, Attention, Kind
from bartviz.record.record import Record

CLEARLY = 0.1
"""The least margin of the right answer, as a share of a row's weight."""
FARTHER = 0.05
"""The least margin of the right head's distance from the mean (Jensen-Shannon distance)."""
LOOKS = 0.3
"""The least share of weight for saying that a head looks somewhere."""
MOST_COLUMN = 1.25
"""How many times as much as the next column the one that gets most must get."""


def _every_row(material: Material) -> list[Subject]:
    """Every row of a word with a choice."""
    record = material.record
    return [(kind, row) for kind in record.kinds for row in np.flatnonzero(_words(record, kind)).tolist()]


def _every_column(material: Material) -> list[Subject]:
    """Every token that is looked at, in a map that can be shown, and whose label no other has."""
    record, found = material.record, list[Subject]()
    for kind in record.kinds:
        attention = record.attention(kind)
        if max(attention.shape[2:]) <= WIDEST:
            known = alone(attention.key.labels) & attention.mask.any(axis=0)
            found += [(kind, column) for column in np.flatnonzero(known).tolist()]
    return found


def _words(record: Record, kind: Kind) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """(Q,) True for rows of words that may look at two tokens."""
    attention = record.attention(kind)
    named = np.array([bool(label.strip()) for label in rows_of(record, kind)], np.bool_)
    return counted(attention, record.rows(kind, "predicts")) & ~padding(record, kind) & named


def _of(material: Material, subject: Subject) -> tuple[Attention, Kind, int]:
    """The attention and the row or column that a subject names."""
    kind, place = subject
    assert kind in KINDS
    assert isinstance(place, int)
    return material.record.attention(kind), kind, place


def _looks(record: Record, kind: Kind, row: int) -> str:
    """The first question, in the words of the start page."""
    if kind == "encoder" or record.output is None:
        return mark("While the model read {token}, at which token did {kind} head {head} of layer {layer} look most?")
    if not wrote(record, row):
        return mark("At the step of {token}, at which token did {kind} head {head} of layer {layer} look most?")
    return mark("Before the model wrote {token}, at which token did {kind} head {head} of layer {layer} look most?")


def _ask_look(material: Material, random: Generator, subject: Subject) -> Question | None:
    """At which token does a row look most, in one head?"""
    record = material.record
    attention, kind, row = _of(material, subject)
    labels = attention.key.labels
    for _try in range(TRIES):
        place = any_head(attention, random)
        weights = attention.head(*place)[row]  # (K,)
        best = int(weights.argmax())
        second = float(np.delete(weights, best).max())
        known = alone(labels)
        others = [int(at) for at in np.flatnonzero(known & attention.mask[row]) if at != best]
        if not known[best] or len(others) < 2 or weights[best] < max(LOOKS, second + CLEARLY):
            continue
        maps = small(record, kind, attention.head(*place), in_words(place))
        near = sorted(drawn(random, others, len(others)), key=lambda column: -float(weights[column]))[:3]
        options, answer = shuffled(random, _token(labels, weights, best), [_token(labels, weights, at) for at in near])
        touch = None
        if maps:
            columns = [int(str(option.fact)) for option in options]
            options = tuple(_token(told_apart(labels), weights, at) for at in range(len(labels)))
            touch, answer = Touch("cell", tuple(range(len(labels))), tuple(columns), row), best
        why = later(
            "In its row the fullest colour is at {key}: {weight:.2f} of the weight. No other token has more than "
            "{second:.2f}.",
            weight=float(weights[best]),
            key=quote(labels[best]),
            second=second,
        )
        token = quote(told_apart(rows_of(record, kind))[row])
        return Question(
            "look",
            later(_looks(record, kind, row), kind=later_before_noun(kind), layer=place[0], head=place[1], token=token),
            options,
            answer,
            why,
            "heads",
            heads_query(kind, place, row=str(row)),
            maps,
            {"kind": kind, "head": short(place), "row": row},
            touch=touch,
        )
    return None


def _token(labels: tuple[str, ...], weights: Floats, at: int) -> Option:
    label = quote(labels[at])
    return Option(label, later("{token} gets {weight:.2f} here.", token=label, weight=float(weights[at])), at)


def _ask_looked_at(material: Material, random: Generator, subject: Subject) -> Question | None:
    """Which row looks most at a token, in one head?"""
    record = material.record
    attention, kind, column = _of(material, subject)
    names = rows_of(record, kind)
    known = alone(names) & _words(record, kind)
    for _try in range(TRIES):
        place = any_head(attention, random)
        weights = attention.head(*place)[:, column]  # (Q,)
        best = int(weights.argmax())
        others = sorted((at for at in np.flatnonzero(known).tolist() if at != best), key=lambda at: -float(weights[at]))
        second = float(np.delete(weights, best).max(initial=0))
        if not known[best] or len(others) < 2 or weights[best] < max(LOOKS, second + CLEARLY):
            continue
        key = quote(attention.key.labels[column])
        options = tuple(
            Option(
                quote(name),
                later("It gets {weight:.2f} from {row}.", row=row_of(record, kind, at), weight=float(gives)),
                at,
            )
            for at, (name, gives) in enumerate(zip(told_apart(names), weights, strict=True))
        )
        return Question(
            "looked_at",
            later(
                "In {kind} head {head} of layer {layer}, which row looks most at {token}?",
                kind=later_before_noun(kind),
                layer=place[0],
                head=place[1],
                token=key,
            ),
            options,
            best,
            later(
                "It gets {weight:.2f} from {row}, and from no other row more than {second:.2f}. To see who looks at a "
                "token, read down its column.",
                row=row_of(record, kind, best),
                weight=float(weights[best]),
                second=second,
            ),
            "heads",
            heads_query(kind, place, row=str(best)),
            small(record, kind, attention.head(*place), in_words(place)),
            {"kind": kind, "head": short(place), "column": column},
            touch=Touch("row", tuple(range(len(names))), tuple(sorted([best, *others[:3]]))),
        )
    return None


def _ask_received(material: Material, random: Generator, subject: Subject) -> Question | None:
    """Which token gets most weight from all rows together, in one head?"""
    record = material.record
    attention, kind, column = _of(material, subject)
    labels = attention.key.labels
    for _try in range(TRIES):
        place = any_head(attention, random)
        weights = attention.head(*place)  # (Q, K)
        sums = weights.sum(axis=0)  # (K,)
        second = float(np.delete(sums, column).max(initial=0))
        strongest = int(weights.max(axis=0).argmax())
        known = [at for at in np.flatnonzero(alone(labels)).tolist() if at != column]
        if int(sums.argmax()) != column or sums[column] < MOST_COLUMN * second or len(known) < 2:
            continue
        options = tuple(
            Option(
                quote(label),
                later(
                    "{token} gets {sum:.2f} from all {count} rows together.",
                    token=quote(label),
                    sum=float(total),
                    count=len(weights),
                ),
                at,
            )
            for at, (label, total) in enumerate(zip(told_apart(labels), sums, strict=True))
        )
        near = sorted(known, key=lambda at: (at != strongest, -float(sums[at])))[:3]
        return Question(
            "received",
            later(
                "In {kind} head {head} of layer {layer}, which token gets most weight from all rows together?",
                kind=later_before_noun(kind),
                layer=place[0],
                head=place[1],
            ),
            options,
            column,
            later(
                "{token} gets {sum:.2f} from {count} rows, the next token {next:.2f}. A row sums to 1; a column may "
                "sum to anything.",
                token=quote(labels[column]),
                sum=float(sums[column]),
                count=len(weights),
                next=second,
            ),
            "heads",
            heads_query(kind, place),
            small(record, kind, weights, in_words(place)),
            {"kind": kind, "head": short(place), "column": column},
            touch=Touch("column", tuple(range(len(labels))), tuple(sorted([column, *near]))),
        )
    return None


def _leading(measure: str) -> Callable[[Material], list[Subject]]:
    """The heads of every kind with a large value of a measure, if two others have clearly less."""

    def subjects(material: Material) -> list[Subject]:
        found: list[Subject] = []
        for kind in material.record.kinds:
            if measure in material.measured(kind).defined:
                values = material.measured(kind).values[measure]  # (L, H)
                for layer, head in np.argwhere(values >= LOOKS).tolist():
                    if (values <= values[layer, head] - CLEARLY).sum() >= 2:
                        found.append((kind, layer, head))
        return found

    return subjects


def _most(
    name: str, measure: str, ask: Callable[[str], str], tell: Callable[[dict[str, object]], str]
) -> Callable[[Material, Generator, Subject], Question]:
    """The head with the largest value of a measure among some that have clearly less."""

    def made(material: Material, random: Generator, subject: Subject) -> Question:
        kind, layer, head = subject
        assert kind in KINDS
        assert isinstance(layer, int)
        assert isinstance(head, int)
        best = (layer, head)
        values = material.measured(kind).values[measure]  # (L, H)
        lower = [(int(one[0]), int(one[1])) for one in np.argwhere(values <= values[best] - CLEARLY)]
        others = [lower[number] for number in drawn(random, range(len(lower)), 3)]
        options, answer = in_order(
            _head(values, best, values[best]), [_head(values, other, values[best]) for other in others]
        )
        attention = material.record.attention(kind)
        chosen = sorted([best, *others], key=short)
        maps = sum((small(material.record, kind, attention.head(*one), in_words(one)) for one in chosen), ())
        next_ = max(float(values[one]) for one in others)
        said = {"head": in_words(best), "share": float(values[best]), "next": next_}
        return Question(
            name,
            ask(later_before_noun(kind)),
            options,
            answer,
            tell(said),
            "heads",
            heads_query(kind, best),
            maps,
            {"kind": kind, "measure": measure, "best": short(best)},
            touch=Touch("map", tuple(range(len(options)))) if maps else None,
        )

    return made


def _head(values: Floats, place: tuple[int, int], best: float) -> Option:
    share = float(values[place])
    says = later(
        "{head} puts {share:.2f} there; the best of these {best:.2f}.",
        head=in_words(place),
        share=share,
        best=float(best),
    )
    return Option(in_words(place), says, short(place))


def _layers(material: Material) -> list[Subject]:
    """Every layer with at least three heads."""
    record = material.record
    shapes = [(kind, record.attention(kind).shape) for kind in record.kinds]
    return [(kind, layer) for kind, shape in shapes if shape[1] >= 3 for layer in range(shape[0])]


def _ask_average(material: Material, random: Generator, subject: Subject) -> Question | None:
    """Which of these heads does the mean of its layer hide most?"""
    record = material.record
    attention, kind, layer = _of(material, subject)
    rows = counted(attention, record.rows(kind)) & ~padding(record, kind)
    if not rows.any():
        return None
    mean = head_view.mean(attention, layer)[rows]
    far = np.array([float(jensen_shannon(one[rows], mean).mean()) for one in attention.layer(layer)])  # (H,)
    for _try in range(TRIES // 6):
        chosen = drawn(random, range(len(far)), 3)
        best = max(chosen, key=lambda head: float(far[head]))
        others = [head for head in chosen if head != best]
        if far[best] < max(far[others]) + FARTHER:
            continue
        options, answer = in_order(_distance(far, layer, best), [_distance(far, layer, one) for one in others])
        maps = small(record, kind, head_view.mean(attention, layer), later("the mean"))
        shown = sorted(((layer, head) for head in chosen), key=short)
        maps += sum((small(record, kind, attention.head(*one), in_words(one)) for one in shown), ())
        return Question(
            "average",
            later(
                "A mean hides heads. Which of these is farthest from the mean of the {count} heads of {kind} layer "
                "{layer}?",
                kind=later_before_noun(kind),
                layer=layer,
                count=attention.shape[1],
            ),
            options,
            answer,
            later(
                "{head} is {far:.2f} away from the mean (Jensen-Shannon distance, 0 to 1), the next of these only "
                "{next:.2f}.",
                head=in_words((layer, best)),
                far=float(far[best]),
                next=float(max(far[others])),
            ),
            "heads",
            heads_query(kind, (layer, best), weights="layer"),
            maps,
            {"kind": kind, "layer": layer},
            touch=Touch("map", (1, 2, 3)) if maps else None,
        )
    return None


def _distance(far: np.ndarray[tuple[int, ...], np.dtype[np.float64]], layer: int, head: int) -> Option:
    name, says = in_words((layer, head)), mark("{head} is {far:.2f} away from the mean.")
    return Option(name, later(says, head=name, far=float(far[head])), short((layer, head)))


look = Maker(_every_row, _ask_look)
looked_at = Maker(_every_column, _ask_looked_at)
received = Maker(_every_column, _ask_received)
average = Maker(_layers, _ask_average)
previous = Maker(
    _leading("previous"),
    _most(
        "previous",
        "previous",
        lambda kind: later("Which of these {kind} heads looks most at the token before?", kind=kind),
        lambda said: later(
            "{head} puts {share:.2f} of a row's weight on the token just before it, averaged over the rows of this "
            "text's words. The next best of these puts {next:.2f} there.",
            **said,
        ),
    ),
)
rest = Maker(
    _leading("special"),
    _most(
        "rest",
        "special",
        lambda kind: later("Which of these {kind} heads has most weight on special tokens?", kind=kind),
        lambda said: later(
            "{head} puts {share:.2f} of a row's weight on special tokens, averaged over the rows of words. The "
            "next best of these puts {next:.2f} there. A head with nothing to look for may put its weight on them.",
            **said,
        ),
    ),
)
