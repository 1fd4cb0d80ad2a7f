"""Which heads carry a change? Their outputs before it, put back one by one: computed when the part is opened."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np
import streamlit as st

from bartviz.analysis import patching as analysis
from bartviz.app.controls import pick, show
from bartviz.app.controls.experiment_tasks import ask, large
from bartviz.app.frame import levels, page
from bartviz.features.experiments.figure_patching import patch_map
from bartviz.language import _, later, mark, named

if TYPE_CHECKING:
    from bartviz.analysis.edits import Edit
    from bartviz.analysis.patching import By, Patching
    from bartviz.models.model import Model
    from bartviz.record.record import Record
    from bartviz.serving.gate import Ticket

WAYS = {"head": mark("one head"), "position": mark("a layer's heads at one token")}


def patching(record: Record, changed: Edit) -> None:
    """The shares of the change that heads recover, at the step where another word became the likeliest."""
    if levels.at_least("intermediate"):  # not folded below its title
        st.markdown(f"**{_('Which heads carry the change?')}**")
    step = _step(changed)
    if step is None:
        show.note(
            _(
                "Apart from the changed token's own place no other word became the likeliest, so there is nothing to "
                "bring back: choose another token."
            )
        )
        return
    by = cast("By", pick.one_of(_("What is put back"), named(WAYS), key="put"))
    found = _computed(record, changed, step, by)
    if found is None:
        return
    sentence = analysis.sentence(found)
    show.note(sentence)
    with st.container(key="patching_map"):
        drawn = show.figure(partial(patch_map, found, dark=page.dark()), key="edit_patching", alt=sentence)
    show.note(
        _(
            "Outputs of heads in the run on the first text, put into the run on the changed one. Recovered is the "
            "share of the difference between the logits of both words: 100% is the first text, 0% the changed one. "
            "Shares do not add up, as heads work together."
        )
    )
    page.link("why", _("Why this word?"), {"row": str(found.row)}, icon=":material/arrow_forward:")
    show.table(found.to_dataframe(), title=_("Every recovered share"))
    show.downloads(
        "patching",
        title=_("Which heads carry the change?"),
        table=found.to_dataframe,
        arrays=lambda: {str(kind): shares for kind, shares in found.recovered.items()},
        figure=drawn,
    )


def _step(changed: Edit) -> int | None:
    """The step, from 0, at which another word became the likeliest: the first, or of a decoder alone the last. The row
    of the changed token itself does not count."""
    if changed.before is None or changed.after is None:
        return None
    turned = np.flatnonzero(changed.before.best != changed.after.best)
    if changed.record.cross is None:
        turned = turned[changed.rows[turned] != changed.position]
    if not len(turned):
        return None
    return int(turned[-1 if changed.record.kinds == ("decoder",) else 0])


def _computed(record: Record, changed: Edit, step: int, by: By) -> Patching | None:
    """The numbers; None while the model is running."""

    def work(model: Model, ticket: Ticket[Patching]) -> Patching:
        from bartviz.attribution.patching import patch

        ticket.report(later("Putting heads back"))
        return patch(model, record, changed.changed, by=by, step=step, cancelled=ticket.cancelled)

    runs = sum(shape[0] * shape[1] for shape in (record.attention(kind).shape for kind in record.kinds))
    button = _("Put every head back") if large(record, runs) else None
    key: dict[str, object] = {"position": changed.position, "token": changed.new_id, "step": step, "by": by}
    return ask("patching", record, key, work, button=button)
