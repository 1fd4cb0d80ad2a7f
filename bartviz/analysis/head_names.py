"""Names for heads, always with score and threshold; a head that passes no threshold has no name.

A head is named after what it does if that takes at least half of its weight, as in Clark et al. 2019, section 3.1
("more than 50% on the previous token"), and clearly more than even attention would. Voita et al. 2019, section 5, name
positional and rare-word heads by stricter thresholds of the same kind. A name holds for this text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bartviz.analysis.look_ahead import BACK, NEITHER
from bartviz.analysis.measures import Measured
from bartviz.arrays import Array
from bartviz.language import _, mark
from bartviz.language.percentages import percent

THRESHOLD = 0.5
"""The least share of weight for a name."""
EVENLY = 0.9
"""The least share of the possible entropy for the name of an even head."""
MARGIN = 1.5
"""The least score relative to even attention: in a short text an even head has much weight everywhere."""
UNNAMED = mark("unclassified")

# Measures that name a head. Of two that pass, the first wins where it is a part of the second, else the larger.
NAMES: Mapping[str, str] = {
    "alignment": mark("one to one"),
    "previous": mark("previous token"),
    "next": mark("next token"),
    "itself": mark("itself"),
    "same": mark("same word"),
    "diagonal": mark("diagonal"),
    "first": mark("first token"),
    "special": mark("special tokens"),
    "punctuation": mark("punctuation"),
}
_EVENLY = mark("spreads evenly")
# Words that choose each other are paired, rightly or not: without an alignment by hand no head is said to align.
_DIRECTIONS = {BACK: mark("one to one, except the first word")}
# What such a head does, as the rest of a sentence that begins with the head.
_HABITS: Mapping[str, str] = {
    "alignment": mark("links words one to one"),
    "previous": mark("looks at the token before"),
    "next": mark("looks at the token after"),
    "itself": mark("looks at the token itself"),
    "same": mark("looks at the same word"),
    "diagonal": mark("follows the diagonal"),
    "first": mark("looks at the first token"),
    "special": mark("looks at special tokens"),
    "punctuation": mark("looks at punctuation"),
    "evenness": mark("spreads its weight evenly"),
}
_HABITS_OF_DIRECTIONS = {BACK: mark("links words one to one, except the first word")}
# The same in a sentence of its own, for a reader who meets the name for the first time. Rows of special tokens are not
# measured (``measures.counted``), so it is words that do it.
_EXPLAINED: Mapping[str, str] = {
    "alignment": mark(
        "Most of the weight pairs words: a row looks most at a word that no other row looks at more. This does not say "
        "that one word of a pair translates the other."
    ),
    "previous": mark("Words look mostly at the token just before them."),
    "next": mark("Words look mostly at the token just after them."),
    "itself": mark("Words look mostly at themselves."),
    "same": mark("A word that can see the same word somewhere else looks mostly there."),
    "diagonal": mark(
        "Words look mostly at the straight line from one corner of the map to the other, or one token beside it: the "
        "texts are read in step."
    ),
    "first": mark("Words look mostly at the first token, whatever it is."),
    "special": mark("Words look mostly at special tokens such as <s>, which stand for no word."),
    "punctuation": mark("Words look mostly at full stops, commas and the like."),
    "evenness": mark("Words spread their weight over all tokens, almost as evenly as possible."),
}
_EXPLAINED_DIRECTIONS = {BACK: mark("Before the first word it has read none, and looks at special tokens.")}
ALIGNING = {"error_predicts": mark("aligns the next word"), "error_reads": mark("aligns the word just read")}
"""Names of heads of cross-attention whose links agree with alignments by hand, by the measure that says so."""
WRONG = 0.5
"""The highest error rate of a head that is said to align: it and its gold agree more than they differ."""
WITH_PART = {"special": "first"}
"""Measures that contain another one, which names the head if both pass: all special tokens, and the one that comes
first."""


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a head: its measure, score and threshold.

    ``direction``: of a head that pairs words, BACK if its first row, which has read no word yet, rests on special
    tokens, as the row does of a head that looks back at the word just read; AHEAD if its last row does, or its first
    does not; NEITHER if that is unknown, and for all other names. Another head that pairs words may do so, too.
    """

    measure: str
    score: float
    threshold: float
    direction: int = NEITHER

    @property
    def title(self) -> str:
        return _(_DIRECTIONS[self.direction]) if self.direction in _DIRECTIONS else self.short

    @property
    def short(self) -> str:
        """The name without what the first row does, for a narrow place."""
        return _(NAMES.get(self.measure, _EVENLY))

    @property
    def habit(self) -> str:
        """What the head does, and the share of its weight: “looks at the token after (with 90% of its attention)”."""
        return self.does(percent(self.score))

    @property
    def alone(self) -> str:
        """``habit`` without the share."""
        return _(_HABITS_OF_DIRECTIONS.get(self.direction) or _HABITS[self.measure])

    def does(self, share: str) -> str:
        """``habit`` with the share as it is written beside the sentence: 90%, or 0.90."""
        if self.measure == "evenness":
            return self.alone
        return _("{does} (with {share} of its attention)", does=self.alone, share=share)

    @property
    def explained(self) -> str:
        """What a head of this name does, in sentences of its own."""
        more = _(_EXPLAINED_DIRECTIONS[self.direction]) if self.direction in _EXPLAINED_DIRECTIONS else ""
        return f"{_(_EXPLAINED[self.measure])} {more}".rstrip()

    def __str__(self) -> str:
        return _(
            "{name} {score:.2f} (threshold {threshold:g})", name=self.title, score=self.score, threshold=self.threshold
        )


def name(measured: Measured, layer: int, head: int, *, threshold: float = THRESHOLD) -> Name | None:
    """The name of a head by its scores; None if no score passes a threshold."""
    passed = {
        key: float(measured.values[key][layer, head])
        for key in NAMES
        if key in measured.values and measured.values[key][layer, head] >= max(threshold, worth(measured.even[key]))
    }
    passed = {key: score for key, score in passed.items() if WITH_PART.get(key) not in passed}
    if passed:
        best = max(passed, key=passed.__getitem__)
        directions = measured.directions if best == "alignment" else None
        return Name(best, passed[best], threshold, NEITHER if directions is None else int(directions[layer, head]))
    spread = float(measured.values["evenness"][layer, head])
    return Name("evenness", spread, EVENLY) if spread >= EVENLY else None


def worth(even: Array) -> Array:
    """The least share of weight that is clearly more than that of even attention: MARGIN times as much, and never more
    than 1; 0 where that share is undefined."""
    return MARGIN * np.minimum(np.nan_to_num(even), 1 / MARGIN)


def names(measured: Measured, *, threshold: float = THRESHOLD) -> dict[tuple[int, int], Name]:
    """The heads that have a name, by (layer, head)."""
    found = {place: name(measured, *place, threshold=threshold) for place in np.ndindex(measured.shape)}
    return {(int(place[0]), int(place[1])): given for place, given in found.items() if given is not None}


def clearest(measured: Measured, *, threshold: float = THRESHOLD) -> list[tuple[tuple[int, int], Name]]:
    """The heads that have a name, the best head of each name before all others, higher scores first.

    Even heads come last, because their score is of another kind.
    """
    found = names(measured, threshold=threshold)
    ordered = sorted(found.items(), key=lambda one: (one[1].measure == "evenness", -one[1].score))
    first: dict[tuple[str, int], tuple[int, int]] = {}
    for place, given in ordered:
        first.setdefault((given.measure, given.direction), place)
    return sorted(ordered, key=lambda one: first[one[1].measure, one[1].direction] != one[0])


def sentence(given: Name | None) -> str:
    """A text: the name with its score and threshold, or that the head has none."""
    return _(UNNAMED) if given is None else str(given)
