"""From a request to a record with real (small, random) models: cached, one at a time, stoppable, in our words."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np
import pytest

from bartviz.errors import BartvizError, BudgetError, Cancelled, TextError
from bartviz.models.model import Model
from bartviz.serving import engine as engine_module
from bartviz.serving import request as request_module
from bartviz.serving.engine import Engine, Run
from bartviz.serving.gate import Ticket
from bartviz.serving.limits import Limits
from bartviz.serving.request import Request
from tests.support import loaded

T = TypeVar("T")
TEXT = "the cat sat on the mat"


@pytest.fixture
def engine(root: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.setenv("BARTVIZ_MODEL_ROOTS", str(root))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return Engine(Limits())


def finished(run: Run[T]) -> Run[T]:
    assert run.wait(120)
    return run


@pytest.mark.slow
def test_an_encoder_decoder_writes_and_keeps_its_steps(engine: Engine) -> None:
    run = finished(engine.start("a", Request("small-bart", TEXT, max_new_tokens=5, top_k=3)))
    assert (run.state, run.error) == ("done", None)
    record = run.result
    assert record is not None
    assert record.source_text == TEXT
    assert 0 < len(record.steps) <= 5
    assert len(record.steps[-1].candidates) == 3
    assert all(record.attention(kind).out is not None for kind in record.kinds)


def test_values_beyond_the_memory_limit_are_left_out_with_a_notice(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bartviz.run import memory_limit

    with_values = finished(engine.start("a", Request("small-bert", TEXT))).result
    assert with_values is not None
    monkeypatch.setattr(memory_limit, "MAX_BYTES", with_values.nbytes - 1)
    without = finished(engine.start("a", Request("small-bert", TEXT + "."))).result
    assert without is not None
    assert without.encoder is not None
    assert (without.encoder.v, without.encoder.out) == (None, None)
    assert any("values were not stored" in notice for notice in without.provenance.notices)


def test_texts_that_wait_are_written_together_each_as_if_alone(engine: Engine) -> None:
    engine.gate.part = 0.0  # a run of several texts gives way to none: each would begin again on its own
    finished(engine.start("first", Request("small-bart", TEXT, max_new_tokens=4)))  # the model is loaded
    held = threading.Event()
    ahead = engine.gate.submit("ahead", lambda ticket: held.wait(60))
    texts = [f"{TEXT} {number}" for number in range(4)]
    alike = [engine.start(text, Request("small-bart", text, max_new_tokens=4)) for text in texts]
    longer = engine.start("longer", Request("small-bart", TEXT, max_new_tokens=5))
    too_long = engine.start("too long", Request("small-bart", TEXT * 200, max_new_tokens=6))
    beside = engine.start("beside", Request("small-bart", TEXT, max_new_tokens=6))
    for run in (*alike, longer, too_long, beside):
        while run.state != "waiting" or run.position == 0 or len(engine.loading):
            run.wait(0.01)
    held.set()
    assert ahead.wait(60)
    batches = []
    for text, run in zip(texts, alike, strict=True):
        record = finished(run).result
        assert record is not None
        assert record.source_text == text
        batches.append(record.provenance.settings.get("batch"))
    assert batches == [4, 4, 4, 4]
    for alone in (longer, beside):  # another option, or beside a text that is refused
        record = finished(alone).result
        assert record is not None
        assert "batch" not in record.provenance.settings
    assert isinstance(finished(too_long).error, TextError)


@pytest.mark.slow
def test_a_given_output_and_a_second_sentence_are_used(engine: Engine) -> None:
    given = finished(engine.start("a", Request("small-bart", TEXT, target="a dog"))).result
    assert given is not None
    assert given.target_text == "a dog"
    pair = finished(engine.start("a", Request("small-bert", TEXT, pair="a dog"))).result
    assert pair is not None
    assert set(pair.source.segments) == {0, 1}


@pytest.mark.parametrize(
    ("text", "target", "whole"),
    [("A dog", "runs.", " runs."), ("A dog ", "runs.", "runs."), ("A dog", " runs.", " runs."), ("A dog", ".", ".")],
)
def test_a_given_output_goes_on_after_a_space_where_the_model_only_goes_on(text: str, target: str, whole: str) -> None:
    ticket: Any = SimpleNamespace(cancelled=lambda: False, report=lambda *told: None)
    record = request_module.record(loaded.model("gpt2"), ticket, Request("any", text, target=target))
    assert (record.source_text, record.target_text) == (text, whole)


def test_the_same_request_is_computed_once_and_another_is_not_mistaken_for_it(engine: Engine) -> None:
    first = finished(engine.start("a", Request("small-bert", TEXT))).result
    again = finished(engine.start("b", Request("small-bert", TEXT))).result
    other = finished(engine.start("b", Request("small-bert", TEXT + " again"))).result
    assert first is again
    assert other is not first
    assert (len(engine.models), len(engine.results)) == (1, 2)


def test_what_records_of_a_model_share_counts_once(engine: Engine) -> None:
    records = [finished(engine.start("a", Request("small-bert", text))).result for text in (TEXT, TEXT + " again")]
    first, second = (record.encoder for record in records if record is not None)
    assert first is not None
    assert second is not None
    assert first.out is not None
    assert first.borrowed
    assert np.shares_memory(first.out, second.out)
    own = sum(record.nbytes for record in records if record is not None)
    assert engine.results.bytes == own + first.out.nbytes


def test_errors_are_reported_and_the_engine_continues(engine: Engine) -> None:
    empty = finished(engine.start("a", Request("small-bert", "   ")))
    assert empty.state == "failed"
    assert isinstance(empty.error, TextError)
    assert empty.result is None
    for name in ("", "..", "/etc", "a/b/c", "no-such-model", "https://x.example/model"):
        run = finished(engine.start("a", Request(name, TEXT)))
        assert run.state == "failed"
        assert "/etc" not in str(run.error)
    assert finished(engine.start("a", Request("small-bert", TEXT))).result is not None


def test_a_run_is_stopped_before_during_and_after(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, proceed = threading.Event(), threading.Event()

    def slow(model: object, ticket: object, request: Request) -> None:
        begun.set()
        while not proceed.wait(0.01):
            if ticket.cancelled():  # type: ignore[attr-defined]
                raise Cancelled("The run was stopped.")

    monkeypatch.setattr(engine_module, "record", slow)
    running = engine.start("a", Request("small-bert", TEXT))
    assert begun.wait(120)
    waiting = engine.start("b", Request("small-bert", TEXT + " b"))
    while waiting.position == 0:
        assert not waiting.wait(0.01)
    assert (waiting.state, waiting.position) == ("waiting", 1)
    waiting.cancel()
    assert waiting.state == "cancelled"
    running.cancel()
    assert finished(running).state == "cancelled"
    running.cancel()
    assert isinstance(running.error, Cancelled)


def test_a_model_that_loads_late_does_not_replace_a_newer_request(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    load, late, held = Engine.load, threading.Event(), threading.Event()

    def first_late(self: Engine, ticket: Ticket[Model], name: str) -> Model:
        model = load(self, ticket, name)
        if not held.is_set():
            held.set()
            assert late.wait(60)
        return model

    monkeypatch.setattr(Engine, "load", first_late)
    older = engine.start("a", Request("small-bert", TEXT))
    assert held.wait(120)
    begun, proceed = threading.Event(), threading.Event()

    def slow(model: Model, ticket: Ticket[str], request: Request) -> str:
        begun.set()
        assert proceed.wait(60)
        return "stopped" if ticket.cancelled() else "wanted"

    monkeypatch.setattr(engine_module, "record", slow)
    monkeypatch.setattr(engine_module, "bytes_of_record", len)
    newer = engine.start("a", Request("small-bert", TEXT + " b"))
    assert begun.wait(60)
    late.set()
    assert finished(older).state == "cancelled"
    proceed.set()
    assert str(finished(newer).result) == "wanted"


def test_what_is_known_does_not_wait_for_others(engine: Engine) -> None:
    proceed, begun = threading.Event(), threading.Event()

    def long(model: Model, ticket: Ticket[str]) -> str:
        begun.set()
        assert proceed.wait(60)
        return "long"

    first = finished(engine.start("a", Request("small-bert", TEXT)))
    busy = engine.work("b", "small-bert", {"work": "long"}, long, len)
    assert begun.wait(60)
    again = finished(engine.start("c", Request("small-bert", TEXT)))
    assert again.result is first.result
    assert not busy.finished
    proceed.set()
    assert finished(busy).result == "long"


def test_other_work_is_kept_under_its_own_key_and_stopped_alone(engine: Engine) -> None:
    asked: list[str] = []

    def work(model: Model, ticket: Ticket[str]) -> str:
        asked.append(model.info.name)
        return model.info.family

    def run(owner: str, key: str) -> Run[str]:
        return finished(engine.work(owner, "small-bert", {"work": key}, work, len))

    assert [run("a one", "x").result, run("a two", "x").result, run("a one", "y").result] == ["bert"] * 3
    assert asked == ["small-bert"] * 2


def test_a_run_stops_when_its_session_is_closed(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, here = threading.Event(), [True]

    def slow(model: object, ticket: object, request: Request) -> None:
        begun.set()
        while not ticket.cancelled():  # type: ignore[attr-defined]
            pass
        raise Cancelled("The run was stopped.")

    monkeypatch.setattr(engine_module, "record", slow)
    run = engine.start("a", Request("small-bert", TEXT), alive=lambda: here[0])
    assert begun.wait(120)
    here[0] = False
    assert finished(run).state == "cancelled"


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Engine, list[Run[Any]], threading.Event]]:
    """An engine whose loaders all hang and whose queue of one is taken, its runs, and what lets them go on."""
    monkeypatch.setattr(engine_module, "QUEUE", 1)
    engine = Engine(Limits())
    begun, proceed = threading.Semaphore(0), threading.Event()

    def hang(self: Engine, ticket: object, name: str) -> None:
        begun.release()
        proceed.wait(30)
        raise BartvizError("over")

    monkeypatch.setattr(Engine, "load", hang)
    runs: list[Run[Any]] = []
    for number in range(engine_module.LOADERS):
        runs.append(engine.start(str(number), Request("m", TEXT)))
        assert begun.acquire(timeout=30)
    runs.append(engine.start("waits", Request("m", TEXT)))
    yield engine, runs, proceed
    proceed.set()
    assert all(run.wait(30) for run in runs)


def test_who_comes_to_a_full_queue_waits_before_it_and_enters_by_itself(
    full: tuple[Engine, list[Run[Any]], threading.Event],
) -> None:
    engine, _, proceed = full
    late = engine.start("late", Request("m", TEXT))
    assert (late.state, late.finished, late.result, late.error) == ("waiting", False, None, None)
    assert late.position == len(engine.loading) == 1
    assert not late.wait(0.05)
    proceed.set()
    assert late.wait(30)
    assert late.state == "failed"
    assert str(late.error) == "over"  # it had its turn


def test_who_waits_before_a_full_queue_may_leave(full: tuple[Engine, list[Run[Any]], threading.Event]) -> None:
    engine, _, proceed = full
    late = engine.start("late", Request("m", TEXT))
    late.cancel()
    assert (late.state, late.finished) == ("cancelled", True)
    assert isinstance(late.error, Cancelled)
    proceed.set()
    late.retry()
    assert late.state == "cancelled"


def test_a_model_that_is_loaded_at_once_does_not_overtake_the_entry(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run goes on with the ticket of its computation, however late it hears of the first one."""
    follow, held = Run.follow, threading.Event()

    def late(self: Run[Any], ticket: Ticket[Any], *, last: bool = False) -> None:
        time.sleep(0 if last else 0.2)
        follow(self, ticket, last=last)

    monkeypatch.setattr(Run, "follow", late)
    model = loaded.model("bert")
    monkeypatch.setattr(Engine, "load", lambda *_, **__: model)
    monkeypatch.setattr(Engine, "is_cached", lambda *_: False)
    engine.gate.submit("ahead", lambda ticket: held.wait(60))
    run = engine.start("a", Request("small-bert", TEXT))
    end = time.monotonic() + 30
    while not (len(engine.gate) and (run.state, run.position) == ("waiting", 1)) and time.monotonic() < end:
        run.wait(0.01)
    time.sleep(0.3)  # what is heard late has been heard
    assert (run.state, run.position, run.result) == ("waiting", 1, None)
    held.set()
    assert finished(run).state == "done"
    assert run.result is not None


def test_an_error_at_the_entry_is_reported(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_thread(*_: object, **__: object) -> None:
        raise BudgetError("no memory")

    monkeypatch.setattr(engine.loading, "submit", no_thread)
    run = engine.start("a", Request("small-bert", TEXT))
    assert (run.state, str(run.error)) == ("failed", "no memory")


def test_progress_is_reported(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, float | None]] = []
    report = Ticket.report

    def listen(self: Ticket[object], note: str, fraction: float | None = None) -> None:
        told.append((note, fraction))
        report(self, note, fraction)

    monkeypatch.setattr(Ticket, "report", listen)
    finished(engine.start("a", Request("small-bart", TEXT, max_new_tokens=3)))
    assert [note for note, _ in told[:3]] == [
        "Starting the model library, once per server",
        "Loading the model",
        "Running the model",
    ]
    assert ("Writing: token 1 of at most 3", 1 / 3) in told
