"""How large the areas of a treemap must be for its fields, the areas without others in them, to be as large as their
counts.

Plotly takes the line with the name of an area from the area itself, so of two equal counts that below more names would
be smaller. Here an area gets what its names take in addition. Areas are beside each other in one level and below each
other in the next; all lengths are heights, as widths do not depend on names.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_ROUNDS = 20  # of heights that depend on what is lost in them; they settle after a few
_ANY = 1e6  # a height in which no name is missed


@dataclass(frozen=True, slots=True)
class Tree:
    """An area with its count and the areas in it; a field has none."""

    id: str
    count: int
    parts: tuple[Tree, ...] = ()


@dataclass(frozen=True, slots=True)
class Field:
    """A field as it is drawn: its share of the whole for each of its count, and its height."""

    share: float
    high: float


def tree(areas: Iterable[tuple[str, str, int]], top: str, depth: int) -> Tree:
    """The area ``top`` with ``depth`` levels; ``areas`` are id, parent and count."""
    parts: dict[str, list[tuple[str, int]]] = {}
    count = 0
    for area, parent, held in areas:
        parts.setdefault(parent, []).append((area, held))
        count = held if area == top else count

    def grown(area: str, held: int, levels: int) -> Tree:
        inside = parts.get(area, []) if levels > 1 else []
        return Tree(area, held, tuple(grown(*part, levels - 1) for part in inside))

    return grown(top, count, depth)


def lost(area: Tree, high: float, name: float, *, rows: bool) -> float:
    """How much of its height an area of that height loses to lines with names, each ``name`` high; infinite where they
    have no room. ``rows``: its parts are below each other."""
    if not area.parts:
        return 0.0
    if high == math.inf:
        return math.inf
    inside = high - name
    if rows:
        heights = _heights(area, inside, name)
        return name + sum(lost(part, one, name, rows=False) for part, one in zip(area.parts, heights, strict=True))
    room = [inside - lost(part, inside, name, rows=True) for part in area.parts]
    if min(room) <= 0:
        return math.inf
    return high - area.count / sum(part.count / left for part, left in zip(area.parts, room, strict=True))


def side(area: Tree, high: float, name: float, fields: float, *, rows: bool) -> float:
    """The side of a picture whose fields take up the share ``fields`` of one with the side 1 and that height; infinite
    if it is larger than that."""

    def filled(length: float) -> float:
        left = length * high - lost(area, length * high, name, rows=rows)
        return length * left / high if left > 0 else 0.0

    if filled(1.0) < fields:
        return math.inf
    low, most = 0.0, 1.0
    for _step in range(50):
        middle = (low + most) / 2
        low, most = (middle, most) if filled(middle) < fields else (low, middle)
    return most


def fields(area: Tree, high: float, name: float, *, rows: bool) -> Mapping[str, Field]:
    """Every field by its id."""
    found: dict[str, Field] = {}

    def put(area: Tree, high: float, share: float, rows: bool) -> None:
        if not area.parts:
            found[area.id] = Field(share / area.count, high)
            return
        inside = high - name
        if rows:
            sizes = _heights(area, inside, name)
        else:
            sizes = [part.count / (inside - lost(part, inside, name, rows=True)) for part in area.parts]
        for part, size in zip(area.parts, sizes, strict=True):
            put(part, size if rows else inside, share * size / sum(sizes), not rows)

    put(area, high, 1.0, rows)
    return found


def _heights(area: Tree, inside: float, name: float) -> list[float]:
    """The heights of parts below each other: what each loses, and its share of the rest; infinite without room."""
    heights = [_ANY for _part in area.parts]
    for _round in range(_ROUNDS):
        gone = [lost(part, high, name, rows=False) for part, high in zip(area.parts, heights, strict=True)]
        left = max(inside - sum(gone), 0.0)
        before = heights
        heights = [away + left * part.count / area.count for part, away in zip(area.parts, gone, strict=True)]
        if heights == before:
            break
    return heights
