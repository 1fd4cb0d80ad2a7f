"""Which cases of a test run always, and which only in ``make thorough``."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest

# One family or more for each way in which networks differ: position encodings, shared layers, windows, soft caps,
# attention sinks, queries grouped, both stacks, tied weights.
SOME_FAMILIES = (
    *("bert", "albert", "modernbert"),
    *("bart", "marian", "t5"),
    *("gpt2", "opt", "mistral", "gemma2", "gpt_oss", "llama", "glm"),
)


def some(cases: Iterable[Any], always: Collection[Any] = SOME_FAMILIES) -> list[Any]:
    """The cases of ``parametrize``; those that are not in ``always`` are marked ``thorough``."""
    return [case if case in always else thorough(case) for case in cases]


def thorough(*case: Any) -> Any:
    """One case of ``parametrize`` that only ``make thorough`` runs: it repeats for more what another shows."""
    return pytest.param(*case, marks=pytest.mark.thorough)
