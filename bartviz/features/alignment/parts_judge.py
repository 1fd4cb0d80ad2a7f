"""Two lines of words with their links: a word that is touched says its weights, and two are linked by touching both."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from bartviz.analysis import gold_alignment
from bartviz.analysis.gold_alignment import Gold, Link, Links
from bartviz.app.controls import export
from bartviz.app.frame import levels
from bartviz.arrays import Floats
from bartviz.browser.scripts import bundle
from bartviz.drawing.colors import word_places
from bartviz.features.alignment import parts, parts_gold
from bartviz.features.alignment.figure import Colors, within
from bartviz.language import _, mark
from bartviz.language.percentages import percent

if TYPE_CHECKING:
    from bartviz.features.alignment.parts import Chosen
    from bartviz.record.record import Record

KEY = "alignment_judge"
_FILES = Path(__file__).parent
_MOUNT = st.components.v2.component(
    "bartviz.judge",
    html=(_FILES / "judge.html").read_text("utf-8"),
    css=(_FILES / "judge.css").read_text("utf-8"),
    js=bundle(_FILES / "judge.js"),
)


def draw(record: Record, chosen: Chosen, first: tuple[int, int], colors: Colors) -> None:
    """The two lines of words from ``first`` (source, output) on, with the visitor's links over those of the heads, and
    the file of the visitor's."""
    counts = len(chosen.shown.source), len(chosen.shown.target)
    field = parts_gold.key_of(record)
    toggle = partial(_toggled, field, chosen.gold, counts)
    _MOUNT(data=json.dumps(payload(chosen, first, colors)).encode(), key=KEY, on_toggle_change=toggle)
    if chosen.gold is not None:
        if chosen.gold.judged is not None:
            st.html(f"<p role='status'>{html.escape(parts.by_hand(chosen))}</p>")
            st.button(
                _("Done: no more links"),
                on_click=parts_gold.finish,
                args=(field,),
                help=_("Words without a link are then judged too: they have no partner. The error rate follows."),
            )
        text = f"{gold_alignment.write(chosen.gold.sure, chosen.gold.possible)}\n"
        file = export.File("Pharaoh", "bartviz-alignment-by-hand.txt", "text/plain", text.encode)
        export.offer("alignment-by-hand", _("The links made by hand"), [file])


def payload(chosen: Chosen, first: tuple[int, int], colors: Colors) -> dict[str, Any]:
    """The component's data: both lines of words as far as they are drawn, their weights, and three sets of links, whose
    words are counted as in the text. Plain JSON."""
    gold = chosen.gold or Gold(frozenset(), frozenset())
    shown = chosen.shown
    drawn = sources, targets = within(shown, first)
    found = _drawn(chosen.links, drawn)
    source, output = shown.source.labels, shown.target.labels
    by, at = mark("{word} is looked at most by {words}."), mark("{word} looks most at {words}.")
    sides = (
        (sources, source, colors[1], by, output, shown.weights.T),
        (targets, output, colors[0], at, source, shown.weights),
    )
    return {
        "sides": [
            {
                "first": words.start,
                "words": [labels[word] for word in words],
                "colors": word_places(numbers[word] for word in words) if numbers else [-1] * len(words),
                "says": [_said(message, labels[word], others, row[word]) for word in words],
            }
            for words, labels, numbers, message, others, row in sides
        ],
        "weights": shown.weights[targets.start : targets.stop, sources.start : sources.stop].round(3).tolist(),
        "numbered": levels.at_least("intermediate"),
        "sure": _drawn(gold.sure, drawn),
        "possible": _drawn(gold.possible - gold.sure, drawn),
        "found": found,
        "shares": [percent(float(shown.weights[j, i])) for i, j in found],
        "labels": {
            "both": _("Words to link by hand"),
            "source": _("source"),
            "output": _("output"),
            "begin": _("Touch a word to see its weights, then its partner to link the two yourself."),
            "then": _("Touch its partner to link the two."),
            "linked": _("“{source}” and “{output}” are linked."),
            "unlinked": _("“{source}” and “{output}” are no longer linked."),
        },
    }


def _said(message: str, label: str, others: Sequence[str], weights: Floats) -> str:
    """A sentence on the words of the other side that have the largest of these ``weights`` (N,)."""
    if not weights.any():
        return _("{word}: no row reads it", word=f"“{label}”")
    most = np.argsort(-weights, kind="stable")[:3]
    words = ", ".join(f"“{others[number]}” ({percent(weights[number])})" for number in most)
    return _(message, word=f"“{label}”", words=words)


def _drawn(links: Links, words: tuple[range, range]) -> list[Link]:
    """Those of the links that have both words among these, in order."""
    return sorted((i, j) for i, j in links if i in words[0] and j in words[1])


def _toggled(field: str, gold: Gold | None, counts: tuple[int, int]) -> None:
    """Write the alignment with one link switched: a callback."""
    link = parsed(st.session_state[KEY].get("toggle"), counts)
    if link is not None:
        begun = gold is None or gold.judged is not None
        parts_gold.write(field, gold_alignment.write(*after(gold, link)), begun=begun)


def parsed(message: object, counts: tuple[int, int]) -> Link | None:
    """The link in a browser's message; None unless both words are there."""
    if not isinstance(message, list | tuple) or len(message) != 2:
        return None
    i, j = (int(part) if isinstance(part, int | float) else -1 for part in message)
    return (i, j) if 0 <= i < counts[0] and 0 <= j < counts[1] else None


def after(gold: Gold | None, link: Link) -> tuple[frozenset[Link], frozenset[Link]]:
    """The sure and the possible links when this one is switched: it goes, or it comes as a sure one."""
    sure, possible = (gold.sure, gold.possible) if gold is not None else (frozenset(), frozenset())
    if link in possible:
        return sure - {link}, possible - {link}
    return sure | {link}, possible | {link}
