"""Attributions as maps: a row for each step, a column for each token that was read, earlier outputs beside.

Letters in shapes: T steps, n tokens that were read.
"""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from bartviz.analysis import sentence_words
from bartviz.analysis.attribution import Attribution, Axis
from bartviz.arrays import Bools, Floats
from bartviz.drawing import axes, masked_cells, theme
from bartviz.drawing.arguments import expect
from bartviz.drawing.cells import Part, closed, color_bar, frames, grid, pool
from bartviz.drawing.maps import COLUMN, ROW, SIDE, at_most
from bartviz.drawing.side_by_side import side_by_side
from bartviz.language import _
from bartviz.record.attention import Kind

NEEDED = "the result of bartviz.attribute"
HEAT = "attribution"  # the trace of the numbers
FAINTEST = 1e-3  # the end of the scale at least, so that rounding errors are not coloured


def attribution(found: Attribution, *, dark: bool = False) -> go.Figure:
    """Steps down, tokens of the source across, and beside them earlier outputs, where the method has numbers for them.

    Shares are coloured from 0 to the largest. Signed numbers run orange (speaks against the word) - neutral - blue
    (speaks for it), evenly to both sides; both maps share one scale and its bar. What a step does not read yet is
    hatched. Along a side of more than 360 tokens each cell is the strongest of several numbers, which the pointer says.

    >>> figure = bartviz.figures.attribution(bartviz.attribute(model, record, method="rollout").words())
    """
    expect(found, Attribution, NEEDED)
    high = largest(found)
    source_unread, earlier_unread = found.unread
    titles, drawn = [title(found)], [_map(found, found.source, found.values, source_unread, found.kind, high, dark)]
    if found.earlier is not None and found.earlier_values is not None and earlier_unread is not None:
        titles.append(_("earlier outputs"))
        drawn.append(_map(found, found.earlier, found.earlier_values, earlier_unread, "decoder", high, dark))
        if found.method.sums is None:  # the bar of the first map is its own, too
            drawn[1].update_traces(showscale=False, selector={"name": HEAT})
    return side_by_side(drawn, titles, dark=dark)


def title(found: Attribution) -> str:
    """The method, and the token that is compared with."""
    method = sentence_words.capitalized(_(found.method.name))
    if found.contrast is None:
        return _("{method}: source", method=method)
    return _("{method}, against “{token}”: source", method=method, token=found.contrast)


def largest(found: Attribution) -> float:
    """The end of the colour scale: the largest number of both sides, whatever its sign."""
    sides = (found.values, found.earlier_values)
    return max(FAINTEST, *(float(np.abs(side).max(initial=0.0)) for side in sides if side is not None))


def unit(found: Attribution) -> str:
    """The meaning of the colours."""
    if found.method.sums is not None:
        return _("share of the step")
    return _("nats: blue for the word, orange against it")


def scale(found: Attribution, kind: Kind, dark: bool = False) -> theme.Scale:
    """The colours of one side's numbers: from 0 on, or of signed numbers evenly to both sides of 0."""
    return theme.difference_scale(dark) if found.method.sums is None else theme.scale(kind, dark)


def _map(
    found: Attribution, axis: Axis, values: Floats, unread: Bools, kind: Kind, high: float, dark: bool
) -> go.Figure:
    rows, columns, signed = found.steps.labels, axis.labels, found.method.sums is None
    factor = -(-max(values.shape) // SIDE)
    seen = np.where(unread, np.float32(np.nan), values)
    heat: Part = {
        "type": "heatmap",
        "name": HEAT,
        "z": strongest(seen, factor),
        **grid(factor),
        "zmin": -high if signed else 0.0,
        "zmax": high,
        "colorscale": scale(found, kind, dark),
        "colorbar": color_bar(unit(found), dark) | {"nticks": 5},
        "hoverongaps": False,
        "hovertemplate": _hover(signed, factor),
    }
    traces = [heat, axes.anchor()]
    if unread.any():
        said = closed(~unread, factor, _("{row} does not read {column} yet", row=ROW, column=COLUMN))
        traces = [said, *traces, masked_cells.hatching(unread, dark)]
    layout = axes.token_axes(
        rows,
        columns,
        query_special=found.steps.special,
        key_special=axis.special,
        titles=(_("explained ↓"), _("read →")),
        pooled=factor,
        dark=dark,
    ) | {"shapes": frames(values.shape, None, dark)}
    return theme.build(traces, layout, dark=dark, height=axes.height(rows, columns))


def strongest(values: Floats, factor: int) -> Floats:
    """(ceil(T / factor), ceil(n / factor)): of each block the number furthest from 0; NaN if all of it is NaN."""
    high, low = pool(values, factor), -pool(-values, factor)
    return np.where(high >= -low, high, low)


def _hover(signed: bool, factor: int) -> str:
    number = at_most("%{z:+.3f}" if signed else "%{z:.3f}", factor)
    if signed:
        said = _("{column} speaks for {row}: {number} nats", column=COLUMN, row=ROW, number=number)
    else:
        said = _("{row} comes from {column}: {number}", column=COLUMN, row=ROW, number=number)
    return f"{said}<extra></extra>"
