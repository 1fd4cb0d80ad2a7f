"""The residual sum of the chosen token in the chosen layer: read from the model when it is opened."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from bartviz.analysis import residual as analysis
from bartviz.analysis.residual import Residual, Stack
from bartviz.app.controls import show, tasks
from bartviz.app.frame import page
from bartviz.features.inside.figure_residual import residual as figure
from bartviz.language import _, later

if TYPE_CHECKING:
    from bartviz.models.model import Model
    from bartviz.record.attention import Kind
    from bartviz.record.record import Record
    from bartviz.serving.gate import Ticket


def residual(record: Record, kind: Kind, layer: int, row: int) -> None:
    """The contribution of each part of the layer to the token: sentences, bars, table. Cross-attention is of the
    decoder.
    """
    one = _computed(record, "encoder" if kind == "encoder" else "decoder", layer, row)
    if one is None:
        return
    sentence = analysis.sentence(one)
    show.note(sentence)
    drawn = show.figure(partial(figure, one, dark=page.dark()), key="inside_residual", alt=sentence)
    check = _(
        "Self-check: the network's own state after the layer differs by at most {error:.1e} of its largest number "
        "(limit {limit:.0e}): {verdict}.",
        error=one.error,
        limit=analysis.LIMIT,
        verdict=_("ok") if one.passed else _("NOT the same"),
    )
    show.note(f"{analysis.feed_forward(one)} {check}")
    show.table(partial(analysis.table, one), key="residual")
    show.downloads(
        "inside-residual",
        title=_("The residual sum"),
        of=f"{one.stack}-L{one.layer}-row{one.row}",
        table=lambda: analysis.table(one),
        arrays=lambda: analysis.arrays(one),
        figure=drawn,
    )


def _computed(record: Record, stack: Stack, layer: int, row: int) -> Residual | None:
    """The numbers; None while the model is running."""

    def work(model: Model, ticket: Ticket[Residual]) -> Residual:
        from bartviz.experiments.residual import residual as compute

        ticket.report(later("Running the model once for its states"))
        return compute(model, record, stack, layer, row, cancelled=ticket.cancelled)

    key = {
        "ids": record.source.ids.tolist(),
        "segments": record.source.segments.tolist(),
        "read": [] if record.cross is None else record.attention("decoder").query.ids.tolist(),
        "model": record.model.fingerprint,
        "stack": stack,
        "layer": layer,
        "row": row,
        "settings": str(dict(record.provenance.settings)),
    }
    return tasks.ask("residual", record.model.name, key, work)
