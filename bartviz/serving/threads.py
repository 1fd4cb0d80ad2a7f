"""How many threads a model computes with in the app.

PyTorch cuts each product into as many parts as there are cores, and waits for the last one. For a small model the parts
take microseconds, and each of the thousands of waits lasts until another core is free: with other visitors on the same
cores that made a run ten times slower. What the owner of the server says (``OMP_NUM_THREADS``) counts.
"""

from __future__ import annotations

import os
from functools import cache

SMALL = 20_000_000  # parameters, up to which one thread is as fast as several even where nobody else computes


def fit(parameters: int) -> None:
    """Set the threads of PyTorch for this thread of ours, which is about to run a model of so many parameters."""
    import torch

    most = _most()
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1 if parameters <= SMALL else most)


@cache
def _most() -> int:
    """What PyTorch takes by itself; asked before it is told anything else."""
    import torch

    return torch.get_num_threads()
