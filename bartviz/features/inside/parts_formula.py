"""The formula of one head, in step with the pointer over the row of arithmetic below it, and its player: the panels
one after the other, from the query to the output, with the numbers of one key."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import streamlit as st

from bartviz.analysis.inside import Inside, row_label
from bartviz.browser.scripts import bundle
from bartviz.features.inside.figure_arithmetic import captions_of, order, panels
from bartviz.language import _, mark
from bartviz.language.percentages import percent

_FILES = Path(__file__).parent
_MOUNT = st.components.v2.component(
    "bartviz.formula",
    html=(_FILES / "formula.html").read_text("utf-8"),
    css=(_FILES / "formula.css").read_text("utf-8"),
    js=bundle(_FILES / "formula.js"),
)


def show(one: Inside, of: int, predicts: str | None, *, key: str, within: str, plain: bool = False) -> None:
    """Draw the formula; ``of`` is the key whose numbers are said, ``within`` the CSS selector of the picture whose
    panels it follows, ``plain``: the player alone, for a beginner. No server traffic."""
    _MOUNT(data=json.dumps(payload(one, of, predicts, within=within, plain=plain)).encode(), key=key)


def payload(one: Inside, of: int, predicts: str | None = None, *, within: str, plain: bool = False) -> dict[str, Any]:
    """The component's data: the parts of the formula, the panels that show each, in the order in which they are
    computed, and two sentences for each: what it is, and with the numbers of the key ``of``."""
    scale = [] if one.scale == 1 else [_part(f" {one.factor}", panels=("scaled", "score"))]
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
        "parts": [] if plain else parts,
        "panels": panels(one),
        "say": _sentences(one, plain),
        "within": within,
        "order": order(one),
        "captions": captions_of(one),
        "steps": _steps(one, of, predicts, plain),
        "words": {
            "play": _("Play the arithmetic"),
            "pause": _("Pause"),
            "back": _("One step back"),
            "next": _("One step forward"),
            "count": _("{step} of {count}"),
        },
        "rest": _("Press play to see it computed step by step.") if plain else _(rest, head=one.name, width=one.width),
    }


def _part(text: str, sub: str = "", *, role: str = "", panels: Iterable[str] = ()) -> dict[str, Any]:
    return {"text": text, "sub": sub, "role": role, "panels": list(panels)}


def _sentences(one: Inside, plain: bool) -> dict[str, str]:
    summed = _("the products summed")
    if one.divisor:
        summed = _("the products summed and divided by {divisor}", divisor=one.divisor)
    elif one.scale != 1:
        summed = _("the products summed and multiplied by {scale:.6g}", scale=one.scale)
    named = {
        "q": _("query: what this token looks for, {width} numbers", width=one.width),
        "keys": _("keys: what each token offers, {width} numbers each", width=one.width),
        "products": _("query times key, number by number"),
    }
    if plain:
        named = {
            "q": _("question (query): what is looked for, {width} numbers", width=one.width),
            "keys": _("labels (keys): what each token offers, {width} numbers each", width=one.width),
            "products": _("question times label, number by number"),
        }
    return named | {
        "scaled": _("{summed}: the score", summed=summed) if one.bias is None else summed,
        "bias": _("a number for the distance between the two positions, learned"),
        "score": _("sum and bias: the score; −∞ where the mask closes the key"),
        "weight": _("e to the score, divided by the sum over the keys: the weights sum to 1"),
        "values": _("what each token gives, times its weight"),
        "output": _("the sum of all weighted values: the head's output"),
    }


def _steps(one: Inside, of: int, predicts: str | None, plain: bool) -> dict[str, str]:
    """What each panel computes, with the numbers of one key."""
    key, width, seen = one.named(of), one.width, bool(one.mask[of])
    share = percent(float(one.weights[of])) if plain else f"{one.weights[of]:.3f}"
    dot, scaled, score_of = (_number(numbers[of]) for numbers in (one.dots, one.scaled, one.scores))
    summed = _("The {width} products of {key} are added up: {dot}.", width=width, key=key, dot=dot)
    if one.divisor:
        summed += " " + _("Divided by {divisor}: {scaled}.", divisor=one.divisor, scaled=scaled)
    elif one.scale != 1:
        summed += " " + _("Multiplied by {scale:.6g}: {scaled}.", scale=one.scale, scaled=scaled)
    if one.bias is None and one.softcap is None:
        summed += " " + _("That is its score.")
    elif one.bias is None:
        summed += " " + _("Kept below the cap of {cap:.4g}, its score is {score}.", cap=one.softcap, score=score_of)
    closed = _("{key} may not be seen: its score becomes −∞.", key=key)
    score = _("Sum and bias of {key} are its score: {score}.", key=key, score=score_of)
    weight = _("Softmax makes the scores weights that sum to 1: {key} gets {weight}.", key=key, weight=share)
    if one.masked:
        weight = _("All keys of this row are masked: its weights are uniform and mean nothing.")
    first = _first_steps_plainly(one, predicts) if plain else _first_steps(one, predicts)
    return first | {
        "scaled": summed if seen or one.bias is not None else f"{summed} {closed}",
        "bias": _(
            "A learned number for the distance of the two positions is added: {bias} for {key}.",
            bias="" if one.bias is None else _number(one.bias[of]),
            key=key,
        ),
        "score": score if seen else closed,
        "weight": weight,
        "values": _(
            "The value of each token, what it gives, is multiplied by its weight: that of {key} by {weight}.",
            key=key,
            weight=share,
        ),
        "output": _("Added up they are the output of the head: {width} numbers.", width=_width(one)),
    }


def _first_steps(one: Inside, predicts: str | None) -> dict[str, str]:
    row, width = row_label(one, predicts, start=False), one.width
    return {
        "q": _("The query of {row}: {width} numbers that say what it looks for.", row=row, width=width),
        "keys": _("The key of each token: {width} numbers that say what it offers.", width=width),
        "products": _("Query times key, number by number: {width} products a token.", width=width),
    }


def _first_steps_plainly(one: Inside, predicts: str | None) -> dict[str, str]:
    """The same in the words of a beginner's picture."""
    width = one.width
    asked = _("The question of {word}: {width} numbers that say what it looks for.", word=one.asks, width=width)
    if predicts is not None:
        asked = _(
            "The question asked when writing {word}: {width} numbers that say what is looked for.",
            word=predicts,
            width=width,
        )
    return {
        "q": asked,
        "keys": _("The label of each token: {width} numbers that say what it offers.", width=width),
        "products": _("Question times label, number by number: {width} products a token.", width=width),
    }


def _width(one: Inside) -> int:
    return one.width if one.v is None else int(one.v.shape[1])


def _number(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")
