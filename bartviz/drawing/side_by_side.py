"""Several maps side by side in one figure, each with its own axes and title."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from bartviz.drawing import axes, theme
from bartviz.drawing.cells import Part

ABOVE = 92  # pixels over a map for the labels of its columns and what they are
LINE = 88  # letters of a line of titles over the whole width
WIDE = 1000  # pixels, about, of the whole figure
GAP, WIDEST = 0.09, 0.2  # share of the figure's width between two maps, for the labels of the right one
LETTER, NARROW = 8.5, 640  # pixels: a letter of a label, and a figure on a phone


def side_by_side(maps: Sequence[go.Figure], titles: Sequence[str], *, dark: bool = False) -> go.Figure:
    """One figure of maps that have the axes of ``axes.token_axes``, from left to right.

    The title of the rows is shown once, on the left; long titles are broken into lines.
    """
    gap = _gap(maps[1:])
    width = (1 - gap * (len(maps) - 1)) / len(maps)
    traces: list[Part] = []
    above = [theme.lines(title, LINE // len(maps)) for title in titles]
    top = ABOVE + 18 * (1 + max(title.count("<br>") for title in above))
    layout: Part = {"shapes": [], "annotations": [], "margin": {"l": 8, "r": 8, "t": top, "b": 8}}
    for place, (one, title) in enumerate(zip(maps, above, strict=True)):
        left = place * (width + gap)
        traces += [_moved(trace.to_plotly_json(), 2 * place, left) for trace in one.data]
        layout["shapes"] += [
            shape.to_plotly_json() | {"xref": _axis("x", 2 * place), "yref": _axis("y", 2 * place)}
            for shape in one.layout.shapes
        ]
        layout["annotations"].append(_title(title, left, dark))
        layout |= _axes(one, 2 * place, (left, min(left + width, 1.0)))
        if place and one.layout.yaxis2.title.text == maps[0].layout.yaxis2.title.text:
            layout[f"yaxis{2 * place + 2}"] |= {"title": {"text": ""}}
    high = max(one.layout.height - _unused(one, WIDE * width) for one in maps)
    return theme.build(traces, layout, dark=dark, height=int(high) + top - 80)


def _gap(maps: Sequence[go.Figure]) -> float:
    """The share of the width that the labels of rows need where it is least."""
    labels = [str(label) for one in maps for label in one.layout.yaxis2.ticktext or ()]
    return min(max(GAP, LETTER * max(map(len, labels), default=0) / NARROW), WIDEST)


def _unused(one: go.Figure, wide: float) -> float:
    """The pixels of a map's height that stay empty in ``wide`` pixels, where its cells are smaller."""
    rows, columns = (abs(axis.range[1] - axis.range[0]) for axis in (one.layout.yaxis, one.layout.xaxis))
    drawn, high = axes.map_size(int(rows), int(columns))
    return max(high * (1 - wide / drawn), 0.0)


def _title(title: str, left: float, dark: bool) -> Part:
    return {
        "text": title,
        "x": left,
        "y": 1,
        "xref": "paper",
        "yref": "paper",
        "yshift": ABOVE - 4,
        "align": "left",
        "showarrow": False,
        "xanchor": "left",
        "yanchor": "bottom",
        "font": {"size": 15, "color": theme.palette(dark).ink},
    }


def _axis(axis: str, before: int) -> str:
    """The name of an axis after n other pairs: x and x2 become x3 and x4."""
    number = int(axis[1:] or 1) + before
    return axis[0] + ("" if number == 1 else str(number))


def _moved(trace: Part, before: int, left: float) -> Part:
    """A trace on its new axes, its colour bar below its own map."""
    moved = trace | {f"{axis}axis": _axis(trace.get(f"{axis}axis", axis), before) for axis in "xy"}
    if "colorbar" in trace:
        moved["colorbar"] = trace["colorbar"] | {"x": left, "len": 160}
    return moved


def _axes(one: go.Figure, before: int, domain: tuple[float, float]) -> Part:
    """The four axes of a map under their new names, as wide as ``domain``."""
    moved: Part = {}
    for axis in ("x", "y", "x2", "y2"):
        layout = one.layout[f"{axis[0]}axis{axis[1:]}"].to_plotly_json()
        layout |= {
            link: _axis(layout[link], before) for link in ("matches", "overlaying", "scaleanchor") if link in layout
        }
        layout["anchor"] = _axis(("y" if axis[0] == "x" else "x") + axis[1:], before)
        if axis == "x":
            layout["domain"] = domain
        name = _axis(axis, before)
        moved[f"{name[0]}axis{name[1:]}"] = layout
    return moved
