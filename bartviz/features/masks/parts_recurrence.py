"""Before attention: the steps between tokens in a recurrent network, and the one vector that holds the text."""

from __future__ import annotations

from functools import partial

from bartviz.analysis import recurrence as analysis
from bartviz.app.controls import show
from bartviz.app.frame import page
from bartviz.features.masks.figure_recurrence import MOST
from bartviz.features.masks.figure_recurrence import recurrence as figure
from bartviz.language import _
from bartviz.record.record import Record


def recurrence(record: Record) -> None:
    """Both squares for this text, in a sentence, as a picture, and as a table."""
    one = analysis.recurrence(record)
    sentence = analysis.sentence(one)
    show.note(sentence)
    drawn = show.figure(partial(figure, one, dark=page.dark()), key="masks_recurrence", alt=sentence)
    if max(len(one.rows), len(one.columns)) > MOST:
        show.note(_("The picture shows the first {count} tokens; the sentence and the table count all.", count=MOST))
    show.note(
        _(
            "Counted, not run. A recurrent network reads word by word and passes on one state, so distant "
            "words reach each other through all states in between, and its steps must run in sequence. "
            "Attention pays for the short path: its scores grow with the square of the length."
        )
    )
    frame = analysis.table(one)
    show.table(frame, title=_("Recurrent network and attention as a table"))
    show.downloads(
        "masks-recurrence",
        title=_("Recurrent network and attention"),
        table=frame,
        arrays=lambda: {"recurrent": one.recurrent, "attention": one.attention},
        figure=drawn,
    )
