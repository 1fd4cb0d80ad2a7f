"""In which direction a text is read."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Literal

Direction = Literal["ltr", "rtl"]
_STRONG: dict[str, Direction] = {"L": "ltr", "R": "rtl", "AL": "rtl"}


def direction(texts: Iterable[str]) -> Direction:
    """The direction of the first strong letter of a text in parts, as browsers find it (the Unicode Bidirectional
    Algorithm, P2 and P3); left to right for one without letters. Special tokens are no part of a text: leave them out.
    """
    letters = (_STRONG.get(unicodedata.bidirectional(sign)) for text in texts for sign in text)
    return next(filter(None, letters), "ltr")
