"""gpt-oss (OpenAI 2025): a sink in addition to the keys of each head, windows in every other layer, experts."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.family import Part
from bartviz.families.llama import BYTES, LLAMA, NAMES, keys, side, variants

_EXPERTS = (
    *matrices.linear("feed-forward router", "mlp.router", "E d"),
    Part("feed-forward experts' gate and in weight", "mlp.experts.gate_up_proj", "E d g"),
    Part("feed-forward experts' gate and in bias", "mlp.experts.gate_up_proj_bias", "E g"),
    Part("feed-forward experts' out weight", "mlp.experts.down_proj", "E f d"),
    Part("feed-forward experts' out bias", "mlp.experts.down_proj_bias", "E d"),
)

GPT_OSS = replace(
    LLAMA,
    name="gpt_oss",
    title="gpt-oss",
    keys=keys(
        LLAMA.keys,
        vocabulary=("vocab_size", 201_088),
        width=("hidden_size", 2880),
        head_width=("head_dim", 64),
        decoder_layers=("num_hidden_layers", 36),
        decoder_heads=("num_attention_heads", 64),
        decoder_key_heads=("num_key_value_heads", 8),
        decoder_feed_forward=("intermediate_size", 2880),
        positions=("max_position_embeddings", 131_072),
        experts=("num_local_experts", 128),
        experts_used=("num_experts_per_tok", 4),
    ),
    aliases={"num_experts": "num_local_experts"},
    fixed={"attention_bias": True},
    decoder=side(
        (Part("self-attention sinks", "self_attn.sinks", "H"), *matrices.projections(NAMES, bias="qkvo")), _EXPERTS
    ),
    variants=variants("GptOss"),
    classes=("GptOssForCausalLM",),
    training=replace(BYTES, paper="OpenAI 2025"),
)
