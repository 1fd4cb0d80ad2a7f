"""What is explained: the log-probability of the token at each of some steps, or the difference of two logits.

Letters in shapes: B runs in one batch, n tokens of a stack, T steps, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from bartviz.analysis.edits import Part
from bartviz.arrays import Floats, Ints
from bartviz.callbacks import silent
from bartviz.errors import SettingError
from bartviz.experiments.ablation import LOGITS, TOKENS
from bartviz.experiments.edits import token_id
from bartviz.experiments.replay import Outcome, Replay, SideBySide
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.record.attention import Head, Kind
from bartviz.record.record import Record
from bartviz.run.branches import scaled
from bartviz.tape.tape import Tape


class Parts(NamedTuple):
    """The numbers of a method: source (T, S), and earlier outputs (T, M) or None."""

    source: Floats
    earlier: Floats | None = None


@dataclass(frozen=True, eq=False)
class Question:
    """The T steps of a record that are explained: their rows in the last stack, and the ids of their tokens.

    ``against`` (T,): the id of another token, in whose place each could stand. ``scaled``: the heads that the record's
    run scaled; they are scaled again in every pass. ``report`` is told the share of the passes that are done, 0..1, or
    None where it is not known. ``source_alone``: no numbers for earlier outputs are wanted, so a method may leave out
    the passes that only these need.
    """

    replay: Replay
    rows: Ints
    ids: Ints
    outcome: Outcome
    against: Ints | None
    cancelled: Callable[[], bool]
    scaled: Mapping[Head, float]
    report: Callable[[float | None], None] = silent
    source_alone: bool = False

    @property
    def model(self) -> Model:
        return self.replay.model

    @property
    def record(self) -> Record:
        return self.replay.record

    @property
    def kind(self) -> Kind:
        """The attention whose columns are the source tokens and whose rows are those of the steps."""
        return "cross" if self.record.cross is not None else self.record.kinds[0]

    def answers(self, logits: Tensor) -> Tensor:
        """f (..., T) from logits (..., n, V)."""
        return self.of_steps(logits[..., torch.from_numpy(self.rows.copy()), :])

    def of_steps(self, chosen: Tensor) -> Tensor:
        """f (..., T) from the logits of the steps alone (..., T, V)."""

        def of(ids: Ints) -> Tensor:
            return chosen.gather(-1, torch.from_numpy(ids.copy()).expand(chosen.shape[:-1])[..., None])[..., 0]

        return of(self.ids) - (chosen.logsumexp(-1) if self.against is None else of(self.against))

    @cached_property
    def explained(self) -> Floats:
        """f (T,) of the record's own tokens."""
        assert self.outcome.logits is not None  # ``asked`` refuses other models
        return np.asarray(self.answers(self.outcome.logits)[0].float().numpy(), np.float32)

    @cached_property
    def contrasted(self) -> Question:
        """Why this token and not another one: where none is named, the likeliest other one of each step."""
        if self.against is not None:
            return self
        assert self.outcome.logits is not None  # ``asked`` refuses other models
        logits = self.outcome.logits[0, torch.from_numpy(self.rows.copy())]  # (T, V)
        others = logits.scatter(-1, torch.from_numpy(self.ids.copy())[:, None], -torch.inf)
        return replace(self, against=others.argmax(-1).numpy())

    @cached_property
    def valued(self) -> Record:
        """The record of a pass over its own tokens that keeps values and output projections."""
        tape = Tape(values=True, scale_heads=self.scaled, cancelled=self.cancelled)
        return self.replay.kept(tape, self.replay.run(tape))

    @cached_property
    def encoded(self) -> Tensor | None:
        """The encoder's output for the source, where it can be kept for passes that change the decoder alone."""
        if any(head.kind == "encoder" for head in self.scaled):
            return None
        return self.replay.encoded(self.cancelled)

    @property
    def reads(self) -> Tensor | None:
        """(1, last row + 1) the decoder's inputs up to the last step, as later ones change nothing; all where some are
        padding; None without cross-attention."""
        target = self.replay.target
        return target if target is None or self.replay.padded else target[:, : int(self.rows.max()) + 1]

    def only(self, steps: slice | list[int]) -> Question:
        """The question about some of its steps, by their places among them."""
        against = None if self.against is None else self.against[steps]
        return replace(self, rows=self.rows[steps], ids=self.ids[steps], against=against)

    def tape(self, copies: int) -> SideBySide:
        """A tape for a batch of runs whose tokens differ."""
        return SideBySide(runs=[self.scaled] * copies, cancelled=self.cancelled)

    def batches(self, count: int, part: tuple[int, int] | None = None, *, times: int = 1) -> Iterator[range]:
        """``count`` runs as batches of as many as one pass should hold. part: (2, 8) if they are the third of eight
        such parts, so that the share that is done is known. times: as many more, for short passes."""
        tokens = self.replay.source.shape[1] + (0 if self.replay.target is None else self.replay.target.shape[1])
        assert self.outcome.logits is not None
        most = max(1, min(times * TOKENS // tokens, LOGITS // self.outcome.logits.numel()))
        for start in range(0, count, most):
            self.report(None if part is None else (part[0] + start / count) / part[1])
            yield range(start, min(start + most, count))


def asked(
    model: Model,
    record: Record,
    *,
    token: str | int | None,
    contrast: str | int | None,
    step: int | None,
    cancelled: Callable[[], bool],
    report: Callable[[float | None], None] = silent,
    source_alone: bool = False,
) -> Question:
    """The question about a record's steps, or about one of them, counted from 0.

    token: what is explained at the masks of a model that fills them, in place of its own first choice. contrast: the
    token that it is compared with. source_alone: as in ``Question``. Raises SettingError for a step or token that does
    not exist, for a record of another model, and for a model that does not predict tokens; Cancelled.
    """
    replay = Replay(model, record)
    if model.head is not None:
        raise SettingError(
            later(
                "This model labels texts and predicts no tokens, so there is no word to explain: bartviz.ablate says "
                "what its labels owe to a head, or choose a model that writes, or that fills masks."
            )
        )
    factors = scaled(record)
    outcome = replay.run(SideBySide(runs=[factors], cancelled=cancelled))
    if outcome.logits is None:
        raise SettingError(
            later(
                "This model predicts no tokens, so there is no word to explain: choose one that writes, or that fills "
                "masks."
            )
        )
    rows, ids = replay.scored()
    if step is not None and not 0 <= step < len(rows):
        raise SettingError(
            later("There is no step {step} to explain: choose 0 to {last}.", step=step, last=len(rows) - 1)
        )
    chosen = slice(None) if step is None else slice(step, step + 1)
    rows = rows[chosen]
    old = record.source if record.output is None else record.output
    if token is not None:
        place = int(rows[0])
        ids = np.full(len(rows), token_id(model, token, old, place), np.int64)
    elif ids is None:
        ids = outcome.logits[0, torch.from_numpy(rows.copy())].argmax(-1).numpy()
    else:
        ids = ids[chosen]
    against: Ints | None = None
    if contrast is not None:
        part: Part = "target" if record.cross is not None else "source"
        against = np.full(len(rows), token_id(model, contrast, old, int(rows[0]), part=part), np.int64)
        if (ids == against).any():
            raise SettingError(later("A token cannot be compared with itself: name another one."))
    return Question(replay, rows, ids, outcome, against, cancelled, factors, report, source_alone)
