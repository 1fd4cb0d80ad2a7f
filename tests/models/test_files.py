"""Which of a model's files are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from bartviz.errors import ModelError
from bartviz.models.files import WEIGHTS_INDEX, Files, check_vocabulary, is_complete, unfit, weight_names
from bartviz.models.hub import File, Needed

SHARDS = tuple(f"model-{i:05}-of-00003.safetensors" for i in (1, 2, 3))


def test_one_file_goes_before_shards() -> None:
    assert weight_names(["model.safetensors", *SHARDS, WEIGHTS_INDEX]) == ("model.safetensors",)


def test_shards_come_in_order() -> None:
    assert weight_names([*reversed(SHARDS), WEIGHTS_INDEX]) == SHARDS


@pytest.mark.parametrize("names", [[], SHARDS, ["adapter_model.safetensors"], ["model.safetensors.index.json"]])
def test_weights_that_are_not_whole_are_none(names: list[str]) -> None:
    with pytest.raises(ModelError, match=r"model\.safetensors is missing"):
        weight_names(names)


def test_many_pickles_are_named_shortly() -> None:
    with pytest.raises(ModelError, match=r"a\.bin, b\.bin, c\.bin or 2 more"):
        weight_names(["a.bin", "b.bin", "c.bin", "d.bin", "e.pt"])


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
        check_vocabulary(names)
    else:
        with pytest.raises(ModelError, match="no tokenizer"):
            check_vocabulary(names)


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
        Files.of(tmp_path / "mine")
    assert said.split(maxsplit=1)[0] in str(unfit("mine", (tmp_path,)))


def test_weights_of_another_name_are_named() -> None:
    with pytest.raises(ModelError, match=r"If model\.fp16\.safetensors contains them, rename it"):
        weight_names(["config.json", "model.fp16.safetensors"])


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
    found = unfit("mine", (tmp_path,))
    assert (found is None) == (reason is None)
    assert reason is None or reason in str(found)
    assert unfit("no-folder", (tmp_path,)) is None


def test_a_listing_says_what_is_downloaded_and_in_which_order() -> None:
    names = ["README.md", *reversed(SHARDS), "vocab.txt", "tf_model.h5", WEIGHTS_INDEX, "config.json"]
    files = {name: File(name, 1, "0" * 40, "") for name in names}
    needed = Needed.of("1" * 40, files)
    small = ("config.json", WEIGHTS_INDEX, "vocab.txt")
    assert needed == Needed("1" * 40, tuple(files[name] for name in small), tuple(files[name] for name in SHARDS))
    with pytest.raises(ModelError, match="no tokenizer"):
        Needed.of("1" * 40, {name: file for name, file in files.items() if name != "vocab.txt"})


def test_files_know_that_one_of_them_was_replaced(tmp_path: Path) -> None:
    for name in ("config.json", "notes.txt"):
        (tmp_path / name).write_text("{}")
    files = Files.of(tmp_path)
    (tmp_path / "notes.txt").write_text("{ }")  # no part of the model
    assert not files.changed()
    (tmp_path / "config.json").write_text("{ }")
    assert files.changed()


def test_a_download_is_complete_with_its_last_shard(tmp_path: Path) -> None:
    for name in ("config.json", "vocab.txt", WEIGHTS_INDEX, *SHARDS[:2]):
        (tmp_path / name).touch()
    assert not is_complete(tmp_path)
    (tmp_path / SHARDS[2]).touch()
    assert is_complete(tmp_path)
    assert not is_complete(tmp_path / "nothing")
