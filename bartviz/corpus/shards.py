"""The files of a run: the sums of each part of the corpus, written whole or not at all and named by content.

Where more is kept of each text, a part leaves its tables beside them; they are written before the sums, so that a part
with sums has its tables, and one without is measured again and its tables are replaced.

``run.json`` says what the run is of. A folder holds one run: another model, corpus or setting is refused.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, cast
from zipfile import BadZipFile

import numpy as np

from bartviz.corpus.partial import Examples, Partial
from bartviz.corpus.read import Bad, Line
from bartviz.corpus.relations import Relations
from bartviz.errors import SettingError
from bartviz.record.attention import KINDS, Kind

FORMAT = 2
MANIFEST = "run.json"
FOLDER = "shards"
TABLES = ("edges", "texts")  # folders of what is kept of each text
Files = Mapping[str, bytes]  # of a part, by folder
_SUMS = ("count", "total", "squares", "histogram", "even_count", "even_total")
_EXAMPLES = ("highest", "lowest", "drawn")


@dataclass(frozen=True)
class Shard:
    """A part of the corpus, measured: the sums of each kind, the number of its texts, the rows that were left out,
    Parquet files of what is kept for each text, where that was asked for, and the arcs of trees that heads follow."""

    sums: Mapping[Kind, Partial]
    texts: int
    bad: tuple[Bad, ...] = ()
    tables: Mapping[str, bytes] = field(default_factory=dict)
    relations: Mapping[Kind, Relations] = field(default_factory=dict)

    def files(self) -> Files:
        """The bytes of each file of the part, by folder."""
        return {**self.tables, FOLDER: self.pack()}

    def pack(self) -> bytes:
        """The bytes of a file, tables left out."""
        arrays: dict[str, Any] = {"texts": np.array(self.texts)}
        bad = json.dumps([asdict(row) for row in self.bad], ensure_ascii=True)
        arrays["bad"] = np.frombuffer(bad.encode(), np.uint8)
        for kind, part in self.sums.items():
            arrays |= {f"{kind}/{name}": getattr(part, name) for name in _SUMS}
            for name in _EXAMPLES:
                examples: Examples = getattr(part, name)
                arrays |= {f"{kind}/{name}/{item.name}": getattr(examples, item.name) for item in fields(Examples)}
            arrays |= {f"{kind}/shape": np.array(part.shape), f"{kind}/names": np.array(part.names)}
        for kind, found in self.relations.items():
            rows = enumerate(found.distances.values())
            arrays[f"{kind}/relations"] = np.array(list(found.distances))  # (R,)
            arrays[f"{kind}/distances"] = np.array([(at, *pair) for at, one in rows for pair in one.items()])  # (N, 3)
            arrays[f"{kind}/followed"] = np.stack(list(found.followed.values()))  # (R, 2, L, H)
        packed = io.BytesIO()
        np.savez(packed, **arrays)
        return packed.getvalue()

    @classmethod
    def unpack(cls, data: bytes) -> Shard:
        """The opposite of ``pack``. Raises SettingError for a file that is damaged."""
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
                sums = {kind: _partial(kind, arrays) for kind in KINDS if f"{kind}/count" in arrays}
                bad = tuple(Bad(**row) for row in json.loads(arrays["bad"].tobytes()))
                relations = {kind: _relations(kind, arrays) for kind in KINDS if f"{kind}/relations" in arrays}
                return cls(sums, int(arrays["texts"]), bad, relations=relations)
        except (OSError, ValueError, KeyError, TypeError, BadZipFile) as error:
            raise SettingError("A shard of the run is damaged: delete it, and resume the run.") from error


def _partial(kind: Kind, arrays: Mapping[str, Any]) -> Partial:
    layers, heads = arrays[f"{kind}/shape"].tolist()
    examples = (Examples(*(arrays[f"{kind}/{name}/{item.name}"] for item in fields(Examples))) for name in _EXAMPLES)
    sums = (arrays[f"{kind}/{name}"] for name in _SUMS)
    return Partial(kind, (layers, heads), tuple(arrays[f"{kind}/names"].tolist()), *sums, *examples)


def _relations(kind: Kind, arrays: Mapping[str, Any]) -> Relations:
    names = arrays[f"{kind}/relations"].tolist()
    distances: dict[str, Counter[int]] = {name: Counter() for name in names}
    for place, distance, count in arrays[f"{kind}/distances"].tolist():
        distances[names[place]][distance] = count
    return Relations(distances, dict(zip(names, arrays[f"{kind}/followed"], strict=True)))


_LINE, _BAD = ([entry.name for entry in fields(row)] for row in (Line, Bad))


@dataclass(frozen=True)
class Job:
    """A part of the corpus to measure: its number, its lines, and the rows that could not be read.

    ``edges`` is the weight above which single edges are kept, None for none; ``silence`` the share of texts on which
    each head is silenced.
    """

    number: int
    lines: tuple[Line, ...]
    bad: tuple[Bad, ...]
    edges: float | None = None
    silence: float = 0.0

    @property
    def rows(self) -> int:
        return len(self.lines) + len(self.bad)

    def name(self, run: str) -> str:
        """The file of its shard, by the digest of the run and of every row."""
        whole = hashlib.sha256(run.encode())
        for rows, names in ((self.lines, _LINE), (self.bad, _BAD)):
            values = [[getattr(row, name) for name in names] for row in rows]
            whole.update(json.dumps(values, default=asdict).encode())
        return f"{self.number:06d}-{whole.hexdigest()[:24]}.npz"


def jobs(rows: Iterator[Line | Bad], size: int, edges: float | None = None, silence: float = 0.0) -> Iterator[Job]:
    """The rows in parts of ``size``, in order."""
    held: list[Line | Bad] = []
    number = 0
    for row in rows:
        held.append(row)
        if len(held) == size:
            yield _job(number, held, edges, silence)
            number, held = number + 1, []
    if held:
        yield _job(number, held, edges, silence)


def _job(number: int, rows: Sequence[Line | Bad], edges: float | None, silence: float) -> Job:
    lines = tuple(row for row in rows if isinstance(row, Line))
    return Job(number, lines, tuple(row for row in rows if isinstance(row, Bad)), edges, silence)


class Folder:
    """The folder of one run. Raises SettingError for one that holds another, or one to resume without ``resume``."""

    def __init__(self, path: Path, manifest: Mapping[str, Any], *, resume: bool) -> None:
        self.path, self.manifest = path, dict(manifest) | {"format": FORMAT}
        _check(path, self.manifest, resume)
        self.shards = path / FOLDER
        self.shards.mkdir(parents=True, exist_ok=True)
        for name in (FOLDER, *TABLES):
            for left in (path / name).glob("*.part"):
                left.unlink()
        write(path / MANIFEST, json.dumps(self.manifest, indent=1).encode())
        self.digest = hashlib.sha256(json.dumps(self.manifest, sort_keys=True).encode()).hexdigest()

    def has(self, job: Job) -> bool:
        return self._file(job).is_file()

    def put(self, job: Job, files: Files) -> None:
        """Write the files of a part; the sums last, for they say that the part is done."""
        for name, data in files.items():
            if name != FOLDER:
                (self.path / name).mkdir(exist_ok=True)
                write(self.path / name / f"{job.number:06d}.parquet", data)
        write(self._file(job), files[FOLDER])

    def get(self, job: Job) -> Shard:
        return Shard.unpack(self._file(job).read_bytes())

    def _file(self, job: Job) -> Path:
        return self.shards / job.name(self.digest)


def _check(path: Path, manifest: Mapping[str, Any], resume: bool) -> None:
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    try:
        there = cast(dict[str, Any], json.loads((path / MANIFEST).read_bytes()))
    except (OSError, ValueError) as error:
        raise SettingError(f"{path.name} holds other files: choose a new folder.") from error
    other = [name for name in sorted(manifest.keys() | there.keys()) if manifest.get(name) != there.get(name)]
    if other:
        raise SettingError(f"{path.name} holds another run: its {', '.join(other)} differ. Choose a new folder.")
    if not resume:
        raise SettingError(f"{path.name} holds this run already: add --resume to finish it, or choose a new folder.")


def write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    with part.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    part.replace(path)
