"""capture() beside a plain forward pass with the fast kernel, and beside the peers' eager pass with attention."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import torch
from transformers import PreTrainedModel

import bartviz
from bartviz.models.model import Model
from benchmarks.pairs import paired
from benchmarks.subjects import ids, subject, text


def report(folder: Path, *, lengths: tuple[int, ...] = (32, 128, 512), seconds: float = 10.0) -> None:
    print("\nCapture: CPU time of bartviz.capture / a plain forward pass (fast kernel), and / the peers' way (eager)")
    for name in ("bert-base-uncased", "facebook/bart-base"):
        model = subject(name, folder)
        plain, eager = (_copy(model, kernel) for kernel in ("sdpa", "eager"))
        for n in lengths:
            ours = _ours(model, n)
            fast = paired(ours, _theirs(model, plain, n), seconds=seconds)
            print(f"  {name:20} n = {n:5}   / plain {fast}")
            peers = paired(ours, _theirs(model, eager, n, output_attentions=True), seconds=seconds)
            print(f"  {name:20} n = {n:5}   / eager {peers}", flush=True)


def _copy(model: Model, kernel: str) -> PreTrainedModel:
    network = copy.deepcopy(model.network)
    network.set_attn_implementation(kernel)
    return network


def _ours(model: Model, n: int) -> Callable[[], object]:
    source = text(n)
    target = source if model.info.kind == "encoder-decoder" else None
    return lambda: bartviz.capture(model, source, target=target)


def _theirs(model: Model, network: PreTrainedModel, n: int, **options: bool) -> Callable[[], object]:
    inputs = {"input_ids": torch.tensor([ids(n)])}
    if model.info.kind == "encoder-decoder":
        inputs["decoder_input_ids"] = inputs["input_ids"]
        options |= {"use_cache": False}
    else:
        network = network.base_model

    @torch.inference_mode()
    def forward() -> object:
        return network(**inputs, **options)

    return forward
