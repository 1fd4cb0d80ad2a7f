"""Prepare a text for a run: clean it, tokenize it, and cut it to what the model reads."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from bartviz.errors import TextError, TooLong
from bartviz.language import later, mark
from bartviz.language.percentages import percent
from bartviz.models.model import Model
from bartviz.record.turns import Turn
from bartviz.text import tokenize
from bartviz.text.capitals import IN_CAPITALS, fewer
from bartviz.text.clean import Truncate, clean
from bartviz.text.labels import is_blank
from bartviz.text.tokenize import encoder_of
from bartviz.text.tokens import Tokens

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

T = TypeVar("T")
MOST_LETTERS = 0.5
"""From this share of letters outside the vocabulary on, a notice says that the model does not read the script."""


@dataclass(frozen=True)
class Prepared:
    """A text ready to run: cleaned, tokenized, within the model's limit; notices say what was changed."""

    text: str
    tokens: Tokens
    notices: tuple[str, ...] = ()
    pair: str | None = None  # the second sentence, cleaned
    cut: bool = False  # whether only a part of the text is read
    turns: tuple[Turn, ...] = ()  # the messages of a chat among the tokens


def prepare(
    model: Model,
    text: str,
    *,
    pair: str | None = None,
    allow_special: bool = False,
    truncate: Truncate | None = None,
    can_cut: bool = True,
) -> Prepared:
    """Clean and tokenize a source text. Raises TextError if it is empty or too long; ``can_cut``: whether the caller
    can ask for its first or last part, which the message then offers."""
    cleaned = clean(text)
    if pair is not None and _is_empty(pair):
        raise TextError(later("The second sentence is empty, or only white space. Type one, or leave it out."))
    second = None if pair is None else clean(pair)
    after = None if second is None else second.text

    def encode(part: str) -> Tokens:
        return tokenize.encode(model.tokenizer, part, pair=after, allow_special=allow_special)

    read, encoded = cleaned.text, encode(cleaned.text)
    count, limit = len(encoded), model.info.positions
    if not count:
        raise TextError(
            later("The tokenizer drops every character of the text, and nothing is left to read. Type another text.")
        )
    small = fewer(cleaned.text, count, lambda part: len(encode(part)))
    is_cut = limit is not None and count > limit
    if limit is not None and is_cut:
        if truncate is None:
            tokenize.check_length(count, limit, can_cut=can_cut)
        read, encoded = tokenize.cut(read, limit, truncate or "first", encode)
    texts = (read,) if after is None else (read, after)
    lost = unread(encoded, model.tokenizer, *texts)
    notices = (
        *cleaned.notices,
        *_lines(cleaned.text),
        *(() if second is None else second.notices),
        *(() if small is None else (later(IN_CAPITALS, count=count, small=small),)),
        *(_shortened(len(encoded), count, truncate) if is_cut else ()),
        *_unread(lost, texts),
    )
    return Prepared(read, encoded, notices, after, cut=is_cut)


def prepare_all(
    texts: Sequence[T], one: Callable[[T], Prepared], message: str = mark("Text {number:,} of {count:,}: {reason}")
) -> list[Prepared]:
    """Several texts, each prepared by ``one``. Raises TextError with the number of the text that it concerns."""
    prepared: list[Prepared] = []
    for number, text in enumerate(texts, start=1):
        try:
            prepared.append(one(text))
        except TextError as error:
            if len(texts) == 1:
                raise
            said = later(message, number=number, count=len(texts), reason=error.args[0])
            if isinstance(error, TooLong):
                raise TooLong(said, error.count, error.limit, can_cut=error.can_cut) from error
            raise TextError(said) from error
    return prepared


OUTPUT = mark("Output {number:,} of {count:,}: {reason}")
"""The message of ``prepare_all`` about given outputs."""
_WITHOUT_INK = frozenset(("Cc", "Cf", "Cs", "Mn", "Me", "Mc"))


def _lines(text: str) -> tuple[str, ...]:
    """A notice if the text has several lines: a reader may expect a run for each."""
    count = sum(not _is_empty(line) for line in text.split("\n"))
    return (later("The text has {count:,} lines; they are read as one text.", count=count),) if count > 1 else ()


def _shortened(kept: int, count: int, truncate: Truncate | None) -> tuple[str, ...]:
    which = (
        mark("The last {count:,} of {all:,} tokens are shown.")
        if truncate == "last"
        else mark("The first {count:,} of {all:,} tokens are shown.")
    )
    return (later(which, count=kept, all=count),)


class Unread(NamedTuple):
    """The parts of the texts that the model does not read.

    ``unknown``, ``split``: the shares (0..1) of the letters in unknown tokens or in none, and of those of which a token
    holds only some bytes; without letters, every visible character counts. ``dropped``: how many characters are in no
    token.
    """

    unknown: float
    split: float
    dropped: int


def unread(tokens: Tokens, tokenizer: PreTrainedTokenizerBase, *texts: str) -> Unread:
    """The parts of the texts that the model does not read. ``texts``: one for each segment."""
    encoder = encoder_of(tokenizer)
    dropped = unheld(tokens, *texts)
    unknown, split = set(dropped), set[tuple[int, int]]()  # segment and index of each character
    for i, (token_id, special) in enumerate(zip(tokens.ids.tolist(), tokens.special.tolist(), strict=True)):
        lacking = unknown if token_id == encoder.unknown else split if encoder.piece(token_id).text is None else None
        if special or lacking is None or (span := tokens.spans[i]) is None:
            continue
        segment = int(tokens.segments[i])
        lacking.update((segment, index) for index in range(*span))
    if not unknown and not split:
        return Unread(0.0, 0.0, 0)
    counted = {(n, i) for n, text in enumerate(texts) for i, char in enumerate(text) if char.isalpha()}
    counted = counted or _visible(texts)
    return Unread(len(unknown & counted) / len(counted), len(split & counted) / len(counted), len(dropped))


def unheld(tokens: Tokens, *texts: str) -> list[tuple[int, int]]:
    """The visible characters of the texts that are in no token, as segment and index: the tokenizer drops them.

    Marks and control characters do not count where there is anything else: they change how others are drawn.
    """
    chars = _visible(texts)
    counted = {(n, i) for n, i in chars if unicodedata.category(texts[n][i]) not in _WITHOUT_INK} or chars
    for span, segment in zip(tokens.spans, tokens.segments.tolist(), strict=True):
        if span is not None:
            counted.difference_update((segment, index) for index in range(*span))
    return sorted(counted)


def _visible(texts: Sequence[str]) -> set[tuple[int, int]]:
    return {(n, i) for n, text in enumerate(texts) for i, char in enumerate(text) if not char.isspace()}


def _unread(lost: Unread, texts: Sequence[str]) -> tuple[str, ...]:
    """A notice if the model's vocabulary lacks most letters of the texts, a script that the model does not read, or if
    no token contains some characters."""
    if lost.unknown + lost.split < MOST_LETTERS:
        return _dropped(lost.dropped, texts)
    message = mark(
        "The model hardly knows this script: {share} of the letters are not in its vocabulary, and its "
        "output may be meaningless. Write in a language that it was trained on."
    )
    if lost.unknown >= lost.split:
        message = mark(
            "The model does not know this script: {share} of the letters are not in its vocabulary, and it cannot "
            "tell them apart. Write in a language that it was trained on."
        )
    return (later(message, share=percent(lost.unknown + lost.split)),)


def _dropped(count: int, texts: Sequence[str]) -> tuple[str, ...]:
    """A notice if some characters of the texts are in no token."""
    if not count:
        return ()
    message = mark(
        "The tokenizer drops {count:,} of the {all:,} characters: they are in no token, and the model does not see "
        "them."
    )
    return (later(message, count=count, all=sum(map(len, texts))),)


def _is_empty(text: str) -> bool:
    return not text or is_blank(text)


def prepare_target(model: Model, target: str) -> Prepared:
    """Clean and tokenize a given output. Raises TextError."""
    if _is_empty(target):
        raise TextError(later("The given output is empty, or only white space. Type one, or leave it out."))
    cleaned = clean(target)
    encoded = tokenize.encode(model.tokenizer, cleaned.text, target=True)
    if model.info.positions is not None:
        tokenize.check_length(len(encoded), model.info.positions, can_cut=False)
    dropped = len(unheld(encoded, cleaned.text))
    return Prepared(cleaned.text, encoded, (*cleaned.notices, *_dropped(dropped, (cleaned.text,))))
