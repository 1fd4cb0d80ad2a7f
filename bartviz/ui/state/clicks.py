"""Handle every click, even if the browser sends another message right after it.

Streamlit checks for newer messages from the browser whenever a script draws or touches its session state, and restarts
with the newest. It does so before and during the callbacks of a run, too. A click is in one message only, so a slow
server lost the click when another message followed at once (a player reports its step when the visitor pauses). This
module suspends the check while callbacks run; the rest of a run can be interrupted as before.
"""

from __future__ import annotations

import threading
from typing import Any

from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequest, ScriptRequests
from streamlit.runtime.state.safe_session_state import SafeSessionState

_will_rerun, _check = SafeSessionState.on_script_will_rerun, ScriptRequests.on_scriptrunner_yield
_thread = threading.local()


def keep() -> None:
    """From now on, lose no click in any session of this process. Calling it again changes nothing."""
    SafeSessionState.on_script_will_rerun = _uninterrupted  # type: ignore[method-assign, assignment]
    ScriptRequests.on_scriptrunner_yield = _check_later  # type: ignore[method-assign, assignment]


def _uninterrupted(state: SafeSessionState, *args: Any, **options: Any) -> None:
    """Apply the browser's message and call the callbacks of what has changed."""
    _thread.acts = True
    try:
        _will_rerun(state, *args, **options)
    finally:
        _thread.acts = False


def _check_later(requests: ScriptRequests) -> ScriptRequest | None:
    """The newer message, or None while callbacks run."""
    return None if getattr(_thread, "acts", False) else _check(requests)
