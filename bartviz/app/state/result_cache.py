"""A cache for figures, measures and tables that are computed once and shown often.

The key of a pending call (``functools.partial``) is the function, the content of every argument and the visitor's
language. So a cached value is never stale and never another visitor's, and visitors who look at the same thing share
it. The least recently used value is dropped first.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

from bartviz.app.state import content
from bartviz.language import current
from bartviz.safety.size import size
from bartviz.serving.cache import ByteCache

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from bartviz.drawing.cached_figure import CachedFigure

T = TypeVar("T")
LIMIT = 32_000_000  # bytes of the whole cache; a figure takes about 20,000
_STORE: ByteCache[tuple[Any]] = ByteCache(LIMIT)


def cached(call: partial[T], message: str = "") -> T:
    """The result of the call, cached. It is shared between visitors: do not change it.

    The call may depend only on its arguments and the language. ``message`` is shown while it is computed. Raises
    TypeError for arguments that ``content.key`` does not accept.
    """
    key = content.key(call, current())
    stored: tuple[T] | None = _STORE.peek(key)
    if stored is None and message:
        with st.spinner(message):
            stored = _STORE.get(key, lambda: (call(),), size)
    elif stored is None:
        stored = _STORE.get(key, lambda: (call(),), size)
    return stored[0]


def figure(call: partial[go.Figure], factor: float = 1.0, *, touched: bool = False) -> CachedFigure:
    """The figure that the call makes, ready to send, with letters ``factor`` times as large; ``touched`` if a touch of
    its points is reported."""
    return cached(partial(_drawn, call, factor, touched))


def _drawn(call: partial[go.Figure], factor: float, touched: bool) -> CachedFigure:
    from bartviz.drawing import theme
    from bartviz.drawing.cached_figure import CachedFigure

    drawn = theme.steady(call()) if touched else call()
    return CachedFigure(drawn if factor == 1 else theme.enlarged(drawn, factor))
