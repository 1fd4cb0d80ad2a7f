"""The repair of a corrupted text: how likely each token of the original was, and the attention compared with that of
the clean text."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from bartviz.analysis import head_view as views
from bartviz.analysis.repairs import Repair, Score
from bartviz.drawing import axes, theme
from bartviz.drawing.arguments import expect
from bartviz.drawing.cells import BUTTONS, Part
from bartviz.drawing.heads import one
from bartviz.drawing.side_by_side import side_by_side
from bartviz.errors import SettingError
from bartviz.language import _, later, mark
from bartviz.record.attention import Kind

HEIGHT = 300
NAMES = (mark("the clean text"), mark("the corrupted text"))


def denoising(found: Repair | Score, *, dark: bool = False) -> go.Figure:
    """The probability of each token of the original, given the corrupted text and the tokens before it.

    A filled bar is the model's best guess; for a hatched one the hover text has the token that was likelier. Triangles
    mark tokens of words that were lost or moved. ``found`` is the result of ``experiments.repair.repair``.

    >>> from bartviz.experiments.repair import repair
    >>> denoiser = bartviz.load("bart-tiny-denoise")
    >>> figure = bartviz.figures.denoising(repair(denoiser, "A man is playing a guitar.", "text infilling"))
    """
    expect(found, (Repair, Score), "the result of bartviz.experiments.repair.repair(model, text, noise)")
    score = found.score if isinstance(found, Repair) else found
    traces = [
        _bars(score, np.flatnonzero(score.right), True, dark),
        _bars(score, np.flatnonzero(~score.right), False, dark),
        _lost(score, dark),
    ]
    count, small = len(score.labels), {"size": 12, "color": theme.palette(dark).faint}
    layout: Part = {
        "xaxis": axes.shown(score.labels, score.special, 1000, "", dark)
        | {"range": [-0.6, count - 0.4], "tickangle": -45 if count > 12 else 0, "title": {"text": ""}},
        "yaxis": {
            "range": [0, 1.12],
            "tickvals": [0, 0.5, 1],
            "tickformat": ".0%",
            "tickfont": small,
            "title": {"text": _("probability"), "font": small},
        },
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": small},
        "modebar": BUTTONS,
        "barmode": "overlay",
        "margin": {"l": 8, "r": 8, "t": 34, "b": 8},
    }
    return theme.build(traces, layout, dark=dark, height=HEIGHT)


def _bars(score: Score, rows: np.ndarray[tuple[int, ...], np.dtype[np.int64]], right: bool, dark: bool) -> Part:
    color = theme.kind_color("decoder", dark)
    name = _("✓ the best guess") if right else _("✗ another token was likelier")
    said = [_say(score, int(i), right) for i in rows]
    marker: Part = {"color": color, "line": {"color": color, "width": 1}}
    if not right:
        marker["pattern"] = {"shape": "/", "fgcolor": color, "bgcolor": theme.palette(dark).background, "size": 6}
    return {
        "type": "bar",
        "name": name,
        "x": rows.astype(np.int32),
        "width": 0.8,
        "marker": marker,
        "y": np.exp(score.log_probability[rows]).astype(np.float32),
        "hovertext": said,
        "hoverinfo": "text",
        "showlegend": True,
    }


def _say(score: Score, i: int, right: bool) -> str:
    """A token with its probability, and the likelier one if there is one."""
    said = _(
        "{token}: {probability:.1%}, {loss:.3f} nats",
        token=f"<b>{theme.escape(score.labels[i])}</b>",
        probability=np.exp(score.log_probability[i]),
        loss=-score.log_probability[i],
    )
    if right:
        return said
    best = f"<b>{theme.escape(score.best[i])}</b>"
    likelier = _("likelier: {token} {probability:.1%}", token=best, probability=score.best_probability[i])
    return f"{said}<br>{likelier}"


def _lost(score: Score, dark: bool) -> Part:
    rows = np.flatnonzero(score.lost).astype(np.int32)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": _("lost or moved"),
        "x": rows,
        "y": np.full(len(rows), 1.07, np.float32),
        "hoverinfo": "skip",
        "showlegend": True,
        "marker": {"symbol": "triangle-down", "size": 10, "color": theme.palette(dark).ink},
    }


def pair(
    found: Repair, kind: Kind, layer: int | None = None, head: int | None = None, *, words: bool = False
) -> tuple[views.View, views.View]:
    """The same head (or mean) on the clean text and on the corrupted one; rows of cross-attention are labelled by the
    token of the original that they predict. Raises SettingError."""
    if kind == "decoder":
        raise SettingError(later("Encoder and cross attention differ with the corruption: choose one of them."))
    first, second = (
        views.view(record.attention(kind), layer, head, query=record.rows(kind, "predicts"), words=words)
        for record in (found.plain, found.given)
    )
    return first, second


def attention(
    found: Repair,
    kind: Kind = "encoder",
    layer: int | None = None,
    head: int | None = None,
    *,
    words: bool = False,
    dark: bool = False,
) -> go.Figure:
    """One head, a layer's mean or the mean of all, of the clean text and of the corrupted one, side by side."""
    shown = pair(found, kind, layer, head, words=words)
    titles = [f"{view.name}, {_(name)}" for view, name in zip(shown, NAMES, strict=True)]
    return side_by_side([one(view, dark=dark) for view in shown], titles, dark=dark)
