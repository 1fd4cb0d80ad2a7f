"""EuroBERT (Boizard et al. 2025): an encoder of Llama's build."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.bert import BERT
from bartviz.families.family import Variant
from bartviz.families.llama import LLAMA

EUROBERT = replace(
    LLAMA,
    name="eurobert",
    title="EuroBERT",
    keys={
        "vocabulary": ("vocab_size", 128_256),
        "width": ("hidden_size", 768),
        "encoder_layers": ("num_hidden_layers", 12),
        "encoder_heads": ("num_attention_heads", 12),
        "encoder_key_heads": ("num_key_value_heads", None),
        "encoder_feed_forward": ("intermediate_size", 3072),
        "positions": ("max_position_embeddings", 8192),
    },
    encoder=LLAMA.decoder,
    decoder=None,
    variants={
        "EuroBertModel": Variant(matrices.BASE, bare=True),
        "EuroBertForMaskedLM": matrices.fills_words(
            (matrices.LM[0]._replace(shape="V d"),), {"lm_head.weight": ".embed_tokens.weight"}
        ),
    },
    classes=("EuroBertForMaskedLM", "EuroBertModel"),
    training=replace(
        BERT.training,
        tokenizer=matrices.BYTE_PAIRS,
        single="<|begin_of_text|> A <|end_of_text|>",
        pair=None,
        objective=BERT.variants["BertForMaskedLM"].does,
        paper="Boizard et al. 2025",
    ),
)
