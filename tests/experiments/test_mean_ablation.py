"""Mean ablation: by hand, then against transformers' own networks in float64 with hooks, text by text and batched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import bartviz
from bartviz.analysis.ablation import notice, sweep_notice
from bartviz.corpus.encode import encode
from bartviz.corpus.head_ablation import effects
from bartviz.corpus.read import Line
from bartviz.errors import SettingError, TextError
from bartviz.record.attention import Head
from bartviz.tape.head_means import Averaging
from bartviz.tape.tape import Tape
from tests.support import networks

TEXT, TARGET = "The cat is sleeping on the sofa.", "Die Katze schläft auf dem Sofa."
TEXTS = ("What time is it?", "A small dog runs through the old garden.", "It is late.")


def test_the_arithmetic_by_hand() -> None:
    """Two heads of width 1 at three positions; head 1 is scaled by 0.5 toward its mean, (2 + 4 + 9) / 3 = 5."""
    outputs = torch.tensor([[[[1.0], [2.0]], [[1.0], [4.0]], [[1.0], [9.0]]]])  # (1, 3, 2, 1)
    tape = Averaging()
    assert torch.equal(tape.outputs_of("encoder", 0, outputs), outputs)
    assert tape.means["encoder", 0].flatten().tolist() == [1, 5]
    half = Tape(scale_heads={Head("encoder", 0, 1): 0.5}, toward=tape.means)
    changed = half.outputs_of("encoder", 0, outputs)
    assert changed[0, :, 0].flatten().tolist() == [1, 1, 1]
    assert changed[0, :, 1].flatten().tolist() == [3.5, 4.5, 7]
    none = Tape(scale_heads={Head("encoder", 0, 1): 0.0}, toward=tape.means).outputs_of("encoder", 0, outputs)
    assert none[0, :, 1].flatten().tolist() == [5, 5, 5]
    assert torch.equal(half.outputs_of("encoder", 1, outputs), outputs)  # another layer
    without_the_last = Averaging(rows={"encoder": torch.tensor([True, True, False])})
    without_the_last.outputs_of("encoder", 0, outputs)
    assert without_the_last.means["encoder", 0].flatten().tolist() == [1, 3]


def projection(network: Any, head: Head) -> tuple[Any, int]:
    """The module whose input is the heads' outputs, and the width of a head."""
    if hasattr(network, "bert"):
        layer = network.bert.encoder.layer[head.layer].attention
        return layer.output.dense, layer.self.attention_head_size
    stack = network.model.encoder if head.kind == "encoder" else network.model.decoder
    layer = stack.layers[head.layer]
    block = layer.encoder_attn if head.kind == "cross" else layer.self_attn
    return block.out_proj, block.head_dim


def averaged(network: Any, head: Head, mean: torch.Tensor | None) -> Any:
    """A handle: the head's output becomes ``mean`` (d,), by default its own mean over the positions of the text."""
    module, width = projection(network, head)
    part = slice(head.head * width, (head.head + 1) * width)

    def hook(_module: torch.nn.Module, given: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        changed = given[0].clone()
        changed[..., part] = changed[..., part].mean(dim=1, keepdim=True) if mean is None else mean
        return (changed, *given[1:])

    return module.register_forward_pre_hook(hook)


@pytest.mark.parametrize("family", ["bert-pretraining", "bart"])
def test_every_head_is_averaged_as_hooks_do(family: str, tmp_path: Path) -> None:
    """A head's own mean is that of the unchanged run, so one head at a time is what a hook in one pass does."""
    options: dict[str, Any] = {"architecture": "BertForMaskedLM"} if family != "bart" else {}
    folder = networks.save(family, tmp_path, spread=0.3, trained=True, **options)
    model = bartviz.load(folder)
    record = bartviz.capture(model, TEXT, target=TARGET if family == "bart" else None)
    cls = transformers.BartForConditionalGeneration if family == "bart" else transformers.BertForMaskedLM
    network = cls.from_pretrained(folder, attn_implementation="eager").double().eval()
    inputs = {"input_ids": torch.from_numpy(record.source.ids.copy())[None]}
    if record.decoder is not None:
        inputs["decoder_input_ids"] = torch.from_numpy(record.decoder.query.ids.copy())[None]
    with torch.inference_mode():
        was = network(**inputs).logits[0].log_softmax(-1)
    rows = [step.row for step in record.steps] or np.flatnonzero(~record.source.special).tolist()
    targets = was[rows].argmax(-1) if record.output is None else torch.from_numpy(record.output.ids.copy())[rows]
    sweep = bartviz.ablate_sweep(model, record, mean=True)
    assert sweep.mean
    expected = []
    for head in sweep.heads:
        handle = averaged(network, head, None)
        with torch.inference_mode():
            now = network(**inputs).logits[0].log_softmax(-1)
        handle.remove()
        expected.append(float((now[rows].gather(1, targets[:, None]) - was[rows].gather(1, targets[:, None])).sum()))
    np.testing.assert_allclose(sweep.log_probability, expected, rtol=5e-3, atol=2e-4)
    assert np.abs(expected).max() > 1e-2
    zero = bartviz.ablate_sweep(model, record)
    assert np.abs(zero.log_probability - sweep.log_probability).max() > 1e-3
    first = sweep.heads[sweep.ranked()[0]]
    found = bartviz.ablate(model, record, [first], mean=True)
    assert found.effect == pytest.approx(expected[sweep.ranked()[0]], rel=5e-3, abs=2e-4)
    assert f"With {first} replaced by the mean" in notice(found)
    assert "With each head replaced by the mean in turn" in sweep_notice(sweep)
    same = bartviz.ablate(model, record, {first: 1.0}, mean=True, write=False)
    assert np.abs(same.distance).max() == 0


def test_the_means_of_texts_are_those_of_hooks_over_all_positions(tmp_path: Path) -> None:
    folder = networks.save("bert-pretraining", tmp_path, architecture="BertForMaskedLM", spread=0.3, trained=True)
    model = bartviz.load(folder)
    means = bartviz.head_means(model, TEXTS)
    network = transformers.BertForMaskedLM.from_pretrained(folder, attn_implementation="eager").double().eval()
    kept: list[torch.Tensor] = []
    module, width = projection(network, Head("encoder", 1, 2))
    handle = module.register_forward_pre_hook(lambda _module, given: kept.append(given[0][0]))
    with torch.inference_mode():
        for text in TEXTS:
            network(**model.tokenizer(text, return_tensors="pt"))
    handle.remove()
    every = torch.cat(kept)  # positions of all texts
    assert means.positions == {"encoder": len(every)}
    expected = every.mean(0)[2 * width : 3 * width].numpy()
    np.testing.assert_allclose(means.outputs["encoder"][1, 2], expected, rtol=1e-4, atol=1e-6)
    assert means.digest == bartviz.head_means(model, TEXTS).digest != bartviz.head_means(model, TEXTS[:1]).digest
    record = bartviz.capture(model, TEXT)
    found = bartviz.ablate(model, record, ["encoder L1H2"], mean=means)
    with torch.inference_mode():
        inputs = {"input_ids": torch.from_numpy(record.source.ids.copy())[None]}
        handle = averaged(network, Head("encoder", 1, 2), torch.from_numpy(expected))
        now = network(**inputs).logits[0].log_softmax(-1)
        handle.remove()
        was = network(**inputs).logits[0].log_softmax(-1)
    rows = np.flatnonzero(~record.source.special).tolist()
    divergence = (was[rows].exp() * (was[rows] - now[rows])).sum(-1).numpy()
    np.testing.assert_allclose(found.divergence, divergence, rtol=5e-3, atol=1e-5)


def test_a_corpus_averages_each_text_without_its_padding(tmp_path: Path) -> None:
    """Texts of several lengths in one batch have the effects that each has alone."""
    folder = networks.save("bart", tmp_path, spread=0.3, trained=True)
    model = bartviz.load(folder)
    rows = [encode(model, Line(i, "file", i, text, None, TARGET)) for i, text in enumerate(TEXTS)]
    together = effects(model, rows, True)
    for index, row in enumerate(rows):
        alone = effects(model, [row], True)
        for kind, values in alone.items():
            np.testing.assert_allclose(together[kind][index], values[0], rtol=2e-3, atol=1e-5)
    sweep = bartviz.ablate_sweep(model, bartviz.capture(model, TEXTS[1], target=TARGET), mean=True)
    for place, head in enumerate(sweep.heads):
        expected = sweep.divergence[place]
        assert together[head.kind][1, head.layer, head.head] == pytest.approx(expected, rel=5e-3, abs=1e-5)


def test_the_atlas_says_what_silenced_heads_became() -> None:
    model = bartviz.load("bert-tiny-en")
    means = bartviz.head_means(model, TEXTS)
    zero, text, given = (
        bartviz.corpus(TEXTS, model, silence=3, mean=mean).description["settings"].get("mean")
        for mean in (False, True, means)
    )
    assert (zero, text, given) == (None, "text", f"given: {means.digest}")


def test_what_cannot_be_averaged_is_refused(tmp_path: Path) -> None:
    model, other = bartviz.load("bert-tiny-en"), bartviz.load("bart-tiny-en-de")
    record = bartviz.capture(model, TEXT)
    means = bartviz.head_means(other, [(TEXT, TARGET)])
    with pytest.raises(SettingError, match="of another model"):
        bartviz.ablate(model, record, ["encoder L0H0"], mean=means)
    with pytest.raises(SettingError, match="of another model"):
        bartviz.corpus(TEXTS, model, silence=1, mean=means)
    with pytest.raises(TextError, match="no text"):
        bartviz.head_means(model, [])
    with pytest.raises(TextError, match="Text 2"):
        bartviz.head_means(model, ["A", "word " * 5000])
    changed = bartviz.ablate(model, record, ["encoder L0H0"], mean=True).changed
    assert changed.provenance.settings["ablated"] == ("encoder L0H0 x 0 to mean",)
    assert changed.sound
    with pytest.raises(SettingError, match="a mean, which a record does not keep"):
        bartviz.verify(model, changed)
