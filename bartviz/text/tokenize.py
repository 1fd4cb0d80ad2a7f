"""Text <-> tokens: ids for the model; labels, words and spans for the reader.

**Labels** are what the model sees of a token, made readable:
- The space that begins a word (``Ġ``, ``▁``) is left out. A token that goes on with the word of the token before it
  begins with ``⋯`` instead of ``##``, whatever the tokenizer: ``trans ⋯lation``.
- Tokens that cut a character between them (a Korean syllable or an emoji as bytes, an accent apart from its letter)
  show it once: the first has the whole character, those that follow only ``⋯``. Bytes that make no character are
  written as bytes: ``‹ED 95›``.
- Nothing is invisible: ``␣`` for a token that is only a space, ``↵``, ``⇥``, ``‹ZWSP›``, ``‹RLO›``.
- Special and unknown tokens stand as the vocabulary writes them: ``<s>``, ``[CLS]``, ``[UNK]``.

**Spans** point at whole characters of the text without the space around them: all bytes of an emoji have the span of
the emoji. Spans of the second sentence of a pair (segment 1) point into that sentence. None: a token that stands for
none of the text.

**Words** are what a reader would count (``labels.split_words``), numbered through both sentences of a pair. None for
special tokens, padding, and white space that belongs to no word. In scripts without spaces between words (Chinese,
Japanese, Thai, ...) each piece is a word. An unknown token is part of the text, so it is not special.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bartviz.errors import SettingError
from bartviz.language import later
from bartviz.text.describe import Entry, alone, describe
from bartviz.text.encoders import Encoder, encoder_of
from bartviz.text.labels import CONTINUES, Span, visible
from bartviz.text.pieces import Piece
from bartviz.text.tokens import Tokens

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_CONTEXT = 8  # tokens before a candidate that can change its label: three other bytes of its character, and a word


def encode(
    tokenizer: PreTrainedTokenizerBase,
    text: str,
    *,
    pair: str | None = None,
    target: bool = False,
    allow_special: bool = False,
) -> Tokens:
    """The tokens of a text (n,), with the special tokens that the model expects around it. Nothing is cut off.

    ``pair`` is a second sentence; ``segments`` say which of the two a token belongs to, also for models that have no
    token types. ``target`` encodes as an output (Marian, mBART). What looks like a special token in the text is text,
    unless ``allow_special`` is set: then ``<mask>`` is the mask. Raises ModelError for a tokenizer without spans.
    """
    encoder = encoder_of(tokenizer)
    raw = encoder.encode(text, pair, target=target, allow_special=allow_special)

    def described() -> Tokens:
        entries = [_entry(encoder, token.id, token.segment, token.special, token.span) for token in raw]
        return describe(entries, (text,) if pair is None else (text, pair))

    return Tokens.lazy(
        np.array([token.id for token in raw], np.int64),
        np.array([token.special for token in raw], np.bool_),
        np.array([token.segment for token in raw], np.int64),
        described,
    )


def from_ids(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> tuple[str, Tokens]:
    """The text that ids stand for, special tokens left out, and the tokens (n,), whose spans point into that text.

    Byte-level text comes back exactly; WordPiece and SentencePiece do not keep case or spaces. Unknown tokens stay in
    the text as the vocabulary writes them, and bytes that make no character become U+FFFD. Raises ModelError.
    """
    encoder = encoder_of(tokenizer)
    entries = [_entry(encoder, token_id, 0, token_id in encoder.special, None) for token_id in map(int, ids)]
    inside = [i for i, entry in enumerate(entries) if not entry.special and entry.piece.written]
    parts = encoder.scheme.texts([entries[i].piece.name for i in inside])
    text, starts = _decode(b"".join(parts))
    end = 0
    for i, part in zip(inside, parts, strict=True):
        start, end = end, end + len(part)
        span = (starts[start], starts[end - 1] + 1) if part else None
        piece = entries[i].piece if part else Piece.of(entries[i].piece.name, b" ")
        entries[i] = replace(entries[i], span=span, piece=piece)
    return text, describe(entries, (text,))


def label(tokenizer: PreTrainedTokenizerBase, token_id: int, previous: Sequence[int] | None = None) -> str:
    """How one token is called where it could come next after the ids ``previous``.

    Without them a piece that begins with a letter and no space is taken to go on with a word: ``Haus`` and ``⋯haus``
    are different tokens. A token that completes a character shows it: ``⋯한``. Raises ModelError.
    """
    encoder = encoder_of(tokenizer)
    entry = _entry(encoder, token_id, 0, token_id in encoder.special, None)
    text = entry.piece.text
    if text and (entry.special or entry.unknown or entry.blank or text.lstrip(" ") != text):
        return alone(entry)
    if text and previous is None:
        return (CONTINUES if text[0].isalnum() and encoder.scheme.kind != "suffix" else "") + visible(text)
    if entry.piece.written and previous is None:  # bytes: those from 80 to BF go on with a character
        return (CONTINUES if 0x80 <= entry.piece.written[0] < 0xC0 else "") + alone(entry)
    context, made = from_ids(tokenizer, [*(previous or ())[-_CONTEXT:], token_id])
    name, span = made.labels[-1], made.spans[-1]
    return CONTINUES + visible(context[slice(*span)]) if name == CONTINUES and span is not None else name


def pad(tokens: Tokens, tokenizer: PreTrainedTokenizerBase, length: int) -> Tokens:
    """The tokens with padding on the right up to ``length``. A tokenizer without a padding token (GPT-2) pads with its
    end token: what pads is masked, so the model never sees which it is. Raises SettingError."""
    missing = length - len(tokens)
    if missing < 0:
        raise SettingError(
            later(
                "{count} tokens cannot be padded to {length}: give a length of at least {count}.",
                count=len(tokens),
                length=length,
            )
        )
    token_id = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
    if missing == 0:
        return tokens
    if token_id is None:
        raise SettingError(
            later("This tokenizer has neither a padding nor an end token: give texts of the same length.")
        )
    piece = encoder_of(tokenizer).piece(token_id).name
    padding = Tokens(
        ids=np.full(missing, token_id),
        pieces=(piece,) * missing,
        labels=(visible(piece),) * missing,
        words=(None,) * missing,
        special=np.ones(missing, dtype=np.bool_),
        segments=np.zeros(missing, dtype=np.int64),
        spans=(None,) * missing,
    )
    return join(tokens, padding)


def join(*parts: Tokens) -> Tokens:
    """The tokens of all parts, one after the other; words are numbered on, so that no two parts share one.

    Labels and spans stay as they are: spans go on pointing into the text of their own part.
    """
    ids, special, segments = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("ids", "special", "segments")
    )

    def described() -> Tokens:
        words: list[int | None] = []
        first = 0
        for part in parts:
            words += [None if word is None else first + word for word in part.words]
            first = max((word + 1 for word in words if word is not None), default=0)
        return Tokens(
            ids=ids,
            pieces=tuple(piece for part in parts for piece in part.pieces),
            labels=tuple(name for part in parts for name in part.labels),
            words=tuple(words),
            special=special,
            segments=segments,
            spans=tuple(span for part in parts for span in part.spans),
        )

    return Tokens.lazy(ids, special, segments, described)


def unknown_share(tokens: Tokens, tokenizer: PreTrainedTokenizerBase) -> float:
    """The share of the tokens of the text, 0..1, that the vocabulary does not know; spaces are not counted."""
    encoder = encoder_of(tokenizer)
    if encoder.unknown is None or encoder.unknown not in tokens.ids:
        return 0.0
    inside = [
        token_id == encoder.unknown
        for token_id, special in zip(tokens.ids.tolist(), tokens.special.tolist(), strict=True)
        if not special and not encoder.piece(token_id).blank
    ]
    return sum(inside) / len(inside) if inside else 0.0


def _entry(encoder: Encoder, token_id: int, segment: int, special: bool, span: Span | None) -> Entry:
    return Entry(token_id, encoder.piece(token_id), segment, special, token_id == encoder.unknown, span)


def _decode(data: bytes) -> tuple[str, list[int]]:
    """The text of UTF-8 bytes, and for each byte the index of its character; what is no character becomes U+FFFD."""
    text: list[str] = []
    starts: list[int] = []
    place = 0
    while place < len(data):
        try:
            good, bad = data[place:].decode(), 0
        except UnicodeDecodeError as error:
            good, bad = data[place : place + error.start].decode(), error.end - error.start
        for sign in good:
            starts += [len(text)] * len(sign.encode())
            text.append(sign)
        if bad:
            starts += [len(text)] * bad
            text.append("\ufffd")
        place = len(starts)
    return "".join(text), starts
