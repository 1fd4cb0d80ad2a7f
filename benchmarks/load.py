"""``make load``: how many visitors one server carries. Clients over websockets, without a browser, on loopback alone.

``python -m benchmarks.load [start] [paced] [burst] [heavy] [slam] [soak] [--minutes 2]``, all of them by default.
Each part has a fresh server, which answers a first visitor before the others come, except in ``start``; the clients run
on the same machine. Every part stops by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np
import psutil

from bartviz.app.frame.page_list import PAGES
from benchmarks.memory import OURS
from benchmarks.sessions import LONG_TEXT, pulse
from scripts.serving import served
from scripts.visitor import answered, drawn, link, visitor

RATES = (1.0, 2.0, 4.0, 8.0)  # visits a second
PACED = 20.0  # seconds at each rate
GOAL = 3.0  # seconds within which 95 of 100 visitors have their picture
BURSTS = (50, 100)
HEAVY = 24  # visitors
SLAMS = 300
STAYING = 20  # visitors whose memory is weighed
SOAK_RATE = 1.0  # visits a second
SOAK_RECORDS = "16"  # megabytes of records that are kept: soon full, then the server's memory has to stay
MODELS = ("bart-tiny-en-de", "bert-tiny-en", "bart-tiny-denoise")


@dataclass(frozen=True)
class Result:
    """What the visitors of one part met. ``seconds``: until the picture, of those who got one."""

    visitors: int
    seconds: Sequence[float]
    health: float  # the server's slowest answer to "are you well?", in seconds
    processor: float  # seconds of the server's processor
    grown: float  # megabytes of the server

    @property
    def within(self) -> float:
        """Seconds within which 95 of 100 had their picture; nan if nobody had."""
        return float(np.percentile(self.seconds, 95)) if self.seconds else float("nan")

    def line(self, name: str) -> str:
        """A row of the table that ``heading`` begins."""
        middle = float(np.median(self.seconds)) if self.seconds else float("nan")
        return (
            f"  {name:<30} {self.visitors:>6} {len(self.seconds):>8} {middle:>7.2f} {self.within:>7.2f} "
            f"{self.health:>7.2f} {1e3 * self.processor / self.visitors:>9.0f} {self.grown:>+9.0f}"
        )


def heading() -> str:
    return (
        f"  {'part':<30} {'came':>6} {'answered':>8} {'p50 s':>7} {'p95 s':>7} {'health':>7} {'ms/visit':>9} {'MB':>9}"
    )


async def measured(address: str, server: psutil.Process, visits: Callable[[], Awaitable[list[float | None]]]) -> Result:
    """Run the visits, and ask the server meanwhile whether it is well. None stands for a visitor without a picture."""
    before, memory = _processor(server), _megabytes(server)
    with pulse(address) as waits:
        found = await visits()
    seconds = [one for one in found if one is not None]
    return Result(len(found), seconds, max(waits), _processor(server) - before, _megabytes(server) - memory)


async def paced(address: str, rate: float, length: float, texts: Iterator[str]) -> list[float | None]:
    """Visitors who come one after the other, ``rate`` a second, whether the earlier ones have their picture or not."""
    visits = []
    started = time.monotonic()
    for number in range(int(rate * length)):
        await asyncio.sleep(max(0.0, started + number / rate - time.monotonic()))
        visits.append(asyncio.create_task(_tried(answered(address, next(texts)))))
    return list(await asyncio.gather(*visits))


async def burst(address: str, count: int, texts: Iterator[str]) -> list[float | None]:
    """All at the same moment, each with a text of their own."""
    return list(await asyncio.gather(*(_tried(answered(address, text)) for text in itertools.islice(texts, count))))


async def heavy(address: str, count: int, texts: Iterator[str]) -> list[float | None]:
    """Every page, every model that ships, and every fourth text a long one."""

    async def visit(page: str, model: str, text: str) -> float:
        started = time.monotonic()
        async with visitor(address, page, f"{link(text)[: -len(MODELS[0])]}{model}") as one:
            await one.until(drawn)
        return time.monotonic() - started

    pages = itertools.cycle(["", "heads", "decoding", "compare", "masks", "inside", "parameters", "inputs"])
    models = itertools.cycle([*MODELS, MODELS[0]])
    mixed = (f"{LONG_TEXT} {text}" if number % 4 == 3 else text for number, text in enumerate(texts))
    wanted = itertools.islice(zip(pages, models, mixed, strict=False), count)
    return list(await asyncio.gather(*(_tried(visit(*each)) for each in wanted)))


async def slam(address: str, count: int) -> list[float | None]:
    """Visitors who leave as soon as they have come, then one who stays: only that one is answered."""

    async def gone() -> None:
        async with visitor(address):
            pass

    await asyncio.gather(*(gone() for _ in range(count)), return_exceptions=True)
    return [await _tried(answered(address, "I have a bird."))]


async def _weight(address: str, server: psutil.Process, count: int, texts: Iterator[str]) -> float:
    """Megabytes that a visitor with a picture takes while they stay."""
    before = _megabytes(server)
    async with AsyncExitStack() as open_pages:
        for text in itertools.islice(texts, count):
            one = await open_pages.enter_async_context(visitor(address, query=link(text)))
            await one.until(drawn)
        return (_megabytes(server) - before) / count


async def _tried(visit: Awaitable[float]) -> float | None:
    try:
        return await visit
    except (OSError, TimeoutError):
        return None


def report(words: Sequence[str], minutes: float) -> None:
    """Print the table, and what it says about a size."""
    wanted = words or ("start", "paced", "burst", "heavy", "slam", "soak")
    texts = (f"I have {number} books and {number + 7} dogs." for number in itertools.count(2))
    print(
        f"Load: one server on {os.cpu_count()} cores, the clients on the same machine. A visit is a new session with a "
        "new text."
    )
    print(heading())
    if "start" in wanted:
        for count in BURSTS:
            with served(None, "app.py", OURS) as (address, process):
                visits = partial(burst, count=count, texts=texts)
                _row(address, psutil.Process(process.pid), f"just started, burst of {count}", partial(visits, address))
    if "paced" in wanted:
        with _ready() as (address, server):
            carried = [_paced(address, server, rate, texts) for rate in RATES]
            weight = asyncio.run(_weight(address, server, STAYING, texts))
    if "burst" in wanted:
        for count in BURSTS:
            with _ready() as (address, server):
                _row(address, server, f"burst of {count}", lambda count=count: burst(address, count, texts))  # type: ignore[misc]
    if "heavy" in wanted:
        with _ready() as (address, server):
            _row(address, server, "heavy: all pages and models", lambda: heavy(address, HEAVY, texts))
    if "slam" in wanted:
        with _ready() as (address, server):
            _row(address, server, f"one after {SLAMS} who left", lambda: slam(address, SLAMS))
    if "soak" in wanted:
        with _ready(BARTVIZ_RECORD_MB=SOAK_RECORDS) as (address, server):
            _row(address, server, "soak, first half", lambda: paced(address, SOAK_RATE, 30 * minutes, texts))
            _row(address, server, "soak, second half", lambda: paced(address, SOAK_RATE, 30 * minutes, texts))
    if "paced" in wanted:
        most = max((rate for rate, one in zip(RATES, carried, strict=True) if one.within <= GOAL), default=0.0)
        print(f"New texts a second with 95 of 100 pictures within {GOAL:.0f} s: {most:.0f}, of the rates tried.")
        print(f"Memory: {weight:.1f} MB for each visitor who stays.")


def _paced(address: str, server: psutil.Process, rate: float, texts: Iterator[str]) -> Result:
    return _row(address, server, f"{rate:.0f} a second, {PACED:.0f} s", lambda: paced(address, rate, PACED, texts))


def _row(
    address: str, server: psutil.Process, name: str, visits: Callable[[], Awaitable[list[float | None]]]
) -> Result:
    result = asyncio.run(measured(address, server, visits))
    print(result.line(name), flush=True)
    return result


@contextmanager
def _ready(**environment: str) -> Iterator[tuple[str, psutil.Process]]:
    """A server that has imported the model library and drawn every page once."""
    with served(None, "app.py", OURS, **environment) as (address, process):
        asyncio.run(_warm(address))
        yield address, psutil.Process(process.pid)


async def _warm(address: str) -> None:
    for page in PAGES:
        async with visitor(address, page.word if page.word != PAGES[0].word else "") as one:
            await one.run()
    await answered(address, "I want to buy a car.")


def _processor(server: psutil.Process) -> float:
    times = server.cpu_times()
    return float(times.user + times.system)


def _megabytes(server: psutil.Process) -> float:
    return float(server.memory_info().rss) / 1e6


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], "start", "paced", "burst", "heavy", "slam", "soak"])
    parser.add_argument("--minutes", type=float, default=2.0, help="of the soak")
    given = parser.parse_args()
    report(given.parts, given.minutes)


if __name__ == "__main__":
    main()
