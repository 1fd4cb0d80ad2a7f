"""The task of each model that ships: one line, one example from its own run, and the way to its attention."""

from __future__ import annotations

import html
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.app import streamlit_internals
from bartviz.app.controls import tasks
from bartviz.app.frame import page_list, sidebar, way_back
from bartviz.app.frame.fill_masks import FILLER
from bartviz.app.state import session
from bartviz.families.catalogue import entry
from bartviz.language import _
from bartviz.language.percentages import percent
from bartviz.serving import saved_records as records

if TYPE_CHECKING:
    from bartviz.experiments.repair import Guess
    from bartviz.models.model import Model
    from bartviz.serving.gate import Ticket

TRANSLATOR, RUN = "bart-tiny-en-de", "start"  # and its saved run
# What the denoiser makes of a rotated text: of 21 corrupted texts the one that it restores with the highest
# probability (0.99 for the least likely token). It has learned order; words for a mask it often misses.
DENOISER, ROTATED, RESTORED = (
    "bart-tiny-denoise",
    "to bed early. I was tired and went",
    "I was tired and went to bed early.",
)
MODELS = (FILLER, DENOISER, TRANSLATOR)
TEXT, MOST = "My brother is older than <mask>.", 3
TASK = "models_learned"
_STYLE = Path(__file__).with_name("style.css")


def draw() -> None:
    """A card for each model: its title, what it does, and what goes in and comes out."""
    st.html(_STYLE)
    st.subheader(_("What each has learned to do"), anchor=False)
    with st.container(key="models_learned"):
        record = records.read(RUN)
        _filled()
        _card(DENOISER, ROTATED, RESTORED)
        _open(DENOISER, ROTATED)
        _card(TRANSLATOR, record.source_text, record.target_text or "")
        _open(TRANSLATOR, record.source_text)


def _filled() -> None:
    """The model that fills masks: its run is made now, at once if models can run already."""
    button = None if session.engine().ready else _("Let it fill the mask")
    with st.container(key="models_filler"):
        above = st.container()
        guesses = tasks.ask(TASK, FILLER, {"text": TEXT}, _guess, button=button)
        made = "…" if guesses is None else ", ".join(f"{word} ({percent(share)})" for word, share in guesses)
        with above:
            _card(FILLER, TEXT.replace("<mask>", "[MASK]"), made)
    _open(FILLER, TEXT.replace("<mask>", "[MASK]"))


def _guess(model: Model, ticket: Ticket[tuple[tuple[str, float], ...]]) -> tuple[tuple[str, float], ...]:
    """The likeliest words for the mask, with their probabilities."""
    from bartviz.experiments.repair import guesses

    found: Guess = guesses(model, TEXT, MOST, cancelled=ticket.cancelled)[0]
    return tuple((word.strip(), share) for word, share in found.candidates)


def _open(model: str, text: str) -> None:
    """A button that runs the example and shows its attention."""
    if page_list.has("heads") and st.button(
        _("See its attention"),
        key=f"models_open_{model}",
        on_click=partial(sidebar.run_text, page="models"),
        args=(model, text),
    ):
        streamlit_internals.switch_page(page_list.page("heads").file, way_back.from_here("heads", {"view": "map"}))


def _card(model: str, given: str, made: str) -> None:
    known = entry(model)
    assert known is not None  # it ships
    lines = ((_("goes in"), given), (_("comes out"), made))
    cells = "".join(f"<span>{html.escape(name)}</span><code>{html.escape(text)}</code>" for name, text in lines)
    title, note = html.escape(_(known.title)), html.escape(_(known.note))
    st.html(f"<div class='bv-objective'><h4>{title}</h4><p>{note}</p>{cells}</div>")
