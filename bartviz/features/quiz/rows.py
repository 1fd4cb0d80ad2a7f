"""Questions about rows: how far one may look, which is impossible, which weight is missing, which attention a map is
of."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bartviz.analysis.masks import quote
from bartviz.analysis.measure_inputs import entropy as bits_of
from bartviz.analysis.sentence_words import later_attention, later_before_noun
from bartviz.features.quiz.question import (
    LETTERS,
    LINE,
    TRIES,
    WIDEST,
    Grid,
    Maker,
    Material,
    Option,
    Question,
    Subject,
    Touch,
    alone,
    any_head,
    drawn,
    first_word,
    heads_query,
    hundredths,
    row_of,
    rows_of,
    shuffled,
    told_apart,
)
from bartviz.language import later, mark
from bartviz.record.attention import KINDS, Attention, Kind
from bartviz.record.record import Record

LOUD = 0.2
"""The least weight on a forbidden cell, and the least difference from 1 of the sum of an impossible row."""
BITS = 0.4
"""The least margin of the right row's entropy, in bits."""
APART = 0.05
"""The least difference between two weights that are offered."""
FARTHER = 0.2
"""The least difference between two differences of scores that are offered."""
LEAST = 0.05
"""The least weight whose logarithm two decimals give well enough."""
ASKED = 0.1
"""The least weight that is asked for."""
SIDE = 12
"""The most cells along a side of a small map."""

Row = tuple[int, int, int]  # layer, head, row
Doubles = NDArray[np.float64]
Broken = tuple[str, dict[str, str]]  # why a row is impossible, and how the masks page shows its place


def _attention(material: Material, subject: Subject) -> tuple[Attention, Kind, int]:
    """The attention and the row that a subject names."""
    kind, row = subject
    assert kind in KINDS
    assert isinstance(row, int)
    return material.record.attention(kind), kind, row


def _every_row(material: Material) -> list[Subject]:
    """Every row with a choice whose visible columns can all be shown."""
    found: list[Subject] = []
    for kind in material.record.kinds:
        found += [(kind, row) for row in _shown_rows(material.record.attention(kind))]
    return found


def _shown_rows(attention: Attention) -> list[int]:
    mask = attention.mask
    return np.flatnonzero(~mask[:, WIDEST:].any(axis=1) & (mask.sum(axis=1) > 1)).tolist()


def _ends(material: Material) -> list[Subject]:
    """The rows of a kind whose rows do not all end at the same token, as a causal mask makes them."""
    found: list[Subject] = []
    for kind in material.record.kinds:
        attention = material.record.attention(kind)
        lasts = [_last(attention, row) for row in range(attention.shape[2])]
        if len({last for last in lasts if last is not None}) > 1:
            found += [(kind, row) for row, last in enumerate(lasts) if last is not None and 0 < last < LINE]
    return found


def _last(attention: Attention, row: int) -> int | None:
    """The last column that a row may look at; None if there is none."""
    open_ = np.flatnonzero(attention.mask[row])
    return int(open_[-1]) if open_.size else None


def _ask_last(material: Material, random: Generator, subject: Subject) -> Question | None:
    record = material.record
    attention, kind, row = _attention(material, subject)
    first, names, last_column = first_word(attention.key), rows_of(record, kind), _last(attention, row)
    labels = attention.key.labels[first:LINE]
    if last_column is None or last_column < first or len(labels) < 3:
        return None
    right = last_column - first
    if not names[row].strip() or not labels[right].strip() or record.rows(kind, "predicts").special[row]:
        return None
    marked, line = _marked(record, kind, row, attention.key.labels[:LINE]), told_apart(labels)
    marked = None if marked is None or marked < first else marked - first
    predicted = kind != "encoder" and record.output is not None
    token, key = quote(names[row] if marked is None else line[marked]), quote(line[right])
    why = (
        later(
            "Before it predicts {token}, the model has read as far as {key}: the causal mask hides what comes later.",
            token=token,
            key=key,
        )
        if kind == "decoder" and predicted
        else later("The mask hides every token after {key}.", key=key)
    )

    def says(at: int) -> str:
        if at == right:
            return why
        token = quote(line[at])
        if at > right and at == marked and predicted:
            return later("{token} is what the model is to predict: it cannot look at its own answer.", token=token)
        if at > right:
            return later("{token} comes later: the mask hides it.", token=token)
        if not attention.mask[row, at + first]:
            return later("The mask hides {token} here.", token=token)
        return later("{token} can be seen, and more after it.", token=token)

    options = tuple(Option(quote(label), says(at), at + first) for at, label in enumerate(line))
    near = [at for at in (right + 1, right - 1, right + 2, right - 2) if 0 <= at < len(labels)]
    paper = _told(labels, right, near)
    if len(paper) < 2:  # a sheet needs a wrong answer, too
        return None
    return Question(
        "last",
        later(
            mark("Which is the last of these tokens that the model may look at before it predicts {token}?")
            if predicted
            else mark("Which is the last of these tokens that {token} may look at?"),
            token=token,
        ),
        options,
        right,
        why,
        "masks",
        {"view": "pattern", "row": str(row)},
        about={"kind": kind, "row": row},
        line=line,
        marked=marked,
        touch=Touch("word", tuple(range(len(labels))), paper),
    )


def _marked(record: Record, kind: Kind, row: int, labels: tuple[str, ...]) -> int | None:
    """The word of the line that names the row; None if it is not there."""
    at = row + (kind == "decoder" and record.output is not None)
    return at if at < len(labels) and labels[at] == rows_of(record, kind)[row] else None


def _told(labels: tuple[str, ...], right: int, others: list[int]) -> tuple[int, ...]:
    """The right place and at most three others whose labels differ, in the order of the text."""
    kept = [right]
    for at in others:
        if labels[at].strip() and all(labels[at].strip().casefold() != labels[one].strip().casefold() for one in kept):
            kept.append(at)
    return tuple(sorted(kept[:4]))


def _ask_impossible(material: Material, random: Generator, subject: Subject) -> Question | None:
    """Which of four rows cannot come from this kind of attention? The first is the one that is made so."""
    record = material.record
    attention, kind, row = _attention(material, subject)
    for _try in range(TRIES // 10):
        others = drawn(random, [one for one in _shown_rows(attention) if one != row], 3)
        rows = [(*any_head(attention, random), one) for one in (row, *others)]
        if len(rows) < 4:
            return None
        shown = _shown(attention, rows)  # 4 x (K,)
        broken = _break(attention, rows, shown, random)
        if broken is not None:
            return _impossible(record, kind, rows, shown, broken, random)
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
        said = {"key": quote(attention.key.labels[there]), "weight": float(shown[0][there])}
        if attention.kind == "decoder" and there > row:
            reason = later(
                "It puts {weight:.2f} on {key}, which is not yet there when this row is computed: the causal mask "
                "makes that weight exactly 0.",
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
    record: Record, kind: Kind, rows: list[Row], shown: list[Doubles], broken: Broken, random: Generator
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
    return Question(
        "impossible",
        later(
            "Three of these rows are from this text. Which one cannot come from {attention}?",
            attention=later_attention(kind),
        ),
        options,
        answer,
        later("Row {letter}. {reason}", letter=LETTERS[answer], reason=reason),
        "masks",
        {**view, "row": str(rows[0][2])},
        (_grid(record, kind, [rows[one] for one in order], [shown[one] for one in order]),),
        {"kind": kind, "row": rows[0][2], "rows": tuple(rows[one][2] for one in order)},
        touch=Touch("row", (0, 1, 2, 3)),
    )


def _ask_missing(material: Material, random: Generator, subject: Subject) -> Question | None:
    attention, kind, row = _attention(material, subject)
    for _try in range(TRIES // 10):
        rows = [(*any_head(attention, random), row)]
        [shown] = _shown(attention, rows)  # (K,)
        places = np.flatnonzero(shown >= ASKED)  # (keys worth asking for,)
        if attention.mask[row].sum() < 3 or not places.size:
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
        layer, head, _row = rows[0]
        return Question(
            "missing",
            later("One weight of this row is hidden. How large is it?"),
            options,
            answer,
            why,
            "heads",
            heads_query(kind, (layer, head), row=str(row)),
            (_grid(material.record, kind, rows, [shown]),),
            {"kind": kind, "head": f"L{layer}H{head}", "row": row, "column": at},
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


def _ask_entropy(material: Material, random: Generator, subject: Subject) -> Question | None:
    """Which of three rows has the highest entropy? The one that the subject names."""
    attention, kind, row = _attention(material, subject)
    for _try in range(TRIES):
        others = drawn(random, [one for one in _shown_rows(attention) if one != row], 2)
        rows = [(*any_head(attention, random), one) for one in sorted((row, *others))]
        if len(rows) < 3:
            return None
        shown = _shown(attention, rows)  # 3 x (K,)
        bits = [float(bits_of(one)) for one in shown]
        best = int(np.argmax(bits))
        second = max(bits[:best] + bits[best + 1 :])
        if rows[best][2] != row or bits[best] < second + BITS:
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
        return Question(
            "entropy",
            later("Which of these rows has the highest entropy?"),
            options,
            best,
            why,
            "heads",
            heads_query(kind, rows[best][:2], row=str(row)),
            (_grid(material.record, kind, rows, shown),),
            {"kind": kind, "row": row, "rows": tuple(rows)},
            touch=Touch("row", (0, 1, 2)),
        )
    return None


def _ask_scores(material: Material, random: Generator, subject: Subject) -> Question | None:
    """By how much do the scores of two cells of a row differ, given their weights?"""
    record = material.record
    record.expect_model()  # the page that shows it needs queries and keys
    attention, kind, row = _attention(material, subject)
    labels = attention.key.labels
    for _try in range(TRIES // 10):
        layer, head = any_head(attention, random)
        weights = attention.head(layer, head)[row]  # (K,)
        known = alone(labels) & (weights >= LEAST)
        places = sorted(np.flatnonzero(known).tolist(), key=lambda at: -float(weights[at]))
        if len(places) < 2:
            continue
        high, low = places[0], places[int(random.integers(1, len(places)))]
        most, least = round(float(weights[high]), 2), round(float(weights[low]), 2)
        right = math.log(most / least)
        wrong = [
            (most / least, later("That is how many times as large the weight is; e to the difference gives it.")),
            (most - least, later("That is the difference of the weights, after the softmax.")),
            (math.log2(most / least), later("That is the logarithm to base 2; softmax raises e to the score.")),
            (2 * right, later("That is twice the difference.")),
        ]
        kept = [right]
        offered: list[Option] = []
        for value, said in wrong:
            if all(abs(value - other) >= FARTHER for other in kept):
                kept.append(value)
                offered.append(Option(f"{value:.1f}", said, value))
        if right < 0.5 or len(offered) < 2 or len({f"{one:.1f}" for one in kept}) < len(kept):
            continue
        why = later(
            "A softmax raises e to each score and divides by the sum, which is the same for the whole row: "
            "ln({most:.2f} / {least:.2f}) = {right:.1f}.",
            most=most,
            least=least,
            right=right,
        )
        options, answer = shuffled(random, Option(f"{right:.1f}", why, right), offered)
        return Question(
            "scores",
            later(
                "In {kind} head {head}, {row} gives {most:.2f} to {high} and {least:.2f} to {low}. By how much do the "
                "scores before the softmax differ?",
                kind=later_before_noun(kind),
                head=f"L{layer}H{head}",
                row=row_of(record, kind, row),
                most=most,
                high=quote(labels[high]),
                least=least,
                low=quote(labels[low]),
            ),
            options,
            answer,
            why,
            "inside",
            heads_query(kind, (layer, head), row=str(row)),
            about={"kind": kind, "head": f"L{layer}H{head}", "row": row, "columns": (high, low)},
        )
    return None


def _kinds(material: Material) -> list[Subject]:
    record = material.record
    return [(kind,) for kind in KINDS] if set(record.kinds) == set(KINDS) and _told_apart(record) else []


def _ask_whose(material: Material, random: Generator, subject: Subject) -> Question | None:
    """Which kind of attention does a small map show?"""
    record = material.record
    [kind] = subject
    assert kind in KINDS
    attention = record.attention(kind)
    layer, head = any_head(attention, random)
    rows, columns = (range(min(length, SIDE)) for length in attention.shape[2:])
    weights = attention.head(layer, head)  # (Q, K)
    cells = tuple(tuple(round(float(weights[i, j]), 3) for j in columns) for i in rows)
    labels = rows_of(record, kind)[: len(rows)], attention.key.labels[: len(columns)]
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
        heads_query(kind, (layer, head)),
        (Grid(*labels, cells, None, digits=False),),
        {"kind": kind, "head": f"L{layer}H{head}"},
    )


def _told_apart(record: Record) -> bool:
    """Whether the three maps can be distinguished by their labels."""
    maps = [(rows_of(record, kind)[:SIDE], record.attention(kind).key.labels[:SIDE]) for kind in KINDS]
    return len(set(maps)) == len(maps) and all(min(len(rows), len(columns)) > 2 for rows, columns in maps)


def _shown(attention: Attention, rows: list[Row]) -> list[Doubles]:
    """The weights (K,) of each row, rounded, at most ``WIDEST`` columns."""
    return [np.array(hundredths(attention.head(layer, head)[row, :WIDEST])) for layer, head, row in rows]


def _grid(record: Record, kind: Kind, rows: list[Row], shown: list[Doubles]) -> Grid:
    """The rows with their letters, if there are several, and tokens."""
    labels = rows_of(record, kind)
    letters = LETTERS if len(rows) > 1 else (" ",)
    names = tuple(f"{letter} · {labels[one[2]]}".strip(" ·") for letter, one in zip(letters, rows, strict=False))
    return Grid(
        names,
        record.attention(kind).key.labels[: len(shown[0])],
        tuple(tuple(None if np.isnan(cell) else float(cell) for cell in row) for row in shown),
        kind,
    )


last = Maker(_ends, _ask_last)
impossible = Maker(_every_row, _ask_impossible)
missing = Maker(_every_row, _ask_missing)
entropy = Maker(_every_row, _ask_entropy)
scores = Maker(_every_row, _ask_scores)
whose = Maker(_kinds, _ask_whose)
