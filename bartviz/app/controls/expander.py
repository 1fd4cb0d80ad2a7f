"""Folded sections whose content is drawn only when somebody asks for it: what nobody looks at costs nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import streamlit as st

_UNFOLDED = "_unfolded"


@contextmanager
def folded(label: str, *, key: str) -> Iterator[bool]:
    """A folded section. Yields whether it is open, so that the content of a closed one need not be computed."""
    with st.expander(label, key=f"folded_{key}", on_change="rerun") as expander:
        yield bool(expander.open)


def asked_for(key: str, names: Sequence[str]) -> bool:
    """Whether a link or an earlier run set one of the choices inside; from then on, for the rest of the visit.

    ``names`` are the URL words of these choices.
    """
    unfolded: set[str] = st.session_state.setdefault(_UNFOLDED, set())
    if any(name in st.query_params or name in st.session_state for name in names):
        unfolded.add(key)
    return key in unfolded
