"""How many bytes a value takes in memory, for caches that are bounded in bytes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Set
from dataclasses import fields, is_dataclass
from itertools import chain


def size(value: object) -> int:
    """Bytes of a value and its parts: items of a collection, keys and values of a mapping, fields of a dataclass.

    An object that appears twice counts once. An array, a table, and any other object that has ``nbytes`` report their
    own size.
    """
    counted: set[int] = set()
    total, pending = 0, [value]
    while pending:
        part = pending.pop()
        if id(part) in counted:
            continue
        counted.add(id(part))
        own, parts = _opened(part)
        total += own
        pending.extend(parts)
    return total


def _opened(value: object) -> tuple[int, Iterable[object]]:
    """Bytes of an object without its parts, and the parts."""
    if hasattr(value, "nbytes"):
        return int(value.nbytes), ()
    if hasattr(value, "memory_usage"):  # a table; pandas is not imported for it
        return int(value.memory_usage(deep=True).sum()), ()
    parts: Iterable[object] = ()
    if isinstance(value, Mapping):
        parts = chain(value.keys(), value.values())
    elif isinstance(value, list | tuple | Set):
        parts = value
    elif is_dataclass(value):
        parts = (getattr(value, field.name) for field in fields(value))
    return sys.getsizeof(value), parts
