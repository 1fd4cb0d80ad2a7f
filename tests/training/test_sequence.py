"""Losses of whole batches: what a version before reads."""

from __future__ import annotations

import torch

from training import evaluate, measure, sequence


def test_a_version_before_reads_the_text_in_its_usual_writing() -> None:
    """Alike where it reads what the network reads, whatever other text the network is shown."""
    device = torch.device("cpu")
    typed, usual, german = [0, 9, 10, 2], [0, 20, 2], [0, 30, 31, 2]
    model, before = (measure.load(evaluate.MODELS / evaluate.TRANSLATOR)[0].eval() for _ in range(2))
    model.requires_grad_(True)

    def gradient(batch: list[tuple[list[int], ...]]) -> torch.Tensor:
        model.zero_grad()
        sequence.loss(model, batch, device, 0.1, torch.float32, before, 0.7).backward()  # type: ignore[no-untyped-call]
        found: torch.Tensor = model.model.shared.weight.grad.clone()
        return found

    read = gradient([(typed, german)])
    assert torch.equal(gradient([(typed, german, typed)]), read)
    assert not torch.allclose(gradient([(typed, german, usual)]), read, atol=1e-6)
