"""The receipt of heads that were found: everything that is needed to compute them again, sealed by its own digest.

A file of JSON, written in one way: whatever is changed in it, a space too, is seen. The digest shows damage and edits;
that the numbers are right is shown by computing them again (``verify_heads``).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bartviz.errors import SettingError
from bartviz.language import later
from bartviz.record import store
from bartviz.safety import files

FORMAT, SEVERAL = 1, 2  # of one pattern, and of several: name -> pattern
LARGEST = 1 << 26  # bytes; a row takes about 500
_FIELDS = frozenset(
    {"bartviz receipt", "pattern", "model", "corpus", "settings", "versions", "texts", "repeated", "left_out", "table"}
)


def write(path: Path, content: Mapping[str, Any]) -> None:
    """Write the receipt of this content, whole or not at all."""
    store.replace(path, packed(content))


def packed(content: Mapping[str, Any]) -> bytes:
    """The receipt of this content as a file; what is not finite becomes null."""
    several = isinstance(content["pattern"], Mapping)
    whole = _finite({"bartviz receipt": SEVERAL if several else FORMAT, **content})
    return _written({**whole, "digest": _digest(whole)})


def read(path: Path) -> dict[str, Any]:
    """The content of a receipt. Raises SettingError for one that was altered, or is none."""
    try:
        data = files.read(path, LARGEST)
    except OSError as error:
        raise SettingError(later("The receipt {file} cannot be read.", file=path.name)) from error
    return opened(path.name, data)


def is_one(data: bytes) -> bool:
    """Whether a file says that it is a receipt; its seal is not looked at."""
    return data[:1] == b"{" and b'"bartviz receipt"' in data[:LARGEST]


def opened(name: str, data: bytes) -> dict[str, Any]:
    """The content of a receipt by the name of its file. Raises SettingError for one that was altered, or is none."""
    altered = SettingError(later("{file} is not a receipt as bartviz wrote it: it was altered or damaged.", file=name))
    try:
        whole = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise altered from error
    if not isinstance(whole, dict) or whole.keys() != _FIELDS | {"digest"}:
        raise altered
    if whole["bartviz receipt"] not in (FORMAT, SEVERAL):
        raise altered
    digest = whole.pop("digest")
    if digest != _digest(whole) or _written({**whole, "digest": digest}) != data:
        raise altered
    return whole


def patterns(content: Mapping[str, Any]) -> dict[str, str]:
    """The patterns of a receipt by their names, in the order of the table; one alone is its own name."""
    pattern = content["pattern"]
    if not isinstance(pattern, Mapping):
        return {pattern: pattern}
    order = dict.fromkeys(row.get("pattern") for row in content["table"])
    return {name: pattern[name] for name in order if name in pattern}


def _digest(whole: Mapping[str, Any]) -> str:
    return hashlib.sha256(_written(whole)).hexdigest()


def _written(whole: Mapping[str, Any]) -> bytes:
    return f"{json.dumps(whole, indent=1, sort_keys=True)}\n".encode()


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    if hasattr(value, "item"):
        return _finite(value.item())
    return None if isinstance(value, float) and not math.isfinite(value) else value
