"""The sums over the vocabulary that the probabilities of a record's steps need at other temperatures."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from bartviz.analysis.temperature import SHARES, TEMPERATURES, Temperatures
from bartviz.callbacks import never
from bartviz.errors import Cancelled, SettingError
from bartviz.experiments.replay import Replay
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.record.record import Record
from bartviz.record.steps import bare
from bartviz.run.branches import scaled
from bartviz.safety.torch_defaults import torch_defaults
from bartviz.tape.tape import Tape


@torch_defaults()
@torch.inference_mode()
def temperatures(model: Model, record: Record, *, cancelled: Callable[[], bool] = never) -> Temperatures:
    """The sums of all steps, from one pass over the record's tokens; heads that its run scaled are scaled again.

    Raises SettingError for a record of another model, or without steps; Cancelled.
    """
    logits = Replay(model, record).run(Tape(scale_heads=scaled(record), cancelled=cancelled)).logits  # (1, m, V)
    if logits is None or not record.steps:
        raise SettingError(later("This record has no decoding steps: run the text again to decode it."))
    rows = [step.row for step in bare(record.steps)]
    sums = np.zeros((len(rows), len(TEMPERATURES)))
    mass, least, count = np.zeros((3, *sums.shape, len(SHARES)))
    shares = torch.tensor(SHARES, dtype=torch.float64)
    for index, row in enumerate(rows):
        if cancelled():
            raise Cancelled(later("The run was stopped."))
        best = logits[0, row].double().log_softmax(-1).sort(descending=True).values  # (V,)
        for of, temperature in enumerate(TEMPERATURES):
            raised = (best / temperature).exp()
            sums[index, of] = float(total := raised.sum())
            together = raised.cumsum(0) / total
            last = torch.searchsorted(together, shares).clamp(max=len(best) - 1)  # the fewest that have the share
            mass[index, of] = together[last].numpy()
            least[index, of] = (raised[last] / total).numpy()
            count[index, of] = (last + 1).numpy()
    return Temperatures(sums, mass, least, count)
