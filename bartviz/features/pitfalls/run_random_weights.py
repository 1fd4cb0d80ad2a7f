"""The same architecture before any training: what attention looks like when nothing has been learned.

Weights are initialized as transformers does it (normal, with the configuration's standard deviation). Queries and keys
are then so small that all scores are near 0 and the softmax is nearly uniform: each row's entropy is close to the
logarithm of the number of keys it may attend to.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace

import torch

from bartviz.callbacks import never
from bartviz.errors import BudgetError
from bartviz.experiments.replay import Replay
from bartviz.language import later
from bartviz.models import build, weights
from bartviz.models.model import Model
from bartviz.models.one_thread import alone
from bartviz.record.record import Record
from bartviz.safety.torch_defaults import torch_defaults
from bartviz.tape import tape
from bartviz.tape.tape import Tape


@torch_defaults()
def untrained(model: Model, *, seed: int = 0) -> Model:
    """A model of the same sizes and tokenizer with random weights; the given model does not change.

    ``info.trained`` is judged from the weights (``weights.looks_trained``), as for any model. Raises BudgetError if
    there is no memory for a second network.
    """
    needed, free = build.nbytes(model.network), build.free_memory()
    if free is not None and needed > free:
        raise BudgetError(
            later(
                "A second network needs {needed:,.0f} MB, and {free:,.0f} MB are free: choose a smaller model.",
                needed=needed / 1e6,
                free=free / 1e6,
            )
        )
    with alone(None), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = type(model.network)(copy.deepcopy(model.config))
    network.requires_grad_(False)
    tape.attach(network)
    network.eval()
    fingerprint = f"{model.info.fingerprint} untrained {seed}"
    info = replace(model.info, trained=weights.looks_trained(network), fingerprint=fingerprint)
    return replace(model, info=info, network=network, copied=None)


def untrained_record(model: Model, record: Record, *, seed: int = 0, cancelled: Callable[[], bool] = never) -> Record:
    """The record's own tokens through the untrained model, in one pass. Raises SettingError, Cancelled."""
    fresh = untrained(model, seed=seed)
    same = replace(
        fresh, info=replace(fresh.info, fingerprint=model.info.fingerprint)
    )  # Replay accepts it under this fingerprint
    replay, kept = Replay(same, record), Tape(cancelled=cancelled)
    return replace(replay.kept(kept, replay.run(kept)), model=fresh.info)
