"""Under a page's title: the file or the page whose text is shown, and the way back to the own text; or why a file was
not opened; or the own text of an earlier visit in this tab."""

from __future__ import annotations

from textwrap import shorten

import streamlit as st

from bartviz.app.controls import show
from bartviz.app.frame import page_list, sidebar, uploads
from bartviz.app.streamlit_internals import DeltaGenerator
from bartviz.language import _
from bartviz.reading.uploads import FORMATS
from bartviz.record.record import ENDING
from bartviz.serving.request import Request


def draw(*, run: bool) -> None:
    """The line; nothing where no text but this one is known. ``run``: whether the page shows the record of a run."""
    error, waiting, opened = uploads.refused(), uploads.waiting(), sidebar.opened()
    if error is not None:
        st.error(show.plain(str(error)))
        show.note(
            _(
                "What can be opened: a record ({record}), an atlas ({atlas}), a text ({formats}).",
                record=ENDING,
                atlas=uploads.ATLAS,
                formats=", ".join(FORMATS),
            )
        )
        st.button(_("Close"), key="opened_close", on_click=uploads.forgive)
    elif waiting:
        with _line(_("{name} becomes the text when you press Run.", name=waiting)):
            pressed = st.button(_("Run"), key="opened_run", on_click=sidebar.run_file)
        if pressed and not run:
            st.switch_page(page_list.PAGES[0].file)
    elif opened is not None and run:
        with _line(_said(opened)):
            st.button(_("Back to my own text"), key="opened_back", on_click=sidebar.back_to_own)
    elif run and (kept := sidebar.kept()) is not None:
        text = shorten(kept["text"], 60, placeholder=" …")
        with _line(_("Earlier in this tab you ran a text of your own: “{text}”.", text=text)):
            st.button(_("Run it again"), key="opened_kept", on_click=sidebar.take_kept)


def _line(sentence: str) -> DeltaGenerator:
    """The sentence, and the place of a button beside it."""
    left, right = st.container(key="opened").columns([4, 1], vertical_alignment="center")
    with left:
        show.note(sentence)
    return right


def _said(opened: sidebar.Opened) -> str:
    """A page's text, or that of a file with its model, when it was made, and whether its model is here."""
    record = opened.shown
    if isinstance(record, Request):
        return _("This text is from {page}.", page=_(page_list.page(opened.page).label))
    values = {
        "file": opened.file,
        "model": record.model.name,
        "text": shorten(" | ".join(record.texts), 60, placeholder=" …"),
    }
    made = record.provenance.made
    said = (
        _("Opened: {file}. {model} read “{text}” on {day} at {time} UTC.", **values, day=made[:10], time=made[11:16])
        if made
        else _("Opened: {file}. {model} read “{text}”.", **values)
    )
    if record.from_weights or record.model.name in sidebar.models():
        return said
    return f"{said} " + _(
        "That model is not here: all numbers come from the file, and what would run it again says so."
    )
