"""The colours and the type that every figure shares, in light and dark.

Differences run orange - neutral - blue. Masked cells are grey, never the colour of a small number.
"""

from __future__ import annotations

import html
import json
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go

from bartviz.drawing.colors import DARK, KIND, LETTERS, LIGHT, RAMPS, WORDS, Palette
from bartviz.record.attention import Kind

_MIME = "application/vnd.plotly.v1+json"
Scale = list[list[float | str]]

FACE = "Source Sans Pro, Noto Sans, Noto Sans CJK KR, sans-serif"
PANEL, NARROW = 320, 720  # pixels: the least width of each part side by side, and of a whole figure at most
MONO = "Source Code Pro, Noto Sans Mono, Noto Sans CJK KR, monospace"

_DIFFERENCE = (
    ("#8a4a00", "#c97a1c", "#ecb878", "#f4f4f2", "#9cc3e6", "#3f86c4", "#114f8b"),
    ("#f0b060", "#b97324", "#6b4720", "#1b1f27", "#24486b", "#3d7ab0", "#86bdec"),
)


class Figure(go.Figure):  # type: ignore[misc]  # plotly has no types
    """A plotly figure that a notebook shows without requests to other hosts; plotly's own display loads MathJax."""

    _script_sent = False

    def _repr_html_(self) -> str:
        """HTML that contains plotly's script (4.7 MB), so that it works anywhere."""
        return self._drawn(script=True)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None, **_options: object) -> dict[str, Any]:
        """For a notebook: JSON, if it draws plotly figures itself, and HTML. As in plotly, only the first figure of a
        kernel carries the script."""
        html = self._drawn(script=not Figure._script_sent)
        Figure._script_sent = True
        return {_MIME: json.loads(self.to_json()), "text/html": html}

    def _ipython_display_(self) -> None:
        """In a terminal, open a browser as plotly does; a notebook uses the two methods above."""
        if _notebook() is not None:
            raise NotImplementedError  # IPython's protocol: this display declines, so the other ones are used
        super()._ipython_display_()

    def show(self, *args: Any, **options: Any) -> None:
        """In a notebook, display it like the last line of a cell; elsewhere, or with a renderer, as plotly does."""
        notebook = _notebook()
        if notebook is None or args or options:
            super().show(*args, **options)
        else:
            notebook.display(self)

    def _drawn(self, *, script: bool) -> str:
        """The figure as wide as its cell; panels side by side keep a minimum width, and scroll in a narrow one."""
        drawn: str = self.to_html(full_html=False, include_plotlyjs=script)
        beside = {round(axis.domain[0], 2) for axis in self.select_xaxes() if axis.domain}
        if len(beside) < 2:
            return drawn
        least = min(len(beside) * PANEL, NARROW)
        return f'<div tabindex="0" style="overflow-x: auto"><div style="min-width: {least}px">{drawn}</div></div>'


def _notebook() -> Any:
    """IPython's display module if this runs in a notebook, else None; imports nothing."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return sys.modules["IPython"].display if hasattr(shell, "kernel") else None


def palette(dark: bool = False) -> Palette:
    return DARK if dark else LIGHT


def kind_color(kind: Kind, dark: bool = False) -> str:
    """The colour of a kind of attention."""
    return KIND[kind][dark]


def word_color(number: int, dark: bool = False) -> str:
    """The colour of a word's number (``analysis.word_colors``); transparent for one below 0."""
    return "rgba(0,0,0,0)" if number < 0 else WORDS[number % len(WORDS)][dark]


def word_bar(number: int, dark: bool = False) -> str:
    """A bar in the colour of a word's number, to stand beside its label; room for one where the word has none."""
    return f'<span style="color:{word_color(number, dark)}">▎</span>'


def letters(role: str, dark: bool = False) -> str:
    """The colour of QUERY, KEY or VALUE for text, which needs more contrast than an area."""
    return LETTERS[role][dark]


def tint(kind: Kind, dark: bool = False) -> str:
    """A light shade of a kind's colour, for areas."""
    return RAMPS[kind][dark][2]


def scale(kind: Kind, dark: bool = False) -> Scale:
    """A plotly colour scale from the background (0) to the kind's strongest colour (1)."""
    return _scale(RAMPS[kind][dark])


def stops(kind: Kind, dark: bool = False) -> Sequence[str]:
    """The colours of that scale, in even steps: scripts in the browser make theirs from them."""
    return RAMPS[kind][dark]


def difference_stops(dark: bool = False) -> Sequence[str]:
    """The colours of that of differences, in even steps."""
    return _DIFFERENCE[dark]


def difference_scale(dark: bool = False) -> Scale:
    """Orange (negative) - neutral - blue (positive)."""
    return _scale(_DIFFERENCE[dark])


def _scale(colors: Sequence[str]) -> Scale:
    last = len(colors) - 1
    return [[position / last, color] for position, color in enumerate(colors)]


def at(scale: Scale, share: float) -> str:
    """The colour at a position 0..1 of a scale, interpolated between its stops in RGB, as in plotly."""
    place = min(max(share, 0.0), 1.0)
    (start, low), (end, high) = next(
        (pair for pair in pairwise(scale) if place <= float(pair[1][0])), (scale[-2], scale[-1])
    )
    part = (place - float(start)) / (float(end) - float(start))
    mixed = (round(a + (b - a) * part) for a, b in zip(_channels(str(low)), _channels(str(high)), strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def ink_on(background: str) -> str:
    """Black or white text, whichever has the better contrast on a colour: at least 4.58:1 (relative luminance, WCAG 2).

    ``inkOn`` in browser/shared/colors.js is the same for scripts.
    """
    shares = (channel / 255 for channel in _channels(background))
    red, green, blue = (value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in shares)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#ffffff" if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 else "#000000"


def _channels(color: str) -> tuple[int, int, int]:
    red, green, blue = (int(color[start : start + 2], 16) for start in (1, 3, 5))
    return red, green, blue


def width(text: str) -> int:
    """The width of a text in Latin letters: Korean and other wide characters count as two."""
    return sum(1 + (unicodedata.east_asian_width(char) in "WF") for char in text)


def lines(text: str, room: int) -> str:
    """A sentence with line breaks between words, so that no line is wider than ``room`` Latin letters; escaped for
    plotly."""
    made: list[str] = []
    for word in text.split(" "):
        if made and width(f"{made[-1]} {word}") <= room:
            made[-1] = f"{made[-1]} {word}"
        else:
            made.append(word)
    return "<br>".join(escape(line) for line in made)


def escape(label: str) -> str:
    """A token escaped for plotly, which reads labels as HTML and ``%{`` as a placeholder."""
    return html.escape(label, quote=False).replace("%{", "&#37;{") or "\u00a0"


def build(
    traces: Sequence[Mapping[str, Any]], layout: Mapping[str, Any], *, dark: bool = False, height: int | None = None
) -> go.Figure:
    """A figure of these traces and this layout (plain dictionaries) in the shared type, colours and margins."""
    axis = _axis(dark)
    axes = {
        name: axis | value | _titled(value.get("title"), dark)
        for name, value in layout.items()
        if name.startswith(("xaxis", "yaxis"))
    }
    return Figure({"data": list(traces), "layout": _base(dark, height) | dict(layout) | axes})


def layout(figure: go.Figure, *, dark: bool = False, height: int | None = None) -> go.Figure:
    """Apply the shared type, colours and margins to an existing figure; returns the same figure."""
    figure.update_layout(_base(dark, height))
    for axes in (figure.update_xaxes, figure.update_yaxes):
        axes(_axis(dark) | {"title": {"font": _title_font(dark)}})
    return figure


def _base(dark: bool, height: int | None) -> dict[str, Any]:
    """The layout without plotly's templates: each would be copied for every figure and sent with it."""
    colors = palette(dark)
    return {
        "template": "none",
        "paper_bgcolor": colors.background,
        "plot_bgcolor": colors.background,
        "height": height,
        "font": {"family": FACE, "size": 14, "color": colors.ink},
        "hoverlabel": {"font": {"family": FACE, "size": 14}, "align": "left"},
        "margin": {"l": 8, "r": 8, "t": 12, "b": 8},
    }


def _axis(dark: bool) -> dict[str, Any]:
    return {"automargin": True, "gridcolor": palette(dark).grid, "zeroline": False}


def _title_font(dark: bool) -> dict[str, Any]:
    return {"size": 13, "color": palette(dark).faint}


def _titled(title: Any, dark: bool) -> dict[str, Any]:
    """The title of an axis in the shared type, fainter than the numbers unless the figure sets its own."""
    if title is None:
        return {}
    given = {"text": title} if isinstance(title, str) else dict(title)
    return {"title": {"font": _title_font(dark)} | given}


def enlarged(figure: go.Figure, factor: float) -> go.Figure:
    """The same figure for a projector: fonts ``factor`` times as large, and all space for text too.

    Tokens next to a map grow less, because they have little space; texts within cells as far as the cells, which do not
    grow, have room for them.
    """
    plain = figure.to_plotly_json()
    shape = plain["layout"]
    if shape.get("height"):
        margin = shape.get("margin", {})
        text = (factor - 1) * (margin.get("t", 0) + margin.get("b", 0))  # pixels more, which the cells must not lose
        shape["height"] = round(shape["height"] + max(shape["height"] * (factor - 1) / 2, text))
    for trace in plain["data"]:
        _enlarge(trace, _within_cells(trace, shape, factor) if trace.get("mode") == "text" else factor)
    _enlarge(shape, factor)
    return Figure(plain)


def steady(figure: go.Figure) -> go.Figure:
    """The same figure to be touched: plotly fades all points but the touched one, here they keep their strength."""
    plain = figure.to_plotly_json()
    for trace in plain["data"]:
        strength = trace.get("marker", {}).get("opacity", 1)
        if trace["type"] in ("bar", "scatter") and "unselected" not in trace and isinstance(strength, int | float):
            ink = trace.get("textfont", {}).get("color")
            trace["unselected"] = {"marker": {"opacity": strength}}
            trace["selected"] = {  # where it has a colour, the texts of the others keep theirs
                "textfont": {"color": ink if isinstance(ink, str) else plain["layout"]["font"]["color"]}
            }
    return Figure(plain)


_LEAST = 600  # pixels: half of a projector's width, which a figure has at least
_AROUND = (60, 120)  # pixels beside and above the cells, for the axes and a colour bar
_LETTER = (0.6, 1.2)  # width and height of a letter, as shares of its size
_ROOM = frozenset({"t", "r", "b", "l", "pad", "standoff", "xshift", "yshift", "borderpad"})  # all in pixels


def _within_cells(trace: Mapping[str, Any], shape: Mapping[str, Any], factor: float) -> float:
    """How much larger the texts of a trace can be, at most ``factor``, in cells that are 1 wide and 1 high."""
    texts, size = trace.get("text"), trace.get("textfont", {}).get("size")
    if size is None or texts is None or not len(texts):
        return factor
    letters = (max(width(html.unescape(str(text))) for text in texts), 1)
    pixels = (_LEAST, shape.get("height") or _LEAST)
    rooms = []
    for name, whole, around, letter, count in zip("xy", pixels, _AROUND, _LETTER, letters, strict=True):
        axis = shape.get(f"{name}axis{trace.get(f'{name}axis', name)[1:]}", {})
        low, high = axis.get("domain") or (0.0, 1.0)
        first, last = axis.get("range") or (min(trace[name]) - 0.5, max(trace[name]) + 0.5)
        rooms.append((whole - around) * (high - low) / abs(last - first) / (letter * max(count, 1)))
    return min(factor, max(1.0, float(min(rooms) / size)))


def _enlarge(part: dict[str, Any], factor: float, *, font: bool = False) -> None:
    """Enlarge in place. Pixels of markers and lines do not change: only the ``size`` of a font counts."""
    for name, value in part.items():
        if isinstance(value, dict):
            close = name == "tickfont" and part.get("ticktext") is not None
            _enlarge(value, factor**0.5 if close else factor, font=name.endswith("font"))
        elif name in ("annotations", "shapes") and value:
            for each in value:
                _enlarge(each, factor)
        elif (name == "size" and font) or (name in _ROOM and isinstance(value, int | float)):
            part[name] = [size * factor for size in value] if isinstance(value, list | tuple) else value * factor
