"""Hooks by which one feature, the lessons, takes part in every page. The app's script registers it (``use``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from bartviz.record.record import Record

LED = "lesson"  # the word of an address whose page is led through, and of the note in a file that leads through pages
OWN = "own"  # the word of an address that holds a visitor's text, which it leads through


class PageHooks(Protocol):
    """The calls of the frame in each script run, in this order."""

    def prepare(self, word: str, /) -> None:
        """Before any widget is drawn, with the word of the open page."""

    def strip(self, word: str, /) -> None:
        """At the top of a page."""

    def leads(self) -> bool:
        """Whether it guides the visitor through the page and chooses its view."""

    def asks_numbers(self) -> bool:
        """Whether it asks about numbers that pages hide from beginners."""

    def lead(self, word: str, record: Record, /) -> bool:
        """Lead through the pages with the record of a file that has the note ``LED``: a callback. Whether it does."""

    def begin(self, word: str, /) -> None:
        """Begin to lead through the pages, the lesson of that word from its first step: a callback."""

    def minutes(self, word: str, /) -> int:
        """How long the lesson of that word takes, about."""

    def drawn(self) -> None:
        """When all of the page is drawn."""


class _Nothing:
    def prepare(self, word: str, /) -> None: ...

    def strip(self, word: str, /) -> None: ...

    def leads(self) -> bool:
        return False

    def asks_numbers(self) -> bool:
        return False

    def lead(self, word: str, record: Record, /) -> bool:
        return False

    def begin(self, word: str, /) -> None: ...

    def minutes(self, word: str, /) -> int:
        return 0

    def drawn(self) -> None: ...


_used: list[PageHooks] = [_Nothing()]


def use(feature: PageHooks) -> None:
    """Let a feature surround every page of this process."""
    _used[:] = [feature]


def current() -> PageHooks:
    """The feature around every page; without one, an object that does nothing."""
    return _used[0]
