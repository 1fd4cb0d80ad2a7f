"""Arrays as records hold them: their types, read-only copies, and equality field by field. NumPy alone."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


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
