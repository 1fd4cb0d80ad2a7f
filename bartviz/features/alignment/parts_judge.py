"""Judging by hand: a word of the source and a word of the output are linked by clicking both, and unlinked again."""

from __future__ import annotations

import html
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from bartviz.analysis import gold_alignment
from bartviz.analysis.gold_alignment import Gold, Link
from bartviz.app.controls import export
from bartviz.browser.scripts import bundle
from bartviz.features.alignment import parts, parts_gold
from bartviz.language import _

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


def draw(record: Record, chosen: Chosen) -> None:
    """The two lines of words with the visitor's links over those of the heads, and the file of the visitor's."""
    counts = len(chosen.shown.source), len(chosen.shown.target)
    field = parts_gold.key_of(record)
    toggle = partial(_toggled, field, chosen.gold, counts)
    _MOUNT(data=json.dumps(payload(chosen)).encode(), key=KEY, on_toggle_change=toggle)
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


def payload(chosen: Chosen) -> dict[str, Any]:
    """The component's data: both lines of words, and three sets of links. Plain JSON."""
    gold = chosen.gold or Gold(frozenset(), frozenset())
    return {
        "source": list(chosen.shown.source.labels),
        "output": list(chosen.shown.target.labels),
        "sure": sorted(gold.sure),
        "possible": sorted(gold.possible - gold.sure),
        "found": sorted(chosen.links),
        "labels": {
            "both": _("Words to link by hand"),
            "source": _("source"),
            "output": _("output"),
            "begin": _("Choose a word, then the word that it became. A link that is there goes again."),
            "then": _("“{word}”: now its partner on the other side."),
            "linked": _("“{source}” and “{output}” are linked."),
            "unlinked": _("“{source}” and “{output}” are no longer linked."),
        },
    }


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
