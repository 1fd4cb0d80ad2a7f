"""The gate: at most one computation at a time in this process, with a bounded queue and cancellation.

A model run keeps every core busy; two at once slow each other down and freeze everybody's pages. A caller gets a Ticket
at once, which shows the position in the queue, the progress and the outcome.

A long run goes through in parts: whenever it reports how far it is, and its part has taken long enough, it lets waiting
runs go first and returns to the end of the queue, in a thread that sleeps meanwhile.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any, Generic, Literal, TypeVar

from bartviz.errors import BartvizError, BudgetError, Busy, Cancelled, without_stack
from bartviz.language import later, mark
from bartviz.safety import logs, reservations

T = TypeVar("T")
State = Literal["waiting", "running", "done", "failed", "cancelled"]


_NO_MEMORY = mark("The machine has no memory left for this run. Use a shorter text.")


def _always() -> bool:
    return True


class Ticket(Generic[T]):
    """One task at the gate. Reading it needs no lock; ``cancel`` may be called from any thread at any time."""

    def __init__(
        self,
        gate: Gate,
        owner: str,
        work: Callable[[Ticket[T]], T],
        alive: Callable[[], bool],
        one_of: Collection[str] = (),
    ) -> None:
        self.owner = owner
        self.one_of = frozenset(one_of)
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
        self._turn: threading.Event | None = None  # while it is in the queue again: set at its next turn
        self._begun = 0.0  # when its part began
        self.seconds = 0.0  # that its parts have taken

    @classmethod
    def of(cls, gate: Gate, owner: str, value: T) -> Ticket[T]:
        """A finished ticket for a known value."""
        ticket = cls(gate, owner, lambda _: value, lambda: True)
        ticket._perform()
        return ticket

    @property
    def position(self) -> int:
        """How many tasks are ahead of it, the running one included; 0 if it runs or has ended."""
        return self._gate._position(self)

    @property
    def due(self) -> float:
        """Estimated seconds until it starts, from the duration of recent tasks."""
        return self.position * self._gate._pace / self._gate.workers

    @property
    def finished(self) -> bool:
        return self._finished.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it ends; False on timeout."""
        return self._finished.wait(seconds)

    def result(self) -> T:
        """The value, after waiting for it. Raises what the work raised, or Cancelled."""
        self._finished.wait()
        if self.error is not None:
            raise self.error
        return self._value  # type: ignore[return-value]  # None only where T is

    def forget(self) -> None:
        """Drop the value; ``result`` then returns None."""
        self._value = None

    def cancel(self) -> None:
        """Stop it: at once if it is waiting, at its next check of ``cancelled`` if it is running."""
        self._stop.set()
        self._gate._withdraw(self)

    def cancelled(self) -> bool:
        """Whether the work should stop: it was cancelled, or nobody is waiting for its result."""
        return self._stop.is_set() or not self._alive()

    def report(self, note: str, fraction: float | None = None) -> None:
        """Called by the work, in the gate's thread: what it is doing, and the fraction done (0..1) if known. Others may
        come first here."""
        self.tell(note, fraction)
        self.give_way()

    def tell(self, note: str, fraction: float | None = None) -> None:
        """``report`` of work that others wait for as well, which does not yield to them."""
        self.note, self.fraction = note, fraction

    def give_way(self, *, at_once: bool = False) -> None:
        """Called by the work between two steps, in the gate's thread: if others wait and this part was long, or in any
        case ``at_once``, they come first, and this returns at the ticket's next turn. Raises Cancelled if it was
        stopped meanwhile."""
        part = self._gate.part
        if part is not None and self.state == "running" and (at_once or time.monotonic() - self._begun >= part):
            self._gate._give_way(self)

    def _perform(self) -> None:
        work = self._work
        assert work is not None  # called only by the gate, once
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
        except BaseException as error:  # the worker thread must survive any error of the work
            if reservations.was_short(error):
                self._end("failed", BudgetError(later(_NO_MEMORY)))
                return
            logs.fault("A run failed inside.", error)
            name = type(error).__name__
            self._end(
                "failed",
                BartvizError(later("The run failed inside the model ({name}). Try another text or model.", name=name)),
            )

    def _end(self, state: State, error: BartvizError | None = None) -> None:
        self._work, self._alive = None, _always  # release what they hold (a text, a model) before the ticket goes
        self.error = None if error is None else without_stack(error)
        self.state = state
        self._finished.set()


class Gate:
    """A queue of at most ``waiting`` tickets for ``workers`` threads: one thread where the work is CPU-bound.

    ``part``: seconds after which a ticket yields to others; None: it does not.
    """

    def __init__(self, *, waiting: int = 256, workers: int = 1, part: float | None = None) -> None:
        self.waiting = waiting
        self.workers = workers
        self.part = part
        self._changed = threading.Condition()
        self._queue: list[Ticket[Any]] = []
        self._running: list[Ticket[Any]] = []
        self._threads = 0  # none of those that are in the queue again
        self._pace = 0.0  # average seconds of recent tasks
        self.ended: Counter[State] = Counter()  # how many tasks ended how
        self.seconds = 0.0  # that tasks have run, in all

    def __len__(self) -> int:
        """How many are waiting."""
        return len(self._queue)

    @property
    def running(self) -> int:
        """How many run now."""
        return len(self._running)

    def submit(
        self,
        owner: str,
        work: Callable[[Ticket[T]], T],
        *,
        alive: Callable[[], bool] = lambda: True,
        one_of: Collection[str] = (),
    ) -> Ticket[T]:
        """Queue ``work``, which is called with its ticket in the gate's thread, and return at once.

        The latest request of an owner wins: it replaces the owner's waiting ticket and cancels the running one.
        ``alive`` is checked before and during the run: whether anybody still wants the result.
        ``one_of``: what the ticket shares with others, of which only one runs at a time; the others wait, and let those
        behind them go first.
        Raises Busy if the queue is full.
        """
        ticket = Ticket(self, owner, work, alive, one_of)
        with self._changed:
            self._remove(
                [other for other in self._queue if other.cancelled()],
                later("The visitor who started this run has left."),
            )
            older = [other for other in self._queue if other.owner == owner]
            index = self._queue.index(older[0]) if older else len(self._queue)
            if not older and len(self._queue) >= self.waiting:
                raise Busy(  # the app does not show it: the run waits outside and asks again (Run.retry)
                    later(
                        "{count} runs are already waiting, which is the limit. Try again in a moment.",
                        count=len(self._queue),
                    )
                )
            self._remove(older, later("A newer request replaced this one."))
            self._queue.insert(index, ticket)
            for other in self._running:
                if other.owner == owner:
                    other._stop.set()
            if self._threads < self.workers and not self._begin_thread() and not self._threads:
                self._queue.clear()
                raise BudgetError(later(_NO_MEMORY))
            self._changed.notify()
        return ticket

    def stop(self, owner: str) -> None:
        """Stop what this owner has in the queue, or running."""
        with self._changed:
            self._remove(
                [one for one in self._queue if one.owner == owner], later("A newer request replaced this one.")
            )
            for one in self._running:
                if one.owner == owner:
                    one._stop.set()

    def _begin_thread(self) -> bool:
        """Start another worker; False if the system refuses a thread. The lock is held."""
        try:
            threading.Thread(target=self._serve, name="bartviz-gate", daemon=True).start()
        except RuntimeError:
            return False
        self._threads += 1
        return True

    def _give_way(self, ticket: Ticket[Any]) -> None:
        """Let waiting runs go first. The ticket's own thread sleeps, and another one serves in its place."""
        with self._changed:
            others = any(not other.cancelled() for other in self._queue)
            if ticket.cancelled() or ticket not in self._running or not others or not self._begin_thread():
                return
            self._threads -= 1
            self._ended_part(ticket)
            ticket._turn = turn = threading.Event()
            self._queue.append(ticket)
            self._changed.notify()
        turn.wait()
        if ticket not in self._running:
            raise Cancelled(later("The run was stopped."))

    def _ended_part(self, ticket: Ticket[Any]) -> None:
        """Count what a part has taken; the lock is held."""
        self._running.remove(ticket)
        seconds = time.monotonic() - ticket._begun
        ticket.seconds += seconds
        self.seconds += seconds
        self._pace += (seconds - self._pace) / 4

    def _position(self, ticket: Ticket[Any]) -> int:
        with self._changed:
            if ticket not in self._queue:
                return 0
            return self._queue.index(ticket) + len(self._running)

    def _withdraw(self, ticket: Ticket[Any]) -> None:
        with self._changed:
            self._remove([each for each in self._queue if each is ticket], later("The run was stopped."))

    def _remove(self, tickets: Sequence[Ticket[Any]], reason: str) -> None:
        """Remove tickets from the queue; the lock is held."""
        for ticket in tickets:
            self._queue.remove(ticket)
            if ticket._turn is not None:  # its own thread ends it
                ticket._stop.set()
                ticket._turn.set()
                continue
            self.ended["cancelled"] += 1
            ticket._end("cancelled", Cancelled(reason))

    def _first(self) -> Ticket[Any] | None:
        """The first in the queue that may run now; the lock is held."""
        taken = {name for ticket in self._running for name in ticket.one_of}
        return next((ticket for ticket in self._queue if taken.isdisjoint(ticket.one_of)), None)

    def _serve(self) -> None:
        while True:
            with self._changed:
                while (ticket := self._first()) is None:
                    self._changed.wait()
                self._queue.remove(ticket)
                self._running.append(ticket)
                ticket._begun = time.monotonic()
                if ticket._turn is not None:  # its own thread continues in place of this one
                    turn, ticket._turn = ticket._turn, None
                    turn.set()
                    return
            ticket._perform()
            with self._changed:
                self.ended[ticket.state] += 1
                serves = ticket in self._running  # else it was stopped in the queue: another thread serves
                if serves:
                    self._ended_part(ticket)
                if ticket.one_of:
                    self._changed.notify_all()
            logs.log.info("a run is %s after %.2f s; %d wait", ticket.state, ticket.seconds, len(self._queue))
            if not serves:
                return
            del ticket  # release it and what it holds while this thread waits
