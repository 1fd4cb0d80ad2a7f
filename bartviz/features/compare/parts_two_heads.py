"""The heads A and B side by side: a canvas of each, their difference, and their measures."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from bartviz.analysis import distance, head_names, plain_words, word_colors
from bartviz.analysis.corpus_measures import in_order, measure_of
from bartviz.analysis.head_view import View
from bartviz.analysis.word_colors import Numbers
from bartviz.app.components import canvas
from bartviz.app.controls import pick, show
from bartviz.app.frame import levels, page
from bartviz.browser.canvas.data import Against, Choice
from bartviz.features.compare import parts_others as others
from bartviz.features.compare import parts_pins as pins
from bartviz.features.compare.figure_contrast import pair
from bartviz.features.compare.parts import Chosen
from bartviz.features.compare.parts_pins import Pin
from bartviz.language import _, mark

if TYPE_CHECKING:
    import pandas as pd

    from bartviz.app.streamlit_internals import DeltaGenerator

APART = "compare_difference"  # the key of the canvas of what differs
SHORT = 14  # rows and columns, up to which three maps stand side by side on a laptop, and a beginner's two on a phone
STYLE, WITHOUT = (Path(__file__).with_name(name) for name in ("style.css", "no_difference.css"))


def verdict(chosen: Chosen) -> str:
    """How far A and B are apart, or why that cannot be said."""
    if chosen.waits:
        return _("Only A so far: B is drawn as soon as there is something to compare A with.")
    if chosen.b.other and chosen.b.record is chosen.a.record and others.chosen() == "text":
        return _("Both texts are the same so far. Change a word of the other text, then press Enter.")
    a, b = chosen.a.view(words=chosen.words), chosen.b.view(words=chosen.words)
    contrast, expert = distance.contrast(a, b), levels.at_least("intermediate")
    if contrast is None and not expert:
        if _only_texts_differ(chosen):
            return _("The tokens of the two texts do not pair up. Change only one word to see what it changes.")
        return _("A and B have other rows or columns: their maps are side by side, without a difference of the two.")
    said = _verdict(contrast, distance.mismatch(a, b), words=chosen.words)
    if expert or contrast is None or not contrast.mean > 0:
        return said
    if shift := _shift(a, b, contrast):
        return shift
    furthest = distance.paired(a.query_labels, b.query_labels)[contrast.furthest]
    return f"{said} {_('They differ most in the row “{row}”.', row=furthest)}"


def to_do(chosen: Chosen) -> str:
    """What a head is, and what to touch; empty where rows are not those of both, or no map of B is there."""
    if chosen.waits or levels.at_least("intermediate"):
        return ""
    contrast = distance.contrast(chosen.a.view(words=chosen.words), chosen.b.view(words=chosen.words))
    if contrast is None or not contrast.mean > 0:
        return ""
    return f"{plain_words.head()} {_('Touch a row.')}"


def _shift(a: View, b: View, contrast: distance.Contrast) -> str:
    """Where one of them looks in most rows where the other one looked a row before, and the few rows that do not fit;
    else empty."""
    for count, message, first, second in (
        (
            contrast.late,
            mark(
                "Head B is one word behind: in {count} of {rows} rows (special tokens aside) it looks where head A "
                "looked one row earlier."
            ),
            a,
            b,
        ),
        (
            contrast.early,
            mark(
                "Head A is one word behind: in {count} of {rows} rows (special tokens aside) it looks where head B "
                "looked one row earlier."
            ),
            b,
            a,
        ),
    ):
        if 2 * count > contrast.following and count > contrast.alike:
            said = _(message, count=count, rows=contrast.following)
            return f"{said} {_unfit(first, second)}".strip()
    return ""


def _unfit(first: View, second: View) -> str:
    """One or two rows in which the second head does not look where the first one looked a row before, by name."""
    rows = (first.has_choice & second.has_choice & ~first.query_special)[1:]
    moved = first.weights.argmax(axis=1)[:-1] != second.weights.argmax(axis=1)[1:]
    names = distance.paired(first.query_labels, second.query_labels)
    match [names[t + 1] for t in np.flatnonzero(rows & moved)]:
        case [one]:
            return _("Only “{row}” does not fit.", row=one)
        case [one, other]:
            return _("Only “{row}” and “{other}” do not fit.", row=one, other=other)
    return ""


def _only_texts_differ(chosen: Chosen) -> bool:
    """Whether A and B are of one model and of one kind."""
    return chosen.a.record.model.name == chosen.b.record.model.name and chosen.a.head.kind == chosen.b.head.kind


def two(chosen: Chosen, settings: DeltaGenerator) -> None:
    """A and B, each in its own canvas, and B minus A if most of their tokens are the same; the rows are in the place of
    the ``settings``.
    """
    a = chosen.a.view(words=chosen.words)
    if chosen.waits:
        st.html(WITHOUT)
        with settings:
            row = _row_of_a(chosen, a)
        with st.container(key="compare_maps_of_two"):
            first, _second = st.columns(2, gap="medium")
        with first:
            _canvas(chosen, chosen.a, row, key="row")
        return
    b = chosen.b.view(words=chosen.words)
    contrast = distance.contrast(a, b)
    together = contrast is not None or a.query_labels == b.query_labels
    with settings:
        row, other = _rows(chosen, a, b, together=together)
    if contrast is None:
        st.html(WITHOUT)
    longest = max(len(labels) for view in (a, b) for labels in (view.query_labels, view.key_labels))
    key = "long" if longest > SHORT else "short" if levels.at_least("intermediate") else "small"
    with st.container(key="compare_maps_of_two"), st.container(key=f"compare_{key}"):
        first, second, *third = st.columns(2 if contrast is None else 3, gap="medium")
    beside = () if contrast is None else _beside(a, b)
    with first:
        _canvas(chosen, chosen.a, row, key="row", beside=beside)
    with second:
        _canvas(chosen, chosen.b, other, key="row" if together else "row_b", beside=beside)
    if contrast is not None:
        with third[0]:
            _canvas_apart(chosen, row, beside)
    if not levels.at_least("intermediate"):
        return
    show.table(partial(measures_of, chosen), title=_("The measures of A and B"))
    if contrast is not None:
        show.table(partial(rows_of, a, contrast), title=_("The distance of each row"))
    arrays = {"A": a.weights, "B": b.weights} | ({} if contrast is None else {"difference": contrast.difference})
    show.downloads(
        "difference",
        title=_("A and B"),
        table=None if contrast is None else rows_of(a, contrast),
        arrays=arrays,
        figure=lambda: pair(a, b, range=chosen.range, dark=page.dark()),
    )


def _rows(chosen: Chosen, a: View, b: View, *, together: bool) -> tuple[int, int]:
    """The rows of A and B (URL ``row``): one for both if their rows are the same tokens, else B has its own."""
    if together:
        row = _row_of_a(chosen, a)
        return row, row
    row = _row_of_a(chosen, a, _("Row of A"))
    names = b.query_labels
    return row, pick.index(_("Row of B"), len(names), key="row_b", default=_first(b), names=names)


def _row_of_a(chosen: Chosen, a: View, label: str | None = None) -> int:
    record, kind = chosen.a.record, chosen.a.head.kind
    names = a.query_labels
    return pick.row(record, kind, len(names), label=label, words=chosen.words, names=names)


def _first(view: View) -> int:
    """The first row with a choice of keys that is not a special token."""
    return int(np.argmax(view.has_choice & ~view.query_special))


def _beside(a: View, b: View) -> tuple[str, ...]:
    """The labels for which each map leaves room, so that all are level: none where A and B have the same."""
    pairs = ((a.query_labels, b.query_labels), (a.key_labels, b.key_labels))
    return tuple(
        label for one, other in pairs if one != other for label in (*one, *other, *distance.paired(one, other))
    )


def _canvas(chosen: Chosen, pin: Pin, row: int, *, key: str, beside: tuple[str, ...] = ()) -> None:
    """The canvas of one pin; its row and view set the page's, its rows and columns go into the link."""
    found, letter = _name(chosen, pin), pin.letter.lower()
    said = {"letter": pin.letter, "head": pin.label(chosen.a.record)}
    explains = None if found is None else (found.title, found.explained)
    with st.container(key=f"{'pin' if _long(chosen) else 'pinned'}_{letter}"):
        if levels.at_least("intermediate"):
            called = head_names.sentence(found)
            show.note(
                _("{letter}: {head}; {called}. A row attends to columns.", called=called, **said), explains=explains
            )
        else:
            habit = _("no clear habit") if found is None else found.alone
            between = chosen.b.other or chosen.waits  # texts or models, which the pickers do not name
            message = mark("{letter}: {head}, {habit}") if between else mark("{letter}: {habit}")
            if _links(found) and not between and not (pin is chosen.a and _links(_name(chosen, chosen.b))):
                message = mark("{letter}: {habit} (a link need not be a translation)")
            called = _(message, habit=habit, **said)
            show.note(called, explains=None if found is None else (habit, found.explained))
    name, several = f"compare_{letter}", (f"chosen_row_{letter}", f"chosen_column_{letter}")
    rows, keys = canvas.linked(name, several)
    choice = canvas.show(
        pin.attention,
        key=name,
        overview=False,
        label=pin.letter,
        choice=Choice(*pin.place, row=row, view=chosen.view, rows=rows, keys=keys),
        query=pin.rows,
        words=chosen.words,
        span=chosen.range,
        colors=_colors(chosen, pin),
        plain=not levels.at_least("intermediate"),
        beside=beside,
        on_change=partial(_follow_canvas, key),
    )
    canvas.publish(several, choice)


def _name(chosen: Chosen, pin: Pin) -> head_names.Name | None:
    return head_names.name(pins.measured(pin.record, pin.head.kind), *pin.place, threshold=chosen.threshold)


def _links(found: head_names.Name | None) -> bool:
    """Whether a head is called by the words that it links; that these need not be translations is said once."""
    return found is not None and found.measure == "alignment"


def _canvas_apart(chosen: Chosen, row: int, beside: tuple[str, ...]) -> None:
    """The canvas of what differs; its row sets the page's."""
    a, b = chosen.a, chosen.b
    with st.container(key="pin_apart" if _long(chosen) else "pinned_apart"):
        plain = not levels.at_least("intermediate")
        show.note(_("Where A and B differ, in percentage points") if plain else _("Where A and B differ"))
    canvas.show(
        a.attention,
        key=APART,
        overview=False,
        choice=Choice(*a.place, row=row),
        query=a.rows,
        words=chosen.words,
        colors=_colors(chosen, a),
        plain=not levels.at_least("intermediate"),
        beside=beside,
        against=Against(b.attention, a.place, b.place, b.rows),
        on_change=_follow_row,
    )


def _long(chosen: Chosen) -> bool:
    """Whether what is said of a head may be long: its place then has two lines for each, and the maps are level."""
    return levels.at_least("intermediate") or chosen.b.record.model.name != chosen.a.record.model.name


def _colors(chosen: Chosen, pin: Pin) -> tuple[Numbers, Numbers]:
    """The numbers of the words of its rows and columns. In another text than A's, those of the words that both have."""
    mine = pick.colors_of_words(pin.record)
    first = chosen.a.record
    if pin.record.source_text == first.source_text or pin.record.turns:
        return mine.sides(pin.head.kind)
    colors = pick.colors_of_words(first)
    known = [(first.source, colors.source)]
    if first.cross is not None:
        known.append((first.rows("cross"), colors.predicts))
    return word_colors.carried(known, pin.rows), word_colors.carried(known, pin.attention.key)


def _follow_canvas(key: str, choice: Choice) -> None:
    """Set the pickers to the canvas's choice: a callback."""
    st.session_state[key] = choice.row
    st.session_state["view"] = choice.view


def _follow_row(choice: Choice) -> None:
    """Set the row to the canvas's choice: a callback."""
    st.session_state["row"] = choice.row


def _verdict(contrast: distance.Contrast | None, mismatch: str, *, words: bool) -> str:
    if contrast is None:
        return mismatch
    if np.isnan(contrast.mean):
        return _("No row has a choice of keys: there is nothing to compare.")
    if not levels.at_least("intermediate"):
        if not np.nan_to_num(contrast.distance).any():
            return _("A and B are the same.")
        if not contrast.alike:
            message = mark("Heads A and B look most at different places in all {rows} rows (special tokens aside).")
        elif contrast.alike == contrast.rows:
            message = mark("Heads A and B look most at the same place in all {rows} rows (special tokens aside).")
        else:
            message = mark(
                "Heads A and B look most at the same place in {alike} of {rows} rows (special tokens aside)."
            )
        return _(message, rows=contrast.rows, alike=contrast.alike)
    what = _("Jensen-Shannon distance: 0 the same weights, 1 no key in common")
    if words:
        what = _("Jensen-Shannon distance between words: 0 the same weights, 1 no key in common")
    if not np.nan_to_num(contrast.distance).any():
        return _("A and B are the same ({what}).", what=what)
    return _("A and B are {far:.3f} apart on average ({what}).", far=contrast.mean, what=what)


def measures_of(chosen: Chosen) -> pd.DataFrame:
    """The measures of A and B, and B minus A; empty where one of them has no value."""
    import pandas as pd

    first, second = (
        {name: float(values[pin.place]) for name, values in measured.values.items()}
        for pin in (chosen.a, chosen.b)
        for measured in [pins.measured(pin.record, pin.head.kind)]
    )
    known = [measure_of(name) for name in in_order([*first, *second])]
    frame = pd.DataFrame(
        {
            "measure": [measure.title for measure in known],
            "unit": [measure.unit for measure in known],
            "A": [first.get(measure.name, np.nan) for measure in known],
            "B": [second.get(measure.name, np.nan) for measure in known],
        }
    )
    return frame.assign(difference=frame["B"] - frame["A"])


def rows_of(a: View, contrast: distance.Contrast) -> pd.DataFrame:
    """The distance of each row between A and B; empty for a row without a choice of keys."""
    import pandas as pd

    return pd.DataFrame({"row": range(len(a.query_labels)), "query": a.query_labels, "distance": contrast.distance})
