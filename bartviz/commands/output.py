"""Output shared by several commands: lines, JSON, tables, and the heading of their examples.

Texts, tokens and names in a file may have been written by anybody, so every line passes ``say``: a control character
would reach the terminal as a command.
"""

from __future__ import annotations

import json
import math
import sys
from typing import TYPE_CHECKING, Any

import regex

from bartviz.text.labels import visible

if TYPE_CHECKING:
    import pandas as pd

EXAMPLES = "examples:\n  "
STDIN = "-"  # in place of a text or a file
DEVICE = "where the model computes: cpu, cuda, cuda:1, mps, or auto for the accelerator if there is one (%(default)s)"


# What JSON may contain and a terminal obeys, or what changes the order of what it shows.
_UNSEEN = regex.compile(r"[\p{C}\p{Zl}\p{Zp}]")


def say(line: str, *, error: bool = False) -> None:
    """Print one line, with everything visible in it, to stdout or stderr."""
    print(seen(line), file=sys.stderr if error else sys.stdout, flush=True)


def say_table(table: str) -> None:
    """Print the lines of a table that pandas has laid out."""
    for line in table.split("\n"):
        say(line)


def seen(line: str) -> str:
    """The line with control and direction characters made visible; the spaces that lay it out stay."""
    return visible(line) if line.strip(" ") else line


def in_bytes(size: int) -> str:
    """A size for readers: 1.9 kB, 12.3 MB."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= 0.9995 * unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} bytes"


def print_json(value: object) -> None:
    """One line of JSON; what is not finite is null, and what a terminal would obey is escaped."""
    print(_UNSEEN.sub(_escaped, json.dumps(_finite(value), ensure_ascii=False, allow_nan=False)), flush=True)


def _escaped(found: regex.Match[str]) -> str:
    return json.dumps(found[0])[1:-1]


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table as objects; what is missing is None."""
    whole = table.astype(object)
    rows: list[dict[str, Any]] = whole.where(whole.notna(), None).to_dict("records")  # type: ignore[assignment]
    return rows


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    if hasattr(value, "item"):
        return _finite(value.item())
    return None if isinstance(value, float) and not math.isfinite(value) else value
