"""Prepare a text for a run: clean it, tokenize it, and cut it to what the model reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bartviz.errors import TextError, TooLong
from bartviz.language import later, mark
from bartviz.language.shares import percent
from bartviz.models.model import Model
from bartviz.text import clean, tokenize
from bartviz.text.clean import Truncate
from bartviz.text.labels import is_blank
from bartviz.text.tokens import Tokens

Encode = Callable[[str], Tokens]
MORE_IN_CAPITALS = 1.5  # times the tokens of the same text in small letters
_NEAR = 16  # characters of a text for each token that is kept of it, to begin with
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
    cleaned = clean.clean(text)
    if pair is not None and _is_empty(pair):
        raise TextError(later("The second sentence is empty, or only white space. Type one, or leave it out."))
    second = None if pair is None else clean.clean(pair)
    notices = cleaned.notices + _lines(cleaned.text) + (() if second is None else second.notices)
    after = None if second is None else second.text

    def encode(part: str) -> Tokens:
        return tokenize.encode(model.tokenizer, part, pair=after, allow_special=allow_special)

    encoded = encode(cleaned.text)
    if not len(encoded):
        raise TextError(
            later("The tokenizer drops every character of the text, and nothing is left to read. Type another text.")
        )
    notices += _capitals(cleaned.text, len(encoded), encode)
    limit = model.info.positions
    if limit is None or len(encoded) <= limit:
        return Prepared(
            cleaned.text, encoded, notices + _unfamiliar(model, encoded, *_texts(cleaned.text, after)), after
        )
    if truncate is None:
        clean.check_length(len(encoded), limit, can_cut=can_cut)
    count, side = len(encoded), truncate or "first"
    near = _near(cleaned.text, limit, side, encode)
    shorter, encoded = _cut(near, encode(near), limit, side, encode)
    which = (
        mark("The last {count:,} of {all:,} tokens are shown.")
        if truncate == "last"
        else mark("The first {count:,} of {all:,} tokens are shown.")
    )
    notice = later(which, count=len(encoded), all=count)
    unfamiliar = _unfamiliar(model, encoded, *_texts(shorter, after))
    return Prepared(shorter, encoded, (*notices, notice, *unfamiliar), after, cut=True)


def prepare_all(
    texts: Sequence[str], one: Callable[[str], Prepared], message: str = mark("Text {number:,} of {count:,}: {reason}")
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


def _texts(text: str, pair: str | None) -> tuple[str, ...]:
    return (text,) if pair is None else (text, pair)


def _near(text: str, limit: int, side: Truncate, encode: Encode) -> str:
    """The beginning or the end of a long text, with far more tokens than ``limit``: the rest decides nothing, and to
    find the place of each of its tokens takes long."""
    size = _NEAR * limit
    while size < len(text):
        part = text[:size] if side == "first" else text[-size:]
        if len(encode(part)) > 2 * limit:
            return part
        size *= 2
    return text


def _cut(text: str, full: Tokens, limit: int, side: Truncate, encode: Encode) -> tuple[str, Tokens]:
    """The first or last part of a text that fits in ``limit`` tokens, cut between two tokens."""
    spans = [span for span, segment in zip(full.spans, full.segments, strict=True) if span is not None and segment == 0]
    room = limit - (len(full) - len(spans))
    while room > 0:
        part = text[: spans[room - 1][1]] if side == "first" else text[spans[-room][0] :]
        encoded = encode(part)
        if len(encoded) <= limit:
            return part, encoded
        room -= len(encoded) - limit
    if (full.segments == 1).any():
        raise TextError(later("The second sentence alone is longer than the model accepts. Shorten it."))
    raise TextError(
        later(
            "The text cannot be cut: a single character, with its marks, has more tokens than the {limit:,} "
            "that the model accepts. Leave it out.",
            limit=limit,
        )
    )


def _lines(text: str) -> tuple[str, ...]:
    """A notice if the text has several lines: a reader may expect a run for each."""
    count = sum(not _is_empty(line) for line in text.split("\n"))
    return (later("The text has {count:,} lines; they are read as one text.", count=count),) if count > 1 else ()


def _capitals(text: str, count: int, encode: Encode) -> tuple[str, ...]:
    """A notice if the text is in capitals and falls into many more tokens for it: a model has seen few words so."""
    if not text.isupper() or len(text.split()) == 1:
        return ()
    small = len(encode(text.capitalize()))
    if count < MORE_IN_CAPITALS * small:
        return ()
    return (
        later(
            "The text is in capitals, which this model reads in {count:,} pieces instead of {small:,}: it "
            "has seen few words written this way. Type it in lower case.",
            count=count,
            small=small,
        ),
    )


def _unfamiliar(model: Model, encoded: Tokens, *texts: str) -> tuple[str, ...]:
    """A notice if the model's vocabulary lacks most letters of the texts: a script that the model does not read."""
    unknown, split = tokenize.unread_shares(encoded, model.tokenizer, *texts)
    if unknown + split < MOST_LETTERS:
        return _dropped(encoded, *texts)
    message = mark(
        "The model hardly knows this script: {share} of the letters are not in its vocabulary, and its "
        "output may be meaningless. Write in a language that it was trained on."
    )
    if unknown >= split:
        message = mark(
            "The model does not know this script: {share} of the letters are not in its vocabulary, and it cannot "
            "tell them apart. Write in a language that it was trained on."
        )
    return (later(message, share=percent(unknown + split)),)


def _dropped(encoded: Tokens, *texts: str) -> tuple[str, ...]:
    """A notice if no token holds some signs of the texts."""
    count = len(tokenize.unheld(encoded, *texts))
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
    cleaned = clean.clean(target)
    encoded = tokenize.encode(model.tokenizer, cleaned.text, target=True)
    if model.info.positions is not None:
        clean.check_length(len(encoded), model.info.positions, can_cut=False)
    return Prepared(cleaned.text, encoded, (*cleaned.notices, *_dropped(encoded, cleaned.text)))
