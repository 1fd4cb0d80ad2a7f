"""The replay of a training that the visitor has opened: shown on the page How heads are born, to that visitor alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from bartviz.corpus.replay import Replay

_OWN = "_own_replay"


def keep(name: str, data: bytes) -> None:
    """Keep a replay in place of the one before. Raises SettingError for a file that is none."""
    from bartviz.corpus.replay import open_replay  # late: the first picture does without

    st.session_state[_OWN] = open_replay(data, name)


def own() -> Replay | None:
    """The replay, if there is one."""
    held: Replay | None = st.session_state.get(_OWN)
    return held
