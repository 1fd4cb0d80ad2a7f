"""Labels, words and spans for the tokens of a text (the rules are in ``text.tokenize``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bartviz.text.labels import CONTINUES, Layout, Span, is_blank, number_words, visible
from bartviz.text.pieces import Piece, Scheme
from bartviz.text.tokens import Tokens


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
        for sign in good:
            starts += [len(text)] * len(sign.encode())
            text.append(sign)
        if bad:
            starts += [len(text)] * bad
            text.append("\ufffd")
        offset = len(starts)
    return "".join(text), starts
