"""The output layer gives the logits of transformers, and the record's candidates, for every family that writes."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import bartviz
from bartviz.errors import SettingError
from bartviz.experiments.output_layer import output_layer
from bartviz.models.model import Model
from bartviz.record.record import Record
from tests.support import loaded, networks

TEXT = "The cat is sleeping on the sofa."
WRITERS = [*networks.ENCODER_DECODERS, "gpt2", "llama", "opt", "qwen3", "stablelm"]


def made(model: Model) -> Record:
    return bartviz.capture(model, TEXT, target="Die Katze." if model.info.kind == "encoder-decoder" else None)


@torch.inference_mode()
def own_logits(network: torch.nn.Module, record: Record) -> torch.Tensor:
    """(m, V) the logits of transformers' own kernels."""
    given = {"input_ids": torch.from_numpy(record.source.ids.copy())[None]}
    if record.cross is not None:
        given["decoder_input_ids"] = torch.from_numpy(record.attention("decoder").query.ids.copy())[None]
    logits: torch.Tensor = network(**given).logits[0]
    return logits


@pytest.mark.parametrize("family", WRITERS)
def test_the_logits_are_those_of_transformers_and_of_the_record(family: str) -> None:
    model = loaded.model(family)
    record = made(model)
    logits = own_logits(loaded.reference(family), record)
    for index, step in enumerate(record.steps):
        one = output_layer(model, record, index)
        expected = logits[step.row]
        np.testing.assert_allclose(one.logits, expected[one.ids.tolist()], rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(one.probabilities, expected.softmax(-1)[one.ids.tolist()], rtol=1e-3, atol=1e-6)
        assert one.ids[one.chosen] == step.chosen.token_id
        assert one.vocabulary == len(expected)
        assert one.error <= 1e-5
        assert one.passed


@pytest.mark.parametrize("family", ["gemma2", "cohere", "granite"])
def test_logits_that_are_changed_afterwards_are_refused_by_name(family: str) -> None:
    model = loaded.model(family)
    key = {"gemma2": "final_logit_softcapping", "cohere": "logit_scale", "granite": "logits_scaling"}[family]
    config = copy.deepcopy(model.config)
    setattr(config, key, 3.0)
    with pytest.raises(SettingError, match=key):
        output_layer(replace(model, config=config), made(model), 0)


def test_the_shipped_translator_agrees_with_its_candidates() -> None:
    model = bartviz.load("bart-tiny-en-de")
    record = bartviz.decode(model, "I want to buy a car.")
    for index, step in enumerate(record.steps):
        one = output_layer(model, record, index)
        assert one.passed
        assert one.tied
        of_record = {candidate.token_id: candidate.probability for candidate in (*step.candidates, step.chosen)}
        expected = [of_record[int(token)] for token in one.ids]
        np.testing.assert_allclose(one.probabilities, expected, rtol=1e-3, atol=1e-6)
        assert one.probabilities.sum() + one.rest / one.total == pytest.approx(1)


@pytest.mark.parametrize(("family", "tied", "scale"), [("t5", True, 32**-0.5), ("t5-gated", False, 1.0)])
def test_tied_embeddings_and_a_matrix_of_their_own(family: str, tied: bool, scale: float) -> None:
    model = loaded.model(family)
    one = output_layer(model, made(model), 1)
    assert one.tied == tied
    assert one.scale == pytest.approx(scale)


def test_a_bias_on_the_logits_is_counted(tmp_path: Path) -> None:
    folder = networks.save("bart", tmp_path / "biased", spread=0.3)
    file = folder / "model.safetensors"
    weights = load_file(file)
    size = len(weights["model.shared.weight"])
    weights["final_logits_bias"] = torch.linspace(-1, 1, size)[None]
    save_file(weights, file, metadata={"format": "pt"})
    model = bartviz.load(folder)
    record = made(model)
    one = output_layer(model, record, 0)
    np.testing.assert_allclose(one.bias, np.linspace(-1, 1, size)[one.ids], atol=1e-6)
    assert one.passed


def test_silenced_heads_stay_silent() -> None:
    model = loaded.model("bart")
    record = bartviz.decode(model, TEXT, max_new_tokens=4, ablate=("cross L1H0", "decoder L0H1"))
    assert output_layer(model, record, 2).error <= 1e-5
    whole = bartviz.capture(model, TEXT, target=record.target_text)
    assert whole.steps[0].chosen.logit != pytest.approx(record.steps[0].chosen.logit, rel=1e-3)


def test_a_token_outside_of_the_best_is_shown_too() -> None:
    model = loaded.model("bart")
    record = made(model)
    worst = max(range(len(record.steps)), key=lambda index: -record.steps[index].chosen.probability)
    one = output_layer(model, record, worst, most=1)
    assert one.ids.tolist() == [record.steps[worst].candidates[0].token_id, record.steps[worst].chosen.token_id]
    assert one.chosen == 1


def test_a_step_that_is_not_there_and_a_record_of_another_model_are_refused() -> None:
    model = loaded.model("bart")
    record = made(model)
    with pytest.raises(SettingError, match="no step 99"):
        output_layer(model, record, 99)
    with pytest.raises(SettingError, match="another model"):
        output_layer(loaded.model("t5"), record)
