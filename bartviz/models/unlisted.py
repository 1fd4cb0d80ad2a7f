"""Model types that nobody has listed: read as a listed family whose matrices they have, and compared with eager.

transformers gains types faster than anyone describes them, and some have the matrices of Llama or BERT by another name.
A network of such a type is of its own class and computes what that computes; the listed family says where its attention
and its matrices are. Whether the tape then records everything that its attention does is measured, not assumed.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any

import torch
import transformers
from torch import Tensor
from transformers import PreTrainedModel
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

from bartviz.analysis.parameters import fits
from bartviz.errors import ModelError
from bartviz.families import config as configs
from bartviz.families import registry
from bartviz.families.config import Sizes
from bartviz.families.family import Family
from bartviz.families.registry import FAMILIES
from bartviz.language import later
from bartviz.models.one_thread import alone
from bartviz.safety.other_libraries import guarded
from bartviz.tape import tape

FAILS = later(
    "The model fails on a short text: its settings and weights contradict each other, or torch cannot compute it here."
)
TOKENS = 64  # of the text on which a network is compared with eager attention, if it reads that many
LIMIT = 1e-4  # largest difference between the two outputs, relative to the largest number
_LAYERS, _SIZE = 2, 64  # of the networks whose matrices are compared: their depth, and sizes that a type leaves open


def adopt(model_type: object) -> None:
    """Let an unlisted type be read as the first listed family that has its matrices, if there is one."""
    if isinstance(model_type, str) and model_type in CONFIG_MAPPING and not registry.is_known(model_type):
        with alone(None):
            found = _read_as(model_type)
        if found is not None:
            registry.adopt(found)


@lru_cache(maxsize=64)
def _read_as(model_type: str) -> Family | None:
    cannot = ModelError(later("The model's network cannot be built from its configuration."))
    for family in FAMILIES.values():
        names = _names(family, model_type)
        if family.classes[0] in names and family.gated is None:
            with suppress(ModelError), guarded(cannot):
                if _same_matrices(family, model_type, names):
                    return _written(family, model_type, names)
    return None


def _names(family: Family, model_type: str) -> dict[str, str]:
    """The family's classes, and what the type calls them; those that it does not have are left out."""
    prefix = next(name for name, variant in family.variants.items() if variant.bare).removesuffix("Model")
    other = MODEL_MAPPING_NAMES.get(model_type)
    if not isinstance(other, str):
        return {}
    named = {name: other.removesuffix("Model") + name.removeprefix(prefix) for name in family.variants}
    return {name: its for name, its in named.items() if hasattr(transformers, its)}


def _same_matrices(family: Family, model_type: str, names: Mapping[str, str]) -> bool:
    """Whether small networks of the two have parameters of the same names and shapes, and the type offers its
    attention."""
    plain = CONFIG_MAPPING[model_type]()
    sizes = {key: size or _SIZE for key, size in family.keys.values() if getattr(plain, key, 0) is None}
    layers = {key: _LAYERS for word, (key, _) in family.keys.items() if word.endswith("_layers")}
    config = CONFIG_MAPPING[model_type](**sizes, **layers)
    with torch.device("meta"):
        network: PreTrainedModel = getattr(transformers, names[family.classes[0]])(config)
    network.set_attn_implementation(tape.IMPLEMENTATION)
    offered = getattr(network.config, "_attn_implementation", None) == tape.IMPLEMENTATION
    listed = configs.sizes({**config.to_dict(), "model_type": family.name})
    return offered and fits(listed, family.classes[0], network)


def _written(family: Family, model_type: str, names: Mapping[str, str]) -> Family:
    """The family with the type's names and defaults."""
    config = CONFIG_MAPPING[model_type]()
    network_class: type[PreTrainedModel] = getattr(transformers, names[family.classes[-1]])
    return replace(
        family,
        name=model_type,
        title=model_type,
        like=family.name,
        keys={word: (key, getattr(config, key, default)) for word, (key, default) in family.keys.items()},
        activation=(family.activation[0], getattr(config, *family.activation)),
        base=f"{network_class.base_model_prefix}.",
        variants={its: family.variants[name] for name, its in names.items()},
        classes=tuple(names[name] for name in family.classes if name in names),
    )


def notices(sizes: Sizes, network: PreTrainedModel) -> tuple[str, ...]:
    """Notices about a network of an unlisted type; empty for a listed one. Raises ModelError if it is not what the
    listed family says, or computes with eager attention something else than on the tape."""
    family = sizes.family
    if not family.like:
        return ()
    listed = FAMILIES[family.like]
    kept = next(name for name, its in _names(listed, family.name).items() if its == type(network).__name__)
    with alone(None):
        same = fits(replace(sizes, model_type=listed.name), kept, network)
    if not same:
        raise ModelError(
            later(
                "Models of type {type} are not listed. Most have the matrices of {title}; this one has "
                "others, so it cannot be read.",
                type=family.name,
                title=listed.title,
            )
        )
    with guarded(ModelError(FAILS)):
        apart = difference(network)
    if apart > LIMIT:
        raise ModelError(
            later(
                "Models of type {type} are not listed. They have the matrices of {title}, but compute something else "
                "with them: the outputs differ by {apart:.2g} from those of eager attention.",
                type=family.name,
                title=listed.title,
                apart=apart,
            )
        )
    return (
        later(
            "Models of type {type} are not listed: nobody has verified this family. It has the matrices of {title} and "
            "is read as such. On a text of {count} tokens its output equals that of eager attention to {apart:.0e}.",
            type=family.name,
            title=listed.title,
            count=_length(network),
            apart=max(apart, 1e-9),
        ),
    )


def difference(network: PreTrainedModel) -> float:
    """The largest difference between the outputs of eager attention and of the tape's, relative to the largest."""
    ids = torch.arange(_length(network))[None] % network.config.vocab_size  # (1, n)
    eager, ours = (_output(network, ids, how) for how in ("eager", tape.IMPLEMENTATION))
    return float((ours - eager).abs().max() / eager.abs().max().clamp_min(1e-9))


def _length(network: PreTrainedModel) -> int:
    return min(TOKENS, getattr(network.config, "max_position_embeddings", TOKENS) - 2)


def _output(network: PreTrainedModel, ids: Tensor, implementation: str) -> Tensor:
    """(1, n, V), or the last states of a network without a head."""
    given: dict[str, Any] = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if network.config.is_encoder_decoder:
        given["decoder_input_ids"] = ids
    network.set_attn_implementation(implementation)
    try:
        with torch.inference_mode():
            output: Tensor = network(**given)[0]
    finally:
        network.set_attn_implementation(tape.IMPLEMENTATION)
    return output
