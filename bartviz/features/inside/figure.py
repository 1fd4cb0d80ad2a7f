"""The arithmetic of one head as a row from left to right, and the products behind one key's score."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from bartviz.analysis import inside as analysis
from bartviz.analysis.inside import Inside, Shown, Which
from bartviz.analysis.word_colors import Numbers
from bartviz.arrays import Floats
from bartviz.drawing import theme
from bartviz.drawing.arguments import ATTENTION, expect
from bartviz.drawing.cells import BUTTONS, Part, unseen
from bartviz.drawing.colors import KEY, QUERY, VALUE
from bartviz.drawing.masked_cells import pattern
from bartviz.drawing.strips import bars, signed, strip
from bartviz.errors import SettingError
from bartviz.features.inside.figure_arithmetic import MARGIN, Frame, others
from bartviz.language import _
from bartviz.language.percentages import percent
from bartviz.record.attention import Attention


def inside(
    attention: Attention,
    layer: int,
    head: int,
    row: int = 0,
    *,
    key: int | None = None,
    which: Which = "strongest",
    most: int = analysis.MOST,
    predicts: str | None = None,
    dark: bool = False,
) -> go.Figure:
    """The whole arithmetic of one head for one query token: query and keys, their products, scores, weights, values,
    output. Of a long text ``most`` keys are drawn, the rest as one row. ``key`` is framed (the strongest if None).
    ``predicts``: the token that a decoder's row predicts, which the caption of the query then names.

    Raises SettingError for a layer, head, row or key that is not there.

    >>> figure = bartviz.figures.inside(record.cross, 2, 0, row=3)
    """
    expect(attention, Attention, ATTENTION)
    if key is not None and not 0 <= key < attention.shape[3]:
        raise SettingError(f"There is no key {key}: choose 0 to {attention.shape[3] - 1}.")
    one = analysis.inside(attention, layer, head, row)
    chosen = one.strongest if key is None else key
    return arithmetic(one, analysis.shown(one, which, most, keep=chosen), chosen, predicts=predicts, dark=dark)


def arithmetic(
    one: Inside,
    shown: Shown,
    key: int,
    *,
    predicts: str | None = None,
    dark: bool = False,
    colors: Numbers = (),
    plain: bool = False,
    part: int | None = None,
    large: bool = False,
) -> go.Figure:
    """The row of arithmetic: one line for each key that is shown, ``key`` framed; a click on a bar reports its key.

    ``colors``: the numbers of the words of all keys (``analysis.word_colors``). ``plain``: for a beginner,
    with captions in words and weights in per cent. ``part``: the one of ``figure_arithmetic.PARTS`` that is drawn.
    ``large``: for a wall.
    """
    frame = Frame(one, shown, dark, predicts, colors, plain=plain, part=part, large=large)
    axes = [frame.axis(name) for name in frame.drawn]
    traces = [
        *_vectors(frame),
        *_scores(frame),
        *_weights(frame),
        *(_values(frame) if one.v is not None else ()),
        *_masked(frame),
        *_pointer(frame),
    ]
    layout = {
        **frame.axes(),
        "annotations": frame.captions(),
        "bargap": 0,
        "showlegend": False,
        "modebar": BUTTONS,
        "shapes": _marks(frame, key),
        "margin": MARGIN,
        "hovermode": "closest",
    }
    drawn = [trace for trace in traces if trace["xaxis"] in axes]
    return theme.build(drawn, layout, dark=dark, height=frame.height)


def _vectors(frame: Frame) -> list[Part]:
    one, dark = frame.one, frame.dark
    names = np.array(frame.labels, object)[:, None].repeat(one.width, 1)
    empty = np.full((frame.rows - len(frame.keys), one.width), np.nan, np.float32)
    keys = np.concatenate([one.k[frame.keys], empty])  # (rows, d)
    blank = np.full((len(empty), one.width), "", object)
    return [
        strip(
            one.q[None],
            color=QUERY,
            xaxis="x",
            yaxis="y2",
            name="q",
            dark=dark,
            hover=_said("q", theme.escape(one.query_label)),
        ),
        strip(
            keys,
            color=KEY,
            xaxis="x",
            yaxis="y",
            name="k",
            dark=dark,
            hover=_said("k", "%{customdata}"),
            customdata=np.concatenate([names, blank]),
        ),
        strip(
            keys * one.q,
            color=frame.color,
            xaxis=frame.axis("products"),
            yaxis="y",
            name="q × k",
            dark=dark,
            hover=_said("q × k", "%{customdata}"),
            customdata=np.concatenate([names, blank]),
        ),
    ]


def _said(vector: str, token: str) -> str:
    """The hover texts of a strip."""
    return _(
        "{vector} of {token}, dimension {dimension}: {number}",
        vector=vector,
        token=token,
        dimension="%{x}",
        number="%{z:.3f}",
    )


def _scores(frame: Frame) -> list[Part]:
    one, keys = frame.one, frame.keys
    hover = [
        f"{label}: q · k = {one.dots[key]:.4f}, {one.factor} = {one.scaled[key]:.3f}"
        for key, label in zip(keys, frame.labels, strict=True)
    ]
    found = [_bar(frame, "scaled", one.scaled[keys], hover)]
    if one.bias is not None:
        texts = [
            _("{token}: bias of the relative position {bias:.3f}", token=label, bias=one.bias[key])
            for key, label in zip(keys, frame.labels, strict=True)
        ]
        sums = [
            f"{label}: {one.scaled[key]:.4f} {one.bias[key]:+.4f} = {one.scores[key]:.3f}"
            for key, label in zip(keys, frame.labels, strict=True)
        ]
        found += [_bar(frame, "bias", one.bias[keys], texts), _bar(frame, "score", one.scores[keys], sums)]
    return found


def _bar(frame: Frame, name: str, values: Floats, hover: list[str]) -> Part:
    """Bars of scores; a masked key has hatching instead of the bar of the softmax's input."""
    open_, numbers = frame.one.mask[frame.keys], values.astype(float)
    if name == frame.score:
        hover = [
            text if seen else _("{said}; masked: the score becomes −∞", said=text)
            for text, seen in zip(hover, open_, strict=True)
        ]
        numbers = np.where(open_, numbers, np.nan)
        if frame.shown.rest:
            score = frame.shown.rest_score
            numbers = np.append(numbers, np.nan if score is None else score)
            rest = others(frame.shown.rest)
            hover = [*hover, _("{others}: combined into one score, the log of the sum of e^score", others=rest)]
    texts = ["" if np.isnan(number) else f"{number:.2f}" for number in numbers]
    colors = signed(numbers, frame.color, frame.dark)
    return bars(numbers, colors=colors, xaxis=frame.axis(name), hover=hover, name=name, text=texts, size=frame.letters)


def _weights(frame: Frame) -> list[Part]:
    one, shown = frame.one, frame.shown
    weights = one.weights[frame.keys].astype(float)
    hover = [
        _("{token}: weight {weight:.4f}", token=label, weight=weight)
        for label, weight in zip(frame.labels, weights, strict=True)
    ]
    if shown.rest:
        weights = np.append(weights, shown.rest_weight)
        hover.append(_("{others} together: {weight:.4f}", others=others(shown.rest), weight=shown.rest_weight))
    texts = [percent(weight) if frame.plain else f"{weight:.3f}" for weight in weights]
    color = [theme.palette(frame.dark).masked if one.masked else frame.color] * len(weights)  # uniform, and not real
    axis = frame.axis("weight")
    return [bars(weights, colors=color, xaxis=axis, hover=hover, name="weight", text=texts, size=frame.letters)]


def _values(frame: Frame) -> list[Part]:
    """weight × v of each key (or of the others together), and their sum, the output, below them."""
    one, shown = frame.one, frame.shown
    assert one.v is not None
    assert one.context is not None
    width = one.v.shape[1]
    parts = one.weights[frame.keys, None] * one.v[frame.keys]  # (keys, d)
    values = one.v[frame.keys]
    if shown.rest:
        value = np.zeros(width, np.float32) if shown.rest_value is None else shown.rest_value
        parts, values = np.vstack([parts, shown.rest_weight * value]), np.vstack([values, value])
    labels = [*frame.labels, *([_("the others together")] if shown.rest else [])]
    names = np.array(labels, object)[:, None].repeat(width, 1)
    data = np.stack([names, np.vectorize(lambda number: f"{number:.3f}")(values)], axis=2)
    axis = frame.axis("values")
    said = _(
        "{token}, dimension {dimension}: weight × v = {part}, v = {value}",
        token="%{customdata[0]}",
        dimension="%{x}",
        part="%{z:.3f}",
        value="%{customdata[1]}",
    )
    summed = _(
        "output for {token}, dimension {dimension}: {number}",
        token=theme.escape(one.query_label),
        dimension="%{x}",
        number="%{z:.3f}",
    )
    return [
        strip(
            parts, color=VALUE, xaxis=axis, yaxis="y", name="weight × v", dark=frame.dark, customdata=data, hover=said
        ),
        strip(one.context[None], color=VALUE, xaxis=axis, yaxis="y3", name="output", dark=frame.dark, hover=summed),
    ]


def _pointer(frame: Frame) -> list[Part]:
    """Points over the weights that report a click with their key."""
    rows = np.arange(len(frame.keys))
    hover = [
        _("{token}: weight {weight:.4f}. Touch it: its products", token=label, weight=frame.one.weights[key])
        for key, label in zip(frame.keys, frame.labels, strict=True)
    ]
    return [
        unseen(
            np.full(len(rows), place),
            rows,
            name="keys",
            size=22,
            customdata=np.array(frame.keys),
            xaxis=frame.axis("weight"),
            yaxis="y",
            hovertext=hover,
            hoverinfo="text",
        )
        for place in (0.15, 0.5, 0.85, 1.2)
    ]


def _masked(frame: Frame) -> list[Part]:
    """Hatching and −∞ in place of the score of a masked key."""
    rows = [row for row, key in enumerate(frame.keys) if not frame.one.mask[key]]
    if not rows:
        return []
    axis, (low, high) = frame.axis(frame.score), frame.range_of(frame.score)
    gap = float("nan")
    x = [low, high, high, low, low, gap] * len(rows)
    y = [y for row in rows for y in (row - 0.36, row - 0.36, row + 0.36, row + 0.36, row - 0.36, gap)]
    hover = [
        _(
            "{token}: q · k × scale would be {score:.3f}, but it is masked: the score becomes −∞ and the weight "
            "exactly 0",
            token=frame.labels[row],
            score=frame.one.scaled[frame.keys[row]],
        )
        for row in rows
    ]
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "name": "masked",
            "x": x,
            "y": y,
            "xaxis": axis,
            "yaxis": "y",
            "line": {"width": 0},
            "fill": "toself",
            "fillcolor": theme.palette(frame.dark).masked,
            "fillpattern": pattern(frame.dark),
            "hoverinfo": "skip",
        },
        {
            "type": "scatter",
            "mode": "text",
            "name": "−∞",
            "x": [(low + high) / 2] * len(rows),
            "y": rows,
            "text": ["−∞"] * len(rows),
            "xaxis": axis,
            "yaxis": "y",
            "hovertext": hover,
            "hoverinfo": "text",
        },
    ]


def _marks(frame: Frame, key: int) -> list[Part]:
    """A line at score 0, a line under the values that are added up, and a frame around the chosen key."""
    colors = theme.palette(frame.dark)
    found: list[Part] = []
    for name in ("scaled", "bias", "score", "weight"):
        if name in frame.drawn:
            place = frame.axis(name)
            found.append(
                {
                    "type": "line",
                    "xref": place,
                    "yref": "y",
                    "x0": 0,
                    "x1": 0,
                    "y0": -0.5,
                    "y1": frame.rows - 0.5,
                    "line": {"color": colors.hatch, "width": 1},
                }
            )
    if "values" in frame.drawn:
        start, end = frame.domains["values"]
        below = frame.bottom - 2 / frame.inner
        found.append(
            {
                "type": "line",
                "xref": "paper",
                "yref": "paper",
                "x0": start,
                "x1": end,
                "y0": below,
                "y1": below,
                "line": {"color": colors.ink, "width": 1.5},
            }
        )
    if key in frame.keys:
        row = frame.keys.index(key)
        found.append(
            {
                "type": "rect",
                "xref": "paper",
                "yref": "y",
                "x0": -0.002,
                "x1": 1.002,
                "y0": row - 0.5,
                "y1": row + 0.5,
                "line": {"color": colors.ink, "width": 1.5},
            }
        )
    return found
