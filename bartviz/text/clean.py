"""Validate and clean a user's text before a run; refuse what cannot be run.

Every change is reported in a notice; everything else stays as typed. Nothing is composed or decomposed: ``e`` with a
combining accent stays two code points, as the model will see them, and has one span. Control, zero-width and direction
characters stay too and are shown by name (``labels.visible``).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from bartviz.errors import TextError, TooLong
from bartviz.language import later
from bartviz.text.labels import is_blank

MAX_CHARACTERS = 100_000  # of one text; the models read a few thousand at most
MAX_NAME = 80  # characters of a file's name

Truncate = Literal["first", "last"]  # the part that is kept of a text that is too long

_LINE_ENDS = re.compile("[\u2028\u2029\u0085]")
_UNSAFE = re.compile(r"[^\w .()+-]+")
_SUFFIX = re.compile(r"(?:\.\w{1,10}){1,2}$")


@dataclass(frozen=True)
class Cleaned:
    """A text that can be tokenized, and one notice for each change."""

    text: str
    notices: tuple[str, ...] = ()


def clean(text: str) -> Cleaned:
    """The text without characters that break tokenizers. Raises TextError if nothing visible is left, and TooLong over
    MAX_CHARACTERS, before any other work."""
    if not isinstance(text, str):
        raise TextError(f"One text is expected, a str and not a {type(text).__name__}. Pass several texts one by one.")
    if len(text) > MAX_CHARACTERS:
        raise TooLong(
            later(
                "The text has {count:,} characters; at most {limit:,} are read at once. Shorten or split it.",
                count=len(text),
                limit=MAX_CHARACTERS,
            ),
            len(text),
            MAX_CHARACTERS,
        )
    notices = []
    for change, notice in (
        (lambda t: t.lstrip("\ufeff"), later("The byte order mark before the text was removed.")),
        (lambda t: t.replace("\0", ""), later("NUL characters were removed.")),
        (_paired, later("Halves of characters (lone surrogates) were replaced by \ufffd.")),
        (lambda t: t.replace("\r\n", "\n").replace("\r", "\n"), later("Line endings were normalised (CR LF to LF).")),
        (lambda t: _LINE_ENDS.sub("\n", t), later("Unicode line separators were replaced by line endings.")),
    ):
        changed = change(text)
        if changed != text:
            notices.append(notice)
        text = changed
    if not text or is_blank(text):
        raise TextError(later("The text is empty, or only white space. Type a sentence, or choose an example."))
    return Cleaned(text, tuple(notices))


def _paired(text: str) -> str:
    """The text with surrogate pairs joined, and U+FFFD for each lone surrogate."""
    if not re.search("[\ud800-\udfff]", text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def safe_name(name: str) -> str:
    """The last part of a file name, limited to letters, digits and `` .()+-`` and to 80 characters; keeps the
    suffix."""
    whole = _UNSAFE.sub("_", unicodedata.normalize("NFC", base_name(name))).strip(" .") or "upload"
    suffix = _SUFFIX.search(whole)
    kept = "" if suffix is None else suffix[0]
    return whole if len(whole) <= MAX_NAME else whole[: MAX_NAME - len(kept)].rstrip(" .") + kept


def base_name(name: str) -> str:
    """The part after the last slash or backslash."""
    return re.split(r"[/\\]", name)[-1].strip()
