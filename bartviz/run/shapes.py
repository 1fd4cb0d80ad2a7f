"""Which networks the fast step (fast_step.py) can run: the families built like BART, exactly as in transformers.

The step is written for these modules alone, so it is not used for a network with a module replaced, quantized, wrapped,
hooked or in half precision, or with an activation that is not elementwise.
"""

from __future__ import annotations

import sys

import torch
from torch import nn
from transformers import PreTrainedModel, activations

from bartviz.families.family import Family
from bartviz.families.registry import FAMILIES
from bartviz.tape.tape import IMPLEMENTATION

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


def family_of(network: PreTrainedModel) -> Family | None:
    """The family of a network if the fast step can run its decoder exactly, else None."""
    family = FAMILIES[network.config.model_type]
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
    hooks = (module._forward_hooks, module._forward_pre_hooks)  # torch has no public attribute for them
    plain = all(
        weight.dtype == torch.float32 and weight.device.type == "cpu" and weight.is_contiguous()
        for weight in (*module._parameters.values(), *module._buffers.values())
        if weight is not None
    )
    return plain and not any(hooks) and not module.training and "forward" not in vars(module)
