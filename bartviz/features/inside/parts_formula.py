"""The formula of one head, in step with the pointer over the row of arithmetic below it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import streamlit as st

from bartviz.analysis.inside import Inside
from bartviz.browser.scripts import bundle
from bartviz.features.inside.figure_arithmetic import panels
from bartviz.language import _, mark

_FILES = Path(__file__).parent
_MOUNT = st.components.v2.component(
    "bartviz.formula",
    html=(_FILES / "formula.html").read_text("utf-8"),
    css=(_FILES / "formula.css").read_text("utf-8"),
    js=bundle(_FILES / "formula.js"),
)


def show(one: Inside, *, key: str, within: str) -> None:
    """Draw the formula; ``within`` is the CSS selector of the picture whose panels it follows. No server traffic."""
    _MOUNT(data=json.dumps(payload(one, within=within)).encode(), key=key)


def payload(one: Inside, *, within: str) -> dict[str, Any]:
    """The component's data: the parts of the formula, the panels that show each, and a sentence for each panel."""
    scale = [] if one.scale == 1 else [_part(f" × {one.scale:.4g}", panels=("scaled", "score"))]
    bias = [] if one.bias is None else [_part(f" + {_('bias')}", "j", panels=("bias", "score"))]
    parts = [
        _part(_("output"), role="value", panels=("output",)),
        _part(" = "),
        _part("Σ", "j", panels=("output",)),
        _part(" softmax", "j", panels=("weight",)),
        _part("( "),
        _part("q", role="query", panels=("q", "products", "scaled", "score")),
        _part(" · ", panels=("products", "scaled", "score")),
        _part("k", "j", role="key", panels=("keys", "products", "scaled", "score")),
        *scale,
        *bias,
        _part(" )"),
        _part(" "),
        _part("v", "j", role="value", panels=("values", "output")),
    ]
    rest = (
        mark("{head}, {width} numbers wide")
        if one.mask.all()
        else mark("{head}, {width} numbers wide, over the keys that may be seen")
    )
    return {
        "parts": parts,
        "panels": panels(one),
        "say": _sentences(one),
        "within": within,
        "rest": _(rest, head=one.name, width=one.width),
    }


def _part(text: str, sub: str = "", *, role: str = "", panels: Iterable[str] = ()) -> dict[str, Any]:
    return {"text": text, "sub": sub, "role": role, "panels": list(panels)}


def _sentences(one: Inside) -> dict[str, str]:
    scaled = {
        (True, True): mark("the products summed: the score"),
        (True, False): mark("the products summed"),
        (False, True): mark("the products summed and multiplied with {scale:.4g}: the score"),
        (False, False): mark("the products summed and multiplied with {scale:.4g}"),
    }[one.scale == 1, one.bias is None]
    return {
        "q": _("query: what this token looks for, {width} numbers", width=one.width),
        "keys": _("keys: what each token offers, {width} numbers each", width=one.width),
        "products": _("query times key, number by number"),
        "scaled": _(scaled, scale=one.scale),
        "bias": _("a number for the distance between the two positions, learned"),
        "score": _("sum and bias: the score; −∞ where the mask closes the key"),
        "weight": _("e to the score, divided by the sum over the keys: the weights sum to 1"),
        "values": _("what each token gives, times its weight"),
        "output": _("the sum of all weighted values: the head's output"),
    }
