"""Change one token: which encodings, rows of attention and predictions hear of it, and which stay equal to the bit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np
import streamlit as st

from bartviz.analysis import edits as analysis
from bartviz.analysis import sentence_words
from bartviz.figures.edits import View, edits
from bartviz.figures.panels import written
from bartviz.language import _, later, mark, named
from bartviz.ui.controls import pick, show
from bartviz.ui.frame import page
from bartviz.ui.views.experiments.asking import ask, say_ablated

if TYPE_CHECKING:
    from bartviz.analysis.edits import Edit, Part
    from bartviz.experiments.suggestions import Suggestion
    from bartviz.models.model import Model
    from bartviz.record.record import Record
    from bartviz.serving.gate import Ticket
    from bartviz.text.tokens import Tokens

PARTS = {"source": mark("the source"), "target": mark("the target")}
VIEWS = {"encodings": mark("encodings"), "attention": mark("rows of attention")}
REPLACE = "replace"
LONGEST = 60  # letters of a replacement
OFFERED = 6  # tokens, one line of buttons
LONG = 48  # tokens from which on the text stands below the maps and not above
SIDE = 96  # positions up to which the maps stand side by side
NARROW = 24  # positions: a map is at least as wide as one of so many


@dataclass(frozen=True, slots=True)
class Place:
    """Which token is changed."""

    part: Part
    position: int


def draw(record: Record) -> Edit | None:
    """The whole part; gives what was found, for the downloads."""
    said = st.container()
    say_ablated(record)
    columns = st.columns([1.2, 1.5, 1.7, 1.3], gap="small", vertical_alignment="center")
    with columns[0]:
        part = _part(record)
    with columns[1]:
        view = cast("View", pick.one_of(_("Show the change of"), named(VIEWS), key="moved"))
    tokens = _tokens(record, part)
    with columns[2]:
        place = Place(part, pick.index(_("Position"), len(tokens), key="position", default=_word(tokens)))
    long = len(tokens) > LONG
    left, right = (None, st.container()) if long else st.columns([1, 1], gap="medium")
    if left is not None:
        with left:
            _text(record, place)
    with right:
        offered = _offered(record, place)
        _choices(offered)
    with columns[3]:
        token = _replacement(offered)
    found = _edit(record, place, token) if token else None
    with said:
        show.lead(analysis.notice(found) if found is not None else _("Which numbers hear of one changed token?"))
    if found is not None:
        _maps(found, view)
    if long:
        _text(record, place)
    if found is not None:
        _outputs(found)
        show.table(analysis.hidden_table(found), title=_("Every state of every layer"))
    return found


def _tokens(record: Record, part: Part) -> Tokens:
    return record.source if part == "source" else record.attention("decoder").query


def _part(record: Record) -> Part:
    if record.cross is None:
        return "source"
    return "target" if pick.one_of(_("Change a token of"), named(PARTS), key="side") == "target" else "source"


def _word(tokens: Tokens) -> int:
    """A word in the middle of the text, so that something comes after it."""
    words = [i for i, label in enumerate(tokens.labels) if not tokens.special[i] and label.isalpha()]
    return words[len(words) // 2] if words else len(tokens) // 2


def _text(record: Record, place: Place) -> None:
    label = (
        _("The source; the framed token is replaced.")
        if place.part == "source"
        else _("What the decoder reads; the framed token is replaced.")
    )
    show.running_text(
        _tokens(record, place.part),
        None,
        chosen=place.position,
        kind="decoder" if place.part == "target" or record.encoder is None else "encoder",
        label=label,
        key="edit_text",
    )


def _replacement(offered: tuple[Suggestion, ...]) -> str:
    """What is typed, or the first token that is offered."""
    typed = st.text_input(
        _("Replace it by"),
        key=REPLACE,
        bind="query-params",
        max_chars=LONGEST,
        placeholder=offered[0].label if offered else _("one token"),
        help=_("One token of the model's vocabulary; left empty, the first of those that are offered."),
    )
    return (typed or "").strip() or (offered[0].typed if offered else "")


def _offered(record: Record, place: Place) -> tuple[Suggestion, ...]:
    def work(model: Model, ticket: Ticket[tuple[Suggestion, ...]]) -> tuple[Suggestion, ...]:
        from bartviz.experiments.suggestions import suggestions

        ticket.report(later("Looking for tokens that could stand here"))
        return suggestions(model, record, place.position, part=place.part)

    key: dict[str, object] = {"part": place.part, "position": place.position}
    return ask("suggestions", record, key, work, lambda found: 200 * len(found) + 200) or ()


def _choices(offered: tuple[Suggestion, ...]) -> None:
    """Buttons for the tokens that are offered."""
    if not offered:
        return
    show.note(
        _("Tokens that could stand there, by the model's own probability")
        if offered[0].why == "probability"
        else _("Tokens that could stand there, by likeness of their embeddings")
    )
    with st.container(horizontal=True, gap="small", key="offered"):
        for number, one in enumerate(offered[:OFFERED]):
            value = f"{one.value:.0%}" if one.why == "probability" else f"{one.value:.2f}"
            st.button(show.plain(one.label), key=f"offer_{number}", help=value, on_click=_take, args=(one.typed,))


def _take(typed: str) -> None:
    st.session_state[REPLACE] = typed


def _edit(record: Record, place: Place, token: str) -> Edit | None:
    def work(model: Model, ticket: Ticket[Edit]) -> Edit:
        from bartviz.experiments.edits import edit

        ticket.report(later("Running both texts"))
        return edit(model, record, place.position, token, part=place.part, cancelled=ticket.cancelled)

    key: dict[str, object] = {"part": place.part, "position": place.position, "token": token}
    return ask("edit", record, key, work, lambda found: found.nbytes)


def _maps(found: Edit, view: View) -> None:
    """Layers by positions for each stack, or for each kind of attention: side by side where there is room."""
    kinds = list(found.hidden if view == "encodings" else found.attention)
    lengths = [len(found.record.attention(kind).query) for kind in kinds]
    wide = sum(lengths) > SIDE
    places = [st.container() for _kind in kinds] if wide else st.columns(_widths(lengths), gap="small")
    for column, kind in zip(places, kinds, strict=True):
        change = found.hidden[kind] if view == "encodings" else found.rows_changed(kind)
        zero = int(np.sum(change == 0)) if view == "encodings" else int(found.equal[kind].all(axis=1).sum())
        alt = _(
            "{kind} {what} by layer and position: {zero} of {count} cells are exactly 0.",
            kind=sentence_words.begun(sentence_words.kind(kind)),
            what=_(VIEWS[view]),
            zero=zero,
            count=change.size,
        )
        with column:
            show.figure(
                partial(edits, found, view=view, kinds=[kind], dark=page.dark()), key=f"edit_{view}_{kind}", alt=alt
            )
    told = mark("Layers down, positions across. 0: equal to the last bit. The framed column is the changed token.")
    if not all(written(change) for change in found.hidden.values()):
        told = mark(
            "Layers down, positions across. 0, or grey: equal to the last bit. The framed column is the changed token."
        )
    each = "" if view == "encodings" else _("Each cell is the mean over the heads of its layer.")
    show.note(f"{_(told)} {each}".strip())


def _widths(lengths: list[int]) -> list[int]:
    """How wide maps of so many positions are beside each other; 4 more for the names of the layers."""
    return [max(length, NARROW) + 4 for length in lengths]


def _outputs(found: Edit) -> None:
    """What the model says at each row, before and after."""
    if found.before is None:
        show.note(_("This network names no words, so there are no predictions to compare."))
        return
    st.markdown(_("**What the model predicts, given the same tokens but one**"))
    same = int(found.same.sum())
    alt = _("Probabilities before and after; {same} of {rows} rows are bit-equal.", same=same, rows=len(found.rows))
    show.figure(partial(edits, found, view="outputs", dark=page.dark()), key="edit_outputs", alt=alt)
    told = (
        mark("Each pair of bars is a place of the text, with the token that was the likeliest there before.")
        if found.record.output is None
        else mark("Each pair of bars is a step, with the token that the record has there.")
    )
    arrow = _("An arrow names the token that is the likeliest now, where that is another one.")
    bits = _("{same} of {rows} rows of logits are equal to the last bit.", same=same, rows=len(found.rows))
    show.note(f"{_(told)} {arrow} {bits}")
    show.table(analysis.rows_table(found), title=_("Every prediction, before and after"))
