"""What if it had said ...: a second text beside the first, asked for in the player, written by a task, in the link."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from bartviz.analysis import branches, decoding
from bartviz.analysis.beams import turns
from bartviz.analysis.decoding import percent
from bartviz.figures.branches import branches as branches_figure
from bartviz.language import _, later
from bartviz.ui.components.player import LONGEST_TYPED, BranchRequest
from bartviz.ui.components.player.data import revision
from bartviz.ui.controls import show, tasks
from bartviz.ui.state import address, session

if TYPE_CHECKING:
    from bartviz.models.model import Model
    from bartviz.record.record import Record
    from bartviz.serving.gate import Ticket

TASK, PARAMETER, _SHOWN, _WISH = "branch", "branch", "_branch_shown", "_branch_wish"
_LEFT = "_branch_left"  # the links of branches that were left: a slow browser may send one once more


@dataclass(frozen=True, slots=True)
class Turn:
    """Where a branch leaves the text: the step from 0, the token that stands there (id or typed text), and whether
    the rest is written greedily, else as the first text was.
    """

    step: int
    token: int | str
    greedy: bool = False


def current(record: Record) -> Record | None:
    """The branch of this record, when it is there; else its progress is drawn, or why it failed.

    The link's branch is begun with the visit; the link follows the branch that there is. A typed text stands in the
    link only where the visitor shares texts.
    """
    _do(record)
    begun = tasks.begun(TASK)
    if begun is not None and begun["record"] != _mark(record):
        _forget()
        begun = None
    if begun is not None:
        _link(str(begun["link"]))
    if begun is None and session.running() is not None:
        return None  # the link's branch is one of the text which its run will bring
    if begun is None:
        linked = _linked(record)
        if linked is None:
            st.query_params.pop(PARAMETER, None)
            return None
        follow(record, linked, asked=False)
    branch: Record | None = tasks.show(TASK)
    st.session_state[_SHOWN] = branch
    return branch


def _linked(record: Record) -> Turn | None:
    """What the address asks for, unless that was left and the browser has not gone back to it."""
    said = st.query_params.get(PARAMETER, "")
    if said in _left() and not address.is_back():
        return None
    return read_link(said, len(record.steps), record.model.vocabulary)


def _left() -> set[str]:
    left: set[str] = st.session_state.setdefault(_LEFT, set())
    return left


def hear(record: Record, wish: BranchRequest) -> None:
    """Do what the visitor asks for in the player: a callback. What it does not come to, the next run does."""
    st.session_state[_WISH] = wish
    _do(record)


def _do(record: Record) -> None:
    wish: BranchRequest | None = st.session_state.get(_WISH)
    if wish is None:
        return
    if wish.then == "drop":
        _forget()
    elif wish.then == "adopt":
        adopt()
    elif wish.token is not None:
        follow(record, Turn(wish.step, wish.token))
    st.session_state[_WISH] = None


def asked() -> bool:
    """Whether the branch was asked for on the page: the link's leaves the visitor at the step that the link names."""
    begun = tasks.begun(TASK)
    return begun is not None and begun["asked"] is True


def follow(record: Record, turn: Turn, *, asked: bool = True) -> None:
    """Begin to write the branch; ``asked``: by the visitor, not by the link."""
    st.session_state[_SHOWN] = None
    token = begins_word(record, turn.step, turn.token) if isinstance(turn.token, str) else turn.token
    said = "" if turn.greedy else link(turn)
    key = {
        "record": _mark(record),
        "step": turn.step,
        "token": token,
        "greedy": turn.greedy,
        "link": said,
        "asked": asked,
    }
    work = partial(write, record=record, turn=Turn(turn.step, token, turn.greedy))
    tasks.begin(TASK, record.model.name, key, work, lambda made: made.nbytes)
    _left().discard(said)
    _link(said)


def _link(said: str) -> None:
    """The branch stands in the link, also when the visitor is back on the page; a typed text only where texts do."""
    if not said or ("~" in said and not st.session_state.get("link")):
        st.query_params.pop(PARAMETER, None)
    elif st.query_params.get(PARAMETER) != said:
        st.query_params[PARAMETER] = said


def adopt() -> None:
    """Make the branch the record that every page shows: a callback."""
    branch = st.session_state.get(_SHOWN)
    if branch is not None:
        st.session_state[session.RECORD] = branch
        _forget()


def greedy_button(record: Record) -> None:
    """Offer the greedy text beside one that was found with beams or drawn."""
    away = turns(record)
    if not away:
        return
    step, better = away[0]
    turn = Turn(step.position, better.token_id, greedy=True)
    st.button(
        _("Follow greedy search from step {step}", step=step.position + 1),
        key="greedy_branch",
        on_click=follow,
        args=(record, turn),
        help=_("The token that it takes there had {share}.", share=percent(better.probability)),
    )


def numbers(record: Record, branch: Record) -> None:
    """Both texts as a table, and to download."""
    show.table(branches.table(record, branch), title=_("Main and branch as a table"))
    show.downloads(
        "branch",
        table=lambda: branches.table(record, branch),
        arrays=lambda: decoding.arrays(branch),
        figure=lambda: branches_figure(record, branch),
        record=branch,
    )


def write(model: Model, ticket: Ticket[Record], *, record: Record, turn: Turn) -> Record:
    """The branch itself: runs in the gate's thread."""
    from bartviz.run.branches import branch

    def on_step(step: int, longest: int) -> None:
        ticket.report(
            later("Writing the branch: token {step} of at most {longest}", step=step, longest=longest),
            step / max(longest, 1),
        )

    options: dict[str, Any] = {"cancelled": ticket.cancelled, "on_step": on_step}
    if turn.greedy:
        options |= {"beams": 1, "length_penalty": None, "early_stopping": None, "sample": None}
    return branch(model, record, turn.step, turn.token, **options)


def begins_word(record: Record, step: int, text: str) -> str:
    """The typed text with the space before it where the token that stands there begins a word after another.

    At a special token, such as the end, it is a word of its own after what was said before.
    """
    if text[:1].isspace() or record.output is None or not text[:1].isalnum():
        return text
    row, pieces = record.steps[step].row, record.output.pieces
    if record.output.special[row]:
        said = any(not record.output.special[one.row] for one in record.steps[:step])
        return f" {text}" if said and any(_begins(piece) for piece in (*pieces, *record.source.pieces)) else text
    return f" {text}" if _begins(pieces[row]) else text


def _begins(piece: str) -> bool:
    """Whether a piece of a vocabulary says that a space stands before it."""
    return piece[:1] in ("Ġ", "▁", " ")


def link(turn: Turn) -> str:
    """``5.1234``: token 1234 at step 5, counted from 1; ``5~Wagen``: the typed text."""
    sign = "." if isinstance(turn.token, int) else "~"
    return f"{turn.step + 1}{sign}{turn.token}"


def read_link(text: str, steps: int, vocabulary: int) -> Turn | None:
    """What a link asks for, where it fits the record; None where it does not."""
    for sign in (".", "~"):
        place, found, token = text.partition(sign)
        if not found or not (place.isascii() and place.isdigit() and len(place) < 6):
            continue
        step = int(place) - 1
        if not 0 <= step < steps or not token.strip() or len(token) > LONGEST_TYPED:
            return None
        if sign == "~":
            return Turn(step, token)
        whole = token.isascii() and token.isdigit() and len(token) < 8 and int(token) < vocabulary
        return Turn(step, int(token)) if whole else None
    return None


def _mark(record: Record) -> str:
    """Changes with the record and with how it was made: a branch goes on in the same way."""
    return f"{revision(record)} {dict(record.provenance.settings)}"


def _forget() -> None:
    begun = tasks.begun(TASK)
    if begun is not None:
        _left().add(str(begun["link"]))
    tasks.drop(TASK)
    st.session_state[_SHOWN] = None
    st.query_params.pop(PARAMETER, None)
