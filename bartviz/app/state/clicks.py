"""Handle every click, even if the browser sends another message right after it.

Streamlit checks for newer messages from the browser whenever a script draws or touches its session state, and restarts
with the newest. It does so before and during the callbacks of a run, too. A click is in one message only, so a slow
server lost the click when another message followed at once (a player reports its step when the visitor pauses). This
module suspends the check while callbacks run; the rest of a run can be interrupted as before.

Every message repeats the values of all widgets. If it was sent before the browser had drawn a value that a callback
set, it restores the previous value, and the effect of the click is lost. This module notes what callbacks set, and sets
it once more after such a message.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any

from bartviz.app import streamlit_internals
from bartviz.app.streamlit_internals import SafeSessionState, ScriptRequest, ScriptRequests

LAG = 0.3  # seconds from a value that is drawn to the last message of a browser that has not seen it
_UNSEEN = "_unseen"
_PLAIN = (str, int, float, bool, list, tuple, type(None))
_thread = threading.local()


@dataclass
class _Set:
    """A value that a callback set, the widget's value before, and the time when the widget was drawn with it."""

    before: Any
    value: Any
    drawn: float | None = None


def keep() -> None:
    """From now on, lose no click in any session of this process. Calling it again changes nothing."""
    streamlit_internals.replace_methods(_uninterrupted, _drawn, _check_later)


def _uninterrupted(state: SafeSessionState, *args: Any, **options: Any) -> None:
    """Apply the browser's message, call the callbacks of what has changed, and set again what the message undid."""
    _thread.acts = True
    try:
        held, now = state.filtered_state, time.monotonic()
        unseen: dict[str, _Set] = held.get(_UNSEEN, {})
        recent = {key: one for key, one in unseen.items() if one.drawn is None or now - one.drawn < LAG}
        streamlit_internals.apply_message(state, *args, **options)
        for key, one in recent.items():
            undone = _same(held.get(key), one.value) and key in state and _same(state[key], one.before)
            if undone and not state.is_new_state_value(key):
                state[key] = one.value
        given = {key: value for key, value in state.filtered_state.items() if state.is_new_state_value(key)}
        state[_UNSEEN] = _thread.unseen = {
            key: _Set(recent[key].before if key in recent else held.get(key), value)
            for key, value in given.items()
            if isinstance(value, _PLAIN)
        } | {key: one for key, one in recent.items() if key not in given}
    finally:
        _thread.acts = False


def _drawn(state: SafeSessionState, metadata: Any, user_key: str | None) -> Any:
    """Register a widget; from now on its value is pending in the browser."""
    result = streamlit_internals.register_widget(state, metadata, user_key)
    one = getattr(_thread, "unseen", {}).get(user_key)
    if one is not None and one.drawn is None:
        one.drawn = time.monotonic()
    return result


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and isinstance(one, _PLAIN) and bool(one == other)


def _check_later(requests: ScriptRequests) -> ScriptRequest | None:
    """The newer message, or None while callbacks run."""
    return None if getattr(_thread, "acts", False) else streamlit_internals.newer_message(requests)
