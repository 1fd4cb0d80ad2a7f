"""The classic view of the page Heads as a script: each kind, the cap in words, odd links, hostile tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bartviz.analysis import start
from bartviz.features.heads import parts_classic as classic
from bartviz.features.heads.figure_classic import offline
from tests.support import stand_in
from tests.support.pages import App
from tests.support.visits import words


def frame(app: AppTest) -> Any:
    found = app.get("iframe")
    assert len(found) == 1
    return found[0].proto


def test_it_begins_with_one_layer_of_cross_attention(app: App) -> None:
    at = app("heads", view="classic")
    assert not at.exception
    layer = start.head_of(stand_in.record(), "cross").layer
    assert f"4 heads of cross layer {layer}" in words(at)
    assert f'"include_layers": [{layer}]' in frame(at).srcdoc


@pytest.mark.parametrize(
    "query",
    [
        {"classic": "neuron", "kind": "sideways", "layer": "99"},
        {"classic": "model view", "kind": "Encoder"},
        {"kind": "Decoder", "reading": "token it reads", "from_row": "-4"},
    ],
)
def test_links_are_followed_within_the_record(app: App, query: dict[str, str]) -> None:
    at = app("heads", view="classic", **query)
    assert not at.exception
    assert frame(at).srcdoc.startswith("<!doctype html>")


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_models_of_one_kind(app: App, kind: Any) -> None:
    record = stand_in.record(kind=kind)
    at = app("heads", view="classic", record=record)
    assert f"of {kind} layer {start.head_of(record, kind).layer}" in words(at)
    assert frame(at).srcdoc


def test_a_long_text_shows_a_part_and_says_which(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offline, "LONGEST", 8)
    at = app("heads", view="classic", kind="Cross", from_column="1")
    assert not at.exception
    assert "Rows 0 to 7 of 9 and columns 1 to 8 of 9 are shown" in words(at)
    at.slider("from_row").set_value(1).run()
    assert "Rows 1 to 8 of 9" in words(at)
    assert app("heads", view="classic", record=stand_in.record(source=("<s>", "I", "</s>"), output=("a", "</s>")))
    short = stand_in.record(source=("<s>", "</s>"), output=("a", "</s>"))
    assert "Rows" not in words(app("heads", view="classic", record=short))


def test_hostile_and_korean_tokens(app: App) -> None:
    record = stand_in.record(source=("<s>", "</script><img src=x onerror=alert(1)>", " 나는", "</s>"))
    at = app("heads", view="classic", record=record)
    assert not at.exception
    assert "<img" not in frame(at).srcdoc
    assert "\\ub098\\ub294" in frame(at).srcdoc


def test_without_bertviz_one_sentence_says_so(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "bertviz", None)
    at = app("heads", view="classic")
    assert not at.exception
    assert "pip install --no-deps bertviz" in at.error[0].value.replace("\\", "")  # written as Markdown


def test_the_drawn_weights_and_the_page_can_be_downloaded(app: App) -> None:
    at = app("heads", view="classic", kind="cross", layer="2")
    assert [button.proto.label for button in at.get("download_button")] == [
        "NPZ",
        "HTML",
        "All heads (CSV)",
        "Page to explore it",
        "Save to open again",
    ]
    cross, rows = stand_in.record().attention("cross"), stand_in.record().attention("cross").query
    window = offline.Window(slice(1, 4), slice(0, 5))
    found = classic.arrays(classic.Chosen("head", cross, rows, 2, window, 64))
    np.testing.assert_array_equal(found["weights"], cross.layer(2)[:, 1:4, :5])
    assert found["rows"].tolist() == list(rows.labels[1:4])
    whole = classic.arrays(classic.Chosen("model", cross, rows, 0, window, 64))
    assert whole["weights"].shape == (3, 4, 3, 5)
