"""One attention map: rows attend to columns. All views of weights use this heatmap.

Positions are whole numbers, so repeated tokens stay apart and "1999" stays a word; labels are escaped; arrays travel
as typed arrays, never as lists. A map with more cells than a screen has pixels is max-pooled and says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from bartviz.analysis.masks import no_row
from bartviz.analysis.weight_scale import RANGES, Range, shares
from bartviz.analysis.word_colors import Numbers
from bartviz.arrays import Bools, Floats
from bartviz.drawing import axes, masked_cells, theme
from bartviz.drawing.cells import Part, closed, color_bar, frames, grid, pool
from bartviz.errors import SettingError, choices
from bartviz.language import _, later, mark
from bartviz.record.attention import Kind

SIDE = 360  # cells along a side; above, each drawn cell is the largest of 2 x 2, 3 x 3 ... weights
ROW, COLUMN = "<b>%{y}</b>", "<b>%{x}</b>"  # as plotly fills them in under the pointer
LINE = 72  # letters of a line of a title


class Says(NamedTuple):
    """The words for the numbers of a map: the title of the colour bar by range, and the hover text of a cell ({row},
    {column}, {weight}). Marked messages."""

    bars: Mapping[Range, str]
    hover: str


WEIGHT = Says(
    {
        "fixed": mark("weight, 0 to 1"),
        "row": mark("share of the row's largest weight"),
        "log": mark("weight, powers of ten"),
    },
    mark("{row} attends to {column}: {weight}"),
)


def attention_map(
    weights: Floats,
    query_labels: Sequence[str],
    key_labels: Sequence[str],
    *,
    kind: Kind,
    mask: Bools | None = None,
    range: Range = "fixed",  # noqa: A002
    dark: bool = False,
    rows: int | None = None,
    row: int | None = None,
    query_special: Bools | None = None,
    key_special: Bools | None = None,
    query_title: str | None = None,
    key_title: str | None = None,
    height: int | None = None,
    title: str | None = None,
    says: Says | None = None,
    colors: tuple[Numbers, Numbers] | None = None,
) -> go.Figure:
    """A heatmap of ``weights`` (Q, K) in 0..1, first row on top; labels (Q,) and (K,) are plain text, escaped here.

    ``mask`` (Q, K): True where a row may attend; other cells are hatched and have the hover text "masked". ``range``:
    "fixed" 0-1; "row" each row against its own largest weight; "log" powers of ten down to 0.0001; the colour bar says
    which. ``rows``: how many rows are drawn, the others stay empty; ``row`` frames one. ``query_special`` (Q,) and
    ``key_special`` (K,): labels shown small and grey. ``title`` is plain text above it, broken into lines. ``says``:
    the words for numbers that are not weights. ``colors``: the numbers of the words of rows and columns, whose colours
    stand beside the labels (``analysis.word_colors``). Along a side of more than 360 tokens each drawn cell is the
    largest of 2 x 2, 3 x 3 ... weights; the colour bar, the axes and the hover text say so.

    Raises SettingError where shapes, rows or range contradict each other.
    """
    weights = np.asarray(weights, np.float32)  # (Q, K)
    _check(weights, query_labels, key_labels, mask, range, rows, row)
    factor = -(-max(weights.shape) // SIDE)
    drawn, seen = weights[:rows], None if mask is None else mask[:rows]
    words = says or WEIGHT
    traces = [_weights(drawn, seen, factor, kind, range, words, dark, height), axes.anchor()]
    if seen is not None:
        said = closed(seen, factor, _("{row} may not attend to {column}: masked", row=ROW, column=COLUMN))
        traces = [said, *traces, masked_cells.hatching(~seen, dark)]
    layout = axes.token_axes(
        query_labels,
        key_labels,
        query_special=query_special,
        key_special=key_special,
        titles=(query_title or _(axes.ROW_TITLE), key_title or _(axes.COLUMN_TITLE)),
        pooled=factor,
        row=row,
        height=height,
        dark=dark,
    ) | {"shapes": [*frames(weights.shape, row, dark), *axes.word_bars(*(colors or ((), ())), dark)]}
    pixels = height or axes.height(query_labels, key_labels)
    if title is not None:
        layout, pixels = layout | _title(title, key_labels, dark), pixels + _title_room(title)
    return theme.build(traces, layout, dark=dark, height=pixels)


def in_percent(figure: go.Figure) -> go.Figure:
    """A new map of ``attention_map`` whose weights are written as shares in per cent."""
    (cells,) = figure.select_traces({"name": "weights"})
    cells.colorbar.update(title_text=_("attention weight"), ticktext=None, tickformat=".0%")
    cells.hovertemplate = cells.hovertemplate.replace(":.3f}", ":.1%}")
    return figure


def _title(title: str, key_labels: Sequence[str], dark: bool) -> Part:
    """A title above the labels of the columns, with its line breaks."""
    above = axes.label_room(key_labels) + 32
    note = {
        "text": theme.lines(title, LINE),
        "showarrow": False,
        "align": "left",
        "x": 0,
        "y": 1,
        "xref": "paper",
        "yref": "paper",
        "yshift": above,
        "xanchor": "left",
        "yanchor": "bottom",
        "font": {"size": 15, "color": theme.palette(dark).ink},
    }
    return {"annotations": [note], "margin": {"l": 8, "r": 8, "t": above + _title_room(title), "b": 8}}


def _title_room(title: str) -> int:
    return 22 * (1 + theme.lines(title, LINE).count("<br>")) + 10


def _check(
    weights: Floats,
    query_labels: Sequence[str],
    key_labels: Sequence[str],
    mask: Bools | None,
    span: str,
    rows: int | None,
    row: int | None,
) -> None:
    labels = (len(query_labels), len(key_labels))
    if weights.ndim != 2 or 0 in weights.shape or weights.shape != labels:
        message = mark("A map needs weights (rows, columns) and a label for each: {weights} and {labels}.")
        raise SettingError(later(message, weights=weights.shape, labels=labels))
    if mask is not None and mask.shape != weights.shape:
        message = mark("The mask has shape {mask}, but the weights have {weights}.")
        raise SettingError(later(message, mask=mask.shape, weights=weights.shape))
    if span not in RANGES:
        raise SettingError(later("The colour range is one of {choices}.", choices=choices(RANGES)))
    if rows is not None and not 1 <= rows <= len(weights):
        raise SettingError(later("A map of {count} rows can show 1 to {count} of them.", count=len(weights)))
    if row is not None and not 0 <= row < len(weights):
        raise no_row(row, len(weights))


def _weights(
    weights: Floats,
    mask: Bools | None,
    factor: int,
    kind: Kind,
    span: Range,
    says: Says,
    dark: bool,
    height: int | None,
) -> Part:
    """The heatmap itself, on the hidden axes, with gaps where everything is masked."""
    seen = weights if mask is None else np.where(mask, weights, np.float32(np.nan))
    values = pool(seen, factor)  # (Q / factor, K / factor)
    exact = {} if span == "fixed" else {"customdata": values}
    return {
        "type": "heatmap",
        "name": "weights",
        "z": shares(values, span),
        **grid(factor),
        **exact,
        "zmin": 0,
        "zmax": 1,
        "colorscale": theme.scale(kind, dark),
        "colorbar": _weight_bar(says, span, factor, dark, height),
        "hoverongaps": False,
        "hovertemplate": _hover(says, "customdata" if exact else "z", factor),
    }


def _hover(says: Says, value: str, factor: int) -> str:
    weight = at_most(f"%{{{value}:.3f}}", factor)
    return _(says.hover, row=ROW, column=COLUMN, weight=weight) + "<extra></extra>"


def at_most(number: str, factor: int) -> str:
    """The hover text of a cell that represents a block of cells."""
    return number if factor == 1 else _("at most {number}", number=number)


_TICKS: dict[Range, list[str]] = {
    "fixed": ["0", "0.25", "0.5", "0.75", "1"],
    "row": ["0%", "25%", "50%", "75%", "100%"],
    "log": ["≤ 0.0001", "0.001", "0.01", "0.1", "1"],
}


def _weight_bar(says: Says, span: Range, factor: int, dark: bool, height: int | None) -> Part:
    """The colour bar of weights, with its range, and whether cells represent blocks."""
    title = _(says.bars[span])
    if factor > 1:
        title = _("{title}; a cell is the largest of {factor} × {factor}", title=title, factor=factor)
    return color_bar(title, dark, height) | {"tickvals": [0.0, 0.25, 0.5, 0.75, 1.0], "ticktext": _TICKS[span]}
