"""An engine without models: what it shows is what an engine here would show, and it survives its replicas."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

from bartviz.errors import BartvizError, Cancelled, ModelError, SettingError, TextError, TooLong
from bartviz.language import _, speaking
from bartviz.models.model import Model
from bartviz.record.record import Record
from bartviz.serving import remote
from bartviz.serving.engine import Engine, Run
from bartviz.serving.gate import Ticket
from bartviz.serving.limits import Limits
from bartviz.serving.packing import packed, unpacked
from bartviz.serving.remote import ATTEMPTS, Lost, NoReplicas, RemoteEngine
from bartviz.serving.replica import Answer, Call, Ready, Refusal, Replica, Status
from bartviz.serving.request import Request
from scripts.visitor import wait_for
from tests.support.near import Near
from tests.support.process import ROOT

T = TypeVar("T")
TEXT = "the cat sat on the mat"
REQUEST = Request("small-bart", TEXT, max_new_tokens=4)


@pytest.fixture
def replicas(root: Path, monkeypatch: pytest.MonkeyPatch) -> Near:
    monkeypatch.setenv("BARTVIZ_MODEL_ROOTS", str(root))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return Near(Replica(Limits()), Replica(Limits()))


def finished(run: Run[T]) -> T:
    assert run.wait(120)
    assert run.error is None, run.error
    result = run.result
    assert result is not None
    return result


def refused(run: Run[Any]) -> BartvizError:
    assert run.wait(120)
    assert run.error is not None
    return run.error


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def arrays(record: Record) -> dict[str, Any]:
    kinds = {kind: record.attention(kind) for kind in record.kinds}
    names = ("q", "k", "v", "mask", "out", "out_bias")
    return {f"{kind} {name}": getattr(one, name) for kind, one in kinds.items() for name in names}


def test_a_record_is_that_of_an_engine_here(replicas: Near) -> None:
    engine = RemoteEngine(Limits(), replicas)
    local = Engine(Limits())
    here, there = finished(local.start("a", REQUEST)), finished(engine.start("a", REQUEST))
    assert len(replicas.asked) == 1
    assert (there.model, there.source_text, there.target_text) == (here.model, here.source_text, here.target_text)
    assert list(there.steps) == list(here.steps)
    assert there.sound
    for name, array in arrays(here).items():
        np.testing.assert_array_equal(arrays(there)[name], array, err_msg=name)
        assert not arrays(there)[name].flags.writeable
    assert not len(engine.models)
    assert engine.about("small-bart") == local.about("small-bart") is not None
    assert engine.ready


def test_who_asks_for_the_same_gets_the_same_and_projections_are_kept_once(replicas: Near) -> None:
    engine = RemoteEngine(Limits(), replicas)
    first = finished(engine.start("a", REQUEST))
    assert finished(engine.start("b", REQUEST)) is first
    other = finished(engine.start("c", Request("small-bart", TEXT + " again", max_new_tokens=4)))
    assert first.cross is not None
    assert other.cross is not None
    assert other.cross.borrowed
    assert other.cross.out is first.cross.out


def test_a_record_that_changed_on_the_way_is_not_made_again(replicas: Near, monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(content: bytes) -> Any:
        record = unpacked(content)
        object.__setattr__(record, "seal", "changed")
        return record

    monkeypatch.setattr(remote, "unpacked", damaged)
    record = finished(RemoteEngine(Limits(), replicas).start("a", REQUEST))
    assert (record.seal, record.sound) == ("changed", False)


def test_work_of_a_page_is_done_there_in_the_language_of_who_asks(replicas: Near) -> None:
    engine = RemoteEngine(Limits(), replicas)
    noted: list[str] = []

    def work(model: Model, ticket: Ticket[tuple[str, str]]) -> tuple[str, str]:
        noted.append("here")  # in its own copy of the list
        return model.info.name, _("Model")

    with speaking("ko"):
        run = engine.work("a", "small-bert", {"work": "name"}, work, len)
    assert finished(run) == ("small-bert", "모델")
    assert noted == []


def test_errors_are_those_of_the_replica(replicas: Near) -> None:
    engine = RemoteEngine(Limits(), replicas)
    long = refused(engine.start("a", Request("small-bert", TEXT * 200)))
    assert isinstance(long, TooLong)
    assert long.can_cut
    assert long.limit > 0
    with speaking("ko"):
        assert "토큰" in str(long)
    assert isinstance(refused(engine.start("a", Request("no-such-model", TEXT))), ModelError)
    assert isinstance(refused(engine.start("a", Request("small-bert", ""))), TextError)

    def broken(model: Model, ticket: Ticket[int]) -> int:
        raise ZeroDivisionError

    assert "ZeroDivisionError" in str(refused(engine.work("a", "small-bert", {"work": "broken"}, broken, int)))


def test_a_result_that_cannot_be_sent_is_an_error_of_ours_and_its_text_in_no_log(
    replicas: Near, caplog: pytest.LogCaptureFixture
) -> None:
    class Secret:
        def __reduce__(self) -> str:
            raise ValueError(TEXT)

    async def answers() -> list[Answer]:
        call = Call("a", "small-bert", {"work": "secret"}, lambda *_: Secret(), bool, "en")
        return [answer async for answer in replicas.replicas[0].run(call)]

    last = wait_for(answers())[-1]
    assert isinstance(last, Refusal)
    assert "ValueError" in str(last.error)
    assert "A run failed inside." in caplog.text
    assert "packing.py" in caplog.text
    assert TEXT not in caplog.text


def test_the_queue_of_a_replica_is_seen_and_left(root: Path, replicas: Near) -> None:
    one = Near(replicas.replicas[0])
    engine, gate = RemoteEngine(Limits(), one), replicas.replicas[0].engine.gate
    held = threading.Event()
    gate.submit("ahead", lambda ticket: held.wait(60))
    run = engine.start("a", REQUEST)
    until(lambda: run.position > 0 and (run.state, engine.waiting) == ("waiting", 1))
    newer = engine.start("a", Request("small-bart", TEXT + " again", max_new_tokens=4))
    assert isinstance(refused(run), Cancelled)
    until(lambda: len(gate) == 1)  # the older one has left the queue there
    newer.cancel()
    until(lambda: len(gate) == 0)
    assert isinstance(refused(newer), Cancelled)
    until(lambda: engine.waiting == 0)
    held.set()


def test_a_run_that_computes_there_stops_when_its_visitor_leaves(replicas: Near) -> None:
    engine, left = RemoteEngine(Limits(), replicas), threading.Event()

    def work(model: Model, ticket: Ticket[int]) -> int:
        while not ticket.cancelled():
            time.sleep(0.01)
        raise Cancelled("stopped")

    run = engine.work("a", "small-bert", {"work": "endless"}, work, int, alive=lambda: not left.is_set())
    gates = [replica.engine.gate for replica in replicas.replicas]
    until(lambda: any(gate.running for gate in gates))
    until(lambda: run.state == "running")  # what happens there is told here a moment later
    left.set()
    until(lambda: not any(gate.running for gate in gates))
    assert isinstance(refused(run), Cancelled)


def test_a_replica_that_is_lost_is_replaced(replicas: Near) -> None:
    replicas.loses = ATTEMPTS - 1
    assert finished(RemoteEngine(Limits(), replicas).start("a", REQUEST)).source_text == TEXT
    assert len(replicas.asked) == ATTEMPTS
    replicas.loses = ATTEMPTS
    assert "lost" in str(refused(RemoteEngine(Limits(), replicas).start("a", REQUEST)))
    assert len(replicas.asked) == 2 * ATTEMPTS


class Silent:
    """A call that no replica takes, or, after ``answers``, one that the replica has forgotten, until it is hung up."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = iter(answers)
        self.hung_up = threading.Event()

    def __iter__(self) -> Silent:
        return self

    def __next__(self) -> Answer:
        for answer in self.answers:
            return answer
        assert self.hung_up.wait(60)
        raise Lost

    def cancel(self) -> None:
        self.hung_up.set()


class First(Near):
    """Replicas whose first call is answered by ``answers``."""

    def __init__(self, replica: Replica, answers: Silent) -> None:
        super().__init__(replica)
        self.answers = answers

    def ask(self, call: Call) -> Any:
        if self.asked:
            return super().ask(call)
        self.asked.append(call)
        return self.answers


def test_a_run_that_no_replica_takes_can_be_stopped(replicas: Near) -> None:
    silent = Silent()
    run = RemoteEngine(Limits(), First(replicas.replicas[0], silent)).start("a", REQUEST)
    assert not run.wait(0.5)
    run.cancel()
    assert run.wait(60)
    assert isinstance(run.error, Cancelled)
    assert silent.hung_up.wait(60)


def test_a_run_that_no_replica_takes_waits_and_replicas_that_are_gone_are_noticed(
    replicas: Near, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "QUIET", 0.5)
    engine = RemoteEngine(Limits(), First(replicas.replicas[0], Silent()))
    run = engine.start("a", REQUEST)
    until(lambda: engine.ready)
    assert run.state == "waiting"
    until(lambda: not engine.ready)
    until(lambda: engine.waiting == 1)
    run.cancel()
    until(lambda: engine.waiting == 0)
    finished(engine.start("b", REQUEST))
    assert engine.ready
    until(lambda: engine.waiting == 0)


def test_an_app_without_replicas_is_not_ready_until_they_are_reached_again(replicas: Near) -> None:
    class Ended(Silent):
        def __next__(self) -> Answer:
            replicas_run.clear()
            raise NoReplicas("No replicas run.")

    class Restarted(First):
        def connect(self) -> None:
            if not replicas_run.is_set():
                raise NoReplicas("No replicas run.")

    replicas_run = threading.Event()
    replicas_run.set()
    engine = RemoteEngine(Limits(), Restarted(replicas.replicas[0], Ended()))
    engine.warm_up(0)
    until(lambda: engine.ready)
    assert isinstance(refused(engine.start("a", REQUEST)), NoReplicas)
    engine.warm_up(0)
    assert not engine.ready
    replicas_run.set()

    def ready() -> bool:
        engine.warm_up(0)
        return engine.ready

    until(ready)

    def setting(model: Model, ticket: Ticket[int]) -> int:
        raise SettingError("There is no such head.")

    assert isinstance(refused(engine.work("a", "small-bert", {"work": "setting"}, setting, int)), SettingError)
    assert engine.ready


def test_a_run_whose_replica_falls_silent_begins_again(replicas: Near, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "SILENCE", 0.5)
    silent = Silent(Status(False, 0, 0.0, "", None))
    replica = replicas.replicas[0]
    finished(replica.engine.start("a", REQUEST))  # whose model is loaded
    assert finished(RemoteEngine(Limits(), First(replica, silent)).start("a", REQUEST)).source_text == TEXT
    assert silent.hung_up.wait(60)


def test_an_older_run_whose_replica_is_lost_does_not_displace_the_newer_one(replicas: Near) -> None:
    silent = Silent()
    ways = First(replicas.replicas[0], silent)
    engine, gate = RemoteEngine(Limits(), ways), replicas.replicas[0].engine.gate
    held = threading.Event()
    gate.submit("ahead", lambda ticket: held.wait(60))
    older = engine.start("a", REQUEST)
    until(lambda: len(ways.asked) == 1)
    newer = engine.start("a", Request("small-bart", TEXT + " again", max_new_tokens=4))
    silent.cancel()
    assert isinstance(refused(older), Cancelled)
    until(lambda: newer.position > 0)
    held.set()
    assert finished(newer).source_text.endswith("again")
    assert len(ways.asked) == 2


PLAYED = """
import sys
from bartviz.serving.limits import Limits
from bartviz.serving.packing import unpacked
from bartviz.serving.remote import RemoteEngine
from bartviz.serving.request import Request
answers = iter([unpacked(open(sys.argv[1], "rb").read()), open(sys.argv[2], "rb").read()])
class Played:
    def connect(self): pass
    def ask(self, call): return self
    def __iter__(self): return self
    def __next__(self): return next(answers)
    def cancel(self): pass
run = RemoteEngine(Limits(), Played()).start("a", Request("small-bart", "text"))
assert run.wait(60)
print(run.result.source_text, run.result.sound, "torch" in sys.modules, "transformers" in sys.modules)
"""


def test_no_model_library_is_needed_to_keep_what_arrives(root: Path, replicas: Near, tmp_path: Path) -> None:
    engine = Engine(Limits())
    record = finished(engine.start("a", REQUEST))
    (tmp_path / "ready").write_bytes(packed(Ready("key", engine.about("small-bart"))))
    (tmp_path / "record").write_bytes(packed(record))
    command = [sys.executable, "-c", PLAYED, str(tmp_path / "ready"), str(tmp_path / "record")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=120)
    assert done.stdout.split() == [*TEXT.split(), "True", "False", "False"], done.stderr
