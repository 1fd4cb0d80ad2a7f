"""The families that bartviz knows, by transformers' model_type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from bartviz.families.albert import ALBERT
from bartviz.families.arcee import ARCEE
from bartviz.families.bart import BART
from bartviz.families.bert import BERT
from bartviz.families.biogpt import BIOGPT
from bartviz.families.blenderbot import BLENDERBOT
from bartviz.families.blenderbot_small import BLENDERBOT_SMALL
from bartviz.families.camembert import CAMEMBERT
from bartviz.families.cohere import COHERE
from bartviz.families.cohere2 import COHERE2
from bartviz.families.data2vec_text import DATA2VEC_TEXT
from bartviz.families.distilbert import DISTILBERT
from bartviz.families.electra import ELECTRA
from bartviz.families.encoder_alone import encoder_alone
from bartviz.families.ernie import ERNIE
from bartviz.families.eurobert import EUROBERT
from bartviz.families.exaone4 import EXAONE4
from bartviz.families.family import Family
from bartviz.families.gemma import GEMMA
from bartviz.families.gemma2 import GEMMA2
from bartviz.families.gemma3_text import GEMMA3_TEXT
from bartviz.families.glm import GLM
from bartviz.families.gpt2 import GPT2
from bartviz.families.gpt_neox import GPT_NEOX
from bartviz.families.gpt_oss import GPT_OSS
from bartviz.families.granite import GRANITE
from bartviz.families.llama import LLAMA
from bartviz.families.m2m_100 import M2M_100
from bartviz.families.marian import MARIAN
from bartviz.families.mbart import MBART
from bartviz.families.mistral import MISTRAL
from bartviz.families.modernbert import MODERNBERT
from bartviz.families.mt5 import MT5
from bartviz.families.olmo2 import OLMO2
from bartviz.families.olmo3 import OLMO3
from bartviz.families.opt import OPT
from bartviz.families.pegasus import PEGASUS
from bartviz.families.phi import PHI
from bartviz.families.phi3 import PHI3
from bartviz.families.plbart import PLBART
from bartviz.families.qwen2 import QWEN2
from bartviz.families.qwen3 import QWEN3
from bartviz.families.roberta import ROBERTA
from bartviz.families.seed_oss import SEED_OSS
from bartviz.families.smollm3 import SMOLLM3
from bartviz.families.stablelm import STABLELM
from bartviz.families.starcoder2 import STARCODER2
from bartviz.families.t5 import T5
from bartviz.families.umt5 import UMT5
from bartviz.families.xlm_roberta import XLM_ROBERTA

# In the order in which readers see them: encoders, encoder-decoders, decoders.
_ENCODERS = (
    BERT,
    ROBERTA,
    XLM_ROBERTA,
    CAMEMBERT,
    DATA2VEC_TEXT,
    DISTILBERT,
    ELECTRA,
    ALBERT,
    ERNIE,
    MODERNBERT,
    EUROBERT,
)
_ENCODER_DECODERS = (BART, MBART, PLBART, MARIAN, M2M_100, PEGASUS, BLENDERBOT, BLENDERBOT_SMALL, T5, MT5, UMT5)
_DECODERS = (
    GPT2,
    GPT_NEOX,
    GPT_OSS,
    OPT,
    BIOGPT,
    LLAMA,
    MISTRAL,
    QWEN2,
    QWEN3,
    GEMMA,
    GEMMA2,
    GEMMA3_TEXT,
    PHI,
    PHI3,
    STABLELM,
    STARCODER2,
    OLMO2,
    OLMO3,
    EXAONE4,
    COHERE,
    COHERE2,
    GRANITE,
    SMOLLM3,
    SEED_OSS,
    ARCEE,
    GLM,
)

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {family.name: family for family in (*_ENCODERS, *_ENCODER_DECODERS, *_DECODERS)}
)

# The encoders of encoder-decoders in networks of their own, by the type of the whole.
ENCODERS_ALONE: Mapping[str, Family] = MappingProxyType(
    {family.name: encoder_alone(family) for family in _ENCODER_DECODERS}
)

# Types that nobody has listed, each read as a listed family: ``models/unlisted`` finds out which, and checks it.
_ADOPTED: dict[str, Family] = {}


def is_known(model_type: str) -> bool:
    """Whether a type is listed, or was adopted by this process."""
    return model_type in FAMILIES or model_type in _ADOPTED


def family_of(model_type: str, architecture: str | None = None) -> Family:
    """The family of a type, listed or adopted; of an encoder-decoder's encoder by itself, if that is the class. Raises
    KeyError."""
    alone = ENCODERS_ALONE.get(model_type)
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
    """What a record can say of an unlisted type: it was read as the listed family ``like``. Raises KeyError."""
    adopted = _ADOPTED.get(model_type)
    if adopted is not None and adopted.like == like:
        return adopted
    return replace(FAMILIES[like], name=model_type, title=model_type, like=like)
