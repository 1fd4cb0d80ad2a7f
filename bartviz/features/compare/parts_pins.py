"""The two heads A and B of the compare page: A of the current run, B of the same or of another one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.analysis import distance, head_names, head_view, sentence_words
from bartviz.analysis.matching_heads import Match
from bartviz.analysis.matching_heads import match as match_heads
from bartviz.analysis.measures import Measured, counted
from bartviz.analysis.numbers import measures
from bartviz.app.controls import pick, show
from bartviz.app.frame import levels
from bartviz.app.state import url_state
from bartviz.app.state.result_cache import cached
from bartviz.arrays import Floats
from bartviz.features.compare import numbers_similar as similar
from bartviz.features.compare import parts_others as others
from bartviz.language import _, named
from bartviz.language.percentages import percent
from bartviz.record.attention import KINDS, Attention, Head, Kind
from bartviz.record.record import Record
from bartviz.text.tokens import Tokens

if TYPE_CHECKING:
    from bartviz.app.streamlit_internals import DeltaGenerator


@dataclass(frozen=True, slots=True)
class Pin:
    """A head of a record. ``letter`` A or B; ``other``: of another run than the current one."""

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

    def view(self, *, words: bool = False) -> head_view.View:
        """The head's weights, as shown."""
        return head_view.view(self.attention, *self.place, query=self.rows, words=words)

    def label(self, beside: Record | None = None) -> str:
        """The head's name, and its run, as ``others.about`` says it, unless that is the current one."""
        name = levels.head_with_kind(self.head)
        return _("{head} of {run}", head=name, run=others.about(self.record, beside)) if self.other else name


def measured(record: Record, kind: Kind) -> Measured:
    """All measures of one kind, computed once for each run."""
    return cached(
        partial(measures, record, kind), _("Measuring every {kind} head", kind=sentence_words.before_noun(kind))
    )


def to_a(a: Pin) -> Floats:
    """(L, H) the distance of each head of A's kind and run from A, computed once for each pinned head."""
    call = partial(distance.distances, a.attention, *a.place, rows=counted(a.attention, a.rows))
    return cached(call, _("Comparing every head with {head}", head=a.label()))


def names(record: Record, first: Kind | None = None) -> list[str]:
    """The names of a record's heads, those of kind ``first`` first: "cross L2H5"."""
    kinds = sorted(record.kinds, key=lambda kind: (kind != first, KINDS.index(kind)))
    return [
        str(Head(kind, layer, head))
        for kind in kinds
        for layer in range(record.attention(kind).shape[0])
        for head in range(record.attention(kind).shape[1])
    ]


def places() -> tuple[list[DeltaGenerator], DeltaGenerator]:
    """The places of what is compared, of another text or model, of A, of B, and of notes below; and the popover of
    further settings."""
    beside = others.chosen() in ("text", "model")  # a file has a place of its own
    what, *more, first, second, last = show.halves("pins", [1.35] * (4 if beside else 3) + [0.9])
    with last:
        popover = st.popover(_("Settings"), width="stretch")
    below = st.container()
    return [what, *(more or [below]), first, second, below], popover


def both(record: Record, measured: Measured, threshold: float, places: list[DeltaGenerator]) -> tuple[Pin, Pin]:
    """The pickers of what A is compared with (URL ``against``), of A, and of B."""
    what, another, first, second, below = places
    with what:
        against = pick.select(_("Compare with"), named(others.KINDS), key=others.KEY)
    with another:
        other = others.draw(against, record)
    kind = measured.kind if other is None else _kind_of_both(record, other, measured.kind)
    match = _match(record, other) if kind != measured.kind else None
    with first:
        a = _head_a(record, kind, match, threshold)
    if other is not None and kind != measured.kind and a.head.kind == kind:
        with below:
            show.note(_instead(pick.shown_head(record, measured.kind), a.head, other, alike=match is not None))
    with second:
        if other is None:
            default = _clearest(measured, threshold, a.head)
        elif match is not None and a.head == match.first:
            default = match.second
        else:
            default = _like(a, other)
        b = _choose(other or record, "B", default, threshold, other=other)
    return a, b


def _match(record: Record, other: Record | None) -> Match | None:
    """The heads of two models' encoders that look most alike, where the models are two and read the same words."""
    if other is None or other.model.name == record.model.name or not (record.encoder and other.encoder):
        return None
    return cached(partial(match_heads, record, other))


def _kind_of_both(record: Record, other: Record, kind: Kind) -> Kind:
    """The kind if the other run has it, else the first that both have."""
    kinds = [one for one in record.kinds if one in other.kinds]
    return kind if kind in kinds or not kinds else kinds[0]


def _instead(usual: Head, head: Head, other: Record, *, alike: bool) -> str:
    """Why A is another head than before."""
    said = _(
        "{model} has no {kind} head, so A is {head} instead of {usual}.",
        model=other.model.name,
        kind=sentence_words.before_noun(usual.kind),
        head=levels.head_with_kind(head),
        usual=levels.head_with_kind(usual),
    )
    return f"{said} {_('Of all pairs of heads, A and B look most alike.')}" if alike else said


def _head_a(record: Record, kind: Kind, match: Match | None, threshold: float) -> Pin:
    """A: the head of that kind that every page shows, or of two models' heads that match the first. A head that is
    chosen here is the one of other pages, too.
    """
    shown = pick.shown_head(record, kind)
    first = pick.first_head(record, kind) if match is None else match.first
    if match is None:
        url_state.derive("a", None if shown == first else (str(shown),))
    a = _choose(record, "A", first, threshold)
    if a.head.kind == kind and (match is None or a.head != match.first):
        pick.put_head(record, a.head)
    return a


def _like(a: Pin, other: Record) -> Head:
    """The same head of another run of A's model; of another model that which does most nearly the same, of A's kind."""
    kind = a.head.kind
    if other.model.name == a.record.model.name and str(a.head) in names(other):
        return a.head
    if kind not in other.kinds:
        return pick.first_head(other, other.kinds[0])
    place = similar.counterpart(measured(a.record, kind), a.place, measured(other, kind))
    return Head(kind, *place)


def _clearest(measured: Measured, threshold: float, but: Head) -> Head:
    """The head with the clearest name, or the first head if none has a name; never ``but``."""
    layers, count = measured.shape
    named = [index for index, _name in cached(partial(head_names.clearest, measured, threshold=threshold))]
    places = [*named, *(divmod(index, count) for index in range(layers * count))]
    heads = [Head(measured.kind, layer, head) for layer, head in places]
    return next((head for head in heads if head != but), heads[0])


def _choose(record: Record, letter: str, default: Head, threshold: float, *, other: Record | None = None) -> Pin:
    """The picker of one pin (URL ``a`` or ``b``)."""
    options = names(record, default.kind)
    first = str(default) if str(default) in options else options[0]
    label = _("Head A") if letter == "A" else _("Head B")
    simple = not levels.at_least("intermediate")
    called = cached(partial(_called, record, Head.parse(first).kind, threshold, options, simple=simple))
    chosen = pick.select(label, called, key=letter.lower(), default=first)
    return Pin(letter, record, Head.parse(chosen), other is not None)


def _called(record: Record, kind: Kind, threshold: float, names: list[str], *, simple: bool = False) -> dict[str, str]:
    """Heads with their translated names, those of one kind also with what they do and how much; the link has the
    English ones. ``simple``: as a beginner reads them, in words and with shares in per cent."""
    does = head_names.names(measured(record, kind), threshold=threshold)
    called = {}
    for name in names:
        head = Head.parse(name)
        called[name] = _simply(head, kind) if simple else sentence_words.head(head.kind, head.layer, head.head)
        given = does.get((head.layer, head.head)) if head.kind == kind else None
        if given is not None:
            called[name] += f" · {given.short} {percent(given.score) if simple else f'{given.score:.2f}'}"
    return called


def _simply(head: Head, kind: Kind) -> str:
    """A head in words; with its kind of attention where that is another one."""
    return sentence_words.head_in_words(head.layer, head.head) if head.kind == kind else levels.head_with_kind(head)


def put(head: Head, letter: str | None = None) -> None:
    """Pin a head of the current run as that letter, or as the one that a click pins: in a callback."""
    key = (letter or ("B" if st.session_state.get("click") == "B" else "A")).lower()
    st.session_state[key] = str(head)
    if key == "b":
        st.session_state[others.KEY] = others.HEAD
