"""Atlases and the shards of a run: how they are corrupted, with a right digest or without, and how they are used."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bartviz.analysis import corpus as analysis
from bartviz.corpus import atlas as atlases
from bartviz.corpus import run_folder, schema
from bartviz.corpus.read import lines
from bartviz.corpus.stability import stability
from bartviz.errors import BartvizError
from bartviz.features.corpus.figure import atlas as drawing
from bartviz.features.corpus.figure_atlas_pair import atlas_pair
from bartviz.record.attention import Head
from tests.fuzz import mutations

SIZE = 2  # rows of a part
_MADE = """
import sys
from pathlib import Path
from bartviz.corpus.run import corpus
path, out = map(Path, sys.argv[1:])
path.write_text("".join(f"The {a} sat on the {b}, and I saw {a} 7.\\n" for a in ("cat", "dog", "man", "car", "bus")
    for b in ("mat", "table", "road", "chair", "house")), encoding="utf-8")
corpus(path, "bert-tiny-en", out, size=2, edges=0.3)
"""


def made(folder: Path) -> Path:
    """The folder of a finished run over 25 texts in parts of two, with its single edges; made in a process of its own,
    so that the memory of this one has no model in it."""
    out = folder / "good"
    subprocess.run([sys.executable, "-c", _MADE, str(folder / "texts.txt"), str(out)], check=True, timeout=300)
    return out


def copied(good: Path, place: Path) -> Path:
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(good, place)
    return place


def use_atlas(random: Random, place: Path, good: atlases.Atlas) -> None:
    """Some of what is done with an atlas, whatever a part of it refuses. Raises what the last part refused."""
    found = atlases.open_atlas(place)
    head = random.choice(("L0H0", "L3H5", "encoder L2H1", "L9H9"))
    drawn = random.choice(("previous", "entropy", "induction"))
    uses: list[Callable[[], object]] = [
        lambda: (repr(found), found.source, found.roles),
        lambda: found.against(good),
        lambda: good.against(found),
        lambda: found.passport(head),
        lambda: found.find(limit=5, key="punctuation"),
        lambda: found.find(limit=random.choice((0, 3, 100_000)), least=0.5, query="cat"),
        found.stability,
        lambda: drawing(found.heads, measure=drawn).to_json(),
        lambda: atlas_pair(found.heads, good.heads, measure=drawn).to_json(),
        lambda: analysis.neighbours(found.heads, Head("encoder", 0, 0)),
        lambda: found.save(place.with_name("saved")),
    ]
    refused: BartvizError | None = None
    for use in [found.check, *random.sample(uses, 5)]:
        try:
            use()
        except BartvizError as error:
            refused = error
    shutil.rmtree(place.with_name("saved"), ignore_errors=True)
    if refused is not None:
        raise refused


def spoil_atlas(random: Random, place: Path) -> None:
    """Corrupt one file of an atlas; mostly its digests are made to fit."""
    names = [
        "atlas.json",
        *(f"{name}.parquet" for name in schema.TABLES),
        "edges/000003.parquet",
        "texts/000003.parquet",
    ]
    file = place / random.choice(names)
    if file.suffix == ".json":
        file.write_bytes(_description(random, file.read_bytes()))
        return
    if random.random() < 0.3:
        file.write_bytes(mutations.bent(random, file.read_bytes()))
    else:
        file.write_bytes(_parquet(random, _tabled(random, pq.read_table(file))))
    if file.parent == place and random.random() < 0.85:
        description = json.loads((place / "atlas.json").read_bytes())
        packed = {name: (place / f"{name}.parquet").read_bytes() for name in schema.TABLES}
        (place / "atlas.json").write_text(json.dumps(schema.sealed(description, packed)))


def _description(random: Random, data: bytes) -> bytes:
    if random.random() < 0.3:
        return mutations.document(random, data)
    value = mutations.tree(random, json.loads(data))
    if isinstance(value, dict) and isinstance(value.get("files"), dict):
        digests = value["files"]
        try:
            value = {**schema.sealed(value, {}), "files": digests}
            value = {**value, "digest": schema._own_digest(value)}
        except (TypeError, ValueError):
            pass
    return mutations.written(random, value).encode("utf-8", "surrogatepass")


def _parquet(random: Random, table: pa.Table) -> bytes:
    written = io.BytesIO()
    pq.write_table(
        table,
        written,
        compression=random.choice(("snappy", "zstd", "none", "gzip")),
        use_dictionary=random.random() < 0.7,
        row_group_size=random.choice((1 << 20, 7)) if table.num_rows < 1000 else 1 << 20,
    )
    return written.getvalue()


def _tabled(random: Random, table: pa.Table) -> pa.Table:
    for _ in range(mutations.often(random)):
        table = _changed(random, table)
    return table


_CHANGES = ("drop", "type", *("value",) * 3, "all", "twice", "many", "few", "none", "order", "column", "metadata")


def _changed(random: Random, table: pa.Table) -> pa.Table:
    if not table.num_columns:
        return table
    at = random.randrange(table.num_columns)
    name, column, rows = table.column_names[at], table.column(at), table.num_rows
    change = random.choice(
        (
            "drop",
            "type",
            "value",
            "value",
            "value",
            "all",
            "twice",
            "many",
            "few",
            "none",
            "order",
            "column",
            "metadata",
        )
    )
    if change == "drop":
        return table.drop_columns([name])
    if change == "twice":
        return pa.concat_tables([table, table])
    if change == "few":
        return table.slice(0, random.choice((0, 1, rows // 2)))
    if change == "order":
        return table.take(pa.array(np.random.default_rng(random.randrange(1 << 30)).permutation(rows)))
    if change == "column":
        return table.append_column(random.choice((name, "extra")), column)
    if change == "metadata":
        return table.replace_schema_metadata({b"pandas": random.choice((b"{", b"[]", b'{"index_columns": ["kind"]}'))})
    if change == "many":
        first = table.slice(0, 1).to_pylist() if rows and len(set(table.column_names)) == table.num_columns else []
        long = any(isinstance(value, str) and len(value) > 1000 for row in first for value in row.values())
        return table.take(pa.array(np.zeros(10 if long else 200_000, np.int64))) if first else table
    values: list[Any] = column.to_pylist()
    if change == "type":
        wanted = random.choice((pa.string(), pa.int64(), pa.float64(), pa.bool_(), pa.binary(), pa.int8(), pa.null(),
                                pa.list_(pa.string()), pa.timestamp("s"), pa.decimal128(5, 1)))  # fmt: skip
        made = _array([None] * rows if random.random() < 0.5 else values, wanted)
    else:
        odd = random.choice((None, 0, -1, 1, 2**31, 2**62, 1.5, 1e300, float("nan"), float("inf"), "", "x" * 100_000,
                             "cross", "decoder", "silenced", "\ud83d", "<b>", True))  # fmt: skip
        if change == "none":
            odd = None
        values = [odd] * rows if change == "all" else values
        if values:
            values[random.randrange(rows)] = odd
        made = _array(values, column.type)
    return table if made is None else table.set_column(at, name, made)


def _array(values: list[Any], kind: pa.DataType) -> pa.Array | None:
    for wanted in (kind, None):
        try:
            return pa.array(values, wanted)
        except (pa.ArrowException, TypeError, ValueError, OverflowError, UnicodeEncodeError):
            continue
    return None


def use_shards(place: Path, texts: Path, manifest: Mapping[str, Any], edges: float) -> None:
    """Resume a run whose parts are all measured, and add them up."""
    folder = run_folder.Folder(place, manifest, resume=True)
    todo = list(run_folder.jobs(lines(texts), SIZE, edges))
    random_part = run_folder.Job(run_folder.RANDOM_PART, (), ())
    assert all(folder.has(job) for job in (random_part, *todo))
    whole = atlases.added(folder.manifest, (folder.get(job) for job in todo), folder.get(random_part), lines(texts))
    whole.check()
    assert whole.roles is not None
    stability(place)


def spoil_shards(random: Random, place: Path) -> None:
    """Corrupt a shard, with a right digest or without, exchange two, or corrupt the manifest."""
    files = sorted((place / run_folder.FOLDER).iterdir())
    file, other = random.sample(files, 2)
    change = random.choice(("bytes", "bytes", "arrays", "arrays", "arrays", "zip", "other", "manifest"))
    if change == "manifest":
        run = place / run_folder.MANIFEST
        run.write_bytes(mutations.document(random, run.read_bytes()))
        return
    data = file.read_bytes()
    start = len(run_folder.sealed("", b""))
    if change == "bytes":
        data = mutations.bent(random, data)
    elif change == "other":
        data = other.read_bytes() if random.random() < 0.5 else run_folder.sealed(file.name, other.read_bytes()[start:])
    else:
        with np.load(io.BytesIO(data[start:])) as arrays:
            values = dict(arrays)
        content = io.BytesIO()
        if change == "zip":
            np.savez_compressed(content, **values, zeros=np.zeros(random.choice((10, 20_000_000))))
            data = run_folder.sealed(file.name, mutations.bent(random, content.getvalue()))
        else:
            for _ in range(mutations.often(random)):
                with suppress(ValueError, TypeError):  # a name is no number
                    values = mutations.arrays(random, values)
            np.savez(content, **{f"a{name}" if name in ("file", "args") else name: one for name, one in values.items()})
            data = run_folder.sealed(file.name, content.getvalue())
    file.write_bytes(data)
