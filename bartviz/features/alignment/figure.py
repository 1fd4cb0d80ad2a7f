"""Alignment: two lines of words with their links, and the matrix of weights with each link marked.

With a manual alignment, the shape of a mark is the manual judgement (round: sure, diamond: possible, cross: neither,
square: none yet), and a filled mark is a link that was found; lines are solid, dashed or dotted accordingly. No meaning
is in a colour alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import plotly.graph_objects as go

from bartviz.analysis import alignment as analysis
from bartviz.analysis.aligners import aligners, best
from bartviz.analysis.alignment import THRESHOLD, Line, Method, Table
from bartviz.analysis.gold_alignment import Gold, Link, Links
from bartviz.analysis.word_colors import Numbers, WordColors, grouped
from bartviz.arrays import Floats
from bartviz.drawing import axes, theme
from bartviz.drawing.arguments import RECORD, expect, expect_word
from bartviz.drawing.cells import BUTTONS, Part, unseen
from bartviz.drawing.maps import attention_map, in_percent
from bartviz.language import _, mark, plural
from bartviz.language.percentages import percent
from bartviz.record.attention import Head, HeadName
from bartviz.record.record import Reading, Record

Colors = tuple[Numbers, Numbers]
MOST = 40
"""The most words of a line that are drawn. The matrix and the tables have all words."""
_ROW, _SMALL_ROW = 30, 21  # pixels from word to word, few and many
_MANY = 18  # words
_FEW, _LARGER = 12, 1.3  # words along a map that have room for larger letters, and how much larger these are
_BEND = np.linspace(0, 1, 33)  # along a link, from the source (0) to the output (1)
_MARK = 8  # where on it its mark is: nearer to the output, where links part


@dataclass(frozen=True, slots=True)
class _Look:
    dash: str
    symbol: str
    width: float
    faint: bool = False


_LOOKS = {
    "right, sure": _Look("solid", "circle", 3),
    "right, possible": _Look("dash", "diamond", 3),
    "wrong": _Look("dot", "x", 2.5),
    "missed": _Look("solid", "circle-open", 1.2, faint=True),
    "possible, not found": _Look("dash", "diamond-open", 1, faint=True),
    "not judged yet": _Look("solid", "square", 1.4),
}
_SIGNS = {"circle": "●", "diamond": "◆", "x": "✕", "circle-open": "○", "diamond-open": "◇", "square": "■"}
_WEIGHTS = (
    (0.0, mark("weight under 0.33"), _Look("solid", "circle", 1.4)),
    (0.33, mark("weight 0.33 to 0.67"), _Look("solid", "circle", 2.6)),
    (0.67, mark("weight 0.67 or more"), _Look("solid", "circle", 4.2)),
)


def alignment(
    record: Record,
    heads: Sequence[HeadName] | None = None,
    *,
    reading: Reading = "predicts",
    method: Method = "mutual",
    threshold: float = THRESHOLD,
    gold: Gold | None = None,
    view: Literal["lines", "matrix"] = "lines",
    first: tuple[int, int] = (0, 0),
    dark: bool = False,
) -> go.Figure:
    """Word links of a set of cross-attention heads (their mean), as two lines of words or as a matrix.

    ``heads`` are named like "cross L1H0"; by default the best head for this reading (``analysis.aligners.best``).
    ``gold`` from ``analysis.gold_alignment.read`` marks links as right, wrong or missed. Lines have at most 40 words
    per side: of a longer text those from source and output word ``first`` on. Raises SettingError for a record without
    cross-attention, BudgetError if a text is so long that ``heads`` must be given.

    >>> figure = bartviz.figures.alignment(record, ["cross L1H0"], view="matrix")
    """
    expect(record, Record, RECORD)
    expect_word(view, ("lines", "matrix"), "The view of an alignment")
    expect_word(reading, get_args(Reading), "The reading")
    chosen = (
        best(aligners(record), reading).heads
        if heads is None
        else tuple(Head.parse(head, kinds=("cross",)) for head in heads)
    )
    shown = analysis.table(record, chosen, reading=reading)
    found = analysis.links(shown.weights, method, threshold=threshold)
    if view == "matrix":
        return matrix(shown, found, gold=gold, dark=dark)
    return lines(shown, found, gold=gold, first=first, dark=dark)


def colors_of(shown: Table, colors: WordColors) -> Colors:
    """The numbers of the words of a table (T,) and (S,): of its output and of its source."""
    return grouped(colors.predicts, shown.target.groups), grouped(colors.source, shown.source.groups)


def lines(
    shown: Table,
    found: Links,
    *,
    gold: Gold | None = None,
    first: tuple[int, int] = (0, 0),
    dark: bool = False,
    height: int | None = None,
    colors: Colors = ((), ()),
) -> go.Figure:
    """Source words on the left, output words on the right, numbered from 0, and the links between them.

    Of more than 40 words, those from word ``first`` (source, output) on are drawn; the legend counts the links that are
    drawn. ``height``: the least number of pixels; many words need more. ``colors``: the numbers of the output's and the
    source's words, as of ``colors_of``.
    """
    place = _Places(*within(shown, first))
    traces = [
        _links(name, look, drawn, shown, place, dark)
        for name, look, pairs in _groups(shown, found, gold)
        if (drawn := [link for link in pairs if place.has(link)]) or gold is not None
    ]
    traces += [_ends(shown, place, side) for side in ("source", "target")]
    layout = {
        "xaxis": {"range": [-0.04, 1.04], "visible": False, "fixedrange": True},
        "yaxis": _axis(shown.source, place.sources, place.source, place.rows, "left", dark, colors[1]),
        "yaxis2": _axis(shown.target, place.targets, place.target, place.rows, "right", dark, colors[0])
        | {"overlaying": "y", "matches": "y"},
        "legend": {
            "orientation": "h",
            "y": 0,
            "yanchor": "top",
            "x": 0,
            "itemclick": False,
            "itemdoubleclick": False,
            "font": {"size": 12},
            "itemsizing": "trace" if gold is None else "constant",
        },
        "hovermode": "closest",
        "modebar": BUTTONS,
        "margin": {"l": 8, "r": 8, "t": 44, "b": 8},
        "annotations": [_title(_("source"), 0, "left", dark), _title(_("output"), 1, "right", dark)],
    }
    return theme.build(traces, layout, dark=dark, height=max(_height(place.rows), height or 0))


def matrix(
    shown: Table,
    found: Links,
    *,
    gold: Gold | None = None,
    dark: bool = False,
    height: int | None = None,
    colors: Colors = ((), ()),
    square: bool = True,
    percents: bool = False,
    large: bool = False,
) -> go.Figure:
    """The weights between words, each link marked: a row of the output attends to columns of the source.

    ``square`` cells, or such that the map fills its figure, whatever size that has. ``percents``: weights are written
    as shares in per cent. ``large``: whether it is for large type, in which a short text has larger words and the scale
    fewer numbers.
    """
    whole = np.broadcast_to(shown.has_rows[:, None], shown.weights.shape)
    figure = attention_map(
        shown.weights,
        shown.target.labels,
        shown.source.labels,
        kind="cross",
        mask=None if whole.all() else whole,
        query_title=_("output word ↓"),
        key_title=_("source word →"),
        dark=dark,
        height=height,
        colors=colors,
    )
    if not square:
        figure.layout.yaxis.scaleanchor = None
    for name, look, pairs in _groups(shown, found, gold):
        if pairs:
            figure.add_trace(_marks(name, look, pairs, shown, dark, percents=percents))
    figure = in_percent(figure) if percents else figure
    return _for_a_wall(figure, max(shown.weights.shape)) if large else figure


def _for_a_wall(figure: go.Figure, words: int) -> go.Figure:
    """The same map with fewer numbers on its scale and, of so few words, larger ones, upright where each fits above its
    column."""
    if words <= _FEW:
        for axis in (figure.layout.xaxis2, figure.layout.yaxis2):
            axis.tickfont.size *= _LARGER
        figure.layout.xaxis2.update(tickangle=None, autotickangles=[0, -45, -90])
    (cells,) = figure.select_traces({"name": "weights"})
    bar = cells.colorbar
    bar.tickvals, bar.ticktext = bar.tickvals[::2], bar.ticktext and bar.ticktext[::2]
    return figure


def within(shown: Table, first: tuple[int, int]) -> tuple[range, range]:
    """The source and output words that are drawn: at most 40 from ``first`` on, or the last 40."""
    source, target = (
        range(start := min(max(at, 0), max(len(side) - MOST, 0)), min(start + MOST, len(side)))
        for at, side in zip(first, (shown.source, shown.target), strict=True)
    )
    return source, target


class _Places:
    """Vertical positions of the words: both lines use the whole height, so that links are level if the order is the
    same."""

    def __init__(self, sources: range, targets: range) -> None:
        self.rows = max(len(sources), len(targets), 1)
        self.sources, self.targets = sources, targets
        self.source, self.target = self._spread(len(sources)), self._spread(len(targets))

    def _spread(self, drawn: int) -> Floats:
        return ((np.arange(drawn) + 0.5) * self.rows / max(drawn, 1)).astype(np.float32)

    def has(self, link: Link) -> bool:
        """Whether both words of a link are drawn."""
        return link[0] in self.sources and link[1] in self.targets

    def ends(self, link: Link) -> tuple[float, float]:
        """The vertical positions of the two words of a link."""
        return float(self.source[link[0] - self.sources.start]), float(self.target[link[1] - self.targets.start])


def _height(rows: int) -> int:
    return int(90 + max(rows, 5) * (_ROW if rows <= _MANY else _SMALL_ROW))


def _groups(shown: Table, found: Links, gold: Gold | None) -> list[tuple[str, _Look, list[Link]]]:
    """The links by judgement: right, wrong or missed, or without gold by weight."""
    if gold is None:
        bounds = [*(low for low, *_rest in _WEIGHTS[1:]), 2.0]
        by_weight: list[list[Link]] = [[] for _weight in _WEIGHTS]
        for i, j in sorted(found):
            by_weight[int(np.searchsorted(bounds, shown.weights[j, i], side="right"))].append((i, j))
        return [(name, look, pairs) for (_low, name, look), pairs in zip(_WEIGHTS, by_weight, strict=True)]
    judged = {link: analysis.judge(link, found, gold) for link in sorted(found | gold.possible)}
    return [
        (name, look, [link for link in judged if judged[link] == name])
        for name, look in _LOOKS.items()
        if name != "not judged yet" or gold.judged is not None
    ]


def signs(shown: Table, found: Links, gold: Gold) -> str:
    """The signs of judged links that the matrix has, with what they say and how many there are: "● right, sure: 2
    links"."""
    there = [
        f"{_SIGNS[look.symbol]} {_named(name, pairs)}" for name, look, pairs in _groups(shown, found, gold) if pairs
    ]
    return " · ".join(there)


def _named(name: str, pairs: Sequence[Link]) -> str:
    return plural("{name}: {count} link", "{name}: {count} links", len(pairs), name=_(name))


def _links(name: str, look: _Look, pairs: list[Link], shown: Table, place: _Places, dark: bool) -> Part:
    """The links of one group as one path of curves; links that were judged have a mark in the middle."""
    ease = _BEND**2 * (3 - 2 * _BEND)
    x, y, said = [], [], []
    for i, j in pairs:
        start, end = place.ends((i, j))
        x.append(np.append(_BEND, np.nan))
        y.append(np.append(start + (end - start) * ease, np.nan))
        said += [_say(shown, i, j, name)] * (len(_BEND) + 1)
    sizes = np.zeros(len(_BEND) + 1)
    if name in _LOOKS:
        sizes[_MARK] = 10 if look.symbol != "circle" or look.faint else 8
    color = _color(name, look, dark)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": _named(name, pairs),
        "x": np.concatenate(x or [np.array([np.nan])]).astype(np.float32),
        "y": np.concatenate(y or [np.array([np.nan])]).astype(np.float32),
        "line": {"color": color, "width": look.width, "dash": look.dash},
        "marker": {
            "symbol": look.symbol,
            "opacity": 1,
            "color": color,
            "size": np.tile(sizes, len(pairs)).astype(np.int16) if pairs else 9,
            "line": {"width": 1.6 if look.faint else 0, "color": color},
        },
        "text": said,
        "hovertemplate": "%{text}<extra></extra>",
    }


def _color(name: str, look: _Look, dark: bool) -> str:
    if name == "wrong":
        return theme.palette(dark).ink
    return theme.palette(dark).faint if look.faint else theme.kind_color("cross", dark)


def _say(shown: Table, i: int, j: int, name: str, *, percents: bool = False) -> str:
    source, target = theme.escape(shown.source.labels[i]), theme.escape(shown.target.labels[j])
    weight = float(shown.weights[j, i])
    said = f"<b>{source}</b> – <b>{target}</b>: {percent(weight) if percents else f'{weight:.3f}'}"
    return f"{said}, {_(name)}" if name in _LOOKS else said


def _ends(shown: Table, place: _Places, side: Literal["source", "target"]) -> Part:
    """Invisible points where words meet links, with the hover text of each word."""
    at, x = (place.source, 0.0) if side == "source" else (place.target, 1.0)
    words = place.sources if side == "source" else place.targets
    say = _say_source if side == "source" else _say_target
    return unseen(
        np.full(len(at), x, np.float32),
        at,
        name=side,
        size=18,
        text=[say(shown, word) for word in words],
        hovertemplate="%{text}<extra></extra>",
        yaxis="y" if side == "source" else "y2",
    )


def _say_source(shown: Table, i: int) -> str:
    order = np.argsort(-shown.weights[:, i], kind="stable")[:3]
    most = ", ".join(f"{theme.escape(shown.target.labels[j])} {shown.weights[j, i]:.2f}" for j in order)
    return _("{word} is looked at most by {words}", word=f"<b>{theme.escape(shown.source.labels[i])}</b>", words=most)


def _say_target(shown: Table, j: int) -> str:
    word = f"<b>{theme.escape(shown.target.labels[j])}</b>"
    if not shown.has_rows[j]:
        return _("{word}: no row reads it", word=word)
    order = np.argsort(-shown.weights[j], kind="stable")[:3]
    most = ", ".join(f"{theme.escape(shown.source.labels[i])} {shown.weights[j, i]:.2f}" for i in order)
    return _(
        "{word} looks most at {words}; special tokens get {share:.2f}", word=word, words=most, share=shown.special[j]
    )


def _axis(line: Line, words: range, at: Floats, rows: int, side: str, dark: bool, colors: Numbers) -> Part:
    """The words of a line as the labels of an axis, each with its number on the side of the links."""
    faint = theme.palette(dark).faint
    texts = []
    for number in words:
        word = theme.escape(axes.short(line.labels[number]))
        place = f'<span style="color:{faint};font-size:0.75em">{number}</span>'
        bar = theme.word_bar(colors[number], dark) if colors else ""
        texts.append(f"{word} {place} {bar}" if side == "left" else f"{bar}{place} {word}")
    return {
        "tickmode": "array",
        "tickvals": at,
        "ticktext": texts,
        "range": [rows, 0],
        "side": side,
        "showgrid": False,
        "tickfont": {"family": theme.MONO, "size": 15 if rows <= _MANY else 13},
        "fixedrange": True,
        "ticks": "",
    }


def _title(text: str, x: int, side: str, dark: bool) -> Part:
    return {
        "text": text,
        "x": x,
        "y": 1,
        "xref": "paper",
        "yref": "paper",
        "yshift": 16,
        "showarrow": False,
        "xanchor": "right" if side == "left" else "left",
        "font": {"size": 12, "color": theme.palette(dark).faint},
    }


def _marks(name: str, look: _Look, pairs: list[Link], shown: Table, dark: bool, *, percents: bool) -> Part:
    """Marks on the cells of the matrix, outlined to be visible on light and strong cells."""
    colors = theme.palette(dark)
    shape, hollow = look.symbol.removesuffix("-open"), look.symbol.endswith("-open")
    longest = max(shown.weights.shape)
    outline = 0.8 if longest > MOST else 2 if hollow else 1.5
    inner, outer = (colors.background, colors.ink) if hollow else (colors.ink, colors.background)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "showlegend": False,
        "x": np.array([i for i, _j in pairs], np.int16),
        "y": np.array([j for _i, j in pairs], np.int16),
        "marker": {
            "symbol": shape,
            "size": max(3, min(10, 420 // longest)),
            "color": inner,
            "line": {"width": outline, "color": outer},
        },
        "text": [_say(shown, i, j, name, percents=percents) for i, j in pairs],
        "hovertemplate": "%{text}<extra></extra>",
    }
