"""Networks with PEFT's adapters: merged in a copy, so that every module is again the family's own.

PEFT is never imported here: a network with its adapters exists only where the caller has imported it.
"""

from __future__ import annotations

import copy
import sys
from typing import Any

import torch
from torch import nn

from bartviz.errors import ModelError
from bartviz.language import later
from bartviz.models import build

_WRAPPERS = ("ModulesToSaveWrapper", "TrainableTokensWrapper")  # of whole modules, in peft.utils


def merged(network: nn.Module) -> nn.Module:
    """The network with its active adapters added to the weights, and the copies of modules that were trained whole in
    their places, as a float32 copy on the CPU; itself without any.

    Adapters that are switched off are left out. Raises ModelError for prompts and prefixes, which are not weights of a
    module, BudgetError if the copy does not fit in memory.
    """
    peft: Any = sys.modules.get("peft")
    if peft is None or not isinstance(network, nn.Module):
        return network
    if isinstance(network, peft.PeftModel):
        if network.active_peft_config.is_prompt_learning:
            raise ModelError(
                later("The network's adapter is a prompt or prefix, which cannot be merged. Wrap the network below it.")
            )
        network = network.get_base_model()
    adapted: type[Any] = peft.tuners.tuners_utils.BaseTunerLayer
    kept = tuple(getattr(peft.utils, name) for name in _WRAPPERS)
    if not any(isinstance(module, (adapted, *kept)) for module in network.modules()):
        return network
    build.refuse_over(sum(4 * part.numel() for part in network.parameters()))
    plain = copy.deepcopy(network).to("cpu", torch.float32)
    for name, layer in [(name, module) for name, module in plain.named_modules() if isinstance(module, adapted)]:
        if layer.disable_adapters and layer.merged:
            layer.unmerge()
        elif not layer.disable_adapters and not layer.merged:
            layer.merge()
        plain.set_submodule(name, layer.get_base_layer())
    for name, wrapper in [(name, module) for name, module in plain.named_modules() if isinstance(module, kept)]:
        plain.set_submodule(name, _in_use(wrapper))
    return plain


def _in_use(wrapper: Any) -> nn.Module:
    """The module that a wrapper for whole modules computes with: a trained copy, such as a classifier's, or its own."""
    copies: Any = getattr(wrapper, "modules_to_save", None)
    if copies is None:  # rows of an embedding that are trained: merged above like any other adapter
        chosen: nn.Module = wrapper.token_adapter
        return chosen
    active = [name for name in wrapper.active_adapters if name in copies]
    own: nn.Module = wrapper.original_module
    return own if wrapper.disable_adapters or not active else copies[active[0]]
