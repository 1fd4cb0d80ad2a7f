"""The value of every measure and head for each text, as one Parquet file of an atlas: for paired comparisons, medians,
and whatever a mean cannot say.

A row is a text: ``number`` (its row in the corpus), ``text`` (a digest of what was read), and a list of L x H floats
for each kind and measure, in a column such as "encoder/entropy". So one measure is read without the others. Each part
of a run writes a file of its own (``values/000003.parquet``), which are put together at the end.

Letters in shapes: N texts, L layers, H heads, M measures.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bartviz.arrays import Floats
from bartviz.corpus import schema
from bartviz.corpus.read import Line
from bartviz.corpus.sums import Partial, Whole
from bartviz.errors import SettingError
from bartviz.language import later
from bartviz.record.attention import Kind
from bartviz.safety import files
from bartviz.safety.other_libraries import guarded

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "values"  # in the description's digests; of the folder of parts
FILE = f"{NAME}.parquet"
_CHUNK = 1 << 20  # bytes of a file that are hashed at a time
Source = Path | bytes


def digest_of(line: Line) -> int:
    """What a text is known by in another atlas: the same for the same text, second sentence and given output."""
    read = json.dumps([line.text, line.pair, line.target]).encode()
    return int.from_bytes(hashlib.blake2b(read, digest_size=8).digest(), "little", signed=True)


def packed(lines: Sequence[Line], values: Mapping[Kind, Floats], names: Mapping[Kind, Sequence[str]]) -> bytes:
    """The file of a part: values (N, L, H, M) of its texts for each kind, and the names of their measures."""
    import pyarrow as pa

    columns: dict[str, Any] = {
        "number": pa.array([line.number for line in lines], pa.int64()),
        "text": pa.array([digest_of(line) for line in lines], pa.int64()),
    }
    for kind, known in values.items():
        for place, name in enumerate(names[kind]):
            flat = np.ascontiguousarray(known[..., place], np.float32)  # (N, L, H)
            of_text = flat.shape[1] * flat.shape[2]
            columns[f"{kind}/{name}"] = pa.FixedSizeListArray.from_arrays(pa.array(flat.ravel()), of_text)
    written = io.BytesIO()
    _write(written, [pa.table(columns)])
    return written.getvalue()


def joined(parts: Iterable[bytes]) -> bytes:
    """One file of the files of parts, in order."""
    written = io.BytesIO()
    _write(written, (_table(part) for part in parts))
    return written.getvalue()


def join(target: Path, parts: Iterable[tuple[Path, Mapping[Kind, Partial]]]) -> None:
    """Write one file of those of a run's parts, in order, one in memory at a time; the file is whole or not there.

    Raises SettingError for a part that is missing, or whose values do not add up to the sums of its shard.
    """
    unfinished = target.with_name(f"{target.name}.part")
    try:
        with unfinished.open("wb") as stream:
            _write(stream, (_checked(path, sums) for path, sums in parts))
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def _write(stream: Any, tables: Iterable[pa.Table]) -> None:
    """A row group for each table. The floats are not coded by a dictionary, which would be as long as they are."""
    import pyarrow.parquet as pq

    with ExitStack() as closing:
        writer: Any = None
        for table in tables:
            if writer is None:
                settings: dict[str, Any] = {"compression": "zstd", "use_dictionary": False, "write_statistics": False}
                writer = closing.enter_context(pq.ParquetWriter(stream, table.schema, **settings))
            writer.write_table(table)


def _table(data: bytes) -> pa.Table:
    import pyarrow.parquet as pq

    return pq.ParquetFile(io.BytesIO(data)).read(use_threads=False)


def _checked(path: Path, sums: Mapping[Kind, Partial]) -> pa.Table:
    shown = f"{path.parent.name}/{path.name}"
    refused = SettingError(
        f"{shown} of the run is missing or damaged: delete the shard of the part {path.stem}, and resume."
    )
    with guarded(refused):
        table = _table(files.read(path, schema.LARGEST))
        for kind, part in sums.items():
            for place, name in enumerate(part.names):
                found = _floats(table, f"{kind}/{name}").astype(np.float64)
                known = np.isfinite(found)
                total = np.where(known, found, 0.0).sum(axis=0)
                of_measure = slice(place, None, len(part.names))
                if (known.sum(axis=0) != part.count[of_measure]).any() or not np.allclose(
                    total, part.total[of_measure], rtol=1e-9, atol=1e-9
                ):
                    raise refused
    return table


def _floats(table: pa.Table, column: str) -> Floats:
    """(N, L H) the floats of a column of lists."""
    lists = table.column(column)
    flat = np.concatenate([np.asarray(chunk.flatten()) for chunk in lists.chunks] or [np.zeros(0, np.float32)])
    return flat.reshape(len(lists), -1) if len(lists) else flat.reshape(0, 0)


def digest(source: Source) -> str:
    """The digest of the file, read bit by bit. Raises OSError."""
    found = hashlib.sha256()
    if isinstance(source, bytes):
        found.update(source)
    else:
        files.size_of(source)
        with source.open("rb") as stream:
            while data := stream.read(_CHUNK):
                found.update(data)
    return found.hexdigest()


@dataclass(frozen=True)
class TextValues:
    """The file of values of an atlas, opened: ``atlas`` is the name for messages, ``texts`` how many it must have, and
    ``shapes`` the layers and heads of each kind. May be from anybody: what is read is checked against these first."""

    source: Source
    atlas: str
    texts: int
    shapes: Mapping[Kind, tuple[int, int]]

    @cached_property
    def numbers(self) -> Whole:
        """(N,) the row of each text in the corpus, from 0, ascending."""
        found = self._whole("number")
        if (np.diff(found) <= 0).any():
            raise self._unread(later("its contents contradict each other"))
        return found

    @cached_property
    def digests(self) -> Whole:
        """(N,) what each text is known by in another atlas."""
        return self._whole("text")

    @cached_property
    def measures(self) -> Mapping[Kind, tuple[str, ...]]:
        """The measures of each kind that have values."""
        names = [name.split("/", 1) for name in self._file().schema_arrow.names if "/" in name]
        return {kind: tuple(name for of, name in names if of == kind) for kind in self.shapes}

    def of(self, kind: Kind, measure: str) -> Floats:
        """(N, L, H) NaN where a text has none. Raises SettingError."""
        layers, heads = self.shapes[kind]
        column = f"{kind}/{measure}"
        if self.texts * layers * heads * 4 > schema.LARGEST:
            raise self._unread(later("it is larger than {most:,} bytes for one measure", most=schema.LARGEST))
        with guarded(self._unread(later("its contents contradict each other"))):
            import pyarrow as pa

            file = self._file()
            kind_of = file.schema_arrow.field(column).type
            if not (pa.types.is_fixed_size_list(kind_of) and kind_of.value_type == pa.float32()):
                raise ValueError(column)
            if kind_of.list_size != layers * heads:
                raise ValueError(column)
            found = _floats(file.read(columns=[column], use_threads=False), column)
            values = found.reshape(self.texts, layers, heads)
            if np.isinf(values).any():
                raise ValueError(column)
        values.setflags(write=False)
        return values

    def _whole(self, column: str) -> Whole:
        with guarded(self._unread(later("its contents contradict each other"))):
            found = self._file().read(columns=[column], use_threads=False).column(column)
            numbers = np.array(found.to_numpy(), copy=True)
            if numbers.dtype != np.int64 or len(numbers) != self.texts:
                raise ValueError(column)
        numbers.setflags(write=False)
        return numbers

    def _file(self) -> Any:
        import pyarrow.parquet as pq

        with guarded(self._unread(later("it is not a Parquet file"))):
            file: Any = pq.ParquetFile(io.BytesIO(self.source) if isinstance(self.source, bytes) else self.source)
        names = file.schema_arrow.names
        if file.metadata.num_rows != self.texts or len(set(names)) != len(names):
            raise self._unread(later("its contents contradict each other"))
        return file

    def _unread(self, reason: str) -> SettingError:
        return SettingError(
            later("{file} of the atlas {name} cannot be read: {reason}.", file=FILE, name=self.atlas, reason=reason)
        )
