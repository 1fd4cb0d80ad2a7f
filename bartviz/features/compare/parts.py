"""The parts of the compare page: the pickers, and all heads as points and as a matrix. A click pins a head."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, cast

import streamlit as st

from bartviz.analysis import compare as analysis
from bartviz.analysis import head_names, sentence_words
from bartviz.analysis.corpus_measures import measure_of
from bartviz.analysis.measures import Measured
from bartviz.analysis.weight_scale import Range
from bartviz.app.components import canvas
from bartviz.app.controls import expander, pick, show
from bartviz.app.frame import levels, page
from bartviz.app.state import session
from bartviz.arrays import Bools, Floats
from bartviz.browser.canvas.data import Views
from bartviz.features.compare import parts_others as others
from bartviz.features.compare import parts_pins as pins
from bartviz.features.compare.figure import matrix, scatter
from bartviz.features.compare.parts_pins import Pin
from bartviz.language import _, named
from bartviz.record.attention import Attention, Head, Kind
from bartviz.record.record import Record

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from bartviz.app.streamlit_internals import DeltaGenerator

HEIGHT = 320  # pixels of the scatter and of the matrix
_SCATTER, _MATRIX = "compare_scatter", "compare_matrix"


@dataclass(frozen=True, eq=False)
class Chosen:
    """The page's choice: a kind with its numbers, three measures of it, and the two pins."""

    record: Record
    kind: Kind
    measured: Measured
    x: analysis.Field
    y: analysis.Field
    shade: analysis.Field
    threshold: float
    a: Pin
    b: Pin
    words: bool
    range: Range
    view: Views

    @property
    def attention(self) -> Attention:
        return self.record.attention(self.kind)

    @property
    def waits(self) -> bool:
        """Whether B's run is not there: its head is then one of the current run, which is nothing to compare."""
        return others.chosen() in others.KINDS and others.chosen() != others.HEAD and not self.b.other

    @property
    def places(self) -> dict[str, tuple[int, int]]:
        """The pins of this kind in the current run."""
        here = (self.a,) if self.waits else (self.a, self.b)
        return {pin.letter: pin.place for pin in here if not pin.other and pin.head.kind == self.kind}

    @property
    def to_a(self) -> Floats | None:
        """(L, H) the distance of each head from A; None if A is of another kind or run."""
        return pins.to_a(self.a) if "A" in self.places else None


def choose(record: Record, above: DeltaGenerator) -> tuple[Chosen, DeltaGenerator]:
    """The pickers of the kind and the three measures, and, in the container ``above``, of A and B; with the place where
    further settings are.
    """
    for name in ("compare_a", "compare_b", "compare_difference"):
        canvas.catch_up(name)
    axes = levels.at_least("intermediate") or expander.requested("compare_axes", ("x", "y", "colour"))
    first, *places, last = show.halves("axes", [1.85, 1.15, 1.15, 1.15, 1.05] if axes else [2, 1], after=True)
    with first:
        kind = pick.kind(record)
    with last:
        pick.one_of(_("A touch below chooses head"), ["A", "B"], key="click")
    measured = pins.measured(record, kind)
    with above:
        places_of_two, popover = pins.places()
    with popover:
        threshold = _threshold()
        words = pick.by_words()
        view = cast("Views", pick.one_of(_("A and B seen as"), named(canvas.VIEWS), key="view"))
        span = cast("Range", pick.one_of(_("Colours of maps from"), named(canvas.RANGE_NAMES), key="range"))
    a, b = pins.both(record, measured, threshold, places_of_two)
    near = [analysis.TO_A] if a.head.kind == kind and not a.other else []
    options, start = [*measured.defined, *near], analysis.defaults(kind)
    x, y, shade = start
    if axes:
        with places[0]:
            x = _measure(_("Across"), options, key="x", default=start[0])
        with places[1]:
            y = _measure(_("Up"), options, key="y", default=start[1])
        with places[2]:
            shade = _measure(_("As colours"), options, key="colour", default=start[2])
    to_a = pins.to_a(a) if analysis.TO_A in (x, y, shade) else None
    across, up, colours = (analysis.field(measured, name, to_a=to_a) for name in (x, y, shade))
    return Chosen(record, kind, measured, across, up, colours, threshold, a, b, words, span, view), popover


def _threshold() -> float:
    """The share of weight from which a head gets a name (URL ``threshold``)."""
    label = _("Name a head when it puts at least this share on its pattern")
    hint = _("At least half of the weight, as in Clark et al. 2019.")
    return pick.slider(label, 0.3, 0.95, head_names.THRESHOLD, 0.05, key="threshold", hint=hint)


def _measure(label: str, options: list[str], *, key: str, default: str) -> str:
    """One of the measures that have a value in this text (URL ``key``)."""
    titles = {name: _("distance from A") if name == analysis.TO_A else measure_of(name).title for name in options}
    return pick.select(label, titles, key=key, default=default)


def hero(chosen: Chosen, kept: Bools) -> None:
    """All heads twice: as points over two measures, those not in ``kept`` (L, H) faint; one as layers x heads."""
    left, right = st.columns([1, 1], gap="medium")
    dark, places = page.dark(), chosen.places
    with left:
        drawn = partial(
            scatter,
            chosen.measured,
            chosen.x,
            chosen.y,
            pins=places,
            kept=kept,
            threshold=chosen.threshold,
            dark=dark,
            height=HEIGHT,
        )
        caption = _(
            "Each point is one {kind} head. Across: {x}. Up: {y}.",
            kind=sentence_words.before_noun(chosen.kind),
            x=chosen.x.plain,
            y=chosen.y.plain,
        )
        clickable(drawn, key=_SCATTER, alt=caption)
        show.note(
            _("{said} Later layers have stronger colours; the dotted line is even attention.", said=caption)
            if chosen.x.has_even or chosen.y.has_even
            else _("{said} Later layers have stronger colours.", said=caption)
        )
    with right:
        lowest, highest = (sentence_words.signed(bound, ".2f") for bound in chosen.shade.bounds)
        caption = _(
            "{measure} of every {kind} head", measure=chosen.shade.title, kind=sentence_words.before_noun(chosen.kind)
        )
        drawn = partial(matrix, chosen.measured, chosen.shade, pins=places, dark=dark, height=HEIGHT)
        clickable(drawn, key=_MATRIX, alt=caption)
        show.note(
            _(
                "Each square is one {kind} head. Its number: {measure}, here from {lowest} to {highest}. Choose a head "
                "to see its map above.",
                kind=sentence_words.before_noun(chosen.kind),
                measure=chosen.shade.plain,
                lowest=lowest,
                highest=highest,
            )
        )


def clickable(drawn: partial[go.Figure], *, key: str, alt: str) -> None:
    """A figure whose points are all heads of the kind, layer by layer; a click pins a head."""
    show.figure(drawn, key=key, alt=alt, on_click=lambda: _pin_clicked(key))


def _pin_clicked(key: str) -> None:
    """Pin the head that was clicked."""
    record, kind = session.current_record(), st.session_state.get("kind")
    if record is None or kind not in record.kinds:
        return
    place = pick.clicked_head(key, *record.attention(kind).shape[:2])
    if place is not None:
        pins.put(Head(kind, *place))
