"""Patterns of masks: small squares for a gallery, and the effect of a pattern on one row of weights."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from bartviz.analysis.mask_patterns import PATTERNS, example_bias, pattern
from bartviz.arrays import Bools, Floats
from bartviz.drawing import axes, masked_cells, theme
from bartviz.drawing.cells import Part
from bartviz.language import _
from bartviz.record.attention import Kind


def gallery(n: int = 16, *, dark: bool = False) -> str:
    """HTML of small squares (n, n), one for each pattern, with its name and the models that use it.

    All texts are our own and the pictures are inline: nothing is fetched. Squares wrap to the available width.
    """
    colors = theme.palette(dark)
    items = [
        (known.title, known.models, svg(pattern(known.name, n), known.kind, dark=dark)) for known in PATTERNS.values()
    ]
    items.append(
        (_("relative bias (no mask)"), _("T5, mT5: a learned number for each distance is added"), _bias_svg(n, dark))
    )
    cells = "".join(_item(*item, ink=colors.ink, faint=colors.faint) for item in items)
    style = "display:grid;grid-template-columns:repeat(auto-fill,minmax(132px,1fr));gap:18px 16px"
    return f'<div style="{style}">{cells}</div>'


def _item(title: str, models: str, picture: str, *, ink: str, faint: str) -> str:
    source = "data:image/svg+xml;base64," + base64.b64encode(picture.encode()).decode()
    return (
        f'<figure style="margin:0"><img src="{source}" alt="{html.escape(title)}" style="width:100%;max-width:150px;'
        f'aspect-ratio:1"><figcaption style="font-size:0.85rem;line-height:1.3"><b style="color:{ink}">'
        f'{html.escape(title)}</b><br><span style="color:{faint}">{html.escape(models)}</span></figcaption></figure>'
    )


def svg(mask: Bools, kind: Kind, *, dark: bool = False) -> str:
    """A mask (Q, K) as an SVG picture: open cells in the kind's colour, closed ones hatched."""
    colors = theme.palette(dark)
    rows, columns = mask.shape
    cells = _cells(mask, theme.kind_color(kind, dark))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {10 * columns} {10 * rows}"><defs>'
        '<pattern id="h" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        f'<rect width="6" height="6" fill="{colors.masked}"/><rect width="1.2" height="6" fill="{colors.hatch}"/>'
        f'</pattern></defs><rect width="100%" height="100%" fill="url(#h)"/>{cells}</svg>'
    )


def _cells(mask: Bools, color: str) -> str:
    """One path with a little square for each open cell."""
    y, x = np.nonzero(mask)
    squares = "".join(f"M{10 * column + 1} {10 * row + 1}h8v8h-8z" for row, column in zip(y, x, strict=True))
    return f'<path d="{squares}" fill="{color}"/>'


def _bias_svg(n: int, dark: bool) -> str:
    """The example of T5's bias as a picture: the darker (in the dark theme, lighter), the larger the negative bias."""
    bias = example_bias(n)
    steps = np.rint(7 * bias / bias.min()).astype(int)  # (n, n) 0..7
    colors = [str(color) for _place, color in theme.scale("encoder", dark)]
    layers = "".join(_cells(steps == step, colors[step]) for step in range(8))
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {10 * n} {10 * n}">{layers}</svg>'


def row_bars(
    before: Floats,
    after: Floats,
    labels: Sequence[str],
    *,
    kind: Kind,
    mask: Bools | None = None,
    special: Bools | None = None,
    name: str | None = None,
    dark: bool = False,
) -> go.Figure:
    """One row of weights (K,) over its keys: without a mask as outlines, with the mask as bars; closed keys are
    hatched."""
    positions = np.arange(len(labels), dtype=np.int16)
    called, outline = name or _("with the pattern"), {"color": theme.palette(dark).faint, "width": 1.5}
    values = {"token": "<b>%{x}</b>", "weight": "%{y:.3f}"}
    open_ = _("{token}: {weight} with nothing closed", **values)
    then = _("{token}: {weight} {name}", name=theme.escape(called), **values)
    traces: list[Part] = [
        {
            "type": "bar",
            "name": _("nothing closed"),
            "x": positions,
            "y": before,
            "width": 0.86,
            "hovertemplate": f"{open_}<extra></extra>",
            "marker": {"color": "rgba(0,0,0,0)", "line": outline},
        },
        {
            "type": "bar",
            "name": called,
            "x": positions,
            "y": after,
            "width": 0.6,
            "hovertemplate": f"{then}<extra></extra>",
            "marker": {"color": theme.kind_color(kind, dark)},
        },
    ]
    if mask is not None and not mask.all():
        traces.insert(0, _closed_keys(~mask, float(max(before.max(), np.nanmax(after))) * 1.05, dark))
    return theme.build(traces, _bar_layout(labels, special, dark), dark=dark, height=300)


def _closed_keys(closed: Bools, top: float, dark: bool) -> Part:
    """Hatching behind the keys that are closed to the row, as high as the figure."""
    return {
        "type": "bar",
        "name": _("closed"),
        "hoverinfo": "skip",
        "width": 1,
        "x": np.flatnonzero(closed).astype(np.int16),
        "y": np.full(int(closed.sum()), top, np.float32),
        "marker": {"color": theme.palette(dark).masked, "line": {"width": 0}, "pattern": masked_cells.pattern(dark)},
    }


def _bar_layout(labels: Sequence[str], special: Bools | None, dark: bool) -> Part:
    small = {"size": 12, "color": theme.palette(dark).faint}
    return {
        "barmode": "overlay",
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "margin": {"l": 8, "r": 8, "t": 36, "b": 8},
        "xaxis": axes.shown(labels, special, axes.WIDTH, _(axes.COLUMN_TITLE), dark)
        | {"range": [-0.6, len(labels) - 0.4], "tickangle": -90 if len(labels) > 12 else 0},
        "yaxis": {"title": {"text": _("weight"), "font": small}, "rangemode": "tozero"},
    }
