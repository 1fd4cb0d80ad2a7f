"""Figures of ablation: the effect of each head as layers x heads, and the tokens' probabilities before and after."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go

from bartviz.analysis import sentence_words
from bartviz.analysis.ablation import SIGNED, UNITS, Ablation, Measure, Sweep
from bartviz.arrays import Floats, Ints
from bartviz.drawing import axes, theme
from bartviz.drawing.arguments import expect
from bartviz.features.experiments.figure_panels import Panel, panels
from bartviz.language import _, mark
from bartviz.language.percentages import of_before
from bartviz.record.attention import Head, Kind

_TOKEN = "<b>%{customdata}</b>"
_HEIGHT = 300  # pixels of the bars
_DIGITS: Mapping[Measure, str] = {
    "log_probability": "+.3f",
    "divergence": ".4f",
    "changed": ".0f",
    "labels": ".4f",
    "label_log_probability": "+.3f",
    "label_margin": "+.3f",
    "value_change": "+.3f",
    "distance": ".4f",
}
PLAIN: Mapping[Measure, str] = {
    "log_probability": mark("probability, before = 100%"),
    "labels": mark("how far the probabilities of the labels move"),
    "distance": mark("how far the states move"),
}
"""Units for a beginner, where a head is silenced; the others are plain as they are, or need a higher level."""
_LEAST: Mapping[Measure, float] = {
    "log_probability": 0.1,
    "divergence": 0.01,
    "changed": 1,
    "labels": 0.01,
    "label_log_probability": 0.1,
    "label_margin": 0.1,
    "value_change": 0.01,
    "distance": 0.01,
}


def ablation(found: Ablation | Sweep, *, measure: Measure | None = None, dark: bool = False) -> go.Figure:
    """A sweep: layers x heads of each kind, coloured by what silencing the head changes. An ablation: each token's
    probability before and after (for a model that does not predict tokens, the change of its states).

    Change of log p runs orange (the text is less likely without the head) - neutral - blue (likelier without it).
    Raises SettingError for a measure that the sweep does not have.

    >>> figure = bartviz.figures.ablation(bartviz.ablate(model, record, ["cross L3H2"], write=False))
    """
    expect(found, (Ablation, Sweep), "the result of bartviz.ablate or bartviz.ablate_sweep")
    if isinstance(found, Ablation):
        return probabilities(found, dark=dark)
    return worth(dict.fromkeys(found.kinds, found), {}, measure=measure, dark=dark)


def worth(
    sweeps: Mapping[Kind, Sweep | None],
    shapes: Mapping[Kind, tuple[int, int]],
    *,
    measure: Measure | None = None,
    chosen: Collection[Head] = (),
    high: float | None = None,
    clicks: bool = False,
    bar: bool = True,
    plain: bool = False,
    dark: bool = False,
) -> go.Figure:
    """Layers x heads of each kind by their effect; a kind without a sweep is an empty grid of its shape in ``shapes``
    (L, H).

    ``chosen`` heads are framed; ``high`` is the end of the colour scale, so that several figures can share it, and
    ``bar`` whether the colour bar is drawn. ``plain``: a change of log p is told as a share of the probability.
    """
    given = []
    for kind, sweep in sweeps.items():
        what: Measure = measure or (sweep.measures[0] if sweep is not None else "log_probability")
        values = np.full(shapes[kind], np.nan, np.float32) if sweep is None else sweep.map(kind, what)
        most = high or (0.0 if sweep is None else largest(sweep, what)) or _LEAST[what]
        panel = _heads(kind, values, what, most, chosen, clicks, dark, measured=sweep is not None, bar=bar)
        given.append(_plainly(panel, what) if plain and what in PLAIN else panel)
    return panels(given, dark=dark)


def largest(sweep: Sweep, measure: Measure) -> float:
    """The end of the colour scale: the largest effect, but large enough that rounding errors are not coloured."""
    values = sweep.values(measure)
    return float(max(np.abs(values).max(initial=0.0), _LEAST[measure]))


def _heads(
    kind: Kind,
    values: Floats,
    what: Measure,
    most: float,
    chosen: Collection[Head],
    clicks: bool,
    dark: bool,
    *,
    measured: bool,
    bar: bool,
) -> Panel:
    layers, heads = values.shape
    signed = what in SIGNED
    number = f"%{{customdata:{_DIGITS[what]}}}"
    unit = _(UNITS[what])
    said = f"{unit}: {number}" if measured else _("not measured yet")
    colours = np.where(np.isnan(values), np.float32(0), values)
    return Panel(
        sentence_words.capitalized(_("{kind} heads", kind=sentence_words.kind(kind))),
        colours,
        [f"L{layer}" for layer in range(layers)],
        [f"H{head}" for head in range(heads)],
        theme.difference_scale(dark) if signed else theme.scale(kind, dark),
        -most if signed else 0.0,
        most,
        f"<b>{sentence_words.kind(kind)} %{{y}}%{{x}}</b>, {said}<extra></extra>",
        unit=unit,
        shown=values,
        chosen=[(head.layer, head.head) for head in chosen if head.kind == kind],
        clicks=clicks,
        bar=measured and bar,
        zeros=np.asarray(values == 0, np.bool_) if measured and not signed else None,
    )


def _plainly(panel: Panel, what: Measure) -> Panel:
    """A panel of heads in a beginner's words."""
    unit = _(PLAIN[what])
    if what != "log_probability":
        return replace(panel, unit=unit, hover=panel.hover.replace(panel.unit, unit))
    ends = [reach * panel.high for reach in (-0.9, -0.45, 0.0, 0.45, 0.9)]  # an end has no room for its label
    return replace(
        panel,
        unit=unit,
        hover=panel.hover.replace(panel.unit, unit).replace(_DIGITS[what], ".0%"),
        shown=np.exp(panel.values, dtype=np.float32),
        ticks=(ends, [of_before(end) for end in ends]),
        say=of_before,
    )


def moved(found: Ablation, *, dark: bool = False, kinds: Collection[Kind] | None = None) -> go.Figure:
    """How far the attention of each head moved when some heads were scaled, in a result of ``bartviz.ablate``: layers x
    heads, mean Jensen-Shannon distance of its rows, 0..1.

    >>> figure = bartviz.figures.moved(bartviz.ablate(model, record, ["cross L3H2"], write=False))
    """
    expect(found, Ablation, "the result of bartviz.ablate")
    given = []
    high = max(0.05, *(float(change.max()) for change in found.attention.values()))
    for kind, change in found.attention.items():
        if kinds is not None and kind not in kinds:
            continue
        hover = (
            _(
                "{head} moved by {distance}",
                head=f"<b>{sentence_words.kind(kind)} %{{y}}%{{x}}</b>",
                distance="%{customdata:.3f}",
            )
            + "<extra></extra>"
        )
        layers, heads = change.shape
        given.append(
            Panel(
                sentence_words.capitalized(_("{attention} moved", attention=sentence_words.attention(kind))),
                change,
                [f"L{layer}" for layer in range(layers)],
                [f"H{head}" for head in range(heads)],
                theme.scale(kind, dark),
                0.0,
                high,
                hover,
                unit=_("Jensen-Shannon distance"),
                zeros=np.asarray(change == 0, np.bool_),
                chosen=[(head.layer, head.head) for head in found.factors if head.kind == kind],
            )
        )
    return panels(given, dark=dark)


def probabilities(found: Ablation, *, dark: bool = False) -> go.Figure:
    """Bars for each scored token: its probability before (outlined) and after (filled); a new best token is named
    above. For a network that predicts no words: the change of each state."""
    colors, kind = theme.palette(dark), kind_of(found)
    strong = colors.ink if kind is None else theme.kind_color(kind, dark)
    if found.before is None or found.after is None:
        labels = found.changed.attention(found.changed.kinds[-1]).query.labels
        hover = _("{token} moved by {distance}", token=_TOKEN, distance="%{y:.4f}")
        bars = [_bars(found.distance, _("cosine distance"), strong, labels, hover)]
        return _bar_figure(bars, labels, _("cosine distance of the last hidden state"), dark, _HEIGHT, None)
    return before_after(
        found.targets,
        found.before.log_probability,
        found.after.log_probability,
        now=found.after.labels,
        turned=found.turned,
        color=strong,
        dark=dark,
        height=_HEIGHT,
        ink=colors.ink,
    )


def kind_of(found: Ablation) -> Kind | None:
    """The kind of the heads that were scaled, which gives what follows its colour; None where they are of several."""
    kinds = {head.kind for head in found.factors}
    return kinds.pop() if len(kinds) == 1 else None


def before_after(
    labels: tuple[str, ...],
    before: Floats,
    after: Floats,
    *,
    now: tuple[str, ...],
    turned: Ints,
    color: str,
    dark: bool,
    height: int,
    ink: str,
) -> go.Figure:
    """Two bars for each token from log p (T,) before and, in ``color``, after; ``now`` has the best tokens, shown at
    the indices ``turned``."""
    faint = theme.palette(dark).hatch
    was = _("{token} before: {probability}", token=_TOKEN, probability="%{y:.1%}")
    is_ = _("{token} after: {probability}", token=_TOKEN, probability="%{y:.1%}")
    first = _bars(np.exp(before), _("before"), faint, labels, was)
    second = _bars(np.exp(after), _("after"), color, labels, is_)
    tops = np.maximum(np.exp(before), np.exp(after))
    named = {
        "type": "scatter",
        "mode": "text",
        "name": _("best token now"),
        "x": turned,
        "y": tops[turned] + 0.06,
        "text": [theme.escape(f"→ {axes.short(now[place])}") for place in turned],
        "hoverinfo": "skip",
        "textfont": {"family": theme.MONO, "size": 11, "color": ink},
        "showlegend": False,
    }
    bars = [first, second, *([named] if len(turned) else [])]
    return _bar_figure(bars, labels, _("probability"), dark, height, (0, 1.15 if len(turned) else 1.02))


def _bars(values: Floats, name: str, color: str, labels: tuple[str, ...], hover: str) -> dict[str, object]:
    return {
        "type": "bar",
        "name": name,
        "x": np.arange(len(values)),
        "y": values,
        "marker": {"color": color},
        "customdata": [theme.escape(label) for label in labels],
        "hovertemplate": f"{hover}<extra></extra>",
    }


def _bar_figure(
    bars: list[dict[str, object]],
    labels: tuple[str, ...],
    unit: str,
    dark: bool,
    height: int,
    span: tuple[float, float] | None,
) -> go.Figure:
    small = {"size": 12, "color": theme.palette(dark).faint}
    across = axes.shown(labels, None, 900, "", dark) | {"title": {"text": ""}, "tickangle": -45, "showgrid": False}
    upward = {"title": {"text": unit, "font": small}, "tickformat": ".0%" if span else None, "rangemode": "tozero"}
    layout = {
        "xaxis": across | {"range": [-0.6, len(labels) - 0.4]},
        "yaxis": upward | ({"range": list(span)} if span else {}),
        "barmode": "group",
        "bargap": 0.3,
        "bargroupgap": 0.05,
        "showlegend": len(bars) > 1,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": small},
        "margin": {"l": 8, "r": 8, "t": 30, "b": 8},
    }
    return theme.build(bars, layout, dark=dark, height=height)
