"""The five noise functions of BART (Lewis et al. 2020, section 2.2), on text.

The unit is the word and the result is text, which is tokenized afterwards: in training the model reads what a user
would type. (Noise on tokens would leak where a document began: only its first word has no mark for a leading space.)

Every function takes the clean text and a `numpy.random.Generator`, and returns a `Noised`: the corrupted text, where
each corrupted word came from, and which clean words are missing. The same seed gives the same corruption.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.random import Generator

from bartviz.language import _, mark

MASK = "<mask>"
HIDES = ("token masking", "token deletion", "text infilling")  # the noises that lose words
POISSON_MEAN = 3.0  # mean length of a span in text infilling (section 2.2)

_WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
# a sentence ends after . ! ? or … (and the quotes and brackets that close it), where space and more text follow
_SENTENCE_END = re.compile(r"[.!?…]['\"’”»)\]]*(?=\s)")


@dataclass(frozen=True)
class Word:
    """One word or punctuation mark of a text, with the white space before it."""

    text: str
    space: str  # white space before the word
    start: int  # offset of the word in its text
    end: int


@dataclass(frozen=True)
class NoisedWord:
    """One word of a corrupted text.

    `origin` holds the indexes of the clean words that it stands for: one for a word that was kept, one or more for a
    mask, and none for the mask of a zero-length span, which was inserted where nothing was missing.
    """

    text: str
    origin: tuple[int, ...]
    is_mask: bool = False


@dataclass(frozen=True)
class Noised:
    """A clean text and its corruption, aligned word by word.

    Invariant: every clean word is either the origin of exactly one kept word, or in `lost`, never both.
    """

    noise: str
    source: str
    text: str
    clean: tuple[Word, ...]
    words: tuple[NoisedWord, ...]
    lost: tuple[int, ...]  # clean words that the corrupted text no longer shows: masked or deleted, in order

    @property
    def moved(self) -> tuple[int, ...]:
        """Clean words that remain, but at another position in the order."""
        kept = [word.origin[0] for word in self.words if not word.is_mask]
        return tuple(sorted(now for now, then in zip(kept, sorted(kept), strict=True) if now != then))


@dataclass(frozen=True)
class Noise:
    """One noise function; `rate` is None if it has none. `name` is its key, `description` is in English."""

    name: str
    function: Callable[[str, Generator, float], Noised]
    rate: float | None
    description: str

    @property
    def title(self) -> str:
        """The name as a reader sees it."""
        return _(self.name)

    @property
    def summary(self) -> str:
        """Its effect on a text, in one sentence."""
        return _(self.description)

    def __call__(self, text: str, rng: Generator, rate: float | None = None) -> Noised:
        """Corrupt `text`; `rate` (share of the words, 0 to 1) defaults to the function's own.

        Raises ValueError if `rate` is not between 0 and 1.
        """
        rate = (self.rate or 0.0) if rate is None else rate
        if not 0.0 <= rate <= 1.0:
            raise ValueError(f"rate {rate} is not a share of the words: choose 0 to 1")
        return self.function(text, rng, rate)


def words(text: str) -> tuple[Word, ...]:
    """Words and punctuation marks of `text`, in order; spaces and texts joined give `text` (less its last space)."""
    found, end = [], 0
    for match in _WORD.finditer(text):
        found.append(Word(match.group(), text[end : match.start()], match.start(), match.end()))
        end = match.end()
    return tuple(found)


def sentences(text: str) -> tuple[tuple[int, int], ...]:
    """Sentences of `text` as (first word, after the last word); they cover all words, in order."""
    found = words(text)
    ends = {match.end() for match in _SENTENCE_END.finditer(text)}
    cuts = [i + 1 for i, word in enumerate(found) if word.end in ends and i + 1 < len(found)]
    return tuple(zip([0, *cuts], [*cuts, len(found)], strict=True)) if found else ()


def token_masking(text: str, rng: Generator, rate: float = 0.15) -> Noised:
    """Replace a share `rate` of the words, chosen at random, each by one mask."""
    clean = words(text)
    chosen = _choose(len(clean), rate, rng)
    kept = [NoisedWord(MASK if i in chosen else word.text, (i,), i in chosen) for i, word in enumerate(clean)]
    return _noised("token masking", text, clean, kept)


def token_deletion(text: str, rng: Generator, rate: float = 0.15) -> Noised:
    """Delete a share `rate` of the words, chosen at random: the model must find out where words are missing."""
    clean = words(text)
    chosen = _choose(len(clean) - 1, rate, rng, among=len(clean))  # at least one word is left
    return _noised("token deletion", text, clean, _keep(clean, (i for i in range(len(clean)) if i not in chosen)))


def text_infilling(text: str, rng: Generator, rate: float = 0.30) -> Noised:
    """Replace spans of words, each by a single mask, until a share `rate` of the words is gone.

    Span lengths are drawn from Poisson(3), the last is cut to the budget; a span of length 0 inserts a mask. The model
    must find out how many words are missing.
    """
    clean = words(text)
    lengths = _span_lengths(_budget(len(clean), rate, rng), rng)
    kept = len(clean) - sum(lengths)
    lengths = lengths[: kept + 1]  # one gap between kept words holds at most one span
    kept = len(clean) - sum(lengths)
    gaps = rng.choice(kept + 1, size=len(lengths), replace=False) if lengths else ()
    spans = dict(zip((int(gap) for gap in gaps), lengths, strict=True))
    result: list[NoisedWord] = []
    position = 0
    for gap in range(kept + 1):
        if gap in spans:
            result.append(NoisedWord(MASK, tuple(range(position, position + spans[gap])), is_mask=True))
            position += spans[gap]
        if gap < kept:
            result.append(NoisedWord(clean[position].text, (position,)))
            position += 1
    return _noised("text infilling", text, clean, result)


def hide(text: str, noise: str, hidden: Collection[int]) -> Noised:
    """Lose these words, as a noise of ``HIDES`` loses words: each for its own mask (token masking), neighbours for one
    mask (text infilling), or without a mark (token deletion)."""
    clean = words(text)
    result: list[NoisedWord] = []
    for i, word in enumerate(clean):
        if i not in hidden:
            result.append(NoisedWord(word.text, (i,)))
        elif noise == "text infilling" and result and result[-1].is_mask:
            result[-1] = NoisedWord(MASK, (*result[-1].origin, i), is_mask=True)
        elif noise != "token deletion":
            result.append(NoisedWord(MASK, (i,), is_mask=True))
    return _noised(noise, text, clean, result)


def sentence_permutation(text: str, rng: Generator, rate: float = 0.0) -> Noised:
    """Put the sentences of the text in random order (never their own, if it has two or more). `rate` is not used."""
    clean, spans = words(text), sentences(text)
    order = rng.permutation(len(spans))
    while len(spans) > 1 and (order == np.arange(len(spans))).all():
        order = rng.permutation(len(spans))
    return _noised("sentence permutation", text, clean, _keep(clean, (i for s in order for i in range(*spans[s]))))


def document_rotation(text: str, rng: Generator, rate: float = 0.0) -> Noised:
    """Rotate the text to begin with a word chosen at random, not the first. `rate` is not used."""
    clean = words(text)
    first = int(rng.integers(1, len(clean))) if len(clean) > 1 else 0
    return _noised("document rotation", text, clean, _keep(clean, (*range(first, len(clean)), *range(first))))


NOISE: Mapping[str, Noise] = MappingProxyType(
    {
        noise.name: noise
        for noise in (
            Noise(mark("token masking"), token_masking, 0.15, mark("Some words are replaced, each by one mask.")),
            Noise(
                mark("token deletion"),
                token_deletion,
                0.15,
                mark("Some words are missing, and nothing marks their positions."),
            ),
            Noise(
                mark("text infilling"),
                text_infilling,
                0.30,
                mark("Spans of words are replaced, each span by a single mask."),
            ),
            Noise(mark("sentence permutation"), sentence_permutation, None, mark("The sentences are in random order.")),
            Noise(mark("document rotation"), document_rotation, None, mark("The text begins somewhere in its middle.")),
        )
    }
)


def _budget(count: int, rate: float, rng: Generator) -> int:
    """How many of `count` words to take: `rate * count` rounded up or down at random, at least 1 unless `rate` is 0"""
    if count == 0 or rate == 0.0:
        return 0
    exact = rate * count
    rounded = math.floor(exact) + int(rng.random() < exact - math.floor(exact))
    return min(count, max(1, rounded))


def _choose(most: int, rate: float, rng: Generator, among: int | None = None) -> set[int]:
    count = most if among is None else among
    taken = min(most, _budget(count, rate, rng))
    return {int(i) for i in rng.choice(count, size=taken, replace=False)} if taken > 0 else set()


def _span_lengths(budget: int, rng: Generator) -> list[int]:
    lengths: list[int] = []
    while budget > 0:
        length = min(budget, int(rng.poisson(POISSON_MEAN)))
        lengths.append(length)
        budget -= length
    return lengths


def _keep(clean: Sequence[Word], order: Iterable[int]) -> list[NoisedWord]:
    return [NoisedWord(clean[i].text, (i,)) for i in order]


def _noised(noise: str, source: str, clean: tuple[Word, ...], result: Sequence[NoisedWord]) -> Noised:
    shown = {i for word in result if not word.is_mask for i in word.origin}
    lost = tuple(i for i in range(len(clean)) if i not in shown)
    return Noised(noise, source, _join(result, clean), clean, tuple(result), lost)


def _join(result: Sequence[NoisedWord], clean: Sequence[Word]) -> str:
    """Text of the corrupted words: each keeps the white space of its (first) clean word; none at the very start."""
    parts = []
    for word in result:
        parts += [_space_before(word, clean), word.text]
    return "".join(parts[1:])


def _space_before(word: NoisedWord, clean: Sequence[Word]) -> str:
    if not word.origin or word.origin[0] == 0:  # an inserted mask, or the first word, now elsewhere
        return " "
    return clean[word.origin[0]].space
