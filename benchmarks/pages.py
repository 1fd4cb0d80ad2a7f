"""What each page costs the server: processor time and bytes of a visit and of every run after it.

Over websockets, without a browser; the server's processor time is what all its threads take, so that other work on
the machine counts little.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from statistics import median

import psutil

from bartviz.app.frame.page_list import PAGES
from benchmarks.memory import OURS
from scripts.serving import served
from scripts.visitor import Sent, visitor

VISITS = 7
REST = 0.1  # seconds after the last message in which the server may still be at work
IDLE = 0.004  # seconds of processor time within ``LOOK`` of a server that has nothing to do
LOOK = 0.5


def report(words: Sequence[str] = (), visits: int = VISITS) -> None:
    """Print the table: of the pages of these words, without them of all."""
    print("\nPages: the server's processor time, median (least), and bytes over the websocket; with the model library.")
    print("A visit is a new session, a rerun another script run of the same session.")
    print(f"  {'page':<12} {'visit':>9} {'':>16} {'rerun':>9} {'':>14} messages")
    wanted = [page.word for page in PAGES if not words or page.word in words]
    with served(without=OURS) as (address, process):
        asyncio.run(_pages(address, psutil.Process(process.pid), wanted, visits))


async def _pages(address: str, server: psutil.Process, words: Sequence[str], visits: int) -> None:
    for word in words:  # what is made once per server is made, and a page of tasks has its answers
        async with visitor(address, word) as one:
            await one.run()
            await _quiet(server)
            await one.run()
    while not _has_torch(server):
        await asyncio.sleep(LOOK)
    await _quiet(server)
    for word in words:
        visited, first, reran, again, sent = zip(
            *[await _visit(address, server, word) for _ in range(visits)], strict=True
        )
        print(
            f"  {word:<12} {_spread(visited)} {median(first) / 1e3:7.1f} kB "
            f" {_spread(reran)} {median(again) / 1e3:7.1f} kB {median(sent):6.0f}",
            flush=True,
        )


def _spread(seconds: Sequence[float]) -> str:
    return f"{1e3 * median(seconds):5.0f} ({1e3 * min(seconds):3.0f}) ms"


async def _visit(address: str, server: psutil.Process, word: str) -> tuple[float, int, float, int, int]:
    """Processor seconds and bytes of a first run, of the third, and the messages of that."""
    async with visitor(address, word if word != PAGES[0].word else "") as one:
        first, opened = await _cost(server, one.run)
        await one.run()
        await asyncio.sleep(REST)
        again, sent = await _cost(server, one.run)
    await asyncio.sleep(REST)
    return first, opened.bytes, again, sent.bytes, len(sent.messages)


async def _cost(server: psutil.Process, run: Callable[[], Awaitable[Sent]]) -> tuple[float, Sent]:
    before = _processor(server)
    sent = await run()
    await asyncio.sleep(REST)
    return _processor(server) - before, sent


async def _quiet(server: psutil.Process) -> None:
    """Wait until the server has nothing to do."""
    while True:
        before = _processor(server)
        await asyncio.sleep(LOOK)
        if _processor(server) - before < IDLE:
            return


def _processor(server: psutil.Process) -> float:
    """Seconds of processor time of all threads, those that have ended too: the clock of the process, to the ns."""
    return time.clock_gettime((~server.pid << 3) | 2)


def _has_torch(server: psutil.Process) -> bool:
    return any("libtorch" in part.path for part in server.memory_maps())
