"""Reading the corpus, and the lines that are left out."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from training import corpus


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [
        "split\ten\tde",
        "train\tHi.\tHallo!",
        "train\tHi.\tGrüß Gott!",
        "valid\tGo.\tGeh.",
        "train\tKill him.\tTöte ihn.",
    ]
    with gzip.open(tmp_path / corpus.PAIRS_FILE, "wt", encoding="utf-8") as file:
        file.write("\n".join(rows) + "\n")
    paragraphs = [f"One {i}.\nTwo {i}.\nThree {i}." for i in range(41)]
    with gzip.open(tmp_path / corpus.TALES_FILE, "wt", encoding="utf-8") as file:
        file.write("\n\n".join(paragraphs) + "\n")
    return tmp_path


def test_splits_are_kept_apart_and_unfit_rows_left_out(folder: Path) -> None:
    assert [pair.de for pair in corpus.pairs(folder, "train")] == ["Hallo!", "Grüß Gott!"]
    assert len(corpus.pairs(folder, "train", all_rows=True)) == 3
    assert corpus.pairs(folder, "valid") == [corpus.Pair("Go.", "Geh.")]
    with pytest.raises(ValueError, match="choose one of train, valid, test"):
        corpus.pairs(folder, "dev")


def test_a_sentence_has_all_its_references(folder: Path) -> None:
    assert corpus.references(corpus.pairs(folder, "train")) == {"Hi.": ["Hallo!", "Grüß Gott!"]}


@pytest.mark.parametrize(
    "text",
    [
        "The table is stable.",
        "It is a skill.",
        "Es ist leicht.",
        "Assess it.",
        "Essex",
        "the butter",
        "I assume so.",
        "the peacock",
        "Die Nudeln sind gar.",
    ],
)
def test_harmless_words_pass(text: str) -> None:
    assert corpus.is_fit(text)


@pytest.mark.parametrize(
    "text",
    ["He was KILLED.", "Er hat ihn getötet.", "a naked man", "Mörder!", "a dumb idiot", "Go to hell!", "ass", "a nude"],
)
def test_unfit_words_do_not(text: str) -> None:
    assert not corpus.is_fit(text)


def test_a_word_is_unfit_in_its_own_language() -> None:
    assert corpus.is_fit("Der Mond ist hell.", "de")
    assert not corpus.is_fit("War is hell.")


def test_every_twentieth_paragraph_is_held_out(folder: Path) -> None:
    held, rest = corpus.tales(folder, held_out=True), corpus.tales(folder, held_out=False)
    assert [p[0] for p in held] == ["One 0.", "One 20.", "One 40."]
    assert len(rest) == 38
    assert "One 1. Two 1." in corpus.passages(rest)
    assert all(text.count(".") > 1 for text in corpus.passages(rest))


def test_paraphrases_share_a_translation() -> None:
    rows = [corpus.Pair("Hi.", "Hallo!"), corpus.Pair("Hello!", "Hallo!"), corpus.Pair("Go.", "Geh.")]
    assert corpus.paraphrases(rows) == [("Hi.", "Hello!")]


def test_a_folder_without_the_corpus_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BARTVIZ_CORPUS", raising=False)
    with pytest.raises(SystemExit, match="BARTVIZ_CORPUS"):
        corpus.folder(str(tmp_path))
