"""Phi (Gunasekar et al. 2023): attention and feed-forward read one norm and are added together."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.family import Site, Variant
from bartviz.families.llama import BYTES, LLAMA, keys, side, variants

PHI = replace(
    LLAMA,
    name="phi",
    title="Phi",
    keys=keys(
        LLAMA.keys,
        vocabulary=("vocab_size", 51_200),
        width=("hidden_size", 2048),
        head_width=None,
        decoder_layers=("num_hidden_layers", 24),
        decoder_feed_forward=("intermediate_size", 8192),
    ),
    activation=("hidden_act", "gelu_new"),
    fixed={"qk_layernorm": False},
    decoder=side(
        matrices.projections("q_proj k_proj v_proj dense", bias="qkvo"),
        matrices.dense("mlp.fc1 mlp.fc2", bias=True),
        matrices.norm("self-attention", "input_layernorm"),
        last=matrices.norm("final", "final_layernorm"),
        site=Site("self_attn", "dense"),
    ),
    parallel=True,
    variants={
        **variants("Phi"),
        "PhiForCausalLM": Variant(
            matrices.WRITES,
            head=(*matrices.LM, *matrices.linear("output layer", "lm_head", "U d")[1:]),
            ties={"lm_head.weight": ".embed_tokens.weight"},
        ),
    },
    classes=("PhiForCausalLM",),
    training=replace(BYTES, paper="Gunasekar et al. 2023; Li et al. 2023"),
)
