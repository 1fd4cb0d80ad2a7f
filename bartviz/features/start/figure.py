"""Ribbons: two lines of words, queries below and keys above, and the weights of a head between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bartviz.analysis import start
from bartviz.analysis.start import Ribbons
from bartviz.analysis.words import Word, direction_of
from bartviz.arrays import Floats
from bartviz.drawing import axes, theme
from bartviz.drawing.arguments import RECORD, expect
from bartviz.drawing.cells import BUTTONS, Part, unseen
from bartviz.language import _
from bartviz.record.attention import Head
from bartviz.record.record import Record

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT = 360
_STRENGTHS = ((start.FAINTEST, 0.7, 0.3), (0.1, 1.6, 0.45), (0.33, 4.0, 0.6), (0.67, 8.0, 0.75))  # from, width, opacity
_BEND = np.linspace(0, 1, 17)  # along a ribbon, from the word that looks (0) to the one that is looked at (1)


def ribbons(
    found: Record | Ribbons, *, head: Head | None = None, dark: bool = False, height: int = HEIGHT
) -> go.Figure:
    """A record's words as the start page draws them, or the ``Ribbons`` of ``analysis.start``: below the words that
    look, above those that are looked at, and between them ribbons as wide as the weight is large.

    ``head``, such as ``Head("cross", 2, 0)``; by default the head that aligns best. Weights under 0.02 are not drawn,
    and of a long text only the first 48 words. Raises SettingError for a head that is not there.

    >>> figure = bartviz.figures.ribbons(record)
    """
    expect(found, (Record, Ribbons), RECORD)
    shown = (found if isinstance(found, Ribbons) else start.ribbons(found, head=head)).first()
    wide = max(len(shown.above), len(shown.below), 1)
    above, below = _spread(shown.above, wide), _spread(shown.below, wide)
    traces = [_band(shown, number, above, below, dark) for number in range(len(_STRENGTHS))]
    traces += [
        unseen(above, np.ones_like(above), name="above", size=22, text=_told(shown.say_above), hovertemplate=_POINTED),
        unseen(below, np.zeros_like(below), name="below", size=22, text=_told(shown.say_below), hovertemplate=_POINTED),
    ]
    line = {"range": [0, wide], "showgrid": False, "zeroline": False, "ticks": "", "fixedrange": True}
    layout = {
        "xaxis": line | _words(shown.below, below, dark) | {"side": "bottom"},
        "xaxis2": line | _words(shown.above, above, dark) | {"side": "top", "overlaying": "x", "matches": "x"},
        "yaxis": {"range": [-0.02, 1.02], "visible": False, "fixedrange": True},
        "showlegend": False,
        "hovermode": "closest",
        "modebar": BUTTONS,
        "margin": {"l": 8, "r": 8, "t": 70, "b": 70},
    }
    traces.append({"type": "scatter", "x": [None], "y": [None], "xaxis": "x2", "name": "axis", "hoverinfo": "skip"})
    return theme.build(traces, layout, dark=dark, height=height)


_POINTED = "%{text}<extra></extra>"


def _spread(line: tuple[Word, ...], wide: int) -> Floats:
    """The positions of the words of a line, over the whole width, in reading direction."""
    at = ((np.arange(len(line)) + 0.5) * wide / max(len(line), 1)).astype(np.float32)
    return at if direction_of(line) == "ltr" else np.float32(wide) - at


def _band(shown: Ribbons, number: int, above: Floats, below: Floats, dark: bool) -> Part:
    """The ribbons of one strength as one path of curves."""
    low, width, opacity = _STRENGTHS[number]
    high = _STRENGTHS[number + 1][0] if number + 1 < len(_STRENGTHS) else np.inf
    ease = _BEND**2 * (3 - 2 * _BEND)
    x, y, said = [np.array([np.nan])], [np.array([np.nan])], [""]
    for t, s, weight in shown.edges():
        if low <= weight < high:
            x.append(np.append(below[t] + (above[s] - below[t]) * ease, np.nan))
            y.append(np.append(_BEND, np.nan))
            pair = _(
                "{below} looks at {above}: {weight:.3f}",
                below=theme.escape(shown.below[t].text),
                above=theme.escape(shown.above[s].text),
                weight=float(shown.weights[t, s]),
            )
            said += [pair] * (len(_BEND) + 1)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": f"from {low}",
        "opacity": opacity,
        "x": np.concatenate(x).astype(np.float32),
        "y": np.concatenate(y).astype(np.float32),
        "line": {"color": theme.kind_color(shown.head.kind, dark), "width": width},
        "text": said,
        "hovertemplate": _POINTED,
    }


def _words(line: tuple[Word, ...], at: Floats, dark: bool) -> Part:
    """The words as the labels of an axis, special tokens faint."""
    faint = theme.palette(dark).faint
    texts = [theme.escape(axes.short(word.text)) for word in line]
    texts = [
        f'<span style="color:{faint}">{text}</span>' if word.special else text
        for word, text in zip(line, texts, strict=True)
    ]
    return {"tickmode": "array", "tickvals": at, "ticktext": texts, "tickfont": {"family": theme.MONO, "size": 14}}


def _told(sentences: tuple[str, ...]) -> list[str]:
    return [theme.escape(sentence) for sentence in sentences]
