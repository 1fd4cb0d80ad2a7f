"""Change one token: which encodings, rows of attention and predictions hear of it, and which stay equal to the bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import streamlit as st

from bartviz.analysis import edits as analysis
from bartviz.figures.edits import View, edits
from bartviz.ui import page, pick, show
from bartviz.ui.experiments.asking import ask, say_ablated

if TYPE_CHECKING:
    from bartviz.analysis.edits import Edit, Part
    from bartviz.attention import Tokens
    from bartviz.edits import Suggestion
    from bartviz.gate import Ticket
    from bartviz.models import Model
    from bartviz.record import Record

PARTS = {"source": "the source", "target": "the target"}
VIEWS = {"encodings": "encodings", "attention": "rows of attention"}
REPLACE = "replace"
LONGEST = 60  # letters of a replacement
OFFERED = 6  # tokens, one line of buttons
EXPLAIN = """
**Two runs, one token apart.** Everything else is given as it was, the output too. A cell is a position (column) after a
layer (row): how far its hidden state moved, as a share of its length, in powers of ten.

**A written 0 is exact:** every number there is equal to the last bit. That can be said because both runs have the same
shape and so go through the same arithmetic; runs of different lengths would differ in the last bits without meaning.

**Bidirectional attention** (BERT, the encoder of BART): each position sees every other, so after *one* layer all of
them have heard of the change. **Causal attention** (GPT-2, a decoder): a position sees what came before it alone, so
what stands before the change stays exactly as it was, in every layer. A change of the source reaches the whole decoder
through cross-attention; a change of the target never reaches the encoder.

**Small is not nothing.** That a number moved says that there is a path, not that the meaning changed: look at the
probabilities below.
"""


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
        view = cast("View", pick.one_of("Show the change of", VIEWS, key="view"))
    tokens = _tokens(record, part)
    with columns[2]:
        place = Place(part, pick.index("Position", len(tokens), key="position", default=_word(tokens)))
    left, right = st.columns([1, 1], gap="medium")
    with left:
        _text(record, place)
    with right:
        offered = _offered(record, place)
        _choices(offered)
    with columns[3]:
        token = _replacement(offered)
    found = _edit(record, place, token) if token else None
    with said:
        show.lead(analysis.notice(found) if found is not None else "Which numbers hear of one changed token?")
    if found is not None:
        _maps(found, view)
        _outputs(found)
        show.table(analysis.hidden_table(found), title="Every state of every layer")
    return found


def _tokens(record: Record, part: Part) -> Tokens:
    return record.source if part == "source" else record.attention("decoder").query


def _part(record: Record) -> Part:
    if record.cross is None:
        return "source"
    return "target" if pick.one_of("Change a token of", PARTS, key="part") == "target" else "source"


def _word(tokens: Tokens) -> int:
    """A word in the middle of the text, so that something comes after it."""
    words = [i for i, label in enumerate(tokens.labels) if not tokens.special[i] and label.isalpha()]
    return words[len(words) // 2] if words else len(tokens) // 2


def _text(record: Record, place: Place) -> None:
    which = "The source" if place.part == "source" else "What the decoder reads"
    show.running_text(
        _tokens(record, place.part), None, chosen=place.position,
        kind="decoder" if place.part == "target" or record.encoder is None else "encoder",
        label=f"{which}; the framed token is replaced.", key="edit_text",
    )  # fmt: skip


def _replacement(offered: tuple[Suggestion, ...]) -> str:
    """What is typed, or the first token that is offered."""
    typed = st.text_input(
        "Replace it by", key=REPLACE, bind="query-params", max_chars=LONGEST,
        placeholder=offered[0].label if offered else "one token",
        help="One token of the model's vocabulary; left empty, the first of those that are offered.",
    )  # fmt: skip
    return (typed or "").strip() or (offered[0].typed if offered else "")


def _offered(record: Record, place: Place) -> tuple[Suggestion, ...]:
    def work(model: Model, ticket: Ticket[tuple[Suggestion, ...]]) -> tuple[Suggestion, ...]:
        from bartviz.edits import suggestions

        ticket.report("Looking for tokens that could stand here")
        return suggestions(model, record, place.position, part=place.part)

    key: dict[str, object] = {"part": place.part, "position": place.position}
    return ask("suggestions", record, key, work, lambda found: 200 * len(found) + 200) or ()


def _choices(offered: tuple[Suggestion, ...]) -> None:
    """Buttons for the tokens that are offered."""
    if not offered:
        return
    why = "by the model's own probability" if offered[0].why == "probability" else "by likeness of their embeddings"
    show.note(f"Tokens that could stand there, {why}")
    with st.container(horizontal=True, gap="small", key="offered"):
        for number, one in enumerate(offered[:OFFERED]):
            value = f"{one.value:.0%}" if one.why == "probability" else f"{one.value:.2f}"
            st.button(show.plain(one.label), key=f"offer_{number}", help=value, on_click=_take, args=(one.typed,))


def _take(typed: str) -> None:
    st.session_state[REPLACE] = typed


def _edit(record: Record, place: Place, token: str) -> Edit | None:
    def work(model: Model, ticket: Ticket[Edit]) -> Edit:
        from bartviz.edits import edit

        ticket.report("Running both texts")
        return edit(model, record, place.position, token, part=place.part, cancelled=ticket.cancelled)

    key: dict[str, object] = {"part": place.part, "position": place.position, "token": token}
    return ask("edit", record, key, work, lambda found: found.nbytes)


def _maps(found: Edit, view: View) -> None:
    """Layers by positions for each stack, or for each kind of attention."""
    kinds = list(found.hidden if view == "encodings" else found.attention)
    widths = [len(found.record.attention(kind).query) + 4 for kind in kinds]
    for column, kind in zip(st.columns(widths, gap="small"), kinds, strict=True):
        change = found.hidden[kind] if view == "encodings" else found.rows_changed(kind)
        zero = int(np.sum(change == 0)) if view == "encodings" else int(found.equal[kind].all(axis=1).sum())
        alt = f"{kind} {VIEWS[view]} by layer and position: {zero} of {change.size} cells are exactly 0."
        with column:
            show.figure(edits(found, view=view, kinds=[kind], dark=page.dark()), key=f"edit_{view}_{kind}", alt=alt)
    show.note("Layers down, positions across. 0: equal to the last bit. The framed column is the changed token.")


def _outputs(found: Edit) -> None:
    """What the model says at each row, before and after."""
    if found.before is None:
        show.note("This network names no words, so there are no predictions to compare.")
        return
    st.markdown("**What the model predicts, given the same tokens but one**")
    same = int(found.same.sum())
    alt = f"Probabilities before and after; {same} of {len(found.rows)} rows are bit-equal."
    show.figure(edits(found, view="outputs", dark=page.dark()), key="edit_outputs", alt=alt)
    show.note(f"{same} of {len(found.rows)} rows of logits are equal to the last bit.")
    show.table(analysis.rows_table(found), title="Every prediction, before and after")
