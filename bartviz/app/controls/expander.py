"""Collapsed sections whose content is computed only when they are opened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import streamlit as st

_OPENED, _ASKED = "_opened", "_asked_for"


@contextmanager
def section(label: str, *, key: str, names: Sequence[str] = ()) -> Iterator[bool]:
    """A collapsed section. Yields whether it is open, so that the content of a closed one need not be computed.

    It opens when a link sets one of ``names``, the URL words of the choices inside; the visitor may close it.
    """
    folded = f"folded_{key}"
    if _linked(key, names) or (requested(key, names) and folded not in st.session_state):
        st.session_state[folded] = True
    with st.expander(label, key=folded, on_change="rerun") as expander:
        yield bool(expander.open)


def requested(key: str, names: Sequence[str]) -> bool:
    """Whether a link or an earlier run set one of the choices inside; from then on, for the rest of the visit.

    ``names`` are the URL words of these choices.
    """
    opened: set[str] = st.session_state.setdefault(_OPENED, set())
    if any(name in st.query_params or name in st.session_state for name in names):
        opened.add(key)
    return key in opened


def _linked(key: str, names: Sequence[str]) -> bool:
    """Whether the address has other words of the choices inside than in the last run: while the section is closed, only
    a link or a lesson writes them."""
    asked: dict[str, dict[str, list[str]]] = st.session_state.setdefault(_ASKED, {})
    words = {name: st.query_params.get_all(name) for name in names if name in st.query_params}
    before, asked[key] = asked.get(key, {}), words
    return bool(words) and words != before
