"""What a visitor has done is done before the run that brings it may be broken off.

Streamlit looks for newer messages of the browser wherever a script touches its session state or draws, and goes on with
the newest. It does so before and within the callbacks of a run as well. A click stands in one message alone, so where
another message came right behind it (a player tells its step when the visitor rests) a slow server lost the click. Here
nobody looks while callbacks are done; the run itself is broken off as before.
"""

from __future__ import annotations

import threading
from typing import Any

from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequest, ScriptRequests
from streamlit.runtime.state.safe_session_state import SafeSessionState

_will_rerun, _look = SafeSessionState.on_script_will_rerun, ScriptRequests.on_scriptrunner_yield
_thread = threading.local()


def keep() -> None:
    """Keep clicks whole in every session of this process, from now on. Asked again it changes nothing."""
    SafeSessionState.on_script_will_rerun = _undisturbed  # type: ignore[method-assign, assignment]
    ScriptRequests.on_scriptrunner_yield = _look_later  # type: ignore[method-assign, assignment]


def _undisturbed(state: SafeSessionState, *args: Any, **options: Any) -> None:
    """Take in what the browser says and call the callbacks of what has changed."""
    _thread.acts = True
    try:
        _will_rerun(state, *args, **options)
    finally:
        _thread.acts = False


def _look_later(requests: ScriptRequests) -> ScriptRequest | None:
    """The newer message, unless callbacks are being called."""
    return None if getattr(_thread, "acts", False) else _look(requests)
