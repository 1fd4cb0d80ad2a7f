"""One word's states in two texts, layer by layer, beside pairs of other words.

States of one layer may all point in similar directions (Ethayarajh 2019), so a cosine means something only beside the
cosines of pairs of other words. Letters in shapes: L layers, P pairs of other words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bartviz.analysis.masks import quote
from bartviz.analysis.readonly import Brief
from bartviz.arrays import Floats
from bartviz.language import _
from bartviz.record.attention import Kind

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class WordStates(Brief):
    """``same`` (L + 1,): cosine of the word's state in the first text with that in the second, of the embeddings and
    after each layer; the state of a word of several pieces is their mean. ``others`` (L + 1, P): cosines of pairs of
    two different words, one of each text. ``stack``: the stack whose states these are."""

    word: str
    texts: tuple[str, str]
    stack: Kind
    same: Floats
    others: Floats

    def __repr__(self) -> str:
        return f"<WordStates of {self.word!r}: cosine {self.same[0]:.2f} to {self.same[-1]:.2f}>"

    @property
    def usual(self) -> Floats:
        """(L + 1,) the mean cosine of pairs of other words."""
        return np.asarray(self.others.mean(axis=1), np.float32)

    def table(self) -> pd.DataFrame:
        """One line for the embeddings and for each layer."""
        import pandas as pd

        return pd.DataFrame(
            {
                "layer": np.arange(len(self.same)),
                "cosine of the word": self.same,
                "mean of other pairs": self.usual,
                "least of other pairs": self.others.min(axis=1),
                "largest of other pairs": self.others.max(axis=1),
            }
        )


def sentence(found: WordStates) -> str:
    """How far the two states part on their way through the layers, and how alike other words are there."""
    first, last, usual = float(found.same[0]), float(found.same[-1]), float(found.usual[-1])
    values = {"word": quote(found.word), "first": first, "last": last, "usual": usual}
    if last < first - 0.05:
        return _(
            "The two states of {word} drift apart: their cosine (1: the same direction) is {first:.2f} before the "
            "first layer, {last:.2f} after the last. Two different words: {usual:.2f} there.",
            **values,
        )
    return _(
        "The two states of {word} stay as alike as they were: their cosine (1: the same direction) is {first:.2f} "
        "before the first layer, {last:.2f} after the last. Two different words: {usual:.2f} there.",
        **values,
    )
