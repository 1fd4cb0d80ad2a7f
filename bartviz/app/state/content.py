"""Short keys by content: equal values have equal keys, whichever session or object they come from."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from functools import partial
from hashlib import blake2b
from types import FunctionType
from typing import Any

import numpy as np

from bartviz.record.steps import Steps

PLAIN = frozenset({bool, int, float, str, bytes, type(None), range, slice})
LARGE = 1_000_000  # bytes; many records may share an array this large, such as a model's projections
_KNOWN: dict[int, tuple[weakref.ref[Any], bytes]] = {}


def key(*parts: object) -> str:
    """One key for plain values, arrays, tables, bartviz objects, containers of these, named functions, partial calls.

    A frozen dataclass and a large read-only array are trusted not to change: they are read only once. Raises TypeError
    for anything else: an object whose content is unknown, or a function with a closure.
    """
    digest = blake2b(digest_size=20)
    _add(digest, parts)
    return digest.hexdigest()


def _add(digest: blake2b, value: object) -> None:
    kind = type(value)
    if kind in PLAIN or isinstance(value, str | np.generic):
        _add_text(digest, f"{kind.__name__} {value!r}")
    elif isinstance(value, Steps):  # compared by their numbers, without building each step
        _add_all(digest, "steps", value.numbers)
    elif isinstance(value, Sequence):
        _add_all(digest, kind.__name__, value)
    elif isinstance(value, Mapping):
        _add_all(digest, "mapping", [part for pair in value.items() for part in pair])
    elif isinstance(value, Set):
        _add_all(digest, "set", sorted(key(part) for part in value))
    elif isinstance(value, np.ndarray):
        _array(digest, value)
    else:
        _object(digest, value)


def _object(digest: blake2b, value: object) -> None:
    kind = type(value)
    name = f"{kind.__module__}.{kind.__qualname__}"
    if isinstance(value, type | FunctionType):
        _add_text(digest, f"name {_named(value)}")
    elif isinstance(value, partial):
        _add_all(digest, "call", [value.func, value.args, value.keywords])
    elif is_dataclass(value):
        _dataclass(digest, name, value)
    elif name.startswith("bartviz."):
        _add_all(digest, name, [part for pair in vars(value).items() for part in pair])
    elif name.startswith("pandas.") and hasattr(value, "to_dict"):
        _add_all(digest, name, [value.index.to_numpy(), value.to_dict("list")])  # type: ignore[attr-defined]
    else:
        raise TypeError(f"The content of {name} is not known: pass the values that it was made from.")


def _named(thing: Any) -> str:
    name = f"{thing.__module__}.{thing.__qualname__}"
    if "<" in name or name.startswith("__main__") or getattr(thing, "__closure__", None):
        raise TypeError(f"{name} may hold hidden values: pass a module-level function and its arguments.")
    return name


def _add_all(digest: blake2b, name: str, parts: Sequence[Any]) -> None:
    if set(map(type, parts)) <= PLAIN:
        _add_text(digest, f"{name} {tuple(parts)!r}")
        return
    _add_text(digest, f"{name} of {len(parts)}")
    for part in parts:
        _add(digest, part)


def _array(digest: blake2b, array: np.ndarray[Any, Any]) -> None:
    if array.dtype == object:
        _add_all(digest, f"objects {array.shape}", array.ravel().tolist())
        return
    _add_text(digest, f"array {array.dtype.str} {array.shape}")
    if array.flags.writeable or array.nbytes < LARGE:
        digest.update(np.ascontiguousarray(array).data)
    else:
        digest.update(_once(array, lambda whole: whole.update(np.ascontiguousarray(array).data)))


def _add_text(digest: blake2b, text: str) -> None:
    encoded = text.encode("utf-8", "surrogatepass")
    digest.update(len(encoded).to_bytes(8, "little"))
    digest.update(encoded)


def _dataclass(digest: blake2b, name: str, value: Any) -> None:
    kind = type(value)
    if not (kind.__dataclass_params__.frozen and kind.__weakrefoffset__):  # with slots there is no weak reference to it
        _add_all(digest, name, _values(value))
        return
    digest.update(_once(value, lambda whole: _add_all(whole, name, _values(value))))


def _once(value: Any, add: Callable[[blake2b], None]) -> bytes:
    """The digest of an immutable value, computed on first use and kept as long as the value lives."""
    number = id(value)
    known = _KNOWN.get(number)
    if known is None or known[0]() is not value:
        whole = blake2b(digest_size=20)
        add(whole)
        known = _KNOWN[number] = weakref.ref(value, partial(_forget, number)), whole.digest()
    return known[1]


def _forget(number: int, gone: weakref.ref[Any]) -> None:
    known = _KNOWN.get(number)
    if known is not None and known[0] is gone:
        del _KNOWN[number]


def _values(value: Any) -> list[Any]:
    return [getattr(value, field.name) for field in fields(value)]
