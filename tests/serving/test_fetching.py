"""Nothing is downloaded that nobody has asked for, and who needs no download waits for none."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bartviz.errors import NotFetched
from bartviz.models import load as loading
from bartviz.models.model import Model
from bartviz.serving.engine import LOADERS, Engine, Run, fetching
from bartviz.serving.gate import Ticket
from bartviz.serving.limits import Limits
from bartviz.serving.request import Request
from tests.support import hub_server, networks
from tests.support.hub_server import Hub

NAME, TEXT = "owner/small-bert", "the cat sat on the mat"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return networks.save("bert", tmp_path_factory.mktemp("served") / "bert")


@pytest.fixture
def hub(folder: Path, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub with a model that is not on this machine, an empty cache, and folders with two others."""
    with hub_server.running() as running:
        running.add(NAME, folder)
        for name, value in hub_server.settings(running, tmp_path / "cache").items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("BARTVIZ_MODEL_ROOTS", str(root))
        for variable in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.delenv(variable, raising=False)
        yield running


def finished(run: Run[Any]) -> Run[Any]:
    assert run.wait(120)
    return run


def fingerprint(run: Run[Any]) -> str:
    record = finished(run).result
    assert record is not None
    return str(record.model.fingerprint)


def test_a_model_is_fetched_for_who_has_asked_and_then_read_without_asking_the_hub(hub: Hub) -> None:
    engine = Engine(Limits())
    with fetching(False):
        refused = finished(engine.start("a", Request(NAME, TEXT)))
    assert isinstance(refused.error, NotFetched)
    assert refused.error.model == NAME
    assert "127.0.0.1" in str(refused.error)
    assert hub.requests == []
    assert loading.place(NAME) == "hub"
    fetched = finished(engine.start("a", Request(NAME, TEXT)))
    assert fetched.state == "done"
    assert loading.place(NAME) == "cache"
    asked = len(hub.requests)
    assert asked > 0
    other = Engine(Limits())
    with fetching(False):
        again = finished(other.start("b", Request(NAME, TEXT)))
    assert fingerprint(again) == fingerprint(fetched)
    cached = other.models.peek(NAME)
    assert cached is not None
    assert any("not asked" in notice for notice in cached.notices)
    with fetching(False):
        assert finished(engine.start("b", Request(NAME, TEXT + "."))).state == "done"  # it is in memory
    assert len(hub.requests) == asked


def test_a_known_model_is_named_with_its_size(hub: Hub) -> None:
    with fetching(False):
        run = finished(Engine(Limits()).start("a", Request("gpt2", TEXT)))
    assert "498 MB" in str(run.error)
    assert hub.requests == []


def test_who_needs_no_download_waits_for_none(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """More slow downloads than there are places, of one visitor and of many: models in memory and in folders run."""
    engine, proceed, fetching = Engine(Limits()), threading.Event(), threading.Semaphore(0)
    load = Engine.load

    def slow(self: Engine, ticket: Ticket[Any], name: str, *, fetch: bool = False) -> Model:
        if fetch:
            fetching.release()
            assert proceed.wait(120)
        return load(self, ticket, name, fetch=fetch)

    monkeypatch.setattr(Engine, "load", slow)
    finished(engine.start("first", Request("small-bart", TEXT, max_new_tokens=2)))
    mine: list[Run[Any]] = [engine.work(f"me {number}", f"{NAME}{number}", {}, _name, len) for number in range(3)]
    others: list[Run[Any]] = [
        engine.start(f"v{number}", Request(f"{NAME}-{number}", TEXT)) for number in range(LOADERS)
    ]
    same: list[Run[Any]] = [engine.start(f"w{number}", Request(f"{NAME}-0", TEXT)) for number in range(2)]
    for _place in range(LOADERS):
        assert fetching.acquire(timeout=120)
    assert hub_server.wait_for(lambda: len(engine.loading) == engine.loading.running == 0, 60)
    assert engine.fetching.running == LOADERS
    assert len(engine.fetching) == len(mine) + len(others) + len(same) - LOADERS
    in_memory = finished(engine.start("ninth", Request("small-bart", TEXT + ".", max_new_tokens=2)))
    in_folder = finished(engine.start("tenth", Request("small-bert", TEXT)))
    assert (in_memory.state, in_folder.state) == ("done", "done")
    assert not any(run.finished for run in [*mine, *others, *same])
    for run in [*mine, *others, *same]:
        run.cancel()
    proceed.set()
    for run in [*mine, *others, *same]:
        finished(run)


def _name(model: Model, _ticket: Ticket[str]) -> str:
    return model.info.name


def test_runs_of_the_same_and_others_go_on_while_a_long_one_gives_way(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two visitors ask for the same long work, a third for something short."""
    monkeypatch.setenv("BARTVIZ_MODEL_ROOTS", str(root))
    engine, begun, proceed, made = Engine(Limits()), threading.Event(), threading.Event(), list[str]()
    engine.gate.part = 0.0

    def long(model: Model, ticket: Ticket[str]) -> str:
        begun.set()
        assert proceed.wait(60)
        for step in range(20):
            ticket.report(f"step {step}")
        made.append("long")
        return "long"

    def short(model: Model, ticket: Ticket[str]) -> str:
        made.append("short")
        return "short"

    first = engine.work("a", "small-bert", {"work": "long"}, long, len)
    assert begun.wait(120)
    second = engine.work("b", "small-bert", {"work": "long"}, long, len)
    third = engine.work("c", "small-bert", {"work": "short"}, short, len)
    assert hub_server.wait_for(lambda: len(engine.gate) == 2, 60)
    proceed.set()
    assert [finished(run).result for run in (first, second, third)] == ["long", "long", "short"]
    assert made == ["short", "long"]
