"""What the model would say after each layer: first choices as text, the probability of the record's token as colour."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from bartviz.analysis.lens import Lens, layer_name
from bartviz.drawing import axes, theme
from bartviz.drawing.arguments import expect
from bartviz.drawing.cells import BUTTONS, Part, color_bar, frames, written
from bartviz.language import _
from bartviz.language.percentages import percent

LINE = 34  # pixels of one layer
WIDE = 900  # pixels that the map has at most for the labels of its columns
LETTERS = 110  # Latin letters that fit beside each other in one line of cells
NARROW = 5  # letters of a cell, up to which they are smaller
SHORTEST = 3  # letters of a cell, below which none is written


def lens(one: Lens, *, dark: bool = False) -> go.Figure:
    """Layers down, the first row the embeddings; the steps across, named by the tokens that the record has there.

    Each cell has the token that the model would say, in the colour of the probability that the record's own token has
    there, 0 to 1. Where cells are too narrow for a token only the pointer says it, with all that ``one`` keeps. Of a
    single step all choices that ``one`` keeps are shown instead, each in the colour of its own probability.

    >>> figure = bartviz.figures.lens(bartviz.lens(model, record, stack="encoder"))
    """
    expect(one, Lens, "the result of bartviz.lens")
    colors, single = theme.scale(one.stack, dark), len(one.steps) == 1
    values = one.probabilities[:, 0] if single else one.probability  # (L + 1, k) or (L + 1, T)
    texts = [layer[0] if single else tuple(step[0] for step in layer) for layer in one.labels]
    steps = values.shape[1]
    labels = [_("choice {rank}", rank=rank + 1) for rank in range(steps)] if single else list(one.steps)
    unit = _("probability") if single else _("probability of the record's token")
    rows, said = [layer_name(index) for index in range(one.layers + 1)], _said(one)
    heat: Part = {
        "type": "heatmap",
        "name": "lens",
        "z": values,
        "zmin": 0.0,
        "zmax": 1.0,
        "colorscale": colors,
        "colorbar": color_bar(unit, dark) | {"nticks": 5},
        "xgap": 1,
        "ygap": 1,
        "customdata": np.repeat(said, steps, axis=1) if single else said,
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    traces = [heat]
    room = LETTERS // max(steps, 1)
    if room >= SHORTEST:
        cut = [[theme.escape(_cut(label, room)) for label in layer] for layer in texts]
        traces.append(written(values, cut, 1.0, colors, size=12 if room > NARROW else 11))
    above = axes.shown(labels, None, WIDE, "", dark) | {"title": {"text": ""}}
    layout: Part = {
        "xaxis": above
        | {"side": "top", "range": [-0.5, steps - 0.5], "showgrid": False, "tickangle": 0 if room >= 8 else -90},
        "yaxis": {
            "range": [one.layers + 0.5, -0.5],
            "tickvals": list(range(one.layers + 1)),
            "ticktext": rows,
            "ticks": "",
            "showgrid": False,
        },
        "shapes": frames(values.shape, one.layers, dark),
        "modebar": BUTTONS,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
    }
    high = LINE * (one.layers + 1) + 110 + (20 if room >= 8 else int(axes.label_room(labels)))
    return theme.build(traces, layout, dark=dark, height=high)


def _cut(label: str, room: int) -> str:
    return label if theme.width(label) <= room else f"{label[: room - 1]}…"


def _said(one: Lens) -> np.ndarray[tuple[int, ...], np.dtype[np.object_]]:
    """(L + 1, T) what the pointer says of a cell."""
    said = np.empty(one.rank.shape, object)
    for layer, step in np.ndindex(one.rank.shape):
        choices = ", ".join(
            f"{theme.escape(label)} {percent(float(share))}"
            for label, share in zip(one.labels[layer][step], one.probabilities[layer, step], strict=True)
        )
        own = _(
            "“{token}” is choice {rank:,} here, {share}",
            token=theme.escape(one.steps[step]),
            rank=int(one.rank[layer, step]),
            share=percent(float(one.probability[layer, step])),
        )
        bits = _("entropy {bits:.2f} bits", bits=float(one.entropy[layer, step]))
        said[layer, step] = f"<b>{layer_name(layer)}</b><br>{choices}<br>{own}<br>{bits}"
    return said
