"""From a request to a record: bounded caches of models and records, one run at a time, torch imported late.

Nothing here calls Streamlit: it runs in the threads of the gates. A session sees only a Run. The threads use the
language of whoever made the request.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from bartviz.errors import BartvizError, BudgetError, Busy, Cancelled, without_stack
from bartviz.language import current, later, speaking
from bartviz.models.deadline import downloading
from bartviz.models.folders import default_roots
from bartviz.safety.memory import Claim, Room
from bartviz.serving import threads, torch_import
from bartviz.serving.cache import ByteCache, content_key
from bartviz.serving.gate import Gate, State, Ticket
from bartviz.serving.limits import Limits
from bartviz.serving.search import Search, options

if TYPE_CHECKING:
    from bartviz.arrays import Floats
    from bartviz.models.model import Model
    from bartviz.record.record import Record
    from bartviz.text.clean import Truncate

RETRY = 0.1  # seconds between attempts to enter a full queue
LOADERS = 8  # models that may download at the same time; they mostly wait for the network
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Request:
    """A request of the sidebar: one model, one text, and how to run it.

    ``pair`` is the second sentence of an encoder model; ``target`` the given output (teacher forcing) of an
    encoder-decoder. ``max_new_tokens`` None leaves the checkpoint's own limit; ``top_k`` candidates are kept per step.
    ``truncate``: which part of a too long text is kept; None refuses it. ``allow_special``: whether
    ``<mask>`` and the like, typed as text, mean the special token. ``search``: how a text is decoded.
    """

    model: str
    text: str
    pair: str | None = None
    target: str | None = None
    max_new_tokens: int | None = None
    top_k: int = 10
    truncate: Truncate | None = None
    allow_special: bool = False
    search: Search = field(default_factory=Search)


class Run(Generic[T]):
    """Work in progress: its model is loaded first (several at once), then it computes (one at a time)."""

    def __init__(self, alive: Callable[[], bool]) -> None:
        self.stopped = threading.Event()
        self._alive = alive
        self._tickets: list[Ticket[None] | Ticket[T]] = []
        self._last: Ticket[T] | None = None
        self._refused: BartvizError | None = None
        self._enter: Callable[[], Ticket[None]] | None = None  # until it is in the queue
        self._waiting: Callable[[], int] = lambda: 0

    def wanted(self) -> bool:
        """Whether somebody is still waiting for it."""
        return not self.stopped.is_set() and self._alive()

    def enter(self, submit: Callable[[], Ticket[None]], waiting: Callable[[], int]) -> None:
        """Enter the queue by ``submit``; while it is full (``waiting`` gives its length), ``retry`` tries again."""
        self._enter, self._waiting = submit, waiting
        self.retry()

    def retry(self) -> None:
        """Try again to enter the queue, unless it is already in."""
        if self._enter is None:
            return
        try:
            self._tickets.append(self._enter())
        except Busy:
            return
        except BartvizError as error:
            self.refuse(error)
        self._enter = None

    def compute(self, ticket: Ticket[T]) -> None:
        self._last = ticket
        self._tickets.append(ticket)

    def refuse(self, error: BartvizError) -> None:
        self._refused = without_stack(error)

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
        """What it is doing, and the fraction done (0..1) if known."""
        return (self._tickets[-1].note, self._tickets[-1].fraction) if self._tickets else ("", None)

    def cancel(self) -> None:
        self.stopped.set()
        if self._enter is not None:
            self._enter = None
            self.refuse(Cancelled(later("The run was stopped.")))
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


class Engine:
    """The caches of models and records and the two gates in front of them: one per process.

    ``full`` is called after results were evicted for lack of room.
    """

    def __init__(self, limits: Limits, full: Callable[[], None] = lambda: None) -> None:
        self.models: ByteCache[Model] = ByteCache(limits.model_mb * 1_000_000)
        self.room = Room(self.models.limit, self.models.evict)  # models that are loading or in use count too
        self.results: ByteCache[Any] = ByteCache(limits.record_mb * 1_000_000, full)
        self.queue = limits.queue
        self.gate = Gate(waiting=limits.queue + LOADERS)  # room for every run that was let in
        self.loading = Gate(waiting=limits.queue, workers=LOADERS)
        self._submitting = threading.Lock()

    def start(self, owner: str, request: Request, *, alive: Callable[[], bool] = lambda: True) -> Run[Record]:
        """Start a request of a session and stop its earlier one; returns at once."""
        key = {"work": "record"} | asdict(request)
        return self.work(owner, request.model, key, partial(record, request=request), _bytes_of_record, alive=alive)

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
        be read-only. The earlier work of the same owner is stopped. ``alive``: whether somebody is still waiting.
        If the queue is full, the run waits outside and enters at a later ``retry``.
        """
        run: Run[T] = Run(alive)
        spoken = current()

        def compute(ticket: Ticket[T], loaded: Model, full_key: str) -> T:
            threads.fit(loaded.info.parameters)
            with speaking(spoken):
                result: T = self.results.get(full_key, lambda: work(loaded, ticket), size, cancelled=ticket.cancelled)
            for array in _borrowed(result):
                self.results.count(array, array.nbytes)
            return result

        def submit_compute(loaded: Model) -> Ticket[T]:
            full_key = content_key(dict(key) | {"fingerprint": loaded.info.fingerprint})
            known = self.results.peek(full_key)
            if known is not None:  # a cached result does not queue
                return Ticket.of(self.gate, owner, known)
            return self.gate.submit(owner, partial(compute, loaded=loaded, full_key=full_key), alive=run.wanted)

        def load(ticket: Ticket[None]) -> None:
            with speaking(spoken):
                loaded = self._load(ticket, model)
            with self._submitting:  # an older run that loads late must not replace a newer one of its owner at the gate
                if ticket.cancelled():
                    raise Cancelled(later("A newer request took its place."))
                run.compute(submit_compute(loaded))

        def enter() -> Ticket[None]:
            if self._waiting() >= self.queue:
                raise Busy
            return self.loading.submit(owner, load, alive=run.wanted)

        run.enter(enter, self._waiting)
        return run

    def _waiting(self) -> int:
        return len(self.loading) + len(self.gate)

    def _load(self, ticket: Ticket[Any], name: str) -> Model:
        from bartviz.models import load as loading  # the first picture does without it

        ticket.report(later("Starting the model library, once per server"))
        if not torch_import.imported():  # an unknown name is rejected without waiting for torch
            loading.check(name, roots=default_roots())
        torch_import.load()
        self._forget_stale(name)
        loads, waits = later("Loading the model"), later("Waiting until other models give up memory")
        ticket.report(loads)

        def progress(done: int, total: int) -> None:
            if total:
                ticket.report(downloading(done, total), done / total)

        def reserve(size: int, check: Callable[[], None]) -> Claim:
            made = self.room.claim(size, check, partial(ticket.report, waits))
            if ticket.note != loads:
                ticket.report(loads)
            return made

        def loaded() -> Model:
            return loading.load(
                name,
                progress=progress,
                cancel=_Cancel(ticket),
                roots=default_roots(),
                budget=self.models.limit,
                claims=reserve,
            )

        return self.models.get(name, loaded, lambda model: model.nbytes, cancelled=ticket.cancelled)

    def _forget_stale(self, name: str) -> None:
        """Drop a model whose files were replaced. Nothing may hold it here while the new one waits for memory."""
        known = self.models.peek(name)
        if known is not None and known.stale():
            self.models.discard(name)


class _Cancel:
    """A ticket as the cancel event for loading."""

    def __init__(self, ticket: Ticket[Model]) -> None:
        self.is_set = ticket.cancelled


def _bytes_of_record(record: Record) -> int:
    return record.nbytes


def _borrowed(result: object) -> list[Floats]:
    """The arrays that a record shares with its model, and keeps alive after the model is gone."""
    from bartviz.record.record import Record

    if not isinstance(result, Record):
        return []
    attentions = [result.attention(kind) for kind in result.kinds]
    shared = [attention.out for attention in attentions if attention.borrowed and attention.out is not None]
    return [attention if attention.base is None else attention.base for attention in shared]


def record(model: Model, ticket: Ticket[Record], request: Request) -> Record:
    """The record with values and output projections; if they do not fit, without them and with a notice."""
    ticket.report(later("Running the model"))
    try:
        return _captured(model, ticket, request, values=True)
    except BudgetError:
        made = _captured(model, ticket, request, values=False)
    notice = later(
        "The text is long for this model: values were not kept, so contributions of single words are not shown."
    )
    return replace(made, provenance=replace(made.provenance, notices=(*made.provenance.notices, notice)))


def _captured(model: Model, ticket: Ticket[Record], request: Request, *, values: bool) -> Record:
    from bartviz.run.forward import capture
    from bartviz.run.generate import decode

    def on_step(step: int, longest: int) -> None:
        note = later("Writing: token {step} of at most {longest}", step=step, longest=longest)
        ticket.report(note, step / max(longest, 1))

    if model.info.kind != "encoder" and request.target is None:
        return decode(
            model,
            request.text,
            max_new_tokens=request.max_new_tokens,
            top_k=request.top_k,
            values=values,
            allow_special=request.allow_special,
            truncate=request.truncate,
            cancelled=ticket.cancelled,
            on_step=on_step,
            **options(request.search),
        )
    target = request.target
    if target is not None and model.info.kind == "decoder":
        target = _next_word(request.text, target)
    return capture(
        model,
        request.text,
        pair=request.pair,
        target=target,
        top_k=request.top_k,
        values=values,
        allow_special=request.allow_special,
        truncate=request.truncate,
        cancelled=ticket.cancelled,
    )


def _next_word(text: str, target: str) -> str:
    """The target with a space between its first word and the text before it."""
    separated = text[-1:].isspace() or not target[:1].isalnum()
    return target if separated else f" {target}"
