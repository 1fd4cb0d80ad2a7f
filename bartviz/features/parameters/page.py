"""Where are the parameters? From its configuration alone: every matrix, and what length costs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.analysis import article_models, parameter_totals
from bartviz.analysis.costs import Costs
from bartviz.analysis.parameters import parameters
from bartviz.app.controls import large_type, pick, show
from bartviz.app.frame import levels, page, page_hooks
from bartviz.features.parameters import figure_costs as curves
from bartviz.features.parameters import parts as ui
from bartviz.features.parameters import parts_open as open_area
from bartviz.features.parameters.figure import areas, level_of
from bartviz.features.parameters.figure_notebook import sizes
from bartviz.features.textbook import articles
from bartviz.language import _, mark
from bartviz.record.record import Record

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from bartviz.app.streamlit_internals import DeltaGenerator


@st.fragment
def cost(chosen: ui.Chosen) -> None:
    costs = Costs(chosen.config, architecture=chosen.architecture)
    n, dtype = ui.length(costs)
    left, right = st.columns(2)
    with left:
        alt = _("Multiply-adds per token against the length: flat lines, and the scores rising through them")
        operations = partial(curves.operations, costs, n, dark=page.dark())
        show.figure(operations, key="operations", alt=alt)
    with right:
        alt = _("Bytes against the length: the attention of all heads rises twice as steeply as everything else")
        show.figure(partial(curves.memory, costs, n, dtype=dtype, dark=page.dark()), key="memory", alt=alt)
    if costs.sizes.decoder is not None:
        show.note(_("Decoding step by step, {count:,} source tokens. The encoder, run once, is left out.", count=n))
        steps = min(n, costs.sizes.positions or n, 1024)
        alt = _("Multiply-adds of each decoding step: nearly flat with a cache, rising without")
        show.figure(partial(curves.decoding, costs, n, steps, dark=page.dark()), key="decoding_cost", alt=alt)
    title = _("Operations by part and bytes, at every length of the curves")
    show.downloads("operations", title=title, table=lambda: costs.curve(curves.lengths(n)), figure=operations)


def compare() -> None:
    show.note(_("Millions of parameters, each matrix counted once. A diamond is the number that the articles give."))
    alt = _("Eight models of the articles as bars: embeddings, encoder layers, decoder layers, output layer")
    drawn = partial(sizes, dark=page.dark())
    show.figure(drawn, key="sizes", alt=alt)
    show.downloads("sizes", title=_("The articles' models"), table=article_models.models, figure=drawn)


TABS = {
    "length": mark("What length costs"),
    "models": mark("The articles' models"),
    "claims": mark("What the articles say"),
    "check": mark("Is it true?"),
}


def below(chosen: ui.Chosen, record: Record | None) -> None:
    part, tab = pick.tabs({word: _(label) for word, label in TABS.items()}, key="more")
    with tab:
        if part == "length":
            cost(chosen)
        elif part == "models":
            compare()
        elif part == "claims":
            ui.claims(articles.claims())
        else:
            ui.check(chosen, record)


def one(chosen: ui.Chosen, lead: DeltaGenerator) -> partial[go.Figure]:
    """One model: its areas, and the numbers of the one that is open beside them, and in the ``lead``. Returns the call
    that draws the areas."""
    rows, total = chosen.rows, parameter_totals.total(chosen.rows)
    tree = areas(rows, chosen.title)
    opened = open_area.opened(tree)
    whole = opened is tree[0]
    of_the_model = parameter_totals.notice if detailed() else parameter_totals.plain_notice
    notice = of_the_model(rows) if whole else ui.said(opened, total)
    with lead:
        show.lead(notice)
    drawn = partial(ui.treemap, chosen, opened=None if whole else opened.id, dark=page.dark(), large=large_type.on())
    with st.container(key="parameters_one"):  # on a phone the legend is above the areas (first.css)
        left, right = st.columns([4, 3])
    with left:
        if whole:
            show.what_to_do(
                _("The larger an area, the more parameters. Choose one, or a part in the table, to open it.")
            )
        else:
            open_area.path(tree, opened)
        show.figure(drawn, key="parameters", alt=_("Areas of {model}: {notice}", model=chosen.title, notice=notice))
        open_area.listen()
    with right:
        ui.legend(rows, level_of(tree, opened.id))
        if whole:
            ui.numbers(rows, detailed=detailed())
        else:
            ui.area(tree, opened, total)
    return drawn


def detailed() -> bool:
    """Whether it shows what counting a matrix twice leads to; a lesson asks about it."""
    return levels.at_least("intermediate") or page_hooks.current().asks_numbers()


def draw(record: Record | None) -> None:
    first = st.container(key="parameters_lead")
    with st.container(key="parameters_models"):
        chosen, other = ui.choose()
    if other is None:
        drawn = one(chosen, first)
    else:
        drawn = partial(ui.treemap, chosen, dark=page.dark(), large=large_type.on())
        said = ui.two(chosen, other)
        with first:
            show.lead(said)
    with levels.aside(_("More: what length costs, other models"), key="parameters", names=["more", "n"]) as opened:
        if opened:
            below(chosen, record)
    levels.explain("parameters")
    table = lambda: parameters(chosen.config, architecture=chosen.architecture)  # noqa: E731
    show.downloads("parameters", table=table, figure=partial(drawn, large=False))


def main() -> None:
    draw(page.begin("parameters", needs_record=False))
