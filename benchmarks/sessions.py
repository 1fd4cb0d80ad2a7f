"""Many visitors at once, without a browser: clients that speak Streamlit's websocket messages, on loopback alone.

Fifty visitors with a text each; two thousand that come and go; one that leaves while a run is on its way; a server that
is asked to end while it works.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable, Sequence

import numpy as np
import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from benchmarks.memory import OURS
from scripts.serving import health, served

LONGEST = 120.0  # seconds after which a client gives up
LONG_TEXT = "The cat is sleeping on the sofa and the dog is playing in the garden with a red ball and a boy. " * 4


def report(visitors: int = 50, passers: int = 2000) -> None:
    print("\nMany visitors, over websockets, one process of clients beside the server (wall time, as a visitor waits)")
    with served(without=OURS) as (address, process):
        asyncio.run(_visitors(address, visitors))
        asyncio.run(_passers(address, passers, psutil.Process(process.pid)))
        asyncio.run(_leaver(address))
    with served(without=OURS) as (address, process):
        asyncio.run(_stopped(address, process))


class Visitor:
    """One session: opens a page by its query, reads what the server sends, and asks again where a browser would."""

    def __init__(self, connection: ClientConnection, query: str) -> None:
        self.connection, self.query = connection, query
        self.said = ""
        self.again: tuple[str, float] | None = None  # a fragment that is to be run again, after so many seconds

    async def run(self, fragment: str = "") -> str:
        """One script run, or one of a fragment: everything that was sent as HTML until it ended."""
        message = BackMsg()
        message.rerun_script.query_string = self.query
        message.rerun_script.fragment_id = fragment
        await self.connection.send(message.SerializeToString())
        parts: list[str] = []
        while True:
            data = await asyncio.wait_for(self.connection.recv(), LONGEST)
            forward = ForwardMsg()
            forward.ParseFromString(data if isinstance(data, bytes) else data.encode())
            element = forward.delta.new_element
            parts.append(element.html.body or element.exception.message)
            kind = forward.WhichOneof("type")
            if kind == "auto_rerun":
                self.again = forward.auto_rerun.fragment_id, forward.auto_rerun.interval
            elif kind == "script_finished" and forward.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                parts, self.again = [], None  # the whole page follows
            elif kind == "script_finished":
                self.said = " ".join(parts)
                return self.said

    async def until(self, wanted: Callable[[str], bool]) -> float:
        """Seconds until the page says what is wanted; its progress line is asked anew, as the browser does."""
        started = time.monotonic()
        said = await self.run()
        while not wanted(said):
            if time.monotonic() - started > LONGEST:
                raise TimeoutError(self.said[:300])
            fragment, seconds = self.again or ("", 0.4)
            await asyncio.sleep(seconds)
            said = await self.run(fragment)
        return time.monotonic() - started


async def visit(address: str, query: str, then: Callable[[Visitor], Awaitable[float]]) -> float:
    stream = f"{address.replace('http', 'ws', 1)}/_stcore/stream"
    async with connect(stream, subprotocols=["streamlit", "x"], max_size=None, open_timeout=60) as connection:  # type: ignore[list-item]
        return await then(Visitor(connection, query))


async def _visitors(address: str, count: int) -> None:
    """All at once, after one who came before them: the model library is imported once per server."""
    await visit(address, _link("I want to buy a car."), lambda one: one.until(_reproduced))
    done = asyncio.Event()
    waits = asyncio.create_task(_watch(address, done))
    texts = [f"I have {number} books and one dog." for number in range(count)]
    each = await asyncio.gather(*(visit(address, _link(text), lambda one: one.until(_reproduced)) for text in texts))
    done.set()
    print(f"  {count} visitors, each a text of their own: {_spread(each)} until it is drawn")
    print(f"  the server's health meanwhile:             {_spread(await waits)}")


async def _passers(address: str, count: int, server: psutil.Process) -> None:
    async def first(one: Visitor) -> float:
        started = time.monotonic()
        await one.run()
        return time.monotonic() - started

    async def some(number: int) -> list[float]:
        found: list[float] = []
        for _ in range(0, number, 20):
            found += await asyncio.gather(*(visit(address, "", first) for _ in range(20)))
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

    async def leave(one: Visitor) -> float:
        await one.run()
        await asyncio.sleep(0.5)
        return 0.0

    alone = await visit(address, _link("I have a cat."), lambda one: one.until(_reproduced))
    await visit(address, _link(LONG_TEXT), leave)
    after = await visit(address, _link("I have a bird."), lambda one: one.until(_reproduced))
    print(f"  a short text alone {alone:.2f} s; after somebody left in the middle of a long one {after:.2f} s")


async def _stopped(address: str, process: subprocess.Popen[bytes]) -> None:
    async def work(one: Visitor) -> float:
        await one.run()
        started = time.monotonic()
        process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(process.wait, 30)
        return time.monotonic() - started

    print(f"  asked to end while it works, the server ends after {await visit(address, _link(LONG_TEXT), work):.2f} s")


async def _watch(address: str, done: asyncio.Event) -> list[float]:
    found: list[float] = []
    while not done.is_set():
        seconds = await asyncio.to_thread(health, address)
        found.append(20.0 if seconds is None else seconds)
        await asyncio.sleep(0.1)
    return found


def _link(text: str) -> str:
    return f"text={text.replace(' ', '+')}&model=bart-tiny-en-de"


def _reproduced(said: str) -> bool:
    """Whether a run has come to its end: while it is on its way its progress stands in the place of the status line."""
    return "checked when it was made" in said


def _spread(seconds: Sequence[float]) -> str:
    middle, high = np.percentile(seconds, [50, 95])
    return f"median {middle:.2f} s, 95 % within {high:.2f} s, at most {max(seconds):.2f} s"
