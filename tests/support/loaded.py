"""Small random models of every family, saved and loaded like anybody's checkpoint, once per test run."""

from __future__ import annotations

import atexit
import copy
import shutil
import tempfile
from functools import cache
from pathlib import Path

from transformers import PreTrainedModel

import bartviz
from bartviz.models.model import Model
from tests.support import networks

# Standard deviation of all matrices, else 0.3: attention is peaked. T5 does not scale its scores.
SPREAD = dict.fromkeys(("t5", "t5-gated", "mt5", "umt5"), 0.2)


@cache
def model(family: str, seed: int = 0) -> Model:
    """A model of the family; encoder and decoder differ in depth and heads. Shared by all tests."""
    return bartviz.load(networks.save(family, folder() / f"{family}-{seed}", seed=seed, spread=SPREAD.get(family, 0.3)))


@cache
def reference(family: str, seed: int = 0, implementation: str = "eager") -> PreTrainedModel:
    """The same network outside of the tape, with one of transformers' own kernels."""
    network = copy.deepcopy(model(family, seed).network)
    network.set_attn_implementation(implementation)
    return network


@cache
def folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="bartviz-models-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
