"""Files that visitors upload: counted for each and for all, refused with the number, forgotten when they are used."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.exceptions import HTTPException

from bartviz.app import streamlit_internals
from bartviz.app.state import session, upload_limits
from bartviz.app.streamlit_internals import MemoryUploadedFileManager, UploadedFileRec
from bartviz.serving.limits import Limits
from tests.app.frame.test_sidebar import Answers, answers, press, settled
from tests.support.pages import App

__all__ = ["answers"]

HERE = {*"abcdefghijklmnopq"}


@pytest.fixture
def here() -> set[str]:
    return set(HERE)


@pytest.fixture
def manager(here: set[str], monkeypatch: pytest.MonkeyPatch) -> MemoryUploadedFileManager:
    """Two megabytes for each visitor, 32 for all."""
    made = MemoryUploadedFileManager("/upload")
    monkeypatch.setattr(streamlit_internals, "is_alive", here.__contains__)
    monkeypatch.setattr(streamlit_internals, "uploads", lambda: made)
    upload_limits.begin(Limits(record_mb=64))
    return made


def put(manager: MemoryUploadedFileManager, owner: str, name: str, size: int = 1_000_000) -> None:
    record = UploadedFileRec(name, name, "text/plain", bytes(size))
    manager.add_file(session_id=owner, file=record)  # as Streamlit's route does


def test_a_visitors_files_are_counted_together(manager: MemoryUploadedFileManager) -> None:
    put(manager, "a", "1")
    put(manager, "a", "2")
    with pytest.raises(HTTPException, match=r"413: Your files use 2\.0 MB here, .* the limit for each visitor is 2 MB"):
        put(manager, "a", "3", 100_000)
    assert upload_limits.held(manager, "a") == 2_000_000
    put(manager, "b", "1")


def test_what_was_removed_counts_no_longer(manager: MemoryUploadedFileManager) -> None:
    put(manager, "a", "1", 2_000_000)
    manager.remove_file("a", "1")
    put(manager, "a", "2", 2_000_000)


def test_all_visitors_files_are_counted_and_those_of_who_has_left_are_forgotten(
    manager: MemoryUploadedFileManager, here: set[str]
) -> None:
    for owner in "abcdefghijklmnop":
        put(manager, owner, "1", 2_000_000)
    with pytest.raises(HTTPException, match=r"all visitors use 32\.0 MB .* has 1\.5 MB; the limit is 32 MB"):
        put(manager, "q", "1", 1_500_000)
    here.discard("a")
    put(manager, "q", "1", 1_500_000)
    assert [upload_limits.held(manager, owner) for owner in "abq"] == [0, 2_000_000, 1_500_000]


def test_a_file_whose_text_was_taken_is_forgotten(app: App, answers: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    released: list[str] = []
    monkeypatch.setattr(session, "release", lambda file: released.append(file.name))
    page = app()
    page.file_uploader(key="file").upload("words.txt", b"The cat sat.")
    settled(press(page, "Run"))
    assert [request.text for request in answers.asked] == ["The cat sat."]
    assert released == ["words.txt"]


def test_a_record_that_was_opened_is_forgotten_as_a_file(
    app: App, answers: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.support import stand_in

    released: list[str] = []
    monkeypatch.setattr(session, "release", lambda file: released.append(file.name))
    record = stand_in.record(("<s>", "Other", "</s>"))
    record.save(tmp_path / "other.safetensors")
    page = app("compare", against="run")
    before = answers.results.bytes
    data = (tmp_path / "other.safetensors").read_bytes()
    page.file_uploader(key="_pin_file").set_value(("other.safetensors", data, "application/octet-stream")).run()
    assert released == ["other.safetensors"]
    assert page.session_state["_pinned"] == record
    assert answers.results.bytes == before + record.nbytes
