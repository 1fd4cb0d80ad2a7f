"""A replica: an engine in a process of its own, which computes for apps elsewhere.

An app sends a Call. The answers come one after the other: a Status whenever something has changed, and now and then if
nothing has, so that the app can hang up; at the end a Refusal, or Ready and the packed result.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bartviz.errors import BartvizError, without_stack
from bartviz.language import later, speaking
from bartviz.safety import logs
from bartviz.serving.engine import About, Engine, Run, fetching
from bartviz.serving.limits import Limits
from bartviz.serving.packing import packed
from bartviz.serving.request import Request

if TYPE_CHECKING:
    from bartviz.models.model import Model
    from bartviz.serving.gate import Ticket

TICK = 0.02  # seconds between two looks at a run
BEAT = 0.5  # seconds after which an app is notified of its run even if nothing has changed


@dataclass(frozen=True, slots=True)
class Call:
    """A request for a record, or the arguments of ``Engine.work``; and the language of the visitor.

    ``fetch``: whether the model may be downloaded.
    """

    owner: str
    model: str
    key: Mapping[str, object]
    work: Request | Callable[[Model, Ticket[Any]], Any]
    size: Callable[[Any], int]
    language: str
    fetch: bool = True


@dataclass(frozen=True, slots=True)
class Status:
    """How a run is doing: whether it waits, behind how many and for how many seconds, and what it reports."""

    waiting: bool
    position: int
    due: float
    note: str
    fraction: float | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """The end of a run that has failed or was stopped."""

    error: BartvizError


@dataclass(frozen=True, slots=True)
class Ready:
    """The end of a run that has succeeded: the key of its result, which comes next, and what its model is."""

    key: str
    about: About | None


Answer = Status | Refusal | Ready | Any


class Replica:
    """One engine. Its caches and its gate are its own; the apps that call it share them."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.engine = Engine(limits or Limits.read())
        self.engine.warm_up(0)

    async def run(self, call: Call) -> AsyncIterator[Answer]:
        """Run a request and stream its progress; cancel it when the client disconnects."""
        hung_up, run = threading.Event(), None
        try:
            run = self._started(call, lambda: not hung_up.is_set())
            last, until = None, 0.0
            while not run.finished:
                run.retry()
                status = Status(run.state == "waiting", run.position, run.due, *run.progress)
                if (now := replace(status, due=0.0)) != last or time.monotonic() > until:
                    last, until = now, time.monotonic() + BEAT
                    yield status
                await asyncio.sleep(TICK)
            if run.state == "done":
                yield Ready(run.key, self.engine.about(call.model))
                yield await asyncio.to_thread(packed, run.result)  # large; others are waiting for news of their runs
            else:
                yield Refusal(without_stack(run.error or BartvizError(later("The run was stopped."))))
        except Exception as error:  # Ray would write it to a log with its message, which may contain a visitor's text
            logs.fault("A run failed inside.", error)
            name = type(error).__name__
            yield Refusal(
                BartvizError(later("The run failed inside the model ({name}). Try another text or model.", name=name))
            )
        finally:
            hung_up.set()
            if run is not None:
                run.cancel()

    def _started(self, call: Call, alive: Callable[[], bool]) -> Run[Any]:
        with speaking(call.language), fetching(call.fetch):
            if isinstance(call.work, Request):
                return self.engine.start(call.owner, call.work, alive=alive)
            return self.engine.work(call.owner, call.model, call.key, call.work, call.size, alive=alive)
