"""capture() beside a plain forward pass with the fast kernel, and beside the peers' eager pass with attention."""

from __future__ import annotations

import copy
from pathlib import Path

import torch

import bartviz
from benchmarks.pairs import paired
from benchmarks.subjects import subject, text


def report(folder: Path, *, lengths: tuple[int, ...] = (32, 128, 512), seconds: float = 10.0) -> None:
    print("\nCapture: CPU time of bartviz.capture / a plain forward pass (fast kernel), and / eager with output_attentions")
    for name in ("bert-base-uncased", "facebook/bart-base"):
        model = subject(name, folder)
        plain = copy.deepcopy(model.network)
        plain.set_attn_implementation("sdpa")
        eager = copy.deepcopy(model.network)
        eager.set_attn_implementation("eager")
        for n in lengths:
            source = text(n)
            target = source if model.info.kind == "encoder-decoder" else None
            ids = torch.tensor([[0, *(5 + (7 * i) % 1000 for i in range(n - 2)), 2]])
            inputs = {"input_ids": ids} | ({} if target is None else {"decoder_input_ids": ids, "use_cache": False})
            part = (lambda network: network.base_model) if target is None else (lambda network: network)

            def ours(source: str = source, target: str | None = target) -> object:
                return bartviz.capture(model, source, target=target)

            @torch.inference_mode()
            def forward(network: object = plain, part: object = part, inputs: object = inputs, **options: object) -> object:
                return part(network)(**inputs, **options)  # type: ignore[operator]

            def attentions(forward: object = forward) -> object:
                return forward(eager, output_attentions=True)  # type: ignore[operator]

            print(f"  {name:20} n = {n:5}   / plain {paired(ours, forward, seconds=seconds)}")
            print(f"  {name:20} n = {n:5}   / eager {paired(ours, attentions, seconds=seconds)}")
