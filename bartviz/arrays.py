"""Arrays as records hold them: their types, read-only copies, equality field by field, and copies in other processes.
NumPy alone."""

from __future__ import annotations

from dataclasses import fields
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Array: TypeAlias = Any
"""An array of NumPy or a tensor of torch: what the array API standard describes."""


def frozen(array: NDArray[np.generic], dtype: type[np.generic]) -> NDArray[np.generic]:
    """The same numbers, contiguous and read-only; an array that is already so is not copied."""
    fixed = np.ascontiguousarray(array, dtype=dtype)
    if fixed.flags.writeable:
        fixed = fixed.view()
        fixed.flags.writeable = False
    return fixed


def same(a: object, b: object) -> bool:
    """Field by field equality for dataclasses that hold arrays."""
    for name in (one.name for one in fields(a) if one.compare):  # type: ignore[arg-type]
        x, y = getattr(a, name), getattr(b, name)
        equal = np.array_equal(x, y) if isinstance(x, np.ndarray) or isinstance(y, np.ndarray) else x == y
        if not equal:
            return False
    return True


class Rebuilt:
    """A frozen dataclass that is copied and pickled by its fields: where it arrives its constructor checks them, and
    makes arrays and mappings read-only again."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        values = {one.name: getattr(self, one.name) for one in fields(self) if one.init}  # type: ignore[arg-type]
        plain = {name: dict(value) if isinstance(value, MappingProxyType) else value for name, value in values.items()}
        return _rebuilt, (type(self), plain)


def _rebuilt(kind: type[Any], values: dict[str, Any]) -> Any:
    return kind(**values)
