"""Text <-> tokens: ids for the model; labels, words and spans for the reader.

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

**Words** are what a reader would count (``labels.split_words``), numbered across both sentences of a pair. None for
special tokens, padding, and white space outside words. In scripts without spaces between words (Chinese,
Japanese, Thai, ...) each piece is a word. An unknown token is part of the text, so it is not special.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bartviz.errors import SettingError
from bartviz.language import later
from bartviz.text.describe import Entry, alone, describe, written
from bartviz.text.encoders import Encoder, encoder_of
from bartviz.text.labels import CONTINUES, Span, visible
from bartviz.text.tokens import Tokens

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_CONTEXT = 8  # preceding tokens that can change a label: three other bytes of its character, and a word


def encode(
    tokenizer: PreTrainedTokenizerBase,
    text: str,
    *,
    pair: str | None = None,
    target: bool = False,
    allow_special: bool = False,
) -> Tokens:
    """The tokens of a text (n,), with the special tokens that the model expects around it. Nothing is truncated.

    ``pair`` is a second sentence; ``segments`` say which of the two a token belongs to, also for models that have no
    token types. ``target`` encodes as an output (Marian, mBART). A special token typed in the text is plain text,
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
    """The decoded text of ids without special tokens, and the tokens (n,), whose spans index into that text.

    Byte-level text is restored exactly; WordPiece and SentencePiece may lose case or spaces. Unknown tokens appear in
    the text as in the vocabulary, and bytes that form no character become U+FFFD. Raises ModelError.
    """
    encoder = encoder_of(tokenizer)
    entries = [_entry(encoder, token_id, 0, token_id in encoder.special, None) for token_id in map(int, ids)]
    return written(entries, encoder.scheme)


def label(tokenizer: PreTrainedTokenizerBase, token_id: int, previous: Sequence[int] | None = None) -> str:
    """The label of one token as the next one after the ids ``previous``.

    Without them, a piece that begins with a letter and no space counts as a continuation: ``Haus`` and ``⋯haus`` are
    different tokens. A token that completes a character shows it: ``⋯한``. Raises ModelError.
    """
    encoder = encoder_of(tokenizer)
    entry = _entry(encoder, token_id, 0, token_id in encoder.special, None)
    text = entry.piece.text
    if text and (entry.special or entry.unknown or entry.blank or text.lstrip(" ") != text):
        return alone(entry)
    if text and previous is None:
        return (CONTINUES if text[0].isalnum() and encoder.scheme.kind not in ("suffix", "joiner") else "") + visible(
            text
        )
    if entry.piece.written and previous is None:  # bytes: 80 to BF continue a character
        return (CONTINUES if 0x80 <= entry.piece.written[0] < 0xC0 else "") + alone(entry)
    context, tokens = from_ids(tokenizer, [*(previous or ())[-_CONTEXT:], token_id])
    name, span = tokens.labels[-1], tokens.spans[-1]
    return CONTINUES + visible(context[slice(*span)]) if name == CONTINUES and span is not None else name


def pad(tokens: Tokens, tokenizer: PreTrainedTokenizerBase, length: int) -> Tokens:
    """The tokens with padding on the right up to ``length``. A tokenizer without a padding token (GPT-2) uses its
    end token: padding is masked, so the model never sees it. Raises SettingError."""
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
    """The tokens of all parts, concatenated; word numbers continue, so that no two parts share a word.

    Labels and spans do not change: each span still indexes into the text of its own part.
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


def unread_shares(tokens: Tokens, tokenizer: PreTrainedTokenizerBase, *texts: str) -> tuple[float, float]:
    """The shares (0..1) of the letters of the texts that the model cannot read: those in unknown tokens or in none,
    and those of which a token holds only some bytes. ``texts``: one for each segment. Without letters, every visible
    sign counts.
    """
    encoder = encoder_of(tokenizer)
    unknown, split = set(unheld(tokens, *texts)), set[tuple[int, int]]()  # segment and index of each character
    for i, (token_id, special) in enumerate(zip(tokens.ids.tolist(), tokens.special.tolist(), strict=True)):
        lacking = unknown if token_id == encoder.unknown else split if encoder.piece(token_id).text is None else None
        if special or lacking is None or (span := tokens.spans[i]) is None:
            continue
        segment = int(tokens.segments[i])
        lacking.update((segment, index) for index in range(*span))
    if not unknown and not split:
        return 0.0, 0.0
    counted = {(n, i) for n, text in enumerate(texts) for i, sign in enumerate(text) if sign.isalpha()}
    counted = counted or _visible(texts)
    return len(unknown & counted) / len(counted), len(split & counted) / len(counted)


def unheld(tokens: Tokens, *texts: str) -> list[tuple[int, int]]:
    """The visible signs of the texts that no token holds, as segment and index: the tokenizer drops them.

    Marks and control characters do not count where there is anything else: they change how others are drawn.
    """
    signs = _visible(texts)
    counted = {(n, i) for n, i in signs if unicodedata.category(texts[n][i]) not in _WITHOUT_INK} or signs
    for span, segment in zip(tokens.spans, tokens.segments.tolist(), strict=True):
        if span is not None:
            counted.difference_update((segment, index) for index in range(*span))
    return sorted(counted)


_WITHOUT_INK = frozenset(("Cc", "Cf", "Cs", "Mn", "Me", "Mc"))


def _visible(texts: Sequence[str]) -> set[tuple[int, int]]:
    return {(n, i) for n, text in enumerate(texts) for i, sign in enumerate(text) if not sign.isspace()}


def _entry(encoder: Encoder, token_id: int, segment: int, special: bool, span: Span | None) -> Entry:
    return Entry(token_id, encoder.piece(token_id), segment, special, token_id == encoder.unknown, span)
