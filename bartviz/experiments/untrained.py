"""The same architecture before any training: what attention looks like when nothing has been learned.

Weights are drawn as transformers draws them for a fresh network (normal, with the configuration's spread). Queries and
keys are then so short that all scores are near 0, and the softmax of equal scores is even: each row's entropy is close
to the logarithm of how many keys it may see.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace

import torch

from bartviz.errors import BudgetError
from bartviz.experiments.replay import Replay
from bartviz.language import later
from bartviz.models import build, weights
from bartviz.models.model import Model
from bartviz.record.record import Record
from bartviz.tape import tape
from bartviz.tape.tape import Tape


def untrained(model: Model, *, seed: int = 0) -> Model:
    """A model of the same sizes and tokenizer whose weights are drawn at random; the given one is not touched.

    ``info.trained`` is what the weights themselves say (``weights.looks_trained``), not what we know. Raises
    BudgetError where there is no room for a second network.
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
    with build.alone(None), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = type(model.network)(copy.deepcopy(model.config))
    network.requires_grad_(False)
    tape.attach(network)
    network.eval()
    fingerprint = f"{model.info.fingerprint} untrained {seed}"
    info = replace(model.info, trained=weights.looks_trained(network), fingerprint=fingerprint)
    return replace(model, info=info, network=network)


def untrained_record(
    model: Model, record: Record, *, seed: int = 0, cancelled: Callable[[], bool] = lambda: False
) -> Record:
    """The record's own tokens through the untrained model, in one pass. Raises SettingError, Cancelled."""
    fresh = untrained(model, seed=seed)
    same = replace(fresh, info=replace(fresh.info, fingerprint=model.info.fingerprint))  # replayed as if it were it
    replay, kept = Replay(same, record), Tape(cancelled=cancelled)
    replay.run(kept)
    return replace(replay.kept(kept), model=fresh.info)
