"""The prediction of a fine-tuned head: its labels with their probabilities. Frozen, read-only, NumPy only.

Letters in shapes: C labels, n tokens, R rows: 1 for a text, n for its tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from bartviz.arrays import Floats, Rebuilt, frozen, same
from bartviz.errors import RecordError
from bartviz.families.family import Task
from bartviz.text.tokens import writable

Scale = Literal["softmax", "sigmoid", "none"]
ENDS = ("start", "end")  # the columns of an answer
FOLLOWS = ("B follows A", "B does not follow A")  # the columns of a judgement on two texts, in transformers' order


@dataclass(frozen=True)
class Prediction(Rebuilt):
    """The output of a head that was fine-tuned: for the text, for each token, or for the ends of an answer in it.

    ``logits`` (R, C) float32; ``labels`` name the columns: the checkpoint's own, or start and end of an answer.
    ``scale``: what makes them probabilities: a softmax, a sigmoid for labels that do not exclude each other, or none
    for a head whose output is a number (regression).
    ``row``: the decoder row whose state was read (BART); None where an encoder's were.
    """

    task: Task
    labels: tuple[str, ...]
    logits: Floats
    scale: Scale = "softmax"
    row: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(self.labels))
        shape = self.logits.shape
        if len(shape) != 2 or shape[1] != len(self.labels) or not shape[0] or not shape[1]:
            raise RecordError(f"{shape} logits for {len(self.labels)} labels: a prediction has a row of them for each.")
        if self.task == "text" and shape[0] != 1:
            raise RecordError(f"The prediction of a text is one row of logits, not {shape[0]}.")
        if self.task == "answer" and self.labels != ENDS:
            raise RecordError("The labels of an answer are its start and its end.")
        if not np.isfinite(self.logits).all():
            raise RecordError("The prediction holds numbers that are not finite (NaN or infinity).")
        if not writable(*self.labels):
            raise RecordError("The labels must not contain lone surrogates (halves of characters).")
        object.__setattr__(self, "logits", frozen(self.logits, np.float32))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Prediction) and same(self, other)

    __hash__ = None  # type: ignore[assignment]  # arrays inside

    @property
    def probabilities(self) -> Floats:
        """(R, C) in 0..1. Each row sums to 1 after a softmax; for an answer each column does, over the tokens.

        The logits themselves where there are no probabilities (``scale`` "none").
        """
        if self.scale == "none":
            return self.logits
        if self.scale == "sigmoid":
            return np.asarray(0.5 + 0.5 * np.tanh(self.logits / 2), np.float32)  # a sigmoid without overflow
        axis = 0 if self.task == "answer" else 1
        powers = np.exp(self.logits - self.logits.max(axis=axis, keepdims=True))
        shares: Floats = powers / powers.sum(axis=axis, keepdims=True)
        return shares
