"""One decoding step of BART, mBART, Marian and Pegasus, written out for a single new token.

It computes what transformers' modules compute for one new token (step.py) but skips what that case does not need:
masks, module calls, a cache that is copied as it grows. Attention goes through the tape's function, so recording,
scaling heads and cancelling work as usual. No weight is copied.
Several texts can take their steps together: each matrix is read once for all of them, while the attention of each text
is computed alone, unpadded and on its own tape.
It earns its place by a measurement: through the modules, decoding 20 tokens with the small translator takes 1.32 times
as long (least processor time of 25 runs each).
Letters in shapes: B batch rows, S source tokens, T allocated positions, D model width, H heads,
d head width, V vocabulary.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedModel, activations

from bartviz.families import registry
from bartviz.families.family import Family
from bartviz.tape.tape import IMPLEMENTATION, attend_on, current

_ROOM = 64  # positions allocated at first; doubled when full
_LARGE = 1 << 19  # numbers in a matrix: a smaller one stays in the cache, and calling oneDNN costs more than it saves
# transformers leaves hooks on a network whose hidden states were asked for once; unasked, they do nothing.
_CAPTURE = "transformers.utils.output_capturing"
Rows = Callable[[Tensor], Tensor]  # (B, in) -> (B, out)
Module = Any  # a transformers module, whose parts are read by name
# The modules for which the step is written, as transformers names them, and what they are made of.
_PARTS = (
    "Model",
    "Decoder",
    "DecoderLayer",
    "Attention",
    "ScaledWordEmbedding",
    "LearnedPositionalEmbedding",
    "SinusoidalPositionalEmbedding",
)
_COMMON = (nn.Linear, nn.LayerNorm, nn.Embedding, nn.ModuleList)
_ACTIVATIONS = (
    nn.ReLU,
    nn.SiLU,
    nn.Tanh,
    activations.GELUActivation,
    activations.SiLUActivation,
    activations.NewGELUActivation,
    activations.FastGELUActivation,
    activations.QuickGELUActivation,
    activations.GELUTanh,
    activations.ReLUSquaredActivation,
)


class Writer:
    """A decoder during the generation of one text: takes one token per row, returns the logits of the next, and caches
    keys and values. It records on the tape of the context in which it was made."""

    def __init__(self, network: PreTrainedModel, states: Tensor, *, norm_first: bool) -> None:
        decoder = network.get_decoder()
        self._words = decoder.embed_tokens
        self._scale = getattr(decoder, "embed_scale", 1.0)  # BART and mBART scale inside of embed_tokens
        self._positions = decoder.embed_positions.weight  # (positions, D)
        self._offset = getattr(decoder.embed_positions, "offset", 0)
        self._first = _optional_norm(decoder, "layernorm_embedding")
        self._layers = [_Layer(layer, states, norm_first=norm_first) for layer in decoder.layers]
        self._last = _optional_norm(decoder, "layer_norm")
        self._head = _product(network.lm_head.weight, network.final_logits_bias[0])
        self._filled = 0

    @classmethod
    def of(cls, network: PreTrainedModel, states: Tensor) -> Writer | None:
        """A writer that attends to the encoder's states (1, S, D); None if the fast step cannot run this network."""
        family = family_of(network)
        return None if family is None else cls(network, states, norm_first=family.norm == "pre")

    def step(self, ids: Tensor) -> Tensor:
        """Feed new tokens (B, t) column by column -> raw logits (B, V) of the token after the last."""
        for column in ids.T:
            logits = self.together([self], column)
        return logits

    @staticmethod
    def together(writers: Sequence[Writer], ids: Tensor) -> Tensor:
        """Feed n texts of one network B rows each, a new token a row: ids (n * B,), text by text -> raw logits
        (n * B, V)."""
        first, rows = writers[0], len(ids) // len(writers)
        places = torch.tensor([writer._filled + writer._offset for writer in writers]).repeat_interleave(rows)
        x = first._first(first._words(ids) * first._scale + first._positions[places])  # (n * B, D)
        for layers in zip(*(writer._layers for writer in writers), strict=True):
            x = layers[0](layers, x)
        for writer in writers:
            writer._filled += 1
        return first._head(first._last(x))

    def reorder(self, index: Tensor) -> None:
        """Row i becomes what row ``index[i]`` was. What earlier steps recorded on the tape does not change."""
        for layer in self._layers:
            layer.self_attention.reorder(index)


class _Layer:
    """Self-attention, cross-attention and feed-forward network, each with its residual connection."""

    def __init__(self, layer: Module, states: Tensor, *, norm_first: bool) -> None:
        self.self_attention = _SelfAttention(layer.self_attn)
        self._cross_attention = _CrossAttention(layer.encoder_attn, states)
        self._feed_forward = _feed_forward(layer)
        self._norm_first = norm_first
        self._norms = [
            _norm(norm) for norm in (layer.self_attn_layer_norm, layer.encoder_attn_layer_norm, layer.final_layer_norm)
        ]

    def __call__(self, texts: Sequence[_Layer], x: Tensor) -> Tensor:
        """x (n * B, D) -> (n * B, D); ``texts``: this layer of each of the n texts, its own included."""
        blocks: tuple[Rows, ...] = (
            lambda rows: _attention([text.self_attention for text in texts], rows),
            lambda rows: _attention([text._cross_attention for text in texts], rows),
            self._feed_forward,
        )
        for block, norm in zip(blocks, self._norms, strict=True):
            x = x + block(norm(x)) if self._norm_first else norm(x + block(x))
        return x


class _Attention(ABC):
    """One attention module of one text: its projections around the tape's attention function."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._tape = current()
        self._count, self._width, self._scaling = module.num_heads, module.head_dim, module.scaling
        self._q, self._k, self._v, self.out = (
            _affine(getattr(module, name)) for name in ("q_proj", "k_proj", "v_proj", "out_proj")
        )

    @abstractmethod
    def projected(self, x: Tensor) -> tuple[Tensor, ...]:
        """x (n, D) -> what ``context`` takes, (n, H, d) each: queries first, and what else comes from x."""

    @abstractmethod
    def context(self, *projected: Tensor) -> Tensor:
        """The heads' outputs (B, D) for the rows of this text."""

    def _heads(self, rows: Tensor) -> Tensor:
        """(n, D) -> (n, H, d)."""
        return rows.view(-1, self._count, self._width)

    def _attend(self, q: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """q (B, H, d), keys and values (B, H, K, d) -> (B, H * d)."""
        context, _ = attend_on(self._tape, self._module, q[:, :, None], keys, values, None, scaling=self._scaling)
        return context.reshape(len(q), -1)  # from (B, 1, H, d)


def _attention(texts: Sequence[_Attention], x: Tensor) -> Tensor:
    """One attention module for n texts: x (n * B, D) -> (n * B, D). Each attends alone, between shared projections."""
    parts = [part.chunk(len(texts)) for part in texts[0].projected(x)]  # chunks of (B, H, d)
    contexts = [text.context(*own) for text, *own in zip(texts, *parts, strict=True)]
    return texts[0].out(torch.cat(contexts) if len(contexts) > 1 else contexts[0])


class _SelfAttention(_Attention):
    """Self-attention, with cached keys and values of every position so far."""

    def __init__(self, module: Module) -> None:
        super().__init__(module)
        self._keys = self._values = torch.empty(0, 0, 0, 0)  # (B, H, T, d) each
        self._filled = 0

    def projected(self, x: Tensor) -> tuple[Tensor, ...]:
        return self._heads(self._q(x)), self._heads(self._k(x)), self._heads(self._v(x))

    def context(self, *projected: Tensor) -> Tensor:
        q, k, v = projected
        if self._filled == self._keys.shape[2]:
            self._keys, self._values = (_grown(self._keys, k), _grown(self._values, v))
        self._keys[:, :, self._filled], self._values[:, :, self._filled] = k, v
        self._filled += 1
        return self._attend(q, self._keys[:, :, : self._filled], self._values[:, :, : self._filled])

    def reorder(self, index: Tensor) -> None:
        self._keys, self._values = self._keys[index], self._values[index]


class _CrossAttention(_Attention):
    """Attention to the source, whose keys and values are the same for every row and every step."""

    def __init__(self, module: Module, states: Tensor) -> None:
        super().__init__(module)
        self._keys, self._values = (
            self._heads(project(states[0])).transpose(0, 1).contiguous()[None] for project in (self._k, self._v)
        )  # (1, H, S, d) each

    def projected(self, x: Tensor) -> tuple[Tensor, ...]:
        return (self._heads(self._q(x)),)

    def context(self, *projected: Tensor) -> Tensor:
        (q,) = projected
        return self._attend(q, self._keys.expand(len(q), -1, -1, -1), self._values.expand(len(q), -1, -1, -1))


def _affine(linear: nn.Linear) -> Rows:
    return _product(linear.weight, linear.bias)


def _product(weight: Tensor, bias: Tensor | None) -> Rows:
    """x -> x W^T + b for a few rows x, with weight (out, in) and bias (out,) as they are in memory.

    With the few rows of decoding, oneDNN multiplies by a large matrix faster than ``linear`` does.
    """
    weight, bias = weight.detach(), None if bias is None else bias.detach()
    if weight.numel() < _LARGE or not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return lambda x: functional.linear(x, weight, bias)
    product = torch.ops.mkldnn._linear_pointwise.default
    return lambda x: product(x, weight, bias, "none", [], "")


def _feed_forward(layer: Module) -> Rows:
    first, activation, second = _affine(layer.fc1), layer.activation_fn, _affine(layer.fc2)
    return lambda x: second(activation(first(x)))


def _norm(norm: nn.LayerNorm) -> Rows:
    shape, weight, bias, eps = norm.normalized_shape, norm.weight, norm.bias, norm.eps
    return lambda x: torch.layer_norm(x, shape, weight, bias, eps)


def _optional_norm(module: Module, name: str) -> Rows:
    norm = getattr(module, name, None)
    return (lambda x: x) if norm is None else _norm(norm)


def _grown(old: Tensor, new: Tensor) -> Tensor:
    """A copy of ``old`` with room for twice as many positions (at least ``_ROOM``) of rows like ``new`` (B, H, d)."""
    room = max(_ROOM, 2 * old.shape[2])
    wide = new.new_empty(*new.shape[:2], room, new.shape[2])
    if old.shape[2]:
        wide[:, :, : old.shape[2]] = old
    return wide


def family_of(network: PreTrainedModel) -> Family | None:
    """The family of a network if the fast step can run its decoder exactly, else None.

    It is written for the families built like BART, exactly as in transformers: not for a network with a module
    replaced, quantized, wrapped, hooked or in half precision, or with an activation that is not elementwise.
    """
    family = registry.family_of(network.config.model_type)
    source = f"transformers.models.{family.name}.modeling_{family.name}"
    if not family.fast_step or (type(network).__module__, type(network).__name__) != (source, family.classes[0]):
        return None
    classes = sys.modules[source]
    prefix = next(name for name, variant in family.variants.items() if variant.bare).removesuffix("Model")
    own_classes = (getattr(classes, prefix + part, None) for part in _PARTS)
    allowed = {type(network), *_COMMON, *_ACTIVATIONS, *own_classes}
    decoder: nn.Module = network.get_decoder()
    attentive = getattr(decoder.config, "_attn_implementation", None) == IMPLEMENTATION
    parts = [network, network.model, network.lm_head, *decoder.modules()]
    return family if attentive and all(type(part) in allowed and _untouched(part) for part in parts) else None


def _untouched(module: nn.Module) -> bool:
    """Whether a module runs its class's unmodified code on plain float32 weights."""
    hooks = (*module._forward_hooks.values(), *module._forward_pre_hooks.values())  # torch has no public attribute
    plain = all(
        weight.dtype == torch.float32 and weight.device.type == "cpu" and weight.is_contiguous()
        for weight in (*module._parameters.values(), *module._buffers.values())
        if weight is not None
    )
    foreign = [hook for hook in hooks if getattr(hook, "__module__", "") != _CAPTURE]
    return plain and not foreign and not module.training and "forward" not in vars(module)
