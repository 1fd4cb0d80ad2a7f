"""The explorer in a running notebook, where Python has the choice: ``bartviz.explore(record)``.

What a record shows of itself at the end of a cell needs no kernel and stays alive in the saved notebook. This is for
work with a kernel: what is chosen in the picture can be read, watched and set.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from bartviz.arrays import Floats
from bartviz.errors import SettingError
from bartviz.explorer.data import first
from bartviz.explorer.file import FRAMED, HEIGHT, name_of, page
from bartviz.record.record import Record

_PLACES = ("layer", "head", "row")


class Explorer(anywidget.AnyWidget):
    """The widget that ``explore`` makes.

    ``kind``, ``layer``, ``head`` and ``row`` (from 0) are what it shows: read them, set them, or watch them with
    ``observe(function, names)``. Setting one that the record does not have raises SettingError.
    """

    _esm = Path(__file__).with_suffix(".js")
    _page = traitlets.Unicode().tag(sync=True)
    _name = traitlets.Unicode().tag(sync=True)
    _height = traitlets.Int().tag(sync=True)
    _signed = traitlets.Unicode().tag(sync=True)  # the view that chose, and what: an echo of it is no request
    kind = traitlets.Unicode().tag(sync=True)
    layer = traitlets.Int().tag(sync=True)
    head = traitlets.Int().tag(sync=True)
    row = traitlets.Int().tag(sync=True)

    def __init__(self, record: Record, height: int) -> None:
        self.record = record
        shown = page(record, most=FRAMED).decode()
        super().__init__(_page=shown, _name=name_of(record), _height=height, **first(record))

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """The widget, and for a saved notebook, which has no kernel, the picture that the record shows of itself."""
        bundle = super()._repr_mimebundle_(**options)
        return None if bundle is None else ({"text/html": self.record._repr_html_()} | bundle[0], bundle[1])

    @property
    def weights(self) -> Floats:
        """The weights (Q, K) of the head that is shown."""
        return self.record.attention(self.kind).head(self.layer, self.head)

    @traitlets.validate("kind")
    def _has_kind(self, proposal: Any) -> str:
        return self.record.attention(proposal["value"]).kind

    @traitlets.validate(*_PLACES)
    def _has_place(self, proposal: Any) -> int:
        name, place = proposal["trait"].name, int(proposal["value"])
        count = self._counts()[name]
        if not 0 <= place < count:
            raise SettingError(f"The {self.kind} attention has no {name} {place}: choose 0 to {count - 1}.")
        return place

    @traitlets.observe("kind")
    def _fit(self, _change: Any) -> None:
        """The last layer, head or row of another kind that has fewer."""
        for name, count in self._counts().items():
            if getattr(self, name) >= count:
                setattr(self, name, count - 1)

    def _counts(self) -> dict[str, int]:
        return dict(zip(_PLACES, self.record.attention(self.kind).shape[:3], strict=True))


def explore(record: Record, *, height: int = HEIGHT) -> Explorer:
    """The explorer of a record for a notebook's cell, as a widget (anywidget). height: pixels of its frame.

    Weights are exact to 2e-5; of a long text the smallest are left out, as in a record's own display.
    Raises SettingError.

    >>> widget = bartviz.explore(record)
    >>> widget.layer, widget.head = 1, 2
    >>> bool((widget.weights == record.cross.head(1, 2)).all())
    True
    """
    if not isinstance(record, Record):
        raise SettingError(f"A record from bartviz.capture is expected, not a {type(record).__name__}.")
    return Explorer(record, height)
