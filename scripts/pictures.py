"""``make pictures``: the README's pictures, taken from the running app in a real browser."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
ARGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
# file, address, colour scheme
PICTURES = (
    ("start", "/", "light"),
    ("lessons", "/lessons", "light"),
    ("inputs", "/inputs", "light"),
    ("masks", "/masks", "light"),
    ("inside", "/inside?kind=cross&layer=2&row=2", "light"),
    ("heads", "/heads?kind=cross", "dark"),
    ("compare", "/compare?kind=cross", "light"),
    ("decoding", "/decoding?step=5", "light"),
    ("denoising", "/denoising", "light"),
    ("experiments", "/experiments", "light"),
    ("alignment", "/alignment", "dark"),
    ("classic", "/classic", "light"),
    ("parameters", "/parameters?of=facebook/bart-base", "light"),
    ("models", "/models", "light"),
    ("textbook", "/textbook", "light"),
    ("fooled", "/fooled", "light"),
    ("quiz", "/quiz?lang=ko", "light"),
)


@contextmanager
def served() -> Iterator[tuple[str, int]]:
    """The app on a free port of this machine, without a network: its address once it answers, its process id."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
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
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=1).read()
                break
            except OSError:
                time.sleep(0.1)
        yield address, server.pid
    finally:
        server.terminate()
        server.wait(15)


def settle(page: Page) -> None:
    """Wait until the server has said all and the pictures are drawn."""
    page.wait_for_selector("[data-testid='stApp'][data-test-connection-state='CONNECTED']", timeout=60_000)
    page.wait_for_timeout(500)
    page.wait_for_selector("[data-testid='stApp'][data-test-script-state='notRunning']", timeout=60_000)
    page.wait_for_timeout(1500)
    for _ in range(2):  # one piece of work may lead to another
        page.wait_for_function("!document.querySelector('[data-testid=stProgress]')", timeout=60_000)
        page.wait_for_timeout(1500)


def main() -> None:
    DOCS.mkdir(exist_ok=True)
    with served() as (address, _), sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=os.environ.get("CHROME", "/usr/bin/chromium"), args=ARGS.split()
        )
        for name, path, scheme in PICTURES:
            context = browser.new_context(
                viewport={"width": 1366, "height": 768},
                color_scheme="dark" if scheme == "dark" else "light",
                reduced_motion="reduce",
            )
            page = context.new_page()
            page.goto(address + path)
            settle(page)
            page.screenshot(path=DOCS / f"{name}.png")
            context.close()
            print(f"docs/{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
