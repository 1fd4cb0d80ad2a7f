"""The same text in both models: the visitor's own run on its side, the other computed, and a map of each."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bartviz.analysis import matching_heads
from bartviz.app.controls import tasks
from bartviz.browser.canvas.data import decode
from bartviz.families.family import ModelKind
from bartviz.features.side import parts
from bartviz.record.record import Record
from tests.support import stand_in, visits
from tests.support.pages import App

OTHERS: dict[ModelKind, ModelKind] = {"encoder": "encoder-decoder", "encoder-decoder": "encoder"}

SIDES = ("left", "right")  # BERT, BART


def squares(page: AppTest) -> list[list[str]]:
    """The kinds of attention whose masks are drawn, by side."""
    drawn = [html.proto.body for html in page.get("html") if "<div class='bv-mask-squares'>" in html.proto.body]
    return [[kind for kind in ("encoder", "decoder", "cross") if f"data-kind='{kind}'" in body] for body in drawn]


def made(kind: ModelKind) -> Record:
    record = stand_in.record(kind=kind)
    family = "bert" if kind == "encoder" else "bart"
    return replace(record, model=replace(record.model, name=parts.MODELS[kind], family=family))


@pytest.mark.parametrize("own", OTHERS)
def test_the_other_model_reads_the_same_text(app: App, own: ModelKind, monkeypatch: pytest.MonkeyPatch) -> None:
    record, asked = made(own), []

    def ask(_name: str, model: str, key: dict[str, object], *_: object) -> Record:
        asked.append((model, key["text"]))
        return made(OTHERS[own])

    monkeypatch.setattr(tasks, "ask", ask)
    page = app("side", record=record)
    assert not page.exception
    assert asked == [(parts.MODELS[OTHERS[own]], record.source_text)]
    assert [name for name in parts.MODELS.values() if f"{name}</h3>" in visits.words(page)] == list(
        parts.MODELS.values()
    )
    assert squares(page) == [["encoder"], ["encoder", "decoder", "cross"]]
    shown = [
        f"{page.selectbox(key=side).value} of {name}" for side, name in zip(SIDES, parts.MODELS.values(), strict=True)
    ]
    assert f"Of all their heads, these two look at the text most alike: {' and '.join(shown)}." in visits.words(page)
    assert "BART also has a decoder, which writes." in visits.words(page)
    page.selectbox(key="left").select_index(2).run()
    assert not page.exception
    assert page.session_state["left"] == "encoder L0H2"


def test_the_choice_of_a_head_says_what_the_head_does(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "ask", lambda *_: None)
    record = made("encoder")
    assert record.encoder is not None
    before = np.broadcast_to(100 * np.eye(len(record.source), k=-1, dtype=np.float32), record.encoder.shape[1:])
    page = app("side", record=replace(record, encoder=replace(record.encoder, bias=before)))
    assert page.selectbox(key="left").options[1] == "encoder L0H1 · previous token"
    assert "Coloured cells show where a word may look." in visits.words(page)


def test_each_map_leaves_room_for_the_labels_of_the_other(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "ask", lambda *_: made("encoder-decoder"))
    page = app("side", record=made("encoder"))
    found = [part.proto for part in page.get("bidi_component") if part.proto.component_name == "bartviz.canvas"]
    left, right = (decode(proto.bytes)[0] for proto in found)
    assert (left["beside"], right["beside"]) == (right["query"], left["query"])


def test_a_head_that_was_chosen_on_another_page_is_kept(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until then the two heads are shown that are most alike, whichever they are."""
    monkeypatch.setattr(tasks, "ask", lambda *_: made("encoder-decoder"))
    record = made("encoder")
    page = app("side", record=record)
    best = matching_heads.match(record, made("encoder-decoder"))
    assert best is not None
    assert page.selectbox(key="left").value == str(best.first)
    assert page.selectbox(key="right").value == str(best.second)
    kept = app("heads", record=record, kind="encoder", layer="1", head="1")
    kept.query_params.clear()
    kept.switch_page("pages/side.py").run()
    assert kept.selectbox(key="left").value == "encoder L1H1"
    assert "You have looked at encoder L1H1 of bert-tiny-en; the head most like it is" in visits.words(kept)


def test_until_the_other_is_there_one_side_is_shown(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "ask", lambda *_: None)
    page = app("side", record=made("encoder"))
    assert not page.exception
    assert squares(page) == [["encoder"]]
    assert "Of all their heads" not in visits.words(page)


def test_models_that_read_other_words_are_shown_without_a_comparison(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "ask", lambda *_: stand_in.record(source=["<s>", "Other", " words", " here", "</s>"]))
    page = app("side", record=made("encoder"))
    assert not page.exception
    assert "They do not read the same words here" in visits.words(page)
    assert len(squares(page)) == 2


def test_maps_are_small_where_the_words_are_few() -> None:
    few = ["<s>", *(f" w{number}" for number in range(parts.SHORT - 2)), "</s>"]
    assert parts.is_short(stand_in.record(source=few))
    assert not parts.is_short(stand_in.record(source=[*few[:-1], " more", "</s>"]))


@pytest.mark.parametrize(
    ("kind", "family", "said"),
    [
        ("encoder", "roberta", "BART"),
        ("encoder-decoder", "t5", "T5"),
        ("encoder-decoder", "bert", "own"),
        ("decoder", "gpt2", "BART"),
    ],
)
def test_the_one_that_writes_is_called_by_its_family_where_the_two_differ(
    kind: ModelKind, family: str, said: str
) -> None:
    model = SimpleNamespace(kind=kind, family=family, name="own")
    assert parts.writer(cast("Record", SimpleNamespace(model=model))) == said
