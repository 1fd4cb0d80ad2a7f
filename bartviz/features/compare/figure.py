"""All heads as points over any two measures, and one measure as a matrix of layers and heads."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from bartviz.analysis import head_view
from bartviz.analysis.compare import Field, defaults, field
from bartviz.analysis.distance import distances
from bartviz.analysis.head_names import THRESHOLD, names, sentence
from bartviz.analysis.measures import Measured, counted, measures
from bartviz.analysis.weight_scale import Range
from bartviz.arrays import Bools, Floats, Ints
from bartviz.drawing import axes, theme
from bartviz.drawing.arguments import ATTENTION, expect
from bartviz.drawing.cells import BUTTONS, Part, box, color_bar, unseen
from bartviz.errors import SettingError
from bartviz.features.compare.figure_contrast import pair, pin_color
from bartviz.features.compare.numbers_similar import Likeness
from bartviz.language import _
from bartviz.record.attention import Attention, HeadName
from bartviz.text.tokens import Tokens

LABEL = (0.13, 0.1)  # room of a label, as shares of the width and height of the scatter on a phone
RINGED = 2  # the rank of pinned heads among labels; that of heads with a name is 1
WRITTEN = 16  # heads across: up to this many have their number written in the matrix
WIDE, MIDDLE = 8, 12  # up to the first number in full; up to the second in 11-pixel type, then smaller
Pins = Mapping[str, tuple[int, int]]


def compare(
    attention: Attention,
    *,
    x: str | None = None,
    y: str | None = None,
    color: str | None = None,
    a: HeadName | None = None,
    b: HeadName | None = None,
    other: Attention | None = None,
    query: Tokens | None = None,
    words: bool = False,
    measured: Measured | None = None,
    range: Range = "fixed",  # noqa: A002
    dark: bool = False,
) -> go.Figure:
    """All heads of one kind: left as points over two measures, right one measure as layers x heads.

    ``x``, ``y`` and ``color`` are names of ``analysis.head_measures.MEASURES``, or "to_a": the Jensen-Shannon distance
    from head ``a``, such as "cross L2H5" or (2, 5), which is marked. With ``a`` and ``b`` it is the two heads side by
    side with their signed difference, B minus A; B may be of another attention (``other``) over the same tokens, and
    ``words`` merges pieces. ``query`` replaces the labels of rows, and says which rows count: ``record.rows("cross")``
    are those of the page. ``measured`` has the measures to draw; by default they are computed from the attention alone.
    ``analysis.measures.of_record(record, kind)`` also uses the texts and their ends, and gives the numbers of the page.
    Raises SettingError for a measure or head not there.

    >>> figure = bartviz.figures.compare(record.encoder, x="distance", y="previous")
    """
    expect(attention, Attention, ATTENTION)
    if a is None and b is not None:
        raise SettingError("B is compared with A: name a as well.")
    if b is None and (other is not None or words):
        raise SettingError("other and words are for comparing two heads: name a and b as well.")
    if b is not None and any(name is not None for name in (x, y, color, measured)):
        raise SettingError("x, y, color and measured are for all heads: leave them out, or leave b out.")
    at = None if a is None else attention.place(a)
    if at is not None and b is not None:
        first = head_view.view(attention, *at, query=query, words=words)
        second = head_view.view(
            other or attention, *(other or attention).place(b), query=query if other is None else None, words=words
        )
        return pair(first, second, range=range, dark=dark)
    measured = measured or measures(attention, query=query)
    start = defaults(attention.kind)
    to_a = distances(attention, *at, rows=counted(attention, query)) if at is not None else None
    across, up, shade = (
        field(measured, name or default, to_a=to_a) for name, default in zip((x, y, color), start, strict=True)
    )
    return together(measured, across, up, shade, pins={"A": at} if at is not None else {}, dark=dark)


def together(
    measured: Measured, x: Field, y: Field, shade: Field, *, pins: Pins | None = None, dark: bool = False
) -> go.Figure:
    """The scatter and, to its right, the matrix."""
    return _together(scatter(measured, x, y, pins=pins, dark=dark), matrix(measured, shade, pins=pins, dark=dark), dark)


def scatter(
    measured: Measured,
    x: Field,
    y: Field,
    *,
    pins: Pins | None = None,
    kept: Bools | None = None,
    threshold: float = THRESHOLD,
    dark: bool = False,
    height: int = 420,
) -> go.Figure:
    """Every head as a point, darker (in the dark lighter) the later its layer; dotted lines are even attention.

    ``pins``: letter -> (layer, head), marked with a ring. Heads not in ``kept`` (L, H) are faint. Points are counted
    layer by layer, as plotly reports them when they are clicked.
    """
    layers, count = measured.shape
    strong = np.full(layers * count, 1.0) if kept is None else np.where(kept.ravel(), 1.0, 0.15)
    layer, head = np.divmod(np.arange(layers * count), count)
    given = names(measured, threshold=threshold)
    places, pinned = list(zip(layer.tolist(), head.tolist(), strict=True)), set((pins or {}).values())
    called = [sentence(given.get(place)) for place in places]
    apart = _labelled(x, y, np.array([RINGED * (place in pinned) + (place in given) for place in places]))
    shown = [f"L{one}H{two}" if free else "" for one, two, free in zip(layer, head, apart, strict=True)]
    colors = theme.palette(dark)
    points: Part = {
        "type": "scatter",
        "mode": "markers+text",
        "name": "heads",
        "x": x.values.ravel(),
        "y": y.values.ravel(),
        "text": shown,
        "textposition": "top center",
        "textfont": {"size": 11, "color": colors.faint},
        "customdata": [[f"L{one}H{two}", name] for one, two, name in zip(layer, head, called, strict=True)],
        "marker": {
            "size": 11,
            "color": layer,
            "cmin": -max(layers - 1, 1) * 0.6,
            "cmax": max(layers - 1, 1),
            "opacity": strong,
            "colorscale": theme.scale(measured.kind, dark),
            "line": {"width": 1, "color": colors.line},
        },
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 0.9}},
        "hovertemplate": f"<b>%{{customdata[0]}}</b><br>{x.title} %{{x:.3f}}<br>{y.title} %{{y:.3f}}"
        "<br>%{customdata[1]}<extra></extra>",
        "showlegend": False,
    }
    traces = [points, *_rings(pins or {}, x, y, dark)]
    layout = {
        "xaxis": {"title": _title(f"{_axis(x)} →", dark)},
        "yaxis": {"title": _title(axes.turned(f"{_axis(y)} ↑"), dark)},
        "shapes": [*_even(x, "x", dark), *_even(y, "y", dark)],
        "hovermode": "closest",
        "modebar": BUTTONS,
        "dragmode": "zoom",
        "margin": {"l": 8, "r": 16, "t": 24, "b": 8},
    }
    return theme.build(traces, layout, dark=dark, height=height)


def alike(
    measured: Measured,
    found: Likeness,
    *,
    pins: Pins | None = None,
    threshold: float = THRESHOLD,
    dark: bool = False,
    height: int = 460,
) -> go.Figure:
    """Every head in a plane in which similar heads are close together; both axes have the same scale."""
    fields = (
        Field(f"place_{place}", "", "", found.places[:, place].reshape(found.shape), None, np.nan) for place in (0, 1)
    )
    figure = scatter(measured, *fields, pins=pins, threshold=threshold, dark=dark, height=height)
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        axis.title.text, axis.showticklabels = "", False
    figure.layout.yaxis.update(scaleanchor="x", scaleratio=1)
    figure.data[0].hovertemplate = "<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>"
    return figure


def _labelled(x: Field, y: Field, rank: Ints) -> Bools:
    """(L * H,) the points whose label, above them, covers no other label and no other point.

    The points of the highest ``rank`` (L * H,) are tried first, and of these the outermost.
    """
    place = np.stack([_share(x), _share(y)], axis=1)  # (L * H, 2) in 0..1
    outside = np.nan_to_num(np.abs(place - 0.5).max(axis=1))
    wide, high = LABEL
    free = np.zeros(len(place), np.bool_)
    for point in np.lexsort((-outside, -rank)):
        away = place - place[point]  # (L * H, 2)
        ringed = (rank[free] >= RINGED) & (rank[point] < RINGED)  # the letter of a ring needs room, too
        labels = (np.abs(away[free]) < np.where(ringed[:, None], 2, 1) * np.array(LABEL)).all(axis=1)
        points = (np.abs(away[:, 0]) < wide / 2) & (away[:, 1] > high / 5) & (away[:, 1] < high)
        free[point] = np.isfinite(place[point]).all() and not labels.any() and not points.any()
    return free


def _share(of: Field) -> Floats:
    """(L * H,) the position of each head between the smallest and the largest value."""
    low, high = of.bounds
    return np.asarray((of.values.ravel() - low) / max(high - low, 1e-6), np.float32)


def _title(text: str, dark: bool) -> Part:
    return {"text": text, "font": {"size": 13, "color": theme.palette(dark).faint}, "standoff": 6}


def _axis(of: Field) -> str:
    """The name of an axis; evenness, which a newcomer meets first, in words without a formula."""
    return _("how widely it looks (0 to 1)") if of.name == "evenness" else of.label


def _rings(pins: Pins, x: Field, y: Field, dark: bool) -> list[Part]:
    """The pinned heads, each with its letter on the side away from the other, so that near ones stay readable."""
    by_place = sorted(pins, key=lambda letter: (float(x.values[pins[letter]]), letter))  # from left to right
    sides = ["middle left", *["middle right"] * (len(by_place) - 1)]
    return [_ring(letter, pins[letter], side, x, y, dark) for letter, side in zip(by_place, sides, strict=False)]


def _ring(letter: str, place: tuple[int, int], side: str, x: Field, y: Field, dark: bool) -> Part:
    """A pinned head: a ring in the pin's colour with its letter on that side."""
    color = pin_color(letter, dark)
    return {
        "type": "scatter",
        "mode": "markers+text",
        "name": letter,
        "x": [x.values[place]],
        "y": [y.values[place]],
        "text": [f"<b>{letter}</b>"],
        "textposition": side,
        "textfont": {"size": 15, "color": theme.palette(dark).ink},
        "marker": {"size": 19, "symbol": "circle-open", "line": {"width": 3}, "color": color},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _even(of: Field, axis: str, dark: bool) -> list[Part]:
    """A dotted line at the value of even attention, if that is within the points."""
    if not of.has_even:
        return []
    other = "y" if axis == "x" else "x"
    return [
        {
            "type": "line",
            f"{axis}0": of.even,
            f"{axis}1": of.even,
            f"{other}0": 0,
            f"{other}1": 1,
            f"{other}ref": f"{other} domain",
            "layer": "below",
            "line": {"color": theme.palette(dark).faint, "width": 1, "dash": "dot"},
        }
    ]


def matrix(
    measured: Measured, shown: Field, *, pins: Pins | None = None, dark: bool = False, height: int = 420
) -> go.Figure:
    """One measure as layers down and heads across; grey where it is undefined; ``pins`` are framed.

    Points under the pointer are counted layer by layer, as plotly reports them when they are clicked.
    """
    layers, count = measured.shape
    place = np.arange(layers * count, dtype=np.int32)
    y, x = np.divmod(place, count)
    bar = _("{measure}, 0 to {top:.3g}", measure=shown.label, top=shown.top)
    if shown.signed:
        bar = _("{measure}, −{top:.3g} to {top:.3g}", measure=shown.label, top=shown.top)
    cells: Part = {
        "type": "heatmap",
        "name": shown.name,
        "z": shown.values,
        "zmin": shown.bottom,
        "zmax": shown.top,
        "hoverinfo": "skip",
        "colorscale": theme.difference_scale(dark) if shown.signed else theme.scale(measured.kind, dark),
        "xgap": 2,
        "ygap": 2,
        "colorbar": color_bar(bar, dark, height),
    }
    numbers = [_numbers(shown, cells["colorscale"])] if count <= WRITTEN else []
    hover = unseen(
        x,
        y,
        name="heads",
        size=22,
        customdata=shown.values.ravel(),
        text=[f"L{layer}H{head}" for layer, head in zip(y, x, strict=True)],  # an axis names only where it has a tick
        hovertemplate=f"<b>%{{text}}</b>, {shown.title} %{{customdata:.3f}}<extra></extra>",
    )
    ticks = {"showgrid": False, "fixedrange": True, "ticks": "", "tickfont": {"family": theme.MONO, "size": 12}}
    layout = {
        "xaxis": ticks
        | _numbered("H", count)
        | {"side": "top", "title": _title(_("heads →"), dark), "range": [-0.5, count - 0.5]},
        "yaxis": ticks
        | _numbered("L", layers)
        | {"title": _title(axes.turned(_("layers ↓")), dark), "range": [layers - 0.5, -0.5]},
        "plot_bgcolor": theme.palette(dark).masked,
        "modebar": BUTTONS,
        "hoverdistance": -1,
        "shapes": [frame for letter, at in (pins or {}).items() for frame in _frame(letter, at, dark)],
        "annotations": [_letter(letter, at, dark) for letter, at in (pins or {}).items()],
    }
    return theme.build([cells, *numbers, hover], layout, dark=dark, height=height)


def _numbers(shown: Field, scale: theme.Scale) -> Part:
    """The numbers in the cells, dark or light for the better contrast; with many columns they have three characters."""
    y, x = (index.ravel() for index in np.nonzero(np.isfinite(shown.values)))
    values, across = shown.values[y, x], shown.values.shape[1]
    span = shown.top - shown.bottom
    return {
        "type": "scatter",
        "mode": "text",
        "name": "numbers",
        "x": x.astype(np.int32),
        "y": y.astype(np.int32),
        "text": [f"{value:.2f}" if across <= WIDE else _three(float(value)) for value in values],
        "hoverinfo": "skip",
        "showlegend": False,
        "textfont": {
            "size": 11 if across <= MIDDLE else 9,
            "color": [theme.ink_on(theme.at(scale, part)) for part in (values - shown.bottom) / span],
        },
    }


def _three(value: float) -> str:
    """A non-negative number in three characters: .12, 1.2, 12."""
    for digits, below in ((2, 1.0), (1, 10.0)):
        said = f"{value:.{digits}f}"
        if float(said) < below:
            return said.removeprefix("0") if digits > 1 else said
    return f"{value:.0f}"


def _numbered(letter: str, count: int) -> Part:
    step = 1 if count <= WRITTEN else 2 if count <= 2 * WRITTEN else 5
    values = np.arange(0, count, step, dtype=np.int32)
    return {"tickmode": "array", "tickvals": values, "ticktext": [f"{letter}{value}" for value in values]}


def _frame(letter: str, at: tuple[int, int], dark: bool) -> list[Part]:
    layer, head = at
    return [box(head - 0.48, head + 0.48, layer - 0.48, layer + 0.48, pin_color(letter, dark), 3)]


def _letter(letter: str, at: tuple[int, int], dark: bool) -> Part:
    """The pin's letter in a corner of its cell, A left and B right."""
    left = letter == "A"
    return {
        "text": f"<b>{letter}</b>",
        "x": at[1] + (-0.46 if left else 0.46),
        "y": at[0] - 0.46,
        "showarrow": False,
        "xanchor": "left" if left else "right",
        "yanchor": "top",
        "borderpad": 0,
        "font": {"size": 10, "color": theme.ink_on(pin_color(letter, dark))},  # it leaves the number below it free
        "bgcolor": pin_color(letter, dark),
    }


def _together(left: go.Figure, right: go.Figure, dark: bool) -> go.Figure:
    """The scatter and the matrix in one figure."""
    moved = [trace.to_plotly_json() | {"xaxis": "x2", "yaxis": "y2"} for trace in right.data]
    moved[0]["colorbar"] |= {"x": 0.62}
    shapes = [_on_second(shape.to_plotly_json()) for shape in right.layout.shapes]
    notes = [_on_second(note.to_plotly_json()) for note in right.layout.annotations]
    layout = {
        "xaxis": left.layout.xaxis.to_plotly_json() | {"domain": [0, 0.52]},
        "yaxis": left.layout.yaxis.to_plotly_json(),
        "xaxis2": right.layout.xaxis.to_plotly_json() | {"domain": [0.62, 1], "anchor": "y2"},
        "yaxis2": right.layout.yaxis.to_plotly_json() | {"anchor": "x2"},
        "shapes": [*(shape.to_plotly_json() for shape in left.layout.shapes), *shapes],
        "annotations": notes,
        "hovermode": "closest",
        "modebar": BUTTONS,
    }
    return theme.build([*(trace.to_plotly_json() for trace in left.data), *moved], layout, dark=dark, height=460)


def _on_second(part: Part) -> Part:
    return part | {"xref": "x2", "yref": "y2"}
