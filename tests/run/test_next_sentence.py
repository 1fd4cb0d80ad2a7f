"""Two texts of a BERT: whether the second follows the first, as transformers' own classes say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

import bartviz
from bartviz.record.prediction import FOLLOWS
from tests.support import networks

A, B = "The cat is sleeping.", "What time is it?"


@pytest.mark.parametrize("cls", ["BertForPreTraining", "BertForNextSentencePrediction", "ErnieForPreTraining"])
def test_a_pair_is_judged_as_transformers_judges_it(cls: str, tmp_path: Path) -> None:
    family = "ernie" if cls.startswith("Ernie") else "bert"
    network, words = networks.build(family, architecture=cls, spread=0.3)
    with torch.inference_mode():
        out = network(**words(A, B, return_tensors="pt"))
    expected = out["seq_relationship_logits" if "PreTraining" in cls else "logits"].numpy()
    network.save_pretrained(tmp_path)
    words.save_pretrained(tmp_path)
    for model in (bartviz.wrap(network, words), bartviz.load(tmp_path)):
        record = bartviz.capture(model, A, pair=B)
        assert record.prediction is not None
        np.testing.assert_allclose(record.prediction.logits, expected, atol=1e-5)
        assert record.prediction.labels == FOLLOWS
        assert (record.model.architecture, record.sound) == (cls, True)
        assert not [check for check in bartviz.verify(model, record) if check.failed]
        alone = bartviz.capture(model, A)
        assert alone.prediction is None
        assert not [check for check in bartviz.verify(model, alone) if check.failed]
        assert [one.prediction for one in bartviz.capture_batch(model, [A, B])] == [None, None]


def test_a_model_that_judges_no_pairs_predicts_none() -> None:
    network, words = networks.build("bert", spread=0.3)
    assert bartviz.capture(network, A, pair=B, tokenizer=words).prediction is None


def test_the_shipped_bert_judges_pairs_as_transformers_does(tmp_path: Path) -> None:
    model = bartviz.load("bert-tiny-en")
    record = bartviz.capture(model, "A man is reading a book.", pair="The weather is cold.")
    assert isinstance(model.network, transformers.BertForPreTraining)
    assert record.prediction is not None
    assert record.prediction.probabilities[0].sum() == pytest.approx(1, abs=1e-6)
    record.save(tmp_path / "pair.safetensors")
    assert bartviz.open(tmp_path / "pair.safetensors").prediction == record.prediction
    with torch.inference_mode():
        said = model.network(**model.tokenizer(record.source_text, record.pair_text, return_tensors="pt"))
    np.testing.assert_allclose(record.prediction.logits, said.seq_relationship_logits.numpy(), atol=1e-5)
    turned = replace(record, prediction=replace(record.prediction, logits=record.prediction.logits[:, ::-1].copy()))
    assert [check for check in bartviz.verify(model, turned) if check.failed]
