"""Edges of a corpus by what they join: one head, kind of token, distance, or copies. Needs duckdb, not torch."""

from __future__ import annotations

import glob
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bartviz.errors import SettingError, missing
from bartviz.language import later
from bartviz.record.attention import KINDS, Head, Kind, is_head
from bartviz.safety.other_libraries import guarded

if TYPE_CHECKING:
    import pandas as pd

FIELDS = ("kind", "layer", "head", "query", "key", "where", "least", "same")
WHERE = {"earlier": "key < query", "later": "key > query", "same": "key = query"}
CLASSES = {"number": 1, "punctuation": 2, "capitalised": 4, "special": 8}  # bits, for a token may be in several
LIMIT = 20
MOST = 1_000_000  # edges of a table; more than that wants the Parquet files themselves
_RANKED = 1_000  # edges whose lowest weight is sought first
_LARGEST = 1 << 31  # a whole number is below this
_COLUMNS = ("kind", "layer", "head", "query", "key", "query_token", "key_token", "weight")
_ORDER = "weight DESC, text, kind, layer, head, query, key"

_WHOLE = "U?(TINY|SMALL|BIG)?INT|U?INTEGER"
_EDGES = {
    **dict.fromkeys(("layer", "head", "text", "query", "key", "query_class", "key_class"), _WHOLE),
    **dict.fromkeys(("kind", "query_token", "key_token"), "VARCHAR|ENUM.*"),
    "weight": "FLOAT|DOUBLE",
    "same": "BOOLEAN",
}
_TEXTS = {
    **dict.fromkeys(("number", "line"), _WHOLE),
    **dict.fromkeys(("file", "text", "pair", "target"), "VARCHAR"),
    **dict.fromkeys(("source", "inputs", "output"), r"VARCHAR\[\]"),
}

Conditions = list[tuple[str, list[Any]]]


@dataclass(frozen=True, eq=False)
class Found:
    """``count`` edges match; ``edges`` are those of the highest weight: file, line, text, pair, target, kind, layer,
    head, query and key position, their tokens, and weight."""

    count: int
    edges: pd.DataFrame


def find(path: Path, fields: Mapping[str, Any], limit: int = LIMIT, *, unique: bool = False) -> Found:
    """The edges of an atlas that match all fields; see ``Atlas.find``.

    A first scan reads only the columns that the fields ask for, and counts. Where few edges are wanted it also finds
    the lowest weight among them, so that the second scan skips all row groups below it. Tokens come from the texts.
    """
    conditions = _conditions(fields)
    if isinstance(limit, bool) or not isinstance(limit, int) or not 0 <= limit <= MOST:
        raise SettingError(f"The limit is a whole number from 0 to {MOST:,}.")
    edges, texts = (_files(path / name) for name in ("edges", "texts"))
    try:
        import duckdb
    except ModuleNotFoundError as error:
        raise missing("duckdb") from error
    where = " AND ".join(condition for condition, _ in conditions) or "true"
    values = [value for _, given in conditions for value in given]
    source = f"FROM read_parquet(?) WHERE {where}"  # only the conditions that are written in this module
    ranked = f"max(weight, {limit})" if 0 < limit <= _RANKED and not unique else "NULL"
    damaged = later("The single edges of this atlas cannot be read: a file is damaged. Run bartviz corpus again.")
    with guarded(SettingError(damaged)), duckdb.connect() as connection:
        for name, files, columns in (("edges", edges, _EDGES), ("texts", texts, _TEXTS)):
            _check_columns(connection, name, files, columns)
        counted = connection.execute(f"SELECT count(*), {ranked} {source}", [edges, *values]).fetchone()
        assert counted is not None
        count, highest = counted
        lowest = min(highest) if highest else 0.0
        best = _best(source, min(limit, count), unique=unique)
        table = connection.execute(best, [edges, *values, lowest, texts]).df()
        if len(table) > count:  # a text whose number stands twice
            raise SettingError(damaged)
    return Found(int(count), table)


def _check_columns(connection: Any, name: str, files: list[str], columns: Mapping[str, str]) -> None:
    """Raise SettingError for a column that is missing or of another type."""
    described = connection.execute("SELECT * FROM (DESCRIBE SELECT * FROM read_parquet(?))", [files]).fetchall()
    there = {str(row[0]): str(row[1]) for row in described}
    wrong = [column for column, kind in columns.items() if not re.fullmatch(kind, there.get(column, ""))]
    if wrong:
        raise SettingError(
            later(
                "The {table} of this atlas cannot be read: their columns {names} are missing, or of another type.",
                table=name,
                names=", ".join(wrong),
            )
        )


def _best(source: str, limit: int, *, unique: bool) -> str:
    """The edges of the highest weight with their texts and tokens, ``unique`` those of different texts. Parameters:
    those of ``source``, a weight that none of them is below, the files of the texts."""
    columns = "text, kind, layer, head, query, key, weight"
    first = f"ORDER BY {_ORDER} LIMIT {limit}" if not unique else _first("text", _ORDER)
    best = f"SELECT {columns} {source} AND weight >= CAST(? AS FLOAT) {first}"
    own = "CASE WHEN kind = 'decoder' AND len(inputs) > 0 THEN inputs ELSE source END"
    tokens = (
        f"CASE WHEN kind = 'cross' THEN output ELSE {own} END[query + 1] AS query_token, "
        f"CASE WHEN kind = 'cross' THEN source ELSE {own} END[key + 1] AS key_token"
    )
    joined = (
        f"SELECT best.* EXCLUDE (text), best.text AS number, t.file, t.line, t.text, t.pair, t.target, {tokens} "
        f"FROM ({best}) best JOIN read_parquet(?) t ON t.number = best.text"
    )
    shown = f"file, line, text, pair, target, {', '.join(_COLUMNS)}"
    order = _ORDER.replace("text", "number")
    apart = _first("text, pair, target", order) if unique else ""
    return f"SELECT {shown} FROM ({joined}) {apart} ORDER BY {order} LIMIT {limit}"


def _first(same: str, order: str) -> str:
    """The condition that a row is the first of those with the same values of some columns."""
    return f"QUALIFY row_number() OVER (PARTITION BY {same} ORDER BY {order}) = 1"


def with_head(fields: Mapping[str, Any], kinds: Sequence[Kind]) -> dict[str, Any]:
    """The fields, in which a head that is written as "cross L2H5" has become kind, layer and head."""
    name = fields.get("head")
    if not is_head(name) or (isinstance(name, str) and name.strip().lstrip("+-").isdecimal()):
        return dict(fields)
    kind = fields.get("kind")
    head = Head.parse(name, kinds=(kind,) if kind in KINDS else kinds)
    if kind not in (None, head.kind) or fields.get("layer") is not None:
        raise SettingError(f"The head {head} has its kind and its layer in its name: leave out those fields.")
    return {**fields, "kind": head.kind, "layer": head.layer, "head": head.head}


def check_heads(fields: Mapping[str, Any], heads: pd.DataFrame) -> None:
    """Raise SettingError for a kind, layer or head that the model of ``Atlas.heads`` does not have."""
    _conditions(fields)
    chosen = heads
    for name in ("kind", "layer", "head"):
        value = fields.get(name)
        if value is None:
            continue
        wanted = value if name == "kind" else _number(name, value, int)
        known = sorted(chosen[name].unique().tolist(), key=KINDS.index if name == "kind" else int)
        if wanted not in known:
            choices = ", ".join(known) if name == "kind" else f"{known[0]} to {known[-1]}"
            raise SettingError(f"The field {name} of this model is {choices}.")
        chosen = chosen[chosen[name] == wanted]


def _files(folder: Path) -> list[str]:
    """The Parquet files of a folder; special characters of patterns in the name are escaped."""
    files = sorted(folder.glob("*.parquet"))
    if not files:
        raise SettingError(
            later("This atlas has no single edges: run bartviz corpus with --edges, such as --edges 0.2.")
        )
    return [glob.escape(str(file)) for file in files]


def _conditions(fields: Mapping[str, Any]) -> Conditions:
    """Conditions of SQL, each with the values of its parameters."""
    unknown = sorted(fields.keys() - set(FIELDS))
    if unknown:
        raise SettingError(f"There is no field {', '.join(unknown)}. The fields are {', '.join(FIELDS)}.")
    found: Conditions = []
    for name, value in fields.items():
        if value is None:
            continue
        if name == "kind":
            if not isinstance(value, str) or value not in KINDS:
                raise SettingError(f"The kind is one of {', '.join(KINDS)}.")
            found.append(("kind = ?", [value]))
        elif name in {"layer", "head"}:
            found.append((f"{name} = ?", [_number(name, value, int)]))
        elif name in {"query", "key"}:
            found.append(_token(name, value))
        elif name == "where":
            found.append(_position(value))
        elif name == "least":
            found.append(("weight >= ?", [least_of(value)]))
        elif str(value).lower() not in {"true", "false"}:
            raise SettingError("The field same is true or false.")
        else:
            found.append(("same = ?", [str(value).lower() == "true"]))
    return found


def least_of(value: Any) -> float:
    """The field least as a weight."""
    least = float(_number("least", value, float))
    if not 0 <= least <= 1:
        raise SettingError("The field least is a weight from 0 to 1.")
    return least


def _token(name: str, value: Any) -> tuple[str, list[Any]]:
    if not isinstance(value, str) or not value:
        raise SettingError(f"The field {name} is a token as it is shown, or one of {', '.join(CLASSES)}.")
    if value in CLASSES:
        return f"({name}_class & ?) > 0", [CLASSES[value]]
    return f"{name}_token = ?", [value.removeprefix("=") or value]


def _position(value: Any) -> tuple[str, list[Any]]:
    """Where the key is; positions of two texts are not compared."""
    if isinstance(value, str) and value in WHERE:
        return f"kind <> 'cross' AND {WHERE[value]}", []
    return "kind <> 'cross' AND key - query = ?", [_number("where", value, int)]


def _number(name: str, value: Any, kind: type[int] | type[float]) -> int | float:
    try:
        number = kind(str(value))  # int(1.7) would be 1
        if kind is int and abs(number) >= _LARGEST:
            raise OverflowError
    except (TypeError, ValueError, OverflowError) as error:
        also = f", or one of {', '.join(WHERE)}" if name == "where" else ""
        raise SettingError(f"The field {name} is a {'whole ' if kind is int else ''}number{also}.") from error
    return number
