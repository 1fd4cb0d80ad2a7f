"""What a text may be given as beside a string: words, ids of tokens, or the messages of a chat -> a text ready to run.

Letters in shapes: n tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np

from bartviz.errors import SettingError, TextError
from bartviz.language import later, mark
from bartviz.models.model import Model
from bartviz.run import chat
from bartviz.run.chat import Message
from bartviz.run.prepare import Prepared, prepare
from bartviz.text import tokenize
from bartviz.text.clean import Truncate, clean
from bartviz.text.labels import is_blank
from bartviz.text.tokenize import encoder_of
from bartviz.text.tokens import Tokens

Ids: TypeAlias = Iterable[int]
_UNSHOWN = mark(
    "The chat template changes the messages, so that it cannot be seen which tokens belong to which: the record has no "
    "roles."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """One text in one of four forms."""

    text: str | None = None
    tokens: Ids | None = None
    words: Sequence[str] | None = None
    messages: Sequence[Message] | None = None

    def __post_init__(self) -> None:
        given = [name for name in _FORMS if getattr(self, name) is not None]
        if len(given) != 1:
            raise TextError(
                later("Give one of text, tokens, words and messages: here are {count}.", count=len(given))
                if given
                else later("There is no text to run. Give a text, or tokens=, words= or messages=.")
            )


_FORMS = ("text", "tokens", "words", "messages")


def of_many(
    texts: Iterable[str] | None,
    tokens: Iterable[Ids] | None,
    words: Iterable[Sequence[str]] | None,
    messages: Iterable[Sequence[Message]] | None,
) -> list[Given]:
    """Several texts, all in the same form. Raises TextError for none or several forms."""
    every = zip(_FORMS, (texts, tokens, words, messages), strict=True)
    forms: dict[str, Iterable[Any]] = {name: form for name, form in every if form is not None}
    if len(forms) != 1:
        raise TextError(later("Give the texts in one form: a list of texts, or tokens=, words= or messages=."))
    ((name, form),) = forms.items()
    makers: dict[str, Callable[[Any], Given]] = {
        "text": lambda one: Given(text=one),
        "tokens": lambda one: Given(tokens=one),
        "words": lambda one: Given(words=one),
        "messages": lambda one: Given(messages=one),
    }
    return [makers[name](one) for one in form]


def prepared_from(
    model: Model,
    given: Given,
    *,
    pair: str | None = None,
    allow_special: bool = False,
    truncate: Truncate | None = None,
    begun: bool = False,
) -> Prepared:
    """The text, ready to run; ``begun``: of messages, the beginning of the answer is part of it.

    Raises TextError, SettingError.
    """
    if given.tokens is not None:
        _refuse("tokens", pair=pair, allow_special=allow_special or None, truncate=truncate)
        return _of_ids(model, _checked(model, given.tokens))
    if given.words is not None:
        return _of_words(model, given.words, pair=pair, truncate=truncate)
    if given.messages is not None:
        _refuse("messages", pair=pair, allow_special=allow_special or None, truncate=truncate)
        return _of_messages(model, given.messages, begun=begun)
    assert given.text is not None
    return prepare(model, given.text, pair=pair, allow_special=allow_special, truncate=truncate)


def target_of(model: Model, ids: Ids) -> Prepared:
    """A given output as ids. Raises TextError."""
    checked = _checked(model, ids)
    text, tokens = tokenize.from_ids(model.tokenizer, checked)
    if model.info.positions is not None:
        tokenize.check_length(len(tokens), model.info.positions, can_cut=False)
    return Prepared(text, tokens)


def _refuse(form: str, **options: object) -> None:
    """Raise SettingError for options that have no meaning for this form of a text."""
    there = [name for name, value in options.items() if value is not None]
    if there:
        raise SettingError(later("{name} is for texts: leave it out where {form} are given.", name=there[0], form=form))


def _checked(model: Model, ids: Ids) -> list[int]:
    """The ids as a list. Raises TextError for none, or for what is no id of this model, with its place."""
    found = [_plain(one) for one in (ids.tolist() if hasattr(ids, "tolist") else ids)]
    if not found:
        raise TextError(later("There are no tokens to run. Give at least one id."))
    for place, one in enumerate(found):
        if not isinstance(one, Integral) or isinstance(one, bool):
            raise TextError(
                later(
                    "Token {place:,} is {value!r}: ids are whole numbers from 0 to {most:,}. Words go to words=.",
                    place=place,
                    value=one,
                    most=model.info.vocabulary - 1,
                )
            )
        if not 0 <= int(one) < model.info.vocabulary:
            raise TextError(
                later(
                    "Token {place:,} has the id {value:,}: this model has ids from 0 to {most:,}.",
                    place=place,
                    value=int(one),
                    most=model.info.vocabulary - 1,
                )
            )
    return [int(one) for one in found]


def _plain(value: Any) -> Any:
    """A number of NumPy or torch as Python's own."""
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value


def _of_ids(model: Model, ids: list[int]) -> Prepared:
    """Ids, special tokens included, as ``record.source.ids`` has them."""
    if model.info.positions is not None:
        tokenize.check_length(len(ids), model.info.positions, can_cut=False)
    first, second = _parts(model, ids)
    text, tokens = tokenize.from_ids(model.tokenizer, first)
    pair = None
    if second:
        pair, after = tokenize.from_ids(model.tokenizer, second)
        tokens = tokenize.join(tokens, replace(after, segments=np.ones(len(after), np.int64)))
    return _as_typed(model, text, pair, ids) or Prepared(text, tokens, pair=pair)


def _as_typed(model: Model, text: str, pair: str | None, ids: list[int]) -> Prepared | None:
    """The decoded text prepared as if it had been typed, where that gives the same ids: its words, spans and labels are
    then those of the text."""
    for allow_special in (False, True):
        try:
            typed = prepare(model, text, pair=pair, allow_special=allow_special)
        except TextError:
            continue
        if typed.tokens.ids.tolist() == ids:
            return replace(typed, notices=())
    return None


def _parts(model: Model, ids: list[int]) -> tuple[list[int], list[int]]:
    """The ids of the first text and of the second: an encoder's pair ends twice with the separator."""
    end = getattr(model.tokenizer, "sep_token_id", None)
    if model.info.kind != "encoder" or end is None or getattr(model.config, "type_vocab_size", 0) < 2:
        return ids, []
    ends = [place for place, one in enumerate(ids) if one == end]
    if len(ends) != 2 or ends[1] != len(ids) - 1 or ends[1] == ends[0] + 1:
        return ids, []
    return ids[: ends[0] + 1], ids[ends[0] + 1 :]


def _of_words(model: Model, words: Sequence[str], *, pair: str | None, truncate: Truncate | None) -> Prepared:
    """Words of the caller's (what transformers calls ``is_split_into_words``): the text is the words with single spaces
    between them, and each token belongs to the word that it is cut from."""
    if isinstance(words, str):
        raise TextError(later("words is a list of words: give a single string as the text."))
    cleaned: list[str] = []
    for place, word in enumerate(words):
        if not isinstance(word, str) or is_blank(word) or not word:
            raise TextError(later("Word {place:,} is empty, or no text.", place=place))
        cleaned.append(clean(word).text)
        if any(character.isspace() for character in cleaned[-1]):
            raise TextError(later("Word {place:,} has a space in it: give its parts as words.", place=place))
    whole = " ".join(cleaned)
    ready = prepare(model, whole, pair=pair, truncate=truncate) if cleaned else None
    if ready is None:
        raise TextError(later("There are no words to run. Give at least one."))
    lost = len(whole) - len(ready.text) if truncate == "last" else 0
    owner = [number for number, word in enumerate(cleaned) for _ in range(len(word) + 1)]  # of each character, and of
    # the space behind a word, which is the next word's
    for place, number in enumerate(owner[:-1]):
        if whole[place : place + 1] == " ":
            owner[place] = number + 1
    return replace(ready, tokens=_owned(ready.tokens, owner[lost:]))


def _owned(tokens: Tokens, owner: Sequence[int]) -> Tokens:
    """The tokens with the numbers of the words that the characters of the first text belong to."""
    numbers: list[int | None] = []
    after = 1 + max(owner)
    for word, span, segment in zip(tokens.words, tokens.spans, tokens.segments.tolist(), strict=True):
        if segment == 1:
            numbers.append(None if word is None else word + after)
        else:
            numbers.append(None if span is None or word is None else owner[min(span[1], len(owner)) - 1])
    return Tokens(
        tokens.ids, tokens.pieces, tokens.labels, tuple(numbers), tokens.special, tokens.segments, tokens.spans
    )


def _of_messages(model: Model, messages: Sequence[Message], *, begun: bool) -> Prepared:
    """The messages of a chat in the tokenizer's own template; ``begun``: with the beginning of the answer."""
    template = getattr(model.tokenizer, "chat_template", None)
    if model.info.kind != "decoder" or not template:
        raise SettingError(
            later(
                "This model has no chat template: give its prompt as a text, or set tokenizer.chat_template to the one "
                "that it was trained with."
            )
        )
    for place, one in enumerate(messages):
        if not isinstance(one, Mapping) or not all(isinstance(one.get(name), str) for name in ("role", "content")):
            raise SettingError(
                later('Message {place:,} is not {{"role": "user", "content": "..."}}: both are texts.', place=place)
            )
    return _templated(model, messages, begun=begun)


def _templated(model: Model, messages: Sequence[Message], *, begun: bool) -> Prepared:
    try:
        text = _chat(model, messages, begun)
    except Exception as error:  # a template may raise whatever its author wrote, such as for an order of roles
        raise SettingError(
            later("The model's chat template refuses these messages: {reason}", reason=str(error)[:300])
        ) from error
    raw = encoder_of(model.tokenizer).encode(text, None, target=False, allow_special=True)
    read = [one for one in raw if one.span is not None or not one.special]  # the template has its own special tokens
    ids, ends = [one.id for one in read], [None if one.span is None else one.span[1] for one in read]
    if not ids:
        raise TextError(later("The messages give no text to run."))
    if model.info.positions is not None:
        tokenize.check_length(len(ids), model.info.positions, can_cut=False)
    decoded, tokens = tokenize.from_ids(model.tokenizer, ids)
    begin = getattr(model.tokenizer, "bos_token", None) or ""
    found = chat.parts(partial(_chat, model), messages, text, begun=begun, begin=begin)
    if found is None:
        return Prepared(decoded, tokens, notices=(later(_UNSHOWN),))
    return Prepared(decoded, tokens, turns=chat.turns(found, ends))


def _chat(model: Model, messages: Sequence[Message], begun: bool) -> str:
    """The text that the tokenizer's template makes of the messages. Raises what the template raises."""
    render: Callable[..., Any] = model.tokenizer.apply_chat_template
    return str(render([dict(one) for one in messages], tokenize=False, add_generation_prompt=begun))
