"""Results that nobody can change: their arrays read-only, and how many bytes they hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType

import numpy as np


def freeze(thing: object) -> None:
    """Make every array of a frozen dataclass read-only, and every mapping too."""
    for entry in fields(thing):  # type: ignore[arg-type]
        value = getattr(thing, entry.name)
        for array in value.values() if isinstance(value, Mapping) else (value,):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
        if isinstance(value, Mapping):
            object.__setattr__(thing, entry.name, MappingProxyType(dict(value)))


def array_bytes(thing: object) -> int:
    """Bytes of the arrays of a dataclass, of its mappings too."""
    values = (getattr(thing, entry.name) for entry in fields(thing))  # type: ignore[arg-type]
    arrays = (array for value in values for array in (value.values() if isinstance(value, Mapping) else (value,)))
    return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))
