"""Three lines of words in columns: a clean text, its corruption, and what a model wrote.

Words are those of ``denoising.words``. A lost word is missing in the corrupted text, a moved word is at another
position. Letters in shapes: n clean words, m written words.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bartviz.analysis.denoising import Noised, words
from bartviz.errors import RecordError
from bartviz.language import later, mark
from bartviz.record.record import Record
from bartviz.text.tokens import Tokens

Mark = Literal["kept", "right", "wrong", "added"]
MARKS: Mapping[Mark, str] = {
    "kept": mark("kept"),
    "right": mark("right"),
    "wrong": mark("wrong"),
    "added": mark("added"),
}
_DROP, _DROP_LOST, _ADD, _CHANGE, _CHANGE_LOST = 1.0, 0.9, 1.0, 1.5, 1.0


@dataclass(frozen=True, slots=True)
class Written:
    """A word that the model wrote; probability in 0..1 is the product of its tokens', each given those before it."""

    text: str
    probability: float


@dataclass(frozen=True, slots=True)
class Said:
    """A written word compared with the original: ``kept`` could be copied, ``right`` was lost or moved and is restored,
    ``wrong`` replaces another word, ``added`` has no counterpart. ``of``: the number of its counterpart."""

    text: str
    probability: float
    mark: Mark
    of: int | None = None


@dataclass(frozen=True)
class Place:
    """A part of the three lines: clean words and corrupted words by their numbers, and what was written there."""

    clean: tuple[int, ...]
    seen: tuple[int, ...]
    said: tuple[Said, ...] = ()

    @property
    def columns(self) -> tuple[tuple[int | None, Said | None], ...]:
        """The clean and written words side by side: a written word below its counterpart, an added one below none."""
        found: list[tuple[int | None, Said | None]] = []
        left = list(self.clean)
        for one in self.said:
            while one.of is not None and left and left[0] != one.of:
                found.append((left.pop(0), None))
            found.append((one.of, one))
            if one.of is not None and left:
                left.pop(0)
        return (*found, *((number, None) for number in left))


def written_words(record: Record) -> tuple[Written, ...]:
    """The words that a model wrote (or was given), each with its probability. Raises RecordError without an output."""
    if record.output is None:
        raise RecordError(later("This record has no output whose words could be read."))
    chances = {step.row: step.log_probability for step in record.steps}
    found = []
    for word in words(record.target_text or ""):
        rows = rows_of(record.output, word.start, word.end)
        found.append(Written(word.text, math.exp(sum(chances.get(row, 0.0) for row in rows))))
    return tuple(found)


def rows_of(tokens: Tokens, start: int, end: int) -> list[int]:
    """The tokens that cover some of these characters."""
    return [row for row, span in enumerate(tokens.spans) if span is not None and span[0] < end and span[1] > start]


def pairs(clean: Sequence[str], said: Sequence[str], lost: Collection[int] = ()) -> list[tuple[int | None, int | None]]:
    """Pairs of clean and written words, in order; None for a missing counterpart.

    The alignment of least cost (Needleman and Wunsch 1970); dropping or replacing a lost word costs less.
    """
    n, m = len(clean), len(said)
    drop = [_DROP_LOST if i in lost else _DROP for i in range(n)]
    change = [_CHANGE_LOST if i in lost else _CHANGE for i in range(n)]
    cost = np.zeros((n + 1, m + 1))
    cost[1:, 0], cost[0, 1:] = np.cumsum(drop), _ADD * np.arange(1, m + 1)
    step = np.zeros((n + 1, m + 1), np.int8)  # 0 pair, 1 drop the clean word, 2 add the written one
    step[1:, 0], step[0, 1:] = 1, 2
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            pair = cost[i - 1, j - 1] + (0.0 if clean[i - 1] == said[j - 1] else change[i - 1])
            options = (pair, cost[i - 1, j] + drop[i - 1], cost[i, j - 1] + _ADD)
            step[i, j] = min(range(3), key=options.__getitem__)
            cost[i, j] = options[step[i, j]]
    found: list[tuple[int | None, int | None]] = []
    i, j = n, m
    while i or j:
        move = int(step[i, j])
        i, j = i - (move != 2), j - (move != 1)
        found.append((i if move != 2 else None, j if move != 1 else None))
    return found[::-1]


def places(noised: Noised, written: Sequence[Written]) -> tuple[Place, ...]:
    """The parts of the three lines.

    A span and its mask share a column; a deleted word has nothing below it; moved words stay in the order of the
    corrupted text. Every clean, every corrupted and every written word is in exactly one part.
    """
    slots = _slots(noised)
    own = {i: slot for slot, (clean, _seen) in enumerate(slots) for i in clean}
    touched = {*noised.lost, *noised.moved}
    texts = [word.text for word in noised.clean]
    inside: dict[int, list[Said]] = {}
    between: dict[int, list[Said]] = {}  # after a slot; -1 before the first
    last: int | None = None
    for i, j in pairs(texts, [word.text for word in written], noised.lost):
        last = last if i is None else i
        if j is None:
            continue
        if i is not None:
            judged: Mark = "wrong" if texts[i] != written[j].text else "right" if i in touched else "kept"
            inside.setdefault(own[i], []).append(Said(written[j].text, written[j].probability, judged, i))
            continue
        slot, found = _home(slots, own, last, noised)
        target = inside if found else between
        target.setdefault(slot, []).append(Said(written[j].text, written[j].probability, "added"))
    result = [Place((), (), (one,)) for one in between.get(-1, ())]
    for number, (clean, seen) in enumerate(slots):
        result.append(Place(clean, seen, tuple(inside.get(number, ()))))
        result += [Place((), (), (one,)) for one in between.get(number, ())]
    return tuple(result)


_Slots = list[tuple[tuple[int, ...], tuple[int, ...]]]


def _slots(noised: Noised) -> _Slots:
    """Clean words and corrupted words that share a column."""
    if noised.moved:
        return [((k,), (k,)) for k in range(len(noised.clean))]
    slots: _Slots = []
    position = 0
    for number, word in enumerate(noised.words):
        if word.origin:
            slots += [((i,), ()) for i in range(position, word.origin[0])]  # deleted
            position = word.origin[-1] + 1
        slots.append((word.origin, (number,)))
    return slots + [((i,), ()) for i in range(position, len(noised.clean))]


def _home(slots: _Slots, own: dict[int, int], last: int | None, noised: Noised) -> tuple[int, bool]:
    """The slot of a written word without a counterpart, after the clean word ``last``: one where a word is missing
    (True), else between two slots (False)."""
    before = -1 if last is None else own[last]
    lost = set(noised.lost)

    def open_slot(slot: int) -> bool:
        return 0 <= slot < len(slots) and (not slots[slot][0] or bool(lost & set(slots[slot][0])))

    for slot in (before, before + 1):
        if open_slot(slot):
            return slot, True
    return before, False
