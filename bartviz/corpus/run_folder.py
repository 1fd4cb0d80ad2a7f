"""The files of a run: the sums of each part of the corpus, written whole or not at all.

A shard is named by what it was computed from, and begins with a digest of that name and of its content: one that is
damaged, or of another part, run or model, is refused.

Where more is kept of each text, each part writes its tables too, before the sums, so that a part
with sums has its tables, and one without is measured again and its tables are replaced.

``run.json`` says what the run is of, and with which versions it began. A folder holds one run: another model, corpus
or setting is refused.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from textwrap import shorten
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast
from zipfile import ZIP_STORED, ZipFile

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis.corpus_measures import RANDOM as OF_RANDOM
from bartviz.corpus.looks import BINS as BINS_OF_LOOKS
from bartviz.corpus.looks import LOOKS, Look, Looks, Types
from bartviz.corpus.read import Bad, Line
from bartviz.corpus.relations import Relations
from bartviz.corpus.sums import BINS, DRAWN, EXAMPLES, Bins, Examples, Partial
from bartviz.errors import SettingError
from bartviz.record.attention import KINDS, Kind
from bartviz.safety import files
from bartviz.safety.other_libraries import guarded
from bartviz.text.clean import Truncate
from bartviz.version import versions

if TYPE_CHECKING:
    from bartviz.tape.head_means import Mean

FORMAT = 3
MANIFEST = "run.json"
FOLDER = "shards"
SUFFIX = ".shard"
TABLES = ("edges", "texts", "values")  # folders of what is kept of each text
Files = Mapping[str, bytes]  # of a part, by folder
_SUMS = ("count", "total", "squares", "histogram", "even_count", "even_total", "blocks")
_EXAMPLES = {"highest": EXAMPLES, "lowest": EXAMPLES, "drawn": DRAWN}
RANDOM_PART = -1  # the number of the part of random tokens
_SEALED = b"bartviz shard 4\n"
LARGEST = 1 << 30  # bytes of a shard
LARGEST_MANIFEST = 1 << 20
_SHOWN = 5  # differences of two runs that a message names
MOST_ARRAYS = 200  # of a shard; three kinds of attention have about a hundred
Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Shard:
    """A part of the corpus, measured: the sums of each kind, the number of its texts, the rows that were left out,
    Parquet files of what is kept for each text, where that was asked for, the arcs of trees that heads follow, how
    many of its texts are read in part, and what heads look at (nothing in a part that an earlier version has
    measured)."""

    sums: Mapping[Kind, Partial]
    texts: int
    bad: tuple[Bad, ...] = ()
    tables: Mapping[str, bytes] = field(default_factory=dict)
    relations: Mapping[Kind, Relations] = field(default_factory=dict)
    cut: int = 0
    looks: Mapping[Kind, Looks] = field(default_factory=dict)

    def files(self) -> Files:
        """The bytes of each file of the part, by folder."""
        return {**self.tables, FOLDER: self.pack()}

    def pack(self) -> bytes:
        """The bytes of a file, tables left out."""
        arrays: dict[str, Any] = {"texts": np.array(self.texts), "cut": np.array(self.cut)}
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
        for kind, looks in self.looks.items():
            arrays |= {f"{kind}/looks/{name}": getattr(looks, name).astype(np.float32) for name in _LOOKS}
            for side, types in looks.types.items():
                for name in ("tokens", "counts", "base", "sums"):
                    one = getattr(types, name)
                    arrays[f"{kind}/{side}/{name}"] = one.astype(np.float32) if one.dtype == np.float64 else one
        packed = io.BytesIO()
        np.savez(packed, **arrays)
        return packed.getvalue()

    @classmethod
    def unpack(cls, data: bytes) -> Shard:
        """The opposite of ``pack``. Raises SettingError for a file that is damaged."""
        with guarded(SettingError("A shard of the run is damaged: delete it and resume the run.")):
            arrays = arrays_of(data)
            texts = int(array(arrays, "texts", np.int64, ()))
            cut = int(array(arrays, "cut", np.int64, ())) if "cut" in arrays else 0
            require(0 <= cut <= texts)
            sums = {kind: _partial(kind, arrays, texts) for kind in KINDS if f"{kind}/count" in arrays}
            bad = bad_rows(arrays["bad"].tobytes())
            relations = {
                kind: _relations(kind, arrays, sums[kind].shape) for kind in KINDS if f"{kind}/relations" in arrays
            }
            looks = {
                kind: _looks(kind, arrays, sums[kind].shape, texts) for kind in KINDS if f"{kind}/looks/rows" in arrays
            }
            return cls(sums, texts, bad, relations=relations, cut=cut, looks=looks)


def arrays_of(data: bytes) -> dict[str, NDArray[Any]]:
    """The arrays of a file of NumPy. What an array claims to hold is compared with its bytes before it is made."""
    arrays: dict[str, NDArray[Any]] = {}
    with ZipFile(io.BytesIO(data)) as file:
        members = file.infolist()
        require(len(members) <= MOST_ARRAYS)
        for member in members:
            require(member.compress_type == ZIP_STORED and member.file_size <= len(data))
            content = file.read(member)
            stream = io.BytesIO(content)
            version = np.lib.format.read_magic(stream)
            header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, by_column, kind = header(stream)
            require(kind.itemsize > 0 and math.prod(shape) * kind.itemsize == len(content) - stream.tell())
            found = np.frombuffer(content, kind, offset=stream.tell())  # refuses objects
            arrays[member.filename.removesuffix(".npy")] = found.reshape(shape, order="F" if by_column else "C")
    return arrays


def require(holds: bool) -> None:
    """Raise ValueError where something of a file does not hold."""
    if not holds:
        raise ValueError("shard")


def array(arrays: Arrays, name: str, kind: type[np.generic], shape: tuple[int, ...]) -> NDArray[Any]:
    """An array of this type and shape, in which -1 is any length."""
    found = arrays[name]
    require(np.issubdtype(found.dtype, kind) and len(found.shape) == len(shape))
    require(all(wanted in (-1, length) for wanted, length in zip(shape, found.shape, strict=True)))
    return found


def _partial(kind: Kind, arrays: Arrays, texts: int) -> Partial:
    layers, heads = array(arrays, f"{kind}/shape", np.int64, (2,)).tolist()
    names = tuple(array(arrays, f"{kind}/names", np.str_, (-1,)).tolist())
    cells = layers * heads * len(names)
    shapes = {
        "histogram": (cells, BINS),
        "blocks": (5, cells),
        "even_count": (len(names),),
        "even_total": (len(names),),
    }
    sums = {
        name: array(arrays, f"{kind}/{name}", np.float64 if name in _DOUBLES else np.int64, shapes.get(name, (cells,)))
        for name in _SUMS
    }
    require(all(np.isfinite(one).all() and (name in _SIGNED or bool((one >= 0).all())) for name, one in sums.items()))
    require(bool((sums["count"] <= texts).all() and (sums["histogram"].sum(axis=1) == sums["count"]).all()))
    examples = {
        name: Examples(
            array(arrays, f"{kind}/{name}/values", np.float64, (count, cells)),
            array(arrays, f"{kind}/{name}/texts", np.int64, (count, cells)),
        )
        for name, count in _EXAMPLES.items()
    }
    require(not any(np.isinf(found.values).any() for found in examples.values()))
    return Partial(kind, (layers, heads), names, **cast(dict[str, Any], {**sums, **examples}))


_DOUBLES = {"total", "squares", "even_total", "blocks"}
_SIGNED = {"total", "even_total", "blocks"}


def _relations(kind: Kind, arrays: Arrays, shape: tuple[int, int]) -> Relations:
    names = array(arrays, f"{kind}/relations", np.str_, (-1,)).tolist()
    rows = array(arrays, f"{kind}/distances", np.int64, (-1, 3))
    followed = array(arrays, f"{kind}/followed", np.int64, (len(names), 2, *shape))
    require(bool((rows[:, 0] >= 0).all() and (rows[:, 2] > 0).all() and (followed >= 0).all()))
    distances: dict[str, Counter[int]] = {name: Counter() for name in names}
    for index, distance, count in rows.tolist():
        distances[names[index]][distance] = count
    arcs = np.array([distances[name].total() for name in names])
    require(len(distances) == len(names) and bool((followed <= arcs[:, None, None, None]).all()))
    return Relations(distances, dict(zip(names, followed, strict=True)))


_LOOKS = ("rows", "distances", "even", "given")


def _looks(kind: Kind, arrays: Arrays, shape: tuple[int, int], texts: int) -> Looks:
    heads, bins = math.prod(shape), len(BINS_OF_LOOKS)
    shapes = {"rows": (3,), "distances": (3, heads, bins), "even": (bins,), "given": (heads,)}
    sums = {name: _sums_of(arrays, f"{kind}/looks/{name}", shapes[name]) for name in _LOOKS}
    types: dict[Look, Types] = {}
    for side in LOOKS:
        tokens = array(arrays, f"{kind}/{side}/tokens", np.str_, (-1,))
        counts = array(arrays, f"{kind}/{side}/counts", np.int64, (len(tokens), 4))
        base = _sums_of(arrays, f"{kind}/{side}/base", (2, len(tokens)))
        require(bool((tokens[1:] > tokens[:-1]).all() and (base > 0).all()))
        require(bool((counts >= 0).all() and (counts <= counts[:, :1]).all() and (counts[:, 3] <= texts).all()))
        types[side] = Types(tokens, counts, base, _sums_of(arrays, f"{kind}/{side}/sums", (3, len(tokens), heads)))
    return Looks(**sums, types=types)


def _sums_of(arrays: Arrays, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Sums of shares and counts, none of which is below 0."""
    found = array(arrays, name, np.float32, shape)
    require(bool(np.isfinite(found).all() and (found >= 0).all()))
    return found.astype(np.float64)


def bad_rows(data: bytes) -> tuple[Bad, ...]:
    """The rows that were left out, from JSON. Raises ValueError, or what JSON does, for something else."""
    return tuple(_bad(row) for row in json.loads(data))


def _bad(row: Any) -> Bad:
    made = Bad(**row)
    require(all(type(getattr(made, name)) is kind for name, kind in _BAD_TYPES.items()))
    return made


_BAD_TYPES = {"number": int, "file": str, "line": int, "reason": str}


_BAD = [entry.name for entry in fields(Bad)]
_LINE = [entry.name for entry in fields(Line) if entry.name != "columns"]  # these are in the digest of the run


@dataclass(frozen=True)
class Job:
    """A part of the corpus to measure: its number, its lines, and the rows that could not be read.

    ``edges`` is the weight above which single edges are kept, None for none; ``silence`` the share of texts on which
    each head is silenced, ``mean`` what its output becomes; ``truncate`` the part that is read of a text that is too
    long, None for none; ``values``: whether the values of each text are kept; ``own`` the bins of measures of the
    caller's own.
    """

    number: int
    lines: tuple[Line, ...]
    bad: tuple[Bad, ...]
    edges: float | None = None
    silence: float = 0.0
    truncate: Truncate | None = None
    values: bool = False
    mean: Mean = False
    own: Mapping[str, Bins] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return len(self.lines) + len(self.bad)

    def name(self, run: str) -> str:
        """The file of its shard, by the digest of the run and of every row."""
        whole = hashlib.sha256(run.encode())
        for rows, names in ((self.lines, _LINE), (self.bad, _BAD)):
            values = [[getattr(row, name) for name in names] for row in rows]
            whole.update(json.dumps(values, default=asdict).encode())
        return f"{self.number:06d}-{whole.hexdigest()[:24]}{SUFFIX}"


def jobs(
    rows: Iterator[Line | Bad],
    size: int,
    edges: float | None = None,
    silence: float = 0.0,
    truncate: Truncate | None = None,
    values: bool = False,
    mean: Mean = False,
    own: Mapping[str, Bins] = MappingProxyType({}),
) -> Iterator[Job]:
    """The rows in parts of ``size``, in order."""

    def job() -> Job:
        lines = tuple(row for row in held if isinstance(row, Line))
        bad = tuple(row for row in held if isinstance(row, Bad))
        return Job(number, lines, bad, edges, silence, truncate, values, mean, dict(own))

    held: list[Line | Bad] = []
    number = 0
    for row in rows:
        held.append(row)
        if len(held) == size:
            yield job()
            number, held = number + 1, []
    if held:
        yield job()


class Store:
    """The folder of one run. Raises SettingError for one that holds another, or one to resume without ``resume``."""

    def __init__(self, path: Path, manifest: Mapping[str, Any], *, resume: bool) -> None:
        self.path, self.manifest = path, dict(manifest) | {"format": FORMAT}
        _check(path, self.manifest, resume)
        self.began = versions() if _is_new(path) else read_manifest(path).get("versions")
        self.shards = path / FOLDER
        path.mkdir(parents=True, exist_ok=True)
        for name in ("", FOLDER, *TABLES):
            for left in (path / name).glob("*.part"):
                left.unlink()
        write(path / MANIFEST, json.dumps(self.manifest | {"versions": self.began}, indent=1).encode())
        self.shards.mkdir(exist_ok=True)
        self.digest = hashlib.sha256(json.dumps(self.manifest, sort_keys=True).encode()).hexdigest()

    def has(self, job: Job) -> bool:
        """Whether the part is measured. Raises SettingError if its shard is damaged, or of something else."""
        if not self._file(job).exists():
            return False
        self.expect(job)
        return True

    def put(self, job: Job, made: Files) -> None:
        """Write the files of a part; the sums last, because they mark the part as done."""
        for name, data in made.items():
            if name != FOLDER:
                (self.path / name).mkdir(exist_ok=True)
                write(self.path / name / f"{job.number:06d}.parquet", data)
        write(self._file(job), sealed(self._file(job).name, made[FOLDER]))

    def expect(self, job: Job) -> None:
        """Raise SettingError if the shard of a part is damaged, or of something else."""
        self.content(job)

    def content(self, job: Job) -> bytes:
        """What is stored of a part. Raises SettingError if it is damaged, or of something else."""
        return content(self._file(job))

    def foreign(self, job: Job) -> SettingError:
        """The error of a part that is damaged, or of something else."""
        return _foreign(self._file(job).name)

    def _file(self, job: Job) -> Path:
        return self.shards / job.name(self.digest)


class Folder(Store):
    """That of an atlas."""

    def expect(self, job: Job) -> None:
        """Raise SettingError if the shard of a part is damaged, or of something else."""
        self.get(job)

    def get(self, job: Job) -> Shard:
        """The shard of a part. Raises SettingError if it is damaged, or of something else."""
        shard = stored(self._file(job), self.manifest)
        if job.number != RANDOM_PART and shard.texts + len(shard.bad) != job.rows:
            raise self.foreign(job)
        return shard


def sealed(name: str, data: bytes) -> bytes:
    """The content of a shard's file: its arrays behind a digest of them and of its name."""
    return _SEALED + _digest(name, data) + data


def _digest(name: str, data: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\0" + data).digest()


def content(file: Path) -> bytes:
    """What is behind the digest of a shard's file. Raises SettingError if it is damaged."""
    try:
        data = files.read(file, LARGEST)
    except OSError as error:
        raise _foreign(file.name) from error
    start, digest = data[: len(_SEALED)], data[len(_SEALED) : len(_SEALED) + 32]
    held = data[len(_SEALED) + 32 :]
    if start != _SEALED or digest != _digest(file.name, held):
        raise _foreign(file.name)
    return held


def stored(file: Path, manifest: Mapping[str, Any]) -> Shard:
    """The shard in a file of the run of this manifest. Raises SettingError if it is damaged, or of something else."""
    held = content(file)
    with guarded(_foreign(file.name)):
        shard = Shard.unpack(held)
        of_random = file.name.startswith(f"{RANDOM_PART:06d}-")
        for kind, sums in shard.sums.items():
            names = tuple(OF_RANDOM) if of_random else tuple(manifest["measures"][kind])
            side = "encoder" if kind == "encoder" else "decoder"
            shape = tuple(manifest["model"][f"{side}_{of}"] for of in ("layers", "heads"))
            require((sums.names, sums.shape) == (names, shape))
        wanted = {kind for kind in manifest["measures"] if not (of_random and kind == "cross")}
        require(not shard.texts or shard.sums.keys() == wanted)
    return shard


def _foreign(name: str) -> SettingError:
    return SettingError(
        f"The shard {name} of the run is damaged, or belongs to another run: delete it from the folder "
        f"{FOLDER}, and resume."
    )


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of the run in a folder. Raises SettingError where there is none."""
    try:
        there = json.loads(files.read(path / MANIFEST, LARGEST_MANIFEST))
    except (OSError, ValueError, RecursionError) as error:
        raise SettingError(f"{path.name} holds no run: {MANIFEST} is missing, or damaged.") from error
    if not isinstance(there, dict):
        raise SettingError(f"{path.name} holds no run: {MANIFEST} is damaged.")
    return cast(dict[str, Any], there)


def _is_new(path: Path) -> bool:
    """Whether a folder has nothing of a run, or only what one leaves that could not write its first file."""
    if not path.exists():
        return True
    if not path.is_dir():
        return False
    entries = [entry for entry in path.iterdir() if not (entry.name == FOLDER and entry.is_dir())]
    entries += (path / FOLDER).iterdir() if (path / FOLDER).is_dir() else []
    return all(entry.suffix == ".part" for entry in entries)


def _check(path: Path, manifest: Mapping[str, Any], resume: bool) -> None:
    if _is_new(path):
        return
    try:
        there = read_manifest(path)
    except SettingError as error:
        raise SettingError(f"{path.name} contains other files: choose a new folder.") from error
    names = sorted((manifest.keys() | there.keys()) - {"versions"})
    other = [name for name in names if manifest.get(name) != there.get(name)]
    if other:
        found = [one for name in other for one in _differences(name, there.get(name), manifest.get(name))]
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise SettingError(
            f"{path.name} contains another run: its {', '.join(other)} differ ({'; '.join(found[:_SHOWN])}{more}). "
            "Choose a new folder, or set what differs as it was."
        )
    if not resume:
        raise SettingError(f"{path.name} already contains this run: add --resume to finish it, or choose a new folder.")


def _differences(name: str, there: object, now: object) -> list[str]:
    """What differs between two parts of manifests, each by the names that lead to it."""
    if isinstance(there, Mapping) and isinstance(now, Mapping):
        keys = [*there, *(key for key in now if key not in there)]
        changed = [key for key in keys if there.get(key) != now.get(key)]
        return [one for key in changed for one in _differences(f"{name}.{key}", there.get(key), now.get(key))]
    was, is_now = (shorten(json.dumps(value, ensure_ascii=False), 60, placeholder=" …") for value in (there, now))
    return [f"{name} was {was}, is now {is_now}"]


def write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
