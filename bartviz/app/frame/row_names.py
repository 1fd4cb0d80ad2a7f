"""How the rows of a decoder are named: by what they predict, on every page, until an expert switches."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from bartviz.app.controls import pick
from bartviz.app.frame import levels
from bartviz.app.state import url_state
from bartviz.language import _
from bartviz.record.record import Reading

if TYPE_CHECKING:
    from bartviz.app.streamlit_internals import DeltaGenerator

KEY = "reading"
USUAL: Reading = "predicts"


def switched() -> bool:
    """Whether the visitor, a link or a lesson has asked for the other names."""
    other = "token it reads"  # the label, in older links
    return any(word.casefold() in ("reads", other, _(other).casefold()) for word in url_state.asked(KEY)[-1:])


def offered() -> bool:
    """Whether the switch is shown: to experts, and to all where rows have the other names."""
    return levels.at_least("expert") or switched()


def choose(place: DeltaGenerator | None = None) -> Reading:
    """How rows are named (URL ``reading``), with the switch in ``place`` where it is offered."""
    if not offered():
        return USUAL
    with place or nullcontext():
        return pick.reading()
