"""The layers of models side by side: their parts, width and number.

Encoder to the left in teal, decoder to the right in vermilion, its cross-attention violet; the first layer is below.
Between them is a gap: a layer of one is no part of a layer of the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import plotly.graph_objects as go

from bartviz.analysis import parameter_totals
from bartviz.drawing import theme
from bartviz.errors import SettingError
from bartviz.features.models.numbers_model_table import Subject, subject
from bartviz.language import _, mark
from bartviz.record.attention import Kind

SUBLAYERS = {
    "self-attention": mark("self-attention"),
    "cross-attention": mark("cross-attention"),
    "feed-forward": mark("feed-forward"),
}


APART = 0.1  # of the widest model: between encoder and decoder


def models(given: Sequence[Subject | str] | str, *, dark: bool = False, height: int | None = None) -> go.Figure:
    """One panel per model. A bar is a layer, as long as the model is wide; its parts are as long as their share of the
    layer's parameters. Encoders point left, decoders right. At least one model: a name of the catalogue, or
    ``analysis.tables.subject`` of any. Raises ModelError for a name that is not known.

    >>> figure = bartviz.figures.models(["facebook/bart-base", "t5-base"])
    """
    subjects = [subject(one) if isinstance(one, str) else one for one in ([given] if isinstance(given, str) else given)]
    if not subjects:
        raise SettingError("Name at least one model.")
    deepest = max(stack.layers for one in subjects for stack in one.stacks)
    widest = max(one.sizes.width for one in subjects)
    step = max(1, deepest // 6)  # the last layer has a number, too
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"barmode": "overlay", "bargap": 0.25, "showlegend": False, "annotations": []}
    gap = 0.03
    share = (1 - gap * (len(subjects) - 1)) / len(subjects)
    for number, one in enumerate(subjects):
        suffix = "" if number == 0 else str(number + 1)
        left = number * (share + gap)
        gutter = widest * APART / 2
        traces += _bars(one, f"x{suffix}", gutter, dark)
        reach = widest * 1.04 + gutter
        layout[f"xaxis{suffix}"] = {
            "domain": [left, left + share],
            "range": [-reach, reach],
            "showgrid": False,
            "showticklabels": False,
            "fixedrange": True,
            "anchor": "y",
        }
        layout["annotations"] += _titles(one, f"x{suffix}", gutter, dark)
    layout["yaxis"] = {
        "range": [-0.6, deepest + 0.4],
        "title": {"text": _("layer, from below")},
        "showgrid": False,
        "fixedrange": True,
        "tickvals": [*range(0, deepest, step)],
    }
    layout["margin"] = {"l": 8, "r": 28, "t": 56, "b": 8}  # a title over the right half alone is wider than that half
    return theme.build(traces, layout, dark=dark, height=height or 130 + 18 * max(deepest, 6))


def _bars(one: Subject, axis: str, gutter: float, dark: bool) -> Iterator[dict[str, Any]]:
    hover = f"%{{customdata}}<extra>{theme.escape(_brief(one.name))}</extra>"
    for side, direction in (("encoder", -1), ("decoder", 1)):
        layers = sorted({row.layer for row in one.rows if row.component == side and row.layer is not None})
        found: Counter[tuple[int, str]] = Counter()
        for row in one.rows:
            if row.component == side and row.layer is not None:
                found[row.layer, parameter_totals.sublayer(row.role)] += row.elements
        totals = [sum(found[layer, name] for name in SUBLAYERS) for layer in layers]
        base = [direction * gutter] * len(layers)
        for name, label in SUBLAYERS.items():
            counts = [found[layer, name] for layer in layers]
            if not any(counts):
                continue
            size = [direction * one.sizes.width * count / total for count, total in zip(counts, totals, strict=True)]
            said = [
                _("layer {layer}, {part}: {count:,} parameters", layer=layer, part=_(label), count=count)
                for layer, count in zip(layers, counts, strict=True)
            ]
            yield {
                "type": "bar",
                "orientation": "h",
                "y": layers,
                "x": size,
                "base": base,
                "xaxis": axis,
                "yaxis": "y",
                "marker": {
                    "color": _color(side, name, dark),
                    "line": {"width": 1, "color": theme.kind_color(_kind(side, name), dark)},
                },
                "customdata": said,
                "hovertemplate": hover,
            }
            base = [start + length for start, length in zip(base, size, strict=True)]


def legend(subjects: Sequence[Subject], *, dark: bool = False) -> dict[str, tuple[str, ...]]:
    """The colours of each part of a layer in the drawing: the encoder's, then the decoder's, of the sides drawn."""
    sides = [
        side for side in ("encoder", "decoder") if any(row.component == side for one in subjects for row in one.rows)
    ]
    drawn = {parameter_totals.sublayer(row.role) for one in subjects for row in one.rows if row.layer is not None}
    return {
        part: tuple(dict.fromkeys(_color(side, part, dark) for side in sides)) for part in SUBLAYERS if part in drawn
    }


def _color(side: str, name: str, dark: bool) -> str:
    """Self-attention in the side's colour, its feed-forward layer in a quiet shade of it, cross-attention violet."""
    return theme.tint(_kind(side, name), dark) if name == "feed-forward" else theme.kind_color(_kind(side, name), dark)


def _kind(side: str, name: str) -> Kind:
    return "cross" if name == "cross-attention" else "encoder" if side == "encoder" else "decoder"


def _titles(one: Subject, axis: str, gutter: float, dark: bool) -> Iterator[dict[str, Any]]:
    """The model's name and size in the middle of its bars, and the names of its sides."""
    side = 0 if one.sizes.encoder and one.sizes.decoder else -1 if one.sizes.encoder else 1
    middle = side * (gutter + 0.5 * one.sizes.width)
    total = parameter_totals.total(one.rows)
    name = theme.escape(_brief(one.name))
    said = (
        _("{count:,.0f} M parameters", count=total / 1e6)
        if total >= 1e7
        else _("{count:,.1f} M parameters", count=total / 1e6)
    )
    yield {
        "text": f"<b>{name}</b><br><span style='font-size:11px'>{said}</span>",  # three fit side by side on a phone
        "x": middle,
        "y": 1,
        "xref": axis,
        "yref": "paper",
        "showarrow": False,
        "xanchor": "center",
        "yanchor": "bottom",
        "align": "center",
        "font": {"size": 13},
    }
    faint = {"size": 12, "color": theme.palette(dark).faint}
    both = one.sizes.encoder is not None and one.sizes.decoder is not None
    for stack, side, label in ((one.sizes.encoder, -1, _("encoder")), (one.sizes.decoder, 1, _("decoder"))):
        if stack is not None:
            # on both sides of the gap, where the names stay apart however narrow the bars are
            place = {"x": side * gutter, "xanchor": "right" if side < 0 else "left"}
            yield {
                "text": label,
                **(place if both else {"x": middle, "xanchor": "center"}),
                "y": stack.layers - 0.4,
                "xref": axis,
                "yref": "y",
                "showarrow": False,
                "yanchor": "bottom",
                "font": faint,
            }


def _brief(name: str) -> str:
    return name.rsplit("/", 1)[-1]
