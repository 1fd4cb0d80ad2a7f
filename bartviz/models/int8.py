"""Weights of a quarter of float32's size: matrices as int8, with a scale for each row.

The file is one of safetensors whose metadata are ``format: bartviz-int8``. A matrix of N rows and D columns is an I8
tensor (N, D) under its own name, and its scales are a float32 tensor (N,) under that name and ``.row_scale``. A row is
its integers times its scale, which is the row's largest magnitude divided by 127; so no entry is off by more than half
a scale. Everything else is float32. ``bartviz.load`` multiplies and computes in float32 (weights.py).

The format is bartviz's own: transformers reads such a file as if the integers were the weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

import torch
from safetensors.torch import save
from torch import Tensor

from bartviz.models import weights
from bartviz.models.deadline import DEADLINE, Job
from bartviz.models.weights import INT8, LARGEST, SCALE
from bartviz.record import store

SHORTEST = 8  # rows and columns of a matrix that is stored as int8: below, a scale for each row saves nothing


def write(source: str | PathLike[str], target: str | PathLike[str]) -> None:
    """Write a safetensors file again with its matrices as int8; both may be the same path.

    The result is a file of a model as any other: put it in the place of ``model.safetensors``, or of a shard, in a
    folder whose other files stay. Writing twice gives the same bytes. Raises ModelError for a damaged file and for
    numbers that are not finite, OSError if the target cannot be written.
    """
    stored = weights.read([Path(source)], Job(DEADLINE))
    store.replace(target, save(pack(stored.tensors), metadata={"format": INT8}))


def pack(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of such a file: integers and scales of matrices, everything else as float32."""
    packed: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if tensor.ndim == 2 and min(tensor.shape) >= SHORTEST:
            packed[name], packed[name + SCALE] = rounded(tensor)
        else:
            packed[name] = tensor.to(torch.float32)
    return packed


def rounded(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """A matrix (N, D) as integers from -127 to 127 (N, D) and the scale of each row (N,), 0 for a row of zeros."""
    matrix = matrix.to(torch.float32)
    scales = matrix.abs().amax(dim=1) / LARGEST  # (N,)
    divisors = torch.where(scales > 0, scales, 1.0)[:, None]  # (N, 1)
    return (matrix / divisors).round().clamp(-LARGEST, LARGEST).to(torch.int8), scales
