"""A figure that is sent many times: plotly's conversion to plain values runs once."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
from plotly.basedatatypes import BaseFigure

from bartviz.safety.size import size


class CachedFigure(BaseFigure):  # type: ignore[misc]
    """A figure as plain values, which cannot be changed. Streamlit asks a figure for nothing else.

    Plotly itself rebuilds those values each time, which takes longer than writing them as JSON.
    """

    def __init__(self, figure: go.Figure) -> None:
        self._values: dict[str, Any] = figure.to_dict()
        for trace in self._values["data"]:
            trace.pop("uid", None)

    def to_dict(self) -> dict[str, Any]:
        """The data and the layout; arrays are encoded as base64."""
        return dict(self._values)

    @property
    def nbytes(self) -> int:
        """Bytes of the values in memory."""
        return size(self._values)
