"""The result of an attribution: a number for each token that was read, step by step. NumPy alone.

Letters in shapes: T steps that are explained, S source tokens, M earlier outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bartviz.analysis.attribution_methods import Method
from bartviz.analysis.readonly import Brief, array_bytes, freeze
from bartviz.analysis.words import Word, words
from bartviz.arrays import Floats, Ints
from bartviz.text.tokens import Tokens

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Axis:
    """The tokens along one axis: their labels, and the words that they make, each a run of them."""

    labels: tuple[str, ...]
    words: tuple[Word, ...]

    @classmethod
    def of(cls, tokens: Tokens) -> Axis:
        """The axis of tokens that follow each other in a text."""
        return cls(tokens.labels, words(tokens))

    @classmethod
    def apart(cls, labels: Sequence[str], special: Sequence[bool] | None = None) -> Axis:
        """The axis of tokens that each are a word."""
        flags = [False] * len(labels) if special is None else special
        made = (
            Word(label, (label,), flag, i, i + 1) for i, (label, flag) in enumerate(zip(labels, flags, strict=True))
        )
        return cls(tuple(labels), tuple(made))

    def __len__(self) -> int:
        return len(self.labels)

    def merged(self) -> Axis:
        """The axis of its words."""
        return Axis.apart([word.text for word in self.words], [word.special for word in self.words])

    def sums(self, values: Floats, axis: int) -> Floats:
        """The sums over the tokens of each word."""
        if not self.words:
            return values
        summed: Floats = np.add.reduceat(values, [word.start for word in self.words], axis=axis)
        return summed


@dataclass(frozen=True, eq=False, repr=False)
class Attribution(Brief):
    """Which of the tokens that a model read speak for each token that it wrote, by one method.

    ``values`` (T, S) float32: row t explains ``steps[t]`` by the tokens of ``source``: those of the encoder, or all
    that a decoder alone reads, of which those after the step's own row count 0. ``earlier_values`` (T, M): the same by
    the decoder's inputs, of an encoder-decoder; None for other models, and for a method that says nothing of them.
    ``method.sums`` says which rows sum to 1; of other methods the numbers are signed, in nats. ``explained`` (T,): f of
    each step, log p of its token, or with ``contrast`` its logit minus that of the other token. ``rows`` (T,): where in
    the model's last stack each step is.

    >>> found = bartviz.attribute(model, "I want to buy a car.", method="leave-one-out")
    >>> table = found.words().to_dataframe()
    >>> table[(table.token == "kaufen") & (table.part == "source")].nlargest(1, "value").input.item()
    'buy'
    """

    model: str
    method: Method
    steps: Axis
    rows: Ints
    explained: Floats
    source: Axis
    values: Floats
    earlier: Axis | None = None
    earlier_values: Floats | None = None
    contrast: str | None = None

    def __post_init__(self) -> None:
        freeze(self)

    def __repr__(self) -> str:
        more = "" if self.earlier is None else f" and {len(self.earlier)} earlier outputs"
        other = "" if self.contrast is None else f", against {self.contrast!r}"
        size = f"{len(self.steps)} steps by {len(self.source)} source tokens{more}"
        return f"<Attribution by {self.method.name}{other}: {size}>"

    @property
    def nbytes(self) -> int:
        return array_bytes(self)

    def words(self) -> Attribution:
        """The same between words: the sum over the tokens of a word that was read. For a word that was written, the
        sum of its steps where numbers are signed, as log p of a word is the sum over its tokens; else their mean, so
        that rows still sum to 1."""
        mean = self.method.sums is not None
        first = np.array([word.start for word in self.steps.words], np.int64)
        counts = np.array([word.end - word.start for word in self.steps.words], np.float32)[:, None]

        def merged(values: Floats, axis: Axis) -> Floats:
            summed = self.steps.sums(axis.sums(values, 1), 0)
            return np.asarray(summed / counts if mean else summed, np.float32)

        earlier, values = self.earlier, self.earlier_values
        return replace(
            self,
            steps=self.steps.merged(),
            rows=self.rows[first],
            explained=self.steps.sums(self.explained, 0),
            source=self.source.merged(),
            values=merged(self.values, self.source),
            earlier=None if earlier is None else earlier.merged(),
            earlier_values=None if earlier is None or values is None else merged(values, earlier),
        )

    def to_dataframe(self) -> pd.DataFrame:
        """One line for each number: step (from 0), token that is explained, part (source or output), position of the
        token that was read (from 0), that token, value. A token that a step does not read yet has the value 0."""
        import pandas as pd

        sides = [("source", self.source, self.values)]
        if self.earlier is not None and self.earlier_values is not None:
            sides.append(("output", self.earlier, self.earlier_values))
        lines = [
            (step, self.steps.labels[step], part, place, label, float(values[step, place]))
            for step in range(len(self.steps))
            for part, axis, values in sides
            for place, label in enumerate(axis.labels)
        ]
        return pd.DataFrame(lines, columns=["step", "token", "part", "position", "input", "value"])
