"""Shards: only those of this run, this part and this model, whole and unchanged, are added up."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest

from bartviz.corpus import run_folder
from bartviz.corpus.read import Bad, Line
from bartviz.corpus.run_folder import Folder, Job, Shard
from bartviz.corpus.sums import Partial
from bartviz.errors import SettingError

NAMES = ("previous", "entropy")
MANIFEST: Mapping[str, Any] = {
    "model": {"fingerprint": "a", "encoder_layers": 2, "encoder_heads": 3},
    "measures": {"encoder": list(NAMES)},
}
LINES = tuple(Line(number, "a.txt", number + 1, f"text {number}") for number in range(4))
JOB = Job(0, LINES, (Bad(4, "a.txt", 5, "It has no text."),))


def shard(seed: int = 0, shape: tuple[int, int] = (2, 3), names: tuple[str, ...] = NAMES) -> Shard:
    values = np.random.default_rng(seed).random((4, *shape, 2)).astype(np.float32)
    return Shard({"encoder": Partial.of("encoder", names, values, values[:, 0, 0], np.arange(4))}, 4, JOB.bad)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path / "run", MANIFEST, resume=False)
    made.put(JOB, shard().files())
    return made


def file(folder: Folder) -> Path:
    return folder.shards / JOB.name(folder.digest)


def test_a_shard_is_read_as_it_was_written(folder: Folder) -> None:
    assert folder.has(JOB)
    kept, whole = folder.get(JOB), shard()
    assert (kept.texts, kept.bad) == (4, JOB.bad)
    np.testing.assert_array_equal(kept.sums["encoder"].total, whole.sums["encoder"].total)
    assert not folder.has(replace(JOB, number=1))


@pytest.mark.parametrize(
    "other",
    [
        shard(shape=(3, 2)),
        shard(names=NAMES[::-1]),
        Shard({"decoder": replace(shard().sums["encoder"], kind="decoder")}, 4, JOB.bad),
        replace(shard(), bad=()),
        replace(shard(), texts=3),
        replace(shard(), sums={}),
    ],
    ids=["shape", "measures", "kind", "rows", "texts", "nothing"],
)
def test_what_does_not_fit_the_run_is_refused_though_its_digest_is_right(other: Shard, folder: Folder) -> None:
    file(folder).write_bytes(run_folder.sealed(file(folder).name, other.pack()))
    with pytest.raises(SettingError, match=r"delete it"):
        folder.has(JOB)


def test_the_shard_of_another_model_or_corpus_is_refused(folder: Folder, tmp_path: Path) -> None:
    tuned = {**MANIFEST, "model": {**MANIFEST["model"], "fingerprint": "b"}}
    other = Folder(tmp_path / "other", tuned, resume=False)
    other.put(JOB, shard(1).files())
    file(folder).write_bytes((other.shards / JOB.name(other.digest)).read_bytes())
    with pytest.raises(SettingError, match=r"is damaged, or belongs to another run: delete it"):
        folder.has(JOB)


@pytest.mark.parametrize("at", [3, 30, 200, -5])
def test_a_flipped_bit_is_seen(at: int, folder: Folder) -> None:
    data = bytearray(file(folder).read_bytes())
    data[at] ^= 4
    file(folder).write_bytes(data)
    with pytest.raises(SettingError, match=file(folder).name):
        folder.has(JOB)


@pytest.mark.parametrize("length", [0, 10, 60, 3000])
def test_a_shard_that_was_cut_is_refused(length: int, folder: Folder) -> None:
    file(folder).write_bytes(file(folder).read_bytes()[:length])
    with pytest.raises(SettingError, match=r"delete it"):
        folder.get(JOB)


def _claiming() -> bytes:
    """An array that says it has a million million numbers."""
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        content, {"descr": "<f8", "fortran_order": False, "shape": (1_000_000, 1_000_000)}
    )
    packed = io.BytesIO()
    with ZipFile(packed, "w") as made:
        made.writestr("texts.npy", content.getvalue())
    return packed.getvalue()


def _packed_small() -> bytes:
    """Ten million zeros, in few bytes."""
    content, packed = io.BytesIO(), io.BytesIO()
    np.save(content, np.zeros(10_000_000))
    with ZipFile(packed, "w", ZIP_DEFLATED) as made:
        made.writestr("texts.npy", content.getvalue())
    return packed.getvalue()


@pytest.mark.parametrize("make", [_claiming, _packed_small, lambda: b"", lambda: b"PK"])
def test_what_an_array_claims_is_compared_with_its_bytes(make: Any, folder: Folder) -> None:
    file(folder).write_bytes(run_folder.sealed(file(folder).name, make()))
    with pytest.raises(SettingError, match=r"delete it"):
        folder.has(JOB)


def test_a_run_that_could_not_write_its_first_file_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "run"
    (path / "shards").mkdir(parents=True)
    (path / "run.json.77.part").write_bytes(b"")
    (path / "shards" / "000000-x.shard.77.part").write_bytes(b"half")
    Folder(path, MANIFEST, resume=True).put(JOB, shard().files())
    assert Folder(path, MANIFEST, resume=True).has(JOB)
    assert not list(path.rglob("*.part"))


@pytest.mark.parametrize("name", ["notes.txt", "shards/000000-x.shard", "shards/notes.txt"])
def test_a_folder_with_anything_else_is_no_new_one(name: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    (path / name).parent.mkdir(parents=True)
    (path / name).write_text("mine")
    with pytest.raises(SettingError, match="choose a new folder"):
        Folder(path, MANIFEST, resume=True)
    assert (path / name).read_text() == "mine"


def test_a_disk_that_is_full_leaves_no_part_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(OSError, match="No space"):
            Folder(tmp_path / "run", MANIFEST, resume=False)
    assert not list(tmp_path.rglob("*.part"))
    Folder(tmp_path / "run", MANIFEST, resume=True).put(JOB, shard().files())


@pytest.mark.parametrize("text", ["[" * 100_000, "[]", "nothing", '{"format": 3}'])
def test_a_damaged_manifest_is_refused(text: str, folder: Folder) -> None:
    (folder.path / "run.json").write_text(text)
    with pytest.raises(SettingError, match=r"(c|C)hoose a new folder"):
        Folder(folder.path, MANIFEST, resume=True)
