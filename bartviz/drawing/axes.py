"""Token axes: whole numbers for positions, escaped text for labels.

There are two pairs of axes. The hidden pair (x, y) has every label in full, so that the hover text names row and
column; the visible pair (x2, y2) has the labels that fit: every second, fifth ... label of a long text, special tokens
grey.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from bartviz.analysis.word_colors import Numbers
from bartviz.arrays import Bools
from bartviz.drawing import theme
from bartviz.drawing.cells import BUTTONS, Part, unseen
from bartviz.language import _, mark

ROW_TITLE, COLUMN_TITLE = mark("query: attends from ↓"), mark("key: attended to →")
LONGEST = 18  # characters of a label on the axis; the pointer shows all of them
LABEL = 13.5  # pixels per label; where labels do not fit, every second, fifth ... is shown
STANDOFF, BAR = 8, (2, 5)  # pixels from the map to its labels, and of the colours of words between them
CELL, WIDTH, HEIGHT = 34, 640, 430  # pixels: a cell at most, the drawn map at most
SMALL, SIDE = 400, 210  # pixels: a figure is small below this height, and its map then at most so wide and high


def token_axes(
    query_labels: Sequence[str],
    key_labels: Sequence[str],
    *,
    query_special: Bools | None = None,
    key_special: Bools | None = None,
    titles: tuple[str, str] | None = None,
    pooled: int = 1,
    row: int | None = None,
    height: int | None = None,
    dark: bool = False,
) -> Part:
    """The layout of both pairs of axes, first row on top; cells are square unless the map would be very wide or tall.

    ``titles`` of rows and columns; by default they say that rows attend to columns.

    With ``pooled`` > 1 a cell is a block of that many tokens, and the hover text names them all. Plotly shows the
    visible pair only if a trace is on it: use ``anchor``. A figure of small ``height`` shows fewer labels; that of the
    chosen ``row`` is always among them.
    """
    queries, keys = len(query_labels), len(key_labels)
    hidden = {"showticklabels": False, "showgrid": False, "ticks": "", "constrain": "domain"}
    wide, high = map_size(queries, keys, small=height is not None and height < SMALL)
    down, right = titles or (_(ROW_TITLE), _(COLUMN_TITLE))
    down = turned(down)
    columns = shown(key_labels, key_special, wide, right, dark)
    rows = shown(query_labels, query_special, high, down, dark, always=row)
    return {
        "xaxis": _full(key_labels, pooled) | hidden | {"range": [-0.5, keys - 0.5], "constraintoward": "left"},
        "yaxis": _full(query_labels, pooled)
        | hidden
        | {
            "range": [queries - 0.5, -0.5],
            "constraintoward": "top",
            "scaleanchor": "x",
            "scaleratio": cell_ratio(queries, keys),
        },
        "xaxis2": columns | {"matches": "x", "overlaying": "x", "side": "top", "tickangle": _angle(keys)},
        "yaxis2": rows | {"matches": "y", "overlaying": "y", "side": "left"},
        "modebar": BUTTONS,
    }


def word_bars(rows: Numbers, columns: Numbers, dark: bool) -> list[Part]:
    """The colours of words between a map and its labels, each through all of its word's pieces; none where labels are
    left out. The numbers are those of ``analysis.word_colors``."""
    near, far = BAR
    beside = {"xref": "x domain", "xsizemode": "pixel", "xanchor": 0, "x0": -far, "x1": -near, "yref": "y"}
    above = {"yref": "y domain", "ysizemode": "pixel", "yanchor": 1, "y0": near, "y1": far, "xref": "x"}
    found: list[Part] = []
    for numbers, place, along, room in ((rows, beside, "y", HEIGHT), (columns, above, "x", WIDTH)):
        if len(numbers) * LABEL > room:
            continue
        for number, run in groupby(range(len(numbers)), numbers.__getitem__):
            at = [*run]
            if number >= 0:
                ends = {f"{along}0": at[0] - 0.46, f"{along}1": at[-1] + 0.46}
                found.append(
                    {"type": "rect", "fillcolor": theme.word_color(number, dark), "line": {"width": 0}} | place | ends
                )
    return found


def bars_below(columns: Numbers, dark: bool) -> list[Part]:
    """The same below the columns of a chart of bars, between these and their labels."""
    near, far = BAR
    place = {"yref": "paper", "ysizemode": "pixel", "yanchor": 0, "y0": -far, "y1": -near, "xref": "x"}
    return [
        {"type": "rect", "fillcolor": theme.word_color(number, dark), "line": {"width": 0}}
        | place
        | {"x0": at - 0.4, "x1": at + 0.4}
        for at, number in enumerate(columns)
        if number >= 0
    ]


def anchor() -> Part:
    """An invisible point on the visible axes."""
    return unseen([0], [0], name="labels", size=1, xaxis="x2", yaxis="y2", hoverinfo="skip")


def cell_ratio(queries: int, keys: int) -> float:
    """Height of a cell over its width: 1 (square), unless the map would be wider than 2.5 : 1 or taller than 1.6."""
    wide, tall = keys / queries, queries / keys
    return wide / 2.5 if wide > 2.5 else 1.6 / tall if tall > 1.6 else 1.0


def height(query_labels: Sequence[str], key_labels: Sequence[str]) -> int:
    """Pixels of a figure whose map, labels and colour bar fit a laptop's screen."""
    high = map_size(len(query_labels), len(key_labels))[1]
    return int(max(high, 60) + label_room(key_labels) + 110)


def fitting(pixels: int, query_labels: Sequence[str], key_labels: Sequence[str]) -> int:
    """Height of a figure 500 pixels wide: ``pixels``, or less if the map is so wide that there would be a gap below."""
    queries, keys = len(query_labels), len(key_labels)
    beside = max(len(short(label)) for label in query_labels) * 7.5 + 40
    high = (500 - beside) / keys * cell_ratio(queries, keys) * queries
    return min(pixels, int(high + label_room(key_labels) + 130))


def map_size(queries: int, keys: int, *, small: bool = False) -> tuple[float, float]:
    """The approximate width and height of a map in pixels."""
    widest, highest = (SIDE, SIDE) if small else (WIDTH, HEIGHT)
    wide = min(CELL * keys, widest)
    high = wide / keys * cell_ratio(queries, keys) * queries
    shrunk = min(1.0, highest / high)
    return wide * shrunk, high * shrunk


def label_room(key_labels: Sequence[str]) -> float:
    """The height of the column labels above the map, in pixels."""
    longest = max(len(short(label)) for label in key_labels)
    return longest * (7.5 if _angle(len(key_labels)) == -90 else 5.5) + 10


def overhang(key_labels: Sequence[str]) -> float:
    """Pixels by which the last column label reaches beyond the map: plotly leaves out a label that has no room."""
    return 8.0 if _angle(len(key_labels)) == -90 else len(short(key_labels[-1])) * 5.5 + 8


def every(labels: int, fit: int) -> int:
    """The step between the labels of an axis: 1, 2, 5, 10, 20 ..., so that at most ``fit`` are shown."""
    return next(step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, labels) if labels <= step * fit)


def turned(title: str) -> str:
    """The title of rows as it is drawn, turned by 90°, so that its arrow still points where the rows go."""
    if title.endswith(" ↓"):
        return f"← {title[:-2]}"
    return f"{title[:-2]} →" if title.endswith(" ↑") else title


def short(label: str) -> str:
    """The label as shown on the axis, cut with an ellipsis; the hover text has all of it."""
    return label if len(label) <= LONGEST else label[: LONGEST - 1] + "…"


def _angle(keys: int) -> int:
    return -90 if keys > 12 else -45


def _full(labels: Sequence[str], pooled: int) -> dict[str, object]:
    """Every label at its position (or the labels of a block at its middle), escaped."""
    starts = range(0, len(labels), pooled)
    return {
        "tickmode": "array",
        "tickvals": np.array(starts, np.float32) + np.float32((pooled - 1) / 2),
        "ticktext": [theme.escape(" · ".join(labels[start : start + pooled])) for start in starts],
    }


def shown(
    labels: Sequence[str], special: Bools | None, pixels: float, title: str, dark: bool, *, always: int | None = None
) -> dict[str, object]:
    """The labels that fit; the title names the step between them. That of ``always`` replaces those it would cover."""
    step = every(len(labels), max(int(pixels / LABEL), 1))
    colors = theme.palette(dark)
    positions = list(range(0, len(labels), step))
    if always is not None and 0 <= always < len(labels) and always not in positions:
        near = LABEL * len(labels) / pixels  # tokens that a label covers
        positions = sorted([always, *(other for other in positions if abs(other - always) >= near)])
    texts = []
    for position in positions:
        text = theme.escape(short(labels[position]))
        grey = special is not None and special[position]
        texts.append(f'<span style="color:{colors.faint};font-size:0.8em">{text}</span>' if grey else text)
    if step > 1:
        title = (
            _("{title} · every 2nd", title=title)
            if step == 2
            else _("{title} · every {step}th", title=title, step=step)
        )
    return {
        "tickmode": "array",
        "tickvals": np.array(positions, np.int16),
        "ticktext": texts,
        "tickfont": {"family": theme.MONO, "size": 13 if len(labels) * 1.7 * LABEL <= pixels else 11},
        "title": {"text": title, "font": {"size": 12, "color": colors.faint}, "standoff": 6},
        "showgrid": False,
        "zeroline": False,
        "ticks": "outside" if step > 1 else "",
        "tickcolor": colors.grid,
        "ticklabelstandoff": STANDOFF,
    }
