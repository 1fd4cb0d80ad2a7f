"""Two outputs of one source, one above the other, step by step: how probable each token was, and where they diverge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from bartviz.analysis import branches as analysis
from bartviz.analysis import sentence_words
from bartviz.analysis.decoding import kind_of
from bartviz.drawing import axes, theme
from bartviz.drawing.arguments import RECORD, expect
from bartviz.language import _
from bartviz.language.percentages import percent
from bartviz.record.record import Record
from bartviz.record.steps import Step

FITTING = 18  # steps whose tokens can be read side by side; longer texts are dragged
LINE = 96  # letters of a line of the title
PALE = 0.4  # opacity of what both texts share


def branches(main: Record, branch: Record, *, dark: bool = False, height: int | None = None) -> go.Figure:
    """Bars of the probability of each token, the main text above, the branch below, both on one axis of steps.

    Common steps are pale; a line marks the step at which they diverge. The title says where they diverge and converge,
    and the log p of both. A figure of more than 18 steps begins where they diverge and can be dragged. Raises
    RecordError for records of two sources or without steps.

    >>> other = bartviz.branch(model, record, 4, " Haus")
    >>> figure = bartviz.figures.branches(record, other)
    """
    for one in (main, branch):
        expect(one, Record, RECORD)
    run = analysis.course(main, branch)
    color, colors = theme.kind_color(kind_of(main), dark), theme.palette(dark)
    meets = run.meets or (len(main.steps), len(branch.steps))
    own = [
        _bars(record.steps, axis, name, color, _shared(run.parts, met, len(record.steps)))
        for record, axis, name, met in ((main, "", _("main"), meets[0]), (branch, "2", _("branch"), meets[1]))
    ]
    count = max(len(main.steps), len(branch.steps))
    figure = theme.build(own, _layout(main, branch, run.parts or 0, count), dark=dark, height=height or 380)
    if run.parts is not None:
        figure.add_vline(run.parts + 0.5, line={"color": colors.ink, "width": 1.5, "dash": "dot"})
    title = theme.lines(analysis.sentence(main, branch), LINE)
    figure.update_layout(
        title={
            "text": title,
            "x": 0,
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 14},
            "font": {"size": 14},
        }
    )
    return figure.update_layout(margin={"t": 26 + 20 * (1 + title.count("<br>"))})


def _shared(parts: int | None, meets: int, count: int) -> list[bool]:
    """Whether each step is the same in both texts."""
    return [parts is None or step < parts or step >= meets for step in range(count)]


def _bars(steps: Sequence[Step], axis: str, name: str, color: str, shared: list[bool]) -> dict[str, Any]:
    said = [f"{theme.escape(step.chosen.label)} {percent(step.chosen.probability)}" for step in steps]
    rules = [f"<br>{theme.escape(sentence_words.rule(step.rule))}" if step.rule else "" for step in steps]
    return {
        "type": "bar",
        "name": name,
        "showlegend": False,
        "xaxis": f"x{axis}",
        "yaxis": f"y{axis}",
        "x": [step.position + 1 for step in steps],
        "y": [step.chosen.probability for step in steps],
        "marker": {"color": color, "opacity": [PALE if same else 1 for same in shared]},
        "hovertext": [
            _("{name}, step {step}: {said}", name=name, step=step.position + 1, said=text)
            + f"<br>log p {step.log_probability:.3f}{rule}"
            for step, text, rule in zip(steps, said, rules, strict=True)
        ],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }


def _layout(main: Record, branch: Record, parts: int, count: int) -> dict[str, Any]:
    first = min(max(parts - 3, 0), max(count - FITTING, 0))
    shown = {"range": [first + 0.4, first + min(count, FITTING) + 0.6], "showgrid": False}
    small = {"size": 13}
    probability = {"range": [0, 1.02], "tickformat": ".0%", "fixedrange": True}
    return {
        "xaxis": shown | _ticks(main) | {"anchor": "y"},
        "xaxis2": shown
        | _ticks(branch)
        | {"anchor": "y2", "matches": "x", "title": {"text": _("step"), "font": small}},
        "yaxis": probability | {"domain": [0.57, 1], "title": {"text": _("main: p"), "font": small}},
        "yaxis2": probability | {"domain": [0, 0.43], "anchor": "x2", "title": {"text": _("branch: p"), "font": small}},
        "dragmode": "pan",
        "bargap": 0.25,
        "margin": {"l": 8, "r": 8, "t": 44, "b": 8},
    }


def _ticks(record: Record) -> dict[str, Any]:
    return {
        "tickvals": [step.position + 1 for step in record.steps],
        "tickfont": {"family": theme.MONO, "size": 12},
        "ticktext": [theme.escape(axes.short(step.chosen.label)) for step in record.steps],
        "tickangle": -30,
    }
