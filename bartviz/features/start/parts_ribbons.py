"""The ribbons: two lines of words; hover over, tap or focus one to see its attention, with a sentence about it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from bartviz.analysis import sentence_words
from bartviz.analysis.start import Ribbons
from bartviz.analysis.words import Word
from bartviz.browser.scripts import bundle
from bartviz.language import _
from bartviz.record.attention import Head

_FILES = Path(__file__).parent
_MOUNT = st.components.v2.component(
    "bartviz.ribbons",
    html=(_FILES / "ribbons.html").read_text("utf-8"),
    css=(_FILES / "ribbons.css").read_text("utf-8"),
    js=bundle(_FILES / "ribbons.js"),
)


def show(
    ribbons: Ribbons, *, key: str, above: str, below: str, glosses: Sequence[str] = (), taps: Sequence[str] = ()
) -> None:
    """Draw the ribbons; ``above`` and ``below`` name the two lines for screen readers. Hovering causes no traffic.

    ``glosses`` are shown under the words of the lower line while these are touched. ``taps`` are what a newcomer is
    asked to do: the first, and each next one when a word of the lower line has been touched.
    """
    sent = payload(ribbons, above=above, below=below) | {"glosses": list(glosses), "taps": list(taps)}
    data = json.dumps(sent).encode()  # bytes: anything else would import pandas
    _MOUNT(data=data, key=key)


def payload(ribbons: Ribbons, *, above: str, below: str) -> dict[str, Any]:
    """The component's data: words, ribbons, and a sentence for each word. Plain JSON; the component escapes it."""
    return {
        "kind": ribbons.head.kind,
        "above": [_word(word) for word in ribbons.above],
        "below": [_word(word) for word in ribbons.below],
        "edges": [list(edge) for edge in ribbons.edges()],
        "say": {"above": list(ribbons.say_above), "below": list(ribbons.say_below)},
        "labels": {
            "above": above,
            "below": below,
            "hint": _("Point at a word, or tap it: its ribbons stay, and this line says what they mean."),
            "play": _("Play"),
            "pause": _("Pause"),
            "table": _(
                "Weights of {head}: {below}, {above}, weight", head=_head(ribbons.head), below=below, above=above
            ),
            "ribbons": _("Attention between two lines of words"),
        },
    }


def _head(head: Head) -> str:
    return sentence_words.head(head.kind, head.layer, head.head)


def _word(word: Word) -> dict[str, Any]:
    return {"pieces": [word.text] if len(word.pieces) == 1 else list(word.pieces), "special": word.special}
