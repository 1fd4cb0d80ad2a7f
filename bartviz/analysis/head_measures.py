"""The measures of a head, each with formula, function, unit, range, the rows that count, and its source.

Letters: a(i, j) is the weight with which row i looks at column j, n_i the number of columns that row i may see. In
shapes: B texts, H heads, Q query rows, K key columns. Functions are written for NumPy and torch alike: a record and the
batches of a corpus are measured by the same ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from array_api_compat import array_namespace

from bartviz.analysis.measure_inputs import Cells, Received, Weights, mean
from bartviz.analysis.mutual import OnWords, one_to_one
from bartviz.arrays import Array
from bartviz.language import _, mark
from bartviz.patterns.grammar import Pattern, parse
from bartviz.record.attention import KINDS, Kind

if TYPE_CHECKING:
    import pandas as pd

SELF: tuple[Kind, ...] = ("encoder", "decoder")
SHARE = mark("share of attention weight")
ROWS = mark("all that count")


@dataclass(frozen=True, slots=True)
class OfPattern:
    """The weight on what a pattern marks (``bartviz.patterns``). Only rows with a choice count: those of which it marks
    some of what they see, and not all."""

    pattern: Pattern


@dataclass(frozen=True, slots=True)
class OfCells:
    """A sum of weights: the factor of each cell, 0 or more, (B, Q, K) or what is broadcast to it. Only rows that see a
    cell whose factor is not 0 count."""

    function: Callable[[Cells], Array]


@dataclass(frozen=True, slots=True)
class OfRows:
    """A number of each row, (B, H, Q)."""

    function: Callable[[Weights], Array]


@dataclass(frozen=True, slots=True)
class OfColumns:
    """A number of each head, (B, H), from the weight that each column got of all rows."""

    function: Callable[[Received], Array]


@dataclass(frozen=True, slots=True)
class OfWords:
    """A number of each head, (B, H), from the weight of rows on the words of the other text."""

    function: Callable[[OnWords], Array]


Compute: TypeAlias = OfPattern | OfCells | OfRows | OfColumns | OfWords


def share(weights: Weights) -> Array:
    """(B, H, Q) the part of each head in the lengths of what the heads of a layer add to a row."""
    if weights.lengths is None:
        return weights.largest * float("nan")
    return shares(weights.lengths)[:, : weights.weights.shape[1]]


def shares(lengths: Array) -> Array:
    """(..., H, Q) lengths by their sum over the heads; equal where all are 0."""
    xp = array_namespace(lengths)
    total = xp.sum(lengths, axis=-2, keepdims=True)
    return xp.where(total > 0, lengths / xp.where(total > 0, total, 1.0), 1 / lengths.shape[-2])


def coverage(received: Received) -> Array:
    """(B, H) the mean over keys of what each got by its fair part, at most 1 each."""
    xp = array_namespace(received.weights)
    count = xp.sum(received.keys, axis=-1)[:, None]  # (B, 1)
    fair = mean(xp.astype(received.rows, received.weights.dtype)[:, None], count)[..., None]  # (B, 1, 1)
    part = received.weights / fair
    return mean(xp.sum(xp.where(part < 1, part, 1.0) * received.keys[:, None], axis=-1), count)


@dataclass(frozen=True, slots=True)
class Measure:
    """One number of a head: ``name`` in tables and links, ``title`` for a reader, the mean of ``formula`` over rows.

    ``highest`` is its largest possible value, None where that grows with the text; ``lowest`` is 0, or None for a
    change that may go either way, or a measure of somebody's own. ``rows`` says which rows it is averaged over, beyond
    the rule for all of them (``measures.counted``); ``rare`` that it has no highest value, and a few texts make most of
    its mean over a corpus (``intervals``). Its texts are stored in English (``named``, ``computed``, ``meaning``,
    ``article``, ``measured_in``, ``over``) and translated by the properties.
    ``compute`` is the formula as a function; None for what only a corpus measures.
    """

    name: str
    named: str
    computed: str
    meaning: str
    article: str
    measured_in: str = SHARE
    highest: float | None = 1.0
    kinds: tuple[Kind, ...] = KINDS
    over: str = ROWS
    rare: bool = False
    lowest: float | None = 0.0
    compute: Compute | None = None

    @property
    def title(self) -> str:
        return _(self.named)

    @property
    def formula(self) -> str:
        return _(self.computed)

    @property
    def says(self) -> str:
        return _(self.meaning)

    @property
    def briefly(self) -> str:
        """The first sentence of what it says."""
        return re.split(r"(?<=\.) ", self.says, maxsplit=1)[0]

    @property
    def is_share(self) -> bool:
        """Whether its values are shares, from 0 to 1."""
        return self.highest == 1 and self.lowest == 0

    @property
    def source(self) -> str:
        return _(self.article)

    @property
    def unit(self) -> str:
        return _(self.measured_in)

    @property
    def rows(self) -> str:
        return _(self.over)


_CLARK = "Clark et al. 2019"

MEASURES: Mapping[str, Measure] = {
    known.name: known
    for known in (
        Measure(
            "entropy",
            mark("entropy"),
            "-Σ_j a(i, j) log2 a(i, j)",
            mark("How spread the weight is: 0 where all of it is on one key, log2 n where it is even over n."),
            f"Shannon 1948; {_CLARK}, 3.3",
            mark("bits"),
            None,
            compute=OfRows(lambda weights: weights.entropy),
        ),
        Measure(
            "evenness",
            mark("entropy / possible"),
            "-Σ_j a(i, j) log2 a(i, j) / log2 n_i",
            mark("The entropy as a share of the most that the row could have: comparable between texts and rows."),
            mark("Pielou 1966 (evenness)"),
            mark("share of log2 n"),
            compute=OfRows(lambda weights: weights.entropy / weights.possible),
        ),
        Measure(
            "peak",
            mark("largest weight"),
            "max_j a(i, j)",
            mark("How sure the head is: the weight of the key that a row looks at most."),
            mark("Voita et al. 2019, 4 (confidence)"),
            compute=OfRows(lambda weights: weights.largest),
        ),
        Measure(
            "distance",
            mark("mean distance"),
            "Σ_j a(i, j) |i - j|",
            mark("How far the head looks, in tokens."),
            "Vig and Belinkov 2019",
            mark("tokens"),
            None,
            SELF,
            compute=OfCells(lambda cells: abs(cells.offset)),
        ),
        Measure(
            "previous",
            mark("previous token"),
            "a(i, i - 1)",
            mark("Weight on the token before."),
            f"{_CLARK}, 3.1",
            kinds=SELF,
            over=mark("those whose previous token may be seen"),
            compute=OfPattern(parse("previous")),
        ),
        Measure(
            "next",
            mark("next token"),
            "a(i, i + 1)",
            mark("Weight on the token after; a causal mask closes it, then undefined."),
            f"{_CLARK}, 3.1",
            kinds=("encoder",),
            over=mark("those whose next token may be seen"),
            compute=OfPattern(parse("next")),
        ),
        Measure(
            "itself",
            mark("the token itself"),
            "a(i, i)",
            mark("Weight on the diagonal of self-attention."),
            f"{_CLARK}, 3.1",
            kinds=SELF,
            compute=OfPattern(parse("itself")),
        ),
        Measure(
            "diagonal",
            mark("diagonal"),
            mark("Σ_j a(i, j) where |i (K - 1) / (Q - 1) - j| <= 1"),
            mark("Weight within one key of the straight line from the first pair to the last: reading in step."),
            mark("after Kovaleva et al. 2019, 4.1 (diagonal pattern)"),
            kinds=("cross",),
            compute=OfPattern(parse("diagonal")),
        ),
        Measure(
            "same",
            mark("same word"),
            mark("Σ_j a(i, j) where j belongs to another occurrence of the same word"),
            mark(
                "Weight on other occurrences of the row's word; in cross-attention on the same word of the "
                "other text. Pieces are merged into words, capitals ignored; words that the model does not "
                "know are compared as they are written."
            ),
            mark("Wang et al. 2023 (duplicate token heads)"),
            over=mark("those whose word appears a second time among the visible keys"),
            compute=OfPattern(parse("same")),
        ),
        Measure(
            "first",
            mark("first token"),
            "a(i, 0)",
            mark("Weight on the first key, an attention sink of many heads."),
            mark("Xiao et al. 2024, 3.1 (attention sink)"),
            over=mark("all that count but the first token's own"),
            compute=OfPattern(parse("first")),
        ),
        Measure(
            "special",
            mark("special tokens"),
            mark("Σ_j a(i, j) where j is special"),
            mark("Weight on <s>, </s>, [CLS], [SEP] together."),
            f"{_CLARK}, 3.2",
            over=mark("those that may see a special token"),
            compute=OfPattern(parse("special")),
        ),
        Measure(
            "punctuation",
            mark("punctuation"),
            mark("Σ_j a(i, j) where j is only punctuation"),
            mark("Weight on full stops, commas and the like, except a row's own token."),
            f"{_CLARK}, 3.2",
            over=mark("those that may see other punctuation"),
            compute=OfPattern(parse("punctuation")),
        ),
        Measure(
            "coverage",
            mark("coverage"),
            "1/K Σ_j min(1, K/Q Σ_i a(i, j))",
            mark(
                "The share of the keys' fair part of the attention that they really get: 1 where all columns sum to "
                "the same, 1/K where one key gets everything."
            ),
            mark("Tu et al. 2016; Wu et al. 2016, eq. 14 (here without the logarithm)"),
            mark("share of keys"),
            over=mark("all that are not padding, those with one visible key too"),
            compute=OfColumns(coverage),
        ),
        Measure(
            "share",
            mark("share of the output"),
            "‖Σ_j a(i, j) v_j W_O‖ / Σ_heads ‖Σ_j a(i, j) v_j W_O‖",
            mark("How much of its layer's output comes from the head, by the norm of its vectors. Needs the values."),
            mark("after Kobayashi et al. 2020"),
            compute=OfRows(share),
        ),
        Measure(
            "alignment",
            mark("one to one"),
            mark("Σ a(t, s) over words t, s that choose each other / number of words t"),
            mark(
                "The share of a head's weight on pairs of words that choose each other, whether or not one translates "
                "the other: the word of the output looks most at that of the source, and no other word of the output "
                "looks at it more. Pieces are merged into words; special "
                "tokens are left out. It measures that words are paired, not that the pairs are right: a "
                "head that links each word to the one after its translation scores as high. Only an "
                "alignment made by hand can tell. Rows of a head whose first row attends mostly to special "
                "tokens are named by the word that they have read."
            ),
            mark("after Och and Ney 2003 (intersection)"),
            kinds=("cross",),
            over=mark("all words of the output"),
            compute=OfWords(one_to_one),
        ),
    )
}
"""In reading order. Positions are counted in tokens; only "same word" and "alignment" merge words."""


def of_kind(kind: Kind) -> tuple[Measure, ...]:
    """The measures that have a meaning for that kind of attention."""
    return tuple(measure for measure in MEASURES.values() if kind in measure.kinds)


def definitions(kind: Kind | None = None) -> pd.DataFrame:
    """The measures as a table: name, what it says, formula (mean over rows), unit with range, rows, source."""
    return definitions_of(tuple(MEASURES.values()) if kind is None else of_kind(kind))


def definitions_of(known: Iterable[Measure]) -> pd.DataFrame:
    """The same of these measures."""
    import pandas as pd

    columns = ("measure", "says", "formula, mean over rows i", "unit", "rows", "source")
    lines = [(one.title, one.says, one.formula, _range(one), one.rows, one.source) for one in known]
    return pd.DataFrame(lines, columns=list(columns))


def _range(one: Measure) -> str:
    """The unit and the range."""
    if one.lowest is None:
        return one.unit
    return _("{unit}, 0 to 1", unit=one.unit) if one.highest else _("{unit}, from 0", unit=one.unit)
