"""The two heads A and B of the compare page: any head of the current run, or of a second run that is kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from textwrap import shorten

import streamlit as st

from bartviz.analysis import distance, heads, naming, sentence_words
from bartviz.analysis.measures import Measured, counted, of_record
from bartviz.arrays import Floats
from bartviz.errors import BartvizError
from bartviz.language import _, later, mark, named
from bartviz.record.attention import KINDS, Attention, Head, Kind
from bartviz.record.record import Record, open_record
from bartviz.text.tokens import Tokens
from bartviz.ui.controls import pick, show
from bartviz.ui.state import session, uploads
from bartviz.ui.state.once import once

LARGEST = 256  # MB of a second run that a session may keep
THIS, OTHER = "this", "other"
RUNS = {THIS: mark("this run"), OTHER: mark("pinned run")}
_KEPT, _REFUSED, _FILE = "_pinned", "_pin_refused", "_pin_file"


@dataclass(frozen=True, slots=True)
class Pin:
    """A head of a record. ``letter`` A or B; ``other``: of the pinned run."""

    letter: str
    record: Record
    head: Head
    other: bool

    @property
    def attention(self) -> Attention:
        return self.record.attention(self.head.kind)

    @property
    def rows(self) -> Tokens:
        """The rows' tokens: those predicted for cross-attention, else those read."""
        return self.record.rows(self.head.kind)

    @property
    def place(self) -> tuple[int, int]:
        return self.head.layer, self.head.head

    def view(self, *, words: bool = False) -> heads.View:
        """The head's weights, as shown."""
        return heads.view(self.attention, *self.place, query=self.rows, words=words)

    @property
    def label(self) -> str:
        """The head's name, and its run unless that is the current one."""
        name = sentence_words.head(self.head.kind, self.head.layer, self.head.head)
        return _("{head} of {run}", head=name, run=about(self.record)) if self.other else name


def about(record: Record) -> str:
    """A run in a few words: its model and the beginning of its text."""
    return f"{record.model.name}, “{shorten(' | '.join(record.texts), 42, placeholder=' …')}”"


def kept() -> Record | None:
    """The second run, if one is kept."""
    record: Record | None = st.session_state.get(_KEPT)
    return record


def measured(record: Record, kind: Kind) -> Measured:
    """All measures of one kind, computed once for each run."""
    return once(partial(of_record, record, kind), _("Measuring every {kind} head", kind=sentence_words.kind(kind)))


def to_a(a: Pin) -> Floats:
    """(L, H) the distance of each head of A's kind and run from A, computed once for each pinned head."""
    call = partial(distance.distances, a.attention, *a.place, rows=counted(a.attention, a.rows))
    return once(call, _("Comparing every head with {head}", head=a.label))


def names(record: Record, first: Kind | None = None) -> list[str]:
    """The names of a record's heads, those of kind ``first`` first: "cross L2H5"."""
    kinds = sorted(record.kinds, key=lambda kind: (kind != first, KINDS.index(kind)))
    return [
        str(Head(kind, layer, head))
        for kind in kinds
        for layer in range(record.attention(kind).shape[0])
        for head in range(record.attention(kind).shape[1])
    ]


def both(record: Record, measured: Measured, threshold: float) -> tuple[Pin, Pin]:
    """The pickers of A and B, of the pin that a click sets (URL ``click``), and of the other run."""
    first, second, target, run = st.columns([1.3, 1.3, 1.5, 0.9], vertical_alignment="bottom")
    with run, st.popover(_("Other run"), width="stretch"):
        other_run(record)
    with first:
        a = choose(record, "A", _default(measured, threshold))
    with second:
        b = choose(record, "B", _default(measured, threshold, but=a.head))
    with target:
        pick.one_of(_("A click above pins a head as"), ["A", "B"], key="click")
    return a, b


def _default(measured: Measured, threshold: float, but: Head | None = None) -> Head:
    """The head with the clearest name, or the first head if none has a name; never ``but``."""
    layers, count = measured.shape
    named = [index for index, _ in naming.clearest(measured, threshold=threshold)]
    places = [*named, *(divmod(index, count) for index in range(layers * count))]
    heads = [Head(measured.kind, layer, head) for layer, head in places]
    return next((head for head in heads if head != but), heads[0])


def choose(record: Record, letter: str, default: Head) -> Pin:
    """The picker of one pin (URL ``a`` or ``b``), and of its run if a second one is kept (``a_run``, ``b_run``)."""
    other = kept()
    of_other = other is not None and _run(letter) == OTHER
    shown = other if other is not None and of_other else record
    options = names(shown, default.kind)
    first = str(default) if str(default) in options else options[0]
    label = _("Head A (orange)") if letter == "A" else _("Head B (blue)")
    labels = once(partial(_called, options))
    return Pin(letter, shown, Head.parse(pick.select(label, labels, key=letter.lower(), default=first)), of_other)


def _called(names: list[str]) -> dict[str, str]:
    """Heads with their translated names; the link has the English ones."""
    heads = {name: Head.parse(name) for name in names}
    return {name: sentence_words.head(head.kind, head.layer, head.head) for name, head in heads.items()}


def _run(letter: str) -> str:
    """The run of a pin; the picker is drawn only if there are two runs."""
    key = f"{letter.lower()}_run"
    if st.session_state.get(key) not in (THIS, OTHER):
        st.session_state[key] = THIS
    label, runs = _("{letter} is of", letter=letter), named(RUNS)
    return str(
        st.segmented_control(
            label, list(runs), format_func=runs.__getitem__, key=key, required=True, persist_state="session"
        )
    )


def put(head: Head, letter: str | None = None) -> None:
    """Pin a head of the current run as that letter, or as the one that a click pins: in a callback."""
    key = (letter or ("B" if st.session_state.get("click") == "B" else "A")).lower()
    st.session_state[key] = str(head)
    if kept() is not None:
        st.session_state[f"{key}_run"] = THIS


def other_run(record: Record) -> None:
    """Keep the current run, open a saved one, or drop the second run."""
    other = kept()
    if other is None:
        show.note(_("No other run is kept."))
    else:
        show.note(_("Kept beside this run: {run}.", run=about(other)))
    st.button(_("Pin this run as B"), on_click=_keep, args=(record,), key="pin_run", width="stretch")
    st.file_uploader(
        _("Or open a saved record"),
        ["safetensors"],
        key=_FILE,
        max_upload_size=uploads.largest(),
        on_change=_open,
        help=_("The file that “Record” under any page's downloads saves."),
    )
    if st.session_state.get(_REFUSED):
        st.error(show.plain(_(st.session_state[_REFUSED])))
    if other is not None:
        st.button(_("Forget it"), on_click=_forget, key="unpin_run", width="stretch")
    show.note(_("It stays in this visit alone, and is in no link: send the file along."))


def _keep(record: Record) -> None:
    """Keep a run as the second one, and set B to its head A; call it in a callback."""
    st.session_state[_REFUSED] = ""
    if record.nbytes > LARGEST * 1_000_000:
        st.session_state[_REFUSED] = later(
            "This run holds {size:,.0f} MB; runs of at most {limit} MB are kept. Use a shorter text.",
            size=record.nbytes / 1e6,
            limit=LARGEST,
        )
        return
    st.session_state[_KEPT] = record
    st.session_state["b_run"] = OTHER
    if "a" in st.session_state:
        st.session_state["b"] = st.session_state["a"]


def _open() -> None:
    file = st.session_state.get(_FILE)
    if file is None:
        return
    try:
        record = open_record(file.getvalue())
    except BartvizError as error:
        st.session_state[_REFUSED] = str(error)
        return
    session.release(file)
    session.note(session.owner())
    session.engine().results.count(record, record.nbytes)
    _keep(record)


def _forget() -> None:
    for letter in "ab":
        st.session_state.pop(f"{letter}_run", None)
    st.session_state[_KEPT] = None
