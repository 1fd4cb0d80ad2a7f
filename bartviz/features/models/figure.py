"""The layers of models side by side: how many, and how many parameters each part of them has.

Encoder to the left in teal, decoder to the right in vermilion, its cross-attention violet; the first layer is below.
In all bars the parts come in one order from the left.
Between them is a gap: a layer of one is no part of a layer of the other. A model of one side takes the room of one.
Below the layers is what is no layer, as a grey block. Equal areas stand for equally many parameters in the whole
drawing: bars are as long as their layer has parameters, and blocks, all of one width, as high.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import plotly.graph_objects as go

from bartviz.analysis import matrix_titles, parameter_totals
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

APART = 0.1  # of the longest bar: between encoder and decoder
CLOSE = 16  # pixels: between the numbers of two layers, at least
ROW, HIGH = 18, 340  # pixels: of a layer, and of the deepest model, so that all is on one screen
BAR = 0.8  # of a row
BELOW = 1.0  # rows from the middle of the lowest bar to the block below it
BESIDE = 0.08  # of the longest bar: between the bars and the edge of their panel
GAP = 0.04  # of the width: between two panels
HEAD, FOOT = 92, 14  # pixels: of the titles above panels, and of what is below all lines
LINES, NEXT = 28, 16  # pixels: of the two lines below a block, and between two rows of panels
LEAST = 0.01  # of the model: what is no layer and has less, such as the pooler of BERT, is not drawn
HOLLOW = "rgba(0,0,0,0)"


@dataclass(frozen=True)
class _Drawn:
    """A model with the numbers of its drawing."""

    model: Subject

    @cached_property
    def sides(self) -> dict[str, list[Counter[str]]]:
        """Encoder and decoder, of those that it has: the parameters of each layer by part."""
        found: dict[str, dict[int, Counter[str]]] = {}
        for row in self.model.rows:
            if row.layer is not None:
                layer = found.setdefault(row.component, {}).setdefault(row.layer, Counter())
                layer[parameter_totals.sublayer(row.role)] += row.elements
        return {
            side: [layers[number] for number in sorted(layers)]
            for side in ("encoder", "decoder")
            if (layers := found.get(side))
        }

    @cached_property
    def own(self) -> dict[str, list[int]]:
        """Of each layer of a side, the parameters that no layer before it has: ALBERT's layers share them."""
        found = {side: [0] * len(layers) for side, layers in self.sides.items()}
        for row in self.model.rows:
            if row.layer is not None and row.component in found:
                found[row.component][row.layer] += row.count
        return found

    @cached_property
    def blocks(self) -> dict[parameter_totals.Part, int]:
        """What is no layer, if it is worth drawing; each matrix is counted once."""
        parts = parameter_totals.parts(self.model.rows)
        least = LEAST * sum(parts.values())
        return {name: parts[name] for name in ("embeddings", "head") if parts[name] > least}

    def longest(self, side: str) -> int:
        """The parameters of the largest layer."""
        return max(layer.total() for layer in self.sides[side])

    @property
    def side(self) -> int:
        """-1 of an encoder alone, 1 of a decoder alone, 0 of both."""
        return 0 if len(self.sides) == 2 else -1 if "encoder" in self.sides else 1


@dataclass(frozen=True)
class _Axes:
    """The axes of a panel, as plotly names them."""

    x: str
    y: str


@dataclass(frozen=True)
class _Row:
    """Models beside each other, and the parameters of the longest bar of all rows, which is the scale of all."""

    models: Sequence[_Drawn]
    longest: int

    @cached_property
    def deepest(self) -> int:
        """The number of layers of the deepest model."""
        return max(len(layers) for one in self.models for layers in one.sides.values())

    @property
    def range(self) -> tuple[float, float]:
        """Of the axis of layers, with room for the blocks below them."""
        return -BELOW - max(map(self.high, self.models)) - 0.1, self.deepest - 0.5

    @property
    def high_in_layers(self) -> float:
        lowest, highest = self.range
        return highest - lowest

    @property
    def foot(self) -> int:
        """The pixels of the lines below the blocks."""
        return FOOT + LINES * max(len(one.blocks) for one in self.models)

    @property
    def width(self) -> float:
        """The parameters that a picture as wide as this row has room for."""
        spans = sum(end - start for start, end in map(self.ends, self.models))
        return spans / (1 - GAP * (len(self.models) - 1))

    def panels(self, width: float) -> Iterator[tuple[_Drawn, dict[str, Any]]]:
        """Each model and its place in a picture with room for ``width`` parameters. What they leave is around each."""
        around = (width - self.width) * (1 - GAP * (len(self.models) - 1)) / (2 * len(self.models))
        left = 0.0
        for one in self.models:
            start, end = self.ends(one)
            right = left + (end - start + 2 * around) / width
            yield one, {"domain": [left, min(right, 1.0)], "range": [start - around, end + around]}
            left = right + GAP

    @property
    def gutter(self) -> float:
        """From the middle of a panel to the bars of a side."""
        return self.longest * APART / 2

    def middle(self, one: _Drawn) -> float:
        """Of the bars, and of the block below them."""
        if one.side == 0:
            return 0.0
        return one.side * (self.gutter + 0.5 * one.longest("encoder" if one.side < 0 else "decoder"))

    def ends(self, one: _Drawn) -> tuple[float, float]:
        """The ends of a model's panel: both sides, or the one that it has, in the middle."""
        reach = (1 + BESIDE) * self.longest + self.gutter if one.side == 0 else (0.5 + BESIDE) * self.longest
        return self.middle(one) - reach, self.middle(one) + reach

    def high(self, one: _Drawn) -> float:
        """The rows of a model's block."""
        return BAR * sum(one.blocks.values()) / self.longest


def models(
    given: Sequence[Subject | str] | str, *, dark: bool = False, height: int | None = None, beside: int | None = None
) -> go.Figure:
    """One panel per model. A bar is a layer, and as long as it has parameters, of which each part has its share; the
    embeddings are a block below them. Equal areas stand for equally many parameters. Encoders are at the left, decoders
    at the right. At least one model: a name of the catalogue, or ``analysis.tables.subject`` of any. ``beside``: how
    many models at most are beside each other, for a narrow picture; by default all. Raises ModelError for a name that
    is not known.

    >>> figure = bartviz.figures.models(["facebook/bart-base", "t5-base"])
    """
    names = [given] if isinstance(given, str) else given
    drawn = [_Drawn(subject(one) if isinstance(one, str) else one) for one in names]
    if not drawn:
        raise SettingError("Name at least one model.")
    most = len(drawn) if beside is None else max(beside, 1)
    longest = max(one.longest(side) for one in drawn for side in one.sides)
    rows = [_Row(drawn[first : first + most], longest) for first in range(0, len(drawn), most)]
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"barmode": "overlay", "showlegend": False, "annotations": []}
    highest, width = max(row.high_in_layers for row in rows), max(row.width for row in rows)
    layer = min(ROW * max(highest, 8), HIGH) / highest  # pixels
    inner = sum(row.high_in_layers * layer for row in rows) + sum(row.foot + NEXT + HEAD for row in rows[:-1])
    top = inner
    for number, row in enumerate(rows, start=1):
        bottom = top - row.high_in_layers * layer
        y = {"domain": [max(bottom / inner, 0.0), top / inner], "range": row.range}
        layout[f"yaxis{number}"] = y | {
            "title": {"text": _("layer (counted from the bottom)") if len(rows) == 1 else ""},
            "showgrid": False,
            "fixedrange": True,
            "tickvals": _numbered(row.deepest, layer),
            "ticklabelstandoff": 5,  # on a phone the sizes of layers are close to these
        }
        for place, (one, x) in enumerate(row.panels(width), start=1 + most * (number - 1)):
            axes = _Axes(f"x{place}", f"y{number}")
            layout[f"xaxis{place}"] = x | {
                "showgrid": False,
                "showticklabels": False,
                "fixedrange": True,
                "anchor": axes.y,
            }
            traces += [*_bars(one, axes, row, dark), *_blocks(one, axes, row, dark)]
            layout["annotations"] += _titles(one, axes, row, dark)
        top = bottom - row.foot - NEXT - HEAD
    single = any(row.models[-1].side for row in rows if row.width == width)
    right = 28 if single else 8  # a title may be wider than the bars of one side
    layout["margin"] = {"l": 8, "r": right, "t": HEAD, "b": rows[-1].foot}
    return theme.build(traces, layout, dark=dark, height=height or HEAD + rows[-1].foot + round(inner))


def _numbered(layers: int, high: float) -> list[int]:
    """The layers, each ``high`` pixels, that have a number: all that have room for one, and always the last."""
    step = math.ceil(CLOSE / high)
    return [*range(0, layers - step, step), layers - 1]


def _hover(one: _Drawn) -> str:
    return f"%{{customdata}}<extra>{theme.escape(_brief(one.model.name))}</extra>"


def _bars(one: _Drawn, axes: _Axes, row: _Row, dark: bool) -> Iterator[dict[str, Any]]:
    """The layers; those without parameters of their own are hollow."""
    for side, layers in one.sides.items():
        start = row.gutter if side == "decoder" else -row.gutter - one.longest(side)
        base = [start] * len(layers)
        for name, label in SUBLAYERS.items():
            counts = [layer[name] for layer in layers]
            if not any(counts):
                continue
            color = _color(side, name, dark)
            yield {
                "type": "bar",
                "orientation": "h",
                "y": [*range(len(layers))],
                "x": counts,
                "base": base,
                "width": BAR,
                "xaxis": axes.x,
                "yaxis": axes.y,
                "marker": {
                    "color": [color if own else HOLLOW for own in one.own[side]],
                    "line": {"width": 1, "color": theme.kind_color(_kind(side, name), dark)},
                },
                "customdata": [
                    _("layer {layer}, {part}: {count:,} parameters", layer=layer, part=_(label), count=count)
                    for layer, count in enumerate(counts)
                ],
                "hovertemplate": _hover(one),
            }
            base = [begun + count for begun, count in zip(base, counts, strict=True)]


def _blocks(one: _Drawn, axes: _Axes, row: _Row, dark: bool) -> Iterator[dict[str, Any]]:
    """The block below the layers: embeddings, and an output layer that is not the embeddings."""
    high, colors = row.high(one), theme.palette(dark)
    start, whole = row.middle(one) - row.longest / 2, sum(one.blocks.values())
    for name, count in one.blocks.items():
        length = row.longest * count / whole
        yield {
            "type": "bar",
            "orientation": "h",
            "y": [-BELOW - high / 2],
            "x": [length],
            "base": [start],
            "width": high,
            "xaxis": axes.x,
            "yaxis": axes.y,
            "marker": {
                "color": colors.line if name == "embeddings" else colors.masked,
                "line": {"width": 1, "color": colors.line},
            },
            "customdata": [_("{part}: {count:,} parameters", part=matrix_titles.title(name), count=count)],
            "hovertemplate": _hover(one),
        }
        start += length


def legend(subjects: Sequence[Subject], *, dark: bool = False) -> dict[str, tuple[str, ...]]:
    """The colours of each part of a layer in the drawing: the encoder's, then the decoder's, of the sides drawn."""
    sides = [
        side for side in ("encoder", "decoder") if any(row.component == side for one in subjects for row in one.rows)
    ]
    drawn = {parameter_totals.sublayer(row.role) for one in subjects for row in one.rows if row.layer is not None}
    return {
        part: tuple(dict.fromkeys(_color(side, part, dark) for side in sides)) for part in SUBLAYERS if part in drawn
    }


def hollow(subjects: Sequence[Subject]) -> bool:
    """Whether a layer in the drawing is hollow."""
    return any(not own for one in subjects for layers in _Drawn(one).own.values() for own in layers)


def _color(side: str, name: str, dark: bool) -> str:
    """Self-attention in the side's colour, its feed-forward layer in a quiet shade of it, cross-attention violet."""
    return theme.tint(_kind(side, name), dark) if name == "feed-forward" else theme.kind_color(_kind(side, name), dark)


def _kind(side: str, name: str) -> Kind:
    return "cross" if name == "cross-attention" else "encoder" if side == "encoder" else "decoder"


def _titles(one: _Drawn, axes: _Axes, row: _Row, dark: bool) -> Iterator[dict[str, Any]]:
    """Above the deepest model's bars, in one line for all, the family, name and size; above each side its name and the
    size of its layers; below the block what it is."""
    total = parameter_totals.total(one.model.rows)
    said = (
        _("{count:,.0f} M parameters", count=total / 1e6)
        if total >= 1e7
        else _("{count:,.1f} M parameters", count=total / 1e6)
    )
    small = "<br><span style='font-size:0.79em'>"  # three fit side by side on a phone
    yield _note(
        f"<b>{theme.escape(one.model.sizes.family.title)}</b>"
        f"{small}{theme.escape(_brief(one.model.name))}</span>{small}{said}</span>",
        axes,
        (row.middle(one), row.deepest - 1 + BAR / 2),
        yshift=36,
        font={"size": 14},
    )
    names = {"encoder": _("encoder"), "decoder": _("decoder")}
    if one.side:
        names = {"encoder": _("encoder only"), "decoder": _("decoder only")}
    faint = {"size": 12, "color": theme.palette(dark).faint}
    anchors = {"encoder": "right", "decoder": "left"}  # of two sides: the names stay apart however narrow the panel is
    for side, layers in one.sides.items():
        anchor = "center" if one.side else anchors[side]
        x = row.middle(one) if one.side else row.gutter * (-1 if side == "encoder" else 1)
        yield _note(
            f"{names[side]}<br>{_each(layers, one.own[side])}",
            axes,
            (x, len(layers) - 1 + BAR / 2),
            xanchor=anchor,
            align=anchor,
            font=faint,
        )
    lines = [f"{matrix_titles.title(name)}<br>{_millions(count)}" for name, count in one.blocks.items()]
    if lines:
        place = row.middle(one), -BELOW - row.high(one)
        yield _note("<br>".join(lines), axes, place, yanchor="top", font=faint)


def _note(text: str, axes: _Axes, place: tuple[float, float], **more: Any) -> dict[str, Any]:
    """A text above a place of a panel, in its middle."""
    x, y = place
    where = {
        "x": x,
        "y": y,
        "xref": axes.x,
        "yref": axes.y,
        "xanchor": "center",
        "yanchor": "bottom",
        "align": "center",
    }
    return {"text": text, "showarrow": False, **where, **more}


def _each(layers: Sequence[Counter[str]], own: Sequence[int]) -> str:
    """How many layers there are, and how many parameters each has."""
    if not all(own):
        return _("{layers} share {size}", layers=len(layers), size=_millions(sum(own)))
    least, most = (_millions(count) for count in (min(own), max(own)))
    return f"{len(layers)} × {most if least == most else f'{least} – {most}'}"


def _millions(count: int) -> str:
    millions = count / 1e6
    digits = ",.1f" if millions >= 10 else ".2f" if millions >= 1 else ".2g"  # several of them are added up
    return _("{count} M", count=format(millions, digits))


def _brief(name: str) -> str:
    return name.rsplit("/", 1)[-1]
