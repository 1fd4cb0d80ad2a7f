"""The tree of a beam search: time to the right, the strongest continuation of each step on top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from bartviz.analysis import sentence_words
from bartviz.analysis.decoding import kind_of
from bartviz.drawing import axes, theme
from bartviz.drawing.arguments import RECORD, expect
from bartviz.drawing.colors import Palette
from bartviz.features.decoding import numbers_beams as analysis
from bartviz.language import _, mark
from bartviz.language.percentages import percent
from bartviz.record.beam_tree import BeamTree, Hypothesis
from bartviz.record.record import Record

LANE, EDGES = 30, 96  # pixels: one rank; the axes and the legend
FITTING = 14  # steps whose tokens can be read side by side; longer trees are dragged
_SIGNS = {"pruned": ("circle-open", 6), "open": ("circle", 8), "finished": ("square", 10), "best": ("star", 16)}
_NAMES = {
    "pruned": mark("pruned"),
    "open": mark("kept"),
    "finished": mark("text ended"),
    "best": mark("the winner ends"),
}


def beams(
    record: Record,
    *,
    which: analysis.Which = "all",
    most: int = analysis.MOST,
    step: int | None = None,
    dark: bool = False,
    height: int | None = None,
) -> go.Figure:
    """The continuations that a beam search scored, each joined to the one it continues.

    x is the step (from 1), y the rank among the continuations of that step, 1 on top. Kept ones are solid, pruned ones
    faint, finished texts are squares, and the winner is a star at the end of the thick line. ``which`` and ``most``
    limit what is drawn (``analysis.beams.shown``); the figure says what is left out. ``step`` marks a step, from 0. A
    tree of more than 14 steps begins at 1 (or around ``step``) and can be dragged. Raises RecordError for a record
    without beams, SettingError for a choice that is not there.

    >>> searched = bartviz.decode(model, "It is late.", beams=4)
    >>> figure = bartviz.figures.beams(searched)
    """
    expect(record, Record, RECORD)
    tree = analysis.tree_of(record)
    drawn = analysis.shown(tree, which, most)
    winner = theme.kind_color(kind_of(record), dark)
    colors = theme.palette(dark)
    path = set(tree.path(tree.best))
    faint = [n for n in drawn.nodes if tree.nodes[n].state == "pruned"]
    solid = [n for n in drawn.nodes if tree.nodes[n].state != "pruned" and n not in path]
    traces = [
        _edges(tree, faint, {"color": colors.grid, "width": 1}),
        _edges(tree, solid, {"color": colors.faint, "width": 1.5}),
        _edges(tree, sorted(path), {"color": winner, "width": 4}),
        *_nodes(tree, drawn.nodes, path, winner, colors),
    ]
    lanes = 1 + max((tree.nodes[n].rank for n in drawn.nodes), default=0)
    layout = _layout(tree, lanes, step, colors)
    figure = theme.build(traces, layout, dark=dark, height=height or lanes * LANE + EDGES)
    if step is not None:
        figure.add_vrect(step + 0.5, step + 1.5, fillcolor=winner, opacity=0.12, line_width=0, layer="below")
    if drawn.left_out:
        _say_left_out(figure, drawn, colors)
    return figure


def _edges(tree: BeamTree, nodes: Sequence[int], line: dict[str, Any]) -> dict[str, Any]:
    """The lines from parents to these nodes, as one trace with gaps."""
    x: list[float | None] = []
    y: list[float | None] = []
    for number in nodes:
        node = tree.nodes[number]
        if node.parent is not None:
            x += [node.step, node.step + 1, None]
            y += [tree.nodes[node.parent].rank + 1, node.rank + 1, None]
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "line": line, "hoverinfo": "skip", "showlegend": False}


def _nodes(tree: BeamTree, nodes: Sequence[int], path: set[int], winner: str, colors: Palette) -> list[dict[str, Any]]:
    """One trace for each state, for the legend; nodes on the winner's path are separate, in its colour."""
    reasons = analysis.reasons(tree)
    traces: list[dict[str, Any]] = []
    for state, (sign, size) in _SIGNS.items():
        for wins in (False, True):
            those = [n for n in nodes if tree.nodes[n].state == state and (n in path) == wins]
            if not those:
                continue
            faint = state == "pruned"
            shade = winner if wins else colors.faint
            traces.append(
                {
                    "type": "scatter",
                    "name": _(_NAMES[state]),
                    "mode": "markers+text",
                    "showlegend": state == "best" or not wins,
                    "x": [tree.nodes[n].step + 1 for n in those],
                    "y": [tree.nodes[n].rank + 1 for n in those],
                    "text": [theme.escape(axes.short(tree.nodes[n].token.label)) for n in those],
                    "textposition": "top center",
                    "textfont": {
                        "family": theme.MONO,
                        "size": 10 if faint else 12,
                        "color": colors.faint if faint else winner if wins else colors.ink,
                    },
                    "marker": {"symbol": sign, "size": size, "color": shade, "line": {"width": 1, "color": shade}},
                    "opacity": 0.75 if faint else 1,
                    "customdata": those,
                    "hovertext": [_hover(tree.nodes[n], reasons[n]) for n in those],
                    "hovertemplate": "%{hovertext}<extra></extra>",
                }
            )
    return traces


def _hover(node: Hypothesis, reason: str) -> str:
    lines = [
        _(
            "{token}, step {step}, rank {rank}",
            token=f"<b>{theme.escape(node.token.label)}</b>",
            step=node.step + 1,
            rank=node.rank + 1,
        ),
        f"p {percent(node.token.probability)}",
        _("sum of log p {total}", total=sentence_words.signed(node.total)),
        _("score {score}", score=analysis.score_text(node.score)),
    ]
    if node.rule:
        lines.append(_("rule: {rule}", rule=theme.escape(sentence_words.rule(node.rule))))
    return "<br>".join([*lines, reason])


def _layout(tree: BeamTree, lanes: int, step: int | None, colors: Palette) -> dict[str, Any]:
    first = min(max((step or 0) - FITTING // 2, 0), max(tree.steps - FITTING, 0))
    title = {"font": {"size": 12, "color": colors.faint}, "standoff": 4}
    return {
        "xaxis": {
            "title": title | {"text": _("step: time runs to the right")},
            "dtick": 1,
            "showgrid": False,
            "tickfont": {"size": 12},
            "range": [first + 0.4, first + min(tree.steps, FITTING) + 0.6],
        },
        "yaxis": {
            "title": title | {"text": _("rank of the continuation")},
            "range": [lanes + 0.5, 0.2],
            "dtick": 1,
            "fixedrange": True,
            "tickfont": {"size": 12},
        },
        "dragmode": "pan",
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 1.02,
            "yanchor": "bottom",
            "itemsizing": "constant",
            "font": {"size": 12},
        },
        "margin": {"l": 8, "r": 8, "t": 40, "b": 8},
    }


def _say_left_out(figure: go.Figure, drawn: analysis.Shown, colors: Palette) -> None:
    said = _(
        "{drawn:,} of {all:,} continuations drawn: the weakest are left out",
        drawn=len(drawn.nodes),
        all=len(drawn.nodes) + drawn.left_out,
    )
    figure.add_annotation(
        text=said,
        xref="paper",
        yref="paper",
        x=0,
        y=1.02,
        yshift=24,
        xanchor="left",
        yanchor="bottom",
        showarrow=False,
        font={"size": 12, "color": colors.faint},
    )
    figure.update_layout(margin={"t": 64}, height=figure.layout.height + 24)
