"""A figure that is sent again and again: what plotly makes of it is made once."""

from __future__ import annotations

import pickle
from typing import Any

import plotly.graph_objects as go
from plotly.basedatatypes import BaseFigure


class Drawn(BaseFigure):  # type: ignore[misc]
    """A figure as plain values, which cannot be changed: all that who sends it asks of it.

    Plotly makes those values anew each time, which takes longer than to write them.
    """

    def __init__(self, figure: go.Figure) -> None:
        self._values: dict[str, Any] = figure.to_dict()
        for trace in self._values["data"]:
            trace.pop("uid", None)

    def to_dict(self) -> dict[str, Any]:
        """The data and the layout; arrays are written as base64."""
        return dict(self._values)

    @property
    def nbytes(self) -> int:
        """Bytes of the values as they would be written; in memory they take somewhat more."""
        return len(pickle.dumps(self._values, pickle.HIGHEST_PROTOCOL))
