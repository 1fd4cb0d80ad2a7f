"""The head view and the model view of bertviz (Vig 2019) as one page that needs no network.

bertviz's own functions need torch, load require.js, d3 and jQuery from elsewhere, write their numbers twice, and do not
escape tokens. So its two scripts are read from the installed package, unchanged and without importing it, and the page
around them is built here: with the libraries from our files, the numbers once, and tokens that cannot end the script.
"""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from math import isqrt
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bartviz.drawing import theme
from bartviz.errors import ModelError, SettingError, choices
from bartviz.language import _, current, later
from bartviz.record.attention import Attention

View = Literal["head", "model"]
VIEWS: tuple[View, ...] = get_args(View)
CELLS = 100_000
"""The most weights of a view, of all layers or of the one layer of the head view: it draws a line for each."""
LONGEST = 64  # tokens along a side, whatever the model: more lines would be a thicket
DECIMALS = 3
HIGHEST = 760  # pixels; a higher picture is scrolled in its frame

VENDOR = Path(__file__).parent / "vendor"
LIBRARIES = ("jquery-3.7.1.min.js", "d3-5.7.0.min.js")  # in an order in which they can be loaded
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"
_POLICY_LINKED = _POLICY.replace("script-src", "script-src 'self'")
_ROOT = "bertviz-view"
_DATA = "const params = PYTHON_PARAMS;"  # where bertviz's scripts want their data
_BLACK, _WIDE = "'background': 'black'", "const DIV_WIDTH = 970;"  # of the model view
_LOADER = (
    "window.require = {config() {}};"
    "window.requirejs = (names, run) => run(...names.map(name => ({jquery: window.jQuery, d3: window.d3})[name]));"
)
_STYLE = """
:root {{ color-scheme: {scheme}; }}
html, body {{ margin: 0; background: {background}; color: {ink}; overflow: auto; }}
body > *, text {{ font-family: {face} !important; }}
text, text[fill="black"] {{ fill: currentColor; }}
rect.background {{ fill: {hover}; }}
#right, #left, .token {{ font-variant-ligatures: none; }}
.captions {{ font-size: 13px; line-height: 1.4; margin: 0 0 8px; max-width: 62em; }}
.layers {{ display: block; font-size: 14px; }}
"""


@dataclass(frozen=True, slots=True)
class Window:
    """The tokens that are shown: rows and columns ``start`` to ``end`` (excluded)."""

    rows: slice
    columns: slice

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and columns."""
        return int(self.rows.stop - self.rows.start), int(self.columns.stop - self.columns.start)


def drawn_layers(view: View, attention: Attention, layer: int | None) -> list[int]:
    """The layers of a view: all, or the one ``layer`` of the head view. Raises SettingError."""
    if view not in VIEWS:
        raise SettingError(later("The classic view is one of {views}.", views=choices(VIEWS)))
    if view == "model" or layer is None:
        return list(range(attention.shape[0]))
    attention.check(layer, 0)
    return [layer]


def most_tokens(attention: Attention, view: View, layer: int | None = 0) -> int:
    """The most tokens per side in the view of this attention: between 8 and 64."""
    maps = len(drawn_layers(view, attention, layer)) * attention.shape[1]
    return max(8, min(LONGEST, isqrt(CELLS // maps)))


def page(
    view: View,
    attention: Attention,
    rows: Sequence[str],
    *,
    window: Window,
    layer: int | None = 0,
    dark: bool = False,
    captions: Sequence[str] = (),
    libraries: str | None = None,
) -> str:
    """One kind of attention as bertviz draws it: a whole HTML page of about 0.35 MB and six bytes a weight.

    The head view has one ``layer``, or with None all of them and a box to choose from. ``rows`` (Q,) name the decoder's
    rows by what they read or predict; columns are the attention's own. Weights are rounded to three decimals.
    ``captions`` are the sentences above the picture. ``libraries`` is the address of the files of VENDOR, if the page
    should not contain them: it then has 0.03 MB. The same arguments give the same text. Raises SettingError for a view,
    a layer or a window that is not there, ModelError where bertviz is missing or another version.
    """
    layers = drawn_layers(view, attention, layer)
    left, right = list(rows[window.rows]), list(attention.key.labels[window.columns])
    most = most_tokens(attention, view, layer)
    if not 1 <= len(left) <= most or not 1 <= len(right) <= most:
        raise SettingError(later("This view shows 1 to {most} tokens along a side of this model.", most=most))
    numbers = np.stack([weights(attention, one, window) for one in layers])  # (layers, H, rows, columns)
    data: dict[str, Any] = {
        "attention": [{"name": None, "attn": numbers.tolist(), "left_text": left, "right_text": right}],
        "default_filter": "0",
        "root_div_id": _ROOT,
        "include_layers": layers,
    }
    if view == "head":
        data |= {"layer": layers[0], "heads": None}
    else:
        heads = attention.shape[1]
        data |= {"display_mode": "dark" if dark else "light", "include_heads": list(range(heads)), "total_heads": heads}
    choosing = view == "head" and len(layers) > 1
    return _page(_script(view, data, dark), captions, libraries, choosing=choosing, dark=dark)


def weights(attention: Attention, layer: int, window: Window) -> NDArray[np.float64]:
    """(H, rows, columns) of one layer, rounded. Rows whose keys are all masked are 0: their weights mean nothing."""
    shown = attention.layer(layer)[:, window.rows, window.columns].astype(np.float64)
    shown[:, attention.masked_rows[window.rows]] = 0
    return shown.round(DECIMALS)


def height(view: View, attention: Attention, window: Window) -> int:
    """The height of the picture in pixels, at most 760, so that space can be reserved."""
    layers, heads = attention.shape[:2]
    longest = max(window.shape)
    if view == "head":
        needed = 30 + 22.5 * longest + 24  # bertviz: TEXT_TOP, BOXHEIGHT
    else:
        needed = max(layers * (longest * 84 / heads + 10) + 38, longest * 18 + 55) + 30
    return int(min(needed, HIGHEST))


def _script(view: View, data: dict[str, Any], dark: bool) -> str:
    """bertviz's script of a view with its data, escaped so that nothing can end the script."""
    script = _scripts()[view].replace(_BLACK, f"'background': '{theme.palette(dark).background}'")
    before, _data, after = script.replace(_WIDE, "const DIV_WIDTH = 900;").partition(_DATA)
    written = json.dumps(data).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    _comment, _end, rest = after.partition("\n")
    return f"{before}const params = {written};\n{rest}"


def _page(script: str, captions: Sequence[str], libraries: str | None, *, choosing: bool, dark: bool) -> str:
    colors = theme.palette(dark)
    style = _STYLE.format(
        scheme="dark" if dark else "light",
        background=colors.background,
        ink=colors.ink,
        hover=colors.grid,
        face=theme.FACE,
    )
    scripts = f"{_written() if libraries is None else _linked(libraries)}<script>{_LOADER}</script>"
    policy = _POLICY if libraries is None else _POLICY_LINKED
    sentences = "".join(f'<p class="captions">{html.escape(one)}</p>' for one in captions)
    box = f'<label class="layers">{html.escape(_("Layer"))} <select id="layer"></select></label>' if choosing else ""
    return (
        f'<!doctype html><html lang="{current()}"><head><meta charset="utf-8"><title>bertviz</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"><style>{style}</style>{scripts}</head>'
        f'<body>{sentences}<div id="{_ROOT}">{box}<div id="vis"></div></div><script>{script}</script></body></html>'
    )


@cache
def _written() -> str:
    """The libraries themselves; a script cannot end inside of them."""
    return "".join(f"<script>{_closed((VENDOR / name).read_text('utf-8'))}</script>" for name in LIBRARIES)


def _linked(libraries: str) -> str:
    return "".join(f'<script src="{html.escape(libraries)}/{name}"></script>' for name in LIBRARIES)


def _scripts() -> dict[View, str]:
    """bertviz's script of each view, for which the packages that it needs, such as torch, need not be installed. Raises
    ModelError if bertviz is not installed or has another version."""
    found = find_spec("bertviz")
    if found is None or found.origin is None:
        raise ModelError(later("The classic view needs bertviz: pip install --no-deps bertviz==1.4.1"))
    try:
        scripts = {view: Path(found.origin).with_name(f"{view}_view.js").read_text("utf-8") for view in VIEWS}
    except (OSError, UnicodeDecodeError) as error:
        raise _unknown() from error
    known = all(script.count(_DATA) == 1 for script in scripts.values())
    if not known or _BLACK not in scripts["model"] or _WIDE not in scripts["model"]:
        raise _unknown()
    return {view: _closed(script) for view, script in scripts.items()}


def _closed(script: str) -> str:
    return script.replace("</script", "<\\/script")


def _unknown() -> ModelError:
    return ModelError(later("This version of bertviz writes its view in an unknown format: install bertviz 1.4.1."))
