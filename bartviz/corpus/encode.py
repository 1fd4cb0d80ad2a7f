"""A text of the corpus as arrays: its tokens, and what the measures ask of them.

Letters in shapes: n tokens, B texts of a batch.
"""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bartviz.analysis import gold_alignment, word_matches
from bartviz.analysis.gold_alignment import Gold
from bartviz.analysis.words import word_groups
from bartviz.callbacks import never
from bartviz.corpus.conllu import Tree, spanned, word_tokens
from bartviz.corpus.read import Columns, Line
from bartviz.errors import SettingError, TextError
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.patterns.pair import Column
from bartviz.run.batch import start_token
from bartviz.run.generate import write
from bartviz.run.options import Options
from bartviz.run.prepare import prepare, prepare_target
from bartviz.text import tokenize
from bartviz.text.clean import MAX_CHARACTERS, Truncate
from bartviz.text.labels import simple_words
from bartviz.text.tokenize import encoder_of
from bartviz.text.tokens import Tokens

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Whole = NDArray[np.int64]
_WORD = re.compile(r"\S+")
_STARTS: WeakKeyDictionary[Model, dict[int, Side]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Side:
    """The tokens of one text, (n,) each.

    ``groups`` number the words, special tokens included, ``words`` those that are words alone (-1 for others);
    ``codes`` are equal for equal words (-1 for none) within a text and its target; ``special`` and ``punctuation`` are
    0 or 1.
    """

    ids: Whole
    segments: Whole
    special: Whole
    punctuation: Whole
    groups: Whole
    words: Whole
    codes: Whole

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def word_count(self) -> int:
        return int(self.words.max(initial=-1)) + 1


@dataclass(frozen=True, slots=True)
class Encoded:
    """A line of the corpus, ready to run.

    ``inputs`` is what a decoder reads, ``output`` what each of its rows predicts; None for models without
    cross-attention, as is ``gold``, the links of an alignment by hand. ``tree``: of the source, with the tokens of its
    words. ``labels`` are the readable tokens of each, where they were asked for. ``cut``: only a part of it is read.
    ``columns`` of the source, with the tokens of each word.
    """

    line: Line
    source: Side
    inputs: Side | None = None
    output: Side | None = None
    gold: Gold | None = None
    tree: tuple[Tree, NDArray[np.bool_]] | None = None
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cut: bool = False
    columns: Mapping[str, Column] = field(default_factory=dict)

    @property
    def size(self) -> tuple[int, int]:
        """The numbers of tokens: of the output, of the source."""
        return (0 if self.inputs is None else len(self.inputs)), len(self.source)


def encode(
    model: Model,
    line: Line,
    *,
    labels: bool = False,
    truncate: Truncate | None = None,
    cancelled: Callable[[], bool] = never,
) -> Encoded:
    """The tokens of a line. An encoder-decoder without a target writes its own, as ``bartviz.capture`` does.

    labels: the readable tokens, too. truncate: which part is read of a text that is longer than the model reads; one
    with a tree or an alignment by hand is never cut, for they are of the whole text.
    Raises TextError for a text that is too long, or an alignment that does not fit it.
    """
    if line.tree is not None or line.gold is not None or line.columns:
        truncate = None
    return (None if labels else _quickly(model, line)) or _described(model, line, truncate, cancelled)


def _quickly(model: Model, line: Line) -> Encoded | None:
    """A line of simple texts; None for one that needs ``_described``."""
    if line.pair is not None or line.tree is not None or line.gold is not None or line.columns:
        return None
    limit = model.info.positions
    if model.info.kind != "encoder-decoder":
        if model.info.kind != "encoder":
            return None
        source = simple_side(model.tokenizer, line.text, {}, limit=limit)
        return None if source is None else Encoded(line, source)
    if line.target is None or model.info.known.start == "language":
        return None
    known: dict[str, int] = {}
    output = simple_side(model.tokenizer, line.target, known, limit=limit, target=True)
    source = None if output is None else simple_side(model.tokenizer, line.text, known, limit=limit)
    if source is None or output is None:
        return None
    return Encoded(line, source, _after(_start(model, start_token(model)), output), output)


def _described(model: Model, line: Line, truncate: Truncate | None, cancelled: Callable[[], bool]) -> Encoded:
    prepared = prepare(model, line.text, pair=line.pair, truncate=truncate, can_cut=False)
    known: dict[str, int] = {}
    inputs = output = None
    labels = {"source": prepared.tokens.labels}
    if model.info.kind == "encoder-decoder":
        target = line.target
        labels_it = model.head is not None and target is None  # its decoder reads the text itself, as for ``capture``
        if target is None and not labels_it:
            options = Options(cancelled=cancelled)
            target = write(model, prepared, (start_token(model),), {}, options, time.perf_counter()).target_text
        if labels_it:
            given = prepared
        elif target:
            given = prepare_target(model, target)
        else:
            raise TextError(later("The model wrote nothing."))
        first = start_token(model, given.tokens)
        before = tokenize.from_ids(model.tokenizer, [first])[1].labels
        output = side(given.tokens, (given.text,), known)
        inputs = _after(_start(model, first), output)
        labels |= {"inputs": (*before, *given.tokens.labels[:-1]), "output": given.tokens.labels}
    texts = (prepared.text,) if prepared.pair is None else (prepared.text, prepared.pair)
    # of a decoder-only model the pieces are complete, as in ``word_matches.texts_of``
    source = side(prepared.tokens, () if model.info.kind == "decoder" else texts, known)
    tree = None if line.tree is None else (line.tree, word_tokens(line.tree, prepared.tokens))
    gold = None
    if line.gold is not None and output is not None:
        gold = gold_alignment.read(line.gold, source.word_count, output.word_count)
    columns = _columns(line, tree, prepared.tokens)
    return Encoded(line, source, inputs, output, gold, tree, labels, prepared.cut, columns)


def _columns(line: Line, tree: tuple[Tree, NDArray[np.bool_]] | None, tokens: Tokens) -> dict[str, Column]:
    """The columns of a line, and the tokens of their words: those of its tree, or what stands between spaces.

    Raises TextError for a column that has not a value for each word.
    """
    if not line.columns:
        return {}
    members = spanned([found.span() for found in _WORD.finditer(line.text)], tokens) if tree is None else tree[1]
    for name, values in line.columns:
        if len(values) != len(members):
            raise TextError(
                f"Its column {name!r} has {len(values):,} values, but there are {len(members):,} words between spaces."
            )
    return {name: Column(values, members) for name, values in line.columns}


def side(tokens: Tokens, texts: Sequence[str], known: dict[str, int]) -> Side:
    """The arrays of a text. ``known`` numbers the words and grows."""
    grouped = word_groups(tokens)
    sizes = [len(group) for group in grouped]
    number, words = 0, []
    for group in grouped:
        is_word = tokens.words[group[0]] is not None and not tokens.special[group[0]]
        words.append(number if is_word else -1)
        number += is_word
    codes = word_matches.numbered(tokens, texts, known)
    return Side(
        ids=tokens.ids,
        segments=tokens.segments,
        special=tokens.special.astype(np.int64),
        punctuation=word_matches.punctuation(tokens, texts).astype(np.int64),
        groups=np.repeat(np.arange(len(grouped)), sizes),
        words=np.repeat(np.array(words, np.int64), sizes),
        codes=codes,
    )


def simple_side(
    tokenizer: PreTrainedTokenizerBase, text: str, known: dict[str, int], *, limit: int | None, target: bool = False
) -> Side | None:
    """The result of ``side``, without labels and spans of tokens, which take most of its time: 0.3 ms instead of 1.1 ms
    for a text of ten words, and without it a run with a model as small as bert-tiny-en takes 1.27 of its time.

    None, and ``known`` unchanged, for a text with characters that are not simple, more than ``limit`` tokens, or tokens
    that are only a space.
    """
    words = simple_words(text) if len(text) <= MAX_CHARACTERS else None
    if not words:
        return None
    encoder = encoder_of(tokenizer)
    tokens = encoder.encode(text, None, target=target, allow_special=False)
    if limit is not None and len(tokens) > limit:
        return None
    at = [-1] * len(text)  # the word of each character
    for number, (first, last) in enumerate(words):
        at[first:last] = [number] * (last - first)
    special, punctuated, groups, numbers = [], [], [], []
    spans: list[list[int]] = []  # of each word, which may be several of ``words``
    start = end = 0
    group, reached = -1, -1  # the last of ``words`` that a token touched
    for token in tokens:
        special.append(token.special)
        if token.span is None and token.special:
            group, reached = group + 1, -1
            punctuated.append(False)
            numbers.append(-1)
        else:
            if token.special or token.span is None or encoder.piece(token.id).blank:
                return None
            before, (start, end) = (start, end), token.span
            while start < end and text[start] == " ":
                start += 1
            while start < end and text[end - 1] == " ":
                end -= 1
            if start >= end or start < before[0] or end < before[1]:
                return None
            if at[start] > reached:
                group += 1
                spans.append([start, end])
            spans[-1][1] = end
            reached = at[end - 1]
            punctuated.append(_is_punctuation(text[start:end]))
            numbers.append(len(spans) - 1)
        groups.append(group)
    found = [text[first:last].casefold() for first, last in spans]
    codes = [known.setdefault(word, len(known)) if any(map(str.isalnum, word)) else -1 for word in found]
    return Side(
        ids=np.array([token.id for token in tokens], np.int64),
        segments=np.array([token.segment for token in tokens], np.int64),
        special=np.array(special, np.int64),
        punctuation=np.array(punctuated, np.int64),
        groups=np.array(groups, np.int64),
        words=np.array(numbers, np.int64),
        codes=np.array([*codes, -1], np.int64)[numbers],
    )


@lru_cache(1 << 14)
def _is_punctuation(written: str) -> bool:
    return all(unicodedata.category(char).startswith("P") for char in written)


def _start(model: Model, token: int) -> Side:
    """The token that the decoder reads first, the same for every text (mBART: of a language)."""
    known = _STARTS.setdefault(model, {})
    if token not in known:
        known[token] = side(tokenize.from_ids(model.tokenizer, [token])[1], (), {})
    return known[token]


def _after(start: Side, output: Side) -> Side:
    """The decoder's input: the start token, then every token of the output but the last."""
    parts = {
        entry.name: np.concatenate([getattr(start, entry.name), getattr(output, entry.name)[:-1]])
        for entry in fields(Side)
    }
    parts["groups"][1:] += 1
    return Side(**parts)


@dataclass(frozen=True, eq=False)
class Padded:
    """The sides of a batch, (B, n) each, padded on the right; ``valid`` is False at the padding."""

    ids: Tensor
    segments: Tensor
    special: Tensor
    punctuation: Tensor
    groups: Tensor
    words: Tensor
    codes: Tensor
    valid: Tensor

    @classmethod
    def of(cls, sides: Sequence[Side], pad: int, device: torch.device) -> Padded:
        lengths = np.array([len(one) for one in sides])
        valid = np.arange(lengths.max()) < lengths[:, None]  # (B, n)
        fills = {"ids": pad, "special": 1, "words": -1, "codes": -1, "groups": -1}
        arrays = {}
        for entry in fields(Side):
            filled = np.full(valid.shape, fills.get(entry.name, 0), np.int64)
            filled[valid] = np.concatenate([getattr(one, entry.name) for one in sides])
            arrays[entry.name] = torch.from_numpy(filled).to(device)
        for name in ("special", "punctuation"):
            arrays[name] = arrays[name].bool()
        return cls(**arrays, valid=torch.from_numpy(valid).to(device))


def padding_token(model: Model) -> int:
    """The id that pads a batch. Raises SettingError for a tokenizer that has none."""
    for token in (model.tokenizer.pad_token_id, model.tokenizer.eos_token_id):
        if token is not None:
            return int(token)
    raise SettingError("This tokenizer has neither a padding nor an end token, and a batch needs one.")


def check_columns(model: Model, columns: Columns) -> None:
    """Raise SettingError for columns that the model does not read."""
    kind = model.info.kind
    if columns.pair is not None and kind != "encoder":
        raise SettingError("A second sentence belongs to encoder models such as BERT. Leave the column out.")
    if (columns.target is not None or columns.gold is not None) and kind != "encoder-decoder":
        raise SettingError("A target belongs to models with an encoder and a decoder. Leave the column out.")
    if columns.gold is not None and columns.target is None:
        raise SettingError("An alignment joins a text and its target: name the column of the target, too.")
