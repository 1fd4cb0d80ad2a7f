"""The hub: which files of a model are needed, and where they are in the hub's cache on this machine.

The cache is that of huggingface_hub (blobs, snapshots, refs), shared with every other program; so are its session,
token, locks and settings (HF_ENDPOINT, HF_HUB_CACHE, HF_TOKEN, HF_HUB_OFFLINE). Downloads use our own code
(download.py): the library's may outlast any deadline on a faulty server, cannot be cancelled, restarts a large file
after a kill, and does not verify content.
"""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.request import getproxies, proxy_bypass

from filelock import Timeout
from huggingface_hub import constants
from huggingface_hub.utils import WeakFileLock

from bartviz.errors import ModelError, NotFetched, choices
from bartviz.families.catalogue import entry
from bartviz.language import later
from bartviz.models import blobs, deadline, download, listings
from bartviz.models.deadline import Job
from bartviz.models.download import File, Unreachable
from bartviz.models.files import Files, NoWeights, is_complete, is_read
from bartviz.models.listings import COMMIT, Needed
from bartviz.models.location import Location, embedded
from bartviz.models.roots import ROOTS_SETTING

REACH_SECONDS = 0.9  # to detect that there is no network
NOT_ASKED = later("The hub was not asked for a newer version.")


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
        needed, notices = _choose(location, job)
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
    return cache.files(needed.commit, notices)


def check(location: Location, *, fetch: bool) -> None:
    """Raise NotFetched, or Unreachable within a second, for a model that is not on this machine and cannot be fetched:
    the hub is not to be asked, or cannot be reached."""
    if is_cached(location):
        return
    if not fetch:
        raise _not_fetched(location.name)
    check_reachable()


def is_cached(location: Location) -> bool:
    """Whether a model of the hub was downloaded earlier."""
    return Cache(location.name).earlier(location.revision) is not None


def _choose(location: Location, job: Job) -> tuple[Needed, tuple[str, ...]]:
    """The files of the revision; if they are pickles and no revision was requested, the hub's own conversion."""
    check_reachable()
    name = location.name
    try:
        return listings.of(name, location.revision or constants.DEFAULT_REVISION, job).needed(), ()
    except NoWeights:
        converted = listings.conversion(name, job) if location.revision is None else None
        if converted is None:
            raise
    notice = later("Weights from the hub's own conversion to safetensors ({revision}).", revision=converted)
    return listings.of(name, converted, job).needed(), (notice,)


def _not_fetched(name: str) -> NotFetched:
    """The error for a model that nobody has asked to download: what it is, its size if that is known, and its host.

    Raises ModelError where there is no host.
    """
    known, host = entry(name), download.host()
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
    return NotFetched(said, name)


def check_reachable() -> None:
    """Raise Unreachable within a second if there is no network, even if the name server hangs."""
    offline = Unreachable(
        later(
            "The model hub cannot be reached, and this model has not been downloaded before. These work offline: "
            "{names}. Or copy a model's folder (config.json, model.safetensors, tokenizer files) to this machine and "
            "load it by its path; for the app, under a folder named in {setting}.",
            names=choices(embedded()),
            setting=ROOTS_SETTING,
        ),
        later("The model hub cannot be reached."),
    )
    if constants.is_offline_mode():
        raise offline
    try:
        target = download.address(getproxies(), proxy_bypass)
        deadline.within(REACH_SECONDS, lambda: socket.create_connection(target, timeout=REACH_SECONDS).close())
    except (OSError, TimeoutError):
        raise offline from None


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
        with download.disk_errors():
            ref = self._root / "refs" / revision
            ref.parent.mkdir(parents=True, exist_ok=True)
            ref.write_text(commit, encoding="ascii")

    def fill(self, needed: Needed, job: Job, inspect: Callable[[Files], None]) -> None:
        """Download what is missing of these files: settings and tokenizer, then (if ``inspect`` agrees) the weights."""
        with download.disk_errors():
            self._root.mkdir(parents=True, exist_ok=True)
            lock = self._all / ".locks" / self._root.name / "bartviz.lock"
            lock.parent.mkdir(parents=True, exist_ok=True)
        try:
            with WeakFileLock(lock, timeout=job.left()):
                commit = needed.commit
                missing = self._missing([*needed.small, *needed.weights], commit, job)
                total = download.Total(sum(file.size for file in missing), job)
                for file in needed.small:
                    if file in missing:
                        self._fetch(file, commit, job, total)
                inspect(self.files(commit))
                for file in needed.weights:
                    if file in missing:
                        self._fetch(file, commit, job, total)
        except Timeout:
            raise ModelError(
                later("Another process is downloading this model. Try again when it has finished.")
            ) from None

    def _missing(self, files: Iterable[File], commit: str, job: Job) -> list[File]:
        """The files that are missing, or whose content differs from the hub's."""
        return [file for file in files if not _is_intact(self.folder(commit) / file.name, file, job)]

    def damaged(self, commit: str, job: Job) -> str | None:
        """The name of the first file whose content has changed since the download; None if all are intact."""
        files = sorted(entry.name for entry in os.scandir(self.folder(commit)) if is_read(entry.name))
        return next((name for name in files if blobs.is_damaged(self.folder(commit) / name, job)), None)

    def _fetch(self, file: File, commit: str, job: Job, total: download.Total) -> None:
        blob, link = self._root / "blobs" / file.digest, self.folder(commit) / file.name
        with download.disk_errors():
            blob.parent.mkdir(parents=True, exist_ok=True)
            link.parent.mkdir(parents=True, exist_ok=True)
            if not _is_intact(blob, file, job):
                download.fetch(file, blob, job, total)
            else:
                total.add(file.size)
            link.unlink(missing_ok=True)
            try:
                link.symlink_to(os.path.relpath(blob, link.parent))
            except OSError:  # a file system without links
                shutil.copyfile(blob, link)


def _is_intact(path: Path, file: File, job: Job) -> bool:
    """Whether a file of the hub is here, complete and intact."""
    try:
        return path.stat().st_size == file.size and blobs.holds(path, file.digest, job)
    except OSError:
        return False


def cache_folder() -> Path:
    """Where the hub's files are kept: HF_HUB_CACHE, else HF_HOME, else the library's default."""
    for variable, below in (("HF_HUB_CACHE", ""), ("HUGGINGFACE_HUB_CACHE", ""), ("HF_HOME", "hub")):
        if value := os.environ.get(variable):
            return Path(os.path.expandvars(value)).expanduser() / below
    return Path(constants.HF_HUB_CACHE)
