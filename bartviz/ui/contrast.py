"""The heads A and B side by side: their maps, what B does otherwise, one row on the words, their measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from bartviz.analysis import distance, naming
from bartviz.analysis.definitions import MEASURES
from bartviz.analysis.heads import View
from bartviz.analysis.masks import quote
from bartviz.figures.contrast import difference
from bartviz.figures.heads import one
from bartviz.ui import page, pick, pins, show
from bartviz.ui.compare import Chosen
from bartviz.ui.pins import Pin

if TYPE_CHECKING:
    import pandas as pd

HEIGHT, NARROW = 390, 340  # pixels of each map, with two and with three side by side


def two(chosen: Chosen) -> None:
    """A, B, and where they have the same tokens B minus A; under them one row of each on the words."""
    a, b = chosen.a.view(words=chosen.words), chosen.b.view(words=chosen.words)
    found = distance.contrast(a, b)
    st.text(_verdict(found, distance.mismatch(a, b)))
    count = max(len(a.query_labels), len(b.query_labels))
    row = pick.index("Row", count, key="row", default=_first(a))
    high = HEIGHT if found is None else NARROW
    columns = st.columns(2 if found is None else [1, 1, 1.2], gap="small")
    for column, pin, view in zip(columns, (chosen.a, chosen.b), (a, b), strict=False):
        with column:
            _map(chosen, pin, view, min(row, len(view.query_labels) - 1), high)
    if found is not None:
        with columns[2]:
            drawn = difference(a, b, found, row=row, height=high, dark=page.dark())
            show.figure(drawn, key="compare_difference", alt="What B looks at more than A, and what less")
            show.note("B minus A. Bars: Jensen-Shannon distance of each row, 0 the same, 1 no key in common.")
    left, right = st.columns(2, gap="medium")
    for column, pin, view in zip((left, right), (chosen.a, chosen.b), (a, b), strict=True):
        with column:
            _text(pin, view, min(row, len(view.query_labels) - 1))
    show.table(measures_of(chosen), title="The measures of A and B")
    if found is not None:
        show.table(rows_of(a, found), title="The distance of each row")


def _first(a: View) -> int:
    """The first row that tells something."""
    return int(np.argmax(a.told & ~a.query_special))


def _map(chosen: Chosen, pin: Pin, view: View, row: int, high: int) -> None:
    drawn = one(view, range=chosen.range, row=row, height=high, dark=page.dark())
    show.figure(drawn, key=f"compare_{pin.letter.lower()}", alt=f"{pin.letter}: the weights of {pin.told}")
    measured = pins.measured(pin.record, pin.head.kind, other=pin.other)
    called = naming.told(naming.name(measured, *pin.place, threshold=chosen.threshold))
    show.note(f"{pin.letter}: {pin.told}; {called}. A row attends to columns.")


def _text(pin: Pin, view: View, row: int) -> None:
    """The text that is looked at, shaded by one row."""
    weights = pin.attention.head(*pin.place)[list(view.query_groups[row])].mean(axis=0)  # (K,)
    show.running_text(
        pin.attention.key, weights, kind=pin.head.kind, key=f"compare_text_{pin.letter.lower()}",
        label=f"{pin.letter}, {pin.head}: where the row {quote(view.query_labels[row])} looks",
    )  # fmt: skip


def _verdict(found: distance.Contrast | None, mismatch: str) -> str:
    if found is None:
        return mismatch
    if np.isnan(found.mean):
        return "No row has a choice of keys: there is nothing to compare."
    told = "the same" if not np.nan_to_num(found.distance).any() else f"{found.mean:.3f} apart on average"
    return f"A and B are {told} (Jensen-Shannon distance: 0 the same weights, 1 no key in common)."


def measures_of(chosen: Chosen) -> pd.DataFrame:
    """The measures of A and of B, and B minus A; empty where one of them has none."""
    import pandas as pd

    first, second = (
        {name: float(values[pin.place]) for name, values in measured.values.items()}
        for pin in (chosen.a, chosen.b)
        for measured in [pins.measured(pin.record, pin.head.kind, other=pin.other)]
    )
    known = [measure for name, measure in MEASURES.items() if name in first or name in second]
    frame = pd.DataFrame({
        "measure": [measure.title for measure in known], "unit": [measure.unit for measure in known],
        "A": [first.get(measure.name, np.nan) for measure in known],
        "B": [second.get(measure.name, np.nan) for measure in known],
    })  # fmt: skip
    return frame.assign(difference=frame["B"] - frame["A"])


def rows_of(a: View, found: distance.Contrast) -> pd.DataFrame:
    """The distance of each row between A and B; empty where a row has no choice."""
    import pandas as pd

    return pd.DataFrame({"row": range(len(a.query_labels)), "query": a.query_labels, "distance": found.distance})
