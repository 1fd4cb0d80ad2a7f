"""A text that is all capitals: the notices about it, and the same text as it is usually written."""

from __future__ import annotations

import re
from collections.abc import Callable

from bartviz.language import mark

IN_CAPITALS = mark(
    "The text is in capitals, which this model reads in {count:,} pieces instead of {small:,}: it "
    "has seen few words written this way. Type it in lower case."
)
IN_LOWER_CASE = mark(
    "The text was typed in capitals, which this model would read in {count:,} pieces instead of {small:,}: it has seen "
    "few words written this way. So it is read in lower case."
)
MORE = 1.5  # times the tokens of the same text in lower case
_BEGINS = re.compile(r"(?:^|[.!?]\s+)\W*\w")
_ENGLISH_I = re.compile(r"\bi\b")


def fewer(text: str, count: int, length: Callable[[str], int]) -> int | None:
    """How many tokens a text in capitals has in lower case, where those are many fewer than ``count``; else None.

    None for a single word: it may be a name such as USA. ``length`` counts the tokens of a text.
    """
    if not text.isupper() or len(text.split()) < 2:
        return None
    small = length(sentence_case(text))
    return small if count >= MORE * small else None


def sentence_case(text: str) -> str:
    """The text in small letters, but for the first of each sentence and the English word I.

    >>> sentence_case("STOP! CAN I GO HOME?")
    'Stop! Can I go home?'
    """
    text = _BEGINS.sub(lambda found: found[0].upper(), text.lower())
    return _ENGLISH_I.sub("I", text)
