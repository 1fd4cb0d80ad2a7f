"""How soon the first picture is there, how much memory the server holds then and after the first capture, and what
remains of models that had to leave."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import psutil
from playwright.sync_api import Page, sync_playwright

from scripts.serving import CHROMIUM, QUIET, served
from scripts.visitor import visitor

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


NAMES = ("one", "two", "three", "four")
SIZE = {"hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12, "num_hidden_layers": 7}


def evicted(folder: Path) -> None:
    """Four models of 200 MB under a budget that holds one: one after the other, and all at the same moment."""
    import transformers

    from benchmarks import subjects

    transformers.utils.logging.disable_progress_bar()
    print("\nResident memory: four models of 0.2 GB under BARTVIZ_MODEL_MB=250 (a process of its own)")
    for name in NAMES:
        network = transformers.BertForMaskedLM(transformers.BertConfig(vocab_size=2000, **SIZE))
        network.save_pretrained(folder / name)
        subjects.tokenizer(2000).save_pretrained(folder / name)
    environment = {**os.environ, "BARTVIZ_MODEL_ROOTS": str(folder), "HF_HUB_OFFLINE": "1"}
    for order in ("turn", "once"):
        command = [sys.executable, "-m", "benchmarks.memory", order]
        print(subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True).stdout, end="")


def _load_four(order: str) -> None:
    from bartviz.serving.engine import Engine
    from bartviz.serving.limits import Limits
    from bartviz.serving.request import Request

    def run(*names: str) -> None:
        runs = [engine.start(name, Request(name, "w7 w8 w9")) for name in names]
        failed = [run.error for run in runs if not run.wait(600) or run.error is not None]
        assert not failed, failed

    process, engine = psutil.Process(), Engine(Limits(model_mb=250, record_mb=1))
    run("bert-tiny-en")  # which loads what is loaded once
    told = [_megabytes(process)]
    for names in [(name,) for name in NAMES] if order == "turn" else [NAMES]:
        run(*names)
        told.append(_megabytes(process))
    words = "one after the other" if order == "turn" else "all at once"
    peak = next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)
    after = ", ".join(f"{each:.0f}" for each in told[1:])
    print(f"  {words:<20} before {told[0]:.0f} MB; after {after} MB; at most {1024 * peak / 1e6:.0f} MB")


if __name__ == "__main__":
    _load_four(sys.argv[1])
