"""How a page shows things: a sentence, a figure, the text itself with weights on it, a table, an explanation, downloads.

Tokens and texts of a visitor are escaped here and nowhere reach Markdown.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st
from numpy.typing import ArrayLike

from bartviz.record import Kind, Tokens

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go


def lead(sentence: str) -> None:
    """The one sentence of what to notice in *this* text; taken literally, so that tokens may stand in it."""
    st.html(f"<p>{html.escape(sentence)}</p>")


def figure(fig: go.Figure, *, key: str, alt: str) -> None:
    """A plotly figure in its own colours, with an SVG button; ``alt`` says in words what it shows."""
    config = {"displaylogo": False, "toImageButtonOptions": {"format": "svg", "filename": key}}
    st.plotly_chart(fig, key=key, theme=None, config=config, alt=alt)


def running_text(
    tokens: Tokens, weights: ArrayLike | None = None, *, kind: Kind = "encoder", chosen: int | None = None,
    label: str = "", key: str,
) -> None:  # fmt: skip
    """The text itself as chips, shaded by weight (n,) in 0..1 with the colour of ``kind``; ``chosen`` is framed.

    Special tokens are small and grey, a word's pieces touch, words stand apart; each chip's hover names its weight.
    ``label`` is a small line above, taken literally.
    """
    values = np.zeros(len(tokens)) if weights is None else np.asarray(weights)
    st.html(
        " ".join(f"<span title='{w:.3f}'>{html.escape(t)}</span>" for t, w in zip(tokens.labels, values, strict=True))
    )


def table(frame: pd.DataFrame, *, title: str = "The same numbers as a table") -> None:
    """The figure's numbers, folded away: for a screen reader, and for whoever wants to read them."""
    with st.expander(title):
        st.dataframe(frame, hide_index=True)


def explain(markdown: str, *, title: str = "What am I seeing?") -> None:
    """The folded explanation of the page: our own Markdown, never a visitor's text."""
    with st.expander(title):
        st.markdown(markdown)


def downloads(
    name: str,
    *,
    table: pd.DataFrame | Callable[[], pd.DataFrame] | None = None,
    arrays: Mapping[str, Any] | Callable[[], Mapping[str, Any]] | None = None,
    figure: go.Figure | Callable[[], go.Figure] | None = None,
) -> None:
    """Buttons for what was given: CSV (formulas quoted), NPZ, and one HTML file of the figure that needs no network.

    ``name`` is the file's stem. Callables run only when the button is pressed.
    """
