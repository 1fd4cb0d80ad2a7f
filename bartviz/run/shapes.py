"""Which networks the quick step (quick.py) knows: exactly the four families of BART's shape, as transformers has them.

The step is written for these modules and no others, so anything that was exchanged, quantised, wrapped, hooked or
half-precise, and any activation that does not work number by number, makes a network unknown.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import nn
from transformers import PreTrainedModel, activations

from bartviz.tape.tape import IMPLEMENTATION


@dataclass(frozen=True, slots=True)
class Shape:
    """The names of a family's classes begin with ``prefix``; ``network`` is the one that writes.

    norm_first: a layer normalises what goes into a block (pre-norm), not what comes out (post-norm).
    """

    prefix: str
    network: str
    norm_first: bool


SHAPES: Mapping[str, Shape] = {
    "bart": Shape("Bart", "BartForConditionalGeneration", norm_first=False),
    "mbart": Shape("MBart", "MBartForConditionalGeneration", norm_first=True),
    "marian": Shape("Marian", "MarianMTModel", norm_first=False),
    "pegasus": Shape("Pegasus", "PegasusForConditionalGeneration", norm_first=True),
}
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


def shape_of(network: PreTrainedModel) -> Shape | None:
    """The shape of a network whose decoder the quick step computes exactly; None for every other."""
    family = network.config.model_type
    source = f"transformers.models.{family}.modeling_{family}"
    shape = SHAPES.get(family)
    if shape is None or type(network).__module__ != source or type(network).__name__ != shape.network:
        return None
    classes = sys.modules[source]
    own = (getattr(classes, shape.prefix + part, None) for part in _PARTS)
    allowed = {type(network), *_COMMON, *_ACTIVATIONS, *own}
    decoder: nn.Module = network.get_decoder()
    attentive = getattr(decoder.config, "_attn_implementation", None) == IMPLEMENTATION
    parts = [network, network.model, network.lm_head, *decoder.modules()]
    return shape if attentive and all(type(part) in allowed and _untouched(part) for part in parts) else None


def _untouched(module: nn.Module) -> bool:
    """Whether a module runs its class's own code on plain float32 numbers."""
    hooks = (module._forward_hooks, module._forward_pre_hooks)  # torch has no other way to ask
    plain = all(
        weight.dtype == torch.float32 and weight.device.type == "cpu" and weight.is_contiguous()
        for weight in (*module._parameters.values(), *module._buffers.values())
        if weight is not None
    )
    return plain and not any(hooks) and not module.training and "forward" not in vars(module)
