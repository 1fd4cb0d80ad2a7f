"""Lines 15c and 17b: small decoders that are trained now."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch

from bartviz import capture, load
from bartviz.errors import Cancelled
from bartviz.features.textbook import chapter_trained as trained
from bartviz.features.textbook import claim
from bartviz.features.textbook import networks_decoder as decoders
from bartviz.features.textbook.judging import MODEL
from bartviz.features.textbook.networks_decoder import Decoder
from bartviz.features.textbook.sentences import TEXT
from tests.features.textbook.ledger import found


def never() -> bool:
    return False


def test_the_least_loss_is_the_entropy_of_the_chain() -> None:
    following = decoders.transitions().numpy()
    values, vectors = np.linalg.eig(following.T)
    shares = np.real(vectors[:, np.isclose(values, 1)][:, 0])
    shares /= shares.sum()
    least = sum(-share * (row * np.log(row)).sum() for share, row in zip(shares, following, strict=True))
    assert decoders.entropy() == pytest.approx(least)
    chains = decoders.drawn(4096, torch.Generator().manual_seed(5)).numpy()
    seen = -np.log(following[chains[:, :-1], chains[:, 1:]]).mean()  # by a predictor that knows the probabilities
    assert seen == pytest.approx(least, rel=0.02)


def test_a_causal_decoder_computes_the_same_whether_the_text_goes_on_or_not() -> None:
    masked, seeing = (Decoder(3, causal=causal) for causal in (True, False))
    assert masked.given() == pytest.approx(masked.writing(), rel=1e-5)
    assert masked.ahead() == 0
    assert seeing.given() != pytest.approx(seeing.writing(), rel=1e-4)
    ids = torch.tensor([[1, 2, 3, 4]])
    other = torch.tensor([[1, 2, 3, 9]])
    torch.testing.assert_close(masked(ids)[0][:, :3], masked(other)[0][:, :3])
    assert not torch.equal(seeing(ids)[0][:, :3], seeing(other)[0][:, :3])


@pytest.mark.slow
def test_line_17b_a_decoder_that_looks_ahead_learns_to_copy() -> None:
    verdict = trained.copying(load(MODEL), never)
    assert verdict.word == "holds"
    seeing = Decoder(0, causal=False).train(never)
    chains = decoders.drawn(decoders.MEASURED, torch.Generator().manual_seed(decoders.HELD_OUT))
    with torch.inference_mode():
        logits, weights = seeing(chains[:, :-1])
        right = (logits.argmax(-1) == chains[:, 1:]).float().mean(0)  # (T,)
        alone = torch.stack([seeing(chains[:, : t + 1])[0][:, t] for t in range(decoders.LENGTH)], 1)
    log_p = logits.log_softmax(-1).gather(-1, chains[:, 1:, None])
    assert found(verdict, "trained without the mask") == pytest.approx(-float(log_p.mean()), rel=1e-4)
    written = -float(alone.log_softmax(-1).gather(-1, chains[:, 1:, None]).mean())
    assert found(verdict, "the same network while it writes") == pytest.approx(written, rel=1e-4)
    assert found(verdict, "the same network: weight") == pytest.approx(
        np.mean([float(weights[:, t, t + 1].mean()) for t in range(decoders.LENGTH - 1)]), rel=1e-4
    )
    assert right[:-1].min() > 0.95  # all but the last row, which has nothing to copy
    assert right[-1] < 0.9
    record = capture(load(MODEL), TEXT)
    own = np.mean([step.chosen.probability for step in record.steps])
    assert f"{own:.0%} with its own mask" in verdict.why


@pytest.mark.slow
def test_line_17b_fails_if_the_mask_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    class Masked(Decoder):
        def __init__(self, seed: int, *, causal: bool) -> None:
            super().__init__(seed, causal=causal or True)

    monkeypatch.setattr(trained, "Decoder", Masked)
    assert trained.copying(load(MODEL), never).word == "fails"


@pytest.mark.slow
def test_line_15c_is_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trained, "SEEDS", range(1))  # test_measured.py has all of them
    verdict = trained.smooth(load(MODEL), never)
    assert claim("15c").judged(verdict).word == "undecided"
    assert found(verdict, "GELU: jump") == pytest.approx(0, abs=1e-3)
    assert found(verdict, "ReLU: jump") == pytest.approx(1)
    ends = {
        name: [Decoder(seed, causal=True, activation=name).train(never).given() for seed in trained.SEEDS]
        for name in ("gelu", "relu")
    }
    assert found(verdict, "small decoders") == sum(map(float.__lt__, ends["gelu"], ends["relu"]))
    assert f"{np.mean(ends['gelu']):.3f} with GELU" in verdict.why


def test_a_training_can_be_stopped() -> None:
    with pytest.raises(Cancelled):
        Decoder(0, causal=True).train(partial(bool, 1))
