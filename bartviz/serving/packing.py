"""Results sent to another process: pickled by a process that bartviz started, and read-only where they arrive."""

from __future__ import annotations

import copyreg
import io
import pickle
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

_PLAIN = "biufcSU"  # kinds of arrays: truth values, numbers and text of fixed length


def _mapping(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(values)


copyreg.pickle(MappingProxyType, lambda mapping: (_mapping, (dict(mapping),)))


def packed(result: object) -> bytes:
    """A result as bytes. Read them only from a process of our own: they are code."""
    buffer = io.BytesIO()
    _Packer(buffer, protocol=pickle.HIGHEST_PROTOCOL).dump(result)
    return buffer.getvalue()


def unpacked(content: bytes) -> Any:
    """The result; its arrays are read-only, as visitors share it."""
    return pickle.loads(content)


class _Packer(pickle.Pickler):
    """Keeps arrays of numbers as bytes, which are read-only; Python's own way makes arrays that can be written to."""

    def reducer_override(self, value: Any) -> Any:
        if type(value) is not np.ndarray or value.dtype.kind not in _PLAIN:
            return NotImplemented
        return _array, (value.tobytes(), value.dtype.str, value.shape)


def _array(content: bytes, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    return np.frombuffer(content, dtype).reshape(shape)
