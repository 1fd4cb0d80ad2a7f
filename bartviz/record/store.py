"""A frozen dataclass of arrays <-> one safetensors file, or one JSON text.

The arrays are the file's tensors; everything else is one JSON text in its header. Small results are a JSON text as a
whole, which other programs read: there the arrays are lists of numbers. Nothing is ever unpickled, and the
dataclasses' own ``__post_init__`` validates what is read. A message made by ``later`` is saved with its values, so that
it appears in the language of the person who opens the file.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import string
import time
import types
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, Field, fields, is_dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from bartviz.errors import RecordError
from bartviz.language import Later, later, mark
from bartviz.safety import files
from bartviz.safety.other_libraries import guarded
from bartviz.text.tokens import writable

VERSION = 3  # version 2 stored messages in English only
OLDER = 1  # without a digest
LARGEST_FILE = 4 << 30  # bytes
LARGEST_HEADER = 100 << 20  # bytes: the limit of safetensors
LARGEST_JSON = 256 << 20  # bytes
LARGEST_NUMBER = 1 << 63
ABANDONED = 3600  # seconds after which no write of a file can still be in progress
_HEADER = "bartviz"
_DIGEST = "digest"
_NOTE = "note."
_ARRAY = "$array"
_MESSAGE = "$message"
_SPEC = re.compile(r",?(\.\d)?[a-z%]?")  # format of a value in a message: never with a width
_LONGEST = 100_000  # characters of a message's values
_REASONS = {
    FileNotFoundError: mark("no such file or folder"),
    IsADirectoryError: mark("it is a folder"),
    NotADirectoryError: mark("its folder does not exist"),
    PermissionError: mark("permission is denied"),
    files.NotRegular: mark("it is a pipe or a device, not a file"),
}
Arrays = dict[str, NDArray[Any]]
Seal = Literal["unchanged", "changed", "older"]
T = TypeVar("T")


def write(path: str | PathLike[str], value: object) -> None:
    """Write a dataclass atomically: the whole file or nothing. Raises OSError, which names the file, RecordError."""
    replace(path, encode(value))


def replace(path: str | PathLike[str], data: bytes) -> None:
    """Write a file atomically: the whole file or nothing. Raises OSError, which names the file."""
    target = Path(path)
    _remove_left(target)
    part = target.with_name(f"{target.name[:40]}.{secrets.token_hex(4)}.part")
    try:
        part.write_bytes(data)
        part.replace(target)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None  # not the temporary name
    finally:
        part.unlink(missing_ok=True)


def _remove_left(target: Path) -> None:
    """Delete what earlier writes of this file left when they were killed; one that is in progress is younger."""
    pattern = re.compile(rf"{re.escape(target.name[:40])}\.[0-9a-f]{{8}}\.part")
    with suppress(OSError):
        left = [file for file in target.parent.glob("*.part") if pattern.fullmatch(file.name)]
        for file in left:
            if time.time() - file.stat().st_mtime > ABANDONED:
                file.unlink(missing_ok=True)


def read(path: str | PathLike[str], cls: type[T]) -> tuple[T, Seal]:
    """Read a file made by ``write``, and whether it is unchanged. Raises RecordError for anything else: a wrong file,
    version, shape or number."""
    try:
        size = files.size_of(path)
        if size > LARGEST_FILE:
            raise RecordError(
                later(
                    "The file has {size:,} bytes; records of at most {limit:,} are opened.",
                    size=size,
                    limit=LARGEST_FILE,
                )
            )
        _look(path, size)
        return decode(files.read(path, LARGEST_FILE), cls)
    except OSError as error:
        raise RecordError(later("The record cannot be read: {reason}.", reason=_reason(error))) from None
    except RecordError:
        raise
    except (TypeError, ValueError):  # not a path, or one with a NUL character
        raise RecordError(
            later("The record cannot be read: {reason}.", reason=later(_REASONS[FileNotFoundError]))
        ) from None


def _look(path: str | PathLike[str], size: int) -> None:
    """Raise RecordError where the header alone shows that a file is not a record, however large the rest is."""
    with Path(path).open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        start = file.read(1)
    if not 2 <= length <= min(size - 8, LARGEST_HEADER) or start != b"{":
        raise _no_record()


def _no_record() -> RecordError:
    return RecordError(later("This is not a bartviz record, or a part of the file is missing. Save it again."))


def _reason(error: OSError) -> str:
    """Why a file cannot be read, in words; rare reasons as the system reports them."""
    for kind, message in _REASONS.items():
        if isinstance(error, kind):
            return later(message)
    return error.strerror or later("the disk reports an error")


def decode(data: bytes, cls: type[T]) -> tuple[T, Seal]:
    """The value in the bytes of a file, and whether they are as they were saved. Raises RecordError."""
    unread = _no_record()
    with guarded(unread):
        return _decode(data, cls, unread)


def _decode(data: bytes, cls: type[T], unread: RecordError) -> tuple[T, Seal]:
    try:
        metadata = _metadata(data)
        header = json.loads(metadata[_HEADER])
        arrays: Arrays = load(data)
        version = header["version"]
        if version not in range(OLDER, VERSION + 1):
            raise RecordError(
                later(
                    "The record has format {version}; this version of bartviz reads format {ours}.",
                    version=version,
                    ours=VERSION,
                )
            )
        value = _unpack(cls, header["value"], arrays)
    except RecordError as error:
        if isinstance(error.args[0], Later):
            raise
        raise RecordError(
            later("The record's parts contradict each other: {reason} Save it again.", reason=error.args[0])
        ) from None
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise unread from None
    assert isinstance(value, cls)
    if version == OLDER and _DIGEST not in metadata:
        return value, "older"
    return value, "unchanged" if metadata.get(_DIGEST) == _digest(metadata[_HEADER], arrays) else "changed"


def encode(value: object, notes: Mapping[str, str] | None = None) -> bytes:
    """The bytes that ``write`` puts into a file. Raises RecordError for a text that no file can hold.

    ``notes`` stand beside the value, for whoever asks for them (``note``): the value is the same without them.
    """
    arrays: Arrays = {}
    tree = _pack(value, arrays, "")
    header = json.dumps({"version": VERSION, "type": type(value).__name__, "value": tree}, ensure_ascii=False)
    kept = {_NOTE + name: text for name, text in (notes or {}).items()}
    data: bytes = save(arrays, metadata={**kept, _HEADER: header, _DIGEST: _digest(header, arrays)})
    return data


def note(data: bytes, name: str) -> str:
    """A note in the bytes of a file; "" where there is none, or the bytes are no such file."""
    try:
        text = _metadata(data).get(_NOTE + name, "")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ""
    return text if isinstance(text, str) else ""


def to_json(value: object) -> str:
    """The JSON text that ``read_json`` reads: ``value`` without its arrays, which stand in ``arrays`` by name, each
    number as short as its type can tell it. Raises RecordError for a text that no file can hold."""
    arrays: Arrays = {}
    tree = {"version": VERSION, "type": type(value).__name__, "value": _pack(value, arrays, "")}
    listed = {name: {"dtype": str(array.dtype), "numbers": _listed(array)} for name, array in arrays.items()}
    return json.dumps(tree | {"arrays": listed, _DIGEST: _digest(_header(tree), arrays)}, ensure_ascii=False)


def read_json(path: str | PathLike[str], cls: type[T]) -> T:
    """Read a file made of ``to_json``. Raises RecordError for anything else, and for one that was changed since."""
    unread = RecordError(later("This is not such a file of bartviz, or a part of it is missing. Save it again."))
    try:
        tree = json.loads(files.read(path, LARGEST_JSON))
        with guarded(unread):
            arrays: Arrays = {name: _numbers(one) for name, one in _expected(dict, tree["arrays"]).items()}
            value = _unpack(cls, tree["value"], arrays)
            kept = {name: tree[name] for name in ("version", "type", "value")}
            sealed = tree[_DIGEST] == _digest(_header(kept), arrays) and tree["version"] in range(OLDER, VERSION + 1)
    except files.TooLarge as error:
        limit = later("The file has {size:,} bytes; at most {limit:,} are read.", size=error.size, limit=error.most)
        raise RecordError(limit) from None
    except OSError as error:
        raise RecordError(later("The file cannot be read: {reason}.", reason=_reason(error))) from None
    except RecordError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise unread from None
    if not sealed or not isinstance(value, cls):
        raise RecordError(later("The file was changed after it was saved. Save it again from the run that made it."))
    return value


def _header(tree: Mapping[str, object]) -> str:
    return json.dumps(tree, ensure_ascii=False)


def _listed(array: NDArray[Any]) -> Any:
    """Nested lists of an array's numbers: of float32 0.1, not 0.10000000149."""
    if array.dtype != np.float32:
        return array.tolist()
    return np.array([float(str(number)) for number in array.ravel()]).reshape(array.shape).tolist()


def _numbers(one: Any) -> NDArray[Any]:
    """The array of such lists; raises ValueError for a type that results do not have."""
    if one["dtype"] not in ("float32", "int64", "bool"):
        raise ValueError("dtype")
    return np.array(one["numbers"], one["dtype"])


def _digest(header: str, arrays: Arrays) -> str:
    """SHA-256 of the header, and of name, type, shape and contents of every array."""
    digest = hashlib.sha256(header.encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.data)
    return digest.hexdigest()


def _metadata(data: bytes) -> dict[str, str]:
    """The metadata of a safetensors header: 8 bytes of length, then JSON."""
    length = int.from_bytes(data[:8], "little")
    if not 2 <= length <= len(data) - 8:
        raise ValueError("header")
    header: dict[str, dict[str, str]] = json.loads(data[8 : 8 + length])
    return header["__metadata__"]


def _pack(value: object, arrays: Arrays, name: str) -> object:
    """Put arrays into ``arrays`` under their path; turn the rest into JSON."""
    if isinstance(value, Later) and _fits(value.message, value.values):
        return {_MESSAGE: value.message, "values": _pack(value.values, arrays, name)}
    if isinstance(value, np.ndarray):
        arrays[name] = np.ascontiguousarray(value)
        return {_ARRAY: name}
    if is_dataclass(value):
        return {
            f.name: _pack(getattr(value, f.name), arrays, f"{name}.{f.name}".lstrip("."))
            for f in fields(value)
            if f.compare
        }
    if isinstance(value, Mapping):
        return {str(key): _pack(item, arrays, f"{name}.{key}") for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_pack(item, arrays, f"{name}.{index}") for index, item in enumerate(value)]
    if isinstance(value, str) and not writable(value):
        raise RecordError(
            later("A text of the record contains lone surrogates (halves of characters), which no file can store.")
        )
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise TypeError(f"A {type(value).__name__} cannot be saved in a record.")


def _unpack(hint: Any, tree: Any, arrays: Arrays) -> object:
    """The value of type ``hint``; raises TypeError, KeyError or ValueError where the tree does not fit it."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        if tree is None and type(None) in get_args(hint):
            return None
        return _unpack(next(option for option in get_args(hint) if option is not type(None)), tree, arrays)
    if origin is np.ndarray:
        return _array(hint, arrays[tree[_ARRAY]])
    if is_dataclass(hint):
        hints = get_type_hints(hint)
        known = _expected(dict, tree)
        there = [f for f in fields(hint) if f.compare and (f.name in known or not _has_default(f))]
        values = {f.name: _unpack(hints[f.name], tree[f.name], arrays) for f in there}
        return hint(**values)  # type: ignore[operator]
    if origin in (tuple, Sequence):
        inner = get_args(hint)
        if origin is Sequence or (len(inner) == 2 and inner[1] is Ellipsis):
            return tuple(_unpack(inner[0], item, arrays) for item in _expected(list, tree))
        return tuple(_unpack(part, item, arrays) for part, item in zip(inner, _expected(list, tree), strict=True))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        _, inside = get_args(hint)
        return {_leaf(str, key): _unpack(inside, item, arrays) for key, item in _expected(dict, tree).items()}
    return _leaf(hint, tree)


def _array(hint: Any, kept: NDArray[Any]) -> NDArray[Any]:
    """The array, whose type must be the declared one: nothing is converted."""
    (kind,) = get_args(get_args(hint)[1])
    if kept.dtype != kind:
        raise TypeError("array")
    return kept


def _expected(kind: type[T], tree: Any) -> T:
    if not isinstance(tree, kind):
        raise TypeError(kind.__name__)
    return tree


def _has_default(field: Field[Any]) -> bool:
    """Whether a file may lack the field: older files do."""
    return field.default is not MISSING or field.default_factory is not MISSING


def _leaf(hint: Any, tree: Any) -> object:
    """A string (or a message), a number or a choice; a setting (``object``) is any of these, or a list of them."""
    if get_origin(hint) is Literal:
        if not any(type(choice) is type(tree) and choice == tree for choice in get_args(hint)):
            raise ValueError("choice")
        return tree
    if hint in (str, object) and isinstance(tree, dict):
        return _message(tree)
    if hint is object and isinstance(tree, list):
        return [_leaf(object, item) for item in tree]
    if hint is object and tree is None:
        return None
    if hint is float and type(tree) is int:
        tree = float(tree)
    if type(tree) not in ((str, bool, int, float) if hint is object else (hint,)):
        raise TypeError("leaf")
    if (type(tree) is int and abs(tree) >= LARGEST_NUMBER) or (type(tree) is str and not writable(tree)):
        raise ValueError("leaf")
    return tree


def _message(tree: Mapping[str, Any]) -> str:
    """Rebuild a message of ``later``; raises ValueError for what ``later`` cannot have made."""
    message = tree[_MESSAGE]
    values = {str(_leaf(str, name)): _leaf(object, value) for name, value in _expected(dict, tree["values"]).items()}
    if type(message) is not str or not writable(message) or not _fits(message, values):
        raise ValueError("message")
    return later(message, **values)


def _fits(message: str, values: Mapping[str, object]) -> bool:
    """Whether a message only inserts its values: files are untrusted, and ``str.format`` can also read attributes and
    pad to any width."""
    if not values:
        return True
    fields = [
        (name, spec or "", conversion)
        for _text, name, spec, conversion in string.Formatter().parse(message)
        if name is not None
    ]
    return (
        all(isinstance(value, str | bool | int | float) for value in values.values())
        and all(name.isidentifier() and name in values for name, _spec, _conversion in fields)
        and all(_SPEC.fullmatch(spec) and not conversion for _name, spec, conversion in fields)
        and sum(len(str(values[name])) for name, _spec, _conversion in fields) <= _LONGEST
    )
