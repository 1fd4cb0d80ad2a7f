"""Lines about training, and about what transformers returns: measured on small networks of random weights.

Shapes: n tokens, D width.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import transformers
from torch import nn
from transformers import BartConfig, BartModel, BertConfig

from bartviz.features.textbook.judging import Number, Verdict, above, below
from bartviz.features.textbook.sentences import TEXT
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.models.one_thread import alone
from bartviz.run.forward import capture

DEPTHS = (6, 12, 24)
WIDTH, TOKENS, SEED = 64, 16, 0
TOY = later("layers {width} wide with random weights, {n} tokens", width=WIDTH, n=TOKENS)
Cancel = Callable[[], bool]


class _Block(nn.Module):
    """Self-attention of one head and a feed-forward layer; norms before or after the sums, or no sums at all."""

    def __init__(self, generator: torch.Generator, *, pre: bool, residual: bool) -> None:
        super().__init__()
        self.pre, self.residual = pre, residual
        sizes = {"q": (WIDTH, WIDTH), "k": (WIDTH, WIDTH), "v": (WIDTH, WIDTH), "out": (WIDTH, WIDTH)}
        sizes |= {"up": (4 * WIDTH, WIDTH), "down": (WIDTH, 4 * WIDTH)}
        self.weights = nn.ParameterDict(
            {
                name: nn.Parameter(torch.randn(size, generator=generator) / size[1] ** 0.5)
                for name, size in sizes.items()
            }
        )

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        for sublayer in (self._attention, self._feed_forward):
            into = _norm(states) if self.pre else states
            out = sublayer(into) + states if self.residual else sublayer(into)
            states = out if self.pre else _norm(out)
        return states

    def _attention(self, states: torch.Tensor) -> torch.Tensor:
        q, k, v = (states @ self.weights[name].T for name in "qkv")
        weights = (q @ k.T / WIDTH**0.5).softmax(-1)  # (n, n)
        out: torch.Tensor = weights @ v @ self.weights["out"].T
        return out

    def _feed_forward(self, states: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = nn.functional.gelu(states @ self.weights["up"].T) @ self.weights["down"].T
        return out


def _norm(states: torch.Tensor) -> torch.Tensor:
    return nn.functional.layer_norm(states, (WIDTH,))


def gradient(depth: int, layer: int, *, pre: bool, residual: bool = True) -> float:
    """Length of the gradient of a layer's last matrix at the start of training, for a sum of squared errors."""
    generator = torch.Generator().manual_seed(SEED)
    blocks = [_Block(generator, pre=pre, residual=residual) for _ in range(depth)]
    states, wanted = (torch.randn(TOKENS, WIDTH, generator=generator) for _ in range(2))
    for block in blocks:
        states = block(states)
    (_norm(states) - wanted).square().mean().backward()  # type: ignore[no-untyped-call]
    found = blocks[layer].weights["down"].grad
    assert found is not None  # the loss depends on every layer
    return float(found.norm())


def dropout(model: Model, cancelled: Cancel) -> Verdict:
    record = capture(model, TEXT, cancelled=cancelled)
    weights = torch.from_numpy(record.attention("encoder").head(0, 0).copy())  # (n, n)
    config, kept = BertConfig(), torch.rand(weights.shape, generator=torch.Generator().manual_seed(SEED)) >= 0.1
    off = float((weights * kept / 0.9).sum(-1).sub(1).abs().max())
    training = sum(part.training for part in model.network.modules())
    numbers = (
        Number(later("BERT by default: dropout of states and embeddings"), 0.1, config.hidden_dropout_prob),
        Number(later("BERT by default: dropout of attention weights"), 0.1, config.attention_probs_dropout_prob),
        Number(later("a run here: parts of the network with active dropout"), 0, training),
        Number(
            later("a head's weights with dropout 0.1: largest distance of a row's sum from 1"),
            0,
            off,
            core=False,
            within=1e-5,
        ),
    )
    why = later(
        "True; and during training rows of weights do not sum to 1, because those that are kept are divided "
        "by 0.9. Here they are up to {off:.2f} off.",
        off=off,
    )
    return Verdict(numbers, why, later("transformers' defaults; runs of {model}", model=model.info.name))


def norms(_model: Model, _cancelled: Cancel) -> Verdict:
    post, pre = ([gradient(depth, -1, pre=before) for depth in DEPTHS] for before in (False, True))
    numbers = (
        _falling(later("pre-norm"), pre),
        Number(
            later("{depth} layers, gradient of the last layer: post-norm against pre-norm", depth=DEPTHS[-1]),
            above(pre[-1]),
            post[-1],
        ),
        Number(later("networks trained to the end to see which is better"), above(0), 0),
    )
    why = later(
        "At the start the gradient of the last layer is {pre} for {depths} layers with pre-norm and {post} "
        "with post-norm: the deeper the network, the more stable pre-norm is. Only training could show which "
        "of them ends better.",
        pre=_each(pre),
        post=_each(post),
        depths=", ".join(map(str, DEPTHS)),
    )
    return Verdict(numbers, why, TOY)


def _falling(name: str, found: list[float]) -> Number:
    label = later("{name}: gradient of the last layer, {deep} layers against {shallow}", name=name, deep=DEPTHS[-1],
                  shallow=DEPTHS[0])  # fmt: skip
    return Number(label, below(found[0]), found[-1])


def _each(values: list[float]) -> str:
    return ", ".join(f"{value:.3f}" for value in values)


def residuals(_model: Model, _cancelled: Cancel) -> Verdict:
    depth = DEPTHS[-1]
    summed, alone = (gradient(depth, 0, pre=False, residual=residual) for residual in (True, False))
    numbers = (
        Number(
            later("{depth} layers: gradient of the first layer without the sums ÷ with them", depth=depth),
            below(0.1),
            alone / summed,
        ),
    )
    why = later(
        "With a LayerNorm after each sublayer the first layer's gradient at the start is {alone:.3f} without "
        "the sums and {summed:.3f} with them. That is only the start: how training continues, only training "
        "could show.",
        alone=alone,
        summed=summed,
    )
    return Verdict(numbers, why, TOY)


@torch.inference_mode()
def returned(_model: Model, _cancelled: Cancel) -> Verdict:
    """The article's program, with small weights instead of a download: the configuration asks for the matrices."""
    small = BartConfig(
        vocab_size=32, d_model=16, encoder_layers=6, decoder_layers=6, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=32,
    )  # fmt: skip
    weights = BartModel(small).state_dict()

    def loaded(**asked: bool) -> Any:
        config = BartConfig.from_dict(small.to_dict(), **asked)  # as from_pretrained reads a file of settings
        return BartModel.from_pretrained(None, config=config, state_dict=weights).eval()

    with alone(None):
        as_printed, without = loaded(output_attentions=True, output_hidden_states=True), loaded()
        found, none = _matrices(as_printed), _matrices(without)
    numbers = (Number(later("matrices of encoder, decoder and cross-attention"), "6 6 6", found),)
    why = later(
        "As the article says: with the option in its configuration, transformers {version} gives the model "
        "the kernel {printed}, which returns matrices. A model loaded without it keeps the kernel {fast}, "
        "and returns {none} if the option is only given at the call.",
        version=transformers.__version__,
        printed=as_printed.config._attn_implementation,
        fast=without.config._attn_implementation,
        none=none,
    )
    return Verdict(numbers, why, later("a BART of 6 + 6 layers with random weights"))


def _matrices(network: Any) -> str:
    """How many matrices of each kind it returns for a text and the start token."""
    out = network(input_ids=torch.arange(4, 9)[None], decoder_input_ids=torch.tensor([[0]]), output_attentions=True)
    found = (out.encoder_attentions, out.decoder_attentions, out.cross_attentions)
    return " ".join(str(len(matrices or ())) for matrices in found)
