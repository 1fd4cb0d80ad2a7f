"""Text and tokens as a reader sees them: grapheme clusters, words, what pieces of a vocabulary write, and labels.

A *cluster* is what a reader calls one character (Unicode UAX 29, extended grapheme cluster): ``e`` with its combining
accent, an emoji family, a Korean syllable written as three letters. Spans are (start, end) in the text, counted in code
points as Python does.

**Labels** are readable versions of tokens:
- The space that begins a word (``Ġ``, ``▁``) is left out. A token that continues the previous token's word begins with
  ``⋯``, whatever the tokenizer: ``trans ⋯lation``.
- Tokens that split a character (a Korean syllable or an emoji as bytes, an accent apart from its letter) show it once:
  the first has the whole character, the following ones only ``⋯``. Bytes that form no character are shown as bytes:
  ``‹ED 95›``.
- Nothing is invisible: ``␣`` for a token that is only a space, ``↵``, ``⇥``, ``‹ZWSP›``, ``‹RLO›``.
- Special and unknown tokens are shown as in the vocabulary: ``<s>``, ``[CLS]``, ``[UNK]``.

**Spans** cover whole characters of the text without surrounding spaces: all bytes of an emoji have the span of the
emoji. Spans of the second sentence of a pair (segment 1) index into that sentence. None: a token that is not part of
the text.

**Words** are what a reader would count (``Layout``), numbered across both sentences of a pair. None for special
tokens, padding, and white space outside words. In scripts without spaces between words (Chinese, Japanese, Thai, ...)
each piece is a word. An unknown token is part of the text, so it is not special.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np
import regex

from bartviz.text.tokens import Tokens

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Backend

CONTINUES = "⋯"  # before a label: this token continues the word, or the character, of the previous token
MASKS = ("[MASK]", "<mask>")  # a gap in a text, as BERT and RoBERTa call it

Span = tuple[int, int]

# Flags are pairs of letters. They are matched here because ``\X`` counts all letters before each of a run again, which
# takes seconds for a text of them.
_CLUSTER = regex.compile(
    r"\p{GCB=Prepend}*+\p{GCB=Regional_Indicator}{1,2}+[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]*+|\X"
)
_LETTER = regex.compile(
    r"[^\W\u200c\u200d]"
)  # letters, marks, digits and _; not the joiners, which cannot begin a word
_APOSTROPHES = "'’"
# Characters that form no cluster with others: most Western, Korean and Chinese texts need nothing else (fast path).
_SIMPLE = regex.compile(r"[\t\n\x20-\u02ff\u2010-\u2027\u2030-\u205e\u4e00-\u9fff\uac00-\ud7a3]*")
# Those of them in scripts with spaces between words.
_SPACED = regex.compile(r"[\x20-\u02ff\u2010-\u2027\u2030-\u205e\uac00-\ud7a3]*")
_SIMPLE_WORD = regex.compile(rf"\w+(?:[{_APOSTROPHES}]\w+)*|\S")
# Scripts without spaces between words, in which each piece of the tokenizer counts as a word.
_UNSPACED = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]"
)
# In these scripts joiners and non-joiners shape the letters, so they are already visible by their effect.
_JOINING = regex.compile(
    r"[\p{Arabic}\p{Syriac}\p{Mongolian}\p{Devanagari}\p{Bengali}\p{Gurmukhi}\p{Gujarati}\p{Oriya}\p{Tamil}\p{Telugu}"
    r"\p{Kannada}\p{Malayalam}\p{Sinhala}]"
)
_EMOJI = regex.compile(r"\p{Extended_Pictographic}[^\p{Cn}\p{Co}]*(?<![\u200d\p{Cn}])")
_HIDDEN = regex.compile(r"[\p{C}\p{Z}\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0--\x20]", regex.VERSION1)
_BLANK = regex.compile(r"[\s\p{Cc}\p{Cf}]+")
_SIGNS = {"\t": "⇥", "\n": "↵", "\r": "␍", "\u00a0": "⍽"}
_NAMES = {
    "\u00ad": "SHY",
    "\u034f": "CGJ",
    "\u061c": "ALM",
    "\u200b": "ZWSP",
    "\u200c": "ZWNJ",
    "\u200d": "ZWJ",
    "\u200e": "LRM",
    "\u200f": "RLM",
    "\u202a": "LRE",
    "\u202b": "RLE",
    "\u202c": "PDF",
    "\u202d": "LRO",
    "\u202e": "RLO",
    "\u2060": "WJ",
    "\u2066": "LRI",
    "\u2067": "RLI",
    "\u2068": "FSI",
    "\u2069": "PDI",
    "\ufeff": "BOM",
}
_MARKS = 4  # combining marks that a label shows per character; the others are counted
_MARK = regex.compile(r"\p{M}")
_LONG_RUN = regex.compile(r"\p{M}{30}(?=\p{M})")
_MANY_MARKS = regex.compile(rf"(\p{{M}}{{{_MARKS}}})(\p{{M}}++)")


@dataclass(frozen=True)
class Layout:
    """The boundaries of the clusters and words of a text."""

    text: str
    clusters: tuple[int, ...]  # the start of each cluster, and the end of the text
    words: tuple[Span, ...]
    starts: tuple[int, ...]  # of the words

    @classmethod
    def of(cls, text: str) -> Layout:
        if _SIMPLE.fullmatch(text):
            words = tuple(match.span() for match in _SIMPLE_WORD.finditer(text))
            return cls(text, tuple(range(len(text) + 1)), words, tuple(start for start, _ in words))
        clusters = cluster_starts(text)
        words = tuple(_words(text, clusters))
        return cls(text, clusters, words, tuple(start for start, _ in words))

    def whole(self, span: Span) -> Span:
        """The span widened to whole clusters; an empty one to its surrounding cluster."""
        start, end = span
        first = max(bisect_right(self.clusters, start) - 1, 0)
        last = max(bisect_right(self.clusters, max(end - 1, start)), first + 1)
        return (self.clusters[first], self.clusters[min(last, len(self.clusters) - 1)])

    def words_at(self, span: Span) -> tuple[int, int] | None:
        """The first and last index of ``words`` that the span touches, or None if it touches only white space."""
        first = bisect_right(self.starts, span[0]) - 1
        if first < 0 or self.words[first][1] <= span[0]:
            first += 1
        last = bisect_left(self.starts, span[1], first) - 1
        return (first, last) if last >= first else None

    def unspaced(self, position: int) -> bool:
        """Whether a word may end before this character without a space: Chinese, Japanese, Thai, ..."""
        return any(_UNSPACED.match(char) for char in self.text[max(position - 1, 0) : position + 1])


def clusters(text: str) -> list[str]:
    """The characters of a text as a reader sees them, in order. The time grows with the length of the text alone."""
    found: list[str] = _CLUSTER.findall(text)
    return found


def cluster_starts(text: str) -> tuple[int, ...]:
    """The start of each cluster, and the end of the text."""
    return (*(match.start() for match in _CLUSTER.finditer(text)), len(text))


def normalized(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """``unicodedata.normalize``, whose time grows with the square of a run of marks: a run of more than 30 is parted by
    U+034F, as in Unicode's stream-safe text."""
    return unicodedata.normalize(form, _LONG_RUN.sub("\\g<0>\u034f", text))


def simple_words(text: str) -> list[Span] | None:
    """The words of a text of printable characters that form no cluster with others, in a script with spaces between
    words, as in its ``Layout``; None for any other text."""
    if not _SPACED.fullmatch(text) or not text.isprintable():
        return None
    return [match.span() for match in _SIMPLE_WORD.finditer(text)]


def _words(text: str, clusters: Sequence[int]) -> list[Span]:
    r"""Runs of letters and digits, and every other visible character alone: ``\w+(?:'\w+)?|[^\w\s]`` over whole
    clusters rather than code points. An accent stays with its letter, an emoji family is one word."""
    words: list[Span] = []
    start: int | None = None  # of the word that is being read
    for index, (begin, end) in enumerate(pairwise(clusters)):
        letters = _LETTER.match(text, begin) is not None
        following = clusters[index + 2] if index + 2 < len(clusters) else end
        joins = text[begin:end] in _APOSTROPHES and following > end and _LETTER.match(text, end) is not None
        if start is not None and not letters and not joins:
            words.append((start, begin))
            start = None
        if letters and start is None:
            start = begin
        elif start is None and not text[begin:end].isspace():
            words.append((begin, end))
    return words if start is None else [*words, (start, len(text))]


def number_words(layout: Layout, spans: Sequence[Span | None], first: int = 0) -> list[int | None]:
    """The word index of each token, counted from ``first`` and never decreasing; None without a word.

    ``spans`` (None for special tokens, which end a word) must not decrease either. Words that share a token count as
    one. In a script without spaces each token is a word, unless it splits a character.
    """
    words: list[int | None] = []
    current, reached, end = first - 1, -1, 0  # the index, the last of layout.words in it, the end of the last span
    for span in spans:
        touched = None if span is None else layout.words_at(span)
        if span is None or touched is None:
            words.append(None)
            reached = -1
            continue
        if touched[0] > reached or (span[0] >= end and layout.unspaced(span[0])):
            current += 1
        reached, end = touched[1], span[1]
        words.append(current)
    return words


def is_blank(text: str) -> bool:
    """Whether the text is not empty but entirely invisible."""
    return _BLANK.fullmatch(text) is not None


def is_number(label: str) -> bool:
    """Whether a label is a number, with commas and points or without."""
    return _bare(label).replace(",", "").replace(".", "").isdecimal()


def is_capitalised(label: str) -> bool:
    """Whether a label begins with a capital letter."""
    return _bare(label)[:1].isupper()


def _bare(label: str) -> str:
    return label.strip(f" {CONTINUES}")


def visible(text: str) -> str:
    """The text with everything made visible: ``␣`` for text that is only spaces, symbols or ``‹names›`` for line ends,
    tabs, zero-width and direction characters, and at most four combining marks per letter, the rest counted."""
    if _SIMPLE.fullmatch(text) and text.isprintable() and text.strip():
        return text
    if text and not text.strip(" "):
        return "␣" * len(text)
    return "".join(map(_visible_cluster, clusters(text)))


def _visible_cluster(cluster: str) -> str:
    if _EMOJI.fullmatch(cluster):
        return _few_marks(cluster)
    if _JOINING.match(cluster):
        hidden = cluster.replace("\u200c", "").replace("\u200d", "")
        if not _HIDDEN.search(hidden):
            return _few_marks(cluster)
    return _few_marks(_HIDDEN.sub(lambda found: _name(found[0]), cluster))


def _name(char: str) -> str:
    return _SIGNS.get(char) or f"‹{_NAMES.get(char) or f'U+{ord(char):04X}'}›"


def _few_marks(cluster: str) -> str:
    """A lone mark on a dotted circle; for many marks, the first few and the number of the others."""
    if _MARK.match(cluster):
        cluster = "◌" + cluster
    counted: str = _MANY_MARKS.sub(lambda marks: f"{marks[1]}‹+{len(marks[2])}›", cluster)
    return counted


# Vocabularies: WordPiece, byte-level BPE, SentencePiece. Differences between tokenizers are data: each has a ``Scheme``
# that turns a piece into the bytes of its text.
SPACE = "▁"  # SentencePiece's symbol for a space
_FALLBACK = re.compile(r"<0x([0-9A-F]{2})>")


def _byte_signs() -> dict[str, int]:
    """The character for each byte in a byte-level vocabulary: itself if printable, else one from
    U+0100 on (Radford et al. 2019, the reversible byte encoder of GPT-2)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in set(printable)]
    return {chr(byte): byte for byte in printable} | {chr(256 + i): byte for i, byte in enumerate(others)}


_BYTES = _byte_signs()


def byte_of(char: str) -> int | None:
    """The byte that a character represents in a byte-level vocabulary, or None."""
    return _BYTES.get(char)


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
    (SentencePiece). ``suffix``: ``mark`` ends a word. ``joiner``: a word continues after ``mark`` (Blenderbot small).
    """

    kind: Literal["bytes", "prefix", "space", "suffix", "joiner"]
    mark: str = ""
    byte_fallback: bool = False
    plain: frozenset[str] = frozenset()  # added pieces, which are used literally

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
            return bytes(_BYTES[char] for char in piece) if all(char in _BYTES for char in piece) else piece.encode()
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


_CLOSING = frozenset(b" " + char.encode() for char in ".,;:!?%)]}…")
_OPENING = frozenset(b" " + char.encode() for char in "([{")
_APOSTROPHE_PIECES = (b" '", " ’".encode())


def _tight(parts: list[bytes], i: int) -> bool:
    """Whether no space belongs before this piece, although it begins with one."""
    part, before = parts[i], parts[i - 1] if i else b""
    if not part.startswith(b" "):
        return False
    if part in _CLOSING or before in _OPENING:
        return True
    if part in _APOSTROPHE_PIECES:
        return i + 1 < len(parts) and _is_word(before) and _is_word(parts[i + 1])
    return before in _APOSTROPHE_PIECES and i > 1 and _is_word(parts[i - 2]) and _is_word(part)


def _is_word(part: bytes) -> bool:
    return part.decode(errors="replace").strip().isalpha()


@dataclass(frozen=True, slots=True)
class Entry:
    """A token before it is described; ``span`` is the tokenizer's."""

    id: int
    piece: Piece
    segment: int
    special: bool
    unknown: bool
    span: Span | None

    @property
    def blank(self) -> bool:
        """Whether it is text that consists only of white space."""
        return self.piece.blank and not self.special


def describe(entries: Sequence[Entry], texts: Sequence[str]) -> Tokens:
    """The tokens of these texts, one text per segment, with labels, words and spans."""
    labels: list[str] = [""] * len(entries)
    words: list[int | None] = [None] * len(entries)
    spans: list[Span | None] = [None] * len(entries)
    first = 0
    for segment, text in enumerate(texts):
        indices = [i for i, entry in enumerate(entries) if entry.segment == segment]
        segment_entries = [entries[i] for i in indices]
        layout = Layout.of(text)
        trimmed = _rising([_trimmed(entry, layout) for entry in segment_entries])
        numbers = _with_spaces(segment_entries, number_words(layout, _inside(segment_entries, trimmed), first), trimmed)
        names = _labels(segment_entries, layout, trimmed, numbers)
        for i, name, number, span in zip(indices, names, numbers, trimmed, strict=True):
            labels[i], words[i], spans[i] = name, number, span
        first = max((number + 1 for number in numbers if number is not None), default=first)
    return Tokens(
        ids=np.array([entry.id for entry in entries], dtype=np.int64),
        pieces=tuple(entry.piece.name for entry in entries),
        labels=tuple(labels),
        words=tuple(words),
        special=np.array([entry.special for entry in entries], dtype=np.bool_),
        segments=np.array([entry.segment for entry in entries], dtype=np.int64),
        spans=tuple(spans),
    )


def written(entries: Sequence[Entry], scheme: Scheme) -> tuple[str, Tokens]:
    """The text that these tokens write, without special ones, and the tokens, whose spans index into that text."""
    placed = list(entries)
    inside = [i for i, entry in enumerate(entries) if not entry.special and entry.piece.written]
    parts = scheme.texts([entries[i].piece.name for i in inside])
    text, starts = _decode(b"".join(parts))
    end = 0
    for i, part in zip(inside, parts, strict=True):
        start, end = end, end + len(part)
        span = (starts[start], starts[end - 1] + 1) if part else None
        piece = entries[i].piece if part else Piece.of(entries[i].piece.name, b" ")
        placed[i] = replace(entries[i], span=span, piece=piece)
    return text, describe(placed, (text,))


def _trimmed(entry: Entry, layout: Layout) -> Span | None:
    """The token's span in whole characters without surrounding white space; for a blank token, the white space itself.

    Tokenizers differ: GPT-2's spans include the space, BART's do not, T5 gives the space the span of the next letter.
    """
    text = layout.text
    if entry.span is None:
        return None
    start, end = max(entry.span[0], 0), min(entry.span[1], len(text))
    if entry.blank:
        if is_blank(text[start:end]):
            return start, end
        before = [position for position in (start - len(entry.piece.written), start - 1) if position >= 0]
        return next(((position, start) for position in before if is_blank(text[position:start])), None)
    stripped = text[start:end].strip()
    if stripped:
        start += text[start:end].index(stripped)
        end = start + len(stripped)
    return layout.whole((start, end)) if text and start < len(text) else None


def _rising(spans: Sequence[Span | None]) -> list[Span | None]:
    """Spans that never go backwards, even if a normalizer reordered combining marks."""
    start = end = 0
    rising: list[Span | None] = []
    for span in spans:
        if span is not None:
            start, end = max(start, span[0]), max(end, span[1])
            span = (start, end) if end > start else None  # noqa: PLW2901
        rising.append(span)
    return rising


def _inside(entries: Sequence[Entry], spans: Sequence[Span | None]) -> list[Span | None]:
    """The spans that can be part of a word: None for special and blank tokens."""
    return [None if entry.special or entry.blank else span for entry, span in zip(entries, spans, strict=True)]


def _with_spaces(
    entries: Sequence[Entry], words: Sequence[int | None], spans: Sequence[Span | None]
) -> list[int | None]:
    """The words, with a token that is only the space before a word counted as part of that word."""
    complete = list(words)
    begun: int | None = None
    for i in range(len(entries) - 1):
        span, after, word = spans[i], spans[i + 1], words[i + 1]
        touches = span is None or after is None or span[1] == after[0]
        space = (
            entries[i].piece.written == b" "
            and not entries[i].special
            and not entries[i + 1].piece.written[:1].isspace()
        )
        begun = words[i] if words[i] is not None else begun
        if space and touches and word is not None and word != begun:
            complete[i] = word
    return complete


def _labels(
    entries: Sequence[Entry], layout: Layout, spans: Sequence[Span | None], words: Sequence[int | None]
) -> list[str]:
    labels = []
    shown = 0  # end of the text that the labels have shown so far
    begun: int | None = None  # the word of the last label
    for i, (entry, span, word) in enumerate(zip(entries, spans, words, strict=True)):
        if entry.special or entry.blank or span is None:
            labels.append(alone(entry))
            continue
        cuts = entry.piece.text is None or (_shared(spans, i) and _cut(layout, entry))
        body = layout.text[max(span[0], shown) : span[1]] if cuts else entry.piece.text or ""
        if entry.unknown:
            body = entry.piece.name
        elif entry.piece.text is None and "\ufffd" in body:
            body = _bytes(entry)
        continues = (word is not None and word == begun) or span[0] < shown
        labels.append((CONTINUES if continues else "") + visible(body.strip() or body) or _bytes(entry))
        shown, begun = max(shown, span[1]), word
    return labels


def _shared(spans: Sequence[Span | None], i: int) -> bool:
    """Whether the previous or next token covers part of the same character."""
    span, before, after = spans[i], spans[i - 1] if i else None, spans[i + 1] if i + 1 < len(spans) else None
    return span is not None and (
        (before is not None and before[1] > span[0]) or (after is not None and after[0] < span[1])
    )


def _cut(layout: Layout, entry: Entry) -> bool:
    """Whether the token is literally a part of one character of the text."""
    assert entry.span is not None
    start, end = entry.span
    written = layout.text[start:end]
    inside = written.strip()
    start += written.index(inside)
    return (entry.piece.text or "").strip() == inside and layout.whole((start, start + len(inside))) != (
        start,
        start + len(inside),
    )


def alone(entry: Entry) -> str:
    """The label of a token that is special, only a space, or not part of the text."""
    if entry.special or entry.unknown or not entry.piece.written:
        return visible(entry.piece.name)
    text = entry.piece.text
    return visible(text.strip() or text) if text else _bytes(entry)


def _bytes(entry: Entry) -> str:
    return f"‹{entry.piece.written.hex(' ').upper()}›"


def _decode(data: bytes) -> tuple[str, list[int]]:
    """The text of UTF-8 bytes, and for each byte the index of its character; invalid bytes become U+FFFD."""
    text: list[str] = []
    starts: list[int] = []
    offset = 0
    while offset < len(data):
        try:
            good, bad = data[offset:].decode(), 0
        except UnicodeDecodeError as error:
            good, bad = data[offset : offset + error.start].decode(), error.end - error.start
        for char in good:
            starts += [len(text)] * len(char.encode())
            text.append(char)
        if bad:
            starts += [len(text)] * bad
            text.append("\ufffd")
        offset = len(starts)
    return "".join(text), starts
