"""A branch: a second text with another token at one step, requested in the player or by a link, written by a task."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from bartviz.analysis import branches, decoding
from bartviz.app.components.player import LONGEST_TYPED, BranchRequest, DrawRequest, Request
from bartviz.app.controls import show, tasks
from bartviz.app.state import session, url_state
from bartviz.browser.player.data import revision
from bartviz.features.decoding import parts_temperature as temperature
from bartviz.features.decoding.figure_branches import branches as branches_figure
from bartviz.features.decoding.numbers_beams import turns
from bartviz.language import _, later
from bartviz.language.percentages import percent

if TYPE_CHECKING:
    from bartviz.models.model import Model
    from bartviz.record.record import Record
    from bartviz.serving.gate import Ticket

TASK, PARAMETER, _SHOWN, _REQUEST = "branch", "branch", "_branch_shown", "_branch_request"
_DROPPED = "_branch_left"  # links of dropped branches: a slow browser may send one again


@dataclass(frozen=True, slots=True)
class Turn:
    """Where a branch leaves the text: the step (from 0), its token (id or typed text), and whether the rest is written
    greedily instead of like the main text.
    """

    step: int
    token: int | str
    greedy: bool = False


def current(record: Record) -> Record | None:
    """The branch of this record if it is ready; else draws its progress, or why it failed.

    A branch in the link is started with the visit, and the link follows the current branch. A typed text is in the link
    only if the visitor shares texts.
    """
    _handle_pending(record)
    begun = tasks.begun(TASK)
    if begun is not None and begun["record"] != _identity(record):
        _drop()
        begun = None
    if begun is not None:
        _link(str(begun["link"]))
    if begun is None and session.running() is not None:
        return None  # the link's branch belongs to the text that is still running
    if begun is None:
        linked = _linked(record)
        if linked is None:
            st.query_params.pop(PARAMETER, None)
            return None
        follow(record, linked, asked=False)
    with st.container(key="branch_run"):
        branch: Record | None = tasks.show(TASK)
    st.session_state[_SHOWN] = branch
    return branch


def _linked(record: Record) -> Turn | None:
    """The branch in the address, unless it was dropped and the browser has not gone back to it."""
    link_text = st.query_params.get(PARAMETER, "")
    if link_text in _dropped() and not url_state.is_back():
        return None
    return read_link(link_text, len(record.steps), record.model.vocabulary)


def _dropped() -> set[str]:
    links: set[str] = st.session_state.setdefault(_DROPPED, set())
    return links


def handle(record: Record, request: Request) -> None:
    """Handle a request from the player: a callback. If it is interrupted, the next run completes it."""
    if isinstance(request, DrawRequest):
        temperature.draw(record, request)
        return
    st.session_state[_REQUEST] = request
    _handle_pending(record)


def _handle_pending(record: Record) -> None:
    request: BranchRequest | None = st.session_state.get(_REQUEST)
    if request is None:
        return
    if request.then == "drop":
        _drop()
    elif request.then == "adopt":
        adopt()
    elif request.token is not None:
        follow(record, Turn(request.step, request.token))
    st.session_state[_REQUEST] = None


def asked() -> bool:
    """Whether the branch was requested on the page; one from a link leaves the visitor at the link's step."""
    begun = tasks.begun(TASK)
    return begun is not None and begun["asked"] is True


def follow(record: Record, turn: Turn, *, asked: bool = True) -> None:
    """Start writing the branch; ``asked``: by the visitor, not by a link."""
    st.session_state[_SHOWN] = None
    token = begins_word(record, turn.step, turn.token) if isinstance(turn.token, str) else turn.token
    link_text = "" if turn.greedy else link(turn)
    key = {
        "record": _identity(record),
        "step": turn.step,
        "token": token,
        "greedy": turn.greedy,
        "link": link_text,
        "asked": asked,
    }
    work = partial(write, record=record, turn=Turn(turn.step, token, turn.greedy))
    tasks.begin(TASK, record.model.name, key, work)
    _dropped().discard(link_text)
    _link(link_text)


def _link(link_text: str) -> None:
    """Put the branch into the link, also after a visit to another page; typed text only if texts are shared."""
    if not link_text or ("~" in link_text and not st.session_state.get("link")):
        st.query_params.pop(PARAMETER, None)
    elif st.query_params.get(PARAMETER) != link_text:
        st.query_params[PARAMETER] = link_text


def adopt() -> None:
    """Make the branch the current record of all pages: a callback."""
    branch = st.session_state.get(_SHOWN)
    if branch is not None:
        st.session_state[session.RECORD] = branch
        _drop()


def greedy_button(record: Record) -> None:
    """A button for the greedy text, if the main text was found by beam search or sampling."""
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
        help=_("There, greedy search chooses a token that had {share}.", share=percent(better.probability)),
    )


def numbers(record: Record, branch: Record) -> None:
    """Both texts as a table, and the downloads."""
    show.table(branches.table(record, branch), title=_("Main and branch as a table"))
    show.downloads(
        "branch",
        title=_("The branch"),
        table=lambda: branches.table(record, branch),
        arrays=lambda: decoding.arrays(branch),
        figure=lambda: branches_figure(record, branch),
        record=branch,
    )


def write(model: Model, ticket: Ticket[Record], *, record: Record, turn: Turn) -> Record:
    """Compute the branch; runs in the gate's thread."""
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
    """The typed text, with a space before it if the token at that step begins a new word.

    At a special token, such as the end token, it is a new word unless it is the first.
    """
    if text[:1].isspace() or record.output is None or not text[:1].isalnum():
        return text
    row, pieces = record.steps[step].row, record.output.pieces
    if record.output.special[row]:
        has_words = any(not record.output.special[earlier.row] for earlier in record.steps[:step])
        return f" {text}" if has_words and any(_begins(piece) for piece in (*pieces, *record.source.pieces)) else text
    return f" {text}" if _begins(pieces[row]) else text


def _begins(piece: str) -> bool:
    """Whether a vocabulary piece marks a preceding space."""
    return piece[:1] in ("Ġ", "▁", " ")


def link(turn: Turn) -> str:
    """``5.1234``: token 1234 at step 5, counted from 1; ``5~Wagen``: the typed text."""
    sign = "." if isinstance(turn.token, int) else "~"
    return f"{turn.step + 1}{sign}{turn.token}"


def read_link(text: str, steps: int, vocabulary: int) -> Turn | None:
    """The branch that a link describes; None unless it is valid for the record."""
    for sign in (".", "~"):
        number, separator, token = text.partition(sign)
        if not separator or not (number.isascii() and number.isdigit() and len(number) < 6):
            continue
        step = int(number) - 1
        if not 0 <= step < steps or not token.strip() or len(token) > LONGEST_TYPED:
            return None
        if sign == "~":
            return Turn(step, token)
        whole = token.isascii() and token.isdigit() and len(token) < 8 and int(token) < vocabulary
        return Turn(step, int(token)) if whole else None
    return None


def _identity(record: Record) -> str:
    """Changes with the record and its settings, which a branch shares."""
    return f"{revision(record)} {dict(record.provenance.settings)}"


def _drop() -> None:
    begun = tasks.begun(TASK)
    if begun is not None:
        _dropped().add(str(begun["link"]))
    tasks.drop(TASK)
    st.session_state[_SHOWN] = None
    st.query_params.pop(PARAMETER, None)
