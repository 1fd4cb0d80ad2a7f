"""Replicas in this process: what is asked and answered is packed as if it went to another process."""

from __future__ import annotations

import asyncio
import pickle
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from functools import partial
from typing import Any, TypeVar

import cloudpickle

from bartviz.models.model import Model
from bartviz.serving.engine import Engine, Run
from bartviz.serving.gate import Ticket
from bartviz.serving.packing import packed, unpacked
from bartviz.serving.remote import Lost
from bartviz.serving.replica import Answer, Call, Replica

T = TypeVar("T")


def sent(thing: T) -> T:
    """A copy, by the way that Ray sends things."""
    copy: T = cloudpickle.loads(cloudpickle.dumps(thing))
    return copy


class Near:
    """The way to these replicas, in turn. ``asked`` keeps the calls; after ``loses`` answers so many calls are lost."""

    def __init__(self, *replicas: Replica, loses: int = 0) -> None:
        self.replicas = replicas
        self.asked: list[Call] = []
        self.loses = loses
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    def connect(self) -> None:
        """Nothing to do."""

    def ask(self, call: Call) -> NearAnswers:
        """Ask the next one."""
        self.asked.append(call)
        replica = self.replicas[len(self.asked) % len(self.replicas)]
        self.loses -= 1
        return NearAnswers(self._loop, replica.run(sent(call)), lost=self.loses >= 0)


class NearAnswers:
    """The answers of a replica's generator, which runs in a loop of another thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, generator: AsyncIterator[Answer], *, lost: bool) -> None:
        self._loop = loop
        self._generator: Any = generator
        self._lost = lost
        self._awaited: Future[Answer] | None = None
        self._hung_up, self._lock = False, threading.Lock()

    def __iter__(self) -> Iterator[Answer]:
        return self

    def __next__(self) -> Answer:
        try:
            with self._lock:
                if self._hung_up:
                    raise StopIteration
                self._awaited = asyncio.run_coroutine_threadsafe(self._generator.__anext__(), self._loop)
            answer = self._awaited.result(120)
        except (StopAsyncIteration, CancelledError):
            raise StopIteration from None
        if self._lost:
            raise Lost
        return pickle.loads(pickle.dumps(answer))

    def cancel(self) -> None:
        """Hang up."""
        with self._lock:
            self._hung_up = True
            if self._awaited is not None:
                self._awaited.cancel()
        asyncio.run_coroutine_threadsafe(self._closed(), self._loop).result(120)

    async def _closed(self) -> None:
        while True:
            try:
                return await self._generator.aclose()  # type: ignore[no-any-return]
            except RuntimeError:  # it still runs
                await asyncio.sleep(0.01)


class Sending(Engine):
    """An engine that sends every work and its result on their way, and computes here."""

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
        return super().work(owner, model, key, partial(_arriving, sent(work)), sent(size), alive=alive)


def _arriving(work: Callable[[Model, Ticket[T]], T], model: Model, ticket: Ticket[T]) -> T:
    result: T = unpacked(packed(work(model, ticket)))
    return result
