"""capture() against a plain forward pass with the fast kernel, and against the peers' eager pass with attention."""

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

SMALL = (256, 512)  # widths of networks that a laptop answers with at once


def report(folder: Path, *, lengths: tuple[int, ...] = (32, 128, 512, 1024), seconds: float = 10.0) -> None:
    print("\nCapture: CPU time of bartviz.capture / a plain forward pass (fast kernel), and / the peers' way (eager)")
    for name in ("bert-base-uncased", "facebook/bart-base"):
        model = subject(name, folder)
        plain, eager = (copied(model, kernel) for kernel in ("sdpa", "eager"))
        for n in (n for n in lengths if n <= model.config.max_position_embeddings):
            own = ours(model, n)
            fast = paired(own, theirs(model, plain, n), seconds=seconds)
            print(f"  {name:20} n = {n:5}   / plain {fast}")
            peers = paired(own, theirs(model, eager, n, output_attentions=True), seconds=seconds)
            print(f"  {name:20} n = {n:5}   / eager {peers}", flush=True)

    for width in SMALL:
        sizes = dict.fromkeys(("encoder_layers", "decoder_layers"), 4)
        sizes |= dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), width // 64)
        sizes |= dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim"), 4 * width)
        model = subject("facebook/bart-base", folder, d_model=width, **sizes)
        fast = paired(ours(model, 500), theirs(model, copied(model, "sdpa"), 500), seconds=seconds)
        print(f"  BART, 4 + 4 layers, width {width}, n = 500 + 500   / plain {fast}", flush=True)


def copied(model: Model, kernel: str) -> PreTrainedModel:
    """The model's network with another attention kernel."""
    network = copy.deepcopy(model.network)
    network.set_attn_implementation(kernel)
    return network


def ours(model: Model, n: int) -> Callable[[], object]:
    """A capture of a text of n tokens, given as the output, too, where the model writes one."""
    source = text(n)
    target = source if model.info.kind == "encoder-decoder" else None
    return lambda: bartviz.capture(model, source, target=target)


def theirs(model: Model, network: PreTrainedModel, n: int, **options: bool) -> Callable[[], object]:
    """A pass of the network over the same tokens."""
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
