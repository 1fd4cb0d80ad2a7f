"""The result of an attribution: a number for each token that was read, step by step. NumPy alone.

Letters in shapes: T steps that are explained, S source tokens, M earlier outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bartviz import hooks
from bartviz.analysis.attribution_methods import Method
from bartviz.analysis.readonly import Brief
from bartviz.analysis.words import Word, words
from bartviz.arrays import Bools, Floats, Ints
from bartviz.errors import RecordError, SettingError
from bartviz.language import later
from bartviz.record import store
from bartviz.record.attention import Kind
from bartviz.text.tokens import Tokens

if TYPE_CHECKING:
    import pandas as pd

ENDING = ".json"


@dataclass(frozen=True)
class Axis:
    """The tokens along one axis: their labels, and the words that they make, each a run of them."""

    labels: tuple[str, ...]
    words: tuple[Word, ...]

    @classmethod
    def of(cls, tokens: Tokens, *texts: str) -> Axis:
        """The axis of tokens that follow each other. ``texts`` are what their spans index into, one for each segment:
        with them words are as they were written."""
        return cls(tokens.labels, words(tokens, *texts))

    @classmethod
    def apart(cls, labels: Sequence[str], special: Sequence[bool] | None = None) -> Axis:
        """The axis of tokens that each are a word."""
        flags = [False] * len(labels) if special is None else special
        made = (
            Word(label, (label,), flag, i, i + 1) for i, (label, flag) in enumerate(zip(labels, flags, strict=True))
        )
        return cls(tuple(labels), tuple(made))

    def __post_init__(self) -> None:
        starts = [0, *(word.end for word in self.words)]
        if [word.start for word in self.words] != starts[:-1] or starts[-1] != len(self.labels):
            raise RecordError("The words of an axis must cover its tokens, each once.")

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def special(self) -> Bools:
        """(n,) which tokens are special."""
        flags = [word.special for word in self.words for _place in range(word.start, word.end)]
        return np.array(flags, np.bool_)

    def word_at(self, tokens: Ints) -> Ints:
        """The word of each of some tokens, counted from 0."""
        starts = np.array([word.start for word in self.words], np.int64)
        return np.asarray(np.searchsorted(starts, tokens, side="right") - 1, np.int64)

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
    each step, log p of its token, or against another token its logit minus that of the other one. That one is
    ``contrast``; None where steps have different ones, as by the method "contrast". ``rows`` (T,): where in the model's
    last stack each step is, so that of a decoder it reads what it wrote up to there. ``kind``: the attention whose keys
    are the source tokens.

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
    kind: Kind = "cross"

    def __post_init__(self) -> None:
        steps = len(self.steps)
        sides = {"values": (self.values, self.source), "earlier_values": (self.earlier_values, self.earlier)}
        for name, (values, axis) in sides.items():
            if (values is None) != (axis is None):
                raise RecordError("Earlier outputs need their tokens and their numbers.")
            if values is None or axis is None:
                continue
            if values.shape != (steps, len(axis)):
                raise RecordError(
                    f"{name} has shape {values.shape}, but there are {steps} steps and {len(axis)} tokens."
                )
            if not np.isfinite(values).all():
                raise RecordError(f"{name} has numbers that are not finite (NaN or infinity).")
        if self.rows.shape != (steps,) or self.explained.shape != (steps,):
            raise RecordError(f"There are {steps} steps: each has one row, and one number that is explained.")
        super().__post_init__()

    def __repr__(self) -> str:
        more = "" if self.earlier is None else f" and {len(self.earlier)} earlier outputs"
        other = "" if self.contrast is None else f", against {self.contrast!r}"
        size = f"{len(self.steps)} steps by {len(self.source)} source tokens{more}"
        return f"<Attribution by {self.method.name}{other}: {size}>"

    @property
    def unread(self) -> tuple[Bools, Bools | None]:
        """(T, S) and (T, M) or None: the tokens that a step does not read, as a decoder has not written them yet."""

        def after(axis: Axis) -> Bools:
            return np.asarray(np.arange(len(axis)) > self.rows[:, None], np.bool_)

        source = after(self.source) if self.kind == "decoder" else np.zeros(self.values.shape, np.bool_)
        return source, None if self.earlier is None else after(self.earlier)

    def words(self) -> Attribution:
        """The same between words: the sum over the tokens of a word that was read. For a word that was written, the
        sum of its steps where numbers are signed, as log p of a word is the sum over its tokens; else their mean, so
        that rows still sum to 1."""
        mean = self.method.sums is not None
        last = np.array([word.end - 1 for word in self.steps.words], np.int64)
        read = self.earlier if self.kind == "cross" else self.source
        counts = np.array([word.end - word.start for word in self.steps.words], np.float32)[:, None]

        def merged(values: Floats, axis: Axis) -> Floats:
            summed = self.steps.sums(axis.sums(values, 1), 0)
            return np.asarray(summed / counts if mean else summed, np.float32)

        earlier, values = self.earlier, self.earlier_values
        return replace(
            self,
            steps=self.steps.merged(),
            rows=self.rows[last] if read is None else read.word_at(self.rows[last]),
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
        count, across = len(self.steps), sum(len(axis) for _part, axis, _values in sides)
        columns = {
            "step": np.repeat(np.arange(count), across),
            "token": np.repeat(np.array(self.steps.labels, object), across),
            "part": np.tile(np.concatenate([np.full(len(axis), part, object) for part, axis, _values in sides]), count),
            "position": np.tile(np.concatenate([np.arange(len(axis)) for _part, axis, _values in sides]), count),
            "input": np.tile(
                np.array([label for _part, axis, _values in sides for label in axis.labels], object), count
            ),
            "value": np.concatenate([values for _part, _axis, values in sides], axis=1).ravel().astype(np.float64),
        }
        return pd.DataFrame(columns)

    def save(self, path: str | PathLike[str]) -> None:
        """Write all of it as JSON, for ``bartviz.open_attribution`` and other programs: ``value`` is described here,
        and where it has an array, ``arrays`` has its numbers by name, row by row, each exact in float32. For a table
        see ``to_dataframe``, for a picture ``bartviz.paper.attribution``. Raises SettingError for a name that does not
        end in ``.json``, OSError.

        >>> found.save("why.json")
        >>> bartviz.open_attribution("why.json").method.name
        'rollout'
        """
        check_ending(path)
        store.replace(path, store.to_json(self).encode())

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """A notebook shows the figure of its words."""
        bundle: dict[str, Any] = hooks.attributions().attribution(self.words())._repr_mimebundle_(**options)
        return bundle


def check_ending(path: str | PathLike[str]) -> None:
    """Raise SettingError unless an attribution can be saved under this name."""
    if Path(path).suffix.lower() != ENDING:
        raise SettingError(
            later(
                "An attribution is saved as {ending}. For pictures and tables see bartviz.paper.attribution and "
                "to_dataframe.",
                ending=ENDING,
            )
        )


def open_attribution(path: str | PathLike[str]) -> Attribution:
    """Read an attribution that was saved, without torch.

    Raises RecordError, which says in one sentence what is wrong with the file; one that was changed since is refused.

    >>> bartviz.attribute(model, record, method="rollout").save("why.json")
    >>> bartviz.open_attribution("why.json").words().steps.labels
    ('<s>', 'Ich', 'möchte', 'ein', 'Auto', 'kaufen', '.', '</s>')
    """
    return store.read_json(path, Attribution)
