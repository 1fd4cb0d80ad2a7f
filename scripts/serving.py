"""Servers on free ports of this machine: the app, for pictures, measurements and tests, and others to try it with."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
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
    """The app, or another script, without a network: its address once it answers, and its process."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        script,
        "--server.port",
        str(port),
        "--server.headless",
        "true",
    ]
    environment = {"HF_HUB_OFFLINE": "1", **environment}
    with running(command, lambda: health(address, 2) is not None, log, environment=environment, without=without) as app:
        yield address, app


@contextmanager
def running(
    command: Sequence[str],
    is_up: Callable[[], bool],
    log: Path | None = None,
    *,
    folder: Path = ROOT,
    environment: Mapping[str, str] | None = None,
    without: Collection[str] = (),
) -> Iterator[subprocess.Popen[bytes]]:
    """A server once it is up, started in a folder, with these environment variables added to our own.

    ``without``: variables of our own environment that it does not get, such as one that holds us to one thread. What it
    prints goes to ``log``. Raises RuntimeError when it does not come up. It is ended at the end, and killed after a
    minute, which raises TimeoutExpired.
    """
    kept = {name: value for name, value in os.environ.items() if name not in without}
    with (log or Path(os.devnull)).open("wb") as file:
        process = subprocess.Popen(
            command, cwd=folder, stdout=file, stderr=subprocess.STDOUT, env={**kept, **(environment or {})}
        )
    try:
        until = time.monotonic() + PATIENCE
        while not is_up():
            if process.poll() is not None or time.monotonic() > until:
                error = RuntimeError(f"{Path(command[0]).name} did not come up; its status is {process.returncode}.")
                if log is not None:
                    error.add_note(log.read_text("utf-8", "replace")[-3000:])
                raise error
            time.sleep(0.02)
        yield process
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
    """Seconds until the server reports that it is healthy; None if it does not."""
    started = time.monotonic()
    try:
        with urllib.request.urlopen(f"{address}/_stcore/health", timeout=patience) as answer:
            return time.monotonic() - started if answer.read() == b"ok" else None
    except OSError:
        return None
