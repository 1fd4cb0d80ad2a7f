"""The replay on the page: what the browser is given, a file of one's own, and a file that is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bartviz.app.controls import export
from bartviz.browser.replay import messages
from bartviz.corpus import replay
from bartviz.explorer import replayed as one_file
from bartviz.features.born import parts_replay
from tests.features.born.trained import STEPS, replayed
from tests.support import node
from tests.support.pages import App
from tests.support.visits import words


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return replayed(tmp_path_factory.mktemp("trained"))


def given(page: AppTest) -> list[bytes]:
    """What the component was given, if it is there."""
    assert not page.exception
    parts = [part for part in page.get("bidi_component") if part.proto.component_name == "bartviz.replay"]
    return [part.proto.bytes for part in parts]


def described(data: bytes) -> dict[str, Any]:
    about: dict[str, Any] = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])
    return about


def test_without_a_replay_there_is_none(app: App, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(parts_replay, "SHIPPED", tmp_path / "none")
    assert given(app("born", level="expert")) == []


def test_the_replay_of_the_setting_is_shown_with_its_words(
    app: App, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(replay.SETTING, str(file))
    (data,) = given(app("born", level="beginner"))
    about = described(data)
    assert about["steps"] == [*STEPS]
    assert set(about["words"]) == set(messages.WORDS)
    assert set(about["named"]) == set(about["stops"]) == set(about["kinds"]) == {"encoder", "decoder", "cross"}
    assert {name for known in about["kinds"].values() for name in known["measures"]} <= set(about["measures"])
    arrays = sum(int(np.prod(shape)) for _, *shape in about["arrays"])
    assert len(data) == 4 + int.from_bytes(data[:4], "little") + arrays


def test_the_last_moment_is_placed_within_the_whole_training(app: App) -> None:
    found = replay.open_replay(replay.SHIPPED)
    last, whole = found.steps[-1], found.about["whole"]
    said = words(app("born", level="intermediate"))
    assert f"step {last:,} of the {whole:,} that were planned ({last / whole:.0%})" in said


def test_the_replay_that_ships_is_folded_for_beginners(app: App) -> None:
    page = app("born", level="beginner")
    assert not page.exception
    assert given(page) == []
    assert "More: how a translator learned, moment by moment" in [one.label for one in page.expander]


def test_a_file_of_ones_own_is_shown_instead(app: App, file: Path) -> None:
    page = app("born", level="expert")
    page = page.file_uploader(key="file").upload(file.name, file.read_bytes()).run()
    (data,) = given(page)
    assert described(data)["steps"] == [*STEPS]


def test_the_training_is_saved_as_a_page_and_to_be_opened_again(app: App) -> None:
    found = replay.open_replay(replay.SHIPPED)
    page = app("born", level="expert")
    offered = {button.proto.id.split("-")[-1]: button for button in page.get("download_button")}
    assert {*offered} == {"training_html", "training_zip"}
    files = [file for part in page.session_state[export._OFFERED].values() for file in part.files]
    assert [file.make() for file in files] == [one_file.page(found), found.pack()]


def test_scripts() -> None:
    node.run_tests(Path(__file__).with_name("moments.test.mjs"))
