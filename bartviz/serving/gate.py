"""The gate: at most one computation at a time in this process, a bounded queue before it, and a way to stop.

A model run keeps every core busy; two at once make both slow and freeze the pages of everybody. Whoever wants one run
gets a Ticket at once, and watches it: its place in the queue, what it does, its outcome.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Generic, Literal, TypeVar

from bartviz.errors import BartvizError, BudgetError, Busy, Cancelled, without_stack
from bartviz.language import later, mark
from bartviz.safety import logs, memory

T = TypeVar("T")
State = Literal["waiting", "running", "done", "failed", "cancelled"]


_NO_MEMORY = mark("The machine has no memory left for this run. Take a shorter text.")


def _always() -> bool:
    return True


class Ticket(Generic[T]):
    """One piece of work at the gate. Reading it needs no lock; ``cancel`` may be called from any thread, any time."""

    def __init__(self, gate: Gate, owner: str, work: Callable[[Ticket[T]], T], alive: Callable[[], bool]) -> None:
        self.owner = owner
        self.state: State = "waiting"
        self.error: BartvizError | None = None
        self.note = ""
        self.fraction: float | None = None
        self._gate = gate
        self._work: Callable[[Ticket[T]], T] | None = work
        self._alive = alive
        self._stop = threading.Event()
        self._finished = threading.Event()
        self._value: T | None = None

    @classmethod
    def of(cls, gate: Gate, owner: str, value: T) -> Ticket[T]:
        """A ticket whose work is done already: its value is known."""
        ticket = cls(gate, owner, lambda _: value, lambda: True)
        ticket._perform()
        return ticket

    @property
    def position(self) -> int:
        """0 when it runs or has ended; otherwise how many pieces of work come before it, the running one included."""
        return self._gate._position(self)

    @property
    def due(self) -> float:
        """Seconds until those before it have ended, as long as such work took of late."""
        return self.position * self._gate._pace / self._gate.workers

    @property
    def finished(self) -> bool:
        return self._finished.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end; False when it has not come in time."""
        return self._finished.wait(seconds)

    def result(self) -> T:
        """The value, after waiting for it. Raises what the work raised, or Cancelled."""
        self._finished.wait()
        if self.error is not None:
            raise self.error
        return self._value  # type: ignore[return-value]  # None only where T is

    def forget(self) -> None:
        """Hold the value no longer; ``result`` is then None."""
        self._value = None

    def cancel(self) -> None:
        """Stop it: at once when it waits, at its next look at ``cancelled`` when it runs."""
        self._stop.set()
        self._gate._withdraw(self)

    def cancelled(self) -> bool:
        """Whether the work should end: somebody cancelled it, or nobody is there to see its result."""
        return self._stop.is_set() or not self._alive()

    def report(self, note: str, fraction: float | None = None) -> None:
        """Called by the work: what it does now, and how much of that is done (0..1) where it knows."""
        self.note, self.fraction = note, fraction

    def _perform(self) -> None:
        work = self._work
        assert work is not None  # only the gate calls this, once
        try:
            if self.cancelled():
                raise Cancelled(later("The run was stopped."))
            self.state = "running"
            self._value = work(self)
            self._end("done")
        except Cancelled as error:
            self._end("cancelled", error)
        except BartvizError as error:
            self._end("failed", error)
        except BaseException as error:  # the one place that must outlive any fault of the work
            if memory.was_short(error):
                self._end("failed", BudgetError(later(_NO_MEMORY)))
                return
            logs.fault("A run failed inside.", error)
            name = type(error).__name__
            self._end(
                "failed",
                BartvizError(later("The run failed inside the model ({name}). Try another text or model.", name=name)),
            )

    def _end(self, state: State, error: BartvizError | None = None) -> None:
        self._work, self._alive = None, _always  # what they hold (a text, a model) must not live as long as the ticket
        self.error = None if error is None else without_stack(error)
        self.state = state
        self._finished.set()


class Gate:
    """At most ``waiting`` tickets in a queue before ``workers`` threads: one, where work keeps the processor busy."""

    def __init__(self, *, waiting: int = 32, workers: int = 1) -> None:
        self.waiting = waiting
        self.workers = workers
        self._changed = threading.Condition()
        self._queue: list[Ticket[Any]] = []
        self._running: list[Ticket[Any]] = []
        self._threads = 0
        self._pace = 0.0  # seconds that a piece of work took of late

    def __len__(self) -> int:
        """How many wait."""
        return len(self._queue)

    def submit(
        self, owner: str, work: Callable[[Ticket[T]], T], *, alive: Callable[[], bool] = lambda: True
    ) -> Ticket[T]:
        """Queue ``work``, which is called with its ticket in the gate's thread, and return at once.

        The latest request of an owner wins: what the same owner had waiting gives up its place to it, what it had
        running is cancelled. ``alive`` is asked before and during the run whether anybody still wants it.
        Raises Busy when the queue is full.
        """
        ticket = Ticket(self, owner, work, alive)
        with self._changed:
            self._leave(
                [each for each in self._queue if each.cancelled()], later("Nobody waits for this run any more.")
            )
            older = [each for each in self._queue if each.owner == owner]
            place = self._queue.index(older[0]) if older else len(self._queue)
            if not older and len(self._queue) >= self.waiting:
                raise Busy(
                    later(
                        "{count} runs wait already, which is the limit. Try again in a moment.", count=len(self._queue)
                    )
                )
            self._leave(older, later("A newer request took its place."))
            self._queue.insert(place, ticket)
            for each in self._running:
                if each.owner == owner:
                    each._stop.set()
            if self._threads < self.workers:
                self._begin_thread()
            self._changed.notify()
        return ticket

    def _begin_thread(self) -> None:
        """One more worker; where the system gives no thread those that are there go on. The lock is held."""
        try:
            threading.Thread(target=self._serve, name="bartviz-gate", daemon=True).start()
        except RuntimeError:
            if not self._threads:
                self._queue.clear()
                raise BudgetError(later(_NO_MEMORY)) from None
        else:
            self._threads += 1

    def _position(self, ticket: Ticket[Any]) -> int:
        with self._changed:
            if ticket not in self._queue:
                return 0
            return self._queue.index(ticket) + len(self._running)

    def _withdraw(self, ticket: Ticket[Any]) -> None:
        with self._changed:
            self._leave([each for each in self._queue if each is ticket], later("The run was stopped."))

    def _leave(self, tickets: Sequence[Ticket[Any]], reason: str) -> None:
        """Take tickets out of the queue; the lock is held."""
        for ticket in tickets:
            self._queue.remove(ticket)
            ticket._end("cancelled", Cancelled(reason))

    def _serve(self) -> None:
        while True:
            with self._changed:
                while not self._queue:
                    self._changed.wait()
                ticket = self._queue.pop(0)
                self._running.append(ticket)
            started = time.monotonic()
            ticket._perform()
            took = time.monotonic() - started
            logs.log.info("a run is %s after %.2f s; %d wait", ticket.state, took, len(self._queue))
            with self._changed:
                self._running.remove(ticket)
                self._pace += (took - self._pace) / 4
            del ticket  # and what it holds, while this thread waits
