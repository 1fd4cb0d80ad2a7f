"""The visitor's language: ``lang`` in the address, else the visitor's choice, else the browser's, else English.

It is kept per session in a plain dictionary: reading it in a script run, a fragment or a callback must not touch the
session state, as any access to that may end the run.
"""

from __future__ import annotations

import streamlit as st

from bartviz.app import streamlit_internals
from bartviz.app.controls import pick
from bartviz.app.state import url_state
from bartviz.language import LANGUAGES, _, follow

KEY = "lang"
MANY = 64  # sessions; above this number, ended ones are dropped
_SPOKEN: dict[str, str] = {}


def begin() -> None:
    """Determine the language of this script run; every run calls this first."""
    session = streamlit_internals.session_id()
    if session is None:
        return
    held = st.session_state.get(KEY)
    words = url_state.resolve(KEY, (held,) if held in LANGUAGES else None, _parse, (of_browser(),))
    if len(_SPOKEN) > MANY:
        for ended in [other for other in _SPOKEN if not streamlit_internals.is_alive(other)]:
            _SPOKEN.pop(ended, None)
    _SPOKEN[session] = words[0]


def choose() -> None:
    """The language picker. Each language is listed by its own name."""
    pick.one_of(_("Language"), LANGUAGES, key=KEY, default=of_browser())


def others() -> str:
    """The other languages, each by its own name."""
    return " · ".join(name for code, name in LANGUAGES.items() if code != spoken())


def spoken() -> str:
    """The language of the visitor of this script run; English outside a run."""
    return _SPOKEN.get(streamlit_internals.session_id() or "", "en")


def of_browser() -> str:
    """The browser's language if the app has it, else English."""
    code = (st.context.locale or "en").replace("_", "-").split("-")[0].lower()
    return code if code in LANGUAGES else "en"


def _parse(words: url_state.Words) -> url_state.Words | None:
    codes = [code for code in LANGUAGES if words and words[-1].replace("_", "-").split("-")[0].lower() == code]
    return (codes[0],) if codes else None


follow(spoken)
