"""Mutations of files: values of other types, huge numbers, missing or repeated keys, cut or changed bytes.

All chance comes from the ``Random`` that is given: the same one makes the same file.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load, save

Arrays = dict[str, NDArray[Any]]

# Stands in a tree for what Python would not write, and is written after it.
RAW = {
    '"@digits"': "9" * 5000,
    '"@endless"': "1e999",
    '"@deep"': "[" * 20_000 + "]" * 20_000,
    '"@half"': '"\\ud83d"',
    '"@objects"': '{"a":' * 3000 + "1" + "}" * 3000,
}
_SIGNS = (
    "",
    " ",
    "\0",
    "\u2028",
    "<b>",
    "</script>",
    "%s{}",
    "%{x}",
    "한글",
    "👩\u200d👧",
    "a" * 50_000,
    "../../etc/passwd",
)
_NUMBERS = (*(0, 1, -1, 2, 7, 2**31, -(2**31), 2**63, 10**400, -(10**400)), *(0.5, -0.0, 1e-320, 1e308, -1e308))
_ENDLESS = (float("nan"), float("inf"), float("-inf"))
_NESTED: tuple[Any, ...] = ([], {}, [[]], [None], [0, 1], {"": ""}, {"a": {"a": [{}]}})
_ARRAYS = tuple({"$array": name} for name in ("encoder.q", "decoder.mask", "decoder.query.ids", "none"))
ODD: tuple[Any, ...] = (
    *(None, True, False, "x", "0", "-1", "nan", "/dev/zero"),
    *(*_SIGNS, *_NUMBERS, *_ENDLESS, *_NESTED, *_ARRAYS),
    *(name.strip('"') for name in RAW),
)
CHANGES = (*("odd",) * 3, *("like",) * 3, "gone", "twice", "swap", "wrap", "text", "rename")
TYPES = ("float64", "float16", "int32", "int64", "uint8", "bool", "float32")
FILLS = (float("nan"), float("inf"), -float("inf"), 0.0, 1.0, -1.0, 1e-42, 1e6, 1e11, -1e11, 1e18, 3.4e38, -3.4e38)


def often(random: Random) -> int:
    """How many things are wrong: mostly one, so that most of the file is still read."""
    return random.choice((1, 1, 1, 1, 2, 3))


def tree(random: Random, value: Any) -> Any:
    """A copy of a JSON value in which one node is another, gone, twice, swapped or moved."""
    made = copy.deepcopy(value)
    places = list(_places(made))
    if not places:
        return random.choice(ODD)
    parent, key = random.choice(places)
    change = random.choice(
        ("odd", "odd", "odd", "like", "like", "like", "gone", "twice", "swap", "wrap", "text", "rename")
    )
    if change == "gone":
        del parent[key]
    elif change == "twice" and isinstance(parent, list):
        parent.insert(key, copy.deepcopy(parent[key]))
    elif change == "swap":
        other, place = random.choice(places)
        parent[key], other[place] = copy.deepcopy(other[place]), copy.deepcopy(parent[key])
    elif change == "wrap":
        parent[key] = [parent[key]] if random.random() < 0.5 else {"a": parent[key]}
    elif change == "text":
        parent[key] = str(parent[key])[:1000]
    elif change == "rename" and isinstance(parent, dict):
        parent[f"{key}_" if random.random() < 0.5 else str(random.choice(places)[1])] = parent.pop(key)
    elif change == "like":
        parent[key] = _like(random, parent[key])
    else:
        parent[key] = copy.deepcopy(random.choice(ODD))
    return made


def _like(random: Random, value: Any) -> Any:
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return random.choice((-value, value + 1, value - 1, value * 1000, value // 3, 2**62))
    if isinstance(value, float):
        return random.choice((-value, value + 1, value * 1e9, 1e300, -1e300, 1e-300, 0.0))
    if isinstance(value, str):
        return random.choice(
            [text for text in ODD if isinstance(text, str)] + [value[::-1], value + " ", value.upper()]
        )
    if isinstance(value, list):
        return random.choice((value[:-1], value[1:], value * 2, value[::-1]))
    return value


def _places(value: Any) -> Any:
    """(container, key) of every node below this one."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from _places(value[key])


def written(random: Random, value: Any) -> str:
    """A JSON value as text, sometimes with a key twice or bent by hand."""
    text = json.dumps(value, ensure_ascii=random.random() < 0.5)
    for name, raw in RAW.items():
        text = text.replace(name, raw)
    if random.random() < 0.06 and (starts := [i for i, sign in enumerate(text[:5000]) if sign == "{"]):
        place = random.choice(starts) + 1
        key = random.choice([*value, "a"] if isinstance(value, dict) else ["a"])
        text = f"{text[:place]}{json.dumps(key)}: {json.dumps(random.choice(ODD[:30]))}, {text[place:]}"
    return text


def document(random: Random, data: bytes) -> bytes:
    """A JSON file with some nodes changed; now and then its bytes."""
    if random.random() < 0.1:
        return bent(random, data)
    value = json.loads(data)
    for _ in range(often(random)):
        value = tree(random, value)
    return written(random, value).encode("utf-8", "surrogatepass")


def bent(random: Random, data: bytes) -> bytes:
    """The bytes cut short, with bits flipped, parts lost, doubled, overwritten or put in."""
    made = bytearray(data)
    size = max(len(made), 1)
    start, length = random.randrange(size), random.choice((1, 2, 8, 100, size // 3 + 1))
    change = random.choice(("cut", "flip", "flip", "lose", "double", "write", "put", "empty", "behind"))
    if change == "cut":
        del made[start:]
    elif change == "flip" and made:
        for _ in range(random.choice((1, 1, 3, 50))):
            made[random.randrange(len(made))] ^= 1 << random.randrange(8)
    elif change == "lose":
        del made[start : start + length]
    elif change == "double":
        made[start:start] = made[start : start + length]
    elif change == "write":
        made[start : start + length] = random.randbytes(min(length, size))
    elif change == "put":
        made[start:start] = random.choice((b"\0", b"\xff\xfe", b"{", b"\xed\xa0\xbd", random.randbytes(length)))
    elif change == "behind":
        made += random.choice((b"\0" * 8, b"}", bytes(made[:length])))
    else:
        made.clear()
    return bytes(made)


def arrays(random: Random, given: Mapping[str, NDArray[Any]]) -> Arrays:
    """The arrays with one reshaped, cut, of another type, filled, exchanged, gone, or among very many others."""
    made = dict(given)
    name = random.choice(sorted(made))
    array = made[name]
    change = random.choice(tuple(_ARRAY))
    if change == "gone":
        del made[name]
    elif change == "swap":
        other = random.choice(sorted(made))
        made[name], made[other] = made[other], array
    elif change == "more":
        count = random.choice((1, 10, 10, 10_000))
        made |= {f"extra.{i}": np.zeros(random.randrange(4), np.float32) for i in range(count)}
    else:
        with np.errstate(all="ignore"):
            made[name] = np.ascontiguousarray(_ARRAY[change](random, array))
    return made


def _cut(random: Random, array: NDArray[Any]) -> NDArray[Any]:
    if not array.ndim:
        return array
    axis, end = random.randrange(array.ndim), random.choice((0, 1, -1))
    return np.take(array, np.arange(array.shape[axis])[: end or 0], axis=axis)


def _shaped(random: Random, array: NDArray[Any]) -> NDArray[Any]:
    single = array.reshape(-1)[0] if array.size else np.zeros((), array.dtype)
    return random.choice((array.reshape(-1), array[None], array.T, array[..., None], np.asarray(single)))


def _filled(random: Random, array: NDArray[Any]) -> NDArray[Any]:
    made, number = np.array(array), random.choice(FILLS)
    if not np.isfinite(number) and made.dtype.kind != "f":
        number = -7
    if made.dtype.kind != "f":
        most = min(np.iinfo(made.dtype).max, 2**31 - 1) if made.dtype.kind == "i" else 1
        number = int(np.clip(number, -most, most)) if made.dtype.kind == "i" else bool(number)
    if random.random() < 0.5:
        made[...] = number
    elif made.size:
        made.flat[random.randrange(made.size)] = number
    return made


def _scaled(random: Random, array: NDArray[Any]) -> NDArray[Any]:
    return (array * random.choice((-1.0, 0.0, 3.0, 1000.0, 1e10, 1e30))).astype(array.dtype)


_ARRAY: Mapping[str, Callable[[Random, NDArray[Any]], NDArray[Any]]] = {
    "cut": _cut,
    "shaped": _shaped,
    "filled": _filled,
    "scaled": _scaled,
    "typed": lambda random, array: array.astype(random.choice(TYPES)),
    "mixed": lambda random, array: np.roll(array.reshape(-1), random.randrange(9)).reshape(array.shape),
    "gone": lambda _random, array: array,
    "swap": lambda _random, array: array,
    "more": lambda _random, array: array,
}


def head(data: bytes) -> tuple[Any, bytes]:
    """The header of a safetensors file, and what comes after it; its keys in one order, which the writer's is not."""
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    said = header.pop("__metadata__", None)
    return ({} if said is None else {"__metadata__": dict(sorted(said.items()))}) | header, data[8 + length :]


def headed(text: str, rest: bytes) -> bytes:
    """A safetensors file of this header, whatever it says."""
    content = text.encode("utf-8", "surrogatepass")
    return len(content).to_bytes(8, "little") + content + rest


def tensors(random: Random, data: bytes) -> bytes:
    """A safetensors file with its bytes, its header or its arrays changed."""
    kind = random.choice(("bytes", "header", "arrays", "arrays"))
    if kind == "bytes":
        return bent(random, data)
    header, rest = head(data)
    if kind == "header":
        return headed(written(random, tree(random, header)), rest)
    changed = load(data)
    for _ in range(often(random)):
        changed = arrays(random, changed) if changed else changed
    made, rest = head(save(changed, metadata=header.get("__metadata__")))
    return headed(json.dumps(made), rest)
