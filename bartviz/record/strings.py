"""Tokens from strings alone, as other programs hold them: pieces of a vocabulary, or words."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence

from bartviz.text.labels import SPACE, Entry, Piece, Scheme, byte_of, written
from bartviz.text.tokens import Tokens

_SPECIAL = re.compile(
    r"<(?!0x[0-9A-F]{2}>)[^<>\s]+>|\[[A-Z]+\d*\]|>>[A-Za-z_]+<<|__[a-z]{2,3}__|[a-z]{3}_[A-Z][a-z]{3}|[a-z]{2}_[A-Z]{2}"
)  # <s>, [CLS], and the languages of Marian, M2M100, NLLB and mBART
_UNKNOWN = ("[UNK]", "<unk>")
_BYTE_SPACE = "Ġ"  # a space in a byte-level vocabulary
_CONTINUES, _WORD_END = "##", "</w>"


def from_strings(strings: Sequence[str], numbers: dict[str, int], scheme: Scheme | None = None) -> tuple[str, Tokens]:
    """The text that n strings write, and the tokens (n,), whose spans index into it.

    ``<s>`` and ``[CLS]`` are special tokens. numbers: the id of each string, to which new ones are added, so that equal
    strings have equal ids. scheme: of ``schemes``, None if there is no other list.
    """
    scheme = scheme or schemes([strings])[0]
    entries = []
    for string in strings:
        special = _is_special(string)
        piece = Piece.of(string, string.encode() if special else scheme.text(string))
        number = numbers.setdefault(string, len(numbers))
        entries.append(Entry(number, piece, 0, special, string in _UNKNOWN, None))
    return written(entries, scheme)


def schemes(lists: Sequence[Sequence[str]]) -> list[Scheme]:
    """How the pieces of each list write spaces and letters.

    Marks of vocabularies are read: ``Ġ`` and ``▁`` are spaces, ``##`` continues a word, ``</w>`` ends one; pieces
    whose characters are bytes that spell more than ASCII are byte-level without any mark. A list that shows nothing of
    its own is byte-level where another one is and its characters are bytes, too. Else each string is a word.
    """
    own = [_scheme(list(filter(lambda string: not _is_special(string), strings))) for strings in lists]
    bytewise = any(scheme is not None and scheme.kind == "bytes" for scheme in own)
    return [
        scheme or (Scheme("bytes") if bytewise and _spelled(strings) is not None else Scheme("prefix", _CONTINUES))
        for scheme, strings in zip(own, lists, strict=True)
    ]


def _is_special(string: str) -> bool:
    return string not in _UNKNOWN and string != _WORD_END and _SPECIAL.fullmatch(string) is not None


def _scheme(strings: Sequence[str]) -> Scheme | None:
    """How these pieces write spaces, or None if nothing in them shows it."""
    if any(string.startswith(SPACE) for string in strings):
        return Scheme("space", SPACE, byte_fallback=True)
    if any(string.startswith(_BYTE_SPACE) for string in strings):
        return Scheme("bytes")
    if any(len(string) > len(_CONTINUES) and string.startswith(_CONTINUES) for string in strings):
        return Scheme("prefix", _CONTINUES)
    if any(string.endswith(_WORD_END) for string in strings):
        return Scheme("suffix", _WORD_END)
    spelled = _spelled(strings)
    return Scheme("bytes") if spelled is not None and not spelled.isascii() else None


def _spelled(strings: Sequence[str]) -> str | None:
    """The text that pieces of a byte-level vocabulary spell, without a character that is cut at either end; None for
    others.
    """
    pieces = [string for string in strings if not _is_special(string)]
    if any(byte_of(sign) is None for piece in pieces for sign in piece):
        return None
    data = b"".join(Scheme("bytes").text(piece) for piece in pieces)
    begun = data.lstrip(bytes(range(0x80, 0xC0)))
    if len(data) - len(begun) > 3:
        return None
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(begun)
    except UnicodeDecodeError:
        return None
