"""The learning rate over the time of a run, and dropout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from transformers import BartConfig, BartModel

from bartviz.families.catalogue import EMBEDDED
from bartviz.families.dropout import dropout
from training.loop import Settings, rate, set_dropout, write_curve

SETTINGS = Settings(corpus=Path(), out=Path(), minutes=10.0, peak=1e-3, warm=100, cool=0.5)


def test_the_rate_rises_holds_and_falls() -> None:
    assert rate(0.0, 0, SETTINGS) == pytest.approx(1e-5)
    assert rate(0.1, 49, SETTINGS) == pytest.approx(5e-4)
    assert rate(0.4, 2000, SETTINGS) == pytest.approx(1e-3)
    assert rate(0.75, 4000, SETTINGS) == pytest.approx(5e-4)
    assert rate(1.0, 5000, SETTINGS) == 0.0
    assert rate(1.1, 5000, SETTINGS) == 0.0


def test_dropout_is_set_in_every_layer() -> None:
    config = BartConfig(
        vocab_size=20,
        d_model=8,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=8,
        decoder_ffn_dim=8,
        max_position_embeddings=16,
    )
    model = BartModel(config).train()
    set_dropout(model, 0.0)
    ids = torch.tensor([[0, 5, 6, 2]])
    first, second = (model(input_ids=ids, decoder_input_ids=ids).last_hidden_state for _ in range(2))
    torch.testing.assert_close(first, second)
    set_dropout(model, 0.5)
    assert not torch.allclose(first, model(input_ids=ids, decoder_input_ids=ids).last_hidden_state)
    assert (config.dropout, config.attention_dropout) == (0.5, 0.5)  # what is exported says what it was trained with


@pytest.mark.parametrize(
    ("name", "said", "share"),
    [
        ("bart-tiny-denoise", "no dropout, no label smoothing", 0.0),
        ("bart-tiny-en-de", "new optimizer, dropout 0.1", 0.1),
        ("bert-tiny-en", "gradient norm at most 1; no dropout", 0.0),
    ],
)
def test_a_shipped_configuration_has_the_dropout_of_its_card(name: str, said: str, share: float) -> None:
    assert said in (EMBEDDED / name / "README.md").read_text(encoding="utf-8")
    config = json.loads((EMBEDDED / name / "config.json").read_text(encoding="utf-8"))
    assert dropout(config) == (share, share)


def test_the_curve_is_a_table_with_gaps(tmp_path: Path) -> None:
    write_curve([{"minute": 1.0}, {"minute": 2.0, "BLEU": 30.5}], tmp_path / "curve.tsv")
    assert (tmp_path / "curve.tsv").read_text().splitlines() == ["minute\tBLEU", "1\t", "2\t30.5"]
