"""The tokens of a text: what the model sees, and what a reader sees. Frozen, read-only, NumPy only."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from operator import gt
from typing import Any, Literal

import numpy as np

from bartviz.arrays import Bools, Ints, frozen, same
from bartviz.errors import RecordError

Direction = Literal["ltr", "rtl"]
_STRONG: dict[str, Direction] = {"L": "ltr", "R": "rtl", "AL": "rtl"}
SHOWN = 12  # tokens in a ``repr``
_DESCRIBED = ("pieces", "labels", "words", "spans")
_KINDS = {"ids": "iu", "special": "b", "segments": "iu"}


@dataclass(frozen=True)
class Tokens:
    """A text as the model sees it, n tokens, and as a reader sees it.

    ``pieces`` are the vocabulary's own strings, ``labels`` readable ones; ``words`` gives each token the index of
    its word (None for special tokens), which never decreases; ``segments`` are 1 for the second sentence of a pair;
    ``spans`` are (start, end) in the text, None for a token that is not part of it.
    """

    ids: Ints
    pieces: tuple[str, ...]
    labels: tuple[str, ...]
    words: tuple[int | None, ...]
    special: Bools
    segments: Ints
    spans: tuple[tuple[int, int] | None, ...]

    def __post_init__(self) -> None:
        for name, dtype in (("ids", np.int64), ("special", np.bool_), ("segments", np.int64)):
            _check_row(name, getattr(self, name))
            object.__setattr__(self, name, frozen(getattr(self, name), dtype))
        for name in ("pieces", "labels", "words", "spans"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        lengths = {
            name: len(getattr(self, name))
            for name in ("ids", "pieces", "labels", "words", "special", "segments", "spans")
        }
        if len(set(lengths.values())) != 1:
            raise RecordError(f"Tokens need one entry each, but there are {lengths}.")
        _check(self)

    @classmethod
    def lazy(cls, ids: Ints, special: Bools, segments: Ints, describe: Callable[[], Tokens]) -> Tokens:
        """Tokens whose pieces, labels, words and spans are computed by ``describe`` on first access."""
        made = object.__new__(cls)
        for name, array, dtype in (
            ("ids", ids, np.int64),
            ("special", special, np.bool_),
            ("segments", segments, np.int64),
        ):
            object.__setattr__(made, name, frozen(array, dtype))
        object.__setattr__(made, "_describe", describe)
        return made

    def __getattr__(self, name: str) -> Any:
        """Called only for missing attributes: compute the descriptions of lazy tokens."""
        if name not in _DESCRIBED:
            raise AttributeError(name)
        describe: Callable[[], Tokens] | None = self.__dict__.get("_describe")
        if describe is not None:
            whole = describe()
            for field in _DESCRIBED:
                object.__setattr__(self, field, getattr(whole, field))
            object.__setattr__(self, "_describe", None)  # it holds the tokenizer
        return self.__dict__[name]

    def __reduce__(self) -> tuple[Any, ...]:
        """How they are sent to another process: described, as the tokenizer stays behind."""
        return Tokens, (self.ids, self.pieces, self.labels, self.words, self.special, self.segments, self.spans)

    def __repr__(self) -> str:
        more = f" ... {len(self)} in all" if len(self) > SHOWN else ""
        return f"<Tokens: {' '.join(map(repr, self.labels[:SHOWN]))}{more}>"

    def __len__(self) -> int:
        return len(self.ids)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tokens) and same(self, other)

    __hash__ = None  # type: ignore[assignment]  # arrays inside

    @property
    def direction(self) -> Direction:
        """In which direction the text is read, special tokens aside."""
        return direction(
            label for label, special in zip(self.labels, self.special.tolist(), strict=True) if not special
        )

    @property
    def joined(self) -> tuple[bool, ...]:
        """For each token, whether it continues the word of the token before it."""
        words = list(zip(self.words, self.segments.tolist(), strict=True))
        pairs = zip(words, [(None, 0), *words], strict=False)
        return tuple(now[0] is not None and now == before for now, before in pairs)

    def take(self, index: slice) -> Tokens:
        """The tokens of a slice, in order."""

        def described() -> Tokens:
            return Tokens(
                self.ids[index],
                self.pieces[index],
                self.labels[index],
                self.words[index],
                self.special[index],
                self.segments[index],
                self.spans[index],
            )

        return Tokens.lazy(self.ids[index], self.special[index], self.segments[index], described)


def direction(texts: Iterable[str]) -> Direction:
    """The direction of the first strong letter of a text in parts, as browsers find it (the Unicode Bidirectional
    Algorithm, P2 and P3); left to right for one without letters. Special tokens are not part of a text: leave them out.
    """
    letters = (_STRONG.get(unicodedata.bidirectional(char)) for text in texts for char in text)
    return next(filter(None, letters), "ltr")


def writable(*texts: str) -> bool:
    """Whether a file can store these texts: none contains a lone surrogate."""
    try:
        "".join(texts).encode()
    except (TypeError, UnicodeEncodeError):
        return False
    return True


def _check_row(name: str, given: object) -> None:
    """Raise RecordError unless an array of ``Tokens`` is one row of numbers, or of True and False."""
    array = np.asarray(given)
    if array.ndim != 1 or (array.size and array.dtype.kind not in _KINDS[name]):
        raise RecordError(f"The tokens' {name} must be one row of {'flags' if name == 'special' else 'whole numbers'}.")


def _check(tokens: Tokens) -> None:
    """Raise RecordError for negative ids, segments other than 0 and 1, decreasing word numbers, spans that end before
    they begin, and labels that are not valid text."""
    if len(tokens) and (tokens.ids.min() < 0 or tokens.segments.min() < 0 or tokens.segments.max() > 1):
        raise RecordError("The tokens' ids count from 0, and their segments are 0 or 1.")
    if not writable(*tokens.pieces, *tokens.labels):
        raise RecordError("The tokens' pieces and labels must be texts without halves of characters.")
    words = [word for word in tokens.words if word is not None]
    if not set(map(type, words)) <= {int} or min(words, default=0) < 0 or any(map(gt, words, words[1:])):
        raise RecordError("The tokens' words are numbered from 0, and no number is smaller than the one before.")
    spans = [span for span in tokens.spans if span is not None]
    if not set(map(type, spans)) <= {tuple} or not set(map(len, spans)) <= {2}:
        raise RecordError("The tokens' spans are pairs of a start and an end.")
    if not set(map(type, chain.from_iterable(spans))) <= {int} or not all(0 <= start <= end for start, end in spans):
        raise RecordError("The tokens' spans begin at 0 or later, and do not end before they begin.")
