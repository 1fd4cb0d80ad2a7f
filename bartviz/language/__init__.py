"""Messages in the reader's language: they are written in English and translated here.

``_("{count} heads", count=3)`` is the message in the current language with its values filled in; ``plural`` selects
by a number; ``mark`` marks a message that is translated later, as constants made at import must be.
``later`` is for messages made before the reader is known (errors, notices, progress notes): English with its values
filled in, which ``_`` translates for whoever reads it.
Translations are gettext catalogues, ``<language>.po`` in the folder of what says these messages, read when first
needed.

The language is that of the surrounding ``speaking`` (a context variable, so each thread has its own), else that of the
function given to ``follow`` (the app reads the visitor's session), else English.
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

from bartviz.language import korean_particles, percentages

K = TypeVar("K")
Message = TypeVar("Message", bound=str)
LANGUAGES = {"en": "English", "ko": "한국어"}
PSEUDO = "pseudo"  # every message in ⟦brackets⟧: text without them on a page was not translated
HOME = Path(__file__).parents[1]

_spoken: ContextVar[str | None] = ContextVar("bartviz_language", default=None)
_followed: list[Callable[[], str]] = []


def current() -> str:
    """The current language: a key of LANGUAGES, or PSEUDO."""
    return _spoken.get() or (_followed[-1]() if _followed else "en")


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Use ``language`` within this block, in this thread. Raises ValueError for an unknown one."""
    if language not in LANGUAGES and language != PSEUDO:
        raise ValueError(f"No language {language!r}: there are {', '.join(LANGUAGES)}.")
    token = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(token)


def follow(language: Callable[[], str]) -> None:
    """Call ``language`` for the current language wherever there is no ``speaking``."""
    _followed[:] = [language]


class Later(str):
    """An English message that keeps its template and values, so that ``_`` can translate it."""

    message: str
    values: dict[str, object]


def later(message: str, /, **values: object) -> str:
    """``message`` in English with its ``{names}`` filled; ``_`` later translates it.

    A value that was itself made by ``later`` is translated too.
    """
    text = Later(percentages.filled(message, values) if values else message)
    text.message, text.values = message, values
    return text


def _(message: str, /, **values: object) -> str:
    """``message`` in the current language, its ``{names}`` filled with ``values`` as ``str.format`` does."""
    if isinstance(message, Later):
        return _(
            message.message,
            **{name: _(value) if isinstance(value, Later) else value for name, value in message.values.items()},
        )
    text = _catalogue(language := current()).gettext(message) if message else ""
    return _filled(language, text, values) if values else text


def plural(one: str, many: str, count: int, /, **values: object) -> str:
    """``one`` or ``many``, by the plural rule of the language for ``count``; ``{count}`` and ``{names}`` are filled."""
    text = _catalogue(language := current()).ngettext(one, many, count)
    return _filled(language, text, {"count": count} | values)


def _filled(language: str, text: str, values: Mapping[str, object]) -> str:
    return korean_particles.filled(text, values) if language == "ko" else percentages.filled(text, values)


def fill(text: str, values: Mapping[str, object]) -> str:
    """``text``, which is in the current language, with its ``{names}`` filled."""
    return _filled(current(), text, values) if values else text


def mark(message: Message, /) -> Message:
    """Return the message unchanged; ``_`` translates it when it is shown."""
    return message


def named(options: Mapping[K, str]) -> dict[K, str]:
    """Options with their marked names translated into the current language."""
    return {word: _(name) for word, name in options.items()}


class _Pseudo(gettext.NullTranslations):
    def gettext(self, message: str) -> str:
        return f"⟦{message}⟧"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return f"⟦{msgid1 if n == 1 else msgid2}⟧"


def catalogues(language: str) -> list[Path]:
    """The files of a language: the package's, each folder's, each feature's."""
    return [file for folders in ("", "*/", "features/*/") for file in sorted(HOME.glob(f"{folders}{language}.po"))]


@lru_cache
def _catalogue(language: str) -> gettext.NullTranslations:
    """All areas of a language as one catalogue; missing messages stay in English."""
    if language == PSEUDO:
        return _Pseudo()
    files = catalogues(language)
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
