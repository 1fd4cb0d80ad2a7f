"""The messages of a chat among the tokens of a record: which turn, and so which role, each token belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bartviz.errors import RecordError
from bartviz.text.tokens import writable

ROLES = ("system", "user", "assistant", "tool")
"""The roles that have a name in patterns; a template may have others."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a chat: its role, and its tokens from ``start`` up to ``stop``, the template's own among them.

    >>> Turn("user", 0, 2)
    Turn(role='user', start=0, stop=2)
    """

    role: str
    start: int
    stop: int

    def __post_init__(self) -> None:
        if not writable(self.role) or not 0 <= self.start <= self.stop:
            raise RecordError("A turn has a role, and tokens from a place to a later one.")


def check_turns(turns: Sequence[Turn], tokens: int) -> None:
    """Raise RecordError unless the turns follow each other within so many tokens."""
    places = [place for turn in turns for place in (turn.start, turn.stop)]
    if places != sorted(places) or (places and places[-1] > tokens):
        raise RecordError("The turns of a chat follow each other among the tokens of the source.")


def numbers(turns: Sequence[Turn], tokens: int) -> list[int]:
    """The turn of each token, -1 for what no message owns, such as a template's first token."""
    found = [-1] * tokens
    for number, turn in enumerate(turns):
        found[turn.start : turn.stop] = [number] * (turn.stop - turn.start)
    return found


def extended(turns: Sequence[Turn], tokens: int) -> tuple[Turn, ...]:
    """The turns of a text of which so many tokens are read: what follows the last message belongs to it."""
    return (*turns[:-1], *(replace(last, stop=tokens) for last in turns[-1:]))
