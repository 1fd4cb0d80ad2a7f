"""How soon the first picture is there, and how much memory the server holds then and after the first capture."""

from __future__ import annotations

import asyncio
import re
import time

import psutil
from playwright.sync_api import Page, sync_playwright

from scripts.serving import CHROMIUM, QUIET, served
from scripts.visitors import visitor

OURS = ("OMP_NUM_THREADS",)  # holds the other benchmarks to one thread; a server has what its owner gives it


def report() -> None:
    print("\nStart page: a fresh server (wall time since its start)")
    started = time.monotonic()
    with served(without=OURS) as (address, process):
        answers = time.monotonic() - started
        server = asyncio.run(_drawn(address, psutil.Process(process.pid)))
        print(f"  server answers after            {answers:6.2f} s")
        print(f"  first picture is drawn after    {time.monotonic() - started:6.2f} s")
        print(f"  server memory then              {server[0]:6.0f} MB  (torch imported: {server[1]})")
    print("A fresh server, a real browser (wall time since its visit)")
    with served(without=OURS) as (address, process), sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET.split())
        _visit(browser.new_page(), address, psutil.Process(process.pid))
        browser.close()


async def _drawn(address: str, server: psutil.Process) -> tuple[float, bool]:
    """Memory in MB, and whether torch is there, at the moment when the server has sent all of the first page.

    A browser needs longer to show it, and meanwhile the server begins to import torch for the first run.
    """
    async with visitor(address) as one:
        await one.run()
        return _megabytes(server), _has_torch(server)


def _visit(page: Page, address: str, server: psutil.Process) -> None:
    started = time.monotonic()
    page.goto(address)
    page.locator(".ribbons .below *").first.wait_for(timeout=30_000)
    print(f"  first picture after             {time.monotonic() - started:6.2f} s")
    page.get_by_label("Text", exact=True).fill("The weather is nice today.")
    page.get_by_test_id("stSidebar").get_by_role("button", name=re.compile("^Run")).click()
    page.locator(".ribbons .above").get_by_text("weather").wait_for(timeout=120_000)
    page.wait_for_timeout(3000)
    print(f"  server memory after a capture   {_megabytes(server):6.0f} MB  (torch imported: {_has_torch(server)})")


def _megabytes(process: psutil.Process) -> float:
    return float(process.memory_info().rss) / 1e6


def _has_torch(process: psutil.Process) -> bool:
    return any("libtorch" in part.path for part in process.memory_maps())
