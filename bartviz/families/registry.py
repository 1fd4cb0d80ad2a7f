"""The supported families, by transformers' model_type."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from bartviz.families.encoder_alone import encoder_alone
from bartviz.families.family import Family
from bartviz.language import later
from bartviz.plugins import Extended, Plugin

# The modules of this folder that are no family.
OTHERS = frozenset(("catalogue", "config", "dropout", "encoder_alone", "family", "matrices", "registry"))
# Families in the order in which readers see them, and in which a type that nobody has listed is compared with them; one
# that is not named here comes after these.
_ORDER = """
bert roberta xlm-roberta camembert data2vec-text distilbert electra albert ernie modernbert eurobert bart mbart
plbart marian m2m_100 pegasus blenderbot blenderbot-small t5 mt5 umt5 gpt2 gpt_neox gpt_oss opt biogpt llama
mistral qwen2 qwen3 gemma gemma2 gemma3_text phi phi3 stablelm starcoder2 olmo2 olmo3 exaone4 cohere cohere2
granite smollm3 seed_oss arcee glm
""".split()  # noqa: SIM905
_KINDS = ("encoder", "encoder-decoder", "decoder")


def _found() -> list[Family]:
    """The family of each module of this folder, whose name in capitals it has: ``BERT`` in ``bert.py``."""
    names = [module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]) if module.name not in OTHERS]
    found = [getattr(import_module(f"bartviz.families.{name}"), name.upper()) for name in names]
    places = {name: place for place, name in enumerate(_ORDER)}
    return sorted(found, key=lambda family: (_KINDS.index(family.kind), places.get(family.name, len(places))))


def _accept(plugin: Plugin) -> tuple[str, Family]:
    if not isinstance(plugin.added, Family):
        raise plugin.refused(later("it is no Family, but {type}", type=type(plugin.added).__name__))
    if plugin.added.name != plugin.name:
        raise plugin.refused(later("its family is of the type {name}, which must be its name", name=plugin.added.name))
    return plugin.name, plugin.added


FAMILIES: Mapping[str, Family] = Extended({family.name: family for family in _found()}, "families", _accept)
"""The listed families, and after them those of plugins."""

# Types that nobody has listed, each read as a listed family: ``models/unlisted`` finds out which, and checks it.
_ADOPTED: dict[str, Family] = {}


@cache
def alone_of(model_type: str) -> Family | None:
    """The encoder of an encoder-decoder in a network of its own, by the type of the whole; None for other types."""
    family = FAMILIES.get(model_type)
    return encoder_alone(family) if family is not None and family.kind == "encoder-decoder" else None


def is_known(model_type: str) -> bool:
    """Whether a type is listed, or was adopted by this process."""
    return model_type in FAMILIES or model_type in _ADOPTED


def family_of(model_type: str, architecture: str | None = None) -> Family:
    """The family of a type, listed or adopted; of an encoder-decoder's encoder by itself, if that is the class. Raises
    KeyError."""
    alone = alone_of(model_type)
    if alone is not None and architecture in alone.classes:
        return alone
    return FAMILIES.get(model_type) or _ADOPTED[model_type]


def of_network(network: Any) -> Family:
    """The family of a network of transformers, by its configuration and class. Raises KeyError."""
    return family_of(network.config.model_type, type(network).__name__)


def adopt(family: Family) -> None:
    """Let a type be read as ``family`` says, for the life of this process; a listed type stays as it is."""
    if family.name not in FAMILIES:
        _ADOPTED[family.name] = family


def unlisted(model_type: str, like: str) -> Family:
    """The family of an unlisted type in a record: it was read as the listed family ``like``. Raises KeyError."""
    adopted = _ADOPTED.get(model_type)
    if adopted is not None and adopted.like == like:
        return adopted
    return replace(FAMILIES[like], name=model_type, title=model_type, like=like)
