"""The output layer at one step: the last state times the output matrix is a logit for each token of the vocabulary, and
softmax makes the logits probabilities.

With tied weights the rows of the output matrix are the word embeddings (Press and Wolf 2017): the state is compared
with every word. Letters in shapes: V vocabulary, D width of the model, k tokens that are shown. NumPy alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bartviz.analysis.readonly import Brief
from bartviz.arrays import Floats, Ints
from bartviz.language import _, mark
from bartviz.language.percentages import percent

LIMIT = 4e-4  # how far a logit may be from the record's, relative to the largest one
Doubles = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class OutputLayer(Brief):
    """One step of a model: the state, and the rows of the output matrix for the tokens that are shown.

    ``step`` counts from 0; ``reads`` and ``labels`` (k) are labels of tokens, ``ids`` (k,) their ids, the largest logit
    first; ``chosen`` is the index of the step's own token. ``state`` (D,) is what is multiplied, ``scale`` included.
    ``rows`` (k, D) of the output matrix and ``bias`` (k,) give the logits. ``rest`` is the sum of exp(logit - largest)
    over the ``vocabulary`` - k tokens that are not shown. ``recorded`` (k,) are the logits in the record. ``tied``:
    whether the output matrix is the matrix of word embeddings.
    """

    model: str
    step: int
    reads: str
    ids: Ints
    labels: tuple[str, ...]
    chosen: int
    state: Floats
    rows: Floats
    bias: Floats
    recorded: Floats
    rest: float
    vocabulary: int
    tied: bool
    scale: float = 1.0

    @cached_property
    def dots(self) -> Doubles:
        """(k,) the product of the state with each row."""
        found: Doubles = self.rows.astype(float) @ self.state.astype(float)
        return found

    @property
    def logits(self) -> Doubles:
        """(k,)"""
        found: Doubles = self.dots + self.bias
        return found

    @property
    def exponentials(self) -> Doubles:
        """(k,) exp(logit - largest): dividing by the largest changes no probability and keeps the numbers small."""
        found: Doubles = np.exp(self.logits - self.logits.max())
        return found

    @property
    def total(self) -> float:
        """The sum of exp(logit - largest) over the whole vocabulary."""
        return float(self.exponentials.sum()) + self.rest

    @property
    def probabilities(self) -> Doubles:
        """(k,)"""
        found: Doubles = self.exponentials / self.total
        return found

    @property
    def others(self) -> int:
        """How many tokens are not shown."""
        return self.vocabulary - len(self.ids)

    @property
    def length(self) -> float:
        """The length (norm) of the state."""
        return float(np.linalg.norm(self.state.astype(float)))

    @property
    def lengths(self) -> Doubles:
        """(k,) the length of each row."""
        found: Doubles = np.linalg.norm(self.rows.astype(float), axis=1)
        return found

    @property
    def cosines(self) -> Doubles:
        """(k,) the cosine of the state and each row; 0 where one of them has no length."""
        sizes = self.length * self.lengths
        found: Doubles = np.divide(self.dots, sizes, out=np.zeros_like(self.dots), where=sizes > 0)
        return found

    @property
    def error(self) -> float:
        """The largest difference from the record's logits, relative to the largest logit (at least 1)."""
        apart = np.abs(self.logits - self.recorded)
        return float(np.nan_to_num(apart).max()) / max(1.0, float(np.abs(self.logits).max()))

    @property
    def passed(self) -> bool:
        return self.error <= LIMIT


def sentence(one: OutputLayer) -> str:
    """How the product of one state with V rows becomes this step's token."""
    compared = (
        mark(
            "After reading “{reads}” the decoder's state, {width:,} numbers, is multiplied with the embeddings of all "
            "{vocabulary:,} tokens."
        )
        if one.tied
        else mark(
            "After reading “{reads}” the decoder's state, {width:,} numbers, is multiplied with {vocabulary:,} rows of "
            "the output matrix, one for each token."
        )
    )
    best = int(one.logits.argmax())
    became = (
        mark("“{token}” gets the largest logit, {logit:.2f}; after softmax that is {share}.")
        if one.chosen == best
        else mark("“{token}” was written with a logit of {logit:.2f}, {share}; the largest is {most:.2f}, of “{best}”.")
    )
    first = _(compared, reads=one.reads, width=len(one.state), vocabulary=one.vocabulary)
    second = _(
        became,
        token=one.labels[one.chosen],
        logit=one.logits[one.chosen],
        share=percent(float(one.probabilities[one.chosen])),
        most=one.logits[best],
        best=one.labels[best],
    )
    return f"{first} {second}"


def reason(one: OutputLayer) -> str:
    """The logit of the step's token as length times length times cosine."""
    at = one.chosen
    said = _(
        "Logit of “{token}”: length of the state {state:.2f} × length of the row {row:.2f} × cosine {cosine:.3f} = "
        "{product:.2f}.",
        token=one.labels[at],
        state=one.length,
        row=one.lengths[at],
        cosine=one.cosines[at],
        product=one.dots[at],
    )
    if one.bias.any():
        said += " " + _("The bias adds {bias:+.2f}.", bias=one.bias[at])
    if one.scale != 1:
        said += " " + _("This model first multiplies the state by {scale:.4f}.", scale=one.scale)
    return said


def table(one: OutputLayer) -> pd.DataFrame:
    """One line for each token, the last for all others together: product, bias, logit, its exponential, probability."""
    blank = [float("nan")]
    return pd.DataFrame(
        {
            "token": [*one.labels, _("{count:,} others", count=one.others)],
            "state × row": [*one.dots, *blank],
            "bias": [*one.bias.astype(float), *blank],
            "logit": [*one.logits, *blank],
            "exp(logit − largest)": [*one.exponentials, one.rest],
            "probability": [*one.probabilities, one.rest / one.total],
            "length of the row": [*one.lengths, *blank],
            "cosine with the state": [*one.cosines, *blank],
        }
    )


def arrays(one: OutputLayer) -> dict[str, NDArray[np.generic]]:
    """The state (D,), the rows (k, D), their bias, ids and logits (k,)."""
    return {"state": one.state, "rows": one.rows, "bias": one.bias, "ids": one.ids, "logits": one.logits}
