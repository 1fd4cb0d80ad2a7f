"""The parts of the alignment page: the choice of links, their numbers, the ranking of heads, and the export."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from bartviz.analysis import aligners as ranks
from bartviz.analysis import alignment as analysis
from bartviz.analysis import gold_alignment, mutual
from bartviz.analysis.alignment import Method, Table
from bartviz.analysis.gold_alignment import Gold, Links
from bartviz.app.controls import export, pick, show
from bartviz.app.frame import levels, row_names, sidebar
from bartviz.app.state import content, session
from bartviz.errors import BudgetError, SettingError
from bartviz.features.alignment import parts_gold as gold
from bartviz.language import _, current, mark, named
from bartviz.language.percentages import percent
from bartviz.record.attention import Head
from bartviz.record.record import Reading, Record
from bartviz.safety.size import size

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bartviz.drawing.paper import Picture

WHOSE = {
    "best": mark("the best head"),
    "head": mark("one head"),
    "layer": mark("a whole layer"),
    "set": mark("several heads"),
}
HOW: dict[Method, str] = {
    "mutual": mark("each is the other's best match"),
    "target": mark("each output word its strongest"),
    "source": mark("each source word its strongest"),
    "union": mark("either chooses"),
    "grow": mark("both, then neighbours"),
    "threshold": mark("every weight from a threshold"),
}
COLUMNS = {
    "heads": mark("heads"),
    "named by": mark("named by"),
    "looks": mark("looks"),
    "error rate": mark("error rate"),
    "precision": mark("precision"),
    "recall": mark("recall"),
    "agreement": mark("one to one"),
    "links": mark("links"),
    "special": mark("special"),
}
HEIGHT = 400  # pixels of both pictures
_BEST_SET = "_alignment_found"
_THRESHOLD = "link_weight"  # "threshold" is that of a head's name, with other limits


@dataclass(frozen=True, eq=False)
class Chosen:
    """The page's choice: the heads, how links are made, and the alignment by hand that they are compared with."""

    heads: tuple[Head, ...]
    reading: Reading
    method: Method
    threshold: float
    shown: Table
    links: Links
    gold: Gold | None
    ranked: tuple[ranks.Aligner, ...]

    @property
    def whole(self) -> Gold | None:
        """The alignment by hand if it is whole; rates on the few words of one that was just begun say nothing."""
        return None if self.gold is None or self.gold.judged is not None else self.gold


def aligning(record: Record) -> Record:
    """The record, if it has cross-attention and words; else explains what is missing and stops the page."""
    try:
        source, target = analysis.lines(record)
    except SettingError as error:
        st.info(show.plain(str(error)))
        st.button(_("Translate this text instead"), on_click=sidebar.again, args=("model", "bart-tiny-en-de"))
        st.stop()
    if not source.labels or not target.labels:
        st.info(
            _(
                "There are only special tokens here: nothing to align. Choose another text in the sidebar (on a phone: "
                "Menu)."
            )
        )
        st.stop()
    return record


def notice(chosen: Chosen) -> str:
    """One sentence on the links."""
    return analysis.notice(_named(chosen), chosen.links, chosen.gold)


def by_hand(chosen: Chosen) -> str:
    """How many of the visitor's links the heads have, and which they lack. There must be some."""
    assert chosen.gold is not None
    return analysis.by_hand(_named(chosen), chosen.links, chosen.gold)


def _named(chosen: Chosen) -> Table:
    """The table, with its head named as the level of this visit does."""
    return chosen.shown if len(chosen.heads) > 1 else replace(chosen.shown, name=levels.head_name(chosen.heads[0]))


def choose(record: Record) -> Chosen:
    """The pickers: the heads, how rows are named, how links are made, and an alignment made by hand."""
    ranked = _ranked(record)
    if row_names.offered():
        first, *naming, third, fourth = st.columns([2.6, 1.9, 1.4, 1.1], vertical_alignment="bottom")
    else:  # below the pictures, with the same edges
        first, beside = st.columns(2, gap="medium", vertical_alignment="bottom")
        naming = []
        with beside:
            third, fourth = st.columns([1.6, 1.2], vertical_alignment="bottom")
    with first:
        names = named(WHOSE if ranked else {word: name for word, name in WHOSE.items() if word != "best"})
        chosen = pick.shown_head(record, "cross") != pick.first_head(record, "cross")  # on another page
        whose = pick.one_of(_("Links taken from"), names, key="align", default="head" if chosen else None)
    reading = row_names.choose(*naming)
    with third:
        method = _method()
    heads = ranks.best(ranked, reading).heads if whose == "best" else None
    threshold = analysis.THRESHOLD
    if heads is None or method == "threshold":
        left, right = st.columns([3, 1], vertical_alignment="bottom")
        with left:
            heads = heads or _heads(record, whose)
        if method == "threshold":
            with right:
                threshold = _threshold()
    shown = analysis.table(record, heads, reading=reading)
    links = analysis.links(shown.weights, method, threshold=threshold)
    with fourth, st.popover(_("Alignment as text"), width="stretch"):
        given = gold.field(record, shown, links)
    return Chosen(heads, reading, method, threshold, shown, links, given, ranked)


def _ranked(record: Record) -> tuple[ranks.Aligner, ...]:
    """Every head and layer of the record, kept in the engine's cache; none if the text is too long for that."""
    key = f"aligners {content.key(record, current())}"
    try:
        with st.spinner(_("Ranking all heads")):
            ranked: tuple[ranks.Aligner, ...] = session.engine().results.get(key, lambda: ranks.aligners(record), size)
            return ranked
    except BudgetError as error:
        show.note(str(error))
        return ()


def _heads(record: Record, whose: str) -> tuple[Head, ...]:
    if whose == "set":
        return _set(record)
    left, right = st.columns(2)
    with left:
        layer = pick.layer(record, "cross")
    if whose == "layer":
        return analysis.heads_of(record, layer)
    with right:
        return (Head("cross", layer, pick.head(record, "cross")),)


def _set(record: Record) -> tuple[Head, ...]:
    """A set of heads, at least one; names from a link are limited to those of the record."""
    every = {head.short: head for head in analysis.heads_of(record)}
    first = pick.shown_head(record, "cross").short
    chosen = pick.several(_("Heads"), list(every), key="set", default=[first], placeholder=_("at least one head"))
    return tuple(every[name] for name in chosen) or (every[first],)


def _method() -> Method:
    names = {str(method): _(name) for method, name in HOW.items()}
    chosen = pick.select(_("Link words if"), names, key="links")
    return next(method for method in HOW if method == chosen)


def _threshold() -> float:
    return pick.slider(_("Threshold"), 0.01, 1.0, analysis.THRESHOLD, 0.01, key=_THRESHOLD)


def numbers(record: Record, chosen: Chosen) -> None:
    """The number of links, the share on special tokens, and with a whole alignment by hand the three measures; for a
    beginner these alone, since the headline counts the links."""
    shown, whole = chosen.shown, chosen.whole
    closer, values = levels.at_least("intermediate"), {}
    if closer:
        values = {
            _("Links"): f"{len(chosen.links)}",
            _("One to one"): percent(mutual.score(shown.weights, shown.has_rows)),
            _("To special tokens"): percent(shown.special_share),
        }
    if whole is not None:
        score = gold_alignment.score(chosen.links, whole)
        values = {
            _("Error rate (AER)"): _measure(score.error_rate),
            _("Precision"): _measure(score.precision),
            _("Recall"): _measure(score.recall),
        } | values
    if values:
        with st.container(horizontal=True, gap="large", key="alignment_numbers"):
            for label, value in values.items():
                st.metric(label, value, width="content")
    if closer:
        show.note(
            _(
                "One to one: the share of attention that pairs words. In a pair, a word of the output looks most at a "
                "word of the source, and no other word of the output looks at it more. To special tokens: the share "
                "of attention that goes to them."
            )
        )
    if whole is not None:
        if not whole.sure:
            show.note(_("There are no sure links: recall is undefined, and the error rate is 1 − precision."))
        show.note(ranks.hint(record, shown, chosen.heads, whole, chosen.method, chosen.threshold))


def _measure(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def ranking(chosen: Chosen) -> None:
    """Every head and layer, best first; selecting a line shows it above. With a whole alignment by hand, also the
    search for a set."""
    if not chosen.ranked:
        return
    st.subheader(_("Which head aligns best?"), anchor=False)
    message = (
        mark(
            "Every head of every layer, with rows labelled both ways, best first by “one to one”: the share "
            "of its attention on pairs of words that choose each other. Choose a line to see its links."
        )
        if chosen.whole is None
        else mark(
            "Every head of every layer, with rows labelled both ways, best first by error rate. Choose a "
            "line to see its links."
        )
    )
    show.note(_(message))
    frame = ranks.ranking(chosen.ranked, method=chosen.method, threshold=chosen.threshold, gold=chosen.whole)
    aligners = [chosen.ranked[index] for index in frame.index]
    if chosen.whole is not None and not chosen.whole.sure:
        frame = frame.drop(columns="recall")  # undefined without sure links
    number, column = st.column_config.NumberColumn, st.column_config.Column
    config = {
        name: number(_(COLUMNS[name]), format="%.2f") if frame[name].dtype == float else column(_(COLUMNS[name]))
        for name in frame.columns
    }
    readings = {"predicts": _("token it predicts"), "reads": _("token it reads")}
    looks = {"ahead": _("next word"), "back": _("word just read")}
    frame = show.in_words(frame.replace({"named by": readings, "looks": looks}))
    st.dataframe(
        frame,
        key="alignment_ranking",
        hide_index=True,
        height=248,
        selection_mode="single-row",
        on_select=lambda: _select(aligners),
        column_config=config,
    )
    _search(chosen)


def _select(aligners: Sequence[ranks.Aligner]) -> None:
    """Show the line of the ranking that was chosen: a callback."""
    rows = st.session_state["alignment_ranking"].selection.rows
    if not rows or not 0 <= rows[0] < len(aligners):
        return
    aligner = aligners[rows[0]]
    head = aligner.heads[0]
    st.session_state["reading"] = aligner.table.reading
    if len(aligner.heads) > 1:
        st.session_state["align"], st.session_state["layer"] = "layer", head.layer
    else:
        st.session_state["align"] = "head"
        st.session_state["layer"], st.session_state["head"] = head.layer, head.head


def _search(chosen: Chosen) -> None:
    if chosen.whole is None or not chosen.whole.possible:
        return
    st.button(_("Find the set of heads that agrees best"), on_click=_find, args=(chosen,))
    best: tuple[ranks.Found, Reading] | None = st.session_state.get(_BEST_SET)
    if best is not None and set(best[0].heads) == set(chosen.heads) and best[1] == chosen.reading:
        names = ", ".join(head.short for head in best[0].heads)
        message = _(
            "{heads}: error rate {rate:.2f} here. It was chosen on the same sentence that it is judged by, "
            "which flatters it: expect more errors on other sentences, and judge it there.",
            heads=names,
            rate=best[0].error_rate,
        )
        show.note(message)


def _find(chosen: Chosen) -> None:
    """Find the best set of heads and show it: a callback."""
    assert chosen.whole is not None
    try:
        best = ranks.best_set(
            chosen.ranked, chosen.whole, reading=chosen.reading, method=chosen.method, threshold=chosen.threshold
        )
    except SettingError as error:
        st.toast(show.plain(str(error)))
        return
    st.session_state[_BEST_SET] = (best, chosen.reading)
    st.session_state["align"] = "set"
    st.session_state["set"] = [head.short for head in best.heads]


def line(chosen: Chosen) -> None:
    """The links as one line in Pharaoh's format, to copy; the download button offers it, too."""
    left, right = st.columns([5, 2.6], vertical_alignment="center")
    with right:
        also = pick.switch(
            _("also the possible ones"),
            key="possible",
            hint=_("Adds, as 1?2, the pairs in which only one word chooses the other."),
        )
    either = analysis.links(chosen.shown.weights, "union") if also else frozenset()
    text = gold_alignment.write(chosen.links, either)
    with left:
        st.code(text or " ", language=None, wrap_lines=True)
    file = export.File("Pharaoh", "bartviz-alignment.txt", "text/plain", f"{text}\n".encode)
    export.offer("alignment-links", _("The links as one line"), [file])


def arrays(chosen: Chosen) -> dict[str, Any]:
    """For NPZ: weights (T, S), special (T,), words, and links (n, 2) as source and output word."""
    import numpy as np

    shown = chosen.shown
    return {
        "weights": shown.weights,
        "special": shown.special,
        "source": np.array(shown.source.labels),
        "target": np.array(shown.target.labels),
        "links": np.array(sorted(chosen.links), np.int64).reshape(-1, 2),
        "heads": np.array([str(head) for head in chosen.heads]),
        "reading": np.array(chosen.reading),
    }


def paper(record: Record, chosen: Chosen) -> Callable[[], Picture] | None:
    """A function that draws the matrix with the links that are shown, for paper; None for a text that is too long for a
    page.
    """
    from bartviz.drawing.paper.grid import MOST

    return None if max(chosen.shown.weights.shape) > MOST else partial(_drawn, record, chosen)


def _drawn(record: Record, chosen: Chosen) -> Picture:
    from bartviz.drawing.paper import alignment

    return alignment(record, chosen.heads, reading=chosen.reading, method=chosen.method, threshold=chosen.threshold)
