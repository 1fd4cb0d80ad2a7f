"""Evicted networks are freed: how many are alive at a time, and the memory that the process returns."""

from __future__ import annotations

import gc
import json
import os
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bartviz.errors import BudgetError, Cancelled, TextError
from bartviz.models import build as building
from bartviz.models import tokenizer as vocabulary
from bartviz.models.model import Model
from bartviz.serving.engine import Engine, Run
from bartviz.serving.gate import Ticket
from bartviz.serving.limits import Limits
from bartviz.serving.request import Request
from tests.support import networks
from tests.support.process import printed

NAMES = ("one", "two", "three", "four")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four models of 2.6 MB each: a budget of 4 MB holds one of them."""
    folder = tmp_path_factory.mktemp("models")
    for seed, name in enumerate(NAMES):
        networks.save("bert", folder / name, seed=seed, hidden_size=128, intermediate_size=512)
    return folder


class Alive:
    """The networks and tokenizers that were made, and how many networks lived when each of them was begun."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._networks: list[weakref.ref[Any]] = []
        self.before: list[int] = []
        self._tokenizers: list[weakref.ref[Any]] = []
        build: Callable[..., Any] = building.network_of
        tokenizer: Callable[..., Any] = vocabulary.read

        def built(*given: Any) -> Any:
            self.before.append(self.networks)
            made = build(*given)
            self._networks.append(weakref.ref(made.module))
            return made

        def read(*given: Any) -> Any:
            made = tokenizer(*given)
            self._tokenizers.append(weakref.ref(made[0]))
            return made

        monkeypatch.setattr(building, "network_of", built)
        monkeypatch.setattr(vocabulary, "read", read)

    @property
    def networks(self) -> int:
        return sum(one() is not None for one in self._networks)

    @property
    def tokenizers(self) -> int:
        return sum(one() is not None for one in self._tokenizers)


@pytest.fixture
def alive(monkeypatch: pytest.MonkeyPatch, root: Path) -> Alive:
    monkeypatch.setenv("BARTVIZ_MODEL_ROOTS", str(root))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return Alive(monkeypatch)


def finished(run: Run[Any]) -> Run[Any]:
    assert run.wait(120)
    assert run.error is None
    return run


@pytest.mark.slow
def test_four_models_in_turn_under_a_budget_of_one_leave_one(alive: Alive) -> None:
    engine = Engine(Limits(model_mb=4))
    kept = []  # as a session keeps its last run
    for name in NAMES:
        kept.append(finished(engine.start(name, Request(name, "the cat sat"))))
        assert alive.networks == 1
    assert alive.before == [0, 0, 0, 0]
    assert [run.result is not None for run in kept] == [True] * 4
    assert len(engine.models) == 1


@pytest.mark.slow
def test_four_models_at_once_under_a_budget_of_one_wait_for_one_another(alive: Alive) -> None:
    engine = Engine(Limits(model_mb=4))
    runs = [engine.start(name, Request(name, "the cat sat")) for name in NAMES]
    for run in runs:
        finished(run)
    assert alive.before == [0, 0, 0, 0]
    assert alive.networks == 1
    assert engine.budget.bytes == engine.models.bytes


@pytest.mark.slow
def test_models_that_fit_together_stay_together(alive: Alive) -> None:
    engine = Engine(Limits(model_mb=6))
    for name in NAMES[:2]:
        finished(engine.start(name, Request(name, "the cat sat")))
    assert (alive.networks, len(engine.models)) == (2, 2)


@pytest.mark.slow
def test_a_model_in_use_is_waited_for(alive: Alive) -> None:
    engine = Engine(Limits(model_mb=4))
    begun, proceed = threading.Event(), threading.Event()

    def slow(model: Model, ticket: Ticket[str]) -> str:
        begun.set()
        assert proceed.wait(60)
        return model.info.name

    first = engine.work("a", "one", {}, slow, len)
    assert begun.wait(120)
    other = engine.start("b", Request("two", "the cat sat"))
    while other.progress[0] != "Waiting for other models to free memory":
        assert not other.wait(0.01)
    assert alive.before == [0]
    proceed.set()
    assert finished(first).result == "one"
    finished(other)
    assert (alive.before, alive.networks) == ([0, 0], 1)


@pytest.mark.slow
def test_waiting_for_memory_can_be_cancelled(alive: Alive) -> None:
    engine = Engine(Limits(model_mb=4))
    begun, proceed = threading.Event(), threading.Event()

    def slow(model: Model, ticket: Ticket[str]) -> str:
        begun.set()
        assert proceed.wait(60)
        return "done"

    first = engine.work("a", "one", {}, slow, len)
    assert begun.wait(120)
    left = engine.start("b", Request("two", "the cat sat"))
    while left.progress[0] != "Waiting for other models to free memory":
        assert not left.wait(0.01)
    left.cancel()
    assert left.wait(10)
    assert isinstance(left.error, Cancelled)
    proceed.set()
    finished(first)
    finished(engine.start("c", Request("three", "the cat sat")))
    assert alive.networks == 1


def test_a_model_alone_above_the_budget_is_refused_with_its_number(alive: Alive) -> None:
    engine = Engine(Limits(model_mb=2))
    run = engine.start("a", Request("one", "the cat sat"))
    assert run.wait(120)
    assert isinstance(run.error, BudgetError)
    assert "needs 2.6 MB of memory as float32, but only 2.0 MB may be used" in str(run.error)
    assert (alive.before, engine.budget.bytes) == ([], 0)


def test_a_model_that_was_replaced_on_disk_is_evicted_for_the_new_one(alive: Alive, root: Path) -> None:
    engine = Engine(Limits(model_mb=4))
    finished(engine.start("a", Request("one", "the cat sat")))
    os.utime(root / "one" / "config.json", ns=(1, 1))
    finished(engine.start("a", Request("one", "the cat ran")))
    assert (alive.before, alive.networks) == ([0, 0], 1)


def test_a_run_that_failed_holds_no_model(alive: Alive) -> None:
    """An error holds the frames that it went through, and so does the error that it was told in place of."""
    engine = Engine(Limits(model_mb=4))

    def fail(model: Model, ticket: Ticket[str]) -> str:
        try:
            raise RuntimeError(model.info.name)
        except RuntimeError:
            raise TextError("The text is empty.")  # noqa: B904 - the context is what is tried

    gc.disable()
    try:
        run = engine.work("a", "one", {}, fail, len)
        assert run.wait(120)
        assert isinstance(run.error, TextError)
        engine.models.evict()
        assert engine.gate.submit("b", lambda ticket: "next").result() == "next"  # its thread has left the run
        assert alive.networks == 0
    finally:
        gc.enable()


@pytest.mark.slow
def test_an_evicted_model_takes_its_tokenizer_along(alive: Alive) -> None:
    engine = Engine(Limits(model_mb=4))
    for name in NAMES[:3]:
        finished(engine.start(name, Request(name, "the cat sat")))
    gc.collect()
    assert alive.tokenizers == 1


SCRIPT = """
import json, os, sys
from pathlib import Path

import psutil
import torch
from bartviz.serving import torch_import
from bartviz.serving.engine import Engine
from bartviz.serving.request import Request
from bartviz.serving.limits import Limits

torch.set_num_threads(1)
torch_import.load()
import bartviz.models.model
resident = lambda: psutil.Process().memory_info().rss / 1e6
engine, after = Engine(Limits(model_mb=130, record_mb=1)), []
for name in ["bert-tiny-en", *os.environ["NAMES"].split()]:  # the first warms up what is loaded once
    run = engine.start(name, Request(name, "the cat sat"))
    assert run.wait(120) and run.error is None, run.error
    after.append(resident())
base, *after = after
print(json.dumps({"base": base, "after": after, "model": engine.models.bytes / 1e6}))
"""


@pytest.mark.thorough
@pytest.mark.slow
def test_the_memory_of_evicted_models_goes_back_to_the_system(tmp_path: Path) -> None:
    for seed, name in enumerate(NAMES):
        networks.save("bert", tmp_path / name, seed=seed, hidden_size=768, intermediate_size=3072, num_hidden_layers=3)
    own = {"NAMES": " ".join(NAMES), "BARTVIZ_MODEL_ROOTS": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    found = json.loads(printed(SCRIPT, os.environ | own).splitlines()[-1])
    above = [(each - found["base"]) / found["model"] for each in found["after"]]
    assert max(above) < 1.5, above
