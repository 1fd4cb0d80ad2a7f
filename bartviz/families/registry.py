"""The families that bartviz knows, by transformers' model_type."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bartviz.families.albert import ALBERT
from bartviz.families.bart import BART
from bartviz.families.bert import BERT
from bartviz.families.distilbert import DISTILBERT
from bartviz.families.electra import ELECTRA
from bartviz.families.family import Family
from bartviz.families.gpt2 import GPT2
from bartviz.families.marian import MARIAN
from bartviz.families.mbart import MBART
from bartviz.families.pegasus import PEGASUS
from bartviz.families.roberta import ROBERTA
from bartviz.families.t5 import T5

# In the order in which readers see them: encoders, encoder-decoders, decoders.
_ALL = (BERT, ROBERTA, DISTILBERT, ELECTRA, ALBERT, BART, MBART, MARIAN, PEGASUS, T5, GPT2)

FAMILIES: Mapping[str, Family] = MappingProxyType({family.name: family for family in _ALL})
