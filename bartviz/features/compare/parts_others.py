"""The head that A is compared with: a head of the same run, or one of another model, another text or a saved run."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import streamlit as st

from bartviz.app.controls import show, tasks
from bartviz.app.frame import settings, sidebar
from bartviz.app.state import session, upload_limits
from bartviz.errors import BartvizError
from bartviz.language import _, later, mark
from bartviz.record.record import Record
from bartviz.serving import request as requests
from bartviz.serving.limits import TYPED
from bartviz.serving.request import Request

if TYPE_CHECKING:
    from bartviz.models.model import Model
    from bartviz.serving.gate import Ticket

KEY, HEAD = "against", "head"
KINDS = {
    HEAD: mark("another head"),
    "text": mark("another text"),
    "model": mark("another model"),
    "run": mark("a saved run"),
}
LARGEST = 256  # MB of a second run that a session may keep
_KEPT, _REFUSED, _FILE = "_pinned", "_pin_refused", "_pin_file"


def draw(against: str, record: Record) -> Record | None:
    """The controls of the other run, and the run; None for a head of the same run, and until there is another."""
    others = {"model": _of_model, "text": _of_text, "run": _of_run}
    return others[against](record) if against in others else None


def chosen() -> str:
    """What A is compared with, a word of ``KINDS``."""
    return str(st.session_state.get(KEY, st.query_params.get(KEY, HEAD)))


def about(record: Record, beside: Record | None = None) -> str:
    """A run in a few words: its model, if the run ``beside`` it has another, and the beginning of its text."""
    alike = beside is not None and record.model.name == beside.model.name
    text = f"“{shorten(' | '.join(record.texts), 30 if alike else 42, placeholder=' …')}”"
    return text if alike else f"{record.model.name}, {text}"


def _of_model(record: Record) -> Record | None:
    """The same text, read by another model (URL ``b_model``)."""
    names = [name for name in sidebar.models() if name != record.model.name]
    model = st.selectbox(
        _("Other model"),
        names,
        key="b_model",
        bind="query-params",
        accept_new_options=True,
        on_change=_named,
        persist_state="session",
    )
    return _run(Request(model, record.source_text, record.pair_text)) if model else None


def _named() -> None:
    """The visitor has chosen the other model: a callback."""
    session.ask_for(st.session_state.get("b_model"))


def _of_text(record: Record) -> Record | None:
    """Another text, read by the same model: at first the same one, to change a word of; it is in the address only if
    the sidebar's text is."""
    if not {settings.OTHER_TEXT} & {*st.session_state, *st.query_params} and len(record.source_text) <= TYPED:
        st.session_state[settings.OTHER_TEXT] = record.source_text
    text = st.text_input(
        _("Other text"),
        key=settings.OTHER_TEXT,
        max_chars=TYPED,
        placeholder=_("Type a text and press Enter"),
        bind="query-params" if sidebar.linked() else None,
        persist_state="session",
    )
    if text == record.source_text:
        return record
    return _run(Request(record.model.name, text)) if text else None


def _run(request: Request) -> Record | None:
    """The record of a request besides the sidebar's; None until it is ready."""
    special = sidebar.reads_special(sidebar.kind_of(request.model), request.text, request.pair or "")
    request = replace(request, allow_special=special)
    key = {"text": request.text, "pair": request.pair, "special": request.allow_special}
    found: Record | None = tasks.ask("beside", request.model, key, partial(_record, request=request))
    return found


def _record(model: Model, ticket: Ticket[Record], *, request: Request) -> Record:
    return requests.record(model, ticket, request if model.info.kind == "encoder" else replace(request, pair=None))


def _of_run(record: Record) -> Record | None:
    """The current run, kept for later, or a saved one."""
    other: Record | None = st.session_state.get(_KEPT)
    left, right = st.columns([1, 2], vertical_alignment="center")
    with right:
        st.file_uploader(
            _("Open a saved record"),
            key=_FILE,
            max_upload_size=upload_limits.largest(),
            on_change=_open,
            help=_("A file saved by “Save to open again” under Share or Download on any page."),
        )
    with left:
        st.button(_("Keep this run"), on_click=_keep, args=(record,), key="pin_run", width="stretch")
        if other is not None:
            st.button(_("Discard it"), on_click=_forget, key="unpin_run", width="stretch")
    if st.session_state.get(_REFUSED):
        st.error(show.plain(_(st.session_state[_REFUSED])))
    said = (
        _("No run is saved for comparison.") if other is None else _("Saved for comparison: {run}.", run=about(other))
    )
    show.note(f"{said} {_('It is kept for this visit only and is not part of a link: send the file along.')}")
    return other


def _keep(record: Record) -> None:
    """Keep a run as the second one; call it in a callback."""
    st.session_state[_REFUSED] = ""
    if record.nbytes > LARGEST * 1_000_000:
        st.session_state[_REFUSED] = later(
            "This run takes {size:,.0f} MB; the limit for saved runs is {limit} MB. Use a shorter text.",
            size=record.nbytes / 1e6,
            limit=LARGEST,
        )
        return
    st.session_state[_KEPT] = record
    if "a" in st.session_state:
        st.session_state["b"] = st.session_state["a"]


def _open() -> None:
    file: Any = st.session_state.get(_FILE)
    if file is None:
        return
    try:
        record = session.opened(file)
    except BartvizError as error:
        st.session_state[_REFUSED] = str(error)
        return
    _keep(record)


def _forget() -> None:
    st.session_state[_KEPT] = None
