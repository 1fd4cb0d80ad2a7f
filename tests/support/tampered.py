"""Records of which one thing was changed, field by field, without naming any field: a new one is met by itself."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from bartviz.record.record import Record

T = TypeVar("T")
Change = tuple[str, str, Callable[[], Any]]  # class, field, and what makes the changed value


def another(value: T, **change: Any) -> T:
    """A copy of a dataclass with some fields changed."""
    copy: T = replace(value, **change)  # type: ignore[type-var]
    return copy


def changes(value: Any) -> Iterator[Change]:
    """Every field of a dataclass, and of those inside of it, with one other value each."""
    hints = get_type_hints(type(value))
    for field in fields(value):
        if not (field.init and field.compare):
            continue
        old = getattr(value, field.name)
        parts = list(_inside(old, value, field.name))
        yield from parts
        if not parts:
            for new in _others(old, hints[field.name]):
                yield type(value).__name__, field.name, _with(value, field.name, new)


def _with(value: Any, name: str, new: Any) -> Callable[[], Any]:
    return lambda: replace(value, **{name: new})


def _inside(old: Any, owner: Any, name: str) -> Iterator[Change]:
    """The changes inside of a field that holds dataclasses."""
    if is_dataclass(old):
        for kind, field, made in changes(old):
            yield kind, field, lambda made=made: replace(owner, **{name: made()})  # type: ignore[misc]
    elif isinstance(old, Sequence) and not isinstance(old, str) and len(old) and is_dataclass(old[0]):
        index = len(old) // 2
        for kind, field, made in changes(old[index]):
            yield (
                kind,
                field,
                lambda made=made: replace(  # type: ignore[misc]
                    owner, **{name: (*old[:index], made(), *old[index + 1 :])}
                ),
            )
        yield type(owner).__name__, name, lambda: replace(owner, **{name: tuple(old[:-1])})


def _others(old: Any, hint: Any) -> Iterator[Any]:
    """Other values of a field that holds none."""
    if isinstance(old, np.ndarray):
        yield _another(old)
    elif isinstance(old, bool):
        yield not old
    elif isinstance(old, str):
        yield _literal(old, hint) or f"{old}x"
    elif isinstance(old, int):
        yield old + 1
    elif isinstance(old, float):
        yield old * 1.5 + 0.1
    elif isinstance(old, Mapping):
        yield {**old, "another": 1}
    elif isinstance(old, tuple) and old:
        index = len(old) // 2
        for new in _others(old[index], Any):
            yield (*old[:index], new, *old[index + 1 :])
    elif old is None and get_origin(hint) in (Union, types.UnionType):
        known = {str: "x", float: 0.5, int: 0}
        yield from (known[option] for option in get_args(hint) if option in known)


def _literal(old: str, hint: Any) -> str | None:
    options = [option for part in (hint, *get_args(hint)) if get_origin(part) is Literal for option in get_args(part)]
    return next((option for option in options if option != old), None)


def _another(array: Any) -> Any:
    """The array with one number changed, where the largest is."""
    new = array.copy()
    where = np.unravel_index(int(np.abs(new.astype(float)).argmax()), new.shape)
    new[where] = ~new[where] if new.dtype == bool else new[where] * 2 + 1 if new.dtype.kind == "f" else new[where] + 1
    return new


def named(record: Record) -> list[tuple[str, Callable[[], Any]]]:
    """The changes of a record with a name for each."""
    return [(f"{kind}.{field}", made) for kind, field, made in changes(record)]
