"""Each layer's predictions are those of the network with the layers above cut off, and the last one's the record's."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from transformers import PreTrainedModel

import bartviz
from bartviz.analysis import lens as analysis
from bartviz.analysis.lens import Lens
from bartviz.analysis.residual import Stack
from bartviz.errors import Cancelled, ModelError, SettingError
from bartviz.families.registry import of_network
from tests.attribution import subjects
from tests.support import loaded, networks


def by_hand() -> Lens:
    """Two layers, three steps: the first token settles at once, the second after layer 0, but not at the end; the third
    is the first choice at first, then not, then again."""
    rank = np.array([[1, 2, 1], [1, 1, 3], [1, 2, 1]])
    p = np.array([[0.5, 0.25, 0.5], [0.5, 0.5, 0.1], [0.9, 0.4, 0.8]], np.float32)
    first = np.maximum(p, np.array([[0, 0.5, 0], [0, 0, 0.6], [0, 0.5, 0]], np.float32))
    labels = ((("a",), ("x",), ("c",)), (("a",), ("b",), ("x",)), (("a",), ("y",), ("c",)))
    return Lens(
        "hand",
        "decoder",
        False,
        np.arange(3),
        np.array([5, 6, 7]),
        ("a", "b", "c"),
        np.array([[[5], [9], [7]], [[5], [6], [9]], [[5], [8], [7]]]),
        labels,
        first[..., None],
        p,
        rank,
        np.ones((3, 3), np.float32),
    )


def test_a_token_settles_where_it_stays_the_first_choice() -> None:
    one = by_hand()
    assert one.layers == 2
    assert one.settled.tolist() == [0, 3, 2]
    most, late = (
        "After layer 1, 2 of 3 tokens are the model's first choice, and stay so.",
        "“b” is not the first choice",
    )
    assert analysis.sentence(one) == f"{most} {late} even after the last layer."


def test_the_table_has_a_line_for_each_layer_and_step() -> None:
    table = by_hand().to_dataframe()
    assert len(table) == 9
    line = table[(table["after"] == "L0") & (table["step"] == 2)].iloc[0]
    assert (line.token, line["rank"], line["first choice"]) == ("c", 3, "x")
    assert line["its probability"] == pytest.approx(0.6)
    assert line.probability == pytest.approx(0.1)


def test_a_lens_is_sealed_and_can_be_sent() -> None:
    one = by_hand()
    with pytest.raises(ValueError, match="read-only"):
        one.rank[0, 0] = 2
    again = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(again.rank, one.rank)
    assert copy.deepcopy(one).settled.tolist() == one.settled.tolist()
    assert repr(one) == "<Lens of the decoder: 2 layers, 3 steps>"


def cut(network: PreTrainedModel, stack: Stack, layers: int) -> PreTrainedModel:
    """A copy of a network whose stack ends after so many layers."""
    shorter = copy.deepcopy(network)
    side = getattr(of_network(network), stack)
    if side.layer.count("{}") != 1:  # ALBERT runs one layer again and again
        shorter.config.num_hidden_layers = layers
        return shorter
    holder, _, name = side.layer.partition(".{}")[0].rpartition(".")
    parent = shorter.base_model.get_submodule(holder)
    kept: nn.ModuleList = getattr(parent, name)
    setattr(parent, name, kept[:layers])
    return shorter


def stacks(family: str) -> tuple[Stack, ...]:
    kind = networks.FAMILIES[family].family.kind
    return ("encoder", "decoder") if kind == "encoder-decoder" else (kind,)


@pytest.mark.slow
@pytest.mark.some
@pytest.mark.parametrize("family", networks.FAMILIES)
def test_each_layer_says_what_the_network_without_those_above_would_say(family: str) -> None:
    one, network = subjects.record(family), subjects.network(family)
    rows, ids = subjects.steps(family)
    for stack in stacks(family):
        found = bartviz.lens(loaded.model(family), one, stack=stack, most=3)
        layers = one.attention(stack).shape[0]
        assert found.probabilities.shape == (layers + 1, len(rows), 3)
        assert found.rows.tolist() == rows
        assert found.ids.tolist() == ids
        for index in range(layers + 1):
            with torch.no_grad():
                logits = subjects.logits(cut(network, stack, index), subjects.given(one))[rows].double()
            p = logits.softmax(-1).numpy()
            own = p[range(len(rows)), ids]
            np.testing.assert_allclose(found.probability[index], own, atol=1e-4, rtol=1e-2)
            np.testing.assert_allclose(found.probabilities[index], -np.sort(-p)[:, :3], atol=1e-4, rtol=1e-2)
            bits = -(p * np.log2(np.clip(p, 1e-300, 1))).sum(axis=1)
            np.testing.assert_allclose(found.entropy[index], bits, atol=1e-2)
            near = np.abs(p - own[:, None]) <= 1e-4 * own[:, None]  # of equal ones either may come first
            above = (p > own[:, None]) & ~near
            assert (found.rank[index] > above.sum(axis=1)).all()
            assert (found.rank[index] <= above.sum(axis=1) + near.sum(axis=1)).all()


@pytest.mark.slow
@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_the_last_layer_is_the_record(stack: Stack) -> None:
    model = bartviz.load("bart-tiny-en-de")
    one = bartviz.capture(model, "I want to buy a car.")
    found = bartviz.lens(model, one, stack=stack)
    assert found.decodes == (stack == "encoder")
    assert found.steps == tuple(step.chosen.label for step in one.steps)
    np.testing.assert_allclose(found.probability[-1], [step.chosen.probability for step in one.steps], atol=1e-5)
    np.testing.assert_allclose(found.entropy[-1], [step.entropy for step in one.steps], atol=1e-3)
    for step, labels in zip(one.steps, found.labels[-1], strict=True):
        assert labels == tuple(candidate.label for candidate in step.candidates[: len(labels)])
    text = bartviz.lens(model, "I want to buy a car.", stack=stack)
    np.testing.assert_array_equal(text.probability, found.probability)


@pytest.mark.slow
def test_the_decoder_already_writes_words_from_an_early_encoder_layer() -> None:
    """Read after its first layer, the encoder leads to half of the translation or more; the decoder's own first layer
    does not."""
    model = bartviz.load("bart-tiny-en-de")
    early = {
        stack: bartviz.lens(model, "I want to buy a car.", stack=stack).rank[1] for stack in ("encoder", "decoder")
    }
    assert (early["encoder"] == 1).mean() >= 0.5
    assert (early["decoder"] == 1).mean() < 0.5


@pytest.mark.slow
def test_silenced_heads_stay_silent() -> None:
    model = loaded.model("bart")
    heads = [f"decoder L{layer}H{head}" for layer in range(2) for head in range(2)]
    one = bartviz.capture(model, subjects.TEXT, target=subjects.TARGET, ablate=heads)
    for stack in stacks("bart"):
        found = bartviz.lens(model, one, stack=stack)
        np.testing.assert_allclose(found.probability[-1], [step.chosen.probability for step in one.steps], atol=1e-5)


@pytest.mark.slow
def test_what_is_not_there_is_refused(tmp_path: Any) -> None:
    with pytest.raises(SettingError, match="no decoder"):
        bartviz.lens(loaded.model("bert"), subjects.record("bert"), stack="decoder")
    with pytest.raises(SettingError, match="At least one token"):
        bartviz.lens(loaded.model("bart"), subjects.record("bart"), most=0)
    with pytest.raises(SettingError, match="has its output already"):
        bartviz.lens(loaded.model("bart"), subjects.record("bart"), "Ja.")
    with pytest.raises(SettingError, match="another model"):
        bartviz.lens(loaded.model("bart", 1), subjects.record("bart"))
    bare = bartviz.load(networks.save("bert", tmp_path / "bare", architecture="BertModel"))
    with pytest.raises(SettingError, match="predicts no tokens"):
        bartviz.lens(bare, subjects.TEXT)
    for stack in stacks("bart"):
        with pytest.raises(Cancelled):
            bartviz.lens(loaded.model("bart"), subjects.record("bart"), stack=stack, cancelled=lambda: True)


@pytest.mark.slow
def test_a_last_layer_that_says_something_else_than_the_network_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from bartviz.attribution import lens as module

    read = module._output
    monkeypatch.setattr(module, "_output", lambda model, states: 2 * read(model, states))
    with pytest.raises(ModelError, match="other logits than its own"):
        bartviz.lens(loaded.model("bart"), subjects.record("bart"))
