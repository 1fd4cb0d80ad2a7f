"""What silencing single heads changes in what a model predicts: where a pattern applies, and where it does not.

A head is silenced in some rows alone: its output there is 0, as in Michel et al. 2019, and all others are what they
were. Letters in shapes: B texts of a batch, N texts, C heads, H heads of a layer, Q query rows, T predictions, V tokens
of the vocabulary or labels, d head width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bartviz.arrays import Floats
from bartviz.callbacks import never
from bartviz.corpus import head_ablation
from bartviz.corpus.encode import Encoded
from bartviz.corpus.measure import padded
from bartviz.corpus.pattern_shares import Marks, weighing
from bartviz.corpus.read import Bad, Line
from bartviz.errors import SettingError
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.record.attention import Head, Kind
from bartviz.tape.tape import Tape

APPLIES, ELSEWHERE = range(2)
"""The rows in which a head is silenced: those that count for the pattern, and those without a mark of it."""
LOG_P = "label_log_probability"  # of ``head_ablation.measures``
MASKED = 7  # every so many words of a text are masked, of a model that fills gaps
OUTPUT, NEXT, WORDS, LABEL = "the output", "the next tokens", "masked words", "the label"
"""Whose log probability changes: of an encoder-decoder the output's, of a decoder each token's after those before it,
of a model that fills gaps the words' in whose place it reads a mask, of a classifier that of the label that it says."""


@dataclass(frozen=True, eq=False)
class Effects:
    """``changes`` (N, C, 2): how much the log probability of what is predicted changes, in nats, the mean over the
    predictions of a text, with a head silenced in the rows of APPLIES and of ELSEWHERE; NaN where there are none.
    ``rows`` (N, C, 2): how many these are."""

    changes: Floats
    rows: NDArray[np.int64]


def outcome(model: Model, rows: Callable[[], Iterator[Line | Bad]] = lambda: iter(())) -> str:
    """What is predicted. Raises SettingError for a model that predicts nothing of the kind, or not of these rows."""
    head_ablation.check(model, 1, rows)
    if model.head is not None and LOG_P not in head_ablation.measures(model):
        raise SettingError(later("This model gives a number, not a label: no probability shows what a head does."))
    if model.head is not None:
        return LABEL
    if model.info.kind != "encoder":
        return OUTPUT if model.info.kind == "encoder-decoder" else NEXT
    if model.tokenizer.mask_token_id is None:
        raise SettingError(
            later("This model fills gaps, but has no token for them: nothing shows what a silenced head does.")
        )
    return WORDS


@torch.inference_mode()
def effects(
    model: Model,
    rows: Sequence[Encoded],
    marks: Sequence[Mapping[Kind, Marks]],
    heads: Sequence[Head],
    lots: NDArray[np.uint8],
    cancelled: Callable[[], bool] = never,
) -> Effects:
    """What silencing each of these heads does. lots (N, 32): random bytes of each text, which say what is masked."""
    found = np.full((len(rows), len(heads), 2), np.nan, np.float32)
    counts = np.zeros((len(rows), len(heads), 2), np.int64)
    for batch in head_ablation.batches(model, rows):
        predicting = _Predicting(model, [rows[at] for at in batch], lots[batch], cancelled)
        of_kinds = {kind: weighing([marks[at][kind] for at in batch]) for kind in {head.kind for head in heads}}
        for place, head in enumerate(heads):
            known = of_kinds[head.kind]
            for where, silenced in ((APPLIES, known.rows), (ELSEWHERE, known.others)):
                number = silenced.sum(axis=-1)  # (B,)
                counts[batch, place, where] = number
                if number.any():
                    change = predicting.change(head, silenced)
                    found[batch, place, where] = np.where(number > 0, change, np.nan)
    return Effects(found, counts)


@dataclass
class _Silenced(Tape):
    """A tape of a batch with one head silenced in some of its rows (B, Q, 1)."""

    head: Head | None = None
    rows: Tensor = field(default_factory=lambda: torch.empty(0))

    def outputs_of(self, kind: Kind, layer: int, outputs: Tensor) -> Tensor:
        """The heads' outputs (B, Q, H, d), 0 for the head in these rows."""
        if self.head is None or (kind, layer) != (self.head.kind, self.head.layer):
            return outputs
        changed = outputs.clone()
        changed[:, :, self.head.head].masked_fill_(self.rows, 0.0)
        return changed


class _Predicting:
    """What a model predicts of the texts of a batch, and how likely it is with all heads, and without one."""

    def __init__(
        self, model: Model, rows: Sequence[Encoded], lots: NDArray[np.uint8], cancelled: Callable[[], bool]
    ) -> None:
        self.model, self.cancelled = model, cancelled
        self.source, self.inputs, output = padded(model, rows)
        self.outcome = outcome(model)
        self.labelled = head_ablation.label_changes(model, rows) if self.outcome == LABEL else None
        if self.labelled is not None:
            return
        if self.outcome == OUTPUT:
            assert output is not None
            self.targets, self.counts = output.ids, output.valid
        elif self.outcome == NEXT:
            self.targets, self.counts = self.source.ids[:, 1:], self.source.valid[:, 1:]
        else:
            self.targets, self.counts = self.source.ids.clone(), self._masked(lots)
            self.source.ids[self.counts] = int(model.tokenizer.mask_token_id)
        self.before = self._log_p(Tape(cancelled=cancelled))  # (B,)

    def change(self, head: Head, rows: NDArray[np.bool_]) -> Floats:
        """(B,) how much the log probability changes without the head in rows (B, Q); NaN without predictions."""
        there = torch.from_numpy(rows).to(self.source.ids.device)[..., None]
        tape = _Silenced(head=head, rows=there, cancelled=self.cancelled)
        if self.labelled is not None:
            return self.labelled(tape)[:, head_ablation.measures(self.model).index(LOG_P)]
        after = self._log_p(tape)
        return np.asarray((after - self.before).cpu().numpy(), np.float32)

    def _masked(self, lots: NDArray[np.uint8]) -> Tensor:
        """(B, n) the tokens of a text that are masked: every so many, from one that the lot says."""
        words = (self.source.valid & ~self.source.special).cpu().numpy()
        masked = np.zeros_like(words)
        for text, (known, lot) in enumerate(zip(words, lots, strict=True)):
            places = np.flatnonzero(known)
            if len(places):
                masked[text, places[int(lot[1]) % min(MASKED, len(places)) :: MASKED]] = True
        return torch.from_numpy(masked).to(self.source.ids.device)

    def _log_p(self, tape: Tape) -> Tensor:
        """(B,) the mean log probability of what is predicted."""
        found = head_ablation.logits(self.model, self.source, self.inputs, tape)
        logits = found[:, :-1] if self.outcome == NEXT else found  # (B, T, V)
        chosen = logits.gather(-1, self.targets[..., None])[..., 0] - logits.logsumexp(dim=-1)  # (B, T)
        return torch.where(self.counts, chosen, 0.0).sum(dim=1) / self.counts.sum(dim=1)
