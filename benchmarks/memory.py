"""How soon the first picture is there, and how much memory the server holds then and after the first capture."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import psutil
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parent.parent
_ARGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


def report() -> None:
    print("\nStart page: a fresh server, a real browser")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        "app.py",
        "--server.port",
        str(port),
        "--server.headless",
        "true",
    ]
    started = time.monotonic()
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait(port)
        print(f"  server answers after            {time.monotonic() - started:6.2f} s")
        with sync_playwright() as driver:
            browser = driver.chromium.launch(
                executable_path=os.environ.get("CHROME", "/usr/bin/chromium"), args=_ARGS.split()
            )
            _visit(browser.new_page(), port, psutil.Process(server.pid))
            browser.close()
    finally:
        server.terminate()
        server.wait(15)


def _wait(port: int) -> None:
    for _ in range(300):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1).read()
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit("the server does not answer")


def _visit(page: Page, port: int, server: psutil.Process) -> None:
    started = time.monotonic()
    page.goto(f"http://127.0.0.1:{port}/")
    page.locator(".ribbons .below *").first.wait_for(timeout=30_000)
    print(f"  first picture after             {time.monotonic() - started:6.2f} s")
    print(f"  server memory then              {_megabytes(server):6.0f} MB  (torch imported: {_has_torch(server)})")
    page.get_by_label("Text", exact=True).fill("The weather is nice today.")
    page.get_by_test_id("stSidebar").get_by_role("button", name=re.compile("^Run")).click()
    page.locator(".ribbons .above").get_by_text("weather").wait_for(timeout=120_000)
    page.wait_for_timeout(3000)
    print(f"  server memory after a capture   {_megabytes(server):6.0f} MB")


def _megabytes(process: psutil.Process) -> float:
    return float(process.memory_info().rss) / 1e6


def _has_torch(process: psutil.Process) -> bool:
    return any("libtorch" in part.path for part in process.memory_maps())
