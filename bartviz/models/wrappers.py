"""Wrappers around a network of transformers: removed, or named for the caller."""

from __future__ import annotations

import copy

from torch import nn
from torch.optim.swa_utils import AveragedModel
from transformers import PreTrainedModel

from bartviz.errors import ModelError
from bartviz.families.registry import family_of, is_known, of_network
from bartviz.language import later
from bartviz.models import adapters, unlisted

_PARALLEL = (nn.DataParallel, nn.parallel.DistributedDataParallel, AveragedModel)


def plain(network: nn.Module) -> nn.Module:
    """The network without what computes the same around it: torch.compile, copies for several devices, PEFT, whose
    adapters are merged in a copy. Raises ModelError and BudgetError as ``adapters.merged``."""
    return adapters.merged(_inner(_inner(network)))


def _inner(network: nn.Module) -> nn.Module:
    while (inside := _wrapped(network)) is not None:
        network = inside
    compiled = [name for name, module in network.named_modules() if name and _wrapped(module) is not None]
    if not compiled:
        return network
    shared = {id(part): part for part in (*network.parameters(), *network.buffers())}
    network = copy.deepcopy(network, shared)  # a copy of the modules, with the same tensors
    for name in compiled:
        network.set_submodule(name, _inner(network.get_submodule(name)))
    return network


def _wrapped(module: nn.Module) -> nn.Module | None:
    """The module that a compiled or parallel one computes with."""
    inside = module.module if isinstance(module, _PARALLEL) else getattr(module, "_orig_mod", None)
    return inside if isinstance(inside, nn.Module) else None


def expect_network(network: object) -> PreTrainedModel:
    """Raise ModelError for an object that is not a network of transformers, naming its first part that is one."""
    if isinstance(network, PreTrainedModel):
        return network
    advice = part_of(network)
    if advice is None:
        raise ModelError(
            later(
                "A network of transformers is expected, such as BertModel or BartForConditionalGeneration, not a "
                "{name}.",
                name=type(network).__name__,
            )
        )
    raise ModelError(
        later(
            "A network of transformers is expected, such as BertModel or BartForConditionalGeneration, not a {name}. "
            "Pass its part {part}.",
            name=type(network).__name__,
            part=advice,
        )
    )


def part_of(thing: object) -> str | None:
    """Where the first network that can be wrapped is within a module or a pipeline, as Python writes it."""
    prefix = "network"
    if not isinstance(thing, nn.Module):
        thing, prefix = getattr(thing, "model", None), "pipeline.model"
        if isinstance(thing, PreTrainedModel) and _can_be_read(thing):
            return prefix
    if not isinstance(thing, nn.Module):
        return None
    for name, module in thing.named_modules():
        if name and isinstance(module, PreTrainedModel) and _can_be_read(module):
            return prefix + "".join(f"[{step}]" if step.isdigit() else f".{step}" for step in name.split("."))
    return None


def _can_be_read(network: PreTrainedModel) -> bool:
    config = network.config
    model_type = getattr(config, "model_type", None)
    unlisted.adopt(model_type)
    if not isinstance(model_type, str) or not is_known(model_type) or getattr(config, "add_cross_attention", False):
        return False
    return not (family_of(model_type).kind != "decoder" and getattr(config, "is_decoder", False))


def check_layers(network: PreTrainedModel) -> None:
    """Raise ModelError for layers that were cut off or added without a word to the configuration."""
    family = of_network(network)
    names = [name for name, _ in network.named_modules()]
    for kind, layers in family.layers.items():
        numbers = {int(match[1]) for name in names if (match := layers.search(name))}
        key = family.key(kind, "layers")
        said = getattr(network.config, key)
        if len(numbers) != said:
            raise ModelError(
                later(
                    "The network has {there} {kind} layers, and its configuration says {said}: set "
                    "network.config.{key} = {there}.",
                    there=len(numbers),
                    kind=kind,
                    said=said,
                    key=key,
                )
            )


def check_weights(network: nn.Module) -> None:
    """Raise ModelError for weights that are computed from other tensors: pruned, or reparametrized."""
    ends = ("_orig", "weight_g", "weight_v")
    computed = [name for name, _ in network.named_parameters() if name.endswith(ends) or ".parametrizations." in name]
    if computed:
        raise ModelError(
            later(
                "Weights of the network are computed from others (pruned, or reparametrized): {names}. Make them "
                "permanent first: torch.nn.utils.prune.remove, torch.nn.utils.parametrize.remove_parametrizations or "
                "torch.nn.utils.remove_weight_norm.",
                names=", ".join(computed[:3]),
            )
        )
