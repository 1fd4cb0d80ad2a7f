"""Download one file from the hub: resumable, verified by its hash, and bounded by the job's deadline."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from huggingface_hub import constants, get_session, get_token
from huggingface_hub.errors import OfflineModeIsEnabled

from bartviz.errors import ModelError
from bartviz.language import later
from bartviz.models import blobs
from bartviz.models.deadline import Job
from bartviz.safety.addresses import host_port, no_hub
from bartviz.version import __version__

TIMEOUT = 10.0  # seconds without a byte
PAUSE = 0.5  # seconds before the second attempt; doubled for each later one
ATTEMPTS = 3  # without any progress
MAX_PAUSE = 10.0  # the longest pause that we grant the hub
MAX_ANSWER_BYTES = 32 << 20
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class Unreachable(ModelError):
    """The hub cannot be reached or fails, so an earlier download may be used. ``reason``: the message without
    advice."""

    def __init__(self, message: str, reason: str | None = None, *, again: bool = False, after: float = 0.0) -> None:
        advised = later("{reason} Try again later, or use a model that is on this machine.", reason=message)
        super().__init__(message if reason else advised)
        self.reason = reason or message
        self.again = again  # whether an immediate retry may help
        self.after = after  # seconds to wait, as the hub requests


@dataclass(frozen=True)
class File:
    """A file on the hub; ``digest``: SHA-256 of its content (64 digits), or git's SHA-1 for small files (40)."""

    name: str
    size: int
    digest: str
    url: str


class Total:
    """Counts the bytes of a whole download and reports progress to the job."""

    def __init__(self, size: int, job: Job) -> None:
        self._size, self._done, self._job = size, 0, job
        self.add(0)

    def add(self, count: int) -> None:
        """Add arrived bytes; negative where some were discarded."""
        self._done += count
        self._job.progress = (self._done, self._size)
        self._job.late = later(
            "The hub did not deliver the model within {seconds:g} seconds: {done:,.1f} of {size:,.1f} MB "
            "were downloaded and are kept. Try again to resume.",
            seconds=self._job.seconds,
            done=self._done / 1e6,
            size=self._size / 1e6,
        )


def endpoint() -> str:
    """The hub's address, from HF_ENDPOINT where it is set."""
    address: str = os.environ.get("HF_ENDPOINT", constants.ENDPOINT).rstrip("/")
    if not address.startswith(("http://", "https://")) or host_port(address) is None:
        raise no_hub()
    return address


def host() -> str:
    """The hub's host, to name it. Raises ModelError."""
    found = host_port(endpoint())
    assert found is not None  # an address without one is refused
    return found[0]


def address(proxies: Mapping[str, str], bypass: Callable[[str], object]) -> tuple[str, int]:
    """Host and port to connect to: the hub's, or the proxy's."""
    url = endpoint()
    target = host_port(url)
    proxy = proxies.get(url.partition(":")[0]) or proxies.get("all")
    if target is None or (proxy and not bypass(target[0])):
        target = host_port(proxy if proxy and "//" in proxy else f"http://{proxy}")
    if target is None:
        raise ModelError(later("The proxy's address (HTTPS_PROXY, HTTP_PROXY or ALL_PROXY) is not valid: correct it."))
    return target


def json_object(url: str, job: Job) -> dict[str, Any]:
    """The hub's answer as a JSON object. Raises Unreachable, ModelError."""

    def read() -> bytes:
        with _get(url, {}, job) as response:
            content = bytearray()
            for chunk in response.iter_bytes():
                job.check()
                content += chunk
                if len(content) > MAX_ANSWER_BYTES:
                    raise Unreachable(later("The hub's answer cannot be understood."))
            return bytes(content)

    content = _with_retries(read, job, lambda: 0)
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Unreachable(later("The hub's answer cannot be understood."))
    return value


def fetch(file: File, target: Path, job: Job, total: Total) -> None:
    """Download a file to ``target``: complete and with the right hash, or not at all.

    A partial download is kept next to it and resumed after a broken connection or a killed process.
    """
    part = target.with_name(f"{target.name}.bartviz.incomplete")
    for attempt in (1, 2):
        kept = part.stat().st_size if part.exists() else 0
        if kept > file.size:
            part.unlink()
            kept = 0
        total.add(kept)
        _check_space(file, kept, target.parent)
        _with_retries(lambda: _append(file, part, job, total), job, lambda: part.stat().st_size if part.exists() else 0)
        if blobs.holds(part, file.digest, job):
            part.replace(target)
            return
        part.unlink()
        total.add(-file.size)
        if attempt == 2:
            raise ModelError(
                later(
                    "{name} arrived damaged twice: its content does not match the hub's checksum. Try again later.",
                    name=file.name,
                )
            )


def _append(file: File, part: Path, job: Job, total: Total) -> None:
    """Request the missing part of a file and write it as it arrives."""
    with part.open("ab") as out:
        kept = out.tell()
        if kept == file.size:
            return
        with _get(file.url, {"Range": f"bytes={kept}-"} if kept else {}, job) as response:
            if kept and response.status_code != 206:  # the server sends the whole file
                out.truncate(0)
                total.add(-kept)
                kept = 0
            for chunk in response.iter_raw():
                job.check()
                out.write(chunk)
                kept += len(chunk)
                total.add(len(chunk))
                if kept > file.size:
                    break
    if kept > file.size:
        part.unlink()
        total.add(-kept)
        raise Unreachable(later("The hub sends more of {name} than it announced.", name=file.name), again=True)
    if kept < file.size:
        raise Unreachable(later("The connection broke off in the middle of {name}.", name=file.name), again=True)


def _with_retries(work: Callable[[], Any], job: Job, progress: Callable[[], int]) -> Any:
    """Retry a few times where that may help; any progress resets the count."""
    attempts, before = 0, progress()
    while True:
        job.check()
        try:
            return work()
        except Unreachable as error:
            job.check()
            now = progress()
            attempts = 1 if now > before else attempts + 1
            before = now
            if not error.again or attempts >= ATTEMPTS or error.after > MAX_PAUSE:
                raise
            job.pause(max(error.after, PAUSE * 2 ** (attempts - 1)))


@contextmanager
def _get(url: str, headers: Mapping[str, str], job: Job) -> Iterator[httpx2.Response]:
    """The hub's response as an uncompressed stream. Every error of the client becomes a bartviz error."""
    sent = {"User-Agent": f"bartviz/{__version__}", "Accept-Encoding": "identity", **headers}
    token = None if constants.HF_HUB_DISABLE_IMPLICIT_TOKEN else get_token()
    if token:
        sent["Authorization"] = f"Bearer {token}"  # dropped by the client when redirected to another host
    try:
        with get_session().stream("GET", url, headers=sent, timeout=min(TIMEOUT, job.left() or TIMEOUT)) as response:
            if response.status_code not in (200, 206):
                raise _refusal(response)
            yield response
    except httpx2.TimeoutException:
        raise Unreachable(later("The hub does not answer."), again="/resolve/" in url) from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OfflineModeIsEnabled):
        raise Unreachable(later("The connection to the hub failed."), again=True) from None


def _refusal(response: httpx2.Response) -> ModelError:
    """The error for an unsuccessful status, as a user needs to read it."""
    status, code = response.status_code, response.headers.get("X-Error-Code", "")
    if code == "GatedRepo" or (status == 403 and not code):
        return ModelError(
            later(
                "The hub gives this model only to people who have accepted its conditions: accept them on the "
                "model's page, and set HF_TOKEN to your access token."
            )
        )
    if code == "RevisionNotFound":
        return ModelError(later("The model has no such revision: give a branch, a tag or a commit, or leave it out."))
    if code == "EntryNotFound":
        return ModelError(later("The hub lists a file of this model that it does not have. Try another revision."))
    if status in (401, 403, 404):
        return ModelError(
            later(
                "The hub has no model of that name, or it is private: check the spelling (owner/name), or set "
                "HF_TOKEN to an access token."
            )
        )
    if status == 429:
        wait = response.headers.get("Retry-After", "")
        after = float(wait) if wait.isdigit() else 0.0
        message = later("The hub is limiting requests: too many were sent.")
        if after:
            message = later(
                "The hub is limiting requests: too many were sent. It asks for a pause of {seconds:g} seconds.",
                seconds=after,
            )
        return Unreachable(message, again=True, after=after)
    return Unreachable(later("The hub reports an error (status {status}).", status=status), again=status >= 500)


def _check_space(file: File, kept: int, folder: Path) -> None:
    if (free := shutil.disk_usage(folder).free) < file.size - kept:
        needed = (file.size - kept) / 1e6
        raise ModelError(
            _no_room(
                later(
                    "{name} needs {needed:,.1f} MB, {free:,.1f} MB are free",
                    name=file.name,
                    needed=needed,
                    free=free / 1e6,
                )
            )
        )


def _no_room(why: str) -> str:
    return later(
        "There is not enough disk space for the model: {why}. Free some, or set HF_HUB_CACHE to a folder elsewhere.",
        why=why,
    )


@contextmanager
def disk_errors() -> Iterator[None]:
    """Turn errors of the cache's disk into ModelError."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise ModelError(_no_room(later("it is full"))) from None
        raise ModelError(
            later("The folder for downloaded models cannot be written. Set HF_HUB_CACHE to a writable folder.")
        ) from None
