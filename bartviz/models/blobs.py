"""Verify files of the hub's cache, which are named by the hash of their content."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from bartviz.models.deadline import Job

_NAME = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_CHUNK = 1 << 22
_SEEN: set[tuple[object, ...]] = set()  # files verified in this process and not modified since


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


def is_damaged(path: Path, job: Job) -> bool:
    """Whether a snapshot file does not match its blob's hash; a plain copy, whose name is not a hash, counts as
    intact."""
    name = path.resolve().name
    return _NAME.fullmatch(name) is not None and not holds(path, name, job)
