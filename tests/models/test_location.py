"""Where models are looked for."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bartviz.errors import ModelError, SettingError
from bartviz.models import hub, load
from bartviz.models.location import Location, canonical, check_id, find, locate, name_of
from bartviz.models.roots import ROOTS_SETTING, default_roots, fix_roots, listed


def test_models_are_listed_as_load_takes_them(tmp_path: Path) -> None:
    for place in ("one", "group/two", "group/.hidden", "a/b/c/d/deep", "empty"):
        (tmp_path / place).mkdir(parents=True)
    for place in ("one", "group/two", "group/.hidden", "a/b/c/d/deep"):
        (tmp_path / place / "config.json").touch()
    assert listed((tmp_path, tmp_path / "nothing")) == ("group/two", "one")
    assert find("group/two", (tmp_path,)) == (tmp_path / "group" / "two").resolve()


def test_a_location_says_all_that_the_next_stage_needs(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "clf" / "model"
    folder.mkdir(parents=True)
    assert locate("runs/clf/model", roots=(tmp_path,)) == Location("folder", "clf", folder, (tmp_path,))
    assert locate("me/clf", "v2", (tmp_path,)) == Location("hub", "me/clf", revision="v2")
    shipped = locate("bert-tiny-en", roots=(tmp_path,))
    assert (shipped.source, shipped.name, shipped.roots) == ("embedded", "bert-tiny-en", None)
    for name in ("runs/clf/model", "bert-tiny-en"):
        with pytest.raises(ModelError, match="Only models of the hub have revisions"):
            locate(name, "v2", (tmp_path,))


def test_a_name_that_is_no_folder_means_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find("gpt2", None) is None
    (tmp_path / "gpt2").mkdir()  # what exists is never asked of a hub, even if it holds no model
    assert find("gpt2", None) == (tmp_path / "gpt2").resolve()
    assert find("gpt2", ()) is None


def test_a_path_that_exists_is_never_asked_of_a_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "me" / "clf").mkdir(parents=True)
    (tmp_path / "me" / "clf" / "model.safetensors").touch()
    monkeypatch.chdir(tmp_path)
    for roots in (None, (tmp_path,)):
        for name in ("me/clf", "me/clf/", "./me/clf"):
            assert find(name, roots) == tmp_path / "me" / "clf"
        with pytest.raises(ModelError, match="That is a file"):
            find("me/clf/model.safetensors", roots)
    monkeypatch.setattr(hub, "check_reachable", lambda name: pytest.fail("the hub is asked"))
    load.check("me/clf")
    with pytest.raises(ModelError, match="The folder has no config"):
        load.load("me/clf")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("clf", "clf"),
        ("clf/", "clf"),
        ("runs/clf/checkpoint-500", "clf/checkpoint-500"),
        ("runs/clf/model", "clf"),
        ("st/0_Transformer", "st"),
        ("hub/models--me--clf/snapshots/" + "0" * 40, "me/clf"),
        ("hub/models--gpt2/snapshots/" + "a1" * 20, "gpt2"),
        ("clf/" + "0123456789abcdef" * 2, "clf"),
        ("clf/model/checkpoint-2", "clf/checkpoint-2"),
        ("beef", "beef"),
    ],
)
def test_a_model_is_called_by_what_says_which_it_is(path: str, name: str, tmp_path: Path) -> None:
    assert name_of(tmp_path / path) == name


def test_spellings_of_a_folder_are_one_name(tmp_path: Path) -> None:
    (tmp_path / "roots" / "good").mkdir(parents=True)
    roots = (tmp_path / "roots",)
    spellings = ("good", "./good", "good/", "../roots/good", str(tmp_path / "roots" / "good"))
    assert {canonical(name, roots) for name in spellings} == {str(tmp_path / "roots" / "good")}
    for name in ("bert-tiny-en", "owner/other", "../outside", "\0"):
        assert canonical(name, roots) == name


def test_relative_roots_count_from_the_folder_of_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "models" / "mine").mkdir(parents=True)
    (tmp_path / "models" / "mine" / "config.json").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(ROOTS_SETTING, os.pathsep.join(["models", "./models/mine"]))
    assert default_roots() == (tmp_path / "models", tmp_path / "models" / "mine")
    fix_roots()
    monkeypatch.chdir("/")
    assert listed(default_roots()[:1]) == ("mine",)
    for wrong in ("no-such-folder", "models/mine/config.json"):
        monkeypatch.setenv(ROOTS_SETTING, wrong)
        with pytest.raises(SettingError, match="entry 1 is not the path of a readable folder"):
            default_roots()


def test_a_loop_of_links_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(ModelError):
        find(tmp_path / "a", None)


@given(st.text(max_size=120))
def test_no_name_leads_out_of_the_roots(name: str) -> None:
    """Whatever is typed: a hub's name or a refusal without the text; never a folder, since the root is empty."""
    try:
        assert find(name, ("/var/empty-root-of-bartviz",)) is None
        check_id(name)
        said = ""
    except ModelError as error:
        said = str(error)
    if said:
        assert len(name) < 8 or name not in said
    else:
        assert re.fullmatch(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", name, re.ASCII)
        assert ".." not in name
