"""Files of others: anything but a regular file, or a file without end, is refused before it is read."""

from __future__ import annotations

import stat
from os import PathLike
from pathlib import Path


class NotRegular(OSError):
    """It is a pipe, a device or a socket, which may wait or go on forever."""


class TooLarge(OSError):
    """The file has more bytes than may be read: ``size``, ``most``."""

    def __init__(self, size: int, most: int) -> None:
        super().__init__(f"{size} bytes; at most {most} are read")
        self.size, self.most = size, most


def size_of(path: str | PathLike[str]) -> int:
    """The bytes of a regular file. Raises OSError, NotRegular for anything but a file or a folder."""
    state = Path(path).stat()
    if not stat.S_ISREG(state.st_mode) and not stat.S_ISDIR(state.st_mode):
        raise NotRegular("no regular file")
    return state.st_size


def read(path: str | PathLike[str], most: int) -> bytes:
    """The content of a regular file. Raises OSError, NotRegular, TooLarge."""
    size = size_of(path)
    if size > most:
        raise TooLarge(size, most)
    return Path(path).read_bytes()
