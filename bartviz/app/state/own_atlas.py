"""The visitor's own atlas: measured here, or opened from a file. It is shown to that visitor alone."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from bartviz.corpus.atlas import Atlas
    from bartviz.corpus.read import Bad, Line

_OWN, _NEW = "_corpus_own", "_corpus_new"


@dataclass(frozen=True, slots=True)
class Own:
    """An atlas, and ``version``, a number that no other content has; ``rows`` that were measured here, if they were."""

    name: str
    version: int
    atlas: Atlas
    rows: tuple[Line | Bad, ...] = ()


def own() -> Own | None:
    """The visitor's atlas, if there is one."""
    held: Own | None = st.session_state.get(_OWN)
    return held


def keep(name: str, content: str, atlas: Atlas, rows: tuple[Line | Bad, ...] = ()) -> bool:
    """Keep an atlas in place of the one before; ``content`` says what it was made of. Whether it is another one."""
    version, held = int(hashlib.sha256(content.encode()).hexdigest()[:15], 16), own()
    if held is not None and held.version == version:
        return False
    st.session_state[_OWN], st.session_state[_NEW] = Own(name, version, atlas, rows), name
    return True


def arrived() -> str | None:
    """The name of the own atlas, once after it came."""
    name: str | None = st.session_state.pop(_NEW, None)
    return name
