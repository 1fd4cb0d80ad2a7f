"""The output layer at the player's step: from the last state to the candidates. Computed when it is opened."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.analysis import output_layer as analysis
from bartviz.analysis.output_layer import OutputLayer
from bartviz.app.controls import show, tasks
from bartviz.app.frame import page
from bartviz.browser.player.data import revision
from bartviz.features.decoding.figure_output_layer import output_layer as figure
from bartviz.language import _, later

if TYPE_CHECKING:
    from bartviz.models.model import Model
    from bartviz.record.record import Record
    from bartviz.serving.gate import Ticket


def output_layer(record: Record, step: int) -> None:
    """The folded section (URL ``output_layer``): the products, the logits and the probabilities of one step."""
    label = _("From the last state to a word: the output layer")
    with st.expander(label, key="output_layer", on_change="rerun", bind="query-params") as expander:
        if not expander.open:
            return
        one = _computed(record, step)
        if one is not None:
            _draw(one)


def _computed(record: Record, step: int) -> OutputLayer | None:
    """The numbers; None while the model is running."""

    def work(model: Model, ticket: Ticket[OutputLayer]) -> OutputLayer:
        from bartviz.experiments.output_layer import output_layer as compute

        ticket.report(later("Running the model once for its last states"))
        return compute(model, record, step, cancelled=ticket.cancelled)

    key = {
        "record": revision(record),
        "model": record.model.fingerprint,
        "ablated": [str(name) for name in _ablated(record)],
        "step": step,
    }
    return tasks.ask("output_layer", record.model.name, key, work)


def _ablated(record: Record) -> tuple[object, ...]:
    names = record.provenance.settings.get("ablated", ())
    return names if isinstance(names, tuple) else ()


def _draw(one: OutputLayer) -> None:
    sentence = analysis.sentence(one)
    show.note(f"{_('Step {step}.', step=one.step + 1)} {sentence}")
    drawn = show.figure(partial(figure, one, dark=page.dark()), key="decoding_output", alt=sentence)
    check = _(
        "Self-check: the record's logits differ by at most {error:.1e} of the largest (limit {limit:.0e}): {verdict}.",
        error=one.error,
        limit=analysis.LIMIT,
        verdict=_("ok") if one.passed else _("NOT the same"),
    )
    show.note(f"{analysis.reason(one)} {check}")
    show.table(analysis.table(one), title=_("The output layer as a table"))
    show.downloads(
        "output-layer",
        title=_("The output layer"),
        of=f"step{one.step + 1}",
        table=lambda: analysis.table(one),
        arrays=lambda: analysis.arrays(one),
        figure=drawn,
    )
