"""Figures of one changed token: the change of each encoding and each row of attention, layer by layer."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Literal

import numpy as np
import plotly.graph_objects as go

from bartviz.analysis import sentence_words
from bartviz.analysis.edits import Edit, Reach
from bartviz.arrays import Floats
from bartviz.drawing import theme
from bartviz.drawing.arguments import expect
from bartviz.errors import SettingError
from bartviz.features.experiments.figure_ablation import before_after
from bartviz.features.experiments.figure_panels import Panel, panels
from bartviz.language import _, later, mark
from bartviz.record.attention import Kind
from bartviz.text.tokens import Tokens

View = Literal["encodings", "attention", "outputs"]
LOWEST = -3.0  # of the colours: a thousandth, and everything below
TICKS = ([-3.0, -2.0, -1.0, 0.0], ["≤ 0.001", "0.01", "0.1", "1"])
MASKS = {
    "bidirectional": mark("Bidirectional: all open"),
    "window": mark("Window of {} on each side"),
    "causal": mark("Causal"),
}


def edits(
    found: Edit | Reach, *, view: View = "encodings", kinds: Collection[Kind] | None = None, dark: bool = False
) -> go.Figure:
    """The effect of one changed token. Layers down, positions across; 0 is written where all numbers are bit-equal.

    An edit: "encodings" the relative change of each stack's states, |h' - h| / |h|, in powers of ten; "attention" the
    change of each row of each kind (Jensen-Shannon distance, mean over heads); "outputs" the probabilities of the
    record's tokens before and after. A reach: encodings under three masks. Raises SettingError.

    >>> figure = bartviz.figures.edits(bartviz.edit(model, record, 6, "house"))
    """
    expect(found, (Edit, Reach), "the result of bartviz.edit or bartviz.reach")
    if isinstance(found, Reach):
        return reach(found, dark=dark)
    if view == "outputs":
        return _outputs(found, dark)
    if view == "encodings":
        stacks = [stack for stack in found.hidden if kinds is None or stack in kinds]
        return panels([_states(found, stack, dark) for stack in stacks], dark=dark)
    if view != "attention":
        raise SettingError(later('The view of an edit is one of "encodings", "attention" or "outputs".'))
    chosen = [kind for kind in found.attention if kinds is None or kind in kinds]
    return panels([_rows(found, kind, dark) for kind in chosen], dark=dark)


def reach(
    found: Reach,
    *,
    masks: Collection[str] | None = None,
    place: int | None = None,
    bar: bool = True,
    dark: bool = False,
) -> go.Figure:
    """The encodings' change under each mask, side by side; ``place`` is framed, like the changed token.

    ``bar``: whether the colour bar, which is the same for all masks, is drawn.
    """
    given = []
    for mask, change in found.changes.items():
        if masks is not None and mask not in masks:
            continue
        title = _(MASKS[mask]).format(found.window)
        chosen = () if place is None else [(row, place) for row in range(len(change))]
        panel = _change(title, change, found.tokens, found.kind, found.position, dark, chosen=chosen)
        given.append(replace(panel, unit=_("relative change"), bar=bar))
    return panels(given, dark=dark)


def _states(found: Edit, stack: Kind, dark: bool) -> Panel:
    marked = found.position if stack == found.edited else None
    title = sentence_words.capitalized(_("{kind} states: relative change", kind=sentence_words.kind(stack)))
    return _change(title, found.hidden[stack], found.tokens(stack), stack, marked, dark)


def _change(
    title: str,
    change: Floats,
    tokens: Tokens,
    kind: Kind,
    marked: int | None,
    dark: bool,
    *,
    chosen: Collection[tuple[int, int]] = (),
) -> Panel:
    """A relative change (L + 1, n) in powers of ten, gaps where it is exactly 0."""
    zero = np.asarray(change == 0, np.bool_)
    with np.errstate(divide="ignore"):
        tens = np.where(zero, np.nan, np.maximum(np.log10(change), LOWEST)).astype(np.float32)
    layers = len(change) - 1
    return Panel(
        title,
        tens,
        [_("embedding"), *(f"L{layer}" for layer in range(layers))],
        tokens.labels,
        theme.scale(kind, dark),
        LOWEST - 0.4,
        0.3,
        _("{token} after {layer}: changed by {change}", token="<b>%{x}</b>", layer="%{y}", change="%{customdata:.3g}")
        + "<extra></extra>",
        ticks=TICKS,
        shown=change,
        special=tokens.special,
        zeros=zero,
        marked=marked,
        chosen=list(chosen),
    )


def _rows(found: Edit, kind: Kind, dark: bool) -> Panel:
    change = found.rows_changed(kind)
    attention = found.record.attention(kind)
    zero = np.asarray(found.equal[kind].all(axis=1), np.bool_)  # (L, Q)
    marked = found.position if kind == found.edited or (kind == "cross" and found.edited == "decoder") else None
    high = max(0.05, *(float(found.rows_changed(one).max()) for one in found.attention))
    return Panel(
        sentence_words.capitalized(_("{kind} rows of attention", kind=sentence_words.kind(kind))),
        np.where(zero, np.nan, change).astype(np.float32),
        [f"L{layer}" for layer in range(len(change))],
        attention.query.labels,
        theme.scale(kind, dark),
        0.0,
        high,
        _(
            "row of {token} in {layer} moved by {distance}, mean over heads",
            token="<b>%{x}</b>",
            layer="%{y}",
            distance="%{customdata:.3f}",
        )
        + "<extra></extra>",
        unit=_("Jensen-Shannon distance"),
        shown=change,
        special=attention.query.special,
        zeros=zero,
        marked=marked,
    )


def _outputs(found: Edit, dark: bool) -> go.Figure:
    if found.before is None or found.after is None:
        raise SettingError(later("This model does not predict tokens: see its encodings."))
    turned = np.flatnonzero(found.before.best != found.after.best)
    return before_after(
        found.targets,
        found.before.log_probability,
        found.after.log_probability,
        now=found.after.labels,
        turned=turned,
        color=theme.kind_color("decoder" if "decoder" in found.record.kinds else "encoder", dark),  # what predicts
        dark=dark,
        height=300,
        ink=theme.palette(dark).ink,
    )
