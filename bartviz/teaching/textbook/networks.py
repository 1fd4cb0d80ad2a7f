"""Lines about training, and about what transformers returns: measured on small networks of random weights, made now.

Shapes: n tokens, D width.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from transformers import AutoModel, BartConfig, BertConfig

from bartviz.language import later
from bartviz.models.model import Model
from bartviz.run.forward import capture
from bartviz.teaching.textbook.judging import Number, Verdict, number

TEXT = "I want to buy a car."
DEPTHS = (6, 12, 24)
WIDTH, TOKENS, SEED = 64, 16, 0
TOY = later("layers {width} wide with random weights, {n} tokens, made now", width=WIDTH, n=TOKENS)
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
        number(later("BERT by default: dropout of states and embeddings"), 0.1, config.hidden_dropout_prob),
        number(later("BERT by default: dropout of attention weights"), 0.1, config.attention_probs_dropout_prob),
        number(later("a run here: parts of the network that drop anything"), 0, training),
        number(
            later("a head's weights with dropout 0.1: largest distance of a row's sum from 1"),
            0,
            round(off, 2),
            off < 1e-5,
            core=False,
        ),
    )
    why = later(
        "So it is; and while a network is trained, rows of weights do not sum to 1: those that are kept are divided by "
        "0.9. Here that is up to {off:.2f} off.",
        off=off,
    )
    return Verdict(numbers, why, later("transformers' defaults; runs of {model}, made now", model=model.info.name))


def norms(_model: Model, _cancelled: Cancel) -> Verdict:
    post, pre = ([gradient(depth, -1, pre=before) for depth in DEPTHS] for before in (False, True))
    numbers = (
        *_falling(later("pre-norm"), pre, core=True),
        number(
            later("{depth} layers, gradient of the last layer: post-norm against pre-norm", depth=DEPTHS[-1]),
            f"> {pre[-1]:.3f}",
            round(post[-1], 3),
            post[-1] > pre[-1],
        ),
        number(later("networks trained to the end to see which is better"), "> 0", 0, agrees=False, core=False),
    )
    why = later(
        "At the start the gradient of the last layer is {pre} for {depths} layers with pre-norm and {post} with "
        "post-norm: the deeper, the calmer pre-norm is. Which of them ends better only a training could show.",
        pre=_each(pre),
        post=_each(post),
        depths=", ".join(map(str, DEPTHS)),
    )
    return Verdict(numbers, why, TOY)


def _falling(name: str, found: list[float], *, core: bool) -> tuple[Number, ...]:
    label = later("{name}: gradient of the last layer, {deep} layers against {shallow}", name=name, deep=DEPTHS[-1],
                  shallow=DEPTHS[0])  # fmt: skip
    return (number(label, f"< {found[0]:.3f}", round(found[-1], 3), found[-1] < found[0], core=core),)


def _each(values: list[float]) -> str:
    return ", ".join(f"{value:.3f}" for value in values)


def residuals(_model: Model, _cancelled: Cancel) -> Verdict:
    depth = DEPTHS[-1]
    summed, alone = (gradient(depth, 0, pre=False, residual=residual) for residual in (True, False))
    numbers = (
        number(
            later("{depth} layers: gradient of the first layer without the sums ÷ with them", depth=depth),
            "< 0.1",
            round(alone / summed, 3),
            alone / summed < 0.1,
        ),
    )
    why = later(
        "With a LayerNorm after each sublayer the first layer's gradient at the start is {alone:.3f} without the sums "
        "and {summed:.3f} with them. That is where a training begins, not how it goes: only a training could decide.",
        alone=alone,
        summed=summed,
    )
    return Verdict(numbers, why, TOY, decides=False)


@torch.inference_mode()
def returned(_model: Model, _cancelled: Cancel) -> Verdict:
    config = BartConfig(
        vocab_size=32, d_model=16, encoder_layers=6, decoder_layers=6, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=32,
    )  # fmt: skip
    counts = {name: _matrices(config, name) for name in ("sdpa", "eager")}
    numbers = tuple(
        number(
            later("{kernel} kernel: matrices of encoder, decoder and cross-attention", kernel=name),
            "6 6 6",
            " ".join(map(str, found)),
            core=name == "sdpa",
        )
        for name, found in counts.items()
    )
    why = later(
        "Today transformers loads a model with a fast kernel, which returns none: the code stops at the first matrix "
        'that it looks up. With attn_implementation="eager" it runs as printed.'
    )
    return Verdict(numbers, why, later("a BART of 6 + 6 layers with random weights, made now"))


def _matrices(config: BartConfig, kernel: str) -> tuple[int, ...]:
    network = AutoModel.from_config(config, attn_implementation=kernel).eval()
    out = network(input_ids=torch.arange(4, 9)[None], output_attentions=True)
    found = (out.encoder_attentions, out.decoder_attentions, out.cross_attentions)
    return tuple(len(matrices or ()) for matrices in found)
