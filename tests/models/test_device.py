"""A model on another device: here a pretended one, with the rules of a GPU and the numbers of the CPU."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from pandas.testing import assert_frame_equal
from torch import overrides
from transformers import PreTrainedModel

import bartviz
from bartviz.analysis.residual import Stack
from bartviz.corpus.read import Line
from bartviz.corpus.run_folder import Job
from bartviz.corpus.work import measured, random
from bartviz.errors import BudgetError, SettingError
from bartviz.experiments.embeddings import inputs
from bartviz.experiments.output_layer import output_layer
from bartviz.experiments.residual import residual
from bartviz.models import device
from bartviz.record.record import Record
from bartviz.safety import torch_defaults
from tests.support import loaded, networks
from tests.support.pretended import DEVICE, Pretended

TEXT = "The cat is sleeping on the sofa, but the children played outside."
PAIRS = (
    ("It is late.", "Es ist spät."),
    ("The teacher gave the old book to a friend of mine.", "Der Lehrer gab das alte Buch einem Freund von mir."),
    ("A dog sees a dog.", "Ein Hund sieht einen Hund."),
)
NEAR = 2e-5  # the step that is written out for the CPU rounds differently


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pretended]:
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda check_available=False: DEVICE)
    monkeypatch.setattr(torch.accelerator, "device_count", lambda: 1)
    aside = torch_defaults._thread_defaults
    with Pretended() as pretended:

        @contextmanager
        def kept() -> Iterator[None]:
            """A caller's modes are put aside; the device is none, although it is made of one."""
            modes: Any = overrides._get_current_function_mode_stack()  # type: ignore[no-untyped-call]
            here = pretended in modes  # not in a thread that loads
            with aside(), pretended if here else nullcontext():
                yield

        monkeypatch.setattr(torch_defaults, "_thread_defaults", kept)
        yield pretended


@pytest.mark.some("bert", "bart", "gpt2")
@pytest.mark.parametrize("family", sorted(networks.FAMILIES.keys() - {"gpt_oss"}))  # it uses a kernel that a CPU lacks
def test_a_record_of_another_device_is_that_of_the_cpu(family: str, pretended: Pretended) -> None:
    here = loaded.model(family)
    there = here.to("cuda")
    assert (here.device.type, there.device) == ("cpu", DEVICE)
    before = pretended.operations
    right, found = (bartviz.capture(model, TEXT, values=True) for model in (here, there))
    assert pretended.operations > before
    assert found.sound
    assert found.provenance.settings["device"] == "cuda"
    assert "device" not in right.provenance.settings
    assert found.target_text == right.target_text
    _check_alike(found, right)


def _check_alike(found: Record, right: Record) -> None:
    for kind in right.kinds:
        attention = right.attention(kind)
        for layer, head in np.ndindex(attention.shape[:2]):
            assert np.allclose(found.attention(kind).head(layer, head), attention.head(layer, head), atol=NEAR)
    assert np.allclose(
        [one.log_probability for one in found.steps], [one.log_probability for one in right.steps], atol=1e-4
    )


@pytest.mark.parametrize("family", ["bart", "gpt2", "llama"])
@pytest.mark.parametrize("beams", [1, 3])
def test_texts_are_written_there_too(family: str, beams: int, pretended: Pretended) -> None:
    here = loaded.model(family)
    right, found = (
        bartviz.decode(model, TEXT, max_new_tokens=6, beams=beams, ablate=["decoder L0H0"])
        for model in (here, here.to("cuda"))
    )
    _check_alike(found, right)
    assert found.sound


@pytest.mark.parametrize("family", ["bert", "bart", "gpt2"])
def test_experiments_run_there_too(family: str, pretended: Pretended) -> None:
    here = loaded.model(family)
    there = here.to("cuda")
    record = bartviz.capture(there, TEXT, values=True)
    before = pretended.operations
    assert all(check.passed for check in bartviz.verify(there, record))
    sweeps = [bartviz.ablate_sweep(model, record) for model in (here, there)]
    assert pretended.operations > before
    assert np.allclose(sweeps[1].divergence, sweeps[0].divergence, atol=NEAR)
    slopes = [bartviz.attribute(model, record, method="gradient x input", step=0) for model in (here, there)]
    assert np.allclose(slopes[1].values, slopes[0].values, atol=NEAR)
    stack: Stack = "encoder" if record.encoder is not None else "decoder"
    assert np.allclose(inputs(there, record).summed, inputs(here, record).summed)
    assert np.allclose(residual(there, record, stack, 1, 2).inner, residual(here, record, stack, 1, 2).inner, atol=1e-4)
    if record.steps:
        assert np.allclose(output_layer(there, record).state, output_layer(here, record).state, atol=1e-4)


@pytest.mark.parametrize("family", ["bert", "bart", "gpt2"])
def test_an_untrained_copy_is_run_there_too(family: str, pretended: Pretended) -> None:
    other = pytest.importorskip("bartviz.features.pitfalls.run_random_weights").untrained(
        loaded.model(family).to("cuda")
    )
    assert other.runner is other.network


@pytest.mark.some("bert")
@pytest.mark.parametrize("name", ["bart-tiny-en-de", "bert-tiny-en"])
def test_a_corpus_is_measured_there_too(name: str, pretended: Pretended) -> None:
    here = bartviz.load(name)
    there = here.to("cuda")
    target = here.info.kind == "encoder-decoder"
    rows = tuple(
        Line(number, "", number, en, target=de if target else None, gold="0-0 1?1" if target else None)
        for number, (en, de) in enumerate(PAIRS)
    )
    job = Job(0, rows, (), edges=0.2, silence=1.0)
    before = pretended.operations
    right, found = ((measured(model, job), random(model)) for model in (here, there))
    assert pretended.operations > before
    for one, other in zip(right, found, strict=True):
        assert one.sums.keys() == other.sums.keys()
        for kind, part in one.sums.items():
            assert np.array_equal(part.count, other.sums[kind].count)
            assert np.allclose(part.total, other.sums[kind].total, rtol=1e-4, atol=1e-4)
    for table in ("edges", "texts"):
        kept = [pd.read_parquet(BytesIO(one.tables[table])) for one in (right[0], found[0])]
        assert_frame_equal(kept[0], kept[1], atol=1e-5)


def test_a_model_is_loaded_for_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda check_available=False: DEVICE)
    monkeypatch.setattr(torch.accelerator, "device_count", lambda: 2)
    asked = []

    def on(network: PreTrainedModel, where: torch.device) -> PreTrainedModel:
        asked.append(str(where))
        return copy.deepcopy(network)

    monkeypatch.setattr(device, "on", on)
    for name in ("auto", "cuda", "cuda:1", "cpu"):
        model = bartviz.load("bert-tiny-en", device=name)
        assert (model.runner is model.network) == (name == "cpu")
    assert asked == ["cuda:0", "cuda:0", "cuda:1"]
    with pytest.raises(SettingError, match=r"no device cuda:2 here. Choose one of: cpu, cuda:0 or cuda:1\."):
        bartviz.load("bert-tiny-en", device="cuda:2")


def test_a_full_device_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "chosen", lambda name: DEVICE)

    def on(network: PreTrainedModel, where: torch.device) -> PreTrainedModel:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")

    monkeypatch.setattr(device, "on", on)
    with pytest.raises(BudgetError, match="not enough memory"):
        loaded.model("bert").to("cuda")


@pytest.mark.parametrize("name", ["cuda", "cuda:1", "mps", "gpu", "", "cpu:1", "meta", "die Karte"])
def test_a_device_that_is_not_there_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda check_available=False: None)
    model = loaded.model("bert")
    with pytest.raises(SettingError, match=rf"no device {name} here. Choose one of: cpu\."):
        model.to(name)
    assert model.to("auto").runner is model.to("cpu").runner is model.network
