"""The parts of the heads page: the pickers, the canvas, and the numbers of the chosen rows."""

from __future__ import annotations

import html
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import streamlit as st

from bartviz.analysis import head_names, head_view, sentence_words, word_colors
from bartviz.analysis.masks import quote
from bartviz.analysis.measures import of_record
from bartviz.analysis.thumbnails import SIDE
from bartviz.analysis.weight_scale import Range
from bartviz.analysis.word_colors import Numbers
from bartviz.analysis.words import word_groups
from bartviz.app.components import canvas
from bartviz.app.controls import pick, show
from bartviz.app.frame import levels, page_hooks, related_links, row_names
from bartviz.app.state.result_cache import cached
from bartviz.browser.canvas.data import Choice, Shown, Small, Views, What, view_of
from bartviz.drawing.colors import underline
from bartviz.features.heads import parts_classic as classic
from bartviz.language import _, mark, named, plural
from bartviz.record.attention import Attention, Head, Kind
from bartviz.record.record import Record
from bartviz.text.tokens import Tokens

if TYPE_CHECKING:
    import pandas as pd

    from bartviz.app.streamlit_internals import DeltaGenerator
    from bartviz.drawing.paper import Picture

WHAT = {"head": mark("one head"), "layer": mark("mean of its layer"), "all": mark("mean of all heads")}
SMALL = {"all": mark("all layers"), "layer": mark("this layer")}
SEEN_AS = {**canvas.VIEWS, "classic": "bertviz"}
TO_DO = mark(
    "Touch a small map to enlarge it, or a word beside the large one to see its row. Layers and heads are numbered "
    "from 0."
)
_CANVAS = "heads_canvas"
SHORT = 60  # characters of an output that is quoted in a sentence
NAMED = 3  # rows named in a title
MEASURED = 2_000_000  # weights up to which a head gets its name: more take a second to measure
TABLED = 5000  # weights up to which the canvas has the whole map as a table


@dataclass(frozen=True, slots=True)
class Chosen:
    """The page's choice. ``layer`` and ``head`` are those of the pickers, even if a mean is shown."""

    attention: Attention
    layer: int
    head: int
    what: What
    row: int
    seen: Views
    rows: Tokens
    words: bool
    hide_sinks: bool
    renormalise: bool
    range: Range
    small: Small
    colors: tuple[Numbers, Numbers] | None = None

    @property
    def stem(self) -> str:
        """The choice as part of a file name: ``cross-L2H5``, ``cross-L2-mean``, ``cross-mean``."""
        suffix = {"head": f"-L{self.layer}H{self.head}", "layer": f"-L{self.layer}-mean", "all": "-mean"}
        return f"{self.attention.kind}{suffix[self.what]}"

    def in_words(self) -> head_view.View:
        """The weights between whole words."""
        return replace(self, words=True).view()

    def view(self) -> head_view.View:
        """The weights, as shown."""
        shown = Shown(self.rows, self.words, self.hide_sinks, self.renormalise)
        return view_of(self.attention, Choice(self.layer, self.head, self.what), shown, cached)


def choose(record: Record) -> tuple[Chosen | classic.Chosen, DeltaGenerator]:
    """The picker of the kind, and from intermediate on all other settings beside the map; with the map's place.

    What the map itself chooses has no other control in sight: its sliders hold the choice, and the link's.
    """
    canvas.catch_up(_CANVAS)
    widths = [1.4, 2.2, 0.8] if levels.at_least("intermediate") else [1.4, 2.6, 0.4]
    first, beside_it, second = st.columns(widths, vertical_alignment="center")
    with first:
        counts = {each: math.prod(record.attention(each).shape[:2]) for each in record.kinds}
        kind = pick.kind(record, counts)
    attention = record.attention(kind)
    is_classic = st.session_state.get("view", st.query_params.get("view")) == "classic"
    if not is_classic and not page_hooks.current().leads():  # a lesson says itself what to do
        with beside_it, show.place("heads_do"):
            show.what_to_do(f"{_counted(record, kind, counts[kind])} {_(TO_DO)}")
    with second:
        may = levels.at_least("intermediate") or is_classic
        asked = may and (st.toggle(_("Settings"), key="heads_settings", persist_state="session") or is_classic)
    hero, beside = st.columns([3.6, 1], gap="medium") if asked else (st.container(), st.container(key="heads_held"))
    with beside:
        seen = pick.one_of(_("Seen as"), named(SEEN_AS), key="view")
        if seen == "classic":
            return classic.choose(record, kind), hero
        with st.container(key="heads_places"):
            layer, head = pick.one_head(record, kind)
        what = pick.one_of(_("Weights of"), named(WHAT), key="weights")
        small = pick.one_of(_("Thumbnails"), named(SMALL), key="small")
        span = pick.one_of(_("Colour scale"), named(canvas.RANGE_NAMES), key="range")
        words = pick.by_words()
        hide = pick.switch(_("Hide special tokens and full stops"), key="hide", hint=_("Their share is stated."))
        divide = hide and pick.switch(_("Renormalise rows"), key="divide", hint=_("Rows sum to 1 again."))
        reading = (
            row_names.choose(None if asked else second) if kind != "encoder" and record.output is not None else "reads"
        )
        rows = record.rows(kind, reading)
        with st.container(key="heads_row"):
            row = pick.row(record, kind, len(word_groups(rows)) if words else len(rows), words=words)
    how = cast("Range", span), cast("Small", small)
    what, seen = cast("What", what), cast("Views", seen)
    colors = pick.colors_of_words(record).sides(kind, reading)
    return Chosen(attention, layer, head, what, row, seen, rows, words, hide, divide, *how, colors), hero


def _counted(record: Record, kind: Kind, count: int) -> str:
    """How many heads of this kind are shown, and how their small maps are read: other kinds are behind the picker."""
    shown = plural(
        "Here is the model's only {kind} head.",
        "Here are the model's {count} {kind} heads.",
        count,
        kind=sentence_words.before_noun(kind),
    )
    if kind != "cross":
        return f"{shown} {_('Each row of a map is a word: the darker a cell, the more it looks there.')}"
    text = record.target_text or ""
    short = 0 < len(text) <= SHORT and len(record.source_text) <= SHORT
    read = _(
        "Each row of a map is a word of the output{output}, each column a word of the text{source}: the darker a cell, "
        "the more the one looks at the other.",
        output=f" {quote(text)}" if short else "",
        source=f" {quote(record.source_text)}" if short else "",
    )
    return f"{shown} {read}"


def large(chosen: Chosen) -> Choice:
    """The canvas; a choice in it becomes the choice of the page and of the link, with its rows and columns."""
    rows, keys = canvas.linked(_CANVAS, canvas.SEVERAL)
    choice = canvas.show(
        chosen.attention,
        key=_CANVAS,
        choice=Choice(chosen.layer, chosen.head, chosen.what, chosen.row, chosen.seen, rows, keys),
        query=chosen.rows,
        words=chosen.words,
        hide_sinks=chosen.hide_sinks,
        renormalise=chosen.renormalise,
        span=chosen.range,
        small=chosen.small,
        colors=chosen.colors,
        plain=not levels.at_least("intermediate"),
        on_change=_follow_canvas,
    )
    canvas.publish(canvas.SEVERAL, choice)
    return choice


def _follow_canvas(choice: Choice) -> None:
    """Set the pickers to the canvas's choice: a callback."""
    for key, value in zip(("layer", "head", "weights", "row", "view"), choice.core, strict=True):
        st.session_state[key] = value


def name(chosen: Chosen, shown: head_view.View) -> str:
    """What is shown, as a sentence begins with it."""
    if chosen.what != "head":
        return sentence_words.capitalized(shown.name)
    return levels.head_name(Head(chosen.attention.kind, chosen.layer, chosen.head))


def role(record: Record, chosen: Chosen) -> head_names.Name | None:
    """The name of the head for what it does in this text, if it has one."""
    if chosen.what != "head" or record.from_weights or math.prod(chosen.attention.shape) > MEASURED:
        return None
    measured = cached(partial(of_record, record, chosen.attention.kind))
    return head_names.name(measured, chosen.layer, chosen.head)


def habit(record: Record, chosen: Chosen) -> str:
    """What the name of the head means, as a paragraph; empty for one that has none."""
    found = role(record, chosen)
    return "" if found is None else f"**{show.plain(found.title)}:** {show.plain(found.explained)}"


def notice(record: Record, chosen: Chosen, shown: head_view.View) -> tuple[str, tuple[str, str] | None]:
    """One sentence on what is shown, and a term in it with its definition: of a head that has a habit what it does, for
    a beginner in words, else as its name with the score."""
    called, found = name(chosen, shown), role(record, chosen)
    linked = chosen.in_words() if shown.pieces and chosen.what == "head" else shown
    if found is None:
        said = head_view.notice if levels.at_least("intermediate") else head_view.plainly
        return said(replace(shown, name=called), linked), None
    if not levels.at_least("intermediate"):
        return head_view.of_habit(called, found.habit), (found.alone, found.explained)
    called = _("{head}, “{name}” {score:.2f}", head=called, name=found.title, score=found.score)
    return head_view.notice(replace(shown, name=called), linked), (found.title, found.explained)


def note(record: Record, chosen: Chosen, shown: head_view.View) -> None:
    """A note on the picture and on what is hidden in it; of a chat, whose messages have which colour."""
    small = max(chosen.attention.shape[2:]) > SIDE
    blocks = _("A small map shows the largest weight of each block of tokens.") if small else ""
    show.note(" ".join(filter(None, (blocks, head_view.hidden_note(shown)))))
    roles = word_colors.speakers(record)
    if roles:
        said = _("The bars beside rows and columns show whose message a token belongs to:")
        chips = (
            f"<span class='bv-chip' style='{underline(n)}'>{html.escape(role)}</span>" for n, role in enumerate(roles)
        )
        st.html(f"<p class='bv-note'>{html.escape(said)} {' '.join(chips)}</p>")


def roads_from(record: Record, chosen: Chosen, choice: Choice) -> None:
    """Links to other pages about the head and row chosen in the canvas; none for a mean or a merged row."""
    if choice.what == "head":
        row = None if chosen.words else choice.row
        related_links.to_other_views(record, "heads", Head(chosen.attention.kind, choice.layer, choice.head), row)


def numbers(shown: head_view.View, choice: Choice) -> None:
    """The chosen rows as a table, and the whole map where the canvas has no table of it; computed when opened."""
    rows = choice.rows or (choice.row,)
    names, more = ", ".join(quote(show.plain(shown.query_labels[row])) for row in rows[:NAMED]), len(rows) - NAMED
    title = plural("The numbers in the row {names}", "The numbers in the rows {names}", len(rows), names=names)
    if more > 0:
        title = _("The numbers in the rows {names} and {more} more", names=names, more=more)
    show.table(lambda: _rows(shown, rows), title=title, key="heads_row")
    if shown.weights.size > TABLED:
        show.table(lambda: head_view.table(shown), title=_("The whole map as a table"))


def _rows(shown: head_view.View, rows: tuple[int, ...]) -> pd.DataFrame:
    """The numbers of one row, or the mean, the sum and each of several rows."""
    frame = head_view.row_table(shown, rows[0])
    if len(rows) == 1:
        return frame
    weights = shown.weights[list(rows)]  # (rows, K')
    frame = frame.drop(columns=["weight", "masked"]).assign(mean=weights.mean(axis=0), sum=weights.sum(axis=0))
    for row in rows:
        frame[f"{row} {shown.query_labels[row]}"] = shown.weights[row]
    return frame


def paper(record: Record, chosen: Chosen, shown: head_view.View, choice: Choice) -> Callable[[], Picture] | None:
    """A function that draws the head or mean for paper, as it is shown: a map, lines, or the text shaded by its row.
    None where a map or lines would be too long for a page.
    """
    from bartviz.drawing.paper.grid import MOST

    if chosen.seen != "text" and max(shown.weights.shape) > MOST:
        return None
    return partial(_drawn, record, chosen, choice)


def _drawn(record: Record, chosen: Chosen, choice: Choice) -> Picture:
    from bartviz.drawing import paper as drawing

    place = {"head": (chosen.layer, chosen.head), "layer": (chosen.layer, None), "all": (None, None)}[chosen.what]
    how: dict[str, Any] = {
        "reading": "predicts" if chosen.rows is record.output else "reads",
        "words": chosen.words,
        "hide_sinks": chosen.hide_sinks,
        "renormalise": chosen.renormalise,
    }
    kind = chosen.attention.kind
    if chosen.seen == "map":
        return drawing.map(record, kind, *place, range=chosen.range, **how)
    if chosen.seen == "lines":
        return drawing.lines(record, kind, *place, **how)
    return drawing.text(record, kind, *place, choice.row, range=chosen.range, **how)
