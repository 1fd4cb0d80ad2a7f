"""Share: a link that shows others the same page with the same choices and, if the visitor wants it, the same text; and
a file that opens without a run."""

from __future__ import annotations

import html
from base64 import b64encode
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

import streamlit as st

from bartviz.app.components.link_field import link_field
from bartviz.app.controls import export, show
from bartviz.app.frame import page_hooks, settings, way_back
from bartviz.app.state import url_state as addresses
from bartviz.language import _, mark
from bartviz.serving import first_record, hosts

if TYPE_CHECKING:
    from bartviz.app.streamlit_internals import DeltaGenerator

KEY, WITH_TEXT = "share", "link"
LONGEST_CODE = 1500  # characters of a link that a phone still reads from a projector
LONGEST_TYPED = 70  # characters of a link that somebody would type
PLAIN = "!'(),:;?@/$*"  # allowed in a query as they are (RFC 3986), where they separate nothing
_OPENED, _LARGE = "_share_opened", "_share_large"


def place() -> DeltaGenerator:
    """The place of the button, at the right of the title, after Display; ``draw`` fills it at the end of the run."""
    return st.container(key="share_place", horizontal=True, horizontal_alignment="right", gap="xsmall")


def draw(button: DeltaGenerator) -> None:
    """The button and what it opens. Call it when every choice of the run is in the address."""
    large = st.session_state.pop(_LARGE, None)
    if large is not None:
        st.dialog(_("Scan to open this page"), width="large")(_fill)(large)
    with button, st.popover(_("Share"), key=KEY, icon=":material/share:", on_change=_open) as popover:
        led = page_hooks.current().leads()
        with_text = (led and page_hooks.OWN in st.query_params) or (
            not led
            and st.toggle(
                _("With my text"), bool(st.session_state.get("_link")), key=WITH_TEXT, persist_state="session"
            )
        )
        if not popover.open:
            return
        address = link(with_text=with_text and not led)
        if not with_text:
            note = _("This link shows this page with the same settings, without your text.")
        elif (led or _run()) and is_local(address):
            note = _("This link contains your text.")
        elif led or _run():
            note = _(
                "This link contains your text. Anyone who opens it sees this page with the same text and settings."
            )
        else:
            note = _("Every visit begins with this text and this model, so the link need not contain them.")
        note_local(address, file=not led and export.reopens())  # first: who reads it last has sent the link already
        if not led and is_local(address):
            _file()
        show.note(note)
        link_field(address, key=f"{KEY}_link")
        if not is_local(address):
            scan(address, key=KEY)
        if with_text:
            settings.long_link()
        if not led and not is_local(address):
            _file()


def _file() -> None:
    """What any page opens again, to be saved; nothing where the page has none."""
    export.draw_reopened(
        _(
            "Or as a file with all texts and numbers. Open it under More, From a file, in the sidebar (on a "
            "phone: Menu), or drop it on a page."
        ),
        key=f"{KEY}_file",
    )


def scan(address: str, *, key: str) -> None:
    """The code of a link for cameras, and the button that fills the screen with it; nothing for a link too long.

    ``key`` is that of the popover in which it is.
    """
    if len(address) > LONGEST_CODE:
        return
    st.image(code(address), width=220)
    show.note(_("For a class: scan it with a phone's camera."))
    st.button(
        _("Fill the screen"),
        key=f"{key}_large",
        icon=":material/fullscreen:",
        width="stretch",
        on_click=_enlarge,
        args=(address, key),
    )


def _enlarge(address: str, popover: str) -> None:
    """Close the popover, which would be in front, and fill the screen at the end of the run: a callback."""
    st.session_state[popover] = False
    st.session_state[_LARGE] = address


def _fill(address: str) -> None:
    """A code that can be read from the back of a room, and the link in large type if it can be typed; Escape closes."""
    with st.container(key="share_code"):
        alt = html.escape(_("A code for cameras: {address}", address=address))
        drawn = b64encode(code(address).encode()).decode()
        st.html(f"<img class='bv-code' alt='{alt}' src='data:image/svg+xml;base64,{drawn}'>")
        if len(address) <= LONGEST_TYPED:
            st.html(f"<p class='bv-address'>{html.escape(address)}</p>")


def is_local(address: str) -> bool:
    """Whether only this computer can open the address."""
    return hosts.is_local(urlsplit(address).hostname or "")


def note_local(address: str, *, file: bool = False) -> None:
    """Advice where only this computer can open the address; ``file``: there is a file to send instead."""
    if not is_local(address):
        return
    said = mark(
        "Only this computer can open this address. To let others in, start the app with bartviz app --share and open "
        "the address that it prints."
    )
    if file:
        said = mark(
            "Only this computer can open this address. Send the file below to somebody else; or, to let a whole class "
            "in, start the app with bartviz app --share and open the address that it prints."
        )
    show.note(_(said))


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
    left_out = (*settings.TEXTS, way_back.KEY)
    query = {key: st.query_params.get_all(key) for key in st.query_params if key not in left_out}
    if with_text:
        query |= {key: [value] for key, value in _run().items()}
    return addressed((st.context.url or "").split("?")[0], query)


def _run() -> dict[str, str]:
    """The model and the texts of the sidebar; nothing where they are those that every visit begins with."""
    held = {key: value for key in ("model", *settings.TEXTS) if (value := st.session_state.get(key))}
    first = first_record.record()
    begun = {} if first is None else {"model": first.model.name, "text": first.source_text}
    return {} if held == begun else held


def addressed(address: str, query: Mapping[str, str | Sequence[str]]) -> str:
    """The address with a query; signs that need no escape have none, so that the code has fewer modules."""
    return f"{address}?{urlencode(query, doseq=True, safe=PLAIN)}" if query else address


def code(address: str) -> str:
    """The address as a QR code, an SVG: dark on white in both themes, because cameras want it so."""
    import segno  # imported late: the first picture does not need it

    drawn = BytesIO()
    # A quiet zone of four modules and the most correction that adds no modules: fewer, larger ones are seen from afar.
    segno.make(address, error="l").save(drawn, kind="svg", scale=4, border=4, light="white", xmldecl=False)
    return drawn.getvalue().decode()


def _open() -> None:
    """The first time, the link has the text: what is shown is what is shared. A callback."""
    if not st.session_state.get(_OPENED):
        st.session_state[_OPENED] = st.session_state[WITH_TEXT] = True
