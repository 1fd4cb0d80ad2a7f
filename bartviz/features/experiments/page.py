"""What changes if ...? Silence heads, change a token, and follow how far a change reaches in one step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import streamlit as st

from bartviz.analysis import ablation, edits
from bartviz.app.controls import show
from bartviz.app.frame import levels, page
from bartviz.features.experiments import parts_heads as heads
from bartviz.features.experiments import parts_step as step
from bartviz.features.experiments import parts_token as token
from bartviz.features.experiments.figure import View
from bartviz.features.experiments.figure import edits as token_figure
from bartviz.features.experiments.figure_ablation import ablation as heads_figure
from bartviz.features.experiments.parts import choose
from bartviz.language import _, mark
from bartviz.record.record import Record

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from numpy.typing import ArrayLike

T = TypeVar("T")
STYLE = Path(step.__file__).with_name("style.css")


def files(
    name: str,
    result: T,
    table: Callable[[T], pd.DataFrame],
    arrays: Callable[[T], Mapping[str, ArrayLike]],
    figure: Callable[..., go.Figure],
    record: Record | None = None,
    *,
    title: str = "",
) -> None:
    """Downloads of a result; each file is made when it is chosen."""
    show.downloads(
        name,
        title=title,
        table=lambda: table(result),
        arrays=lambda: arrays(result),
        figure=lambda: figure(result, dark=page.dark()),
        record=record,
    )


def silence(record: Record) -> None:
    result, sweep = heads.draw(record)
    nothing_written = result is not None and result.before is None and result.said is not None
    how = mark("This model writes nothing: the headline is about its label, its answer or its number.")
    levels.explain("ablation", how=_(how) if nothing_written else "")
    if sweep is not None:
        measure = next((name for name in sweep.measures if name == st.session_state.get("measure")), None)
        draw = partial(heads_figure, measure=measure)
        files("sweep", sweep, ablation.sweep_table, ablation.sweep_arrays, draw, title=_("Every head, ranked"))
    if result is not None:
        title = _("Without the chosen heads")
        files("ablation", result, ablation.rows_table, ablation.arrays, heads_figure, result.changed, title=title)


def change(record: Record) -> None:
    result = token.draw(record)
    levels.explain("edit")
    if result is not None:
        view: View = "attention" if st.session_state.get("moved") == "attention" else "encodings"
        draw, title = partial(token_figure, view=view), _("With the changed token")
        files("edit", result, edits.hidden_table, edits.arrays, draw, result.changed, title=title)
        if result.before is not None:
            show.downloads(
                "edit-predictions",
                title=_("Every prediction, before and after"),
                table=lambda: edits.rows_table(result),
                figure=lambda: token_figure(result, view="outputs", dark=page.dark()),
            )


def far(record: Record) -> None:
    result = step.draw(record)
    levels.explain("reach")
    if result is not None:
        files("reach", result, edits.reach_table, lambda reach: dict(reach.changes), token_figure)


PARTS = {"ablation": silence, "edit": change, "reach": far}


def main() -> None:
    record = page.begin("experiments")
    st.html(STYLE)
    PARTS[choose()](record)
