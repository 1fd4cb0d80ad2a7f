"""Questions that show rows of weights: which row is impossible, which weight is missing, which attention a map is
of."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bartviz.analysis.masks import quote
from bartviz.analysis.measure_inputs import entropy as bits_of
from bartviz.analysis.sentence_words import later_kind
from bartviz.features.quiz.question import (
    LETTERS,
    TRIES,
    WIDEST,
    Grid,
    Material,
    Option,
    Question,
    alone,
    any_attention,
    drawn,
    hundredths,
    shuffled,
)
from bartviz.language import later
from bartviz.record.attention import KINDS, Attention, Kind
from bartviz.record.record import Record

LOUD = 0.2
"""The least weight on a forbidden cell, and the least difference from 1 of the sum of an impossible row."""
BITS = 0.4
"""The least margin of the right row's entropy, in bits."""
APART = 0.05
"""The least difference between two numbers that are offered."""
ASKED = 0.1
"""The least weight that is asked for."""
SIDE = 12
"""The most cells along a side of a small map."""

Row = tuple[int, int, int]  # layer, head, row
Doubles = NDArray[np.float64]
Broken = tuple[str, dict[str, str]]  # why a row is impossible, and how the masks page shows its place


def impossible(material: Material, random: Generator) -> Question | None:
    """Which of four rows cannot come from this kind of attention?"""
    record = material.record
    for _try in range(TRIES):
        attention = any_attention(record, random)
        rows = _rows(attention, random, 4)
        if len(rows) < 4:
            continue
        shown = _shown(attention, rows)  # 4 x (K,)
        broken = _break(attention, rows, shown, random)
        if broken is None:
            continue
        return _impossible(attention, rows, shown, broken, random)
    return None


def _break(attention: Attention, rows: list[Row], shown: list[Doubles], random: Generator) -> Broken | None:
    """Make the first row impossible: weight where its mask forbids it, or a sum that is not 1."""
    layer, head, row = rows[0]
    closed = np.flatnonzero(~attention.mask[row, : len(shown[0])])  # (closed keys,)
    if closed.size and random.random() < 0.7:
        strong, there = int(shown[0].argmax()), int(closed[random.integers(closed.size)])
        if shown[0][strong] < LOUD:
            return None
        shown[0][[strong, there]] = shown[0][[there, strong]]
        said = {"key": f"{there} {attention.key.labels[there]}", "weight": float(shown[0][there]), "row": row}
        if attention.kind == "decoder" and there > row:
            reason = later(
                "It puts {weight:.2f} on {key}, which comes after its own token: the causal mask forbids "
                "that, and makes the weight exactly 0.",
                **said,
            )
        else:
            reason = later("It puts {weight:.2f} on {key}, which the mask forbids: such a weight is exactly 0.", **said)
        return reason, {"view": "pattern"}
    shown[0] = np.round(shown[0] * float(random.choice([0.6, 1.4])), 2)
    total = float(shown[0].sum())
    if abs(total - 1) < LOUD:
        return None
    reason = later("Its weights sum to {total:.2f}. A softmax makes every row sum to 1.", total=total)
    return reason, {"view": "weights", "layer": str(layer), "head": str(head)}


def _impossible(
    attention: Attention, rows: list[Row], shown: list[Doubles], broken: Broken, random: Generator
) -> Question:
    reason, view = broken
    order = [int(place) for place in random.permutation(4)]
    answer = order.index(0)
    options = tuple(
        Option(
            later("Row {letter}", letter=LETTERS[place]),
            reason if place == answer else later("This row is real: it sums to 1, and no masked cell has weight."),
            LETTERS[place],
        )
        for place in range(4)
    )
    grid = _grid(attention, [rows[one] for one in order], [shown[one] for one in order])
    kind = attention.kind
    return Question(
        "impossible",
        later(
            "Three of these rows are from this text. Which one cannot come from {kind} attention?",
            kind=later_kind(kind),
        ),
        options,
        answer,
        later("Row {letter}. {reason}", letter=LETTERS[answer], reason=reason),
        "masks",
        {**view, "row": str(rows[0][2])} | ({} if kind == "encoder" else {"reading": "reads"}),
        (grid,),
        {"kind": kind, "rows": tuple(rows[one][2] for one in order)},
    )


def missing(material: Material, random: Generator) -> Question | None:
    """Which weight is missing in a row?"""
    record = material.record
    for _try in range(TRIES):
        attention = any_attention(record, random)
        rows = _rows(attention, random, 1)
        if not rows or attention.mask[rows[0][2]].sum() < 3:
            continue
        layer, head, row = rows[0]
        [shown] = _shown(attention, rows)  # (K,)
        places = np.flatnonzero(shown >= ASKED)  # (keys worth asking for,)
        if not places.size:
            continue
        at = int(random.choice(places))
        right, known = float(shown[at]), float(shown.sum() - shown[at])
        wrong = _apart(right, [known, right / 2, right + 0.15, 1 / len(shown), right - 0.15, min(2 * right, 0.98)])
        if len(wrong) < 2:
            continue
        options, answer = shuffled(random, _number(right, right), [_number(one, right) for one in wrong])
        shown[at] = np.nan
        why = later(
            "The weights of a row sum to 1, and the others sum to {known:.2f}: 1 − {known:.2f} = {right:.2f}.",
            known=known,
            right=right,
        )
        return Question(
            "missing",
            later("One weight of this row is hidden. How large is it?"),
            options,
            answer,
            why,
            "heads",
            _query(attention.kind, layer, head, row=str(row)),
            (_grid(attention, rows, [shown]),),
            {"kind": attention.kind, "head": f"L{layer}H{head}", "row": row, "column": at},
        )
    return None


def _apart(right: float, wrong: list[float]) -> list[float]:
    """The rounded numbers in 0..1 that are at least ``APART`` from the right one and from each other."""
    kept = [right]
    for one in (round(number, 2) for number in wrong):
        if 0 < one <= 1 and all(abs(one - other) >= APART - 1e-9 for other in kept):
            kept.append(one)
    return kept[1:]


def _number(value: float, right: float) -> Option:
    says = later("That would make the row sum to {total:.2f}.", total=1 - right + value)
    return Option(f"{value:.2f}", says, value)


def entropy(material: Material, random: Generator) -> Question | None:
    """Which of three rows has the highest entropy?"""
    record = material.record
    for _try in range(TRIES):
        attention = any_attention(record, random)
        rows = _rows(attention, random, 3)
        if len(rows) < 3:
            continue
        shown = _shown(attention, rows)  # 3 x (K,)
        bits = [float(bits_of(one)) for one in shown]
        best = int(np.argmax(bits))
        second = max(bits[:best] + bits[best + 1 :])
        if bits[best] < second + BITS:
            continue
        options = tuple(
            Option(
                later("Row {letter}", letter=LETTERS[place]),
                later("Row {letter} has {bits:.2f} bits.", letter=LETTERS[place], bits=bits[place]),
                LETTERS[place],
            )
            for place in range(3)
        )
        why = later(
            "Row {letter} has {bits:.2f} bits, the next one {next:.2f}: the more evenly a row spreads its "
            "weight, and over the more tokens, the higher its entropy.",
            letter=LETTERS[best],
            bits=bits[best],
            next=second,
        )
        layer, head, row = rows[best]
        return Question(
            "entropy",
            later("Which of these rows has the highest entropy?"),
            options,
            best,
            why,
            "heads",
            _query(attention.kind, layer, head, row=str(row)),
            (_grid(attention, rows, shown),),
            {"kind": attention.kind, "rows": tuple(rows)},
        )
    return None


def whose(material: Material, random: Generator) -> Question | None:
    """Which kind of attention does a small map show?"""
    record = material.record
    if set(record.kinds) != set(KINDS) or not _told_apart(record):
        return None
    kind = KINDS[int(random.integers(3))]
    attention = record.attention(kind)
    layer, head = int(random.integers(attention.shape[0])), int(random.integers(attention.shape[1]))
    rows, columns = (range(min(length, SIDE)) for length in attention.shape[2:])
    weights = attention.head(layer, head)  # (Q, K)
    cells = tuple(tuple(round(float(weights[i, j]), 3) for j in columns) for i in rows)
    labels = attention.query.labels[: len(rows)], attention.key.labels[: len(columns)]
    says = {
        "encoder": later("Encoder attention: rows and columns are both the source, and every row may look everywhere."),
        "decoder": later("Decoder attention: rows and columns are both the output, and no row looks ahead."),
        "cross": later("Cross-attention: rows are the output, columns are the source."),
    }
    names = {
        "encoder": later("The encoder looks at itself"),
        "decoder": later("The decoder looks at itself"),
        "cross": later("The decoder looks at the encoder"),
    }
    options = tuple(Option(names[one], says[one], one) for one in KINDS)
    return Question(
        "whose",
        later("Rows look at columns. Which attention is this?"),
        options,
        KINDS.index(kind),
        says[kind],
        "heads",
        _query(kind, layer, head),
        (Grid(*labels, cells, None, digits=False),),
        {"kind": kind, "head": f"L{layer}H{head}"},
    )


def _told_apart(record: Record) -> bool:
    """Whether the three maps can be distinguished by their labels and mask."""
    source, own = record.attention("encoder").query.labels[:SIDE], record.attention("decoder").query.labels[:SIDE]
    mask = record.attention("decoder").mask  # (T, T)
    return source != own and len(own) > 2 and len(source) > 2 and not mask[:SIDE, :SIDE].all()


def closed(material: Material, random: Generator) -> Question | None:
    """Which token may a row not attend to?"""
    record = material.record
    for _try in range(TRIES):
        attention = any_attention(record, random)
        row = int(random.integers(attention.shape[2]))
        known = alone(attention.key.labels)
        shut = np.flatnonzero(known & ~attention.mask[row]).tolist()  # (closed keys,)
        seen = np.flatnonzero(known & attention.mask[row]).tolist()
        label = attention.query.labels[row]
        if not shut or len(seen) < 2 or not label.strip():
            continue
        right = int(random.choice(shut))
        labels = attention.key.labels
        ahead = attention.kind == "decoder" and right > row
        why = (
            later(
                "{key} is at position {at}, after row {row}: when the model computes this row, it does not exist yet.",
                key=quote(labels[right]),
                at=right,
                row=row,
            )
            if ahead
            else later("{key} is closed to this row: the mask leaves it no weight.", key=quote(labels[right]))
        )
        options, answer = shuffled(
            random,
            Option(quote(labels[right]), why, right),
            [
                Option(quote(labels[at]), later("The row may look at {key}.", key=quote(labels[at])), at)
                for at in drawn(random, seen, 3)
            ],
        )
        words = {"kind": later_kind(attention.kind), "token": quote(label), "row": row}
        prompt = (
            later("Which of these tokens is closed to the {kind} row of {token} (row {row})?", **words)
            if attention.kind == "encoder"
            else later("Which of these tokens is closed to the {kind} row that reads {token} (row {row})?", **words)
        )
        query = {"view": "pattern", "row": str(row)} | ({} if attention.kind == "encoder" else {"reading": "reads"})
        return Question(
            "closed", prompt, options, answer, why, "masks", query, about={"kind": attention.kind, "row": row}
        )
    return None


def _query(kind: Kind, layer: int, head: int, **more: str) -> dict[str, str]:
    """The query of the heads page's address, with rows labelled by what they read, as in the grids here."""
    reading = {} if kind == "encoder" else {"reading": "reads"}
    return {"kind": kind, "layer": str(layer), "head": str(head), **more, **reading}


def _rows(attention: Attention, random: Generator, count: int) -> list[Row]:
    """``count`` different rows, or fewer, whose visible columns are all shown; the head of each is drawn at random."""
    layers, heads = attention.shape[:2]
    seen = attention.mask.any(axis=1) & ~attention.mask[:, WIDEST:].any(axis=1)  # (Q,)
    places = drawn(random, np.flatnonzero(seen & (attention.mask.sum(axis=1) > 1)).tolist(), count)
    return [(int(random.integers(layers)), int(random.integers(heads)), row) for row in places]


def _shown(attention: Attention, rows: list[Row]) -> list[Doubles]:
    """The weights (K,) of each row, rounded, at most ``WIDEST`` columns."""
    return [np.array(hundredths(attention.head(layer, head)[row, :WIDEST])) for layer, head, row in rows]


def _grid(attention: Attention, rows: list[Row], shown: list[Doubles]) -> Grid:
    """The rows with their letters, positions and tokens; columns with position and token."""
    columns = tuple(f"{at} {label}" for at, label in enumerate(attention.key.labels[: len(shown[0])]))
    letters = LETTERS if len(rows) > 1 else (" ",)
    names = tuple(
        f"{letter} · {one[2]} {attention.query.labels[one[2]]}".strip(" ·")
        for letter, one in zip(letters, rows, strict=False)
    )
    return Grid(
        names,
        columns,
        tuple(tuple(None if np.isnan(cell) else float(cell) for cell in row) for row in shown),
        attention.kind,
    )
