"""The layers of models side by side: their parts, width and number.

Encoder to the left in teal, decoder to the right in vermilion, its cross-attention violet; the first layer is below.
In all bars the parts come in one order from the left.
Between them is a gap: a layer of one is no part of a layer of the other. A model of one side takes the room of one.
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
CLOSE = 12  # numbers of layers above each other, at most
HIGH = 320  # pixels of the deepest model's layers, so that all are on one screen
BESIDE = 0.08  # of it: between the bars and the edge of their panel


def models(given: Sequence[Subject | str] | str, *, dark: bool = False, height: int | None = None) -> go.Figure:
    """One panel per model. A bar is a layer, as long as the model is wide; its parts are as long as their share of the
    layer's parameters. Encoders are at the left, decoders at the right. At least one model: a name of the catalogue, or
    ``analysis.tables.subject`` of any. Raises ModelError for a name that is not known.

    >>> figure = bartviz.figures.models(["facebook/bart-base", "t5-base"])
    """
    subjects = [subject(one) if isinstance(one, str) else one for one in ([given] if isinstance(given, str) else given)]
    if not subjects:
        raise SettingError("Name at least one model.")
    deepest = max(stack.layers for one in subjects for stack in one.stacks)
    widest = max(one.sizes.width for one in subjects)
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"barmode": "overlay", "bargap": 0.25, "showlegend": False, "annotations": []}
    gap, left, gutter = 0.04, 0.0, widest * APART / 2
    ranges = [_range(one, widest, gutter) for one in subjects]
    scale = (1 - gap * (len(subjects) - 1)) / sum(end - start for start, end in ranges)  # one for all panels
    for number, (one, (start, end)) in enumerate(zip(subjects, ranges, strict=True)):
        suffix = "" if number == 0 else str(number + 1)
        share = scale * (end - start)
        traces += _bars(one, f"x{suffix}", gutter, dark)
        layout[f"xaxis{suffix}"] = {
            "domain": [left, min(left + share, 1.0)],
            "range": [start, end],
            "showgrid": False,
            "showticklabels": False,
            "fixedrange": True,
            "anchor": "y",
        }
        layout["annotations"] += _titles(one, f"x{suffix}", gutter, widest, deepest, dark)
        left += share + gap
    layout["yaxis"] = {
        "range": [-0.6, deepest + 0.4],
        "title": {"text": _("layer (counted from the bottom)")},
        "showgrid": False,
        "fixedrange": True,
        "tickvals": _numbered(deepest),
    }
    layout["margin"] = {"l": 8, "r": 28, "t": 66, "b": 8}  # a title may be wider than the bars of one side
    return theme.build(traces, layout, dark=dark, height=height or 130 + min(18 * max(deepest, 6), HIGH))


def _numbered(layers: int) -> list[int]:
    """The layers that have a number: all of a few, else every third or so, and always the last."""
    step = -(-layers // CLOSE)
    return [*range(0, layers - step, step), layers - 1]


def _range(one: Subject, widest: int, gutter: float) -> tuple[float, float]:
    """The ends of a model's panel: both sides, or the one that it has, in the middle."""
    reach = (1 + BESIDE) * widest + gutter
    if _side(one) == 0:
        return -reach, reach
    middle = _side(one) * (gutter + 0.5 * one.sizes.width)
    return middle - (0.5 + BESIDE) * widest, middle + (0.5 + BESIDE) * widest


def _side(one: Subject) -> int:
    """-1 of an encoder alone, 1 of a decoder alone, 0 of both."""
    return 0 if one.sizes.encoder and one.sizes.decoder else -1 if one.sizes.encoder else 1


def _bars(one: Subject, axis: str, gutter: float, dark: bool) -> Iterator[dict[str, Any]]:
    hover = f"%{{customdata}}<extra>{theme.escape(_brief(one.name))}</extra>"
    for side in ("encoder", "decoder"):
        layers = sorted({row.layer for row in one.rows if row.component == side and row.layer is not None})
        found: Counter[tuple[int, str]] = Counter()
        for row in one.rows:
            if row.component == side and row.layer is not None:
                found[row.layer, parameter_totals.sublayer(row.role)] += row.elements
        totals = [sum(found[layer, name] for name in SUBLAYERS) for layer in layers]
        base = [gutter if side == "decoder" else -gutter - one.sizes.width] * len(layers)
        for name, label in SUBLAYERS.items():
            counts = [found[layer, name] for layer in layers]
            if not any(counts):
                continue
            size = [one.sizes.width * count / total for count, total in zip(counts, totals, strict=True)]
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


def _titles(one: Subject, axis: str, gutter: float, widest: int, deepest: int, dark: bool) -> Iterator[dict[str, Any]]:
    """Above the deepest model's bars, in one line for all, the family, name and size, and above each side its name."""
    side = _side(one)
    middle = side * (gutter + 0.5 * one.sizes.width)
    total = parameter_totals.total(one.rows)
    said = (
        _("{count:,.0f} M parameters", count=total / 1e6)
        if total >= 1e7
        else _("{count:,.1f} M parameters", count=total / 1e6)
    )
    top = deepest - 0.4
    small = "<br><span style='font-size:0.79em'>"  # three fit side by side on a phone
    yield {
        "text": f"<b>{theme.escape(one.sizes.family.title)}</b>"
        f"{small}{theme.escape(_brief(one.name))}</span>{small}{said}</span>",
        "x": middle,
        "y": top,
        "yshift": 18,
        "xref": axis,
        "yref": "y",
        "showarrow": False,
        "xanchor": "center",
        "yanchor": "bottom",
        "align": "center",
        "font": {"size": 14},
    }
    names = {-1: _("encoder"), 1: _("decoder")} if side == 0 else {-1: _("encoder only"), 1: _("decoder only")}
    away = gutter + (max(0.5 * one.sizes.width, 0.36 * widest) if side == 0 else 0.5 * one.sizes.width)
    for stack, where in ((one.sizes.encoder, -1), (one.sizes.decoder, 1)):
        if stack is not None:
            yield {
                "text": names[where],
                "x": where * away,  # the names stay apart however narrow the bars are
                "y": stack.layers - 0.4,
                "xref": axis,
                "yref": "y",
                "showarrow": False,
                "xanchor": "center",
                "yanchor": "bottom",
                "font": {"size": 12, "color": theme.palette(dark).faint},
            }


def _brief(name: str) -> str:
    return name.rsplit("/", 1)[-1]
