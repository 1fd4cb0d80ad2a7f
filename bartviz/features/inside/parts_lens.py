"""What the model would say if it stopped after an earlier layer: computed from the model when it is opened."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

import streamlit as st

from bartviz.analysis import lens as analysis
from bartviz.analysis import start
from bartviz.app.controls import pick, show
from bartviz.app.controls.experiment_tasks import ask
from bartviz.app.frame import page
from bartviz.features.inside.figure_lens import lens as figure
from bartviz.language import _, later, mark, named

if TYPE_CHECKING:
    from bartviz.analysis.lens import Lens
    from bartviz.analysis.residual import Stack
    from bartviz.models.model import Model
    from bartviz.record.record import Record
    from bartviz.serving.gate import Ticket

STACKS = {"encoder": mark("the encoder"), "decoder": mark("the decoder")}


def lens(record: Record) -> None:
    """The predictions from each layer of a stack, of an encoder-decoder one of the two: sentence, map, table."""
    stack: Stack = "encoder" if record.kinds == ("encoder",) else "decoder"
    if record.cross is not None:
        stack = cast("Stack", pick.one_of(_("Read the layers of"), named(STACKS), key="lens"))
    one = _computed(record, stack)
    if one is None:
        return
    sentence = analysis.sentence(one)
    show.note(sentence)
    with st.container(key="inside_lens_map"):
        drawn = show.figure(partial(figure, one, dark=page.dark()), key="inside_lens", alt=sentence)
    read = (
        mark("The whole decoder reads each layer of the encoder, in place of its last (DecoderLens).")
        if one.decodes
        else mark("The output layer reads each layer, in place of the last (logit lens).")
    )
    warning = _("No layer but the last learned to be read so: what is not seen here may be there in another form.")
    show.note(f"{_(read)} {warning}")
    row = pick.shown_row(record, start.kind_of(record))
    query = None if row is None else {"row": str(row)}
    page.link("why", _("Why this word?"), query, icon=":material/arrow_forward:")
    show.table(one.to_dataframe, key="lens")
    show.downloads(
        "inside-lens",
        title=_("Reading earlier layers"),
        of=one.stack,
        table=one.to_dataframe,
        arrays=lambda: analysis.arrays(one),
        figure=drawn,
    )


def _computed(record: Record, stack: Stack) -> Lens | None:
    """The numbers; None while the model is running."""

    def work(model: Model, ticket: Ticket[Lens]) -> Lens:
        from bartviz.attribution.lens import lens as compute

        ticket.report(later("Running the model once for its states"))
        return compute(model, record, stack=stack, cancelled=ticket.cancelled)

    return ask("lens", record, {"stack": stack}, work)
