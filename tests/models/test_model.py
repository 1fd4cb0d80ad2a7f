"""Loading a model: what is read, what is validated, and the errors for broken or hostile models."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import threading
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

import bartviz
from bartviz.errors import BartvizError, BudgetError, Cancelled, ModelError
from bartviz.models import build, checkpoint, roots, tokenizer, weights
from bartviz.models.files import Files
from bartviz.models.load import load
from bartviz.models.location import embedded
from bartviz.tape import tape
from bartviz.tape.tape import Tape, recording
from tests.support import networks

Spoil = Callable[[Path], object]


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of a small BART and a small BERT, as transformers saves them; not to be changed."""
    root = tmp_path_factory.mktemp("models")
    networks.save("bart", root / "bart", trained=True)
    networks.save("bert-pretraining", root / "bert", trained=True)
    return root


@pytest.fixture
def bart(saved: Path, tmp_path: Path) -> Path:
    """A folder of our own, to be spoiled."""
    return Path(shutil.copytree(saved / "bart", tmp_path / "bart"))


@pytest.fixture
def bert(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved / "bert", tmp_path / "bert"))


def rewrite(folder: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    """Change the tensors of a folder's weights."""
    path = folder / "model.safetensors"
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, path, metadata={"format": "pt"})


def refused(folder: Path, **options: object) -> str:
    """The words with which this folder is refused; they name no path."""
    with pytest.raises(ModelError) as caught:
        load(folder, **options)  # type: ignore[arg-type]
    assert str(folder) not in str(caught.value)
    assert "Traceback" not in str(caught.value)
    return str(caught.value)


@pytest.mark.slow
@pytest.mark.some
@pytest.mark.parametrize("family", networks.FAMILIES)
def test_every_family_comes_back_as_it_was_saved(family: str, tmp_path: Path) -> None:
    network, words = networks.build(family, seed=3, trained=True)
    model = load(networks.save(family, tmp_path, seed=3, trained=True))
    assert not model.network.training
    assert model.network.config._attn_implementation == tape.IMPLEMENTATION
    assert type(model.network) is type(network)
    loaded = model.network.state_dict()
    for name, value in network.state_dict().items():
        assert torch.equal(loaded[name], value), name
    assert {part.dtype for part in model.network.parameters()} == {torch.float32}
    assert model.tokenizer(networks.PROBE)["input_ids"] == words(networks.PROBE)["input_ids"]
    assert model.info.trained
    assert model.info.parameters == sum(part.numel() for part in network.parameters())
    assert model.nbytes == build.predicted_bytes(checkpoint.sanitise(model.config.to_dict()))
    marian = family == "marian" and find_spec("sacremoses") is None
    assert bool(model.notices) == (marian or model.info.like is not None)
    assert not model.stale()


def test_info_lists_encoder_and_decoder_separately(saved: Path) -> None:
    info = load(saved / "bart").info
    assert (info.name, info.source, info.family, info.kind) == ("bart", "folder", "bart", "encoder-decoder")
    assert (info.encoder_layers, info.encoder_heads, info.decoder_layers, info.decoder_heads) == (3, 4, 2, 2)
    assert (info.width, info.positions, info.architecture) == (32, 128, "BartForConditionalGeneration")
    bert = load(saved / "bert").info
    assert (bert.encoder_layers, bert.decoder_layers, bert.kind) == (3, 0, "encoder")


@pytest.mark.parametrize(("family", "positions"), [("roberta", 126), ("t5", None), ("gpt2", 128), ("marian", 128)])
def test_positions_are_what_a_text_may_have(family: str, positions: int | None, tmp_path: Path) -> None:
    """RoBERTa leaves two rows of its table unused; T5's relative positions have no end."""
    assert load(networks.save(family, tmp_path)).info.positions == positions


def test_float16_on_disk_is_float32_in_memory(tmp_path: Path) -> None:
    folder = networks.save("bart", tmp_path, half=True)
    assert "float16" in (folder / "config.json").read_text()
    model = load(folder)
    assert {part.dtype for part in model.network.parameters()} == {torch.float32}
    half, _ = networks.build("bart")
    assert torch.equal(model.network.model.shared.weight, half.model.shared.weight.half().float())
    assert any("float32" in notice for notice in model.notices)


@pytest.mark.slow
def test_sharded_weights_are_read_whole(tmp_path: Path, saved: Path) -> None:
    folder = networks.save("bart", tmp_path, trained=True, shard="100KB")
    assert len(list(folder.glob("model-*.safetensors"))) > 1
    whole, parts = load(saved / "bart"), load(folder)
    for name, value in whole.network.state_dict().items():
        assert torch.equal(parts.network.state_dict()[name], value)


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    folder = networks.save("bart", tmp_path, shard="100KB")
    last = sorted(folder.glob("model-*.safetensors"))[-1]
    last.unlink()
    assert last.name in refused(folder)


def test_an_index_that_names_other_files_is_refused(tmp_path: Path) -> None:
    folder = networks.save("bart", tmp_path, shard="100KB")
    index = folder / "model.safetensors.index.json"
    value = json.loads(index.read_text())
    value["weight_map"]["lm_head.weight"] = "../../secret.safetensors"
    index.write_text(json.dumps(value))
    assert "not shards" in refused(folder)


def test_sentencepiece_without_tokenizer_json_works(tmp_path: Path) -> None:
    folder = networks.save("t5", tmp_path / "model", vocab_size=300)
    (folder / "tokenizer.json").unlink()
    networks.sentence_pieces(folder, "spiece.model", pad=0, end=1, unknown=2)
    words = load(folder).tokenizer
    assert words.decode(words("The cat is sleeping.")["input_ids"], skip_special_tokens=True) == "The cat is sleeping."


@pytest.mark.slow
def test_marian_tokenizer_survives_a_copy(tmp_path: Path) -> None:
    """It opens its SentencePiece files again; our temporary copies of them are gone by then."""
    import copy
    import warnings

    model = load(networks.save("marian", tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        twin = copy.deepcopy(model.tokenizer)
    assert twin("I want to buy a car.") == model.tokenizer("I want to buy a car.")


def test_loading_prints_nothing(saved: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """transformers prints bars and reports to stderr; a page or a pipe must not get them. Its settings stay as set."""
    logs = transformers.utils.logging
    level = logs.get_verbosity()
    logs.enable_progress_bar()
    logs.set_verbosity_info()
    try:
        load(saved / "bert")
        assert tuple(capfd.readouterr()) == ("", "")
        assert logs.is_progress_bar_enabled()
        assert logs.get_verbosity() == logs.INFO
    finally:
        logs.disable_progress_bar()
        logs.set_verbosity(level)


# What a model's files come to when somebody has been at them ----------------------------------------------------------

CONFIGS: dict[str, tuple[Spoil, str]] = {
    "missing": (lambda f: (f / "config.json").unlink(), "config.json"),
    "cut off": (lambda f: (f / "config.json").write_text('{"model_type": "ba'), "config.json"),
    "empty": (lambda f: (f / "config.json").write_bytes(b""), "config.json"),
    "a list": (lambda f: (f / "config.json").write_text("[1, 2]"), "config.json"),
    "not UTF-8": (lambda f: (f / "config.json").write_bytes(b"\xff\xfe{}"), "config.json"),
    "nested": (lambda f: (f / "config.json").write_text('{"a":' * 100_000), "config.json"),
    "no type": (lambda f: networks.edit(f, model_type=...), "model_type"),
    "heads = 0": (lambda f: networks.edit(f, encoder_attention_heads=0), "encoder_attention_heads"),
    "layers = -1": (lambda f: networks.edit(f, encoder_layers=-1), "encoder_layers"),
    "20,000 layers": (lambda f: networks.edit(f, decoder_layers=20_000), "decoder_layers"),
    "vocabulary 1e9": (lambda f: networks.edit(f, vocab_size=10**9), "vocab_size"),
    "text for a number": (lambda f: networks.edit(f, d_model="32"), "d_model"),
    "unknown activation": (lambda f: networks.edit(f, activation_function="no such"), "activation"),
    "a list for a flag": (lambda f: networks.edit(f, scale_embedding=[1]), "config.json"),
    "relative positions": (lambda f: networks.edit(f, position_embedding_type="relative_key"), "relative positions"),
    "other norms": (lambda f: networks.edit(f, normalize_before=True), "normalize_before"),
}


@pytest.mark.parametrize("case", CONFIGS)
def test_a_bad_configuration_is_refused_before_any_weight_is_read(
    case: str, bart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil, word = CONFIGS[case]
    spoil(bart)
    monkeypatch.setattr(weights, "read", lambda *_: pytest.fail("weights were read"))
    start = time.process_time()
    assert word in refused(bart)
    if "layers" in case or "vocabulary" in case or "heads" in case:
        assert time.process_time() - start < 2  # nothing of that size was made


@pytest.mark.parametrize("model_type", ["longformer", "deberta", "bloom", "../../etc", ""])
def test_an_unsupported_architecture_is_refused_with_the_supported_ones(model_type: str, bart: Path) -> None:
    networks.edit(bart, model_type=model_type)
    said = refused(bart)
    assert all(name in said for name in ("bert", "bart", "t5", "gpt2", "marian", "pegasus", "electra"))


HOSTILE: dict[str, Any] = {
    "auto_map": {"AutoModel": "evil.Evil", "AutoConfig": "evil.EvilConfig", "AutoTokenizer": ["evil.T", None]},
    "quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": True},
    "_attn_implementation": "flash_attention_2",
    "attn_implementation": "eager",
    "_attn_implementation_internal": "kernels-community/evil",
    "custom_pipelines": {"x": {"impl": "evil.Evil"}},
    "transformers_weights": "/etc/passwd",
    "fusion_config": {"patch_embeddings": True},
    "per_layer_config": {"0": {"d_model": 7}},
    "name_or_path": "someone/else",
    "output_attentions": True,
    "torch_dtype": "bfloat16",
}


def test_active_content_is_removed_and_reported(bart: Path, saved: Path, tmp_path: Path) -> None:
    """Code of its own, a foreign kernel, quantization, other files: none of it has any effect."""
    marker = tmp_path / "executed"
    (bart / "evil.py").write_text(f"open({str(marker)!r}, 'w')\nclass Evil: pass\nEvilConfig = T = Evil\n")
    networks.edit(bart, **HOSTILE)
    networks.edit(bart, "tokenizer_config.json", auto_map=HOSTILE["auto_map"], chat_template="{{ x }}")
    (bart / "adapter_config.json").write_text('{"base_model_name_or_path": "someone/else"}')
    model, plain = load(bart), load(saved / "bart")
    assert not marker.exists()
    assert model.network.config._attn_implementation == tape.IMPLEMENTATION
    assert type(model.network).__module__.startswith("transformers.models.bart.")
    assert model.info == plain.info  # the fingerprint too
    said = " ".join(model.notices)
    assert all(word in said for word in ("auto_map", "quantization_config", "attn_implementation", "float32"))


def test_the_config_cannot_beat_our_attention(bert: Path) -> None:
    networks.edit(bert, attn_implementation="eager", _attn_implementation="eager")
    model = load(bert)
    with recording(Tape()) as kept, torch.inference_mode():
        model.network(**model.tokenizer("The cat", return_tensors="pt"))
    assert len(kept.entries) == 3


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.ckpt", "tf_model.h5", "flax_model.msgpack"])
def test_pickles_are_never_opened(name: str, bart: Path, tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, ...]:
            return (open, (str(tmp_path / "executed"), "w"))

    (bart / "model.safetensors").unlink()
    (bart / name).write_bytes(pickle.dumps(Bomb()))
    said = refused(bart)
    assert name in said
    assert "safetensors" in said
    assert not (tmp_path / "executed").exists()


WEIGHTS: dict[str, Callable[[bytes], bytes]] = {
    "0 bytes": lambda _: b"",
    "7 bytes": lambda b: b[:7],
    "cut in the header": lambda b: b[:100],
    "cut in the numbers": lambda b: b[:-1000],
    "longer": lambda b: b + b"123",
    "huge header": lambda b: (2**60).to_bytes(8, "little") + b[8:],
    "header of 200 MB": lambda b: (200_000_000).to_bytes(8, "little") + b[8:],
    "header is no JSON": lambda b: (16).to_bytes(8, "little") + b"x" * 16,
    "a pickle": lambda _: pickle.dumps({"a": 1}),
    "overlapping": lambda _: _header({"a": [0, 4], "b": [0, 4]}, 8),
    "beyond the end": lambda _: _header({"a": [0, 400]}, 8),
    "shape and bytes differ": lambda _: _header({"a": [0, 8]}, 8),
}


def _header(places: dict[str, list[int]], size: int) -> bytes:
    header = json.dumps({k: {"dtype": "F32", "shape": [1], "data_offsets": v} for k, v in places.items()}).encode()
    return len(header).to_bytes(8, "little") + header + bytes(size)


@pytest.mark.parametrize("case", WEIGHTS)
def test_a_damaged_file_is_named(case: str, bart: Path) -> None:
    path = bart / "model.safetensors"
    path.write_bytes(WEIGHTS[case](path.read_bytes()))
    said = refused(bart)
    assert "model.safetensors" in said
    assert "damaged" in said


def test_a_tensor_of_another_shape(bart: Path) -> None:
    rewrite(bart, lambda t: t.update({"model.encoder.layers.1.fc1.weight": torch.zeros(3, 32)}))
    assert "model.encoder.layers.1.fc1.weight has another shape." in refused(bart)
    rewrite(bart, lambda t: t.update({"model.encoder.layers.1.fc1.bias": torch.zeros(3)}))
    assert "fc1.bias, model.encoder.layers.1.fc1.weight have other shapes." in refused(bart)


def test_a_weight_name_is_shown_short_and_printable(bart: Path) -> None:
    rewrite(bart, lambda t: t.update({"model.encoder." + "<script>\n\u202e" * 90: torch.zeros(1)}))
    said = refused(bart)
    assert "\n" not in said
    assert "\u202e" not in said
    assert len(said) < 400


# Heads that a checkpoint lawfully lacks -------------------------------------------------------------------------------


def drop(*parts: str) -> Callable[[dict[str, torch.Tensor]], None]:
    def change(tensors: dict[str, torch.Tensor]) -> None:
        for key in [key for key in tensors if any(part in key for part in parts)]:
            del tensors[key]

    return change


def written(name: str, change: Callable[[torch.Tensor], object]) -> Spoil:
    """Change one tensor in its place."""
    return lambda folder: rewrite(folder, lambda tensors: change(tensors[name]))


def renamed(tensors: dict[str, torch.Tensor]) -> None:
    for key in list(tensors):
        tensors[f"other.{key}"] = tensors.pop(key)


FC1, FC2 = "model.encoder.layers.1.fc1.weight", "model.decoder.layers.0.fc2.bias"
HALF = "cls.predictions.transform.dense.weight"
INT8 = torch.zeros(48, 32, dtype=torch.int8)
SPOILED: dict[str, tuple[str, Spoil, str]] = {
    "no weights": ("bart", lambda f: (f / "model.safetensors").unlink(), "model.safetensors is missing"),
    "one tensor missing": ("bart", lambda f: rewrite(f, lambda t: t.pop(FC1)), FC1),
    "all renamed": ("bart", lambda f: rewrite(f, renamed), "lacks"),
    # Cutting layers off by the configuration would give another network than the one that was trained.
    "more layers": ("bart", lambda f: networks.edit(f, encoder_layers=2), "model.encoder.layers.2"),
    **{
        value: (
            "bart",
            written(FC2, partial(torch.Tensor.fill_, value=float(value))),
            f"{FC2} holds numbers that are not",
        )
        for value in ("nan", "inf", "-inf")
    },
    # Each weight is finite, the network's answer is not: the probe pass finds it.
    "overflow": ("bart", written("model.encoder.layernorm_embedding.weight", lambda t: t.fill_(3e38)), "short text"),
    "quantized": ("bart", lambda f: rewrite(f, lambda t: t.update({FC1: INT8})), "I8"),
    "half a head": ("bert", lambda f: rewrite(f, drop(HALF)), HALF),
    "an encoder as a decoder": ("bert", lambda f: networks.edit(f, is_decoder=True), "is_decoder"),
    # transformers builds a tokenizer that knows five tokens, and everything is unknown.
    "no tokenizer": ("bart", lambda f: (f / "tokenizer.json").unlink(), "no tokenizer"),
}


@pytest.mark.parametrize("case", SPOILED)
def test_a_spoiled_model_is_refused_with_what_is_wrong(case: str, saved: Path, tmp_path: Path) -> None:
    family, spoil, words = SPOILED[case]
    spoil(Path(shutil.copytree(saved / family, tmp_path / family)))
    assert words in refused(tmp_path / family)


def test_without_next_sentence_head_it_is_a_masked_language_model(bert: Path) -> None:
    rewrite(bert, drop("seq_relationship", "pooler"))
    model = load(bert)
    assert model.info.architecture == "BertForMaskedLM"
    assert "BertForPreTraining" in " ".join(model.notices)


def test_without_any_head_it_is_the_bare_network(bert: Path) -> None:
    rewrite(bert, drop("cls.", "pooler"))
    model = load(bert)
    assert model.info.architecture == "BertModel"
    assert model.network.pooler is None


def test_a_foreign_head_is_left_out_and_named(bert: Path) -> None:
    """Multiple choice: its body can be looked at, its own head is not ours to draw."""
    networks.edit(bert, architectures=["BertForMultipleChoice"])
    rewrite(bert, drop("cls."))
    rewrite(bert, lambda t: t.update({"classifier.weight": torch.zeros(2, 32), "classifier.bias": torch.zeros(2)}))
    model = load(bert)
    assert model.info.architecture == "BertModel"
    assert "classifier" in " ".join(model.notices)


def test_the_named_architecture_is_built(bert: Path) -> None:
    networks.edit(bert, architectures=["BertForMaskedLM"])
    model = load(bert)
    assert model.info.architecture == "BertForMaskedLM"
    assert "seq_relationship" in " ".join(model.notices)


def test_a_bare_checkpoint_fills_a_tied_network(bart: Path) -> None:
    """As facebook/bart-base: saved without ``model.`` before each name, its output matrix is the embedding."""

    def strip(tensors: dict[str, torch.Tensor]) -> None:
        for key in list(tensors):
            tensors[key.removeprefix("model.")] = tensors.pop(key)

    networks.edit(bart, architectures=["BartModel"])
    rewrite(bart, drop("final_logits_bias"))
    rewrite(bart, strip)
    model = load(bart)
    assert model.network.lm_head.weight is model.network.model.shared.weight


def test_legacy_names_are_understood(bert: Path) -> None:
    """Old checkpoints call the layer norm's weight gamma and its bias beta, and keep position ids."""

    def age(tensors: dict[str, torch.Tensor]) -> None:
        for key in list(tensors):
            old = key.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
            tensors[old] = tensors.pop(key)
        tensors["bert.embeddings.position_ids"] = torch.arange(128)[None]

    fresh = load(bert)
    rewrite(bert, age)
    aged = load(bert)
    for name, value in fresh.network.state_dict().items():
        assert torch.equal(aged.network.state_dict()[name], value)


def as_on_the_hub(family: str, tensors: dict[str, torch.Tensor]) -> None:
    """The names that the published checkpoints of these families have, where they differ from today's."""
    if family == "gpt2":
        for key in list(tensors):
            tensors[key.removeprefix("transformer.")] = tensors.pop(key)
        for layer in range(3):
            tensors[f"h.{layer}.attn.bias"] = torch.ones(1, 1, 128, 128).tril()
            tensors[f"h.{layer}.attn.masked_bias"] = torch.tensor(-1e4)
    elif family == "t5":
        for key in ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight"):
            tensors[key] = tensors["shared.weight"].clone()
        tensors["decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"] = torch.zeros(32, 4)
    elif family == "roberta":
        tensors["roberta.embeddings.position_ids"] = torch.arange(128)[None]
        tensors["roberta.pooler.dense.weight"] = torch.zeros(32, 32)
        tensors["lm_head.decoder.weight"] = tensors["roberta.embeddings.word_embeddings.weight"].clone()
        tensors["lm_head.decoder.bias"] = tensors["lm_head.bias"].clone()
    elif family == "albert":
        tensors["albert.pooler.weight"] = torch.zeros(32, 32)
        tensors["sop_classifier.classifier.weight"] = torch.zeros(2, 32)
    else:
        tensors["model.encoder.version"] = torch.tensor([3.0])
        for key in ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"):
            tensors[key] = tensors["model.shared.weight"].clone()
        drop("embed_positions" if family in {"marian", "pegasus"} else "nothing")(tensors)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["gpt2", "t5", "roberta", "albert", "marian", "pegasus", "bart", "mbart"])
def test_published_checkpoints_are_understood(family: str, tmp_path: Path) -> None:
    folder = networks.save(family, tmp_path, trained=True)
    before = load(folder).network.state_dict()
    rewrite(folder, lambda tensors: as_on_the_hub(family, tensors))
    after = load(folder).network.state_dict()
    for name, value in before.items():
        assert torch.equal(after[name], value), name


@pytest.mark.parametrize("family", ["t5-gated", "bart"])
def test_an_output_matrix_that_is_not_tied_must_be_there(family: str, tmp_path: Path) -> None:
    """T5 1.1: transformers would silently take the embedding instead."""
    folder = networks.save(family, tmp_path)
    networks.edit(folder, tie_word_embeddings=False)
    rewrite(folder, drop("lm_head"))
    assert "lm_head.weight" in refused(folder)


def test_t5_keeps_its_own_output_matrix(tmp_path: Path) -> None:
    model = load(networks.save("t5-gated", tmp_path))
    assert not torch.equal(model.network.lm_head.weight, model.network.shared.weight)
    assert model.network.config.scale_decoder_outputs is False


# Tokenizer ------------------------------------------------------------------------------------------------------------


def test_a_tokenizer_larger_than_the_embedding_is_an_error(tmp_path: Path) -> None:
    folder = networks.save("bart", tmp_path, vocab_size=300)
    said = refused(folder)
    assert "420" in said
    assert "300" in said


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"model": 7}', b"\xff" * 100])
def test_a_damaged_tokenizer_is_an_error(content: bytes, bart: Path) -> None:
    (bart / "tokenizer.json").write_bytes(content)
    assert "tokenizer" in refused(bart)


def test_a_tokenizer_cannot_read_other_files(bart: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret\n")
    names = {"vocab": str(secret), "vocab_file": str(secret), "merges_file": str(secret), "tokenizer_file": str(secret)}
    networks.edit(bart, "tokenizer_config.json", **names)
    assert "secret" not in load(bart).tokenizer.get_vocab()


@pytest.mark.parametrize("kind", ["BartTokenizer", "PreTrainedTokenizerFast"])
def test_texts_are_not_cut_by_a_tokenizer_file(kind: str, bart: Path) -> None:
    networks.edit(bart, "tokenizer_config.json", tokenizer_class=kind)
    networks.edit(
        bart,
        "tokenizer.json",
        truncation={"direction": "Right", "max_length": 5, "strategy": "LongestFirst", "stride": 0},
        padding={
            "strategy": {"Fixed": 64},
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 1,
            "pad_type_id": 0,
            "pad_token": "<pad>",
        },
    )
    whole = networks.tokenizer("bart")(networks.PROBE)["input_ids"]
    files = Files.of(bart)
    words = tokenizer.read(files, checkpoint.read(files)).tokenizer
    assert words.backend_tokenizer.encode(networks.PROBE).ids == whole
    assert load(bart).tokenizer(networks.PROBE)["input_ids"] == whole


# Decoding settings ----------------------------------------------------------------------------------------------------


def test_generation_settings_are_kept(bart: Path) -> None:
    networks.edit(bart, "generation_config.json", no_repeat_ngram_size=3, num_beams=4, forced_bos_token_id=0)
    generation = load(bart).generation
    assert (generation.no_repeat_ngram_size, generation.num_beams, generation.forced_bos_token_id) == (3, 4, 0)


def test_generation_settings_in_an_old_config_are_kept(bart: Path) -> None:
    (bart / "generation_config.json").unlink()
    networks.edit(bart, no_repeat_ngram_size=3, min_length=7, forced_bos_token_id=0)
    generation = load(bart).generation
    assert (generation.no_repeat_ngram_size, generation.min_length, generation.forced_bos_token_id) == (3, 7, 0)
    assert generation.forced_eos_token_id == 2


@pytest.mark.parametrize("changes", [{"num_beams": "x"}, {"forced_bos_token_id": 9999}, {"bad_words_ids": 7}])
def test_bad_generation_settings_are_left_out_with_a_notice(changes: dict[str, object], bart: Path) -> None:
    networks.edit(bart, "generation_config.json", **changes)
    model = load(bart)
    assert min(changes) in "".join(bartviz.decode(model, "Hello.", max_new_tokens=2).provenance.notices)
    assert getattr(model.generation, min(changes)) is None


def test_generation_settings_cannot_contain_code(bart: Path) -> None:
    networks.edit(bart, "generation_config.json", custom_generate="someone/evil", compile_config={"mode": "x"})
    generation = load(bart).generation
    assert getattr(generation, "custom_generate", None) is None
    assert generation.compile_config is None


# Trained or not -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["bert", "bart", "t5", "gpt2", "pegasus", "albert"])
@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_random_networks_are_called_untrained(family: str, spread: float, tmp_path: Path) -> None:
    assert not load(networks.save(family, tmp_path, spread=spread)).info.trained


@pytest.mark.slow
def test_one_real_step_is_not_called_training(tmp_path: Path) -> None:
    """Forty steps at a rate of 1e-3 move every gain by about 0.02: from there on it is called trained."""
    network, words = networks.build("bert")
    network.requires_grad_(True)
    optimiser = torch.optim.AdamW(network.parameters(), lr=1e-3)
    batch = words(list(networks.SENTENCES), return_tensors="pt", padding=True)
    for step in range(40):
        network(**batch, labels=batch["input_ids"]).loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        if step == 0:
            assert not weights.looks_trained(network)
    assert weights.looks_trained(network)


@pytest.mark.slow
def test_only_the_gains_decide_whether_a_network_looks_trained(bart: Path, tmp_path: Path) -> None:
    """Random weights with moved gains look trained, gains of 1 do not, whatever the settings say of it."""
    networks.edit(bart, trained=False)  # its gains were moved, and its matrices are random all the same
    assert load(bart).info.trained
    assert "looks trained" in repr(load(bart))
    fresh = networks.save("bart", tmp_path / "fresh")
    networks.edit(fresh, trained=True)
    assert not load(fresh).info.trained


# Memory ---------------------------------------------------------------------------------------------------------------


def test_the_budget_is_checked_before_any_weight_is_read(bart: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "read", lambda *_: pytest.fail("weights were read"))
    with pytest.raises(BudgetError, match=r"0\.3 MB.*0\.1 MB"):
        load(bart, budget=100_000)


def test_two_models_over_the_budget(saved: Path) -> None:
    """Whoever keeps models gives what is left: the second one is refused with both numbers."""
    limit = 400_000
    first = load(saved / "bart", budget=limit)
    with pytest.raises(BudgetError):
        load(saved / "bert", budget=limit - first.nbytes - 100_000)


def test_weights_larger_than_their_config_count(bert: Path) -> None:
    rewrite(bert, lambda t: t.update({"classifier.weight": torch.zeros(1000, 1000)}))
    with pytest.raises(BudgetError, match=r"4\.1 MB"):
        load(bert, budget=1_000_000)


def test_predicted_bytes_of_real_models() -> None:
    """BERT base 438 MB and BART large 1.6 GB as float32, told in a moment and without memory."""
    bert = build.predicted_bytes(checkpoint.sanitise({"model_type": "bert", "architectures": ["BertModel"]}))
    assert bert == 4 * 109_482_240 + 2 * 8 * 512  # two buffers of 512 whole numbers
    bart = build.predicted_bytes(checkpoint.sanitise({"model_type": "bart"}))
    assert bart == 4 * (406_291_456 + 50_265)  # final_logits_bias is a buffer


# Files that change under a running model ------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_replaced_folder_changes_fingerprint_and_is_noticed(bart: Path, tmp_path: Path) -> None:
    before = load(bart)
    other = networks.save("bart", tmp_path / "other", seed=9, trained=True)
    for path in other.iterdir():
        shutil.copy(path, bart / path.name)
    assert before.stale()
    assert load(bart).info.fingerprint != before.info.fingerprint


def test_overwriting_a_file_does_not_change_a_running_model(bart: Path) -> None:
    """Tensors mapped from the file would change with it, or kill the process when it gets shorter."""
    model = load(bart)
    before = {name: value.clone() for name, value in model.network.state_dict().items()}
    path = bart / "model.safetensors"
    path.write_bytes(b"\x01" * path.stat().st_size)
    assert all(torch.equal(value, before[name]) for name, value in model.network.state_dict().items())
    with path.open("r+b") as file:
        file.truncate(10)
    assert all(torch.equal(value, before[name]) for name, value in model.network.state_dict().items())


@pytest.mark.parametrize("change", ["weight", "config", "tokenizer", "generation"])
def test_the_fingerprint_sees_every_change(change: str, bart: Path) -> None:
    before = load(bart).info.fingerprint
    if change == "weight":
        rewrite(bart, lambda t: t["model.decoder.layers.0.fc2.bias"].add_(1e-3))
    elif change == "config":
        networks.edit(bart, scale_embedding=True)
    elif change == "tokenizer":
        networks.edit(bart, "tokenizer_config.json", mask_token="<pad>")
    else:
        networks.edit(bart, "generation_config.json", no_repeat_ngram_size=2)
    assert load(bart).info.fingerprint != before


def test_the_fingerprint_is_of_the_content(bart: Path, tmp_path: Path) -> None:
    """Not of the place, the time, or the order of keys."""
    twin = Path(shutil.copytree(bart, tmp_path / "elsewhere"))
    config = json.loads((twin / "config.json").read_text())
    (twin / "config.json").write_text(json.dumps(dict(reversed(config.items()))))
    assert load(twin).info.fingerprint == load(bart).info.fingerprint


def test_files_that_change_while_they_are_read(bart: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = weights.read

    def meddle(*arguments: object) -> weights.Weights:
        found = read(*arguments)  # type: ignore[arg-type]
        networks.edit(bart, d_model=64)
        return found

    monkeypatch.setattr(weights, "read", meddle)
    assert "changed while" in refused(bart)


# Time -----------------------------------------------------------------------------------------------------------------


def test_a_deadline_ends_a_disk_that_hangs(bart: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hang = threading.Event()
    monkeypatch.setattr(weights, "read", lambda *_: hang.wait(20))
    try:
        assert "0.3 seconds" in refused(bart, deadline=0.3)
    finally:
        hang.set()


def test_cancel_stops_loading(bart: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hang, cancel = threading.Event(), threading.Event()

    def slow(*_: object) -> None:
        cancel.set()
        hang.wait(20)

    monkeypatch.setattr(weights, "read", slow)
    try:
        with pytest.raises(Cancelled):
            load(bart, cancel=cancel)
    finally:
        hang.set()


def test_models_load_side_by_side(saved: Path) -> None:
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda name=name: found.append(load(saved / name).info.fingerprint))
        for name in ("bart", "bert", "bart", "bert")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 2


# Where models are found -----------------------------------------------------------------------------------------------


BAD_NAMES = {
    "empty": "",
    "dots": "..",
    "system": "/etc",
    "url": "https://example.org/model",
    "three parts": "a/b/c",
    "newline": "facebook/bart\nbase",
    "NUL": "bert\0base",
    "300 characters": "b" * 300,
    "homoglyph": "bеrt-base-uncased",
    "climbing": "../../etc",
    "inside": "facebook/../etc",
    "double dash": "a--b",
    "git": "a/b.git",
    "dot": ".",
    "backslash": "..\\etc",
    "space": "bert base",
    "tilde": "~root",
    "slash": "/",
    "dash": "-rf/x",
    "bidi": "bert\u202ebase",
    "long path": "/" + "x" * 5000,
    "scheme": "file:///etc/passwd",
    "percent": "bert%2f..",
    "two slashes": "a//b",
}


@pytest.mark.parametrize("case", BAD_NAMES)
@pytest.mark.parametrize("roots", [None, ()])
def test_a_bad_name_is_refused_at_once(
    case: str, roots: tuple[str, ...] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bartviz.models.hub.snapshot", lambda *_, **__: pytest.fail("the hub is asked"))
    with pytest.raises(ModelError) as caught:
        load(BAD_NAMES[case], roots=roots)
    assert len(BAD_NAMES[case]) < 3 or BAD_NAMES[case] not in str(caught.value)


@pytest.mark.parametrize(
    "revision", ["../x", "a/../b", "..", "/etc", "", "a b", "x\n", "x\0", "-x", "a//b", "é", "x" * 300, "a/.b"]
)
def test_a_bad_revision_is_refused(revision: str) -> None:
    with pytest.raises(ModelError, match="revision"):
        load("facebook/bart-base", revision=revision)


def test_a_revision_of_a_folder_is_no_sense(saved: Path) -> None:
    with pytest.raises(ModelError, match="Only models of the hub"):
        load(saved / "bart", revision="main")


@pytest.mark.parametrize("name", embedded())
def test_every_embedded_model_loads_offline_and_is_trained(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    model = load(name, roots=())
    assert (model.info.name, model.info.source, model.info.trained) == (name, "embedded", True)
    assert weights.looks_trained(model.network)
    assert not model.notices


def test_roots_refuse_everything_else_with_the_same_words(saved: Path, tmp_path: Path) -> None:
    """Nobody learns what else there is on the machine: there or not there, the words are the same."""
    (tmp_path / "link").symlink_to(saved / "bart")
    outside: list[str | Path] = [
        saved / "bart",
        "/etc",
        "/etc/passwd",
        "/root/nothing/here",
        tmp_path / "link",
        "./nothing",
        str(saved / "none"),
        f"{tmp_path}/../{saved.name}/bart",
        "..",
        "~/x",
    ]
    words = set()
    for name in outside:
        with pytest.raises(ModelError) as caught:
            load(name, roots=(tmp_path,))
        words.add(str(caught.value))
    assert len(words) == 1


def test_roots_allow_what_is_under_them(saved: Path) -> None:
    assert load(saved / "bart", roots=(saved,)).info.name == "bart"
    assert load("bart", roots=(saved,)).info.source == "folder"
    assert roots.listed((saved,)) == ("bart", "bert")


def test_files_that_point_out_of_the_roots_are_refused(bart: Path, tmp_path: Path) -> None:
    secret = tmp_path / "weights"
    shutil.move(bart / "model.safetensors", secret)
    (bart / "model.safetensors").symlink_to(secret)
    assert load(bart).info.name == "bart"  # the library reads what it is told to
    with pytest.raises(ModelError):
        load(bart, roots=(bart,))


def test_default_roots(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BARTVIZ_MODEL_ROOTS", raising=False)
    assert roots.default_roots() == ()
    monkeypatch.setenv("BARTVIZ_MODEL_ROOTS", f"{saved}{os.pathsep}{saved.parent}")
    assert roots.default_roots() == (saved.resolve(), saved.parent.resolve())


@pytest.mark.parametrize("value", ["relative", "/no/such/folder", "/etc/passwd", "/", "-1", "1e12"])
def test_a_bad_setting_is_refused_by_name(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BARTVIZ_MODEL_ROOTS", value)
    with pytest.raises(bartviz.errors.SettingError, match="BARTVIZ_MODEL_ROOTS: entry 1"):
        roots.default_roots()


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    assert "config.json" in refused(tmp_path)
    assert "no such folder" in refused(tmp_path / "none")


def test_errors_are_ours(bart: Path) -> None:
    """Whatever goes wrong inside is raised as one of ours."""
    (bart / "config.json").unlink()
    (bart / "config.json").mkdir()
    with pytest.raises(BartvizError):
        load(bart)
