"""Models of the hub: which files they have there, and those that are in the hub's cache on this machine.

Everything in an answer is validated, so that no name or address points elsewhere. Session, token and settings
(HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE) are those of huggingface_hub. The cache (blobs, snapshots, refs) is shared with
other programs: every file is compared with the hash that the hub gives, after its download and before it is read again.
"""

from __future__ import annotations

import difflib
import errno
import hashlib
import json
import os
import re
import shutil
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import getproxies, proxy_bypass

import httpx2
from filelock import Timeout
from huggingface_hub import constants, get_session, get_token
from huggingface_hub.errors import OfflineModeIsEnabled
from huggingface_hub.utils import WeakFileLock

from bartviz.errors import ModelError, NotFetched, choices
from bartviz.families.catalogue import entry
from bartviz.language import later
from bartviz.models import deadline
from bartviz.models.deadline import Job
from bartviz.models.files import (
    CONFIG_FILES,
    TOKENIZER_FILES,
    WEIGHTS_INDEX,
    Files,
    NoWeights,
    check_vocabulary,
    is_complete,
    is_read,
    weight_names,
)
from bartviz.models.location import Location, embedded
from bartviz.models.roots import ROOTS_SETTING
from bartviz.safety.addresses import host_port, no_hub
from bartviz.version import __version__

REACH_SECONDS = 0.9  # to detect that there is no network
TIMEOUT = 10.0  # seconds without a byte
PAUSE = 0.5  # seconds before the second attempt; doubled for each later one
ATTEMPTS = 3  # without any progress
MAX_PAUSE = 10.0  # the longest pause that we grant the hub
MAX_ANSWER_BYTES = 32 << 20
COMMIT = re.compile(r"[0-9a-f]{40}")
DIGEST = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_CONVERSION = ("SFconvertbot", "Adding `safetensors` variant of this model")
NOT_ASKED = later("The hub was not asked for a newer version.")
_CHUNK = 1 << 22
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_SEEN: set[tuple[object, ...]] = set()  # files verified in this process and not modified since


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


@dataclass(frozen=True)
class Needed:
    """The files of a commit that are downloaded: settings and tokenizer, and then the weights."""

    commit: str
    small: tuple[File, ...]
    weights: tuple[File, ...]
    notices: tuple[str, ...] = ()

    @classmethod
    def of(cls, commit: str, files: Mapping[str, File]) -> Needed:
        """Those among the files of a commit, by name. Raises NoWeights, and ModelError without a vocabulary."""
        large = weight_names(files)
        if "tokenizer_config.json" not in files:  # else it is read first: it may name ByT5's
            check_vocabulary(files)
        small = (name for name in (*CONFIG_FILES, WEIGHTS_INDEX, *TOKENIZER_FILES) if name in files)
        return cls(commit, tuple(files[name] for name in small), tuple(files[name] for name in large))


def snapshot(location: Location, job: Job, *, inspect: Callable[[Files], None], fetch: bool = True) -> Files:
    """The files of a hub model, downloaded if necessary.

    ``inspect`` is called with the settings and the tokenizer once they are there, before any weights; it may raise.
    All files are of one commit. If the hub cannot be reached, or without ``fetch`` is not asked, an earlier download is
    used, with a notice.
    Raises ModelError, Cancelled.
    """
    cache, revision = Cache(location.name), location.revision
    pinned = revision is not None and COMMIT.fullmatch(revision) and is_complete(cache.folder(revision))
    if revision is not None and pinned and cache.damaged(revision, job) is None:
        return cache.files(revision)
    try:
        if not fetch:
            raise Unreachable(NOT_ASKED, NOT_ASKED)
        needed = _choose(location.name, revision, job)
        cache.fill(needed, job, inspect)
    except Unreachable as error:
        commit = cache.earlier(revision)
        if commit is None:
            raise
        if (damaged := cache.damaged(commit, job)) is not None:
            raise ModelError(
                later(
                    "{reason} An earlier download is on this machine, but its {name} is damaged. Load the model again "
                    "when the hub can be reached.",
                    reason=error.reason,
                    name=damaged,
                )
            ) from None
        notice = later(
            "{reason} The copy of an earlier download is used (commit {commit}).",
            reason=error.reason,
            commit=commit[:7],
        )
        return cache.files(commit, (notice,))
    cache.remember(revision or constants.DEFAULT_REVISION, needed.commit)
    return cache.files(needed.commit, needed.notices)


def check(location: Location, *, fetch: bool) -> None:
    """Raise NotFetched, or Unreachable within a second, for a model that is not on this machine and cannot be fetched:
    the hub is not to be asked, or cannot be reached."""
    if is_here(location):
        return
    if fetch:
        check_reachable(location.name)
        return
    name, known = location.name, entry(location.name)
    said = later(
        "{name} is not on this machine, and nothing has been downloaded. It is a model on {host}; its size "
        "is not yet known.",
        name=name,
        host=_host(),
    )
    if known is not None:
        said = later(
            "{name} ({title}) is not on this machine, and nothing has been downloaded. It is a model on {host}.",
            name=name,
            title=later(known.title),
            host=_host(),
        )
    raise NotFetched(said, name)


def is_here(location: Location) -> bool:
    """Whether a model is on this machine: in a folder, or downloaded earlier."""
    return location.folder is not None or Cache(location.name).earlier(location.revision) is not None


def _choose(name: str, revision: str | None, job: Job) -> Needed:
    """The files of the revision; if they are pickles and no revision was requested, the hub's own conversion.

    Raises Unreachable, ModelError.
    """
    check_reachable(name)
    try:
        return _needed(name, revision or constants.DEFAULT_REVISION, job)
    except NoWeights:
        converted = _conversion(name, job) if revision is None else None
        if converted is None:
            raise
    notice = later("Weights from the hub's own conversion to safetensors ({revision}).", revision=converted)
    return replace(_needed(name, converted, job), notices=(notice,))


def _needed(name: str, revision: str, job: Job) -> Needed:
    answer = _json(f"{endpoint()}/api/models/{name}/revision/{quote(revision, safe='')}?blobs=true", job)
    commit, siblings = answer.get("sha"), answer.get("siblings")
    if not isinstance(commit, str) or not COMMIT.fullmatch(commit) or not isinstance(siblings, list):
        raise Unreachable(later("The hub's answer cannot be understood."))
    address = f"{endpoint()}/{name}/resolve/{commit}"
    files = [_file(sibling, address) for sibling in siblings if isinstance(sibling, dict)]
    return Needed.of(commit, {file.name: file for file in files if file is not None})


def _file(sibling: Mapping[str, Any], address: str) -> File | None:
    """One file of a listing, or None for one in a subfolder. Raises Unreachable for an invalid description."""
    name, large = sibling.get("rfilename"), sibling.get("lfs")
    size, digest = sibling.get("size"), large.get("sha256") if isinstance(large, dict) else sibling.get("blobId")
    if not isinstance(name, str) or not re.fullmatch(r"[\w.-]+", name, re.ASCII):
        return None
    if type(size) is not int or size < 0 or not isinstance(digest, str) or not DIGEST.fullmatch(digest):
        if is_read(name):
            raise Unreachable(later("The hub does not give the size and hash of {name}.", name=name))
        return None
    return File(name, size, digest, f"{address}/{quote(name)}")


def _conversion(name: str, job: Job) -> str | None:
    """The revision in which the hub's converter has added safetensors weights to a model that has only pickles."""
    try:
        answer = _json(f"{endpoint()}/api/models/{name}/discussions", job)
    except ModelError:
        return None
    discussions = answer.get("discussions")
    for found in discussions if isinstance(discussions, list) else []:
        author = found.get("author") if isinstance(found, dict) else None
        if not isinstance(author, dict) or (author.get("name"), found.get("title")) != _CONVERSION:
            continue
        if found.get("isPullRequest") is True and type(found.get("num")) is int:
            return f"refs/pr/{found['num']}"
    return None


def check_reachable(name: str) -> None:
    """Raise Unreachable within a second if there is no network, even if the name server hangs.

    ``name``: the id that is looked for; no folder has that name, or it would be read.
    """
    close = difflib.get_close_matches(name, embedded(), 1)
    told = later(
        "The model hub cannot be reached, and {model} is neither a folder here nor downloaded before. These work "
        "offline: {names}. Or copy a model's folder (config.json, model.safetensors, tokenizer files) to this machine "
        "and load it by its path; for the app, under a folder named in {setting}.",
        model=name,
        names=choices(embedded()),
        setting=ROOTS_SETTING,
    )
    offline = Unreachable(
        later("{said} Do you mean {close}?", said=told, close=close[0]) if close else told,
        later("The model hub cannot be reached."),
    )
    if constants.is_offline_mode():
        raise offline
    try:
        target = address(getproxies(), proxy_bypass)
        deadline.within(REACH_SECONDS, lambda: socket.create_connection(target, timeout=REACH_SECONDS).close())
    except (OSError, TimeoutError):
        raise offline from None


def endpoint() -> str:
    """The hub's address, from HF_ENDPOINT where it is set."""
    address: str = os.environ.get("HF_ENDPOINT", constants.ENDPOINT).rstrip("/")
    if not address.startswith(("http://", "https://")) or host_port(address) is None:
        raise no_hub()
    return address


def _host() -> str:
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


def _json(url: str, job: Job) -> dict[str, Any]:
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

    content = _with_retries(read, job)
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Unreachable(later("The hub's answer cannot be understood."))
    return value


def _with_retries(work: Callable[[], Any], job: Job, progress: Callable[[], int] = lambda: 0) -> Any:
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


class Cache:
    """One model's part of the hub's cache: blobs by hash, snapshots by commit (links to blobs), refs by revision."""

    def __init__(self, name: str) -> None:
        self._all = cache_folder()
        self._root = self._all / ("models--" + name.replace("/", "--"))

    def folder(self, commit: str) -> Path:
        return self._root / "snapshots" / commit

    def files(self, commit: str, notices: tuple[str, ...] = ()) -> Files:
        return Files.of(self.folder(commit), commit=commit, notices=notices)

    def earlier(self, revision: str | None) -> str | None:
        """The commit of an earlier, complete download of a revision (None: the default or its conversion)."""
        refs = self._root / "refs"
        files = [refs / (revision or constants.DEFAULT_REVISION)]
        commits = [revision] if revision else []
        if revision is None and (refs / "refs" / "pr").is_dir():
            files += sorted((refs / "refs" / "pr").iterdir())
        commits += [file.read_text(encoding="ascii", errors="replace").strip() for file in files if file.is_file()]
        known = (commit for commit in commits if COMMIT.fullmatch(commit))
        return next((commit for commit in known if is_complete(self.folder(commit))), None)

    def remember(self, revision: str, commit: str) -> None:
        """Save which commit a branch or tag points to."""
        if revision == commit:
            return
        with _disk_errors():
            ref = self._root / "refs" / revision
            ref.parent.mkdir(parents=True, exist_ok=True)
            ref.write_text(commit, encoding="ascii")

    def fill(self, needed: Needed, job: Job, inspect: Callable[[Files], None]) -> None:
        """Download what is missing of these files: settings and tokenizer, then (if ``inspect`` agrees) the weights."""
        with _disk_errors():
            self._root.mkdir(parents=True, exist_ok=True)
            lock = self._all / ".locks" / self._root.name / "bartviz.lock"
            lock.parent.mkdir(parents=True, exist_ok=True)
        try:
            with WeakFileLock(lock, timeout=job.left()):
                folder = self.folder(needed.commit)
                files = (*needed.small, *needed.weights)
                missing = [file for file in files if not holds(folder / file.name, file.digest, job)]
                job.done, job.size = 0, sum(file.size for file in missing)
                for file in missing:
                    if file not in needed.weights:
                        self._fetch(file, folder, job)
                inspect(self.files(needed.commit))
                for file in missing:
                    if file in needed.weights:
                        self._fetch(file, folder, job)
        except Timeout:
            raise ModelError(
                later("Another process is downloading this model. Try again when it has finished.")
            ) from None

    def damaged(self, commit: str, job: Job) -> str | None:
        """The name of the first file whose content has changed since the download; None if all are intact.

        A plain copy, whose name is not a hash, counts as intact.
        """
        for path in sorted(path for path in self.folder(commit).iterdir() if is_read(path.name)):
            digest = path.resolve().name
            if DIGEST.fullmatch(digest) and not holds(path, digest, job):
                return path.name
        return None

    def _fetch(self, file: File, folder: Path, job: Job) -> None:
        """Download a file: complete and with the right hash, or not at all. What has arrived is kept, and resumed."""
        blob, link = self._root / "blobs" / file.digest, folder / file.name
        with _disk_errors():
            blob.parent.mkdir(parents=True, exist_ok=True)
            link.parent.mkdir(parents=True, exist_ok=True)
            if holds(blob, file.digest, job):
                job.done += file.size
            else:
                _download(file, blob, job)
            link.unlink(missing_ok=True)
            try:
                link.symlink_to(os.path.relpath(blob, link.parent))
            except OSError:  # a file system without links
                shutil.copyfile(blob, link)


def _download(file: File, blob: Path, job: Job) -> None:
    """Download a file, resuming what a broken connection or a killed process left. Raises Unreachable, ModelError."""
    part = blob.with_name(f"{blob.name}.bartviz.incomplete")
    for _ in range(2):
        kept = _size(part)
        if kept > file.size:
            part.unlink()
            kept = 0
        job.done += kept
        if (free := shutil.disk_usage(blob.parent).free) < file.size - kept:
            why = later(
                "{name} needs {needed:,.1f} MB, {free:,.1f} MB are free",
                name=file.name,
                needed=(file.size - kept) / 1e6,
                free=free / 1e6,
            )
            raise ModelError(_no_room(why))
        _with_retries(lambda: _append(file, part, job), job, lambda: _size(part))
        if holds(part, file.digest, job):
            part.replace(blob)
            return
        part.unlink()
        job.done -= file.size
    raise ModelError(
        later(
            "{name} arrived damaged twice: its content does not match the hub's checksum. Try again later.",
            name=file.name,
        )
    )


def _append(file: File, part: Path, job: Job) -> None:
    """Request the missing part of a file and write it as it arrives. Raises Unreachable, ModelError."""
    with part.open("ab") as out:
        kept = out.tell()
        if kept == file.size:
            return
        with _get(file.url, {"Range": f"bytes={kept}-"} if kept else {}, job) as response:
            if kept and response.status_code != 206:  # the server sends the whole file
                out.truncate(0)
                job.done -= kept
                kept = 0
            for chunk in response.iter_raw():
                job.check()
                out.write(chunk)
                kept += len(chunk)
                job.done += len(chunk)
                if kept > file.size:
                    break
    if kept > file.size:
        part.unlink()
        job.done -= kept
        raise Unreachable(later("The hub sends more of {name} than it announced.", name=file.name), again=True)
    if kept < file.size:
        raise Unreachable(later("The connection broke off in the middle of {name}.", name=file.name), again=True)


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def holds(path: Path, digest: str, job: Job) -> bool:
    """Whether a file's content has this hash: SHA-256 (64 digits), or git's SHA-1 for small files (40).

    A verified file is read again only after it was modified. Raises what ``job.check`` raises.
    """
    try:
        with path.open("rb") as file:
            stat = os.fstat(file.fileno())
            mark = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, digest)
            if mark in _SEEN:
                return True
            computed = hashlib.sha256() if len(digest) == 64 else hashlib.sha1(b"blob %d\0" % stat.st_size)
            while chunk := file.read(_CHUNK):
                job.check()
                computed.update(chunk)
    except OSError:
        return False
    if computed.hexdigest() != digest:
        return False
    _SEEN.add(mark)
    return True


def _no_room(why: str) -> str:
    return later(
        "There is not enough disk space for the model: {why}. Free some, or set HF_HUB_CACHE to a folder elsewhere.",
        why=why,
    )


@contextmanager
def _disk_errors() -> Iterator[None]:
    """Turn errors of the cache's disk into ModelError."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise ModelError(_no_room(later("it is full"))) from None
        raise ModelError(
            later("The folder for downloaded models cannot be written. Set HF_HUB_CACHE to a writable folder.")
        ) from None


def cache_folder() -> Path:
    """Where the hub's files are kept: HF_HUB_CACHE, else HF_HOME, else the library's default."""
    for variable, below in (("HF_HUB_CACHE", ""), ("HUGGINGFACE_HUB_CACHE", ""), ("HF_HOME", "hub")):
        if value := os.environ.get(variable):
            return Path(os.path.expandvars(value)).expanduser() / below
    return Path(constants.HF_HUB_CACHE)
