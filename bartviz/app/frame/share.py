"""Share: a link that shows others the same page with the same choices and, if the visitor wants it, the same text."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

import streamlit as st

from bartviz.app.controls import show
from bartviz.app.frame import page_hooks, settings
from bartviz.app.state import url_state as addresses
from bartviz.language import _
from bartviz.serving import hosts

if TYPE_CHECKING:
    from bartviz.app.streamlit_internals import DeltaGenerator

KEY, WITH_TEXT = "share", "link"
LONGEST_CODE = 1500  # characters of a link that a phone still reads from a projector
_OPENED = "_share_opened"


def place() -> DeltaGenerator:
    """The place of the button, at the right of the title, after Display; ``draw`` fills it at the end of the run."""
    return st.container(key="share_place", horizontal=True, horizontal_alignment="right", gap="xsmall")


def draw(button: DeltaGenerator) -> None:
    """The button and what it opens. Call it when every choice of the run is in the address."""
    with button, st.popover(_("Share"), key=KEY, icon=":material/share:", on_change=_open) as popover:
        with_text = not page_hooks.current().leads() and st.toggle(
            _("With my text"), bool(st.session_state.get("_link")), key=WITH_TEXT, persist_state="session"
        )
        if not popover.open:
            return
        address = link(with_text=with_text)
        show.note(
            _("This link contains your text. Anyone who opens it sees this page with the same text and settings.")
            if with_text
            else _("This link shows this page with the same settings, without your text.")
        )
        st.code(address, language=None, wrap_lines=True)
        if hosts.is_local(urlsplit(address).hostname or ""):
            note_local(address)
        elif len(address) <= LONGEST_CODE:
            st.image(code(address), width=220)
            show.note(_("For a class: scan it with a phone's camera."))
        if with_text:
            settings.long_link()


def note_local(address: str) -> None:
    """Advice where only this computer can open the address."""
    if hosts.is_local(urlsplit(address).hostname or ""):
        show.note(
            _(
                "Only this computer can open this address. To let others in, start the app with bartviz app "
                "--share and open the address that it prints."
            )
        )


def missing() -> None:
    """One line for each thing that the link to this page asked for and that is not there."""
    for key, one in addresses.missing().items():
        show.note(
            _(
                "The link asks for “{key}={asked}”, which is not available: “{shown}” is shown instead.",
                key=key,
                asked=one.asked,
                shown=one.shown,
            )
        )


def link(*, with_text: bool) -> str:
    """The address of this page with the choices of this visit; texts and the model are those in the sidebar."""
    query = {key: st.query_params.get_all(key) for key in st.query_params if key not in settings.TEXTS}
    if with_text:
        query |= {key: [value] for key in ("model", *settings.TEXTS) if (value := st.session_state.get(key))}
    address = (st.context.url or "").split("?")[0]
    return f"{address}?{urlencode(query, doseq=True)}" if query else address


def code(address: str) -> str:
    """The address as a QR code, an SVG: dark on white in both themes, because cameras want it so."""
    import segno  # imported late: the first picture does not need it

    drawn = BytesIO()
    segno.make(address, error="l").save(drawn, kind="svg", scale=4, border=3, light="white", xmldecl=False)
    return drawn.getvalue().decode()


def _open() -> None:
    """The first time, the link has the text: what is shown is what is shared. A callback."""
    if not st.session_state.get(_OPENED):
        st.session_state[_OPENED] = st.session_state[WITH_TEXT] = True
