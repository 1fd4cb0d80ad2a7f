"""GPT-NeoX (Black et al. 2022), whose build Pythia has: attention and feed-forward are added together."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.family import Site
from bartviz.families.llama import BYTES, LLAMA, keys, side, variants

GPT_NEOX = replace(
    LLAMA,
    name="gpt_neox",
    title="GPT-NeoX",
    keys=keys(
        LLAMA.keys,
        vocabulary=("vocab_size", 50_432),
        width=("hidden_size", 6144),
        head_width=None,
        decoder_layers=("num_hidden_layers", 44),
        decoder_heads=("num_attention_heads", 64),
        decoder_key_heads=None,
        decoder_feed_forward=("intermediate_size", 24_576),
    ),
    activation=("hidden_act", "gelu"),
    fixed={"use_parallel_residual": True, "attention_bias": True},
    base="gpt_neox.",
    decoder=side(
        matrices.fused("attention.query_key_value", "attention.dense", bias="qo"),
        matrices.dense("mlp.dense_h_to_4h mlp.dense_4h_to_h", bias=True),
        (
            *matrices.norm("self-attention", "input_layernorm"),
            *matrices.norm("feed-forward", "post_attention_layernorm"),
        ),
        last=matrices.norm("final", "final_layer_norm"),
        site=Site("attention", "dense"),
        tokens="embed_in",
    ),
    parallel=True,
    variants=variants("GPTNeoX", tokens="embed_in"),
    classes=("GPTNeoXForCausalLM",),
    training=replace(BYTES, paper="Black et al. 2022; Biderman et al. 2023"),
)
