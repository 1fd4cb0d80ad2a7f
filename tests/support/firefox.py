"""A real Firefox, driven by WebDriver BiDi over a websocket: no driver is installed beside it.

https://www.w3.org/TR/webdriver-bidi/
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from websockets.sync.client import ClientConnection, connect

PATIENCE = 120.0  # seconds; the machine may be busy
ALLOWED = ("file", "blob", "data", "about", "resource", "chrome", "moz-extension")


def find_firefox() -> str | None:
    """Where Firefox is; None where it is not installed."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


class Firefox:
    """A tab of it. ``wrong``: errors of its pages, and what they asked of other hosts."""

    def __init__(self, socket: ClientConnection, downloads: Path) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self.downloads = downloads
        self.wrong: list[str] = []
        self.send("session.new", capabilities={})
        self.send("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
        self._tab = self.send("browsingContext.getTree")["contexts"][0]["context"]

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """What a command answers. Raises RuntimeError where it fails; TimeoutError after two minutes."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            said = json.loads(self._socket.recv(PATIENCE))
            if said.get("type") == "event":
                self._note(said["method"], said["params"])
            elif said.get("id") == number:
                if said["type"] == "error":
                    raise RuntimeError(f"{method}: {said['error']}: {said['message']}")
                return cast(dict[str, Any], said["result"])

    def _note(self, method: str, event: dict[str, Any]) -> None:
        if method == "log.entryAdded" and event["level"] == "error":
            self.wrong.append(str(event["text"]))
        if method == "network.beforeRequestSent" and event["context"] is not None:
            parts = urlsplit(event["request"]["url"])
            if parts.scheme not in ALLOWED and parts.hostname != "127.0.0.1":
                self.wrong.append(event["request"]["url"])

    def open(self, address: str) -> None:
        """Go to an address, and wait until it has loaded."""
        self.send("browsingContext.navigate", context=self._tab, url=address, wait="complete")

    def evaluate(self, script: str) -> Any:
        """The value of an expression of JavaScript, or of its promise, as JSON. Raises RuntimeError on an error."""
        made = self.send(
            "script.evaluate",
            expression=f"(async () => JSON.stringify(await ({script})))()",
            target={"context": self._tab},
            awaitPromise=True,
        )
        if made["type"] == "exception":
            raise RuntimeError(made["exceptionDetails"]["text"])
        text = made["result"].get("value")
        return None if text is None else json.loads(text)

    def wait(self, script: str, seconds: float = PATIENCE) -> None:
        """Wait until an expression holds. Raises AssertionError where it never does."""
        until = time.monotonic() + seconds
        while not self.evaluate(script):
            assert time.monotonic() < until, f"never: {script}; {self.wrong}"
            time.sleep(0.05)

    def touch(self, x: float, y: float) -> None:
        """Touch the page at a place of the window, in CSS pixels."""
        actions = [
            {"type": "pointerMove", "x": round(x), "y": round(y)},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        pointer = {"type": "pointer", "id": "finger", "parameters": {"pointerType": "touch"}, "actions": actions}
        self.send("input.performActions", context=self._tab, actions=[pointer])

    def press(self, node: str) -> None:
        """Touch the middle of a node, which an expression gives."""
        place = self.evaluate(
            f"(() => {{ const node = {node}; node.scrollIntoView({{ block: 'center' }}); "
            "const { x, y, width, height } = node.getBoundingClientRect(); return [x + width / 2, y + height / 2]; })()"
        )
        self.touch(*place)

    def type(self, text: str) -> None:
        """Type into what has the focus, in the place of all of it."""
        actions: list[dict[str, Any]] = [
            {"type": "keyDown", "value": "\ue009"},  # Control
            {"type": "keyDown", "value": "a"},
            {"type": "keyUp", "value": "a"},
            {"type": "keyUp", "value": "\ue009"},
        ]
        for sign in text:
            actions += [{"type": "keyDown", "value": sign}, {"type": "keyUp", "value": sign}]
        self.send(
            "input.performActions", context=self._tab, actions=[{"type": "key", "id": "keys", "actions": actions}]
        )

    def downloaded(self, ending: str) -> Path:
        """The file with this ending that was saved, once it is whole."""
        until = time.monotonic() + PATIENCE
        while True:
            found = [file for file in self.downloads.glob(f"*{ending}") if file.stat().st_size]
            if found and not list(self.downloads.glob("*.part")):
                return found[0]
            assert time.monotonic() < until, f"no {ending} in {sorted(self.downloads.iterdir())}"
            time.sleep(0.1)


@contextmanager
def firefox(folder: Path) -> Iterator[Firefox]:
    """A Firefox without a window, with a profile and downloads of its own in a folder. It is ended at the end."""
    program, profile, downloads = find_firefox(), folder / "profile", folder / "downloads"
    assert program is not None
    for one in (profile, downloads):
        one.mkdir()
    settings = {
        "browser.download.folderList": 2,  # a folder of our own
        "browser.download.dir": str(downloads),
        "browser.download.useDownloadDir": True,
        "browser.helperApps.neverAsk.saveToDisk": "application/octet-stream",
        "dom.w3c_touch_events.enabled": 1,
        "intl.accept_languages": "en-US",
        "network.dns.disabled": True,
    }
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in settings.items()]
    (profile / "user.js").write_text("".join(lines), "utf-8")
    command = [program, "--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port", "0"]
    with (folder / "firefox.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    try:
        with connect(f"{_address(process, folder / 'firefox.log')}/session", max_size=None) as socket:
            yield Firefox(socket, downloads)
    finally:
        process.terminate()
        process.wait(60)


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    """Where it listens, which it says once it does."""
    until = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < until:
        found = re.search(r"WebDriver BiDi listening on (ws://\S+)", log.read_text("utf-8", "replace"))
        if found is not None:
            return found[1]
        time.sleep(0.1)
    raise RuntimeError(f"Firefox did not come up: {log.read_text('utf-8', 'replace')[-2000:]}")
