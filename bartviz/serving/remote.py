"""An engine whose runs compute elsewhere: it asks replicas, shows how they are doing, and keeps their results.

This process then holds no model and imports no model library. What visitors see is the same: one run for each, its
place in the queue, its progress, its errors. Results are stored here once for all requests that are equal.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from weakref import WeakValueDictionary

from bartviz.errors import BartvizError, Cancelled, SettingError
from bartviz.language import current, later, speaking
from bartviz.serving.engine import About, Engine, Run, bytes_of_record, may_fetch
from bartviz.serving.gate import Gate, State, Ticket
from bartviz.serving.limits import Limits
from bartviz.serving.packing import unpacked
from bartviz.serving.replica import Answer, Call, Ready, Refusal, Status

if TYPE_CHECKING:
    from bartviz.arrays import Floats
    from bartviz.models.model import Model
    from bartviz.record.record import Record
    from bartviz.serving.request import Request

CALLS = 32  # runs that are with the replicas at the same time; the others wait here
ATTEMPTS = 3  # of a run whose replica is lost
LOOK = 0.1  # seconds between two looks whether a run is still wanted, while no answer comes
QUIET = 10.0  # seconds that calls wait for any answer at all before the replicas count as gone
SILENCE = 60.0  # seconds without an answer after which a replica that has taken a run counts as lost
T = TypeVar("T")


class Lost(Exception):
    """The replica that computed is gone."""


class NoReplicas(SettingError):
    """There is no replica at all."""


class Answers(Protocol):
    """The answers of a replica to a call. Iterating raises Lost if the replica is gone, and NoReplicas if none run."""

    def __iter__(self) -> Iterator[Answer]: ...

    def __next__(self) -> Answer: ...

    def cancel(self) -> None:
        """Hang up, while another thread may wait for an answer: the replica stops the run, unless it has ended."""


class Replicas(Protocol):
    """The connection to the replicas."""

    def connect(self) -> None:
        """Reach them, once. Raises BartvizError."""

    def ask(self, call: Call) -> Answers:
        """Ask one of them, if possible one that has the model. Raises BartvizError."""


class Listener:
    """Responses read on a background thread, so that callers can time out.

    Iterating raises what the answers raise, Cancelled once ``cancelled`` is true, and Lost after a silence.
    """

    def __init__(self, answers: Answers, cancelled: Callable[[], bool]) -> None:
        self._cancelled = cancelled
        self._arrived: SimpleQueue[tuple[Answer, BaseException | None]] = SimpleQueue()
        self._heard: float | None = None  # when the last answer came; until the first, the call waits for a replica
        threading.Thread(target=self._listen, args=(answers,), name="bartviz-listener", daemon=True).start()

    def __iter__(self) -> Iterator[Answer]:
        return self

    def __next__(self) -> Answer:
        while True:
            if self._cancelled():
                raise Cancelled(later("The run was stopped."))
            try:
                answer, error = self._arrived.get(timeout=LOOK)
            except Empty:
                if self._heard is not None and time.monotonic() - self._heard > SILENCE:
                    raise Lost from None
                continue
            if error is not None:
                raise error
            self._heard = time.monotonic()
            return answer

    def _listen(self, answers: Answers) -> None:
        try:
            for answer in answers:
                self._arrived.put((answer, None))
            self._arrived.put((None, Lost()))
        except BaseException as error:  # raised where the answers are awaited
            self._arrived.put((None, error))


class RemoteRun(Run[T]):
    """A run whose queue is that of a replica, once it is there."""

    status: Status | None = None

    @property
    def state(self) -> State:
        state = super().state
        return "waiting" if state == "running" and (self.status is None or self.status.waiting) else state

    @property
    def position(self) -> int:
        return super().position or (self.status.position if self.status is not None else 0)

    @property
    def due(self) -> float:
        return super().due or (self.status.due if self.status is not None else 0.0)


class RemoteEngine(Engine):
    """The engine of an app without models. Its gate holds the calls to the replicas.

    ``full``: as for Engine.
    """

    def __init__(self, limits: Limits, replicas: Replicas, full: Callable[[], None] = lambda: None) -> None:
        super().__init__(limits, full)
        self.gate = Gate(waiting=self.queue, workers=CALLS)
        self._replicas = replicas
        self._known: dict[str, About] = {}
        self._borrowed: WeakValueDictionary[tuple[str, str, str], Floats] = WeakValueDictionary()
        self._waiting: set[Ticket[Any]] = set()  # at the replicas, or for one that is free
        self._asked: dict[Ticket[Any], float] = {}  # when, of calls that are with the replicas
        self._heard = 0.0  # when any of them answered last
        self._connected = threading.Event()
        self._connecting = threading.Lock()
        self._asking = threading.Lock()

    def start(self, owner: str, request: Request, *, alive: Callable[[], bool] = lambda: True) -> Run[Record]:
        """As ``Engine.start``."""
        return self._called(Call(owner, request.model, {}, request, bytes_of_record, current(), may_fetch()), alive)

    def work(
        self,
        owner: str,
        model: str,
        key: Mapping[str, object],
        work: Callable[[Model, Ticket[T]], T],
        size: Callable[[T], int],
        *,
        alive: Callable[[], bool] = lambda: True,
    ) -> Run[T]:
        """As ``Engine.work``. ``work`` and ``size`` are sent to another process."""
        return self._called(Call(owner, model, key, work, size, current(), may_fetch()), alive)

    def _called(self, call: Call, alive: Callable[[], bool]) -> Run[T]:
        run: RemoteRun[T] = RemoteRun(alive, lambda: self.waiting)
        compute = partial(self._computed, run, call)
        run.enter(lambda: run.follow(self.gate.submit(call.owner, compute, alive=run.wanted), last=True))
        return run

    @property
    def waiting(self) -> int:
        """How many runs wait, here or at the replicas."""
        return len(self.gate) + len(self._waiting)

    @property
    def ready(self) -> bool:
        """Whether the replicas have been reached, and answer if they are asked."""
        asked = min(list(self._asked.values()), default=math.inf)
        return self._connected.is_set() and time.monotonic() - max(asked, self._heard) < QUIET

    def warm_up(self, delay: float = 1.5) -> None:
        """Reach the replicas in the background; the first run reports any error."""
        if not self._connected.is_set() and self._connecting.acquire(blocking=False):
            timer = threading.Timer(delay, self._reach)
            timer.daemon = True
            timer.start()

    def about(self, name: str) -> About | None:
        """The facts about a model by its name; None until a run has used it."""
        return self._known.get(name)

    def _reach(self) -> None:
        try:
            with suppress(BartvizError):  # the next visit tries again
                self._replicas.connect()
                self._connected.set()
        finally:
            self._connecting.release()

    def _computed(self, run: RemoteRun[T], call: Call, ticket: Ticket[T]) -> T:
        """The result of a call. A replica that is lost is replaced by another: a run changes nothing where it runs."""
        with speaking(call.language):
            ticket.report(later("Waiting for a worker"))
            self._replicas.connect()
            self._connected.set()
            for _attempt in range(ATTEMPTS):
                answers = self._ask(call, ticket)
                try:
                    return self._result(run, call, ticket, Listener(answers, ticket.cancelled))
                except NoReplicas:
                    self._connected.clear()
                    raise
                except Lost:
                    run.status = None
                    ticket.report(later("The worker was lost; restarting on another one"))
                finally:
                    self._waiting.discard(ticket)
                    self._asked.pop(ticket, None)
                    answers.cancel()
            raise BartvizError(later("Every worker that ran this was lost. Try again, or use a shorter text."))

    def _ask(self, call: Call, ticket: Ticket[T]) -> Answers:
        """Ask, unless the run was cancelled: an older run must not ask after a newer one of its owner, whose place it
        would take at the replica."""
        with self._asking:
            if ticket.cancelled():
                raise Cancelled(later("The run was stopped."))
            answers = self._replicas.ask(call)
        self._waiting.add(ticket)
        self._asked[ticket] = time.monotonic()
        return answers

    def _result(self, run: RemoteRun[T], call: Call, ticket: Ticket[T], answers: Iterator[Answer]) -> T:
        for answer in answers:
            self._heard = time.monotonic()
            if isinstance(answer, Status):
                run.status = answer
                (self._waiting.add if answer.waiting else self._waiting.discard)(ticket)
                ticket.report(answer.note, answer.fraction)
            elif isinstance(answer, Refusal):
                raise answer.error
            elif isinstance(answer, Ready):
                if answer.about is not None:
                    self._known[call.model] = answer.about
                kept: T = self.kept(answer.key, partial(self._received, answers), call.size, ticket)
                return kept
        raise Lost

    def _received(self, answers: Iterator[Any]) -> Any:
        """The result that comes after Ready."""
        for content in answers:
            return self._shared(unpacked(content))
        raise Lost

    def _shared(self, result: T) -> T:
        """A result whose arrays that belong to a model are those of the first record of that model."""
        from bartviz.record.record import Record

        if not isinstance(result, Record):
            return result
        shared: Any = result.holding({kind: self._with_known(result, kind) for kind in result.kinds})
        known: T = shared
        return known

    def _with_known(self, record: Record, kind: str) -> Any:
        attention = record.attention(kind)
        if not attention.borrowed or attention.out is None:
            return attention
        name = (record.model.fingerprint, record.model.name, kind)
        return replace(attention, out=self._borrowed.setdefault(name, attention.out))
