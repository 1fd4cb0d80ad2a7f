"""The two heads A and B that the compare page holds side by side: any head, of this run or of one kept beside it."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import shorten

import streamlit as st

from bartviz import store
from bartviz.analysis import distance, heads, naming
from bartviz.analysis.measures import Measured, counted, of_record
from bartviz.attention import KINDS, Attention, Floats, Head, Kind, Tokens
from bartviz.errors import BartvizError, BudgetError
from bartviz.record import Record
from bartviz.ui import pick, session, show

LARGEST = 256  # MB of a run that a session may keep beside the current one
THIS, OTHER = "this run", "pinned run"
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
        """Rows of cross-attention are named by the token that they predict, the others by the one they read."""
        return self.record.rows(self.head.kind, "predicts" if self.head.kind == "cross" else "reads")

    @property
    def place(self) -> tuple[int, int]:
        return self.head.layer, self.head.head

    def view(self, *, words: bool = False) -> heads.View:
        """Its weights as they are shown."""
        return heads.view(self.attention, *self.place, query=self.rows, words=words)

    @property
    def told(self) -> str:
        """The head, and of which run where that is not the current one."""
        return f"{self.head} of {about(self.record)}" if self.other else str(self.head)


def about(record: Record) -> str:
    """A run in a few words: its model and how its text begins."""
    return f"{record.model.name}, “{shorten(record.source_text, 42, placeholder=' …')}”"


def kept() -> Record | None:
    """The run that is kept beside the current one, if any."""
    record: Record | None = st.session_state.get(_KEPT)
    return record


def measured(record: Record, kind: Kind, *, other: bool = False) -> Measured:
    """All measures of one kind, computed once for each run that is shown."""
    name = f"measures_{kind}{'_pinned' if other else ''}"
    return session.derived(name, record, lambda: of_record(record, kind))


def to_a(a: Pin) -> Floats:
    """(L, H) how far each head of A's kind and run is from A, computed once for each head that is pinned."""
    known: dict[Head, Floats] = session.derived(f"to_a{'_pinned' if a.other else ''}", a.record, dict)
    if a.head not in known:
        known[a.head] = distance.distances(a.attention, *a.place, rows=counted(a.attention, a.rows))
    return known[a.head]


def names(record: Record, first: Kind | None = None) -> list[str]:
    """Every head of a record, those of one kind first: "cross L2H5"."""
    kinds = sorted(record.kinds, key=lambda kind: (kind != first, KINDS.index(kind)))
    return [
        str(Head(kind, layer, head))
        for kind in kinds
        for layer in range(record.attention(kind).shape[0])
        for head in range(record.attention(kind).shape[1])
    ]


def both(record: Record, measured: Measured, threshold: float) -> tuple[Pin, Pin]:
    """The pickers of A and B, which of them a click pins (URL ``click``), and the other run."""
    first, second, target, run = st.columns([1.3, 1.3, 1.5, 0.9], vertical_alignment="bottom")
    with run, st.popover("Other run", width="stretch"):
        other_run(record)
    with first:
        a = choose(record, "A", _default(measured, threshold))
    with second:
        b = choose(record, "B", _default(measured, threshold, but=a.head))
    with target:
        pick.one_of("A click above pins a head as", ["A", "B"], key="click")
    return a, b


def _default(measured: Measured, threshold: float, but: Head | None = None) -> Head:
    """The head whose name is clearest, or where none has one the first; another one than ``but``."""
    layers, count = measured.shape
    named = [place for place, _ in naming.clearest(measured, threshold=threshold)]
    places = [*named, *(divmod(place, count) for place in range(layers * count))]
    heads = [Head(measured.kind, layer, head) for layer, head in places]
    return next((head for head in heads if head != but), heads[0])


def choose(record: Record, letter: str, default: Head) -> Pin:
    """The picker of one pin (URL ``a`` or ``b``), and of its run where another is kept (``a_run``, ``b_run``)."""
    other = kept()
    of_other = other is not None and _run(letter) == OTHER
    shown = other if other is not None and of_other else record
    options = names(shown, default.kind)
    first = str(default) if str(default) in options else options[0]
    key = letter.lower()
    if key in st.session_state and st.session_state[key] not in options:
        st.session_state[key] = first
    label = f"Head {letter} ({'orange' if letter == 'A' else 'blue'})"
    chosen = st.selectbox(label, options, index=options.index(first), key=key, bind="query-params")
    return Pin(letter, shown, Head.parse(chosen if chosen in options else first), of_other)


def _run(letter: str) -> str:
    """Which run a pin is of; asked only where there are two."""
    key = f"{letter.lower()}_run"
    if st.session_state.get(key) not in (THIS, OTHER):
        st.session_state[key] = THIS
    return str(st.segmented_control(f"{letter} is of", [THIS, OTHER], key=key, required=True, persist_state="session"))


def put(head: Head, letter: str | None = None) -> None:
    """Pin a head of the current run as that letter, or as the one that a click pins: in a callback."""
    key = (letter or ("B" if st.session_state.get("click") == "B" else "A")).lower()
    st.session_state[key] = str(head)
    if kept() is not None:
        st.session_state[f"{key}_run"] = THIS


def other_run(record: Record) -> None:
    """Keep the current run, open a saved one, or forget the one that is kept."""
    other = kept()
    show.note(f"Kept beside this run: {about(other)}." if other is not None else "No other run is kept.")
    st.button("Pin this run as B", on_click=_keep, args=(record,), key="pin_run", width="stretch")
    st.file_uploader(
        "Or open a saved record", ["safetensors"], key=_FILE, max_upload_size=LARGEST, on_change=_open,
        help="The file that “Record” under any page's downloads saves.",
    )  # fmt: skip
    if st.session_state.get(_REFUSED):
        st.error(show.plain(st.session_state[_REFUSED]))
    if other is not None:
        st.button("Forget it", on_click=_forget, key="unpin_run", width="stretch")
    show.note("It stays in this visit alone, and is in no link: send the file along.")


def _keep(record: Record) -> None:
    """Keep a run, and let B be the same head of it: in a callback."""
    st.session_state[_REFUSED] = ""
    if record.nbytes > LARGEST * 1_000_000:
        limit = BudgetError(
            f"This run holds {record.nbytes / 1e6:,.0f} MB; runs of at most {LARGEST} MB are kept. Take a shorter text."
        )
        st.session_state[_REFUSED] = str(limit)
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
        record = store.decode(file.getvalue(), Record)
    except BartvizError as error:
        st.session_state[_REFUSED] = str(error)
        return
    _keep(record)


def _forget() -> None:
    for letter in "ab":
        st.session_state.pop(f"{letter}_run", None)
    st.session_state[_KEPT] = None
