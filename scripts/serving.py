"""The app on a free port of this machine, without a network: for pictures, measurements and tests in a browser."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
# Playwright's own list, which Chromium drops for this one, and two pages that Chromium would load for suggestions below
# the address bar of each new window: a quarter of the work of opening a page.
WITHOUT = (
    "AimEnabled,AvoidCorsURLLoaderRestartOnRedirect,AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,"
    "HttpsFirstBalancedModeAutoEnable,HttpsUpgrades,LensOverlay,MediaRouter,NetworkTimeServiceQuerying,"
    "OptimizationHints,PaintHolding,PreconnectToSearch,ThirdPartyStoragePartitioning,"
    "WebUIOmniboxAimPopup,WebUIOmniboxPopup"
)
QUIET = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    f"--disable-component-update --disable-sync --disable-features={WITHOUT}"
)
PATIENCE = 180  # seconds until a server answers; the machine may be busy
CHROMIUM = os.environ.get("CHROME", "/usr/bin/chromium")


@contextmanager
def served(
    log: Path | None = None, script: str = "app.py", without: Collection[str] = (), **environment: str
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A server of its own for a script, with these environment variables: its address once it answers, and its process.

    ``without``: variables of our own environment that it does not get, such as one that holds us to one thread.
    What it prints goes to ``log``. Raises RuntimeError when it does not come up; it is ended in the end, and killed
    after a minute, which raises TimeoutExpired.
    """
    port = free_port()
    kept = {name: value for name, value in os.environ.items() if name not in without}
    arguments = ["--server.port", str(port), "--server.headless", "true"]
    with (log or Path(os.devnull)).open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", script, *arguments],
            cwd=ROOT,
            stdout=file,
            stderr=subprocess.STDOUT,
            env={**kept, "HF_HUB_OFFLINE": "1", **environment},
        )
    try:
        address = f"http://127.0.0.1:{port}"
        try:
            _await(address, process)
        except RuntimeError as error:
            if log is not None:
                error.add_note(log.read_text("utf-8", "replace")[-3000:])
            raise
        yield address, process
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(60)
            raise


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def health(address: str, patience: float = 20.0) -> float | None:
    """Seconds until the server says that it is well, None where it does not."""
    started = time.monotonic()
    try:
        with urllib.request.urlopen(f"{address}/_stcore/health", timeout=patience) as answer:
            return time.monotonic() - started if answer.read() == b"ok" else None
    except OSError:
        return None


def _await(address: str, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if process.poll() is not None:
            raise RuntimeError(f"The server ended with {process.returncode} before it answered.")
        if health(address, 2) is not None:
            return
        time.sleep(0.02)
    raise RuntimeError(f"The server did not come up within {PATIENCE} seconds.")
