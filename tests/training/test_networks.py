"""What is written to the folder that ships, and how it loads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from transformers import BartForConditionalGeneration, BartTokenizer, BertForPreTraining, BertTokenizer

from bartviz.models import int8
from training import networks
from training.vocabulary import train_bart, train_bert

TEXTS = ["I want to buy a car.", "Ich möchte ein Auto kaufen.", "The cat sleeps.", "Die Katze schläft."] * 3


@pytest.fixture(scope="module")
def bart_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bart")
    tokenizer = train_bart(TEXTS, 400)
    networks.export(networks.bart(len(tokenizer)), tokenizer, folder)
    return folder


@pytest.mark.slow
def test_weights_are_small_on_disk_and_float32_when_loaded(bart_folder: Path) -> None:
    weights = load_file(bart_folder / "model.safetensors")
    assert {tensor.dtype for tensor in weights.values()} == {torch.float16}
    assert not {"lm_head.weight", "model.decoder.embed_tokens.weight"} & set(weights)  # tied to model.shared, kept once
    assert json.loads((bart_folder / "config.json").read_text())["dtype"] == "float32"
    model = BartForConditionalGeneration.from_pretrained(bart_folder)
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert model.lm_head.weight is model.model.shared.weight


def test_special_tokens_have_the_ids_of_the_configuration(bart_folder: Path) -> None:
    tokenizer = BartTokenizer.from_pretrained(bart_folder)
    assert tokenizer.convert_tokens_to_ids(["<s>", "<pad>", "</s>", "<unk>", "<mask>"]) == [0, 1, 2, 3, 4]
    given = tokenizer("I want <mask>.")["input_ids"]
    assert (given[0], given[-1], given.count(4)) == (networks.BOS, networks.EOS, 1)
    assert tokenizer.decode(given, skip_special_tokens=True) == "I want."


def test_the_tokenizer_neither_cuts_nor_pads_unless_asked(tmp_path: Path) -> None:
    tokenizer = train_bart(TEXTS, 400)
    tokenizer(["a b c d", "a"], truncation=True, max_length=3, padding=True)
    networks.save_tokenizer(tokenizer, tmp_path)
    saved = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))
    assert saved["truncation"] is None
    assert saved["padding"] is None
    assert "max_length" not in json.loads((tmp_path / "tokenizer_config.json").read_text(encoding="utf-8"))


def test_generation_starts_and_ends_as_trained(bart_folder: Path) -> None:
    model: Any = BartForConditionalGeneration.from_pretrained(bart_folder).eval()
    found = model.generate(input_ids=torch.tensor([[0, 10, 11, 2]]), max_length=6)[0].tolist()
    assert found[:2] == [networks.EOS, networks.BOS]
    assert found[-1] == networks.EOS
    assert model.generation_config.num_beams == 1


def test_the_network_of_full_size_fits_the_limit() -> None:
    count = sum(p.numel() for p in networks.bart(8000).parameters())
    assert 2 * count < 16e6


def test_bert_has_both_heads_and_float16_weights(tmp_path: Path) -> None:
    tokenizer = train_bert(TEXTS, 200)
    networks.export(networks.bert(len(tokenizer)), tokenizer, tmp_path)
    model = BertForPreTraining.from_pretrained(tmp_path)
    given = BertTokenizer.from_pretrained(tmp_path)("The CAT sleeps.", "I want a car.", return_tensors="pt")
    assert given["token_type_ids"][0].tolist().count(1) > 0
    output = model(**given)
    assert output.prediction_logits.shape[-1] == model.config.vocab_size
    assert output.seq_relationship_logits.shape == (1, 2)


def test_int8_takes_half_and_is_read_back_to_train_on(bart_folder: Path, tmp_path: Path) -> None:
    tokenizer = BartTokenizer.from_pretrained(bart_folder)
    model = networks.opened(BartForConditionalGeneration, bart_folder)
    networks.export(model, tokenizer, tmp_path, int8=True)
    whole, small = ((folder / networks.WEIGHTS).stat().st_size for folder in (bart_folder, tmp_path))
    assert small < 0.55 * whole
    again = networks.opened(BartForConditionalGeneration, tmp_path)
    assert again.lm_head.weight is again.model.shared.weight
    assert all(p.requires_grad and p.dtype == torch.float32 for p in again.parameters())
    assert again.generation_config.forced_bos_token_id == networks.BOS
    wanted, grown = model.state_dict(), networks.bart(len(tokenizer))
    networks.begin_with(grown, networks.tensors(tmp_path))
    for name, tensor in again.state_dict().items():
        assert torch.equal(grown.state_dict()[name], tensor), name
        half = wanted[name].abs().amax(-1, keepdim=True) / 254 if tensor.ndim == 2 else 0.0  # half a scale
        assert bool(((tensor - wanted[name]).abs() <= half * 1.001).all()), name


@pytest.mark.slow
def test_what_is_opened_is_what_transformers_opens(bart_folder: Path) -> None:
    one = networks.opened(BartForConditionalGeneration, bart_folder)
    other: Any = BartForConditionalGeneration.from_pretrained(bart_folder)
    for name, tensor in other.state_dict().items():
        assert torch.equal(one.state_dict()[name], tensor), name
    assert one.generation_config.to_dict() == other.generation_config.to_dict()


def test_16_mb_hold_twice_the_network_as_int8() -> None:
    network = networks.bart(8000, hidden=2320)
    kept = {name: p for name, p in network.named_parameters() if "embed_tokens" not in name}  # tied ones once
    size = sum(tensor.nbytes for tensor in int8.pack(kept).values())
    assert sum(p.numel() for p in kept.values()) > 2 * sum(p.numel() for p in networks.bart(8000).parameters())
    assert size < 16e6
