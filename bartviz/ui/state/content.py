"""What a value is, as one short key: equal content, equal key, whichever session or object it comes from."""

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
LARGE = 1_000_000  # bytes of an array that many records may share, such as a model's projections
_KNOWN: dict[int, tuple[weakref.ref[Any], bytes]] = {}


def key(*parts: object) -> str:
    """One key for plain values, arrays, tables, objects of ours, containers of them, functions by name, partial calls.

    A frozen dataclass and a large read-only array are taken at their word: they are read once and not looked at again.
    Raises TypeError for anything else: an object whose content is not seen, a function that holds values of its own.
    """
    found = blake2b(digest_size=20)
    _add(found, parts)
    return found.hexdigest()


def _add(found: blake2b, value: object) -> None:
    kind = type(value)
    if kind in PLAIN or isinstance(value, str | np.generic):
        _say(found, f"{kind.__name__} {value!r}")
    elif isinstance(value, Steps):  # none of them is named for it
        _all(found, "steps", value.numbers)
    elif isinstance(value, Sequence):
        _all(found, kind.__name__, value)
    elif isinstance(value, Mapping):
        _all(found, "mapping", [part for pair in value.items() for part in pair])
    elif isinstance(value, Set):
        _all(found, "set", sorted(key(part) for part in value))
    elif isinstance(value, np.ndarray):
        _array(found, value)
    else:
        _object(found, value)


def _object(found: blake2b, value: object) -> None:
    kind = type(value)
    name = f"{kind.__module__}.{kind.__qualname__}"
    if isinstance(value, type | FunctionType):
        _say(found, f"name {_named(value)}")
    elif isinstance(value, partial):
        _all(found, "call", [value.func, value.args, value.keywords])
    elif is_dataclass(value):
        _dataclass(found, name, value)
    elif name.startswith("bartviz."):
        _all(found, name, [part for pair in vars(value).items() for part in pair])
    elif name.startswith("pandas.") and hasattr(value, "to_dict"):
        _all(found, name, [value.index.to_numpy(), value.to_dict("list")])  # type: ignore[attr-defined]
    else:
        raise TypeError(f"The content of {name} is not known: give what it was made from.")


def _named(thing: Any) -> str:
    name = f"{thing.__module__}.{thing.__qualname__}"
    if "<" in name or name.startswith("__main__") or getattr(thing, "__closure__", None):
        raise TypeError(f"{name} holds values that nobody sees: give a function of a module, and its arguments.")
    return name


def _all(found: blake2b, name: str, parts: Sequence[Any]) -> None:
    if set(map(type, parts)) <= PLAIN:
        _say(found, f"{name} {tuple(parts)!r}")
        return
    _say(found, f"{name} of {len(parts)}")
    for part in parts:
        _add(found, part)


def _array(found: blake2b, array: np.ndarray[Any, Any]) -> None:
    if array.dtype == object:
        _all(found, f"objects {array.shape}", array.ravel().tolist())
        return
    _say(found, f"array {array.dtype.str} {array.shape}")
    if array.flags.writeable or array.nbytes < LARGE:
        found.update(np.ascontiguousarray(array).data)
    else:
        found.update(_once(array, lambda whole: whole.update(np.ascontiguousarray(array).data)))


def _say(found: blake2b, text: str) -> None:
    said = text.encode("utf-8", "surrogatepass")
    found.update(len(said).to_bytes(8, "little"))
    found.update(said)


def _dataclass(found: blake2b, name: str, value: Any) -> None:
    kind = type(value)
    if not (kind.__dataclass_params__.frozen and kind.__weakrefoffset__):  # with slots it cannot be watched
        _all(found, name, _values(value))
        return
    found.update(_once(value, lambda whole: _all(whole, name, _values(value))))


def _once(value: Any, add: Callable[[blake2b], None]) -> bytes:
    """The digest of what stays as it is, found when it is first asked for and kept as long as it lives."""
    place = id(value)
    known = _KNOWN.get(place)
    if known is None or known[0]() is not value:
        whole = blake2b(digest_size=20)
        add(whole)
        known = _KNOWN[place] = weakref.ref(value, partial(_forget, place)), whole.digest()
    return known[1]


def _forget(place: int, gone: weakref.ref[Any]) -> None:
    known = _KNOWN.get(place)
    if known is not None and known[0] is gone:
        del _KNOWN[place]


def _values(value: Any) -> list[Any]:
    return [getattr(value, field.name) for field in fields(value)]
