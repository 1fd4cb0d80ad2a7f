"""Numbers of many heads on a sheet: a mosaic of layers and heads, points with their intervals, and axes.

Letters in shapes: L layers, H heads.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bartviz.arrays import Floats
from bartviz.drawing import theme
from bartviz.drawing.paper.grid import bar
from bartviz.drawing.paper.sheet import FAINT, GRID, INK, LEADING, MASKED, SMALL, Sheet, measure, number
from bartviz.language import _

LEFT = 16.0  # points: room for the numbers of layers
_WIDE, _HIGH, _LEAST = 36.0, 14.0, 17.0  # points: a cell at most, and the least width that a number is written in
_GAP = 0.6
_STRIP = 64.0  # points: how high intervals are drawn
_AROUND = 0.06  # of the range of an axis, on both sides of its values
_TICK = 20.0  # points: from one tick of an axis to the next, at least
_NAMES = ((3.0, 2.0, "start"), (-3.0, 2.0, "end"), (0.0, -3.5, "middle"), (0.0, 8.0, "middle"))  # around a point
NAME = 5.5  # points: the font size of the names of heads


@dataclass(frozen=True, eq=False)
class Mosaic:
    """Numbers (L, H) in the colours of a scale from ``low`` to ``high``; NaN is grey. ``marks`` (L, H): 1 has a dot, -1
    a ring, 0 nothing. ``digits`` are written where cells have room."""

    values: Floats
    scale: theme.Scale
    low: float
    high: float
    unit: str
    marks: np.ndarray | None = None
    digits: str = ".2f"
    title: str = ""
    missing: str = ""


def mosaic(sheet: Sheet, shown: Mosaic, start: float = 0, *, colors: bool = True) -> float:
    """Draw it from ``start`` on, with its colours below if ``colors``; returns where it ends."""
    layers, heads = shown.values.shape
    wide = min((sheet.width - LEFT) / heads, _WIDE)
    high = min(wide, _HIGH)
    y = sheet.paragraph(start, shown.title, fill=INK) + 1 if shown.title else start
    top = sheet.paragraph(y, _("layer ↓; head →")) + SMALL + 2
    size = min(SMALL, wide * 0.9)
    for head in range(heads):
        sheet.text(LEFT + (head + 0.5) * wide, top - 2, str(head), size, anchor="middle", fill=FAINT)
    written = wide >= _LEAST
    for layer in range(layers):
        middle = top + (layer + 0.5) * high
        sheet.text(LEFT - 4, middle + 0.35 * SMALL, str(layer), min(SMALL, high), anchor="end", fill=FAINT)
        for head in range(heads):
            _cell(sheet, shown, layer, head, LEFT + head * wide, top + layer * high, wide, high, written=written)
    end: float = top + layers * high
    sheet.rect(LEFT, top, heads * wide, layers * high, "none", stroke=GRID, stroke_width=0.4)
    if not colors:
        return end
    ends = _end(shown.low), _end(shown.high)
    closed = shown.missing if np.isnan(shown.values).any() else ""
    return bar(sheet, shown.scale, ends, shown.unit, end + 4, closed=closed)


def _cell(
    sheet: Sheet, shown: Mosaic, layer: int, head: int, x: float, y: float, wide: float, high: float, *, written: bool
) -> None:
    value = float(shown.values[layer, head])
    known = not math.isnan(value)
    share = (value - shown.low) / (shown.high - shown.low)
    color = theme.at(shown.scale, share) if known else MASKED
    more = {"data_value": f"{value:.4g}"} if known else {}
    sheet.rect(x, y, wide - _GAP, high - _GAP, color, data_head=f"{layer} {head}", **more)
    ink = theme.ink_on(color)
    mark = 0 if shown.marks is None else int(shown.marks[layer, head])
    if written and known:
        text = _written(value, shown.digits)
        size = min(NAME, high * 0.55)
        sheet.text(x + wide / 2 - 1.5 * (mark != 0), y + high / 2 + 0.35 * size, text, size, anchor="middle", fill=ink)
    if mark:
        radius = min(1.4, high / 5, wide / 5)
        at = (x + wide - _GAP - 1.8 * radius, y + high / 2) if written else (x + wide / 2, y + high / 2)
        inner = ink if mark > 0 else "none"
        said = f"{layer} {head} {mark}"
        sheet.circle(*at, radius, inner, stroke=ink, stroke_width=radius / 2.5, data_mark=said)


@dataclass(frozen=True)
class Axis:
    """A straight scale: ``low`` is drawn at ``start``, ``high`` at ``end``, in points."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def around(cls, values: Sequence[float] | Floats, start: float, end: float, *, zero: bool = False) -> Axis:
        """An axis for these values, with a margin, NaN left out; with ``zero`` from 0 on, where none is below."""
        known = np.asarray(values, np.float64)
        known = known[np.isfinite(known)]
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
        if high == low:
            low, high = low - 0.5, high + 0.5
        margin = (high - low) * _AROUND
        low = 0.0 if zero and low >= 0 else low - margin
        return cls(low, high + margin, start, end)

    def at(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Round values, as many as have room, and how they are written."""
        whole = (self.high - self.low) / max(abs(self.end - self.start) / _TICK, 2)
        power = 10.0 ** math.floor(math.log10(whole))
        step = next(power * one for one in (1, 2, 5, 10) if power * one >= whole * 0.999)
        digits = max(-math.floor(math.log10(step) + 1e-9), 0)
        for count in range(math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9) + 1):
            yield count * step, f"{count * step:.{digits}f}".replace("-", "−")


def across(sheet: Sheet, axis: Axis, y: float, title: str) -> float:
    """The axis as a line at ``y``, with its ticks and its title below; returns where it ends."""
    sheet.path(f"M{number(axis.start)} {number(y)}H{number(axis.end)}", stroke=GRID, stroke_width=0.5)
    for value, text in axis.ticks():
        x = axis.at(value)
        sheet.path(f"M{number(x)} {number(y)}v2", stroke=FAINT, stroke_width=0.4)
        sheet.text(x, y + 2 + SMALL, text, SMALL, anchor="middle", fill=FAINT)
    y += 3 + 2 * SMALL * LEADING
    sheet.text((axis.start + axis.end) / 2, y, title, SMALL, anchor="middle", fill=FAINT, room=axis.end)
    return y + 2


def upwards(sheet: Sheet, axis: Axis, x: float) -> None:
    """The axis as a line at ``x``, with its ticks on the left."""
    sheet.path(f"M{number(x)} {number(axis.start)}V{number(axis.end)}", stroke=GRID, stroke_width=0.5)
    for value, text in axis.ticks():
        y = axis.at(value)
        sheet.path(f"M{number(x)} {number(y)}h-2", stroke=FAINT, stroke_width=0.4)
        sheet.text(x - 3, y + 0.35 * SMALL, text, SMALL, anchor="end", fill=FAINT)


def tick_room(axis: Axis) -> float:
    """The width of the numbers of an axis that is upwards."""
    return max((measure(text, SMALL) for _value, text in axis.ticks()), default=0.0) + 4


@dataclass(frozen=True, eq=False)
class Strip:
    """A number of every head (L, H) with the ends of its interval, in a colour, and a dotted ``line`` to compare them
    with, if there is one. ``full`` (L, H): which points are filled; without it all."""

    values: Floats
    low: Floats
    high: Floats
    color: str
    label: str
    line: float | None = None
    full: np.ndarray | None = None


def strip(sheet: Sheet, shown: Strip, start: float) -> float:
    """Every head as a point with its interval, layer after layer; returns where it ends."""
    layers, heads = shown.values.shape
    y = sheet.paragraph(start, _("{label} ↑; heads by layer →", label=shown.label)) + 3
    numbers = [*shown.values.ravel(), *shown.low.ravel(), *shown.high.ravel()]
    axis = Axis.around([*numbers, *([] if shown.line is None else [shown.line])], y + _STRIP, y)
    left = max(tick_room(axis), LEFT)
    upwards(sheet, axis, left)
    wide = (sheet.width - left) / (layers * (heads + 1))  # the place of a head is free between two layers
    if shown.line is not None:
        dotted(sheet, left, axis.at(shown.line), sheet.width, axis.at(shown.line))
    for layer, head in np.ndindex(layers, heads):
        value, low, high = (float(part[layer, head]) for part in (shown.values, shown.low, shown.high))
        if math.isnan(value):
            continue
        x = left + (layer * (heads + 1) + head + 1) * wide
        if not math.isnan(low + high):
            line = f"M{number(x)} {number(axis.at(low))}V{number(axis.at(high))}"
            said = f"{low:.4g} {high:.4g}"
            width = min(0.7, wide / 2)
            sheet.path(line, stroke=shown.color, stroke_width=width, data_interval=f"{layer} {head} {said}")
        full = shown.full is None or bool(shown.full[layer, head])
        fill = shown.color if full else "#ffffff"
        sheet.circle(x, axis.at(value), min(1.3, wide / 2.2), fill, stroke=shown.color, stroke_width=0.4)
    for layer in range(layers):
        x = left + (layer * (heads + 1) + (heads + 1) / 2) * wide
        sheet.text(x, y + _STRIP + SMALL + 1, f"L{layer}", min(SMALL, wide * heads / 1.8), anchor="middle", fill=FAINT)
    return y + _STRIP + SMALL * LEADING + 2


def dotted(sheet: Sheet, x0: float, y0: float, x1: float, y1: float) -> None:
    """A dotted line."""
    steps = f"M{number(x0)} {number(y0)}L{number(x1)} {number(y1)}"
    sheet.path(steps, stroke=FAINT, stroke_width=0.6, stroke_dasharray="1.5 1.5", fill="none")


def names(sheet: Sheet, points: Sequence[tuple[float, float]], labels: Sequence[tuple[int, str]], right: float) -> None:
    """The names of some points, each beside its own where no other point or name is; without room it is left out.

    ``labels``: the index of a point and its name, the most important first; ``right``: where the drawing ends.
    """
    taken = [(x - 1.5, y - 1.5, x + 1.5, y + 1.5) for x, y in points]
    for index, text in labels:
        x, y = points[index]
        wide = measure(text, NAME)
        for dx, dy, anchor in _NAMES:
            start = x + dx - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
            box = (start, y + dy - NAME * 0.8, start + wide, y + dy + 0.5)
            others = taken[:index] + taken[index + 1 :]
            if start >= 0 and box[2] <= right and not any(_overlap(box, other) for other in others):
                sheet.text(x + dx, y + dy, text, NAME, anchor=anchor)
                taken.append(box)
                break


def _overlap(one: tuple[float, float, float, float], two: tuple[float, float, float, float]) -> bool:
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]


def _written(value: float, digits: str) -> str:
    """A number, without the sign of one that is rounded to 0."""
    text = f"{value:{digits}}"
    return text.replace("-", "−") if float(text) else text.lstrip("+-")


def _end(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")
