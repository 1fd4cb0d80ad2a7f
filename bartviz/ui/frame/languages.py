"""The visitor's language: the word ``lang`` of the address, else what was chosen, else the browser's, else English.

Kept per session in a plain table, so that whoever asks in a script run, a fragment or a callback touches no session
state (any access of that may end the run).
"""

from __future__ import annotations

import streamlit as st
from streamlit.runtime import exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from bartviz.language import LANGUAGES, _, follow
from bartviz.ui.controls import pick
from bartviz.ui.state import address

KEY = "lang"
MANY = 64  # sessions; above it the ended ones are forgotten
_SPOKEN: dict[str, str] = {}


def begin() -> None:
    """Find the language of this script run: the first call of each."""
    context = get_script_run_ctx()
    if context is None:
        return
    held = st.session_state.get(KEY)
    words = address.resolve(KEY, (held,) if held in LANGUAGES else None, _understood, (of_browser(),))
    if len(_SPOKEN) > MANY and exists():
        runtime = get_instance()
        for session in [session for session in _SPOKEN if not runtime.is_active_session(session)]:
            _SPOKEN.pop(session, None)
    _SPOKEN[context.session_id] = words[0]


def choose() -> None:
    """The choice of the language; the sidebar draws it. Each language is called by its own name."""
    pick.one_of(_("Language"), LANGUAGES, key=KEY, default=of_browser())


def spoken() -> str:
    """The language of the visitor whose script run asks; English where there is none."""
    context = get_script_run_ctx(suppress_warning=True)
    return "en" if context is None else _SPOKEN.get(context.session_id, "en")


def of_browser() -> str:
    """The language that the browser asks for, where we have it."""
    code = (st.context.locale or "en").replace("_", "-").split("-")[0].lower()
    return code if code in LANGUAGES else "en"


def _understood(said: address.Words) -> address.Words | None:
    found = [code for code in LANGUAGES if said and said[-1].replace("_", "-").split("-")[0].lower() == code]
    return (found[0],) if found else None


follow(spoken)
