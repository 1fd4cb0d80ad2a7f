"""The callbacks that a run has by default; ``help`` shows them by their names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class _Named(Generic[T]):
    name: str
    answer: T

    def __call__(self, *_: object) -> T:
        return self.answer

    def __repr__(self) -> str:
        return self.name


never: Callable[[], bool] = _Named("never", False)
"""``cancelled``: the run goes on to its end."""
silent: Callable[..., None] = _Named("silent", None)
"""``report`` and ``on_progress``: nothing is said of how far a run is."""
