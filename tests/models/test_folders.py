"""Which of a model's files are read, and where models are looked for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bartviz.errors import ModelError
from bartviz.models import folders, hub

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
    (tmp_path / "gpt2").mkdir()  # holds no model
    assert folders.find("gpt2", None) is None
    (tmp_path / "gpt2" / "config.json").touch()
    assert folders.find("gpt2", None) == (tmp_path / "gpt2").resolve()
    assert folders.find("gpt2", ()) is None


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
