"""Models of the hub on this machine: the cache of huggingface_hub (blobs, snapshots, refs), shared with other programs.

Every file is compared with the hash that the hub gives, after its download and before it is read again.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import Timeout
from huggingface_hub import constants
from huggingface_hub.utils import WeakFileLock

from bartviz.errors import ModelError, NotFetched
from bartviz.families.catalogue import entry
from bartviz.language import later
from bartviz.models import download
from bartviz.models.deadline import Job
from bartviz.models.download import COMMIT, DIGEST, File, Needed, Unreachable
from bartviz.models.files import Files, is_complete, is_read
from bartviz.models.location import Location

NOT_ASKED = later("The hub was not asked for a newer version.")
_CHUNK = 1 << 22
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_SEEN: set[tuple[object, ...]] = set()  # files verified in this process and not modified since


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
        needed = download.choose(location.name, revision, job)
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
        download.check_reachable()
        return
    name, known, host = location.name, entry(location.name), download.host()
    said = later(
        "{name} is not on this machine, and nothing has been downloaded. It is a model on {host}; its size "
        "is not yet known.",
        name=name,
        host=host,
    )
    if known is not None:
        said = later(
            "{name} ({title}) is not on this machine, and nothing has been downloaded. It is a model on {host}.",
            name=name,
            title=later(known.title),
            host=host,
        )
    raise NotFetched(said, name)


def is_here(location: Location) -> bool:
    """Whether a model is on this machine: in a folder, or downloaded earlier."""
    return location.folder is not None or Cache(location.name).earlier(location.revision) is not None


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
    part = blob.with_name(f"{blob.name}.bartviz.incomplete")
    for _ in range(2):
        kept = part.stat().st_size if part.exists() else 0
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
        download.append(file, part, job)
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
