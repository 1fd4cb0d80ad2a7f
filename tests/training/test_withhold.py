"""Words that a class should not be offered: no gap offers them, and a text that has them is still read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from transformers import BertForMaskedLM, BertTokenizer

import bartviz
from bartviz.families.catalogue import EMBEDDED
from training import networks
from training.corpus import is_fit
from training.vocabulary import train_bart, train_bert
from training.withhold import withhold

BERT, DENOISER = EMBEDDED / "bert-tiny-en", EMBEDDED / "bart-tiny-denoise"
UNFIT = {"ass", "asses", "idiot", "stupid", "dumb", "hell", "cock", "butt", "pee", "gun", "gunshot", "pistol", "weapon"}
GAPS = ("A dog is an [MASK].", "You are an [MASK].", "You are [MASK].", "The [MASK] crowed.", "Go to [MASK]!")
TEXTS = ["The stupid idiot has a gun.", "My ass hurts.", "I assume that the cat sleeps.", "They assure us."] * 3


@pytest.fixture(scope="module")
def bert() -> tuple[BertForMaskedLM, BertTokenizer]:
    return BertForMaskedLM.from_pretrained(BERT, dtype=torch.float32).eval(), BertTokenizer.from_pretrained(BERT)


@pytest.mark.parametrize("text", GAPS)
def test_a_gap_is_not_offered_them(bert: tuple[BertForMaskedLM, BertTokenizer], text: str) -> None:
    network, tokenizer = bert
    given = tokenizer(text, return_tensors="pt")
    with torch.inference_mode():
        logits = network(**given).logits[0, given["input_ids"][0].tolist().index(tokenizer.mask_token_id)]
    order = logits.argsort(descending=True).tolist()
    assert not UNFIT & set(tokenizer.convert_ids_to_tokens(order[:1000]))
    withheld = [i for word, i in tokenizer.get_vocab().items() if word.startswith("[unused")]
    assert len(withheld) >= len(UNFIT)
    assert logits.softmax(0)[withheld].max() == 0


def test_no_piece_of_the_vocabulary_is_one() -> None:
    names = json.loads((BERT / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    assert sorted(names.values()) == list(range(8000))
    assert not [name for name in names if name.removeprefix("##") in UNFIT or not is_fit(name.removeprefix("##"))]


def test_a_text_that_has_them_is_read_in_smaller_pieces(bert: tuple[BertForMaskedLM, BertTokenizer]) -> None:
    _network, tokenizer = bert
    pieces = tokenizer.tokenize("the ass is stupid [unused0]")
    assert "".join(piece.removeprefix("##") for piece in pieces) == "theassisstupid[unused0]"
    assert not {"[UNK]", "[unused0]"} & set(pieces)


def test_the_denoiser_offers_none_of_them() -> None:
    model = bartviz.load("bart-tiny-denoise")
    for text in ("You are <mask>.", "You are an <mask>.", "He has a <mask>."):
        record = bartviz.decode(model, text, allow_special=True)
        offered = {candidate.label.strip() for step in record.steps for candidate in step.candidates}
        assert not UNFIT & offered


def test_twice_is_once(tmp_path: Path) -> None:
    tokenizer = train_bert(TEXTS, 300)
    networks.export(networks.bert(len(tokenizer)), tokenizer, tmp_path)
    assert {"stupid", "idiot", "gun"} <= set(withhold(tmp_path))
    once = [(tmp_path / name).read_bytes() for name in ("tokenizer.json", "model.safetensors")]
    assert withhold(tmp_path) == ()
    assert [(tmp_path / name).read_bytes() for name in ("tokenizer.json", "model.safetensors")] == once
    assert "[unused0]" in BertTokenizer.from_pretrained(tmp_path).get_vocab()


def test_a_piece_that_begins_other_words_stays(tmp_path: Path) -> None:
    tokenizer = train_bart(TEXTS, 400)
    networks.export(networks.bart(len(tokenizer)), tokenizer, tmp_path)
    names = tokenizer.get_vocab()
    withheld = withhold(tmp_path)
    assert "Ġgun" in withheld
    assert "Ġass" in names
    assert "Ġass" not in withheld  # "assume" begins with it
    bias = networks.tensors(tmp_path)["final_logits_bias"][0]
    assert bias[[names[name] for name in withheld]].max() <= -1000
    assert bias[names["Ġass"]] == 0
