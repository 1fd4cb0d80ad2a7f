"""How tokenizers represent text in vocabulary pieces: WordPiece, byte-level BPE, SentencePiece.

Differences between tokenizers are data: each has a ``Scheme`` that turns a piece into the bytes of its text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Backend

SPACE = "▁"  # SentencePiece's symbol for a space
_FALLBACK = re.compile(r"<0x([0-9A-F]{2})>")


def _byte_signs() -> dict[str, int]:
    """The character for each byte in a byte-level vocabulary: itself if printable, else one from
    U+0100 on (Radford et al. 2019, the reversible byte encoder of GPT-2)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in set(printable)]
    return {chr(byte): byte for byte in printable} | {chr(256 + i): byte for i, byte in enumerate(others)}


_BYTES = _byte_signs()


def byte_of(sign: str) -> int | None:
    """The byte that a character stands for in a byte-level vocabulary, or None."""
    return _BYTES.get(sign)


@dataclass(frozen=True, slots=True)
class Piece:
    """One string of a vocabulary, and its text, with its space.

    ``written``: UTF-8 bytes. ``text``: the same decoded, None if they split a character. ``blank``: only white space.
    """

    name: str
    written: bytes
    text: str | None
    blank: bool

    @classmethod
    def of(cls, name: str, written: bytes) -> Piece:
        try:
            text = written.decode()
        except UnicodeDecodeError:
            text = None
        return cls(name, written, text, bool(written) and not written.strip(b" \t\r\n"))


@dataclass(frozen=True)
class Scheme:
    """How pieces represent text.

    ``bytes``: every character is a byte, spaces too (GPT-2, BART), in the encoding ``mark`` if there is one (ByT5).
    ``prefix``: a piece begins a word unless it starts with ``mark`` (WordPiece). ``space``: ``mark`` is a space
    (SentencePiece). ``suffix``: ``mark`` ends a word. ``joiner``: a word goes on behind ``mark`` (Blenderbot small).
    """

    kind: Literal["bytes", "prefix", "space", "suffix", "joiner"]
    mark: str = ""
    byte_fallback: bool = False
    plain: frozenset[str] = frozenset()  # added pieces, which stand for themselves

    @classmethod
    def of(cls, backend: Backend) -> Scheme:
        """The scheme of a fast tokenizer, read from its model and the parts around it."""
        model = backend.model
        around = [part.__getstate__() for part in (backend.normalizer, backend.pre_tokenizer, backend.decoder) if part]
        plain = frozenset(added.content for added in backend.get_added_tokens_decoder().values())
        if type(model).__name__ == "WordPiece":
            return cls("prefix", model.continuing_subword_prefix, plain=plain)
        if any(b'"ByteLevel"' in state for state in around):
            return cls("bytes", plain=plain)
        if any(b'"Metaspace"' in state or SPACE.encode() in state or b"\\u2581" in state for state in around):
            return cls("space", SPACE, any(b'"ByteFallback"' in state for state in around), plain)
        suffix = getattr(model, "end_of_word_suffix", None)
        return cls("suffix", suffix, plain=plain) if suffix else cls("prefix", "##", plain=plain)

    def text(self, piece: str) -> bytes:
        """The UTF-8 bytes of a piece's text with its space; they may be part of one character."""
        if self.kind == "prefix":
            inside = bool(self.mark) and piece.startswith(self.mark) and len(piece) > len(self.mark)
            return (piece[len(self.mark) :] if inside else f" {piece}").encode()
        if piece in self.plain:
            return piece.encode()
        if self.kind == "bytes" and self.mark:
            return piece.encode(self.mark)
        if self.kind == "bytes":
            return bytes(_BYTES[sign] for sign in piece) if all(sign in _BYTES for sign in piece) else piece.encode()
        if self.kind == "suffix":
            return (piece.removesuffix(self.mark) + " " if piece.endswith(self.mark) else piece).encode()
        if self.kind == "joiner":
            return (piece.removesuffix(self.mark) if piece.endswith(self.mark) else f"{piece} ").encode()
        byte = _FALLBACK.fullmatch(piece) if self.byte_fallback else None
        return bytes([int(byte[1], 16)]) if byte else piece.replace(self.mark, " ").encode()

    def texts(self, pieces: list[str]) -> list[bytes]:
        """The bytes of every piece of one text, without spaces that are not written: at its edges and, for WordPiece,
        before punctuation, inside brackets and around an apostrophe."""
        parts = [self.text(piece) for piece in pieces]
        if self.kind == "prefix":
            parts = [part[1:] if _tight(parts, i) else part for i, part in enumerate(parts)]
        if self.kind != "bytes" and parts:
            parts[0] = parts[0].removeprefix(b" ")
        if self.kind in ("suffix", "joiner") and parts:
            parts[-1] = parts[-1].removesuffix(b" ")
        return parts


_CLOSING = frozenset(b" " + sign.encode() for sign in ".,;:!?%)]}…")
_OPENING = frozenset(b" " + sign.encode() for sign in "([{")
_APOSTROPHES = (b" '", " ’".encode())


def _tight(parts: list[bytes], i: int) -> bool:
    """Whether no space belongs before this piece, although it begins with one."""
    part, before = parts[i], parts[i - 1] if i else b""
    if not part.startswith(b" "):
        return False
    if part in _CLOSING or before in _OPENING:
        return True
    if part in _APOSTROPHES:
        return i + 1 < len(parts) and _is_word(before) and _is_word(parts[i + 1])
    return before in _APOSTROPHES and i > 1 and _is_word(parts[i - 2]) and _is_word(part)


def _is_word(part: bytes) -> bool:
    return part.decode(errors="replace").strip().isalpha()
