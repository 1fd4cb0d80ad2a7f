"""The ribbons: two lines of words; hover over, tap or focus one to see its attention, with a sentence about it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from bartviz.analysis import sentence_words
from bartviz.analysis.start import Ribbons
from bartviz.analysis.word_colors import NONE, Numbers
from bartviz.analysis.words import Word
from bartviz.app.controls import pick
from bartviz.app.state import url_state
from bartviz.browser import BROWSER
from bartviz.browser.ribbons.messages import labels
from bartviz.browser.scripts import bundle
from bartviz.drawing.colors import word_places
from bartviz.record.attention import Head, Kind
from bartviz.record.record import Record

_FILES = BROWSER / "ribbons"
_MOUNT = st.components.v2.component(
    "bartviz.ribbons",
    html=(_FILES / "ribbons.html").read_text("utf-8"),
    css=(_FILES / "ribbons.css").read_text("utf-8"),
    js=bundle(_FILES / "ribbons.js"),
)


def show(
    record: Record,
    ribbons: Ribbons,
    *,
    key: str,
    above: str,
    below: str,
    glosses: Sequence[str] = (),
    taps: Sequence[str] = (),
    asked: int | None = None,
) -> None:
    """Draw the ribbons; ``above`` and ``below`` name the two lines for screen readers. Hovering causes no traffic.

    A word that is touched is the row of the other pages, and the row chosen there is shown here. ``glosses`` are shown
    under the words of the lower line while these are touched. ``taps`` are what a newcomer is asked to do: the first,
    and each next one when a word of the lower line has been touched. ``asked`` is the word of the lower line that the
    first lesson asks about: its ribbons are lit again after an answer.
    """
    colors = pick.colors_of_words(record).sides(ribbons.head.kind)
    sent = payload(ribbons, above=above, below=below, colors=colors) | {"glosses": list(glosses), "taps": list(taps)}
    sent["asked"] = asked
    row = pick.linked_row(record, ribbons.head.kind)
    url_state.publish("row", () if row is None else (str(row),), ())
    sent["chosen"] = next((t for t, word in enumerate(ribbons.below) if row in range(word.start, word.end)), None)
    data = json.dumps(sent).encode()  # bytes: anything else would import pandas
    _MOUNT(data=data, key=key, on_word_change=lambda: _choose(record, ribbons, st.session_state[key].get("word")))


def _choose(record: Record, ribbons: Ribbons, message: object) -> None:
    """Let other pages show the word of a browser message: a callback."""
    place = (message.get("line"), message.get("index")) if isinstance(message, Mapping) else (None, None)
    if (found := touched(ribbons, *place)) is not None:
        pick.put_row(record, *found)


def touched(ribbons: Ribbons, line: object, index: object) -> tuple[Kind, int] | None:
    """The kind of attention whose row a word of a line is, and that row; None unless there is such a word."""
    words = {"above": ribbons.above, "below": ribbons.below}.get(str(line), ())
    if type(index) is not int or not 0 <= index < len(words):
        return None
    kind: Kind = "encoder" if line == "above" and ribbons.head.kind == "cross" else ribbons.head.kind
    return kind, words[index].start


def payload(
    ribbons: Ribbons, *, above: str, below: str, colors: tuple[Numbers, Numbers] | None = None
) -> dict[str, Any]:
    """The component's data: words, ribbons, and a sentence for each word. Plain JSON; the component escapes it.

    ``colors``: the numbers of the tokens of ``below`` and of ``above`` on the palette of words.
    """
    rows, columns = colors or ((), ())
    return {
        "kind": ribbons.head.kind,
        "above": _line(ribbons.above, columns),
        "below": _line(ribbons.below, rows),
        "edges": [list(edge) for edge in ribbons.edges()],
        "say": {"above": list(ribbons.say_above), "below": list(ribbons.say_below)},
        "labels": labels(above, below, _head(ribbons.head)),
    }


def _head(head: Head) -> str:
    return sentence_words.head(head.kind, head.layer, head.head)


def _line(line: Sequence[Word], colors: Numbers) -> list[dict[str, Any]]:
    places = word_places(colors[word.start] if colors else NONE for word in line)
    return [_word(word, place) for word, place in zip(line, places, strict=True)]


def _word(word: Word, place: int) -> dict[str, Any]:
    return {
        "pieces": [word.text] if len(word.pieces) == 1 else list(word.pieces),
        "special": word.special,
        "color": place,
    }
