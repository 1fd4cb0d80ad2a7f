"""The frame by AppTest: every page with its title and status, empty and refused states, invalid links."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import bartviz
from bartviz.app.frame import app_folder, page, page_list
from bartviz.app.frame.status import facts, names, self_check
from bartviz.app.state import session
from bartviz.record.record import Provenance, Record
from bartviz.serving import torch_import
from tests.support import stand_in
from tests.support.pages import App
from tests.support.visits import words

WORDS = [entry.word for entry in page_list.PAGES]


def test_each_page_has_its_file() -> None:
    assert WORDS[0] == "start"
    assert len(set(WORDS)) == len(WORDS)
    assert [entry.word for entry in page_list.PAGES if not entry.file.is_file()] == []


@pytest.mark.parametrize("word", [file.parent.name for file in app_folder.ROOT.glob("bartviz/features/*/page.py")])
def test_a_feature_has_a_line_in_the_menu_and_tests(word: str) -> None:
    assert page_list.has(word), f"{page_list.__file__} has no Page for {word}"
    assert page_list.page(word).file.is_file()
    assert [*app_folder.ROOT.glob(f"tests/features/{word}/test_*.py")]
    assert all((app_folder.ROOT / top / "features" / word / "__init__.py").is_file() for top in ("bartviz", "tests"))


def test_every_page_is_in_the_menu(app: App) -> None:
    """The teacher who looks for BERT beside BART is a beginner of the app: at the first level, too."""
    shown = app("start", level="beginner")
    _language, sections = shown.session_state["_pages"]
    visible = [entry.title for pages in sections.values() for entry in pages if entry.visibility == "visible"]
    assert visible == [entry.label for entry in page_list.PAGES]


@pytest.mark.parametrize("entry", page_list.PAGES[1:], ids=WORDS[1:])  # the address of the start page is empty
def test_the_address_the_label_and_the_title_of_a_page_share_a_word(entry: page_list.Page) -> None:
    shared = entry.word.removesuffix("s")
    assert shared in entry.label.lower()
    assert shared in entry.title.lower()


@pytest.mark.slow
@pytest.mark.parametrize("word", WORDS)
def test_each_page_shows_its_question_and_the_status_of_the_record(app: App, word: str) -> None:
    shown = app(word)
    assert not shown.exception
    assert [title.value for title in shown.title] == [page_list.page(word).title]
    assert ("<p>9 tokens in, 9 out · 0.12 s" in words(shown)) == page_list.page(word).run


def test_the_pages_that_need_a_record_offer_the_next_action_without_one(app: App) -> None:
    shown = app("decoding", record=None)
    assert not shown.exception
    assert [info.value for info in shown.info] == [
        "Type a text in the sidebar (on a phone: Menu) and press Run, or start with an example."
    ]


class Running:
    """A run that goes on: each look finds it one token further."""

    finished, state, position, due = False, "running", 0, 0.0

    def __init__(self) -> None:
        self.tokens = 0

    @property
    def progress(self) -> tuple[str, float]:
        self.tokens += 1
        return f"token {self.tokens}", 0.5

    def wait(self, _seconds: float | None = None) -> bool:
        return False

    def retry(self) -> None:
        pass

    cancel = retry


def test_a_run_that_is_followed_after_it_was_watched_is_drawn_whole(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that the script run sends waits to be sent, as on a busy server."""
    monkeypatch.setattr(session, "awaits_link", lambda: True)
    run = Running()
    monkeypatch.setattr(session, "running", lambda: run)
    monkeypatch.setattr(torch_import, "imported", lambda: True)
    monkeypatch.setattr(page, "PATIENCE", 0.05)
    shown = app("heads", record=None)
    assert not shown.exception
    assert len(shown.get("progress")) == 1
    assert [button.key for button in shown.button if str(button.key).startswith("cancel")] == ["cancel"]


def test_the_picture_of_the_last_run_is_pale_while_another_goes_on(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "bv-waits" not in words(app("start"))
    run = Running()
    monkeypatch.setattr(session, "running", lambda: run)
    assert "<i class='bv-waits'></i>" in words(app("start"))


def test_an_untrained_network_is_marked_in_a_large_font(app: App) -> None:
    said = words(app(record=stand_in.record(trained=False)))
    assert "<p class='bv-untrained'>looks untrained: all normalisation gains are still about 1</p>" in said
    assert "random weights" not in said  # which the gains alone do not show
    assert "<p class='bv-untrained'>" not in words(app(record=stand_in.record(trained=True)))


@pytest.mark.parametrize(
    ("chosen", "source", "same"),
    [
        ("bart", "folder", True),
        ("team/bart", "folder", True),
        ("/models/team/bart", "folder", True),
        ("team/bart", "hub", False),
        ("bert", "folder", False),
        ("/models/bart/model", "folder", True),
    ],
)
def test_a_model_in_a_folder_is_called_by_the_folder(chosen: str, source: Literal["folder", "hub"], same: bool) -> None:
    assert names(chosen, replace(stand_in.record().model, name="bart", source=source)) is same


def test_the_checkpoint_of_a_training_is_its_own_model() -> None:
    model = replace(stand_in.record().model, name="clf/checkpoint-75", source="folder")
    assert names("/models/clf/checkpoint-75", model)
    assert not names("/models/clf/checkpoint-50", model)


def test_notices_and_names_are_taken_literally(app: App) -> None:
    record = stand_in.record()
    record = replace(
        record, model=replace(record.model, name="<img src=x>"), provenance=Provenance(notices=("<b>cut</b>",))
    )
    shown = words(app(record=record))
    assert "<b>&lt;img src=x&gt;</b>" in shown
    assert "&lt;b&gt;cut&lt;/b&gt;" in shown
    assert "<img" not in shown


@pytest.mark.slow
def test_the_self_check_in_one_line(record: Record, tmp_path: Path) -> None:
    assert self_check(record) == "not checked: nothing to compare with"
    model = bartviz.load("bart-tiny-en-de")
    real = bartviz.capture(model, "I want to buy a car.")
    assert self_check(real) == "checked when it was made: all 12 attention layers, one head in each"
    whole = bartviz.capture(model, "I want to buy a car.", values=True)
    assert self_check(whole) == "checked when it was made: all 12 attention layers, every head"
    sample = whole.attention("cross").sample
    assert sample is not None
    fewer = replace(sample, heads=sample.heads[:, :1], output=sample.output[:, :1])
    partly = replace(whole, cross=replace(whole.attention("cross"), sample=fewer))
    assert self_check(partly) == "checked when it was made: all 12 attention layers, one head in each"
    long = bartviz.capture(model, "I want to buy a car. " * 14, target="Ich will ein Auto kaufen.")
    rows = len(long.source)
    assert (
        self_check(long) == f"checked when it was made: all 12 attention layers, one head and 64 of {rows} rows in each"
    )
    real.save(tmp_path / "x.safetensors")
    again = bartviz.open(tmp_path / "x.safetensors")
    said = "checked when it was opened: all 12 attention layers, one head in each; unchanged since it was saved"
    assert self_check(again) == said
    data = bytearray((tmp_path / "x.safetensors").read_bytes())
    data[-1] ^= 1
    changed = bartviz.open(bytes(data), allow_unsound=True)
    assert self_check(changed).endswith("FAILED: file (changed after it was saved)")
    cross = real.attention("cross")
    bad = replace(real, cross=replace(cross, q=np.flip(cross.queries, axis=0)))
    assert self_check(bad).startswith("FAILED: cross the kernel's output (")


def test_the_facts_of_a_record(record: Record) -> None:
    encoder = stand_in.record(kind="encoder")
    assert facts(encoder)[0] == "9 tokens"
    assert facts(stand_in.record(("Hi",)))[0] == "1 token in, 9 out"
    assert facts(record)[2] == f"{record.nbytes / 1e6:.1f} MB in memory"


@pytest.mark.some("heads", "abc")
@pytest.mark.parametrize("value", ["-1", "99", "abc", "1e9", "inf", "", "x" * 5000])
@pytest.mark.parametrize("word", ["heads", "decoding", "masks"])
def test_an_invalid_link_is_clamped(app: App, word: str, value: str) -> None:
    shown = app(word, layer=value, head=value, kind=value, row=value, step=value, reading=value, words=value)
    assert not shown.exception


def test_the_registry_names_a_page_once_and_refuses_others() -> None:
    assert page_list.page("start").file == app_folder.ROOT / "pages" / "start.py"
    assert page_list.has("start")
    assert not page_list.has("nowhere")
    with pytest.raises(KeyError):
        page_list.page("nowhere")


def test_odd_tokens_are_shown_as_they_are(app: App) -> None:
    odd = ("<s>", "</script><script>alert(1)</script>", " **b**", " ![a](http://x.example/a.png)", " %{z}", "</s>")
    shown = app(record=stand_in.record(source=odd, output=odd))
    assert not shown.exception
    for element in (*shown.markdown, *shown.caption, *shown.info):
        assert "x.example" not in element.value
