"""The gate: one at a time, in order, the latest of an owner, stoppable, never stuck after a fault."""

from __future__ import annotations

import errno
import threading
import weakref
from collections.abc import Callable

import pytest

from bartviz.errors import BartvizError, BudgetError, Busy, Cancelled, TextError
from bartviz.serving.gate import Gate, Ticket


class Blocker:
    """Work that says when it has begun and ends when told to, or when cancelled."""

    def __init__(self, value: str = "value") -> None:
        self.value, self.begun, self.proceed = (value, threading.Event(), threading.Event())

    def __call__(self, ticket: Ticket[str]) -> str:
        self.begun.set()
        while not self.proceed.wait(0.005):
            if ticket.cancelled():
                raise Cancelled("The run was stopped.")
        return self.value


def value(result: str) -> Callable[[Ticket[str]], str]:
    return lambda ticket: result


def occupied(**options: int) -> tuple[Gate, Blocker, Ticket[str]]:
    """A gate with one piece of work running."""
    gate, blocker = Gate(**options), Blocker("first")
    ticket = gate.submit("somebody", blocker)
    assert blocker.begun.wait(10)
    return gate, blocker, ticket


def test_gives_the_value_and_its_states() -> None:
    _, blocker, ticket = occupied()
    assert (ticket.state, ticket.position, ticket.finished) == ("running", 0, False)
    blocker.proceed.set()
    assert ticket.result() == "first"
    assert (ticket.state, ticket.finished, ticket.error) == ("done", True, None)


def test_one_at_a_time_in_order_with_the_place_in_the_queue() -> None:
    gate, blocker, _ = occupied()
    order: list[str] = []
    tickets = [gate.submit(name, lambda ticket, name=name: order.append(name)) for name in "abc"]  # type: ignore[misc]
    assert [ticket.position for ticket in tickets] == [1, 2, 3]
    assert [ticket.state for ticket in tickets] == ["waiting"] * 3
    blocker.proceed.set()
    for ticket in tickets:
        ticket.result()
    assert order == ["a", "b", "c"]


def test_the_latest_request_of_an_owner_takes_the_place_of_the_one_that_waits() -> None:
    gate, blocker, _ = occupied()
    older, other = gate.submit("a", value("older")), gate.submit("b", value("other"))
    newer = gate.submit("a", value("newer"))
    assert (older.state, newer.position, other.position) == ("cancelled", 1, 2)
    with pytest.raises(Cancelled, match="newer request"):
        older.result()
    blocker.proceed.set()
    assert (newer.result(), other.result()) == ("newer", "other")


def test_the_latest_request_of_an_owner_stops_the_one_that_runs() -> None:
    gate, _, running = occupied()
    newer = gate.submit("somebody", value("newer"))
    assert newer.result() == "newer"
    assert running.state == "cancelled"


def test_twenty_requests_of_one_owner_leave_one_run_and_the_latest() -> None:
    gate, blocker, _ = occupied()
    ran: list[int] = []
    tickets = [gate.submit("a", lambda ticket, i=i: ran.append(i)) for i in range(20)]  # type: ignore[misc]
    blocker.proceed.set()
    tickets[-1].result()
    assert ran == [19]


def test_cancel_takes_a_waiting_ticket_out_at_once_and_stops_a_running_one() -> None:
    gate, _, running = occupied()
    waiting, last = gate.submit("a", value("a")), gate.submit("b", value("b"))
    waiting.cancel()
    assert (waiting.state, last.position, len(gate)) == ("cancelled", 1, 1)
    running.cancel()
    assert last.result() == "b"
    assert running.state == "cancelled"
    last.cancel()  # too late, and harmless
    assert last.result() == "b"


def test_a_full_queue_refuses_with_the_number_and_keeps_its_tickets() -> None:
    gate, blocker, _ = occupied(waiting=2)
    first, second = gate.submit("a", value("a")), gate.submit("b", value("b"))
    with pytest.raises(Busy, match="2 runs are already waiting"):
        gate.submit("c", value("c"))
    newer = gate.submit("b", value("newer b"))  # takes its own place, so there is room
    blocker.proceed.set()
    assert (first.result(), newer.result(), second.state) == ("a", "newer b", "cancelled")


def test_who_is_gone_neither_runs_nor_takes_a_place() -> None:
    gate, blocker, _ = occupied(waiting=1)
    here = [True]
    ran: list[str] = []
    gone = gate.submit("a", lambda ticket: ran.append("a"), alive=lambda: here[0])
    here[0] = False
    other = gate.submit("b", value("b"))
    assert (other.position, gone.state) == (1, "cancelled")
    blocker.proceed.set()
    assert other.result() == "b"
    assert ran == []


def test_a_run_whose_owner_leaves_stops() -> None:
    gate, blocker, here = Gate(), Blocker(), [True]
    ticket = gate.submit("a", blocker, alive=lambda: here[0])
    blocker.begun.wait(10)
    here[0] = False
    assert ticket.wait(10)
    assert ticket.state == "cancelled"


@pytest.mark.parametrize(
    ("fault", "kind", "text"),
    [
        (TextError("The text is empty."), TextError, "The text is empty."),
        (RuntimeError("a secret text in /home"), BartvizError, r"inside the model \(RuntimeError\)"),
        (MemoryError(), BudgetError, "no memory left"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes"), BudgetError, "no memory left"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), BudgetError, "no memory left"),
        (SystemExit(), BartvizError, r"\(SystemExit\)"),
    ],
)
def test_an_error_is_reported_in_our_words_and_the_gate_continues(
    fault: BaseException, kind: type[Exception], text: str
) -> None:
    gate = Gate()

    def work(ticket: Ticket[str]) -> str:
        raise fault

    ticket = gate.submit("a", work)
    with pytest.raises(kind, match=text) as told:
        ticket.result()
    assert "secret" not in str(told.value)
    assert ticket.state == "failed"
    assert gate.submit("a", value("next")).result() == "next"


def test_a_machine_without_threads_refuses_and_goes_on_when_it_has_some(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    gate = Gate(workers=2)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", none)
        with pytest.raises(BudgetError, match="no memory left"):
            gate.submit("a", value("a"))
    assert len(gate) == 0
    assert gate.submit("a", value("first")).result() == "first"


def test_what_has_ended_holds_neither_the_work_nor_who_asked() -> None:
    class Held:
        def __call__(self, ticket: Ticket[str]) -> str:
            raise TextError("The text is empty.")

        def here(self) -> bool:
            return True

    gate, held = Gate(), Held()
    gone = weakref.ref(held)
    ticket = gate.submit("a", held, alive=held.here)
    assert ticket.wait(10)
    del held
    assert gate.submit("b", value("next")).result() == "next"  # the thread has left the work before
    assert gone() is None
    assert isinstance(ticket.error, TextError)


def test_two_workers_run_two_at_once() -> None:
    gate, first, second = Gate(workers=2), Blocker("first"), Blocker("second")
    tickets = [gate.submit("a", first), gate.submit("b", second)]
    assert first.begun.wait(10)
    assert second.begun.wait(10)
    third = gate.submit("c", value("third"))
    assert (third.state, third.position) == ("waiting", 2)
    second.proceed.set()
    assert third.result() == "third"
    assert not tickets[0].finished
    first.proceed.set()
    assert [ticket.result() for ticket in tickets] == ["first", "second"]


def test_the_work_reports_what_it_does() -> None:
    gate, told = Gate(), []

    def work(ticket: Ticket[str]) -> str:
        told.append((ticket.note, ticket.fraction))
        ticket.report("step 3 of 10", 0.3)
        told.append((ticket.note, ticket.fraction))
        return "value"

    assert gate.submit("a", work).result() == "value"
    assert told == [("", None), ("step 3 of 10", 0.3)]


def test_a_fault_leaves_its_traceback_in_the_log_and_no_text(caplog: pytest.LogCaptureFixture) -> None:
    text = "a visitor's secret sentence"

    def work(ticket: Ticket[str]) -> str:
        try:
            raise KeyError(text)
        except KeyError as error:
            raise RuntimeError(f"failed at {text}") from error

    with pytest.raises(BartvizError, match=r"\(RuntimeError\)"):
        Gate().submit("a", work).result()
    (told,) = caplog.records
    assert (told.name, told.levelname) == ("bartviz", "ERROR")
    said = told.getMessage()
    assert said.index("builtins.KeyError") < said.index("builtins.RuntimeError")  # what came first stands first
    assert f'File "{__file__}"' in said
    assert "in work" in said
    assert text not in caplog.text
    assert told.exc_info is None


@pytest.mark.parametrize("expected", [TextError("The text is empty."), Cancelled("The run was stopped.")])
def test_what_is_no_fault_of_ours_stays_out_of_the_log(
    expected: BartvizError, caplog: pytest.LogCaptureFixture
) -> None:
    def work(ticket: Ticket[str]) -> str:
        raise expected

    Gate().submit("a", work).wait(10)
    assert not caplog.records


def test_a_ticket_reports_whether_it_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("bartviz.serving.gate.time.monotonic", lambda: clock[0])

    def work(ticket: Ticket[str]) -> str:
        clock[0] += 4.0
        return "value"

    gate = Gate()
    gate.submit("a", work).result()
    gate.submit("b", work).result()
    assert gate.submit("c", work).due >= 0  # and the first two took four seconds each, the last counts for a quarter
    blocker = Blocker()
    gate.submit("d", blocker)
    assert blocker.begun.wait(10)
    waiting = [gate.submit(name, work) for name in "ef"]
    pace = 1.0 + 3 / 4 + 9 / 16  # of three pieces of work
    assert [ticket.due for ticket in waiting] == pytest.approx([pace, 2 * pace])
    blocker.proceed.set()
    assert [ticket.result() for ticket in waiting] == ["value", "value"]
    assert waiting[-1].due == 0


def test_a_long_run_lets_others_go_first_between_its_parts() -> None:
    gate, order, proceed = Gate(part=0.0), list[str](), threading.Event()

    def long(name: str, steps: int) -> Callable[[Ticket[str]], str]:
        def work(ticket: Ticket[str]) -> str:
            assert proceed.wait(10)
            thread = threading.get_ident()
            for step in range(steps):
                assert gate.running == 1
                order.append(f"{name}{step}")
                ticket.report("a step")
            assert threading.get_ident() == thread  # what is the thread's own stays
            return name

        return work

    first, second = gate.submit("a", long("a", 3)), gate.submit("b", long("b", 3))
    short = gate.submit("c", lambda ticket: order.append("c"))
    proceed.set()
    assert (first.result(), second.result(), short.result()) == ("a", "b", None)
    assert order == ["a0", "b0", "c", "a1", "b1", "a2", "b2"]
    assert gate.ended == {"done": 3}
    assert gate.submit("d", value("after")).result() == "after"
    assert (len(gate), gate.running, gate._threads) == (0, 0, 1)


def test_a_run_with_a_short_part_or_alone_goes_on() -> None:
    gate, order = Gate(part=3600.0), list[str]()
    held = threading.Event()

    def work(ticket: Ticket[None]) -> None:
        assert held.wait(10)
        ticket.report("a step")
        order.append("first")

    tickets = [gate.submit("a", work), gate.submit("b", lambda ticket: order.append("second"))]
    held.set()
    for ticket in tickets:
        ticket.result()
    alone: Ticket[None] = Gate(part=0.0).submit("a", lambda ticket: ticket.report("nobody waits"))
    alone.result()
    assert order == ["first", "second"]


@pytest.mark.parametrize("newer", [False, True])
def test_a_run_that_stands_in_the_queue_again_is_stopped_at_once(newer: bool) -> None:
    gate, blocker, stepped = Gate(part=0.0), Blocker(), threading.Event()

    def work(ticket: Ticket[str]) -> str:
        assert stepped.wait(10)
        ticket.report("a step")
        return "went on"

    long = gate.submit("a", work)
    other = gate.submit("b", blocker)
    stepped.set()
    assert blocker.begun.wait(10)
    assert (long.state, long.position) == ("running", 1)
    after = gate.submit("a", value("newer")) if newer else None
    if after is None:
        long.cancel()
    assert long.wait(10)
    assert (long.state, other.state) == ("cancelled", "running")
    blocker.proceed.set()
    assert other.result() == "value"
    if after is not None:
        assert after.result() == "newer"
    assert gate.submit("c", value("after")).result() == "after"
    assert (len(gate), gate.running, gate._threads) == (0, 0, 1)


def test_of_those_that_share_something_one_runs_at_a_time_and_others_pass() -> None:
    gate, blocker = Gate(workers=3), Blocker()
    first = gate.submit("a", blocker, one_of=("visitor", "model"))
    assert blocker.begun.wait(10)
    waits = [gate.submit(f"b{one}", value("b"), one_of=(one,)) for one in ("visitor", "model")]
    assert gate.submit("c", value("c"), one_of=("another",)).result() == "c"
    assert [ticket.state for ticket in waits] == ["waiting", "waiting"]
    blocker.proceed.set()
    assert [ticket.result() for ticket in (first, *waits)] == ["value", "b", "b"]
