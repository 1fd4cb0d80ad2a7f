"""Read-only results, and the bytes of their arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType

import numpy as np

from bartviz.arrays import Rebuilt

LONGEST = 3  # things of a tuple that a ``repr`` names one by one


class Brief(Rebuilt):
    """A frozen dataclass (made with ``repr=False``) with read-only arrays and mappings, whose ``repr`` shows arrays by
    shape and dtype, and shortens long tuples; it can be copied and pickled."""

    def __post_init__(self) -> None:
        freeze(self)

    def __repr__(self) -> str:
        said = (f"{entry.name}={brief(getattr(self, entry.name))}" for entry in fields(self))  # type: ignore[arg-type]
        return f"<{type(self).__name__}: {', '.join(said)}>"

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays, without those of records in it."""
        return array_bytes(self)


def brief(value: object) -> str:
    """A short ``repr``: an array by its shape and dtype, a long tuple by its length and first items."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {brief(one)}' for key, one in value.items())}}}"
    if isinstance(value, tuple) and len(value) > LONGEST:
        return f"({', '.join(map(brief, value[:LONGEST]))}, ... {len(value)} in all)"
    if isinstance(value, tuple):
        return f"({', '.join(map(brief, value))})"
    return str(value) if type(value).__str__ is not object.__str__ else repr(value)


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
