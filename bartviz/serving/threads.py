"""How many threads a model uses in the app.

PyTorch splits each product into as many parts as there are cores and waits for the last one. For a small model the
parts take microseconds, but each of thousands of waits lasts until another core is free: with other visitors on the
same cores a run was ten times slower. ``OMP_NUM_THREADS``, set by the server's owner, takes precedence.
"""

from __future__ import annotations

import os
from functools import cache

SMALL = 20_000_000  # parameters: up to here one thread is as fast as several, even on an idle machine


def fit(parameters: int) -> None:
    """Set PyTorch's thread count for this thread, which is about to run a model of this many parameters."""
    import torch

    most = _most()
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1 if parameters <= SMALL else most)


@cache
def _most() -> int:
    """PyTorch's default, read before it is changed."""
    import torch

    return torch.get_num_threads()
