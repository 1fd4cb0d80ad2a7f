"""Files of the hub's cache are called by the hash of their content: whether they still are what their name says."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from bartviz.models.deadline import Job

_NAME = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_CHUNK = 1 << 22
_SEEN: set[tuple[object, ...]] = set()  # files of this process whose content was found right, and not written since


def holds(path: Path, digest: str, job: Job) -> bool:
    """Whether a file's content has this hash: SHA-256 (64 digits), or git's SHA-1 for small files (40).

    Once found right, a file is read again only when it was written since. Raises what ``job.check`` raises.
    """
    try:
        with path.open("rb") as file:
            about = os.fstat(file.fileno())
            mark = (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, digest)
            if mark in _SEEN:
                return True
            found = hashlib.sha256() if len(digest) == 64 else hashlib.sha1(b"blob %d\0" % about.st_size)
            while chunk := file.read(_CHUNK):
                job.check()
                found.update(chunk)
    except OSError:
        return False
    if found.hexdigest() != digest:
        return False
    _SEEN.add(mark)
    return True


def is_damaged(path: Path, job: Job) -> bool:
    """Whether a file of a snapshot is not what the name of its blob says; a copy, whose name tells nothing, is not."""
    name = path.resolve().name
    return _NAME.fullmatch(name) is not None and not holds(path, name, job)
