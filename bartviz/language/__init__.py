"""What a reader is told, in the reader's language: messages are written in English and looked up here.

``_("{count} heads", count=3)`` is the message in the current language with its values filled in; ``plural`` chooses
by a number; ``mark`` names a message that is looked up later, as one must where a constant is made at import.
``later`` is for what is said where nobody listens yet (errors, notices, the notes of a run): English with its values
filled in, which ``_`` says again in the language of whoever reads it.
Translations are gettext catalogues, ``locale/<language>/<area>.po``, read when first needed.

Which language: the one of ``speaking`` around the call (a context variable, so each thread has its own), else what
``follow`` was given (the app asks the visitor's session), else English.
"""

from __future__ import annotations

import gettext
import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from bartviz.language import korean_particles

K = TypeVar("K")
Message = TypeVar("Message", bound=str)
LANGUAGES = {"en": "English", "ko": "한국어"}
PSEUDO = "pseudo"  # every message in ⟦brackets⟧: what stands without them on a page was never looked up
HOME = Path(__file__).parent / "locale"

_spoken: ContextVar[str | None] = ContextVar("bartviz_language", default=None)
_followed: list[Callable[[], str]] = []


def current() -> str:
    """The language of what is said now: a key of LANGUAGES, or PSEUDO."""
    return _spoken.get() or (_followed[-1]() if _followed else "en")


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Within it this thread speaks ``language``. Raises ValueError for one that is not there."""
    if language not in LANGUAGES and language != PSEUDO:
        raise ValueError(f"No language {language!r}: there are {', '.join(LANGUAGES)}.")
    token = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(token)


def follow(ask: Callable[[], str]) -> None:
    """Ask ``ask`` for the language wherever no ``speaking`` is around."""
    _followed[:] = [ask]


class Later(str):
    """A message in English that remembers how it was made, so that ``_`` can say it in another language."""

    message: str
    values: dict[str, object]


def later(message: str, /, **values: object) -> str:
    """``message`` in English, its ``{names}`` filled; given to ``_`` it is said in the current language then.

    A value that was itself made by ``later`` is said in that language too.
    """
    said = Later(message.format(**values) if values else message)
    said.message, said.values = message, values
    return said


def _(message: str, /, **values: object) -> str:
    """``message`` in the current language, its ``{names}`` filled with ``values`` as ``str.format`` does."""
    if isinstance(message, Later):
        return _(
            message.message,
            **{name: _(value) if isinstance(value, Later) else value for name, value in message.values.items()},
        )
    said = _catalogue(language := current()).gettext(message) if message else ""
    return _filled(language, said, values) if values else said


def plural(one: str, many: str, count: int, /, **values: object) -> str:
    """``one`` or ``many``, as the language has it for ``count``; ``{count}`` and ``{names}`` are filled."""
    said = _catalogue(language := current()).ngettext(one, many, count)
    return _filled(language, said, {"count": count} | values)


def _filled(language: str, said: str, values: Mapping[str, object]) -> str:
    return korean_particles.filled(said, values) if language == "ko" else said.format(**values)


def fill(text: str, values: Mapping[str, object]) -> str:
    """``text``, which is in the current language, with its ``{names}`` filled."""
    return _filled(current(), text, values) if values else text


def mark(message: Message, /) -> Message:
    """The message itself; its translation is looked up by ``_`` when it is shown."""
    return message


def named(options: Mapping[K, str]) -> dict[K, str]:
    """Options by word with their names, which were marked, in the current language."""
    return {word: _(name) for word, name in options.items()}


class _Pseudo(gettext.NullTranslations):
    def gettext(self, message: str) -> str:
        return f"⟦{message}⟧"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return f"⟦{msgid1 if n == 1 else msgid2}⟧"


@lru_cache
def _catalogue(language: str) -> gettext.NullTranslations:
    """All areas of a language as one catalogue; what it lacks is said in English."""
    if language == PSEUDO:
        return _Pseudo()
    files = sorted((HOME / language).glob("*.po"))
    if not files:
        return gettext.NullTranslations()
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    first, *others = (read_po(io.BytesIO(file.read_bytes()), locale=language) for file in files)
    for other in others:
        for message in other:
            if message.id:
                first[message.id] = message
    compiled = io.BytesIO()
    write_mo(compiled, first)
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)
