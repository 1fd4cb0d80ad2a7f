"""A text that is all capitals: the notice about it, and the same text as it is usually written."""

from __future__ import annotations

import re

from bartviz.language import mark

IN_CAPITALS = mark(
    "The text is in capitals, which this model reads in {count:,} pieces instead of {small:,}: it "
    "has seen few words written this way. Type it in lower case."
)
_BEGINS = re.compile(r"(?:^|[.!?]\s+)\W*\w")
_ENGLISH_I = re.compile(r"\bi\b")


def sentence_case(text: str) -> str:
    """The text in small letters, but for the first of each sentence and the English word I.

    >>> sentence_case("STOP! CAN I GO HOME?")
    'Stop! Can I go home?'
    """
    text = _BEGINS.sub(lambda found: found[0].upper(), text.lower())
    return _ENGLISH_I.sub("I", text)
