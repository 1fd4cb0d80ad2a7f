"""Before attention: the steps between tokens in a recurrent network, and the one vector that holds the text."""

from __future__ import annotations

from functools import partial

import streamlit as st

from bartviz.analysis import recurrence as analysis
from bartviz.app.controls import show
from bartviz.app.frame import page
from bartviz.features.masks import numbers_unfolded as unfolded
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
    _unfolded(record)
    frame = analysis.table(one)
    show.table(frame, title=_("Recurrent network and attention as a table"))
    show.downloads(
        "masks-recurrence",
        title=_("Recurrent network and attention"),
        table=frame,
        arrays=lambda: {"recurrent": one.recurrent, "attention": one.attention},
        figure=drawn,
    )


def _unfolded(record: Record) -> None:
    """The recurrent network run over this text: its formulas, and what of its gradient reaches each word."""
    st.latex(
        r"h_t = \tanh(W h_{t-1} + U x_t) \qquad c = h_n \qquad s_0 = c,\; s_t = \tanh(W' s_{t-1} + U' y_t)"
        r"\qquad \frac{\partial h_n}{\partial h_i} = \prod_{t=i+1}^{n} \operatorname{diag}(1 - h_t^2)\, W"
    )
    one = unfolded.unfolded(record)
    show.note(unfolded.sentence(one))
    recurrent, attention = one.felt
    source = record.source
    show.running_text(source, recurrent, label=_("What reaches each word, recurrent network"), key="unfolded_recurrent")
    show.running_text(source, attention, label=_("What reaches each word, attention"), key="unfolded_attention")
    show.note(
        _(
            "Shaded by the size of the last state's gradient at each word, in parts of the largest. Every step "
            "multiplies it by one more factor, so it vanishes (or, with large weights, explodes) with the number of "
            "steps. Training and gates (LSTM, GRU) slow this down; attention has one factor at any distance."
        )
    )
    show.table(unfolded.table(one), title=_("The gradient at each word as a table"))
