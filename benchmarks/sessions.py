"""Many visitors at once, without a browser: clients that speak Streamlit's websocket messages, on loopback alone.

Two thousand that come and go; one that leaves while a run is on its way; a server that is asked to end while it works.
How soon a crowd is answered is a part of ``load``.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection

import numpy as np
import psutil

from benchmarks.memory import OURS
from scripts.serving import health, served
from scripts.visitor import answered, link, visitor

LONG_TEXT = "The cat is sleeping on the sofa and the dog is playing in the garden with a red ball and a boy. " * 4


def report(passers: int = 2000) -> None:
    print("\nMany visitors, over websockets, one process of clients next to the server (wall time, as a visitor waits)")
    with served(without=OURS) as (address, process):
        asyncio.run(answered(address, "I want to buy a car."))  # the model library is imported once per server
        asyncio.run(_passers(address, passers, psutil.Process(process.pid)))
        asyncio.run(_leaver(address))
    with served(without=OURS) as (address, process):
        asyncio.run(_stopped(address, process))


async def _passers(address: str, count: int, server: psutil.Process) -> None:
    async def first() -> float:
        async with visitor(address) as one:
            started = time.monotonic()
            await one.run()
            return time.monotonic() - started

    async def some(number: int) -> list[float]:
        found: list[float] = []
        for _ in range(0, number, 20):
            found += await asyncio.gather(*(first() for _ in range(20)))
        return found

    await some(max(20, count // 10))
    before = server.memory_info().rss
    times = await some(count)
    await asyncio.sleep(2)
    after = server.memory_info().rss
    print(f"  {count} come and go, 20 at once:             {_spread(times)} until the first page is whole")
    print(
        f"  the server's memory: {before / 1e6:.0f} MB before, {after / 1e6:.0f} MB after ({after / before - 1:+.1%})"
    )


async def _leaver(address: str) -> None:
    """Someone leaves in the middle of a long run; the next one's short text must not wait for its end."""

    alone = await answered(address, "I have a cat.")
    async with visitor(address, query=link(LONG_TEXT)) as one:
        await one.run()
        await asyncio.sleep(0.5)
    after = await answered(address, "I have a bird.")
    print(f"  a short text alone {alone:.2f} s; after somebody left in the middle of a long one {after:.2f} s")


async def _stopped(address: str, process: subprocess.Popen[bytes]) -> None:
    async with visitor(address, query=link(LONG_TEXT)) as one:
        await one.run()
        started = time.monotonic()
        process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(process.wait, 30)
    print(f"  asked to end while it works, the server ends after {time.monotonic() - started:.2f} s")


@contextmanager
def pulse(address: str) -> Iterator[list[float]]:
    """How long the server took to say that it is well, again and again: filled at the end.

    Asked from a process of its own, which the clients do not hold up.
    """
    waits: list[float] = []
    ours, theirs = multiprocessing.Pipe()
    asking = multiprocessing.get_context("spawn").Process(target=_ask, args=(address, theirs))
    asking.start()
    ours.recv()  # it has begun
    yield waits
    ours.send("enough")
    waits += ours.recv()
    asking.join()


def _ask(address: str, pipe: Connection) -> None:
    waits: list[float] = []
    pipe.send("begun")
    while not pipe.poll(0.05):
        seconds = health(address)
        waits.append(20.0 if seconds is None else seconds)
    pipe.send(waits)


def _spread(seconds: Sequence[float]) -> str:
    middle, high = np.percentile(seconds, [50, 95])
    return f"median {middle:.2f} s, 95% within {high:.2f} s, at most {max(seconds):.2f} s"
