"""What silencing a head does to the labels of a fine-tuned model, against transformers' own classes in float64."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import bartviz
from bartviz.analysis import prediction
from bartviz.analysis.ablation import labels_table, notice, sweep_notice, sweep_table
from bartviz.record.attention import Head
from bartviz.record.prediction import Prediction
from tests.support import networks

TEXT, QUESTION = "The cat is sleeping on the sofa.", "What time is it?"
LABELS = {0: "bad", 1: "good", 2: "fair"}


def theirs(folder: Path, architecture: str, texts: tuple[str, ...], head: Head | None) -> torch.Tensor:
    """The logits (C,), (n, C) or (n, 2) of transformers' class in float64, with the outputs of one head set to 0."""
    network = getattr(transformers, architecture).from_pretrained(folder, attn_implementation="eager").double().eval()
    if head is not None:
        layer = network.base_model.encoder.layer[head.layer].attention
        width = network.config.hidden_size // network.config.num_attention_heads

        layer.output.dense.register_forward_pre_hook(silent(head, width))
    with torch.inference_mode():
        out = network(**bartviz.load(folder).tokenizer(*texts, return_tensors="pt"))
    logits: torch.Tensor = torch.stack((out.start_logits, out.end_logits), -1) if "start_logits" in out else out.logits
    return logits[0]


def said(
    was: torch.Tensor, now: torch.Tensor, task: str, problem: str | None, words: torch.Tensor
) -> tuple[float, float]:
    """The change of the log probability and of the margin of what ``was`` says, label by label."""
    if problem is not None:
        yes = was > 0
        p, q = (torch.where(yes, one.sigmoid(), 1 - one.sigmoid()) for one in (was, now))
        sure, surer = (torch.where(yes, one, -one).min() for one in (was, now))
        return float((q / p).log().sum()), float(surer - sure)
    rows = (
        (was.T, now.T)
        if task == "QuestionAnswering"
        else (was.reshape(-1, was.shape[-1]), now.reshape(-1, now.shape[-1]))
    )
    log_p, margin = [], []
    for row, (one, two) in enumerate(zip(*rows, strict=True)):
        if task == "TokenClassification" and not words[row]:
            continue
        label = int(one.argmax())
        others = [place for place in range(len(one)) if place != label]
        log_p.append(float((two.softmax(0)[label] / one.softmax(0)[label]).log()))
        margin.append(float((two[label] - two[others].max()) - (one[label] - one[others].max())))
    return float(np.mean(log_p)), float(np.mean(margin))


def changed(was: torch.Tensor, now: torch.Tensor, task: str, problem: str | None, words: torch.Tensor) -> float:
    """The share of what ``was`` says in whose place ``now`` says another."""
    if problem is not None:
        return float(((was > 0) != (now > 0)).double().mean())
    along = 0 if task == "QuestionAnswering" else -1
    other = (was.argmax(along) != now.argmax(along)).double()
    return float(other[words].mean() if task == "TokenClassification" else other.mean())


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("task", "problem"),
    [
        ("SequenceClassification", None),
        ("SequenceClassification", "multi_label_classification"),
        ("TokenClassification", None),
        ("QuestionAnswering", None),
    ],
)
def test_a_head_is_measured_by_what_it_does_to_the_labels(task: str, problem: str | None, tmp_path: Path) -> None:
    architecture = f"BertFor{task}"
    options: dict[str, Any] = {} if task == "QuestionAnswering" else {"id2label": LABELS}
    options |= {} if problem is None else {"problem_type": problem}
    folder = networks.save("bert-pretraining", tmp_path, architecture=architecture, spread=0.3, trained=True, **options)
    model = bartviz.load(folder)
    texts = (QUESTION, TEXT) if task == "QuestionAnswering" else (TEXT,)
    record = bartviz.capture(model, texts[0], pair=texts[1] if len(texts) > 1 else None)
    sweep = bartviz.ablate_sweep(model, record)
    assert sweep.measures == ("labels", "label_log_probability", "label_margin", "distance")
    was = theirs(folder, architecture, texts, None)
    words = torch.from_numpy(~record.source.special)
    expected, log_p, margins, turned = [], [], [], []
    for head in sweep.heads:
        now = theirs(folder, architecture, texts, head)
        if problem is not None:
            p, q = was.sigmoid(), now.sigmoid()
            moved = (p * (p / q).log() + (1 - p) * ((1 - p) / (1 - q)).log()).sum()
        else:
            along = 0 if task == "QuestionAnswering" else -1
            p, q = was.log_softmax(along), now.log_softmax(along)
            moved = (p.exp() * (p - q)).sum(along)
            moved = moved[words].mean() if task == "TokenClassification" else moved.mean()
        expected.append(float(moved))
        chosen = said(was, now, task, problem, words)
        log_p.append(chosen[0])
        margins.append(chosen[1])
        turned.append(changed(was, now, task, problem, words))
    np.testing.assert_allclose(sweep.labels, expected, rtol=2e-3, atol=1e-5)
    np.testing.assert_allclose(sweep.label_log_probability, log_p, rtol=2e-3, atol=1e-4)
    np.testing.assert_allclose(sweep.label_margin, margins, rtol=2e-3, atol=1e-4)
    np.testing.assert_allclose(sweep.label_turned, turned, atol=1e-6)
    assert min(log_p) < -1e-3 < 1e-3 < max(np.abs(margins))
    first = sweep.ranked()[0]
    assert first == int(np.argmax(expected))
    assert sweep_table(sweep)["KL of the labels (nats)"].iloc[0] == sweep.labels[first]
    assert f"{sweep.labels[first]:.3g} nats" in sweep_notice(sweep)
    found = bartviz.ablate(model, record, [str(sweep.heads[first])])
    assert found.labels == pytest.approx(expected[first], rel=2e-3, abs=1e-5)
    assert found.label_log_probability == pytest.approx(log_p[first], rel=2e-3, abs=1e-4)
    assert found.effect == found.label_log_probability
    assert found.label_margin == pytest.approx(margins[first], rel=2e-3, abs=1e-4)
    assert found.label_turned == pytest.approx(turned[first])
    table = sweep_table(sweep)
    assert (
        table["log p of the label, change (nats)"].tolist() == sweep.label_log_probability[[*sweep.ranked()]].tolist()
    )
    assert "log p change (nats)" not in table
    frame = sweep.to_dataframe()
    assert frame.columns.tolist() == ["kind", "layer", "head", *sweep.measures]
    assert frame["labels"].tolist() == sweep.labels[[*sweep.ranked()]].tolist()
    assert Head(frame["kind"][0], frame["layer"][0], frame["head"][0]) == sweep.heads[first]
    assert f"KL of the labels, nats: {sweep.heads[first]} {sweep.labels[first]:.3g}" in repr(sweep)
    assert f"labels {found.labels:.4g} nats" in repr(found)
    assert f"KL {found.labels:.3g} nats." in notice(found)
    assert found.changed.prediction is not None
    silent = theirs(folder, architecture, texts, sweep.heads[first]).float().numpy()
    np.testing.assert_allclose(found.changed.prediction.logits, np.atleast_2d(silent), atol=1e-4)
    if task == "SequenceClassification":
        p, q = (one.probabilities[0] for one in (record.prediction, found.changed.prediction) if one is not None)
        most = int(np.abs(q - p).argmax())
        assert all(word in notice(found) for word in (LABELS[most], f"{100 * p[most]:.0f}%", f"{100 * q[most]:.0f}%"))


@pytest.mark.parametrize("task", ["SequenceClassification", "TokenClassification"])
def test_what_is_said_of_a_changed_text_is_kept_with_it(task: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"architecture": f"BertFor{task}", "id2label": LABELS}
    model = bartviz.load(networks.save("bert-pretraining", tmp_path, spread=0.3, trained=True, **options))
    record = bartviz.capture(model, TEXT)
    changed = bartviz.edit(model, record, 2, int(record.source.ids[4])).changed
    assert bartviz.verify(model, changed)
    assert changed.prediction is not None
    with torch.inference_mode():
        logits = model.network(torch.tensor(changed.source.ids)[None]).logits[0]
    np.testing.assert_allclose(changed.prediction.logits, np.atleast_2d(logits.numpy()), atol=1e-4)


def test_a_head_of_a_regression_is_measured_by_the_value(tmp_path: Path) -> None:
    architecture = "BertForSequenceClassification"
    options: dict[str, Any] = {"architecture": architecture, "num_labels": 1, "problem_type": "regression"}
    folder = networks.save("bert-pretraining", tmp_path, spread=0.3, trained=True, id2label={0: "stars"}, **options)
    model = bartviz.load(folder)
    record = bartviz.capture(model, TEXT)
    sweep = bartviz.ablate_sweep(model, record)
    assert sweep.measures == ("value_change", "distance")
    was = theirs(folder, architecture, (TEXT,), None)
    expected = [float(theirs(folder, architecture, (TEXT,), head) - was) for head in sweep.heads]
    np.testing.assert_allclose(sweep.value_change, expected, rtol=2e-3, atol=1e-4)
    assert min(expected) < -1e-3 < 1e-3 < max(expected)
    first = sweep.ranked()[0]
    assert first == int(np.argmax(np.abs(expected)))
    assert sweep_table(sweep)["value, change"].iloc[0] == sweep.value_change[first]
    found = bartviz.ablate(model, record, [str(sweep.heads[first])])
    assert found.effect == found.value_change == pytest.approx(expected[first], rel=2e-3, abs=1e-4)
    assert np.isnan([found.labels, found.label_margin, found.label_turned]).all()
    assert f"the value “stars” went from {float(was):.3f} to {float(was) + expected[first]:.3f}." in notice(found)
    table = labels_table(found)
    assert table is not None
    before, after = table["value before"].to_numpy(), table["value after"].to_numpy()
    assert (after - before)[0] == pytest.approx(expected[first], abs=1e-4)


def test_a_classifier_that_reads_on_both_sides_is_measured_by_its_label(tmp_path: Path) -> None:
    """BART's own head on the decoder's last state, with the words that it no longer predicts left out."""
    architecture = "BartForSequenceClassification"
    options: dict[str, Any] = {"architecture": architecture, "id2label": LABELS}
    folder = networks.save("bart", tmp_path, spread=0.3, trained=True, **options)
    model = bartviz.load(folder)
    record = bartviz.capture(model, TEXT)
    sweep = bartviz.ablate_sweep(model, record)
    assert sweep.measures == ("labels", "label_log_probability", "label_margin", "distance")
    network = transformers.BartForSequenceClassification.from_pretrained(folder, attn_implementation="eager")
    network = network.double().eval()
    inputs = model.tokenizer(TEXT, return_tensors="pt")
    with torch.inference_mode():
        was = network(**inputs).logits[0]
    expected = []
    for head in sweep.heads:
        layers = network.model.encoder.layers if head.kind == "encoder" else network.model.decoder.layers
        block = layers[head.layer].encoder_attn if head.kind == "cross" else layers[head.layer].self_attn
        handle = block.out_proj.register_forward_pre_hook(silent(head, block.head_dim))
        with torch.inference_mode():
            now = network(**inputs).logits[0]
        handle.remove()
        p, q = was.log_softmax(-1), now.log_softmax(-1)
        expected.append([float((p.exp() * (p - q)).sum()), float(q[was.argmax()] - p[was.argmax()])])
    np.testing.assert_allclose(sweep.labels, [one[0] for one in expected], rtol=5e-3, atol=1e-5)
    np.testing.assert_allclose(sweep.label_log_probability, [one[1] for one in expected], rtol=5e-3, atol=1e-4)
    assert max(one[0] for one in expected) > 1e-3
    found = bartviz.ablate(model, record, [str(sweep.heads[sweep.ranked()[0]])])
    assert found.before is None
    assert found.written is None


def silent(head: Head, width: int) -> Any:
    """A hook that sets a head's part of what goes into the output projection to 0."""

    def hook(_module: torch.nn.Module, given: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        changed = given[0].clone()
        changed[..., head.head * width : (head.head + 1) * width] = 0
        return (changed, *given[1:])

    return hook


def test_a_number_without_probabilities_has_no_divergence() -> None:
    one = Prediction("text", ("stars",), np.array([[3.5]], np.float32), "none")
    assert np.isnan(prediction.divergence(one, one))
    assert np.isnan(prediction.said_label(one, one)).all()
    assert np.isnan(prediction.turned(one, one))


def test_a_translator_has_no_labels() -> None:
    model = bartviz.load("bart-tiny-en-de")
    record = bartviz.capture(model, "It is late.", target="Es ist spät.")
    sweep = bartviz.ablate_sweep(model, record, kinds="cross")
    assert "labels" not in sweep.measures
    found = bartviz.ablate(model, record, ["cross L0H0"], write=False)
    assert np.isnan([found.labels, found.label_log_probability, found.label_margin]).all()
    assert np.isnan(sweep.label_margin).all()
