"""From a request to a record: bounded caches of models and records, one run at a time, torch imported late.

Nothing here calls Streamlit: it runs in the threads of the gates. A session sees only a Run. The threads use the
language of the visitor who made the request.
"""

from __future__ import annotations

import math
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from bartviz.errors import BartvizError, Busy, Cancelled, NotFetched, without_stack
from bartviz.language import current, later, speaking
from bartviz.models.deadline import downloading
from bartviz.models.location import canonical
from bartviz.models.roots import default_roots
from bartviz.safety.reservations import Claim, MemoryBudget
from bartviz.serving import threads, torch_import
from bartviz.serving.cache import ByteCache, content_key
from bartviz.serving.gate import Gate, State, Ticket
from bartviz.serving.limits import Limits, device
from bartviz.serving.request import Request, can_share, record, together

if TYPE_CHECKING:
    from bartviz.arrays import Floats
    from bartviz.models.model import Model
    from bartviz.record.record import ModelInfo, Record

QUEUE = 256  # runs that may wait; others wait outside, and enter when there is room
RETRY = 0.1  # seconds between attempts to enter a full queue
TOGETHER = 8  # texts that are written together, while others wait; more gain little and keep the first one waiting
LOADERS = 8  # models that may load at the same time, and as many that may download: these mostly wait for the network
PART = 0.5  # seconds of a run, after which waiting runs come first
T = TypeVar("T")


_FETCH: ContextVar[bool] = ContextVar("fetch", default=True)


@contextmanager
def fetching(allowed: bool) -> Iterator[None]:
    """A block whose runs may download their models, or not: like the language, it is set by the caller."""
    token = _FETCH.set(allowed)
    try:
        yield
    finally:
        _FETCH.reset(token)


def may_fetch() -> bool:
    """Whether runs that begin here may download their models."""
    return _FETCH.get()


class Run(Generic[T]):
    """Work in progress, as whoever started it sees it. The stages of a Job give it a ticket each.

    ``waiting``: the length of the queue that it is to enter.
    """

    def __init__(self, alive: Callable[[], bool], waiting: Callable[[], int]) -> None:
        self.stopped = threading.Event()
        self.key = ""  # of its result in the cache, once its model is loaded
        self._alive = alive
        self._waiting = waiting
        self._tickets: list[Ticket[Any]] = []
        self._last: Ticket[T] | None = None
        self._refused: BartvizError | None = None
        self._enter: Callable[[], None] | None = None  # until it is in the queue

    def wanted(self) -> bool:
        """Whether anyone is still waiting for it."""
        return not self.stopped.is_set() and self._alive()

    def enter(self, enter: Callable[[], None]) -> None:
        """Enter the queue by ``enter``, which follows the first ticket; while it is full, ``retry`` tries again."""
        self._enter = enter
        self.retry()

    def retry(self) -> None:
        """Try again to enter the queue, unless it is already in."""
        if self._enter is None:
            return
        try:
            self._enter()
        except Busy:
            return
        except BartvizError as error:
            self._refused = without_stack(error)
        self._enter = None

    def follow(self, ticket: Ticket[Any], *, last: bool = False) -> None:
        """Continue with this ticket; the ``last`` one gives the result."""
        if last:
            self._last = ticket
        self._tickets.append(ticket)

    @property
    def state(self) -> State:
        """``done`` only once the result is available."""
        if self._refused is not None:
            return "cancelled" if isinstance(self._refused, Cancelled) else "failed"
        if not self._tickets:
            return "waiting"
        state = self._tickets[-1].state
        return "running" if state == "done" and self._last is None else state

    @property
    def finished(self) -> bool:
        return self.state in ("done", "failed", "cancelled")

    @property
    def error(self) -> BartvizError | None:
        return self._refused or (self._tickets[-1].error if self._tickets else None)

    @property
    def result(self) -> T | None:
        """The result, or None unless the run succeeded."""
        return self._last.result() if self._last is not None and self.state == "done" else None

    def forget(self) -> None:
        """Drop the result: its requester has it."""
        if self._last is not None:
            self._last.forget()

    @property
    def position(self) -> int:
        """How many runs are ahead of it; 0 while it runs."""
        return self._tickets[-1].position if self._tickets else self._waiting()

    @property
    def due(self) -> float:
        """Estimated seconds until it starts."""
        return self._tickets[-1].due if self._tickets else math.inf

    @property
    def progress(self) -> tuple[str, float | None]:
        """The current stage, and the fraction done (0..1) if known."""
        return (self._tickets[-1].note, self._tickets[-1].fraction) if self._tickets else ("", None)

    def cancel(self) -> None:
        self.stopped.set()
        if self._enter is not None:
            self._enter = None
            self._refused = Cancelled(later("The run was stopped."))
        for ticket in self._tickets:
            ticket.cancel()

    def wait(self, seconds: float) -> bool:
        """Wait until it ends; False on timeout."""
        end = time.monotonic() + seconds
        while not self.finished and (left := end - time.monotonic()) > 0:
            if self._enter is not None:
                time.sleep(min(left, RETRY))
                self.retry()
            elif self._tickets[-1].wait(left):
                time.sleep(0.001)  # the next ticket is about to be added
        return self.finished


@dataclass(frozen=True, slots=True)
class About:
    """A model that was loaded, and its checkpoint's own settings for decoding, by their names in transformers."""

    info: ModelInfo
    generation: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Job(Generic[T]):
    """The work of a run: its model is loaded first (several at once), then it computes (one at a time).

    Each stage has a ticket at a gate, and gives the run that of the next one at its end. ``request``: the text that is
    written, if any: other runs may write it with theirs.
    """

    engine: Engine
    run: Run[T]
    owner: str
    model: str
    key: Mapping[str, object]
    work: Callable[[Model, Ticket[T]], T]
    size: Callable[[T], int]
    request: Request | None
    language: str = field(default_factory=current)
    fetch: bool = field(default_factory=may_fetch)

    def enter(self) -> None:
        """Enter the queue of the first stage that is left. Raises Busy if it is full."""
        engine = self.engine
        if engine.waiting >= engine.queue:
            raise Busy
        loaded = engine.models.peek(self.model)
        if loaded is None or loaded.stale():
            del loaded  # nothing may hold it here while the new one waits for memory
            with engine.submitting:
                engine.fetching.stop(self.owner)
                self.run.follow(engine.loading.submit(self.owner, self.load, alive=self.run.wanted))
            return
        with engine.submitting:
            engine.loading.stop(self.owner)
            engine.fetching.stop(self.owner)
            self._compute_next(loaded)

    def load(self, ticket: Ticket[None]) -> None:
        """The first stage: read the model. One that is not on this machine is downloaded, in a queue of its own."""
        try:
            with speaking(self.language):
                if self.fetch and self.engine.is_cached(self.model):
                    raise NotFetched("", self.model)  # there may be a newer version
                loaded = self.engine.load(ticket, self.model)
        except NotFetched:
            if not self.fetch:
                raise
            with self._in_turn(ticket):
                self._download_next()
            return
        with self._in_turn(ticket):
            self._compute_next(loaded)

    def download(self, ticket: Ticket[None]) -> None:
        """The first stage of a model that is not on this machine."""
        with speaking(self.language):
            loaded = self.engine.load(ticket, self.model, fetch=True)
        with self._in_turn(ticket):
            self._compute_next(loaded)

    def compute(self, ticket: Ticket[T], loaded: Model) -> T:
        """The second stage: the result, from the cache if it is there by now."""
        threads.fit(loaded.info.parameters)
        with speaking(self.language):
            return self.engine.kept(self.run.key, lambda: self.work(loaded, ticket), self.size, ticket)

    @contextmanager
    def _in_turn(self, ticket: Ticket[None]) -> Iterator[None]:
        """A block that submits the next stage: an older run that loads late must not replace a newer one of its owner
        at the gate."""
        with self.engine.submitting:
            if ticket.cancelled():
                raise Cancelled(later("A newer request replaced this one."))
            yield

    def _download_next(self) -> None:
        one_of = (f"visitor {self.owner.partition(' ')[0]}", f"model {self.model}")
        self.run.follow(self.engine.fetching.submit(self.owner, self.download, alive=self.run.wanted, one_of=one_of))

    def _compute_next(self, loaded: Model) -> None:
        engine, fingerprint = self.engine, loaded.info.fingerprint
        self.run.key = content_key(dict(self.key) | {"fingerprint": fingerprint})
        known = engine.results.peek(self.run.key)
        if known is not None:  # a cached result does not queue
            self.run.follow(Ticket.of(engine.gate, self.owner, known), last=True)
            return
        ticket = engine.gate.submit(self.owner, partial(self.compute, loaded=loaded), alive=self.run.wanted)
        if self.request is not None:
            engine.may_share(ticket, _Text(self.run.key, self.request, fingerprint))
        self.run.follow(ticket, last=True)


class Engine:
    """The caches of models and records and the two gates in front of them: one per process.

    ``full`` is called after results were evicted for lack of room.
    """

    def __init__(self, limits: Limits, full: Callable[[], None] = lambda: None) -> None:
        self.models: ByteCache[Model] = ByteCache(limits.model_mb * 1_000_000)
        self.budget = MemoryBudget(self.models.limit, self.models.evict)  # models that are loading or in use count too
        self.results: ByteCache[Any] = ByteCache(limits.record_mb * 1_000_000, full)
        self.queue = QUEUE
        self.gate = Gate(waiting=QUEUE + 2 * LOADERS, part=PART)  # room for every run that was let in
        self.loading = Gate(waiting=QUEUE, workers=LOADERS)
        self.fetching = Gate(waiting=QUEUE + LOADERS, workers=LOADERS)  # what is not on this machine
        self.submitting = threading.Lock()
        self._texts_lock = threading.Lock()
        self._texts: weakref.WeakKeyDictionary[Ticket[Any], _Text] = weakref.WeakKeyDictionary()  # at the gate

    def start(self, owner: str, request: Request, *, alive: Callable[[], bool] = lambda: True) -> Run[Record]:
        """Start a request of a session and stop its earlier one; returns at once."""
        key = {"work": "record"} | asdict(request)
        work = partial(self._record, request=request)
        return self._begun(owner, request.model, key, work, bytes_of_record, alive, request)

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
        """Load a model by name and call ``work(model, ticket)`` behind the gate; returns at once.

        The result is cached under ``key`` and the model's fingerprint; ``size`` gives its bytes. It is shared and must
        be read-only. The earlier work of the same ``owner`` is stopped: a session, and after a space what of it.
        ``alive``: whether somebody is still waiting. Within ``fetching(False)`` the run ends with NotFetched for a
        model that is not on this machine.
        If the queue is full, the run waits outside and enters at a later ``retry``. A session has one download at a
        time, and a model that is in memory waits for no other.
        """
        return self._begun(owner, model, key, work, size, alive)

    def _begun(
        self,
        owner: str,
        model: str,
        key: Mapping[str, object],
        work: Callable[[Model, Ticket[T]], T],
        size: Callable[[T], int],
        alive: Callable[[], bool],
        request: Request | None = None,
    ) -> Run[T]:
        run: Run[T] = Run(alive, lambda: self.waiting)
        run.enter(Job(self, run, owner, model, key, work, size, request).enter)
        return run

    def kept(self, key: str, make: Callable[[], T], size: Callable[[T], int], ticket: Ticket[Any]) -> T:
        """A result from the cache, or made and cached there. Where another run makes it, that one needs its turns."""
        meanwhile = partial(ticket.give_way, at_once=True)
        result: T = self.results.get(key, make, size, cancelled=ticket.cancelled, meanwhile=meanwhile)
        for array in _borrowed(result):
            self.results.count(array, array.nbytes)
        return result

    def _record(self, model: Model, ticket: Ticket[Record], request: Request) -> Record:
        """The record of a text. Texts that wait for the same are written with it, and found in the cache at their
        turn."""
        others = self._others(model, request)
        if others and can_share(model, request):
            try:
                made = together(model, ticket, [request, *(text.request for text in others)])
            except Cancelled:
                raise
            except BartvizError:  # of any of them: each has its own turn
                return record(model, ticket, request)
            for text, one in zip(others, made[1:], strict=True):
                self.kept(text.key, partial(_same, one), bytes_of_record, ticket)
            return made[0]
        return record(model, ticket, request)

    def _others(self, model: Model, request: Request) -> list[_Text]:
        """The first texts at the gate that can be written with a request and are not yet known; each key once."""
        with self._texts_lock:
            waiting = [
                text for ticket, text in self._texts.items() if ticket.state == "waiting" and not ticket.cancelled()
            ]
        like = replace(request, text="")
        fitting = {
            text.key: text
            for text in waiting
            if (replace(text.request, text=""), text.fingerprint) == (like, model.info.fingerprint)
            and text.request.text != request.text
            and self.results.peek(text.key) is None
        }
        return list(fitting.values())[: TOGETHER - 1]

    def may_share(self, ticket: Ticket[Any], text: _Text) -> None:
        """Note a text that waits at the gate: other runs may write it with theirs."""
        with self._texts_lock:
            self._texts[ticket] = text

    @property
    def waiting(self) -> int:
        """How many runs wait, for their model or for their turn."""
        return len(self.loading) + len(self.fetching) + len(self.gate)

    @property
    def ready(self) -> bool:
        """Whether a text would run at once: the model library is imported."""
        return torch_import.imported()

    def warm_up(self, delay: float = 1.5) -> None:
        """Get ready in the background, once, after a delay in seconds."""
        torch_import.warm_up(delay)

    def about(self, name: str) -> About | None:
        """The facts about a model by its name; None until it is loaded."""
        model = self.models.peek(canonical(name, default_roots()))
        return None if model is None else About(model.info, model.generation.to_dict())

    def is_cached(self, name: str) -> bool:
        """Whether a model was downloaded earlier."""
        from bartviz.models import load as loading  # the first picture does without it

        return loading.place(name, default_roots()) == "cache"

    def load(self, ticket: Ticket[Any], name: str, *, fetch: bool = False) -> Model:
        """Without ``fetch`` the hub is not asked: a model is read as it was downloaded earlier. Raises NotFetched."""
        from bartviz.models import load as loading

        ticket.report(later("Starting the model library, once per server"))
        if not torch_import.imported():  # an unknown name is rejected without waiting for torch
            loading.check(name, roots=default_roots(), fetch=fetch)
        torch_import.load()
        key = canonical(name, default_roots())
        self._forget_stale(key)
        loads, waits = later("Loading the model"), later("Waiting for other models to free memory")
        ticket.report(loads)

        def progress(done: int, total: int) -> None:
            if total:
                ticket.report(downloading(done, total), done / total)

        def reserve(size: int, check: Callable[[], None]) -> Claim:
            made = self.budget.claim(size, check, partial(ticket.report, waits))
            if ticket.note != loads:
                ticket.report(loads)
            return made

        def loaded() -> Model:
            return loading.load(
                name,
                device=device(),
                progress=progress,
                cancel=_Cancel(ticket),
                roots=default_roots(),
                budget=self.models.limit,
                claims=reserve,
                fetch=fetch,
            )

        return self.models.get(key, loaded, lambda model: model.nbytes, cancelled=ticket.cancelled)

    def _forget_stale(self, name: str) -> None:
        """Drop a model whose files were replaced. Nothing may hold it here while the new one waits for memory."""
        known = self.models.peek(name)
        if known is not None and known.stale():
            self.models.discard(name)


class _Cancel:
    """A ticket as the cancel event for loading."""

    def __init__(self, ticket: Ticket[Model]) -> None:
        self.is_set = ticket.cancelled


@dataclass(frozen=True, slots=True)
class _Text:
    """A text that waits at the gate to be written: the key of its record, and the fingerprint of its model."""

    key: str
    request: Request
    fingerprint: str


def _same(value: T) -> T:
    return value


def bytes_of_record(record: Record) -> int:
    return record.nbytes


def _borrowed(result: object) -> list[Floats]:
    """The arrays that a record shares with its model, and keeps alive after the model is gone."""
    from bartviz.record.record import Record

    if not isinstance(result, Record):
        return []
    attentions = [result.attention(kind) for kind in result.kinds]
    shared = [attention.out for attention in attentions if attention.borrowed and attention.out is not None]
    return [attention if attention.base is None else attention.base for attention in shared]
