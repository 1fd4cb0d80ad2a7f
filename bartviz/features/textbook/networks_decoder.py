"""A small decoder, trained now to predict chains of tokens: with the causal mask or without, with GELU or with ReLU.

A token of a chain depends on the one before it alone, by probabilities that are known (a Markov chain). So is the least
loss of a prediction that does not see its token: the chain's entropy rate (Shannon 1948, section 7).
Shapes: B chains, T tokens, V vocabulary, D width.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

import torch
from torch import Tensor, nn

from bartviz.errors import Cancelled
from bartviz.language import later

VOCABULARY, LENGTH, WIDTH = 12, 8, 32
CHAINS, STEPS, RATE = 64, 150, 0.01
MEASURED = 1024  # chains
CHAIN, HELD_OUT = 0, 1  # seeds: of the probabilities, and of the chains that a trained network is measured on
ACTIVATIONS: Mapping[str, Callable[[Tensor], Tensor]] = {"gelu": nn.functional.gelu, "relu": nn.functional.relu}
Cancel = Callable[[], bool]


@lru_cache
def transitions() -> Tensor:
    """(V, V) double: the probability of each next token, a row for each token."""
    generator = torch.Generator().manual_seed(CHAIN)
    return (2 * torch.randn(VOCABULARY, VOCABULARY, generator=generator)).double().softmax(-1)


@lru_cache
def shares() -> Tensor:
    """(V,): how often each token occurs in a long chain, the distribution that a step does not change."""
    found: Tensor = torch.linalg.matrix_power(transitions(), 1000)[0]
    return found


def entropy() -> float:
    """The least mean loss of a prediction that does not see the next token, in nats."""
    following = transitions()
    return float(-(shares()[:, None] * following * following.log()).sum())


def drawn(count: int, generator: torch.Generator) -> Tensor:
    """(B, T + 1) chains of tokens."""
    following = transitions()
    chains = [torch.multinomial(shares().expand(count, -1), 1, generator=generator)[:, 0]]
    for _ in range(LENGTH):
        chains.append(torch.multinomial(following[chains[-1]], 1, generator=generator)[:, 0])
    return torch.stack(chains, dim=1)


class Decoder:
    """One layer: self-attention of one head and a feed-forward part, each after a norm, and their sums."""

    def __init__(self, seed: int, *, causal: bool, activation: str = "gelu") -> None:
        self.causal, self.activate = causal, ACTIVATIONS[activation]
        self.generator = torch.Generator().manual_seed(seed)
        square = (WIDTH, WIDTH)
        sizes = {"tokens": (VOCABULARY, WIDTH), "positions": (LENGTH, WIDTH), "out": (WIDTH, VOCABULARY)}
        sizes |= {"q": square, "k": square, "v": square, "heads": square}
        sizes |= {"up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH)}
        self.weights = {
            name: (torch.randn(size, generator=self.generator) / max(WIDTH, size[0]) ** 0.5).requires_grad_()
            for name, size in sizes.items()
        }

    def __call__(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """(B, t, V) logits of what follows each of t tokens, and (B, t, t) weights, for ids (B, t)."""
        w, t = self.weights, ids.shape[1]
        states = w["tokens"][ids] + w["positions"][:t]  # (B, t, D)
        q, k, v = (_norm(states) @ w[name] for name in "qkv")
        scores = q @ k.mT / WIDTH**0.5  # (B, t, t)
        if self.causal:
            scores = scores.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), -torch.inf)
        weights = scores.softmax(-1)
        states = states + weights @ v @ w["heads"]
        states = states + self.activate(_norm(states) @ w["up"]) @ w["down"]
        return _norm(states) @ w["out"], weights

    def train(self, cancelled: Cancel) -> Decoder:
        """Train it on STEPS batches of new chains, all their tokens at once. Raises Cancelled."""
        optimizer = torch.optim.Adam(list(self.weights.values()), RATE)
        for _ in range(STEPS):
            if cancelled():
                raise Cancelled(later("The run was stopped."))
            chains = drawn(CHAINS, self.generator)
            loss = _loss(self(chains[:, :-1])[0], chains[:, 1:])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        return self

    @torch.inference_mode()
    def given(self) -> float:
        """Mean loss if the whole text is given at once, as in training, in nats."""
        chains = _held_out()
        return float(_loss(self(chains[:, :-1])[0], chains[:, 1:]))

    @torch.inference_mode()
    def writing(self) -> float:
        """Mean loss if the text ends where the next token is predicted, as in writing, in nats."""
        chains = _held_out()
        steps = [_loss(self(chains[:, :t])[0][:, -1:], chains[:, t : t + 1]) for t in range(1, LENGTH + 1)]
        return float(torch.stack(steps).mean())

    @torch.inference_mode()
    def ahead(self) -> float:
        """The mean weight of a row on the next token; the last row has none."""
        weights = self(_held_out()[:, :-1])[1]
        return float(weights.diagonal(1, dim1=1, dim2=2).mean())


def _held_out() -> Tensor:
    return drawn(MEASURED, torch.Generator().manual_seed(HELD_OUT))


def _norm(states: Tensor) -> Tensor:
    return nn.functional.layer_norm(states, (WIDTH,))


def _loss(logits: Tensor, ids: Tensor) -> Tensor:
    return nn.functional.cross_entropy(logits.flatten(0, 1), ids.flatten())
