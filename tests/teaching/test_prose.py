"""A file's sections, and which language they are read in."""

from __future__ import annotations

from pathlib import Path

import pytest

from bartviz.language import PSEUDO, speaking
from bartviz.teaching import prose

ENGLISH = "## see\n\nLook *here*.\n\n## terms\n\nrow, key\n\n## ask\n\nWhere?\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.en.md").write_text(ENGLISH, "utf-8")
    (tmp_path / "a.ko.md").write_text("## see <!-- of 1a2b3c4d -->\n\n여기를 *보세요*.\n", "utf-8")
    return tmp_path


def test_a_section_that_is_not_translated_is_english(folder: Path) -> None:
    assert prose.texts(folder, "a") == {"see": "Look *here*.", "terms": "row, key", "ask": "Where?"}
    with speaking("ko"):
        assert prose.texts(folder, "a") == {"see": "여기를 *보세요*.", "terms": "row, key", "ask": "Where?"}
    with speaking(PSEUDO):
        assert prose.texts(folder, "a") == {"see": "⟦Look *here*.⟧", "terms": "row, key", "ask": "⟦Where?⟧"}


def test_a_translation_says_what_it_translates(folder: Path) -> None:
    assert prose.sections(folder / "a.ko.md") == {"see": prose.Section("여기를 *보세요*.", "1a2b3c4d")}


@pytest.mark.parametrize("text", ["## a\n\none\n\n## a\n\ntwo\n", "lost\n\n## a\n\none\n"])
def test_a_file_that_would_lose_a_text_is_refused(folder: Path, text: str) -> None:
    (folder / "b.en.md").write_text(text, "utf-8")
    with pytest.raises(ValueError, match=r"b\.en\.md"):
        prose.sections(folder / "b.en.md")


def test_a_file_is_read_once(folder: Path) -> None:
    first = prose.texts(folder, "a")
    (folder / "a.en.md").unlink()
    assert prose.texts(folder, "a") == first


def test_a_paragraph_is_one_line(folder: Path) -> None:
    (folder / "b.en.md").write_text("## 1\n\nLook\nhere.\n\nWhere?\n", "utf-8")
    assert prose.paragraphs(folder, "b", "1") == ["Look here.", "Where?"]
    with speaking(PSEUDO):
        assert prose.paragraphs(folder, "b", "1") == ["⟦Look here.⟧", "⟦Where?⟧"]


def test_a_digest_is_of_the_words() -> None:
    assert prose.digest("one\ntwo") == prose.digest("one two") != prose.digest("one, two")
    assert len(prose.digest("")) == 8
