"""Collapsed sections whose content is computed only when they are opened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import streamlit as st

_OPENED = "_opened"


@contextmanager
def section(label: str, *, key: str) -> Iterator[bool]:
    """A collapsed section. Yields whether it is open, so that the content of a closed one need not be computed."""
    with st.expander(label, key=f"folded_{key}", on_change="rerun") as expander:
        yield bool(expander.open)


def requested(key: str, names: Sequence[str]) -> bool:
    """Whether a link or an earlier run set one of the choices inside; from then on, for the rest of the visit.

    ``names`` are the URL words of these choices.
    """
    opened: set[str] = st.session_state.setdefault(_OPENED, set())
    if any(name in st.query_params or name in st.session_state for name in names):
        opened.add(key)
    return key in opened
