"""The head view and the model view of bertviz (Vig 2019) as one page that asks the network for nothing.

What bertviz writes loads require.js, d3 and jQuery from elsewhere, holds its numbers twice, and does not escape tokens.
Here the scripts are our own files, the numbers stand once, and no token ends the script.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import isqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from bartviz.attention import Attention, Floats
from bartviz.errors import ModelError, SettingError, choices
from bartviz.figures import theme
from bartviz.language import later

if TYPE_CHECKING:
    from collections.abc import Callable

View = Literal["head", "model"]
VIEWS: tuple[View, ...] = get_args(View)
CELLS = 100_000
"""Weights that a view may hold, of all layers or of the one layer of the head view: it draws a line for each."""
LONGEST = 64  # tokens along a side, whatever the model: more lines would be a thicket
DECIMALS = 3
HIGHEST = 760  # pixels; a higher picture is scrolled in its frame

_VENDOR = Path(__file__).parent / "vendor"
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"
_REQUIRE = re.compile(r'<script src="https://[^"]+/require\.min\.js"></script>')
_ID = re.compile(r'<div id="(bertviz-[0-9a-f]{32})"')
_BEGIN, _MIDDLE, _END = "const params = ", "; // HACK: ", " is a template marker that is replaced by actual params."
_LOADER = (
    "window.require = {config() {}};"
    "window.requirejs = (names, run) => run(...names.map(name => ({jquery: window.jQuery, d3: window.d3})[name]));"
)
_STYLE = """
:root {{ color-scheme: {scheme}; }}
html, body {{ margin: 0; background: {background}; color: {ink}; overflow: auto; }}
body > div, text {{ font-family: {face} !important; }}
span:has(> #layer) {{ display: none; }}
text, text[fill="black"] {{ fill: currentColor; }}
rect.background {{ fill: {hover}; }}
#right, #left, .token {{ font-variant-ligatures: none; }}
"""
_WIDTH = "const DIV_WIDTH = 970;"


@dataclass(frozen=True, slots=True)
class Window:
    """Which tokens are shown: rows and columns ``start`` to ``end`` (excluded)."""

    rows: slice
    columns: slice


def most_tokens(attention: Attention, view: View) -> int:
    """How many tokens along a side the view of this attention may have: at least 8, at most 64."""
    layers, heads = attention.shape[:2]
    return max(8, min(LONGEST, isqrt(CELLS // (heads if view == "head" else layers * heads))))


def page(
    view: View,
    attention: Attention,
    rows: Sequence[str],
    *,
    window: Window,
    layer: int = 0,
    dark: bool = False,
) -> str:
    """One kind of attention (in the head view one layer of it) as bertviz draws it: a whole HTML page of about 0.35 MB
    and six bytes a weight.

    ``rows`` (Q,) name the decoder's rows by what they read or predict; columns are the attention's own. Weights are
    rounded to three decimals. The same arguments give the same text. Raises SettingError for a view or a window that
    is not there, ModelError where bertviz is missing or another version.
    """
    if view not in VIEWS:
        raise SettingError(later("The classic view is one of {views}.", views=choices(VIEWS)))
    columns = attention.key.labels
    shown_rows, shown_columns = list(rows[window.rows]), list(columns[window.columns])
    most = most_tokens(attention, view)
    if not 1 <= len(shown_rows) <= most or not 1 <= len(shown_columns) <= most:
        raise SettingError(later("This view shows 1 to {most} tokens along a side of this model.", most=most))
    layers = [layer] if view == "head" else list(range(attention.shape[0]))
    made = _bertviz(view)(
        cross_attention=_tensors(attention, layers, window), include_layers=layers,
        decoder_tokens=shown_rows, encoder_tokens=shown_columns,
        prettify_tokens=False, html_action="return",
        **({"layer": layer} if view == "head" else {"display_mode": "dark" if dark else "light"}),
    )  # fmt: skip
    return offline(made.data, dark=dark)


def height(view: View, attention: Attention, window: Window) -> int:
    """Pixels that the picture needs, so that its place can be kept; at most 760."""
    layers, heads = attention.shape[:2]
    longest = max(window.rows.stop - window.rows.start, window.columns.stop - window.columns.start)
    if view == "head":
        needed = 30 + 22.5 * longest + 24  # bertviz: TEXT_TOP, BOXHEIGHT
    else:
        needed = max(layers * (longest * 84 / heads + 10) + 38, longest * 18 + 55) + 30
    return int(min(needed, HIGHEST))


def _bertviz(view: View) -> Callable[..., Any]:
    try:
        import bertviz
    except ImportError as error:
        raise ModelError(later("The classic view needs bertviz and torch: install bertviz 1.4.1.")) from error
    function: Callable[..., Any] = getattr(bertviz, f"{view}_view")
    return function


def _tensors(attention: Attention, layers: Sequence[int], window: Window) -> dict[int, object]:
    """A tensor (1, H, rows, columns) for each layer, by its number.

    Rows that may look nowhere are 0: their weights mean nothing.
    """
    import torch

    made: dict[int, object] = {}
    for layer in layers:
        weights: Floats = attention.layer(layer)[:, window.rows, window.columns]
        weights = np.where(attention.masked_rows[window.rows, None], np.float32(0), weights)
        made[layer] = torch.from_numpy(np.round(weights.astype(np.float64), DECIMALS))[None]
    return made


def offline(written: str, *, dark: bool = False) -> str:
    """What bertviz has written, as a page of its own without the network. Raises ModelError for what is not known."""
    body, loads = _REQUIRE.subn("", written)
    found = _ID.search(body)
    if loads != 1 or found is None:
        raise _unknown()
    body = _once(body.replace(found[1], "bertviz-view"))
    colors = theme.palette(dark)
    for old, new in (
        (_WIDTH, "const DIV_WIDTH = 900;"),
        ("'background': 'black'", f"'background': '{colors.background}'"),
    ):
        body = body.replace(old, new)
    style = _STYLE.format(
        scheme="dark" if dark else "light", background=colors.background, ink=colors.ink, hover=colors.grid,
        face=theme.FACE,
    )  # fmt: skip
    scripts = "".join(f"<script>{text}</script>" for text in (*_libraries(), _LOADER))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>bertviz</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}"><style>{style}</style>{scripts}</head>'
        f"<body>{body}</body></html>"
    )


def _once(body: str) -> str:
    """The numbers, which stand in a statement and again in the comment behind it, once, and escaped.

    Both copies are found by their length, not by a mark between them, which a token could contain.
    """
    before, begin, rest = body.partition(_BEGIN)
    line, _, after = rest.partition("\n")
    length = (len(line) - len(_MIDDLE) - len(_END)) // 2
    data = line[: max(length, 0)]
    if not begin or line != f"{data}{_MIDDLE}{data}{_END}":
        raise _unknown()
    json.loads(data)
    escaped = data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return f"{before}{begin}{escaped};\n{after}"


@cache
def _libraries() -> tuple[str, ...]:
    """jQuery and d3, in an order in which they can be loaded; a script cannot end inside of them."""
    names = ("jquery-3.7.1.min.js", "d3-5.7.0.min.js")
    return tuple((_VENDOR / name).read_text("utf-8").replace("</script", "<\\/script") for name in names)


def _unknown() -> ModelError:
    return ModelError(
        later("This version of bertviz writes its view in a way that is not known here: install bertviz 1.4.1.")
    )
