"""Edges of a corpus by what they join: one head, kind of token, distance, or copies. Needs duckdb, not torch."""

from __future__ import annotations

import glob
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bartviz.errors import PackageError, SettingError
from bartviz.record.attention import KINDS

if TYPE_CHECKING:
    import pandas as pd

FIELDS = ("kind", "layer", "head", "query", "key", "where", "least", "same")
WHERE = {"earlier": "key < query", "later": "key > query", "same": "key = query"}
CLASSES = {"number": 1, "punctuation": 2, "capitalised": 4, "special": 8}  # bits, for a token may be in several
LIMIT = 20
_COLUMNS = ("kind", "layer", "head", "query", "key", "query_token", "key_token", "weight")

Conditions = list[tuple[str, list[Any]]]


@dataclass(frozen=True, eq=False)
class Found:
    """``count`` edges match; ``edges`` are those of the highest weight: file, line, text, pair, target, kind, layer,
    head, query and key position, their tokens, and weight."""

    count: int
    edges: pd.DataFrame


def find(path: Path, fields: Mapping[str, Any], limit: int = LIMIT) -> Found:
    """The edges of an atlas that match all fields; see ``Atlas.find``."""
    conditions = _conditions(fields)
    if limit < 0:
        raise SettingError("The limit is at least 0.")
    edges, texts = (_files(path / name) for name in ("edges", "texts"))
    try:
        import duckdb
    except ModuleNotFoundError as error:
        raise PackageError("Finding edges needs the package duckdb: pip install 'bartviz[find]'") from error
    where = " AND ".join(condition for condition, _ in conditions) or "true"
    values = [value for _, given in conditions for value in given]
    source = f"FROM read_parquet(?) WHERE {where}"  # only the conditions that are written in this module
    best = f"SELECT * {source} ORDER BY weight DESC, text, kind, layer, head, query, key LIMIT ?"
    columns = ", ".join(f"best.{name}" for name in _COLUMNS)
    rows = (
        f"SELECT t.file, t.line, t.text, t.pair, t.target, {columns} FROM ({best}) best JOIN read_parquet(?) t "
        "ON t.number = best.text ORDER BY weight DESC, best.text, kind, layer, head, query, key"
    )
    with duckdb.connect() as connection:
        counted = connection.execute(f"SELECT count(*) {source}", [edges, *values]).fetchone()
        assert counted is not None
        table = connection.execute(rows, [edges, *values, limit, texts]).df()
    return Found(int(counted[0]), table)


def _files(folder: Path) -> list[str]:
    """The Parquet files of a folder; a name with signs of a pattern stays a name."""
    files = sorted(folder.glob("*.parquet"))
    if not files:
        raise SettingError("This atlas has no single edges: run bartviz corpus with --edges, such as --edges 0.2.")
    return [glob.escape(str(file)) for file in files]


def _conditions(fields: Mapping[str, Any]) -> Conditions:
    """Conditions of SQL, each with the values of its parameters."""
    unknown = sorted(fields.keys() - set(FIELDS))
    if unknown:
        raise SettingError(f"No field is called {', '.join(unknown)}. The fields are {', '.join(FIELDS)}.")
    found: Conditions = []
    for name, value in fields.items():
        if value is None:
            continue
        if name == "kind":
            if value not in KINDS:
                raise SettingError(f"The kind is one of {', '.join(KINDS)}.")
            found.append(("kind = ?", [value]))
        elif name in {"layer", "head"}:
            found.append((f"{name} = ?", [_number(name, value, int)]))
        elif name in {"query", "key"}:
            found.append(_token(name, str(value)))
        elif name == "where":
            found.append(_position(value))
        elif name == "least":
            found.append(("weight >= ?", [_number(name, value, float)]))
        elif str(value).lower() not in {"true", "false"}:
            raise SettingError("The field same is true or false.")
        else:
            found.append(("(query_token = key_token) = ?", [str(value).lower() == "true"]))
    return found


def _token(name: str, value: str) -> tuple[str, list[Any]]:
    if value in CLASSES:
        return f"({name}_class & ?) > 0", [CLASSES[value]]
    return f"{name}_token = ?", [value.removeprefix("=")]


def _position(value: Any) -> tuple[str, list[Any]]:
    """Where the key is; positions of two texts are not compared."""
    if value in WHERE:
        return f"kind <> 'cross' AND {WHERE[value]}", []
    return "kind <> 'cross' AND key - query = ?", [_number("where", value, int)]


def _number(name: str, value: Any, kind: type[int] | type[float]) -> int | float:
    try:
        return kind(str(value))  # int(1.7) would be 1
    except (TypeError, ValueError, OverflowError) as error:
        also = f", or one of {', '.join(WHERE)}" if name == "where" else ""
        raise SettingError(f"The field {name} is a {'whole ' if kind is int else ''}number{also}.") from error
