"""The tokens that can be explained, and what one attribution says of one of them: how dark each word is, the strongest
words, and the heads that looked at these. NumPy alone.

Letters in shapes: W words of the source, P places, H heads, K key tokens.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bartviz.analysis import start
from bartviz.analysis.attribution import Attribution
from bartviz.analysis.attribution_methods import METHODS
from bartviz.analysis.words import Word, pieces_of, words
from bartviz.arrays import Floats
from bartviz.errors import BartvizError
from bartviz.record.attention import Head
from bartviz.record.record import Record
from bartviz.text.labels import CONTINUES, MASKS
from bartviz.text.tokens import Tokens

STRONGEST = 3
"""Words that a sentence names, and that are taken away together."""
HATCHED = -0.05  # share of the largest number, below which a word speaks against the token: it is hatched (words.js)
NAMED = 0.2  # of the strongest word's number: what has less is not named beside it
FAINTEST = 0.1  # share of the largest number, below which a colour is hardly seen: no sentence names the word
SEEN = 0.02  # share of the largest number, below which a word has no bar (words.js), and no number
LATELY = 4  # tokens that recall what was written before


@dataclass(frozen=True, slots=True)
class Place:
    """A token that can be explained: the ``row`` of the last stack that predicts it, its label, the ``word`` that it is
    a piece of (empty: it is no piece), and whether it continues the token before it (``joined``)."""

    row: int
    label: str
    word: str = ""
    joined: bool = False
    special: bool = False


@dataclass(frozen=True, slots=True)
class Chip:
    """A word and the number that a method gives it: ``value``, and ``share`` of the largest one, from -1 to 1."""

    word: Word
    value: float
    share: float


@dataclass(frozen=True, slots=True)
class Refused:
    """A method that gives no numbers here, and why, in the reader's language when it is asked for."""

    error: BartvizError


@dataclass(frozen=True, slots=True)
class Shown:
    """One token, explained: ``source`` (W,) are the words that were read, ``written`` (P,) the numbers of the places,
    each as a share of the largest one; 0 for those that are written later."""

    source: tuple[Chip, ...]
    written: tuple[float, ...]

    @property
    def before(self) -> int | None:
        """The place that speaks for the token more than any word of the source does."""
        return max(range(len(self.written)), key=self.written.__getitem__) if 1.0 in self.written else None

    def strongest(self, count: int = STRONGEST) -> tuple[int, ...]:
        """The words of the source that speak for the token most, the strongest first; special tokens are no words."""
        found = [i for i, chip in enumerate(self.source) if not chip.word.special and chip.value > 0]
        return tuple(sorted(found, key=lambda i: -self.source[i].value)[:count])

    def named(self) -> tuple[int, ...]:
        """The strongest words that a sentence names: those whose colours are seen, and whose numbers come near that of
        the first."""
        found = [i for i in self.strongest() if self.source[i].share >= FAINTEST]
        return tuple(i for i in found if self.source[i].value >= NAMED * self.source[found[0]].value)


def places(record: Record) -> tuple[Place, ...]:
    """The tokens that ``bartviz.attribute`` counts as steps: those that were written; of a model that fills masks the
    masks, and without any every word's tokens."""
    output, source = record.output, record.source
    if output is not None:
        rows = [step.row for step in record.steps] or list(range(len(output)))
        return _of(output, rows)
    masks = [i for i in range(len(source)) if source.special[i] and source.pieces[i] in MASKS]
    rows = masks or [i for i in range(len(source)) if not source.special[i]] or list(range(len(source)))
    return _of(source, rows)


def _of(tokens: Tokens, rows: Sequence[int]) -> tuple[Place, ...]:
    pieces, joined = pieces_of(tokens), tokens.joined
    labels = [label.removeprefix(CONTINUES) or CONTINUES for label in tokens.labels]
    return tuple(Place(row, labels[row], pieces.get(row, ""), joined[row], bool(tokens.special[row])) for row in rows)


def before(found: Sequence[Place]) -> str:
    """The last tokens of places as a text, without special ones: "… ein Auto"; empty where there are none."""
    spoken = [place for place in found if not place.special]
    text = "".join(place.label if place.joined else f" {place.label}" for place in spoken[-LATELY:]).strip()
    return f"… {text}" if len(spoken) > LATELY else text


def chosen(record: Record, found: Sequence[Place], row: int | None) -> int:
    """The place of a row, or the one nearest to it; before any is chosen, that of the row which every page shows
    first."""
    wanted = start.row_of(record, start.kind_of(record)) if row is None else row
    return min(range(len(found)), key=lambda i: abs(found[i].row - wanted))


def source_words(record: Record) -> tuple[Word, ...]:
    """The words that were read and not written: the whole source, or the prompt of a decoder alone."""
    read = words(record.source)
    if not record.reads_own_text:
        return read
    prompt = places(record)[0].row
    return tuple(word for word in read if word.start <= prompt)


def shown(record: Record, attribution: Attribution) -> Shown:
    """An attribution of one step: a word has the sum over its tokens."""
    read = source_words(record)
    values = attribution.values[0]
    sums = [float(values[word.start : word.end].sum()) for word in read]
    inputs = np.zeros(0, np.float32)  # by the position at which the last stack reads it
    if record.reads_own_text:
        inputs = values
    elif attribution.earlier_values is not None:
        inputs = attribution.earlier_values[0]
    row = int(attribution.rows[0])
    written = [
        float(inputs[at]) if (at := place.row + 1) <= row and at < len(inputs) else 0.0 for place in places(record)
    ]
    largest = max((abs(value) for value in [*sums, *written]), default=0.0) or 1.0
    return Shown(
        tuple(Chip(word, value, value / largest) for word, value in zip(read, sums, strict=True)),
        tuple(value / largest for value in written),
    )


def has_fallen(attribution: Attribution) -> bool:
    """Whether an attribution says how much less likely the token is without each word."""
    return attribution.method == METHODS["leave-one-out"] and attribution.contrast is None


def left(record: Record, attribution: Attribution) -> tuple[tuple[float | None, ...], tuple[float | None, ...], float]:
    """How likely the token is when one word of the source is hidden (W,), or one that was written before (P,), by
    leave-one-out (``has_fallen``), and with all of them. None for a word of several tokens, each of which is hidden
    alone."""
    read, found = source_words(record), places(record)
    inputs = attribution.earlier_values
    values = attribution.values[0]
    earlier = values if record.reads_own_text else np.zeros(0, np.float32) if inputs is None else inputs[0]
    row, whole = int(attribution.rows[0]), float(attribution.explained[0])

    def without(nats: float) -> float:
        return math.exp(min(whole - nats, 0.0))

    return (
        tuple(without(float(values[word.start])) if word.end - word.start == 1 else None for word in read),
        tuple(
            without(float(earlier[at])) if (at := place.row + 1) <= row and at < len(earlier) else None
            for place in found
        ),
        math.exp(whole),
    )


@dataclass(frozen=True, slots=True)
class Taken:
    """What becomes of the token without some words (none: with all of them): its probability ``share``, the likeliest
    token in its place with its own, and all that the model then writes (empty: it fills gaps)."""

    words: tuple[str, ...]
    share: float
    likeliest: tuple[str, float]
    output: str


def removable(record: Record, place: Place) -> tuple[int, ...]:
    """The words of the source that can be taken away from under a place: those that its row reads and that are not
    special, and for a model that fills gaps not the word itself."""
    read = source_words(record)
    return tuple(
        i
        for i, word in enumerate(read)
        if not word.special and (record.output is not None or not word.start <= place.row < word.end)
    )


def to_remove(record: Record, place: Place, found: Shown) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The words that the sentence names, or the strongest where it names none, at most half of all; and as many others
    at random, always the same ones: of those that are no punctuation, if there are enough."""
    every = removable(record, place)
    ranked = [i for i in found.strongest(len(found.source)) if i in every]
    strong = ([i for i in ranked if i in found.named()] or ranked[:1])[: len(every) // 2]
    others = [i for i in every if i not in strong]
    spoken = [i for i in others if any(map(str.isalnum, found.source[i].word.text))]
    others = spoken if len(spoken) >= len(strong) else others
    drawn = np.random.default_rng(place.row).permutation(len(others))[: len(strong)]
    return tuple(strong), tuple(sorted(others[i] for i in drawn))


@dataclass(frozen=True, slots=True)
class Carrier:
    """A head and the share of its weight, at the row of the explained token, that is on the strongest words."""

    head: Head
    share: float


def carriers(record: Record, row: int, strong: Sequence[Word]) -> tuple[Carrier, ...]:
    """Every head that can carry the source to the row, those with most weight on the words first: of cross-attention,
    or of the only stack."""
    attention = record.attention(start.kind_of(record))
    layers, heads = attention.shape[:2]
    columns = [token for word in strong for token in range(word.start, word.end)]
    found = [
        Carrier(Head(attention.kind, layer, head), float(weights[head, columns].sum()))
        for layer in range(layers)
        for weights in [attention.row_weights(layer, slice(row, row + 1))[:, 0]]  # (H, K)
        for head in range(heads)
    ]
    return tuple(sorted(found, key=lambda one: -one.share))


def by_layer(found: Sequence[Carrier]) -> Floats:
    """(L,) the mean share of each layer's heads."""
    layers = 1 + max(one.head.layer for one in found)
    shares = [[one.share for one in found if one.head.layer == layer] for layer in range(layers)]
    return np.array([np.mean(layer) for layer in shares], np.float32)
