"""The field for an alignment made by hand: one for each pair of texts, with built-in ones for the examples."""

from __future__ import annotations

import hashlib

import streamlit as st

from bartviz.analysis import gold_alignment
from bartviz.analysis.alignment import Table
from bartviz.analysis.gold_alignment import Gold, Links
from bartviz.app.controls import pick, show
from bartviz.app.state import session
from bartviz.errors import TextError
from bartviz.language import _
from bartviz.record.record import Record

LINKED, JUDGED = "gold", "judge"  # in the address: the links, and whether more of them will be made
_BEGUN = "_gold_begun"  # the fields whose links are being made by hand, word by word
LONGEST_LINK = 4_000  # characters of an alignment in an address; servers reject addresses over about 8,000


def field(record: Record, shown: Table, links: Links) -> Gold | None:
    """The field for an alignment made by hand, stored for this pair of texts only."""
    key = key_of(record)
    show.note(
        _(
            "Paste the links of this sentence in Pharaoh's format: 0-0 is a sure link of source word 0 and output word "
            "0, 1?2 or 1p2 a possible one. Words are counted from 0."
        )
    )
    _from_link(key)
    st.text_area(
        _("Alignment made by hand"),
        key=key,
        height=96,
        max_chars=gold_alignment.LONGEST,
        persist_state="session",
        on_change=_begun().discard,
        args=(key,),
    )
    base = pick.one_of(_("The first word is"), {"0": "0", "1": "1"}, key="base")
    swap = pick.switch(_("The output word comes first"), key="swap")
    built_in = gold_alignment.BY_HAND.get((record.source_text, record.target_text or ""))
    with st.container(horizontal=True, gap="small"):
        if built_in is not None:
            st.button(_("Use ours"), on_click=write, args=(key, built_in), help=_("Made by hand for this example."))
        st.button(_("Start from these links"), on_click=write, args=(key, gold_alignment.write(links)))
        st.button(_("Clear"), on_click=write, args=(key, ""), disabled=not st.session_state.get(key))
    text = str(st.session_state.get(key) or "")
    _to_link(text, begun=key in _begun())
    if not text.strip():
        return None
    try:
        alignment = gold_alignment.read(
            text, len(shown.source), len(shown.target), base=1 if base == "1" else 0, swap=swap
        )
    except TextError as error:
        st.error(show.plain(str(error)))
        return None
    if base == "0" and gold_alignment.never_first(alignment):
        show.note(_("No link names word 0 on either side: where the first word is 1, say so above."))
    return alignment.begun() if key in _begun() else alignment


def _from_link(key: str) -> None:
    """Read the alignment of a link once the link's own text has run: it belongs to that text.

    A value that this page wrote to the address itself is not a link, even if a slow browser sends it again.
    """
    linked = st.query_params.get(LINKED, "")
    if linked and linked not in _written() and session.running() is None:
        st.session_state[key] = linked[: gold_alignment.LONGEST]
        _written().add(linked)
        if st.query_params.get(JUDGED) == "true":
            _begun().add(key)


def _to_link(text: str, *, begun: bool) -> None:
    """Put the alignment into the address if the texts are there too ("Share"), else remove it."""
    if session.running() is not None:
        return
    wanted = " ".join(text.split()) if shared() else ""
    if len(wanted) > LONGEST_LINK:
        show.note(_("This alignment is too long for a link: the link only has the texts."))
        wanted = ""
    if wanted != st.query_params.get(LINKED, ""):
        _written().add(wanted)
        if wanted:
            st.query_params[LINKED] = wanted
        else:
            del st.query_params[LINKED]
    if wanted and begun:
        st.query_params[JUDGED] = "true"
    elif JUDGED in st.query_params:
        del st.query_params[JUDGED]


def shared() -> bool:
    """Whether the texts are in the address."""
    return bool(st.session_state.get("link", st.session_state.get("_link")))


def _written() -> set[str]:
    """The alignments of this visit that were written to the address, or read from it."""
    written: set[str] = st.session_state.setdefault("_gold_written", set())
    return written


def key_of(record: Record) -> str:
    """The field's key; each pair of texts has its own alignment."""
    texts = f"{record.source_text}\n{record.target_text}"
    return f"gold_{hashlib.sha256(texts.encode('utf-8', 'replace')).hexdigest()[:16]}"


def _begun() -> set[str]:
    begun: set[str] = st.session_state.setdefault(_BEGUN, set())
    return begun


def finish(key: str) -> None:
    """Judge the words without a link too: a callback."""
    _begun().discard(key)


def write(key: str, text: str, *, begun: bool = False) -> None:
    """Fill the field: a callback. Built-in alignments count from 0, the source first. ``begun``: more words will be
    judged."""
    (_begun().add if begun else _begun().discard)(key)
    st.session_state[key] = text
    st.session_state["base"], st.session_state["swap"] = "0", False
