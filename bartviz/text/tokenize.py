"""Text <-> tokens by the models' tokenizers, thread-safe: ids for the model, labels, words and spans for the reader.

A transformers tokenizer keeps settings between calls (truncation, padding, whether typed special tokens count, source
or target language), so threads that share one may change each other's results. It is never called directly: each has an
``Encoder``. A fast tokenizer runs through private copies that share its vocabulary and never change; Marian is
reimplemented here, and python_tokenizers.py has the others.

``split_special_tokens=True`` does not keep a typed ``</s>`` literal in a unigram vocabulary (T5, Pegasus, mBART): the
piece is in the vocabulary, with the best score. Such a text uses a copy whose special pieces cannot be typed.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import groupby
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from bartviz.errors import ModelError, SettingError, TextError, TooLong
from bartviz.language import later
from bartviz.safety.other_libraries import guarded
from bartviz.text.clean import MAX_CHARACTERS, Truncate
from bartviz.text.labels import (
    CONTINUES,
    SPACE,
    Entry,
    Piece,
    Scheme,
    Span,
    alone,
    describe,
    normalized,
    visible,
    written,
)
from bartviz.text.tokens import Tokens

if TYPE_CHECKING:
    from tokenizers import Encoding
    from tokenizers import Tokenizer as Backend
    from tokenizers.processors import PostProcessor
    from transformers import PreTrainedTokenizerBase

_NEAR = 16  # characters of a text for each token that is kept of it, to begin with
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


def check_length(count: int, limit: int, *, can_cut: bool = True) -> None:
    """Raise TooLong if a text has more tokens than the model reads, with the exact number and advice.

    ``can_cut``: whether the caller can read only the first or the last part.
    """
    if count > limit:
        advice = later("Shorten it by {count:,}.", count=count - limit)
        if can_cut:
            advice = later(
                "Shorten it by {count:,}, or have only its first or last {limit:,} tokens read.",
                count=count - limit,
                limit=limit,
            )
        raise TooLong(
            later(
                "The text has {count:,} tokens; this model reads at most {limit:,}. {advice}",
                count=count,
                limit=limit,
                advice=advice,
            ),
            count,
            limit,
            can_cut=can_cut,
        )


def cut(text: str, limit: int, side: Truncate, encode: Callable[[str], Tokens]) -> tuple[str, Tokens]:
    """The first or last part of a text that ``encode`` makes at most ``limit`` tokens of, cut between two tokens.

    Raises TextError if there is none.
    """
    text = _near(text, limit, side, encode)
    full = encode(text)
    spans = [span for span, segment in zip(full.spans, full.segments, strict=True) if span is not None and segment == 0]
    room = limit - (len(full) - len(spans))
    while room > 0:
        part = text[: spans[room - 1][1]] if side == "first" else text[spans[-room][0] :]
        encoded = encode(part)
        if len(encoded) <= limit:
            return part, encoded
        room -= len(encoded) - limit
    if (full.segments == 1).any():
        raise TextError(later("The second sentence by itself is longer than the model accepts. Shorten it."))
    raise TextError(
        later(
            "The text cannot be cut: a single character, with its marks, has more tokens than the {limit:,} "
            "that the model accepts. Leave it out.",
            limit=limit,
        )
    )


def _near(text: str, limit: int, side: Truncate, encode: Callable[[str], Tokens]) -> str:
    """The beginning or the end of a long text, with far more tokens than ``limit``: the rest decides nothing, and to
    find the place of each of its tokens takes long."""
    size = _NEAR * limit
    while size < len(text):
        part = text[:size] if side == "first" else text[-size:]
        if len(encode(part)) > 2 * limit:
            return part
        size *= 2
    return text


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


def _entry(encoder: Encoder, token_id: int, segment: int, special: bool, span: Span | None) -> Entry:
    return Entry(token_id, encoder.piece(token_id), segment, special, token_id == encoder.unknown, span)


_SLICE = 200  # characters that are normalized at once; a normalizer makes them at most a thousand times longer
_MAX_NORMALIZED = 3 * MAX_CHARACTERS


class Raw(NamedTuple):
    """One token as the tokenizer returns it; ``span`` is None for a token that the tokenizer added."""

    id: int
    segment: int
    special: bool
    span: Span | None


class Encoder(ABC):
    """The uniform interface to one tokenizer: its special tokens, its scheme, and its encoding."""

    scheme: Scheme
    rows: int | None = None
    """How many ids the network has embeddings for; None: for all of the tokenizer's."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        added = {i: str(token) for i, token in tokenizer.added_tokens_decoder.items() if token.special}
        names = dict(zip(tokenizer.all_special_ids, map(str, tokenizer.all_special_tokens), strict=True)) | added
        unknown = tokenizer.unk_token_id
        roles = [getattr(tokenizer, f"{role}_token_id") for role in ("bos", "eos", "pad", "sep", "cls", "mask")]
        # An unknown word is part of the text, so its token is not special. GPT-2 uses its end token as the unknown one.
        self.unknown: int | None = None if unknown in roles else unknown
        self.unknown_piece = "" if self.unknown is None else str(tokenizer.unk_token)
        self.special = {i: name for i, name in names.items() if i != self.unknown}
        self._known: dict[int, Piece] = {}  # at most one for each id of the vocabulary

    def piece(self, token_id: int) -> Piece:
        """The piece of an id; an id outside the vocabulary is named by its number and has no text.

        (A model may have more embedding rows than its tokenizer has pieces.)
        """
        if token_id not in self._known:
            name = self._name(token_id)
            if name is None:
                return Piece.of(f"‹id {token_id}›", b"")
            written = name.encode() if token_id in self.special else self.scheme.text(name)
            self._known[token_id] = Piece.of(name, written)
        return self._known[token_id]

    @abstractmethod
    def _name(self, token_id: int) -> str | None:
        """The vocabulary's string, or None for an unknown id."""

    def encode(self, text: str, pair: str | None, *, target: bool, allow_special: bool) -> list[Raw]:
        """The tokens of a text, or of a pair of texts, special tokens included.

        ``target``: encode as an output of the model. ``allow_special``: whether a special token typed in the text
        counts as one. Raises ModelError if the library fails, TextError for a token that the network has no embedding
        for.
        """
        with guarded(_broken()):
            tokens = self._encode(text, pair, target=target, allow_special=allow_special)
        beyond = next((token.id for token in tokens if self.rows is not None and token.id >= self.rows), None)
        if beyond is not None:
            raise TextError(
                later(
                    "The network has no embedding for {token}: the tokenizer adds this token, but the model was not "
                    "trained with it. Leave it out of the text.",
                    token=self.piece(beyond).name,
                )
            )
        return tokens

    def unlimited(self, text: str) -> list[Raw]:
        """The tokens of a text, whether or not the network has embeddings for them."""
        return self._encode(text, None, target=False, allow_special=False)

    @abstractmethod
    def _encode(self, text: str, pair: str | None, *, target: bool, allow_special: bool) -> list[Raw]:
        """``encode`` without handling the library's errors."""


class FastEncoder(Encoder):
    """A tokenizer of the ``tokenizers`` library: BERT, BART, GPT-2, T5, Pegasus and most others."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        super().__init__(tokenizer)
        backend = tokenizer.backend_tokenizer
        self.scheme = Scheme.of(backend)
        self._aware = _copy(backend, special=True)
        self._literal = _copy(backend, special=False)
        self._target = _target_template(tokenizer)
        if self._target is not None:
            self._target_aware, self._target_literal = _copy(backend, special=True), _copy(backend, special=False)
            self._target_aware.post_processor = self._target_literal.post_processor = self._target

    def _name(self, token_id: int) -> str | None:
        return self._aware.id_to_token(token_id) if 0 <= token_id < 1 << 32 else None

    def _encode(self, text: str, pair: str | None, *, target: bool, allow_special: bool) -> list[Raw]:
        self._check_growth(f"{text}{pair or ''}")
        other = target and self._target is not None
        if allow_special:
            return self._raw((self._target_aware if other else self._aware).encode(text, pair), typed=True)
        literal = self._target_literal if other else self._literal
        encoding = literal.encode(text, pair)
        if self._leaks(encoding, text, pair):
            with _LOCK:
                self._strict.post_processor = literal.post_processor
                encoding = self._strict.encode(text, pair)
        return self._raw(encoding, typed=False)

    def _check_growth(self, text: str) -> None:
        """Raise TooLong for a text that the normalizer makes much longer (one Arabic character may become 18
        letters)."""
        normalizer, size = self._aware.normalizer, 0
        if normalizer is None or len(text) <= _SLICE:
            return
        for start in range(0, len(text), _SLICE):
            size += len(normalizer.normalize_str(text[start : start + _SLICE]))
            if size > _MAX_NORMALIZED:
                raise TooLong(
                    later(
                        "The tokenizer's normalizer turns this text into more than {limit:,} characters. Shorten it.",
                        limit=_MAX_NORMALIZED,
                    ),
                    size,
                    _MAX_NORMALIZED,
                )

    def _raw(self, encoding: Encoding, *, typed: bool) -> list[Raw]:
        """``typed``: special tokens in the text count as such."""
        types, second = any(encoding.type_ids), False
        tokens = []
        for token_id, sequence, span, kind in zip(
            encoding.ids, encoding.sequence_ids, encoding.offsets, encoding.type_ids, strict=True
        ):
            second = second or sequence == 1
            if sequence is None:
                tokens.append(Raw(token_id, min(kind, 1) if types else int(second), True, None))
            else:
                tokens.append(Raw(token_id, sequence, typed and token_id in self.special, span))
        return tokens

    def _leaks(self, encoding: Encoding, text: str, pair: str | None) -> bool:
        """Whether literal text became a special token, or spells the unknown one."""
        inside = zip(encoding.ids, encoding.sequence_ids, strict=True)
        if any(sequence is not None and token_id in self.special for token_id, sequence in inside):
            return True
        if self.unknown is None or self.unknown not in encoding.ids:
            return False
        return self.unknown_piece in normalized("NFKC", f"{text} {pair or ''}")

    @cached_property
    def _strict(self) -> Backend:
        """The literal copy with its own vocabulary, whose special pieces contain a space and so match no text.

        Made on first use: a unigram vocabulary of 32,000 takes 90 MB and a fifth of a second.
        """
        state = json.loads(self._literal.to_str())
        state["added_tokens"] = [token for token in state["added_tokens"] if not token["special"]]
        names = {*self.special.values(), self.unknown_piece}
        model, vocabulary = state["model"], state["model"]["vocab"]
        merged = {"".join(merge if isinstance(merge, list) else merge.split(" ")) for merge in model.get("merges", ())}
        names -= merged
        if isinstance(vocabulary, dict):
            model["vocab"] = {f" {name}" if name in names else name: i for name, i in vocabulary.items()}
        else:
            model["vocab"] = [[f" {name}" if name in names else name, score] for name, score in vocabulary]
        if model.get("unk_token") in names:
            model["unk_token"] = f" {model['unk_token']}"
        strict: Backend = type(self._literal).from_str(json.dumps(state))
        return strict


class MarianEncoder(Encoder):
    """Marian's tokenizer: one SentencePiece model per language, and a separate vocabulary.

    A known language code (``>>deu<<``) at the beginning of a text is a special token even if typed: it selects the
    target language.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        super().__init__(tokenizer)
        self.scheme = Scheme("space", SPACE, plain=frozenset(self.special.values()))
        self._added: dict[str, int] = dict(tokenizer.added_tokens_encoder)
        self._codes: dict[str, int] = {code: tokenizer.encoder[code] for code in tokenizer.supported_language_codes}
        self.special |= {i: code for code, i in self._codes.items()}
        self._pieces: dict[int, str] = dict(tokenizer.decoder) | {i: name for name, i in self._added.items()}
        self._source = (tokenizer.spm_source, tokenizer.encoder)
        self._target = (tokenizer.spm_target, getattr(tokenizer, "target_encoder", tokenizer.encoder))
        self._end = int(tokenizer.eos_token_id)
        self._split: Callable[[str], list[str]] = tokenizer.tokens_trie.split

    def _name(self, token_id: int) -> str | None:
        return self._pieces.get(token_id)

    def _encode(self, text: str, pair: str | None, *, target: bool, allow_special: bool) -> list[Raw]:
        side = self._target if target else self._source
        tokens = [
            token
            for segment, part in enumerate((text,) if pair is None else (text, pair))
            for token in self._text(part, segment, side, allow_special)
        ]
        return [*tokens, Raw(self._end, 0 if pair is None else 1, True, None)]

    def _text(self, text: str, segment: int, side: tuple[Any, dict[str, int]], allow_special: bool) -> list[Raw]:
        tokens: list[Raw] = []
        start = 0
        for part in self._split(text) if allow_special else [text]:
            if allow_special and part in self._added:
                token_id = self._added[part]
                tokens.append(Raw(token_id, segment, token_id in self.special, (start, start + len(part))))
            else:
                tokens += self._plain(part, start, segment, side)
            start += len(part)
        return tokens

    def _plain(self, text: str, start: int, segment: int, side: tuple[Any, dict[str, int]]) -> list[Raw]:
        """Text without special tokens, which begins at ``start``; a leading language code is split off first."""
        processor, vocabulary = side
        code = text[: text.find("<<") + 2] if text.startswith(">>") else ""
        tokens = []
        if code in self._codes:
            tokens.append(Raw(self._codes[code], segment, True, (start, start + len(code))))
            text, start = text[len(code) :], start + len(code)
        made = processor.encode(text, return_type="offset_mapping")
        unknown = vocabulary[self.unknown_piece]
        for piece, (begin, end) in zip(made["pieces"], made["offsets"], strict=True):
            tokens.append(Raw(vocabulary.get(piece, unknown), segment, False, (start + begin, start + end)))
        return tokens


_LOCK = RLock()
_ENCODERS: WeakKeyDictionary[Any, tuple[object, Encoder]] = WeakKeyDictionary()
_ROWS: WeakKeyDictionary[Any, int] = WeakKeyDictionary()


def limit(tokenizer: PreTrainedTokenizerBase, rows: int) -> None:
    """Refuse texts whose tokens have ids of ``rows`` or more from now on."""
    with _LOCK:
        _ROWS[tokenizer] = rows
        _ENCODERS.pop(tokenizer, None)


def encoder_of(tokenizer: PreTrainedTokenizerBase) -> Encoder:
    """The encoder of a tokenizer, cached until its tokens or languages change. Raises ModelError."""
    with guarded(_broken()):
        return _encoder_of(tokenizer)


def _encoder_of(tokenizer: PreTrainedTokenizerBase) -> Encoder:
    state = (len(tokenizer), getattr(tokenizer, "src_lang", None), getattr(tokenizer, "tgt_lang", None))
    with _LOCK:
        known = _ENCODERS.get(tokenizer)
        if known is None or known[0] != state:
            known = (state, _encoder(tokenizer))
            known[1].rows = _ROWS.get(tokenizer)
            _ENCODERS[tokenizer] = known
        return known[1]


def _broken() -> ModelError:
    return ModelError(later("The tokenizer of this model fails on this text. Try another text or model."))


def _encoder(tokenizer: PreTrainedTokenizerBase) -> Encoder:
    if tokenizer.is_fast:
        return FastEncoder(tokenizer)
    if hasattr(tokenizer, "spm_source") and hasattr(tokenizer, "tokens_trie"):
        return MarianEncoder(tokenizer)
    from bartviz.text import python_tokenizers  # it imports this module

    kind = python_tokenizers.ENCODERS.get(type(tokenizer).__name__)
    if kind is not None:
        return kind(tokenizer)
    raise ModelError(
        later(
            "The tokenizer of this model ({name}) cannot say which part of the text each token covers. Fast "
            "tokenizers (with a tokenizer.json) and those of Marian, M2M100, BioGPT, Blenderbot small and "
            "ByT5 can: choose another model, or convert its tokenizer.",
            name=type(tokenizer).__name__,
        )
    )


def _copy(backend: Backend, *, special: bool) -> Backend:
    """A tokenizer that shares the vocabulary and pipeline of ``backend``, without truncation or padding, and with its
    special tokens only if ``special``."""
    copy: Backend = type(backend)(backend.model)
    for part in ("normalizer", "pre_tokenizer", "post_processor", "decoder"):
        if getattr(backend, part) is not None:
            setattr(copy, part, getattr(backend, part))
    added = {i: token for i, token in backend.get_added_tokens_decoder().items() if special or not token.special}
    for is_special, tokens in groupby((added[i] for i in sorted(added)), lambda token: token.special):
        (copy.add_special_tokens if is_special else copy.add_tokens)(list(tokens))  # one by one takes time squared
    if any(copy.token_to_id(token.content) != i for i, token in added.items()):  # gaps: only a full copy keeps them
        return _full_copy(backend, special=special)
    return copy


def _full_copy(backend: Backend, *, special: bool) -> Backend:
    copy: Backend = type(backend).from_str(backend.to_str())
    copy.no_truncation()
    copy.no_padding()
    copy.encode_special_tokens = not special
    return copy


def _target_template(tokenizer: PreTrainedTokenizerBase) -> PostProcessor | None:
    """The post-processor for target texts, if it differs from that for source texts (mBART's language codes)."""
    if not hasattr(tokenizer, "_switch_to_target_mode") or getattr(tokenizer, "tgt_lang", None) is None:
        return None
    try:
        tokenizer._switch_to_target_mode()
        template: PostProcessor | None = tokenizer.backend_tokenizer.post_processor
        return template
    finally:
        tokenizer._switch_to_input_mode()
