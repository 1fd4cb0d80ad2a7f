"""Sentences that were said in English and saved, such as the notices of a record, told again in the reader's language.

A saved record holds what a visitor read, not how it was made; ``retold`` finds the message that it was made from.
"""

from __future__ import annotations

import re
import string
from functools import lru_cache

from bartviz.language import Later, current, known

_LEAST = 12  # letters of a message beside its places: one with fewer would be found in what was never said


class _Filled(str):
    """A value as it was written, however the message says that it is to be written."""

    def __format__(self, spec: str) -> str:
        return str(self)


def retold(said: str) -> str:
    """``said`` as ``language.later`` would have made it, if it was made of a known message; else as it is."""
    if isinstance(said, Later) or current() == "en":
        return said
    for message, pattern in _patterns(current()):
        if found := pattern.fullmatch(said):
            again = Later(said)
            again.message = message
            again.values = {name: _value(value) for name, value in found.groupdict().items()}
            return again
    return said


def _value(said: str) -> str:
    told = retold(said)
    return told if isinstance(told, Later) else _Filled(told)


@lru_cache
def _patterns(language: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Every sentence with places in it, the one with the most words of its own first."""
    found = [(message, parts) for message in known(language) if message.endswith(".") and (parts := _parts(message))]
    found.sort(key=lambda one: -_letters(one[1]))
    return tuple((message, re.compile("".join(parts), re.DOTALL)) for message, parts in found)


def _parts(message: str) -> list[str]:
    """The message as pieces of a pattern; none where it has no places, or too little beside them."""
    parts: list[str] = []
    seen: set[str] = set()
    try:
        for text, name, _spec, _conversion in string.Formatter().parse(message):
            parts.append(re.escape(text))
            if name is not None:
                parts.append(f"(?P={name})" if name in seen else f"(?P<{name}>.+?)")
                seen.add(name)
    except ValueError:  # the braces of a formula
        return []
    return parts if seen and all(name.isidentifier() for name in seen) and _letters(parts) >= _LEAST else []


def _letters(parts: list[str]) -> int:
    return sum(sum(letter.isalpha() for letter in part) for part in parts if not part.startswith("(?P"))
