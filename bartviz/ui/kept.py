"""What is made once and shown often: figures, tables and texts, kept by all that they depend on.

A call that has not been made yet (``functools.partial``) is its own key: the function, the content of every argument,
the visitor's language. What is kept can then be neither stale nor somebody else's, and two visitors who look at the
same thing share it. The longest unused leaves first.
"""

from __future__ import annotations

import pickle
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from bartviz.cache import ByteCache
from bartviz.language import current
from bartviz.ui import content

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from bartviz.figures.drawn import Drawn

T = TypeVar("T")
LIMIT = 32_000_000  # bytes of all that is kept; a figure takes some 20,000
_STORE: ByteCache[Any] = ByteCache(LIMIT)


def kept(call: partial[T]) -> T:
    """What the call gives, made if nobody has made it lately. It is shared: who gets it must not change it.

    The call depends on its arguments and the language alone. Raises TypeError for arguments without a key, as
    ``content.key`` has it.
    """
    found: T = _STORE.get(content.key(call, current()), call, _size)
    return found


def figure(call: partial[go.Figure], factor: float = 1.0) -> Drawn:
    """The figure that the call makes, as it is sent; with letters ``factor`` times as large."""
    return kept(partial(_drawn, call, factor))


def _drawn(call: partial[go.Figure], factor: float) -> Drawn:
    from bartviz.figures import theme
    from bartviz.figures.drawn import Drawn

    made = call()
    return Drawn(made if factor == 1 else theme.enlarged(made, factor))


def _size(value: Any) -> int:
    """Bytes of a value: those that it names, else those that it takes when it is written."""
    nbytes: int | None = getattr(value, "nbytes", None)
    return len(pickle.dumps(value, pickle.HIGHEST_PROTOCOL)) if nbytes is None else nbytes
