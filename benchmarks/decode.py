"""decode() with everything kept, beside generate() without attention: the same tokens."""

from __future__ import annotations

import copy
from pathlib import Path

import torch

import bartviz
from benchmarks.pairs import paired
from benchmarks.subjects import subject, text

NEW = 32


def report(folder: Path, *, lengths: tuple[int, ...] = (32, 128, 512), seconds: float = 15.0) -> None:
    print(f"\nDecoding {NEW} tokens: CPU time of bartviz.decode with all attention and top 10 / generate() without attention")
    model = subject("facebook/bart-base", folder)
    plain = copy.deepcopy(model.network)
    plain.set_attn_implementation("sdpa")
    model.generation.forced_eos_token_id = None
    for n in lengths:
        source = text(n)
        ids = torch.tensor([[0, *(5 + (7 * i) % 1000 for i in range(n - 2)), 2]])

        def ours(source: str = source) -> bartviz.record.Record:  # type: ignore[name-defined]
            return bartviz.decode(model, source, max_new_tokens=NEW)

        def theirs(ids: torch.Tensor = ids) -> torch.Tensor:
            out: torch.Tensor = plain.generate(
                ids, generation_config=model.generation, num_beams=1, do_sample=False, max_new_tokens=NEW
            )
            return out

        same = [step.chosen.token_id for step in ours().steps] == theirs()[0, 1:].tolist()
        print(f"  facebook/bart-base   n = {n:5}   {paired(ours, theirs, seconds=seconds)}   same tokens: {same}")
