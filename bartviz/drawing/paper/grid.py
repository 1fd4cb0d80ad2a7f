"""A map on a sheet: cells in the colours of weights, the tokens of both axes, and what the colours mean.

Letters in shapes: Q rows, K columns.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from bartviz.analysis.weight_scale import RANGES, Range, shares
from bartviz.arrays import Bools, Floats
from bartviz.drawing import axes, theme
from bartviz.drawing.arguments import expect_word
from bartviz.drawing.colors import WORDS
from bartviz.drawing.maps import WEIGHT
from bartviz.drawing.paper.sheet import FAINT, GRID, HATCH, INK, LEADING, MASKED, SMALL, Sheet, measure, number
from bartviz.errors import BudgetError
from bartviz.language import _, later
from bartviz.record.attention import Kind

MOST = 128
"""The most tokens of an axis: more would be cells of less than two points in a column."""
_LABEL, _LEAST = 7.0, 4.5  # points: the font size of tokens, and where every second, fifth ... is named instead
_CELL = 18.0  # points: a cell at most
_ENDS: dict[Range, tuple[str, str]] = {"fixed": ("0", "1"), "row": ("0%", "100%"), "log": ("≤ 0.0001", "1")}
_STEPS = 32  # of the colour bar
_STRIP = 2.0  # points: beside the rows and columns of a chat


@dataclass(frozen=True)
class Reach:
    """The colours of numbers that are not weights: from 0, or if they are ``signed`` from -``high``, to ``high``.
    ``closed``: what a hatched cell is."""

    high: float
    signed: bool
    unit: str
    closed: str


@dataclass(frozen=True, eq=False)
class Cells:
    """The contents of a map: weights and mask (Q, K), labels, which of them are special, and the titles of both axes.
    ``marks``: (row, column) of cells with a dot. ``reach``: for numbers that are not weights. ``roles``: of a chat,
    whose message each row and each column belongs to."""

    weights: Floats
    mask: Bools
    rows: Sequence[str]
    columns: Sequence[str]
    row_special: Bools
    column_special: Bools
    kind: Kind
    titles: tuple[str, str]
    span: Range = "fixed"
    marks: Collection[tuple[int, int]] = ()
    reach: Reach | None = None
    roles: tuple[Sequence[str | None], Sequence[str | None]] | None = None

    @property
    def scale(self) -> theme.Scale:
        signed = self.reach is not None and self.reach.signed
        return theme.difference_scale() if signed else theme.scale(self.kind)

    @property
    def places(self) -> Floats:
        """(Q, K) in 0..1, where each cell is on the scale; NaN where it is masked."""
        seen = np.where(self.mask, self.weights, np.float32(np.nan))
        if self.reach is None:
            return shares(seen, self.span)
        parts = seen / self.reach.high
        return np.asarray(parts / 2 + 0.5 if self.reach.signed else parts, np.float32)


def grid(sheet: Sheet, cells: Cells, start: float = 0) -> float:
    """Draw the map from ``start`` on; returns where it ends. Raises SettingError, BudgetError for more than 128
    tokens."""
    expect_word(cells.span, RANGES, "The colour range")
    down, across = cells.weights.shape
    if max(down, across) > MOST:
        raise BudgetError(
            later("A picture has at most {most} rows and columns, not {count}: merge pieces into words, or use a "
                  "shorter text.", most=MOST, count=max(down, across))
        )  # fmt: skip
    beside = 0.0 if cells.roles is None else 2 * _STRIP
    left = min(max(measure(label, _LABEL, mono=True) for label in cells.rows), 0.3 * sheet.width) + 3 + beside
    above = min(max(measure(label, _LABEL, mono=True) for label in cells.columns), 72.0)
    wide = min((sheet.width - left - 1) / across, _CELL)
    high = wide * axes.cell_ratio(down, across)
    steps = tuple(_every(count, size) for count, size in ((down, high), (across, wide)))
    y = sheet.paragraph(start, "; ".join(map(_stepped, cells.titles, steps))) + 2
    top = y + above + 2 + beside
    for row in range(0, down, steps[0]):
        size, middle = _font(high * steps[0]), top + (row + 0.5) * high
        fill = FAINT if cells.row_special[row] else INK
        sheet.text(
            *(left - beside - 2, middle + 0.35 * size),
            *(cells.rows[row], size),
            mono=True,
            anchor="end",
            fill=fill,
            room=left - beside - 3,
        )
    for column in range(0, across, steps[1]):
        size, middle = _font(wide * steps[1]), left + (column + 0.5) * wide
        fill = FAINT if cells.column_special[column] else INK
        sheet.text(
            *(middle + 0.35 * size, top - beside - 2),
            *(cells.columns[column], size),
            mono=True,
            turn=-90,
            fill=fill,
            room=above,
        )
    _weights(sheet, cells, left, top, wide, high)
    y = top + down * high
    if cells.roles is not None:
        y = _roles(sheet, cells.roles, (left, top), (wide, high), y)
    for row, column in sorted(cells.marks):
        radius = max(min(wide, high) / 5, 0.6)
        middle = left + (column + 0.5) * wide, top + (row + 0.5) * high
        sheet.circle(*middle, radius, INK, stroke="#ffffff", stroke_width=radius / 3, data_link=f"{row} {column}")
    hatched = not cells.mask.all()
    if cells.reach is None:
        return color_bar(sheet, cells.kind, cells.span, y + 5, masked=hatched)
    high = f"{cells.reach.high:.2g}"
    ends = (f"−{high}", f"+{high}") if cells.reach.signed else ("0", high)
    return bar(sheet, cells.scale, ends, cells.reach.unit, y + 5, closed=cells.reach.closed if hatched else "")


def _roles(
    sheet: Sheet,
    roles: tuple[Sequence[str | None], Sequence[str | None]],
    corner: tuple[float, float],
    cell: tuple[float, float],
    y: float,
) -> float:
    """Strips beside the rows and above the columns, in a colour for each role, and below the map the names of the
    roles; returns where these end."""
    (left, top), (wide, high) = corner, cell
    names = list(dict.fromkeys(role for role in roles[1] if role is not None))
    names += [role for role in dict.fromkeys(roles[0]) if role is not None and role not in names]
    fills = {role: WORDS[number % len(WORDS)][0] for number, role in enumerate(names)}
    sheet.begin(class_="roles", shape_rendering="crispEdges")
    for row, role in enumerate(roles[0]):
        if role is not None:
            sheet.rect(left - 1.5 * _STRIP, top + row * high, _STRIP, high, fills[role], data_role=role)
    for column, role in enumerate(roles[1]):
        if role is not None:
            sheet.rect(left + column * wide, top - 1.5 * _STRIP, wide, _STRIP, fills[role], data_role=role)
    sheet.end()
    x, y = 0.0, y + 4
    for role, fill in fills.items():
        if x + SMALL + 2 + measure(role, SMALL) > sheet.width:
            x, y = 0.0, y + SMALL * LEADING
        sheet.rect(x, y + 1, SMALL - 1, SMALL - 1, fill)
        sheet.text(x + SMALL + 1, y + SMALL - 1, role, fill=FAINT)
        x += SMALL + 9 + measure(role, SMALL)
    return y + SMALL * LEADING - 2


def _weights(sheet: Sheet, cells: Cells, left: float, top: float, wide: float, high: float) -> None:
    scale, places = cells.scale, cells.places
    gap = 0.3 if min(wide, high) > 4 else 0.0  # small cells touch
    sheet.rect(
        left, top, wide * cells.weights.shape[1], high * len(cells.weights), "none", stroke=GRID, stroke_width=0.5
    )
    sheet.begin(class_="weights", shape_rendering="crispEdges")
    hatch = []
    for row, column in np.ndindex(*cells.weights.shape):
        x, y = left + column * wide, top + row * high
        if not cells.mask[row, column]:
            hatch.append(f"M{number(x)} {number(y + high)}L{number(x + wide)} {number(y)}")
            sheet.rect(x, y, wide - gap, high - gap, MASKED, data_cell=f"{row} {column}")
            continue
        color = theme.at(scale, float(places[row, column]))
        weight = f"{cells.weights[row, column]:.3f}"
        sheet.rect(x, y, wide - gap, high - gap, color, data_cell=f"{row} {column}", data_weight=weight)
    sheet.end()
    if hatch:
        sheet.path("".join(hatch), stroke=HATCH, stroke_width=0.4, fill="none")


def color_bar(sheet: Sheet, kind: Kind, span: Range, y: float, *, masked: bool = False) -> float:
    """One line: the colours from 0 to 1, what they mean, and how a masked cell looks; returns where it ends."""
    return bar(sheet, theme.scale(kind), _ENDS[span], _(WEIGHT.bars[span]), y, closed=_("masked") if masked else "")


def bar(sheet: Sheet, scale: theme.Scale, ends: tuple[str, str], unit: str, y: float, *, closed: str) -> float:
    low, high = ends
    baseline, x = y + SMALL, measure(low, SMALL) + 2
    sheet.text(0, baseline, low, fill=FAINT)
    step = 60 / _STEPS
    for place in range(_STEPS):
        color = theme.at(scale, (place + 0.5) / _STEPS)  # each reaches to the end, so that no gaps are seen
        sheet.rect(x + place * step, y + 1, 60 - place * step, SMALL - 1, color)
    sheet.rect(x, y + 1, 60, SMALL - 1, "none", stroke=GRID, stroke_width=0.4)
    x += 62
    title = f"{high}   {unit}"
    sheet.text(x, baseline, title, fill=FAINT)
    if closed:
        x += measure(title, SMALL) + 8
        if x + 12 + measure(closed, SMALL) > sheet.width:
            x, y, baseline = 0, y + SMALL * LEADING + 1, baseline + SMALL * LEADING + 1
        sheet.rect(x, y + 1, 8, SMALL - 1, MASKED)
        sheet.path(f"M{number(x)} {number(y + SMALL)}L{number(x + 8)} {number(y + 1)}", stroke=HATCH, stroke_width=0.4)
        sheet.text(x + 10, baseline, closed, fill=FAINT)
    return y + SMALL * LEADING


def _every(count: int, size: float) -> int:
    """Which labels are named, all or every second, fifth ...: those that fit cells of ``size`` points."""
    return axes.every(count, max(int(count * size / (_LEAST * 1.05)), 1))


def _font(room: float) -> float:
    return min(_LABEL, room * 0.95)


def _stepped(title: str, step: int) -> str:
    if step == 1:
        return title
    return _("{title} · every 2nd", title=title) if step == 2 else _("{title} · every {step}th", title=title, step=step)
