"""The record that the app starts with: ours, or another one; and the message for a file that is no record."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Barrier, BrokenBarrierError

import pytest

from bartviz.errors import RecordError
from bartviz.language import speaking
from bartviz.record import store
from bartviz.record.record import Record
from bartviz.serving import first_record


@pytest.fixture(autouse=True)
def read_anew() -> Iterator[None]:
    first_record.read.cache_clear()
    yield
    first_record.read.cache_clear()


def test_without_a_setting_it_is_the_one_that_ships(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BARTVIZ_RECORD", raising=False)
    assert first_record.error() is None
    found = first_record.record()
    assert found is not None
    assert found.model.name == "bart-tiny-en-de"


def test_the_setting_names_another_one(tmp_path: Path, record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    record.save(tmp_path / "mine.safetensors")
    monkeypatch.setenv("BARTVIZ_RECORD", str(tmp_path / "mine.safetensors"))
    assert first_record.error() is None
    assert first_record.record() == record


def test_a_missing_file_is_reported_and_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("BARTVIZ_RECORD", str(tmp_path / "gone.safetensors"))
    with caplog.at_level(logging.WARNING, "bartviz"):
        error = first_record.error()
    assert "gone.safetensors" in caplog.text
    assert str(error) == (
        "The record that BARTVIZ_RECORD names cannot be shown. The record cannot be read: no such file or folder. Set "
        "BARTVIZ_RECORD to a file that bartviz has saved, or unset it, and restart the app; until then it shows the "
        "record that ships with it."
    )
    found = first_record.record()
    assert found is not None
    assert found.model.name == "bart-tiny-en-de"
    with speaking("ko"):
        assert "그런 파일이나 폴더가 없음" in str(error)
        assert "The" not in str(error)


def test_a_record_that_contradicts_itself_is_refused_in_the_readers_language(tmp_path: Path, record: Record) -> None:
    assert record.encoder is not None
    endless = record.encoder.queries.copy()
    endless[0, 0, 0, 0] = float("inf")
    encoder = replace(record.encoder)
    object.__setattr__(encoder, "q", endless)
    damaged = replace(record)
    object.__setattr__(damaged, "encoder", encoder)
    with pytest.raises(RecordError, match=r"contradict each other: .* not finite .* Save it again\.") as refused:
        store.decode(store.encode(damaged), Record)
    with speaking("ko"):
        assert "다시 저장하세요" in str(refused.value)


@pytest.mark.slow
def test_all_who_ask_at_the_same_moment_get_the_same_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """A canvas begins anew with another object: what the first visitors of a server had chosen was gone."""
    together, opened = Barrier(2), first_record._opened

    def slowly(file: Path) -> tuple[Record | None, RecordError | None]:
        with suppress(BrokenBarrierError):
            together.wait(1)  # for somebody else who reads; nobody comes
        return opened(file)

    monkeypatch.setattr(first_record, "_opened", slowly)
    with ThreadPoolExecutor(2) as visitors:
        one, other = visitors.map(lambda _visitor: first_record.record(), range(2))
    assert one is not None
    assert one is other
    assert one is first_record.record()
