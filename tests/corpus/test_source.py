"""Texts in memory and models in memory give the atlas that a file and a folder give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pandas.testing import assert_frame_equal

import bartviz
from bartviz.corpus.atlas import Atlas
from bartviz.corpus.source import of_texts
from bartviz.errors import Cancelled, SettingError, TextError
from tests.support import loaded

TEXTS = ["the cat sat", "the dog sat on the mat", "the man and the dog sat on the mat"]
TARGETS = ["the dog", "the cat and the dog", "the mat"]


def same(one: Atlas, two: Atlas) -> None:
    for name in ("heads", "histograms"):
        assert_frame_equal(getattr(one, name), getattr(two, name))
    columns = [name for name in one.examples.columns if name != "file"]
    assert_frame_equal(one.examples[columns], two.examples[columns])


def test_texts_of_a_list_a_generator_and_a_file_give_one_atlas(tmp_path: Path) -> None:
    file, model = tmp_path / "texts.txt", loaded.model("bert")
    file.write_text("\n".join(TEXTS), "utf-8")
    of_file = bartviz.corpus(file, str(loaded.folder() / "bert-0"), tmp_path / "atlas")
    same(of_file, bartviz.corpus(TEXTS, model))
    same(of_file, bartviz.corpus((text for text in TEXTS), model, tmp_path / "second"))
    same(
        of_file, bartviz.corpus(file, bartviz.load(str(loaded.folder() / "bert-0")).network, tokenizer=model.tokenizer)
    )
    assert bartviz.open_atlas(tmp_path / "second").description["texts"] == len(TEXTS)


def test_pairs_are_outputs_of_an_encoder_decoder_as_columns_of_a_table_are(tmp_path: Path) -> None:
    file, model = tmp_path / "pairs.tsv", loaded.model("bart")
    rows = zip(TEXTS, TARGETS, strict=True)
    file.write_text("a\tb\n" + "".join(f"{source}\t{target}\n" for source, target in rows), "utf-8")
    of_file = bartviz.corpus(file, model, columns={"text": "a", "target": "b"}, form={"header": True})
    found = bartviz.corpus(zip(TEXTS, TARGETS, strict=True), model)
    assert_frame_equal(of_file.heads, found.heads)
    assert found.examples["target"].isin(TARGETS).all()


def test_an_atlas_in_memory_is_saved_and_opened(tmp_path: Path) -> None:
    made = bartviz.corpus(TEXTS, loaded.model("bert"))
    made.save(tmp_path / "atlas")
    same(made, bartviz.open_atlas(tmp_path / "atlas"))


def test_a_text_that_cannot_be_used_is_named_and_left_out() -> None:
    made = bartviz.corpus([*TEXTS, " "], loaded.model("bert"))
    assert made.bad[["number", "reason"]].to_numpy().tolist() == [[3, "It has no text."]]
    assert made.description["texts"] == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 2}, "load the model"),
        ({"edges": 0.5}, "name a folder"),
        ({"resume": True}, "name a folder"),
        ({"name": "mine"}, "its name and device"),
        ({"columns": {"text": "a"}}, "of files"),
    ],
)
def test_what_texts_or_models_in_memory_cannot_do_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        bartviz.corpus(TEXTS, loaded.model("bert"), **options)


@pytest.mark.parametrize("texts", [[3], [("a", "b", "c")], [("a", 3)], ["a", None]])
def test_what_is_no_text_is_named(texts: list[Any]) -> None:
    with pytest.raises(TextError, match=f"Text {len(texts)} is neither"):
        of_texts(texts, "encoder")


def test_a_run_ends_when_it_is_asked_to() -> None:
    with pytest.raises(Cancelled):
        bartviz.corpus(TEXTS, loaded.model("bert"), cancelled=lambda: True)


def test_a_text_that_is_repeated_counts_once_where_that_is_asked_for(tmp_path: Path) -> None:
    model = loaded.model("bert")
    repeated = [TEXTS[0], TEXTS[1], TEXTS[0], "", TEXTS[2], TEXTS[1], TEXTS[0]]
    once, right = bartviz.corpus(repeated, model, unique=True), bartviz.corpus(TEXTS, model)
    assert_frame_equal(once.heads, right.heads)
    assert_frame_equal(once.histograms, right.histograms)
    assert (once.description["texts"], once.description["left_out"]) == (3, 1)
    assert (once.description["corpus"]["rows"], once.description["corpus"]["repeated"]) == (7, 3)
    every = bartviz.corpus(repeated, model)
    assert every.description["texts"] == 6
    assert "repeated" not in every.description["corpus"]
    parts = bartviz.corpus(repeated, model, tmp_path / "parts", unique=True, size=2)
    assert_frame_equal(parts.heads, right.heads, atol=1e-4)
    assert bartviz.open_atlas(tmp_path / "parts").description["corpus"]["repeated"] == 3
    with pytest.raises(SettingError, match="settings differ"):
        bartviz.corpus(repeated, model, tmp_path / "parts", size=2, resume=True)


def test_a_text_with_another_output_is_another_text() -> None:
    pairs = [(TEXTS[0], TARGETS[0]), (TEXTS[0], TARGETS[1]), (TEXTS[0], TARGETS[0])]
    found = bartviz.corpus(pairs, loaded.model("bart"), unique=True)
    assert (found.description["texts"], found.description["corpus"]["repeated"]) == (2, 1)
