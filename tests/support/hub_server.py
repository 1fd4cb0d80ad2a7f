"""A small model hub on loopback, for HF_ENDPOINT: it serves folders as repositories, and misbehaves when told to."""

from __future__ import annotations

import hashlib
import json
import re
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

LARGE = 4096  # bytes from which a file is described by its SHA-256, as large files on the hub are


@dataclass
class Fault:
    """What goes wrong with requests whose path matches ``path``, ``times`` times (None: always).

    status, code, retry_after: an error answer. hang: nothing is said. rate: bytes a second. cut: the connection closes
    after so many bytes of the body. flip: the body's last byte is wrong. body: said instead of the true body.
    redirect: what to replace in the address, by what.
    """

    path: str
    status: int | None = None
    code: str | None = None
    retry_after: int | None = None
    hang: bool = False
    rate: int | None = None
    cut: int | None = None
    flip: bool = False
    body: bytes | None = None
    redirect: tuple[str, str] | None = None
    times: int | None = None


@dataclass(frozen=True)
class Request:
    path: str
    range: str | None
    token: str | None


@dataclass
class Hub:
    """The hub's repositories, faults and the requests that have come."""

    url: str = ""
    faults: list[Fault] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    discussions: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    closing: threading.Event = field(default_factory=threading.Event)
    _commits: dict[tuple[str, str], tuple[str, Path]] = field(default_factory=dict)

    def add(self, name: str, folder: Path, revision: str = "main") -> str:
        """Serve a folder as a revision of a repository; gives the commit."""
        content = b"".join(
            path.name.encode() + path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()
        )
        commit = hashlib.sha1(content).hexdigest()
        for key in (revision, commit):
            self._commits[name, key] = (commit, folder)
        return commit

    def fault(self, path: str, **options: Any) -> Fault:
        """From now on, go wrong in this way."""
        self.faults.append(Fault(path, **options))
        return self.faults[-1]

    def heal(self) -> None:
        self.faults.clear()

    def paths(self, containing: str = "") -> list[str]:
        return [request.path for request in self.requests if containing in request.path]

    def find(self, name: str, revision: str) -> tuple[str, Path] | None:
        return self._commits.get((name, revision))

    def knows(self, name: str) -> bool:
        return any(known == name for known, _ in self._commits)

    def broken(self, path: str) -> Fault | None:
        """The fault that this request meets."""
        for fault in self.faults:
            if re.search(fault.path, path) and fault.times != 0:
                if fault.times is not None:
                    fault.times -= 1
                return fault
        return None


def describe(path: Path) -> dict[str, Any]:
    """A file as the hub lists it: git's hash, and for a large one its SHA-256."""
    content = path.read_bytes()
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    entry: dict[str, Any] = {"rfilename": path.name, "size": len(content), "blobId": blob}
    if len(content) >= LARGE:
        entry["lfs"] = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 130}
    return entry


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.hub.requests.append(Request(path, self.headers["Range"], self.headers["Authorization"]))
        fault = self.hub.broken(path)
        try:
            if fault is not None and fault.hang:
                self.hub.closing.wait()
                self.close_connection = True
            elif fault is not None and fault.redirect is not None:
                self.send_response(307)
                self.send_header("Location", self.path.replace(*fault.redirect))
                self.send_header("Content-Length", "0")
                self.end_headers()
            elif fault is not None and fault.status is not None:
                self._refuse(fault.status, fault.code, fault.retry_after)
            else:
                self._serve(path, fault)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _serve(self, path: str, fault: Fault | None) -> None:
        if found := re.fullmatch(r"/api/models/([^/]+(?:/[^/]+)?)/revision/(.+)", path):
            self._list(found[1], found[2], fault)
        elif found := re.fullmatch(r"/api/models/([^/]+(?:/[^/]+)?)/discussions", path):
            self._send(json.dumps({"discussions": self.hub.discussions.get(found[1], [])}).encode(), fault)
        elif found := re.fullmatch(r"/([^/]+(?:/[^/]+)?)/resolve/([^/]+)/([^/]+)", path):
            commit = self.hub.find(found[1], found[2])
            file = None if commit is None else commit[1] / found[3]
            if file is None or not file.is_file():
                self._refuse(404, "EntryNotFound", None)
            else:
                self._send(file.read_bytes(), fault)
        else:
            self._refuse(404, None, None)

    def _list(self, name: str, revision: str, fault: Fault | None) -> None:
        found = self.hub.find(name, revision)
        if found is None:
            self._refuse(
                404 if self.hub.knows(name) else 401,
                "RevisionNotFound" if self.hub.knows(name) else "RepoNotFound",
                None,
            )
            return
        commit, folder = found
        files = [describe(path) for path in sorted(folder.iterdir()) if path.is_file()]
        self._send(json.dumps({"id": name, "sha": commit, "siblings": files}).encode(), fault)

    def _refuse(self, status: int, code: str | None, retry_after: int | None) -> None:
        self.send_response(status)
        headers = {"X-Error-Code": code, "Retry-After": retry_after, "Content-Length": 0}
        for name, value in headers.items():
            if value is not None:
                self.send_header(name, str(value))
        self.end_headers()

    def _send(self, body: bytes, fault: Fault | None) -> None:
        if fault is not None and fault.body is not None:
            body = fault.body
        start = int(found[1]) if (found := re.fullmatch(r"bytes=(\d+)-", self.headers["Range"] or "")) else 0
        if fault is not None and fault.flip:
            body = body[:-1] + bytes([body[-1] ^ 1])
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        self._write(body[start:], fault)

    def _write(self, body: bytes, fault: Fault | None) -> None:
        if fault is not None and fault.rate is not None:
            for place in range(0, len(body), max(1, fault.rate // 20)):
                if self.hub.closing.wait(0.05):
                    break
                self.wfile.write(body[place : place + max(1, fault.rate // 20)])
                self.wfile.flush()
        elif fault is not None and fault.cut is not None:
            self.wfile.write(body[: fault.cut])
            self.wfile.flush()
            self.close_connection = True
        else:
            self.wfile.write(body)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that went away are what these tests are about; everything else is a fault of the server."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def running() -> Iterator[Hub]:
    """A hub that serves until the block ends."""
    hub = Hub()
    handler = type("Handler", (_Handler,), {"hub": hub})
    server = _Server(("127.0.0.1", 0), handler)
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


def settings(hub: Hub, cache: Path) -> Mapping[str, str]:
    """The environment in which huggingface_hub and bartviz talk to this hub."""
    return {"HF_ENDPOINT": hub.url, "HF_HUB_CACHE": str(cache)}


def wait_for(condition: Any, seconds: float = 10.0) -> bool:
    """Wait until ``condition()`` holds; False when it has not in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True
