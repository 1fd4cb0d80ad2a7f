"""What changes if ...? Heads silenced, a token changed, and how far a change is felt in one step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import streamlit as st

from bartviz.analysis import ablation, edits
from bartviz.figures import ablation as heads_figure
from bartviz.figures import edits as token_figure
from bartviz.figures.edits import View
from bartviz.language import _
from bartviz.record.record import Record
from bartviz.ui.controls import show
from bartviz.ui.frame import levels, page
from bartviz.ui.views.experiments import choose, heads, step, token

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from numpy.typing import ArrayLike

T = TypeVar("T")


def files(
    name: str,
    found: T,
    table: Callable[[T], pd.DataFrame],
    arrays: Callable[[T], Mapping[str, ArrayLike]],
    figure: Callable[..., go.Figure],
    record: Record | None = None,
) -> None:
    """What was found as files; each is made when its button is pressed."""
    show.downloads(
        name,
        table=lambda: table(found),
        arrays=lambda: arrays(found),
        figure=lambda: figure(found, dark=page.dark()),
        record=record,
    )


def silence(record: Record) -> None:
    found, sweep = heads.draw(record)
    levels.explain("ablation")
    if sweep is not None:
        show.note(_("Every head, ranked"))
        measure = next((one for one in sweep.measures if one == st.session_state.get("measure")), None)
        draw = partial(heads_figure, measure=measure)
        files("sweep", sweep, ablation.sweep_table, ablation.sweep_arrays, draw)
    if found is not None:
        show.note(_("The ablation of the chosen heads; the record is that of the changed run"))
        files("ablation", found, ablation.rows_table, ablation.arrays, heads_figure, found.changed)


def change(record: Record) -> None:
    found = token.draw(record)
    levels.explain("edit")
    if found is not None:
        view: View = "attention" if st.session_state.get("moved") == "attention" else "encodings"
        files("edit", found, edits.hidden_table, edits.arrays, partial(token_figure, view=view), found.changed)
        if found.before is not None:
            show.note(_("Every prediction, before and after"))
            show.downloads(
                "edit-predictions",
                table=lambda: edits.rows_table(found),
                figure=lambda: token_figure(found, view="outputs", dark=page.dark()),
            )


def far(record: Record) -> None:
    found = step.draw(record)
    levels.explain("reach")
    if found is not None:
        files("reach", found, edits.reach_table, lambda reach: dict(reach.changes), token_figure)


PARTS = {"ablation": silence, "edit": change, "reach": far}


def main() -> None:
    record = page.begin("experiments")
    PARTS[choose()](record)


main()
