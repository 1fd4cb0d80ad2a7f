"""BioGPT (Luo et al. 2022): GPT-2's build for biomedical texts, with learned positions."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.family import Part, Site, Variant
from bartviz.families.llama import BYTES, LLAMA, keys, side

BIOGPT = replace(
    LLAMA,
    name="biogpt",
    title="BioGPT",
    keys=keys(
        LLAMA.keys,
        vocabulary=("vocab_size", 42_384),
        width=("hidden_size", 1024),
        head_width=None,
        decoder_layers=("num_hidden_layers", 24),
        decoder_heads=("num_attention_heads", 16),
        decoder_key_heads=None,
        decoder_feed_forward=("intermediate_size", 4096),
        positions=("max_position_embeddings", 1024),
    ),
    activation=("hidden_act", "gelu"),
    tied=True,
    fixed={},
    base="biogpt.",
    decoder=side(
        matrices.projections("q_proj k_proj v_proj out_proj", bias="qkvo"),
        matrices.dense("fc1 fc2", bias=True),
        (*matrices.norm("self-attention", "self_attn_layer_norm"), *matrices.norm("feed-forward", "final_layer_norm")),
        last=matrices.norm("final", "layer_norm"),
        site=Site("self_attn", "out_proj"),
        before=(Part(matrices.POSITIONS, "embed_positions.weight", "P d"),),
    ),
    positions="learned",
    added_rows=2,
    variants={
        "BioGptForCausalLM": Variant(
            matrices.WRITES,
            head=(Part("output layer weight", "output_projection.weight", "U d"),),
            ties={"output_projection.weight": ".embed_tokens.weight"},
        ),
        "BioGptModel": Variant(matrices.BASE, bare=True),
    },
    classes=("BioGptForCausalLM",),
    training=replace(BYTES, tokenizer=matrices.BYTE_PAIRS, single="</s> A", paper="Luo et al. 2022"),
)
