"""Threads in the app: one for NumPy, set before it is imported, and for small models; settings of the owner take
precedence."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
import torch

from bartviz.serving import threads
from tests.support.process import printed

SCRIPT = """
import os, sys
import bartviz.app
print(os.environ["OPENBLAS_NUM_THREADS"], "numpy" in sys.modules)
"""


@pytest.mark.parametrize(("said", "expected"), [(None, "1"), ("3", "3")])
def test_threads_of_numpy_are_set_before_its_import(said: str | None, expected: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    if said is not None:
        environment["OPENBLAS_NUM_THREADS"] = said
    assert printed(SCRIPT, environment).split() == [expected, "False"]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """What PyTorch is told, on a machine of eight cores whose owner says nothing."""
    said: list[int] = []
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(torch, "get_num_threads", lambda: said[-1] if said else 8)
    monkeypatch.setattr(torch, "set_num_threads", said.append)
    threads._most.cache_clear()
    yield said
    threads._most.cache_clear()


def test_a_small_model_computes_with_one_thread_and_a_large_one_with_all(told: list[int]) -> None:
    for parameters in (7_400_000, 139_000_000, 20_000_000, 406_000_000):
        threads.fit(parameters)
    assert told == [1, 8, 1, 8]


def test_a_number_set_by_the_owner_is_not_changed(told: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    threads.fit(7_400_000)
    assert told == []
