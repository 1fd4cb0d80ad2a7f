"""Which of a model's files are read, and where models are looked for."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bartviz.errors import ModelError, SettingError
from bartviz.models import folders, hub, load

SHARDS = tuple(f"model-{i:05}-of-00003.safetensors" for i in (1, 2, 3))


def test_one_file_goes_before_shards() -> None:
    assert folders.weight_names(["model.safetensors", *SHARDS, folders.WEIGHTS_INDEX]) == ("model.safetensors",)


def test_shards_come_in_order() -> None:
    assert folders.weight_names([*reversed(SHARDS), folders.WEIGHTS_INDEX]) == SHARDS


@pytest.mark.parametrize("names", [[], SHARDS, ["adapter_model.safetensors"], ["model.safetensors.index.json"]])
def test_weights_that_are_not_whole_are_none(names: list[str]) -> None:
    with pytest.raises(ModelError, match=r"model\.safetensors is missing"):
        folders.weight_names(names)


def test_many_pickles_are_named_shortly() -> None:
    with pytest.raises(ModelError, match=r"a\.bin, b\.bin, c\.bin or 2 more"):
        folders.weight_names(["a.bin", "b.bin", "c.bin", "d.bin", "e.pt"])


@pytest.mark.parametrize(
    ("names", "whole"),
    [
        (["tokenizer.json"], True),
        (["vocab.txt"], True),
        (["vocab.json", "merges.txt"], True),
        (["vocab.json"], False),
        (["source.spm", "target.spm", "vocab.json"], True),
        (["source.spm", "vocab.json"], False),
        (["tokenizer_config.json", "special_tokens_map.json"], False),
        (["spiece.model"], True),
    ],
)
def test_what_makes_a_vocabulary(names: list[str], whole: bool) -> None:
    if whole:
        folders.check_vocabulary(names)
    else:
        with pytest.raises(ModelError, match="no tokenizer"):
            folders.check_vocabulary(names)


def test_models_are_listed_as_load_takes_them(tmp_path: Path) -> None:
    for place in ("one", "group/two", "group/.hidden", "a/b/c/d/deep", "empty"):
        (tmp_path / place).mkdir(parents=True)
    for place in ("one", "group/two", "group/.hidden", "a/b/c/d/deep"):
        (tmp_path / place / "config.json").touch()
    assert folders.listed((tmp_path, tmp_path / "nothing")) == ("group/two", "one")
    assert folders.find("group/two", (tmp_path,)) == (tmp_path / "group" / "two").resolve()


def test_a_name_that_is_no_folder_means_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert folders.find("gpt2", None) is None
    (tmp_path / "gpt2").mkdir()  # what exists is never asked of a hub, even if it holds no model
    assert folders.find("gpt2", None) == (tmp_path / "gpt2").resolve()
    assert folders.find("gpt2", ()) is None


def test_a_path_that_exists_is_never_asked_of_a_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "me" / "clf").mkdir(parents=True)
    (tmp_path / "me" / "clf" / "model.safetensors").touch()
    monkeypatch.chdir(tmp_path)
    for roots in (None, (tmp_path,)):
        for name in ("me/clf", "me/clf/", "./me/clf"):
            assert folders.find(name, roots) == tmp_path / "me" / "clf"
        with pytest.raises(ModelError, match="That is a file"):
            folders.find("me/clf/model.safetensors", roots)
    monkeypatch.setattr(hub, "check_reachable", lambda: pytest.fail("the hub is asked"))
    load.check("me/clf")
    with pytest.raises(ModelError, match="The folder has no config"):
        load.load("me/clf")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            ["adapter_config.json", "adapter_model.safetensors"],
            r"adapter of PEFT.*PeftModel\.from_pretrained.*bartviz\.wrap",
        ),
        (
            ["checkpoint-500/config.json", "checkpoint-90/config.json", "runs/x"],
            "choose checkpoint-500 or checkpoint-90",
        ),
        (["modules.json", "0_Transformer/config.json", "1_Pooling/x.json"], "choose 0_Transformer"),
        (["model.safetensors"], "Choose the folder of a model"),
    ],
)
def test_a_folder_without_a_configuration_says_where_the_model_is(files: list[str], said: str, tmp_path: Path) -> None:
    for name in files:
        (tmp_path / "mine" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mine" / name).touch()
    with pytest.raises(ModelError, match=said):
        folders.contents(tmp_path / "mine")
    assert said.split(maxsplit=1)[0] in str(folders.unfit("mine", (tmp_path,)))


def test_weights_of_another_name_are_named() -> None:
    with pytest.raises(ModelError, match=r"If model\.fp16\.safetensors holds them, give it that name"):
        folders.weight_names(["config.json", "model.fp16.safetensors"])


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
    assert folders.name_of(tmp_path / path) == name


def test_spellings_of_a_folder_are_one_name(tmp_path: Path) -> None:
    (tmp_path / "roots" / "good").mkdir(parents=True)
    roots = (tmp_path / "roots",)
    spellings = ("good", "./good", "good/", "../roots/good", str(tmp_path / "roots" / "good"))
    assert {folders.canonical(name, roots) for name in spellings} == {str(tmp_path / "roots" / "good")}
    for name in ("bert-tiny-en", "owner/other", "../outside", "\0"):
        assert folders.canonical(name, roots) == name


def test_relative_roots_count_from_the_folder_of_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "models" / "mine").mkdir(parents=True)
    (tmp_path / "models" / "mine" / "config.json").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(folders.ROOTS_SETTING, os.pathsep.join(["models", "./models/mine"]))
    assert folders.default_roots() == (tmp_path / "models", tmp_path / "models" / "mine")
    folders.fix_roots()
    monkeypatch.chdir("/")
    assert folders.listed(folders.default_roots()[:1]) == ("mine",)
    for wrong in ("no-such-folder", "models/mine/config.json"):
        monkeypatch.setenv(folders.ROOTS_SETTING, wrong)
        with pytest.raises(SettingError, match="entry 1 is not the path of a readable folder"):
            folders.default_roots()


def test_a_loop_of_links_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(ModelError):
        folders.find(tmp_path / "a", None)


@given(st.text(max_size=120))
def test_no_name_leads_out_of_the_roots(name: str) -> None:
    """Whatever is typed: a hub's name or a refusal without the text; never a folder, since the root is empty."""
    try:
        assert folders.find(name, ("/var/empty-root-of-bartviz",)) is None
        hub.check_name(name)
        said = ""
    except ModelError as error:
        said = str(error)
    if said:
        assert len(name) < 8 or name not in said
    else:
        assert re.fullmatch(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", name, re.ASCII)
        assert ".." not in name


BERT = '{"model_type": "bert"}'


@pytest.mark.parametrize(
    ("config", "files", "reason"),
    [
        ('{"model_type": "no-such-family"}', ["model.safetensors", "tokenizer.json"], "model_type must be"),
        ("{", ["model.safetensors", "tokenizer.json"], "config.json"),
        (BERT, ["pytorch_model.bin", "tokenizer.json"], "no safetensors weights"),
        (BERT, ["tokenizer.json"], "model.safetensors is missing"),
        (BERT, ["model.safetensors"], "no tokenizer"),
        (BERT, ["model.safetensors", "tokenizer.json"], None),
    ],
)
def test_a_folder_that_cannot_be_opened_has_its_reason(
    tmp_path: Path, config: str, files: list[str], reason: str | None
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "config.json").write_text(config)
    for name in files:
        (tmp_path / "mine" / name).touch()
    found = folders.unfit("mine", (tmp_path,))
    assert (found is None) == (reason is None)
    assert reason is None or reason in str(found)
    assert folders.unfit("no-folder", (tmp_path,)) is None
