"""Tokens from strings alone, as other programs hold them: pieces of a vocabulary, or words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bartviz.text.describe import Entry, written
from bartviz.text.pieces import SPACE, Piece, Scheme
from bartviz.text.tokens import Tokens

_SPECIAL = re.compile(r"<(?!0x[0-9A-F]{2}>)[^<>\s]+>|\[[A-Z]+\d*\]")
_UNKNOWN = ("[UNK]", "<unk>")
_BYTE_SPACE = "Ġ"  # a space in a byte-level vocabulary


def from_strings(strings: Sequence[str], numbers: dict[str, int]) -> tuple[str, Tokens]:
    """The text that n strings write, and the tokens (n,), whose spans index into it.

    Marks of vocabularies are read: ``Ġ`` and ``▁`` are spaces, ``##`` continues a word; where there are none, each
    string is a word. ``<s>`` and ``[CLS]`` are special tokens. numbers: the id of each string, to which new ones are
    added, so that equal strings have equal ids.
    """
    scheme = _scheme(strings)
    entries = []
    for string in strings:
        special = _SPECIAL.fullmatch(string) is not None and string not in _UNKNOWN
        piece = Piece.of(string, string.encode() if special else scheme.text(string))
        number = numbers.setdefault(string, len(numbers))
        entries.append(Entry(number, piece, 0, special, string in _UNKNOWN, None))
    return written(entries, scheme)


def _scheme(strings: Sequence[str]) -> Scheme:
    """How these pieces write spaces."""
    if any(string.startswith(SPACE) for string in strings):
        return Scheme("space", SPACE, byte_fallback=True)
    if any(string.startswith(_BYTE_SPACE) for string in strings):
        return Scheme("bytes")
    return Scheme("prefix", "##")
