"""What is made once and shown often: figures, measures, tables, kept by all that they depend on.

A call that has not been made yet (``functools.partial``) is its own key: the function, the content of every argument,
the visitor's language. What is kept can then be neither stale nor somebody else's, and two visitors who look at the
same thing share it. The longest unused leaves first.
"""

from __future__ import annotations

import pickle
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

from bartviz.language import current
from bartviz.serving.cache import ByteCache
from bartviz.ui.state import content

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from bartviz.figures.drawn import Drawn

T = TypeVar("T")
LIMIT = 32_000_000  # bytes of all that is kept; a figure takes some 20,000
_STORE: ByteCache[tuple[Any]] = ByteCache(LIMIT)


def once(call: partial[T], said: str = "") -> T:
    """What the call gives, made if nobody has made it lately. It is shared: who gets it must not change it.

    The call depends on its arguments and the language alone. ``said`` is shown while it is made. Raises TypeError for
    arguments without a key, as ``content.key`` has it.
    """
    key = content.key(call, current())
    found: tuple[T] | None = _STORE.peek(key)
    if found is None and said:
        with st.spinner(said):
            found = _STORE.get(key, lambda: (call(),), _size)
    elif found is None:
        found = _STORE.get(key, lambda: (call(),), _size)
    return found[0]


def figure(call: partial[go.Figure], factor: float = 1.0) -> Drawn:
    """The figure that the call makes, as it is sent; with letters ``factor`` times as large."""
    return once(partial(_drawn, call, factor))


def _drawn(call: partial[go.Figure], factor: float) -> Drawn:
    from bartviz.figures import theme
    from bartviz.figures.drawn import Drawn

    made = call()
    return Drawn(made if factor == 1 else theme.enlarged(made, factor))


def _size(value: tuple[Any]) -> int:
    """Bytes of a value: those that it names, else those that it takes when it is written."""
    nbytes: int | None = getattr(value[0], "nbytes", None)
    return len(pickle.dumps(value, pickle.HIGHEST_PROTOCOL)) if nbytes is None else nbytes
