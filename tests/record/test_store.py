"""Saved records open as they were saved, and other files are rejected."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load, save

import bartviz
from bartviz.errors import RecordError, SettingError
from bartviz.language import Later, _, later, speaking
from bartviz.record import store
from bartviz.record.record import Record
from bartviz.text.tokens import writable


def test_a_record_comes_back_as_it_was(record: Record, tmp_path: Path) -> None:
    record.save(tmp_path / "x.safetensors")
    again = bartviz.open(tmp_path / "x.safetensors")
    assert again == record
    assert [path.name for path in tmp_path.iterdir()] == ["x.safetensors"]


@pytest.mark.slow
def test_a_record_opens_without_torch(record: Record, tmp_path: Path) -> None:
    record.save(tmp_path / "x.safetensors")
    code = (
        "import sys, bartviz; r = bartviz.open(sys.argv[1]); r.attention(r.kinds[0]).head(0, 0);"
        "sys.exit(any(name in sys.modules for name in ('torch', 'transformers', 'streamlit', 'plotly')))"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "x.safetensors")], check=True)


def test_what_is_opened_is_read_only(record: Record, tmp_path: Path) -> None:
    record.save(tmp_path / "x.safetensors")
    again = bartviz.open(tmp_path / "x.safetensors")
    with pytest.raises(ValueError, match="read-only"):
        again.attention(again.kinds[0]).queries[0] = 0


def test_a_failed_save_leaves_the_old_file(record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.safetensors"
    record.save(path)
    before = path.read_bytes()

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        record.save(path)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    "data", [b"", b"x", b"\0" * 8, b"\xff" * 100, save({"a": np.zeros(3)}), b"PK\x03\x04" + b"0" * 50]
)
def test_other_files_are_refused_in_one_sentence(data: bytes) -> None:
    with pytest.raises(RecordError, match="not a bartviz record"):
        store.decode(data, Record)


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot be read") as error:
        bartviz.open(tmp_path / "none.safetensors")
    assert str(tmp_path) not in str(error.value)


def changed(record: Record, name: str, make: object) -> bytes:
    """The record's file with one array replaced by ``make(array)``."""
    assert callable(make)
    data = store.encode(record)
    arrays = load(data)
    arrays[name] = make(arrays[name])
    length = int.from_bytes(data[:8], "little")
    saved: bytes = save(arrays, metadata=json.loads(data[8 : 8 + length])["__metadata__"])
    return saved


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda q: q[:, :, :-1], "shape|query"),
        (lambda q: np.full_like(q, np.nan), "not finite"),
        (lambda q: q[0], "four axes"),
    ],
)
def test_a_damaged_record_is_refused(record: Record, make: object, word: str) -> None:
    with pytest.raises(RecordError, match=word):
        store.decode(changed(record, "decoder.q", make), Record)


def test_an_array_that_is_missing_is_refused(record: Record) -> None:
    data = store.encode(record)
    arrays = load(data)
    del arrays["decoder.k"]
    length = int.from_bytes(data[:8], "little")
    broken = save(arrays, metadata=json.loads(data[8 : 8 + length])["__metadata__"])
    with pytest.raises(RecordError, match="not a bartviz record"):
        store.decode(broken, Record)


def test_a_file_from_before_a_field_gets_its_default_and_one_without_a_needed_field_is_refused() -> None:
    @dataclass(frozen=True)
    class Older:
        name: str

    @dataclass(frozen=True)
    class Newer:
        name: str
        note: str = "none yet"

    @dataclass(frozen=True)
    class Needs:
        name: str
        note: str

    data = store.encode(Older("a"))
    assert store.decode(data, Newer)[0] == Newer("a", "none yet")
    with pytest.raises(RecordError, match="not a bartviz record"):
        store.decode(data, Needs)


NOTICES = (
    later("The first {count:,} of {all:,} tokens are shown.", count=512, all=1340),
    later("The text has {count:,} lines; they are read as one text.", count=3),
    later("The configuration asks for {words}: ignored.", words="num_labels, id2label"),
    later(
        "{reason} The copy of an earlier download is used (commit {commit}).",
        commit="ab1",
        reason=later(
            "The hub is limiting requests: too many were sent. It asks for a pause of {seconds:g} seconds.", seconds=30
        ),
    ),
    later("NUL characters were removed."),
    "A notice of an older file.",
)


def noticed(record: Record, *notices: str) -> Record:
    return replace(record, provenance=replace(record.provenance, notices=notices))


def test_a_notice_is_read_in_the_language_of_the_reader(record: Record) -> None:
    made = noticed(record, *NOTICES)
    again, seal = store.decode(store.encode(made), Record)
    assert (again, seal) == (made, "unchanged")
    assert [_(notice) for notice in again.provenance.notices] == list(NOTICES)
    with speaking("ko"):
        told = [_(notice) for notice in again.provenance.notices]
        assert told == [_(notice) for notice in NOTICES]
    assert all(any("가" <= letter <= "힣" for letter in said) for said in told[:-1])
    assert told[-1] == NOTICES[-1]


@pytest.mark.slow
@given(st.integers(0, 10**6), st.floats(0, 1), st.text(max_size=9))
def test_values_of_a_message_come_back_as_they_were(count: int, share: float, word: str) -> None:
    from tests.support import stand_in

    word = word if writable(word) else "{word}"
    made = later("{count:,} of {word}, {share:.1%}, {word}", count=count, share=share, word=word)
    (again,) = store.decode(store.encode(noticed(stand_in.record(), made)), Record)[0].provenance.notices
    assert isinstance(again, Later)
    assert isinstance(made, Later)
    assert (again, again.message, again.values) == (made, made.message, made.values)


@pytest.mark.parametrize(
    ("message", "values"),
    [
        ("{name.__class__}", {"name": "a"}),
        ("{name[0]}", {"name": "a"}),
        ("{name:>999999999}", {"name": "a"}),
        ("{name!r}", {"name": "a"}),
        ("{0}", {"0": "a"}),
        ("{name}", {"other": "a"}),
        ("{name:,}", {"name": "a"}),
        ("{name", {"name": "a"}),
        ("{name}", {"name": ["a"]}),
        ("{name}", {"name": None}),
        ("{name}", {"name": {"$message": "{a.b}", "values": {"a": 1}}}),
        ("{name}" * 1000, {"name": "a" * 1000}),
        (1, {}),
        ("name", "values"),
    ],
)
def test_a_message_that_is_none_of_ours_is_refused(record: Record, message: object, values: object) -> None:
    data = store.encode(noticed(record, "here"))
    length = int.from_bytes(data[:8], "little")
    metadata = json.loads(data[8 : 8 + length])["__metadata__"]
    header = json.loads(metadata["bartviz"])
    header["value"]["provenance"]["notices"] = [{"$message": message, "values": values}]
    with pytest.raises(RecordError, match="not a bartviz record"):
        store.decode(save(load(data), metadata={**metadata, "bartviz": json.dumps(header)}), Record)


def test_a_message_that_could_not_be_opened_again_is_saved_in_english(record: Record) -> None:
    said = later("Byte {byte:02X}.", byte=10)
    (again,) = store.decode(store.encode(noticed(record, said)), Record)[0].provenance.notices
    assert type(again) is str
    assert again == "Byte 0A."


@pytest.mark.parametrize(("version", "seal"), [(1, "older"), (2, "unchanged")])
def test_an_older_format_is_opened(
    record: Record, monkeypatch: pytest.MonkeyPatch, version: int, seal: store.Seal
) -> None:
    monkeypatch.setattr(store, "VERSION", version)
    data = store.encode(noticed(record, "A notice."))
    monkeypatch.undo()
    if seal == "older":
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length])["__metadata__"]["bartviz"]
        data = save(load(data), metadata={"bartviz": header})
    assert store.decode(data, Record) == (noticed(record, "A notice."), seal)


def test_another_format_is_named(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "VERSION", 99)
    data = store.encode(record)
    monkeypatch.undo()
    with pytest.raises(RecordError, match="format 99"):
        store.decode(data, Record)


@given(st.binary(max_size=400))
def test_no_bytes_do_harm(data: bytes) -> None:
    with pytest.raises(RecordError):
        store.decode(data, Record)


@pytest.mark.slow
@given(st.integers(8, 2000), st.integers(0, 255))
def test_one_changed_byte_is_refused_or_gives_a_valid_record(position: int, value: int) -> None:
    from tests.support import stand_in

    data = bytearray(store.encode(stand_in.record()))
    data[position % len(data)] = value
    try:
        again = store.decode(bytes(data), Record)[0]
    except RecordError:
        return
    assert again.kinds


@pytest.mark.parametrize("name", ["head.pdf", "a.json", "a.csv", "a.npz", "a", "a.safetensors.bak", ".safetensors"])
def test_a_record_is_saved_under_no_name_that_means_another_format(name: str, record: Record, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"saved as \.safetensors, or as a page for any browser as \.html"):
        record.save(tmp_path / name)
    assert not list(tmp_path.iterdir())
    record.save(tmp_path / "A.SafeTensors")
    assert bartviz.open(tmp_path / "A.SafeTensors") == record


def test_any_text_that_no_file_can_hold_is_refused(record: Record, tmp_path: Path) -> None:
    half = "\ud83d"
    bad = (
        replace(record, provenance=replace(record.provenance, notices=(half,))),
        replace(record, provenance=replace(record.provenance, settings={"edited": half})),
        replace(record, steps=(replace(record.steps[0], rule=half), *record.steps[1:])),
    )
    for other in bad:
        with pytest.raises(RecordError, match="lone surrogates"):
            other.save(tmp_path / "x.safetensors")
    assert not list(tmp_path.iterdir())


def test_what_a_killed_write_left_is_deleted_by_a_later_one(record: Record, tmp_path: Path) -> None:
    """Only of the same file, and only what is too old to be in progress."""
    kept = ["x.safetensors.0123abcd.part", "y.safetensors.89abcdef.part", "x.safetensors.mine.part", "x.part"]
    left = "x.safetensors.89abcdef.part"
    for name in (*kept, left):
        (tmp_path / name).write_bytes(b"a part")
    for name in (left, *kept[1:]):
        os.utime(tmp_path / name, (0, 0))
    record.save(tmp_path / "x.safetensors")
    assert {path.name for path in tmp_path.iterdir()} == {*kept, "x.safetensors"}
