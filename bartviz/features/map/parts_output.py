"""What a BERT gives in the end: words for its masks, whether a second text follows, or its best guess at every word."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.app.controls import prediction, show, tasks
from bartviz.app.frame import fill_masks
from bartviz.app.state import content
from bartviz.features.map import numbers
from bartviz.language import _, later
from bartviz.language.percentages import percent
from bartviz.text.labels import MASKS

if TYPE_CHECKING:
    from bartviz.models.model import Model
    from bartviz.record.record import Record
    from bartviz.serving.gate import Ticket


def section(record: Record) -> None:
    """The end of an encoder that stands by itself; nothing for a model that writes."""
    ends = {box.gives for column in numbers.columns(record.model) for box in column.after}
    if not ends & {"gaps", "pair"}:
        prediction.section(record)
        return
    with st.container(border=True, key="map_output", gap="small"):
        st.subheader(_("What comes out"), anchor=False)
        if "pair" in ends:
            _pair(record)
        if "gaps" in ends:
            _words(record)


def _pair(record: Record) -> None:
    said = record.prediction
    if said is None and record.pair_text is not None:
        show.note(_("Whether the second text follows was not saved with this run: press Run."))
        return
    if said is None:
        show.note(
            _(
                "Whether one text follows another is asked of two: give it a second sentence in the sidebar (on a "
                "phone: Menu)."
            )
        )
        return
    follows = float(said.probabilities[0, 0])
    show.lead(_("The model says that the second text follows the first with {p:.1%}.", p=follows))
    show.note(
        _(
            "It was trained on pairs whose second text was the next one or a random one. So the score says whether two "
            "texts look like neighbours, not whether the second is true, or follows by logic."
        )
    )


def _words(record: Record) -> None:
    if any(record.source.pieces[token] in MASKS for token in record.source.special.nonzero()[0]):
        fill_masks.section(record)
        return

    def work(model: Model, ticket: Ticket[tuple[tuple[str, float], ...]]) -> tuple[tuple[str, float], ...]:
        from bartviz.experiments.repair import guessed

        ticket.report(later("Guessing every word"))
        return guessed(model, record, cancelled=ticket.cancelled)

    found = tasks.ask("guesses", record.model.name, {"record": content.key(record)}, work)
    if found is None:
        return
    shown = [token for token in range(len(found)) if not record.source.special[token]]
    same = sum(found[token][0] == record.source.labels[token] for token in shown)
    show.note(
        _(
            "Its best guess at each token: {same} of {count} are the token itself, which it can see. Put [MASK] in "
            "place of a word, and it has to guess.",
            same=same,
            count=len(shown),
        )
    )
    chips = [
        f"<span class='bv-chip{' bv-strong' if p > show.INK_TURNS else ''}' style='--w:{100 * p:.1f}%' "
        f"title='{html.escape(percent(p))}'>{html.escape(label)}</span>"
        for label, p in (found[token] for token in shown)
    ]
    st.html(f"<p class='bv-text bv-encoder' dir='auto'>{' '.join(chips)}</p>")
