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
from bartviz.analysis.ablation import notice, sweep_notice, sweep_table
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

        def silence(_module: torch.nn.Module, given: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
            changed = given[0].clone()
            changed[..., head.head * width : (head.head + 1) * width] = 0
            return (changed, *given[1:])

        layer.output.dense.register_forward_pre_hook(silence)
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
    assert sweep.measures == ("labels", "distance")
    was = theirs(folder, architecture, texts, None)
    words = torch.from_numpy(~record.source.special)
    expected, log_p, margins = [], [], []
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
    np.testing.assert_allclose(sweep.labels, expected, rtol=2e-3, atol=1e-5)
    np.testing.assert_allclose(sweep.label_log_probability, log_p, rtol=2e-3, atol=1e-4)
    np.testing.assert_allclose(sweep.label_margin, margins, rtol=2e-3, atol=1e-4)
    assert min(log_p) < -1e-3 < 1e-3 < max(np.abs(margins))
    first = sweep.ranked()[0]
    assert first == int(np.argmax(expected))
    assert sweep_table(sweep)["KL of the labels (nats)"].iloc[0] == sweep.labels[first]
    assert f"{sweep.labels[first]:.3g} nats" in sweep_notice(sweep)
    found = bartviz.ablate(model, record, [str(sweep.heads[first])])
    assert found.labels == pytest.approx(expected[first], rel=2e-3, abs=1e-5)
    assert found.label_log_probability == pytest.approx(log_p[first], rel=2e-3, abs=1e-4)
    assert found.label_margin == pytest.approx(margins[first], rel=2e-3, abs=1e-4)
    assert f"labels {found.labels:.4g} nats" in repr(found)
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


def test_a_number_without_probabilities_has_no_divergence() -> None:
    one = Prediction("text", ("stars",), np.array([[3.5]], np.float32), "none")
    assert np.isnan(prediction.divergence(one, one))
    assert np.isnan(prediction.said_label(one, one)).all()


def test_a_translator_has_no_labels() -> None:
    model = bartviz.load("bart-tiny-en-de")
    record = bartviz.capture(model, "It is late.", target="Es ist spät.")
    sweep = bartviz.ablate_sweep(model, record, kinds="cross")
    assert "labels" not in sweep.measures
    found = bartviz.ablate(model, record, ["cross L0H0"], write=False)
    assert np.isnan([found.labels, found.label_log_probability, found.label_margin]).all()
    assert np.isnan(sweep.label_margin).all()
