"""The files of an atlas: the columns of each table, what must hold of them, and the digests that show a change.

An atlas may come from anybody: its sizes are checked before its contents are read, and whatever is wrong with a table
is a SettingError that names the file.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis.corpus_against import with_errors
from bartviz.analysis.corpus_measures import ALL, measure_of
from bartviz.analysis.own_measures import NAME
from bartviz.corpus.looks import BINS, LOOKS
from bartviz.corpus.sums import Bins
from bartviz.errors import SettingError, missing
from bartviz.language import later, mark
from bartviz.record.attention import KINDS
from bartviz.safety.other_libraries import guarded
from bartviz.text.tokens import writable

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_CELL = {"kind": "text", "layer": "whole", "head": "whole", "measure": "text"}
_HEAD = {name: kind for name, kind in _CELL.items() if name != "measure"}
_NUMBERS = dict.fromkeys(("mean", "sd", "low", "high", "even", "se", "df"), "number")
TABLES: Mapping[str, Mapping[str, str]] = {
    "heads": {**_CELL, "n": "whole", **_NUMBERS},
    "histograms": {**_CELL, "bin": "number", "texts": "whole"},
    "examples": {**_CELL, "which": "text", "rank": "whole", "value": "number", "number": "whole"},
    "texts": {"number": "whole", "file": "text", "line": "whole", "text": "text", "pair": "none", "target": "none"},
    "bad": {"number": "whole", "file": "text", "line": "whole", "reason": "text"},
    "relations": {
        **_HEAD,
        "relation": "text",
        "arcs": "whole",
        **dict.fromkeys(("to_head", "to_dependent", "one_distance"), "number"),
    },
    "looks": {
        **_HEAD,
        **dict.fromkeys(("side", "token"), "text"),
        **dict.fromkeys(("special", "whole", "n", "texts"), "whole"),
        **dict.fromkeys(("share", "even", "low", "high", "words_share", "words_even"), "number"),
    },
    "distances": {
        **_HEAD,
        "special": "whole",
        **dict.fromkeys(("nearest", "farthest", "share", "low", "high", "even"), "number"),
    },
}
"""The columns of each table: a text, a text that may be missing ("none"), a whole number, or a number."""
LATER = frozenset({"relations", "looks", "distances"})
"""Tables that atlases of earlier versions lack."""
LATER_COLUMNS = frozenset({"se", "df"})
"""Columns of heads that atlases of earlier versions lack (``with_errors``)."""
WHICH = ("highest", "lowest", "random", "typical")  # of the examples
LARGEST = 256 << 20  # bytes of a file, and of a table in memory
LARGEST_DESCRIPTION = 1 << 20
LONGEST_NAME = 1_000  # characters of a name in the description
MOST_PLACES = 4_096  # layers, and heads of a layer
_TYPES = {"text": "str", "none": "str", "whole": "int64", "number": "float64"}
Own = frozenset[str]
_DAMAGED = mark("its contents contradict each other")


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def sealed(
    description: Mapping[str, Any], files: Mapping[str, bytes], digests: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """The description with the digests of the files, those of other files, and its own."""
    whole = {**description, "files": {name: digest(data) for name, data in files.items()} | dict(digests)}
    return {**whole, "digest": _own_digest(whole)}


def _own_digest(description: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in description.items() if name != "digest"}
    return digest(json.dumps(rest, sort_keys=True).encode())


def check_description(description: Any, folder: str) -> None:
    """Raise SettingError for a description that lacks something, has something else in its place, or was changed."""
    if not _described(description):
        raise SettingError(later("The atlas in {name} is damaged: atlas.json is incomplete.", name=folder))
    if description["digest"] != _own_digest(description):
        raise SettingError(later("The atlas in {name} was changed after it was created. Create it again.", name=folder))


def _described(of: Any) -> bool:
    return (
        isinstance(of, dict)
        and all(isinstance(of.get(part), dict) for part in ("model", "corpus", "settings", "files"))
        and all(_named(of[part].get("name")) for part in ("model", "corpus"))
        and isinstance(of["corpus"].get("source", ""), str)
        and isinstance(of["model"].get("fingerprint"), str)
        and all(_counted(of.get(name)) for name in ("texts", "left_out"))
        and _counted(of.get("cut", 0))
        and type(of.get("wider", 1.0)) in (int, float)
        and 1 <= of.get("wider", 1.0) < 1e6
        and _counted(of["corpus"].get("repeated", 0))
        and isinstance(of.get("versions", {}), dict)
        and _weight(of["settings"].get("edges", 0.5))
        and of["files"].keys() >= TABLES.keys() - LATER
        and _own(of["settings"].get("own", {}))
        and isinstance(of.get("digest"), str)
    )


def own_bins(description: Mapping[str, Any]) -> dict[str, Bins]:
    """The bins of the measures of one's own that an atlas has, by name; ``description`` was checked."""
    own = description["settings"].get("own", {})
    return {name: Bins(about["start"], about["width"]) for name, about in own.items()}


def _own(found: Any) -> bool:
    """Whether measures of one's own are described."""
    return isinstance(found, dict) and all(
        NAME.fullmatch(name)
        and name not in ALL
        and isinstance(about, dict)
        and _named(about.get("function"))
        and all(type(about.get(of)) in (int, float) and abs(about[of]) < 1e300 for of in ("start", "width"))
        and about["width"] > 0
        for name, about in found.items()
    )


def _named(name: Any) -> bool:
    return isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and writable(name)


def _counted(number: Any) -> bool:
    return type(number) is int and 0 <= number < 1 << 53


def _weight(number: Any) -> bool:
    return type(number) in (int, float) and 0 < number < 1


def packed(name: str, table: pd.DataFrame) -> bytes:
    """The file of a table."""
    data: bytes = typed(name, table).to_parquet(index=False)
    return data


def typed(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """A table with the columns that it has in a file, each of its type."""
    columns = TABLES[name]
    return table[list(columns)].astype({column: _TYPES[kind] for column, kind in columns.items()})


def read(name: str, data: bytes, file: str, folder: str, own: Collection[str] = ()) -> pd.DataFrame:
    """The table in the bytes of a file; ``own`` names the measures of one's own that it may have. Raises SettingError,
    PackageError."""
    unread = _unread(file, folder, later("it is not a Parquet file"))
    with guarded(unread):
        table = _table(name, data, file, folder)
    with guarded(_unread(file, folder, later(_DAMAGED))):
        if not _CHECKS[name](table, frozenset(own)):
            raise _unread(file, folder, later(_DAMAGED))
    return table


def _unread(file: str, folder: str, reason: str) -> SettingError:
    return SettingError(
        later("{file} of the atlas {name} cannot be read: {reason}.", file=file, name=folder, reason=reason)
    )


def _table(name: str, data: bytes, file: str, folder: str) -> pd.DataFrame:
    try:
        import pyarrow.parquet as pq
    except ModuleNotFoundError as error:
        raise missing("pyarrow") from error
    schema = pq.read_schema(io.BytesIO(data))
    columns = {of: kind for of, kind in TABLES[name].items() if of in schema.names or of not in LATER_COLUMNS}
    texts = [column for column, kind in columns.items() if kind in {"text", "none"}]
    wrong = [column for column, kind in columns.items() if not _fits(schema, column, kind)]
    if wrong:
        reason = later("its columns {names} are missing, or of another type", names=", ".join(wrong))
        raise _unread(file, folder, reason)
    parquet: Any = pq.ParquetFile(io.BytesIO(data), read_dictionary=texts)
    rows = parquet.metadata.num_rows
    if rows * len(columns) * 8 > LARGEST:
        most = LARGEST // (len(columns) * 8)
        raise _unread(file, folder, later("it has {rows:,} rows, and at most {most:,} are read", rows=rows, most=most))
    table = parquet.read(columns=list(columns), use_threads=False)
    if any(schema.names.count(column) > 1 for column in columns):
        raise _unread(file, folder, later(_DAMAGED))
    if sum(_characters(table[column]) for column in texts) > LARGEST:
        reason = later("its texts are longer than {most:,} bytes together", most=LARGEST)
        raise _unread(file, folder, reason)
    found = table.to_pandas(ignore_metadata=True, use_threads=False)
    return typed(name, with_errors(found) if name == "heads" else found)


def _fits(schema: pa.Schema, column: str, kind: str) -> bool:
    import pyarrow as pa

    if column not in schema.names:
        return False
    found = schema.field(schema.get_field_index(column)).type if schema.names.count(column) == 1 else pa.struct([])
    found = found.value_type if pa.types.is_dictionary(found) else found
    if kind == "whole":
        return bool(pa.types.is_integer(found))
    if kind == "number":
        return bool(pa.types.is_floating(found))
    nothing = kind == "none" and pa.types.is_null(found)
    return bool(nothing or pa.types.is_string(found) or pa.types.is_large_string(found))


def _characters(column: pa.ChunkedArray) -> int:
    """The bytes of all texts of a column, which a file may hold once for many rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    total = 0
    for chunk in column.chunks:
        if pa.types.is_dictionary(chunk.type):
            lengths = pc.binary_length(chunk.dictionary).cast(pa.int64())
            total += pc.sum(lengths.take(chunk.indices)).as_py() or 0
    return total


def _cells(table: pd.DataFrame) -> bool:
    """Whether kinds, layers and heads can be."""
    places = table[["layer", "head"]].to_numpy()
    return bool(table["kind"].isin(KINDS).all() and ((places >= 0) & (places < MOST_PLACES)).all())


def _measured(table: pd.DataFrame, own: Own) -> bool:
    return _cells(table) and bool(table["measure"].isin([*ALL, *own]).all())


def _heads(table: pd.DataFrame, own: Own) -> bool:
    """Every head of a kind has a line for every measure of the kind, once, with values that can be."""
    if table.empty or not _measured(table, own) or table.duplicated(list(_CELL)).any():
        return False
    for _, rows in table.groupby("kind"):
        heads = (int(rows["layer"].max()) + 1) * (int(rows["head"].max()) + 1)
        if (rows.groupby("measure").size() != heads).any():
            return False
    numbers = table[list(_NUMBERS)].to_numpy()
    n, mean = table["n"].to_numpy(), table["mean"].to_numpy()
    every = {**ALL} | {name: measure_of(name) for name in own}
    top = table["measure"].map({name: known.highest or np.inf for name, known in every.items()}).to_numpy(np.float64)
    bottom = _lowest(table)
    with np.errstate(invalid="ignore"):
        return bool(
            (n >= 0).all()
            and not np.isinf(numbers).any()
            and (np.isnan(mean) == (n == 0)).all()
            and not ((mean < bottom - 1e-6) | (mean > top + 1e-3)).any()
            and not (table[["sd", "se", "df"]].to_numpy() < 0).any()
            and not ((table["low"].to_numpy() > mean + 1e-9) | (table["high"].to_numpy() < mean - 1e-9)).any()
        )


def _histograms(table: pd.DataFrame, own: Own) -> bool:
    bins = table["bin"].to_numpy()
    if not _measured(table, own):
        return False
    known = np.isfinite(bins) & (bins >= _lowest(table))
    return bool(known.all() and (table["texts"] > 0).all())


def _lowest(table: pd.DataFrame) -> NDArray[np.float64]:
    """The lowest value that the measure of each line can have."""
    known = {name: measure_of(name).lowest for name in table["measure"].unique()}
    lowest = {name: -np.inf if value is None else value for name, value in known.items()}
    return np.asarray(table["measure"].map(lowest), np.float64)


def _examples(table: pd.DataFrame, own: Own) -> bool:
    return _measured(table, own) and bool(
        table["which"].isin(WHICH).all() and (table["rank"] > 0).all() and np.isfinite(table["value"]).all()
    )


def _texts(table: pd.DataFrame, own: Own) -> bool:
    return bool(table["number"].is_unique and table[["file", "text"]].notna().all(axis=None))


def _bad(table: pd.DataFrame, own: Own) -> bool:
    return bool(table[["file", "reason"]].notna().all(axis=None))


def _relations(table: pd.DataFrame, own: Own) -> bool:
    shares = table[["to_head", "to_dependent", "one_distance"]].to_numpy()
    return _cells(table) and bool(
        ((shares >= 0) & (shares <= 1)).all() and (table["arcs"] > 0).all() and table["relation"].notna().all()
    )


def _looks(table: pd.DataFrame, own: Own) -> bool:
    numbers = table[["share", "even", "low", "high", "words_share", "words_even"]].to_numpy()
    special, whole, n, texts = (table[name].to_numpy() for name in ("special", "whole", "n", "texts"))
    lift = numbers[:, 0] / numbers[:, 1]
    return _cells(table) and bool(
        table["side"].isin(LOOKS).all()
        and table["token"].notna().all()
        and np.isfinite(numbers).all()
        and (numbers > 0).all()
        and (numbers[:, [0, 1, 4, 5]] <= 1 + 1e-3).all()
        and ((numbers[:, 2] <= lift * (1 + 1e-9)) & (numbers[:, 3] >= lift * (1 - 1e-9))).all()
        and np.isin(special, (0, 1)).all()
        and ((whole >= 0) & (whole <= n) & (texts > 0) & (texts <= n)).all()
    )


def _distances(table: pd.DataFrame, own: Own) -> bool:
    ends, share, even = table[["nearest", "farthest"]].to_numpy(), table["share"].to_numpy(), table["even"].to_numpy()
    special = table["special"].to_numpy()
    bins = np.vstack([BINS, [np.nan, np.nan]])
    heads = len(table) // len(bins)
    if not _cells(table) or len(table) != heads * len(bins) or table.duplicated([*_HEAD, "nearest"]).any():
        return False
    sums = share.reshape(heads, -1).sum(axis=1), even.reshape(heads, -1).sum(axis=1)
    with np.errstate(invalid="ignore"):
        outside = (table["low"].to_numpy() > share + 1e-9) | (table["high"].to_numpy() < share - 1e-9)
    return bool(
        np.array_equal(ends, np.tile(bins, (heads, 1)), equal_nan=True)
        and (special == np.isnan(ends[:, 0])).all()
        and ((share >= 0) & (even >= 0)).all()
        and all((abs(one - 1) < 1e-3).all() for one in sums)
        and not outside.any()
    )


def counts_agree(heads: pd.DataFrame, histograms: pd.DataFrame) -> bool:
    """Whether each cell has as many texts in its histogram as in its line."""
    cell = list(_CELL)
    counted = histograms.groupby(cell)["texts"].sum().rename("counted").reset_index()
    both = heads[heads["n"] > 0].merge(counted, on=cell, how="outer")
    return bool((both["n"] == both["counted"]).all())


_CHECKS = {
    "heads": _heads,
    "histograms": _histograms,
    "examples": _examples,
    "texts": _texts,
    "bad": _bad,
    "relations": _relations,
    "looks": _looks,
    "distances": _distances,
}
