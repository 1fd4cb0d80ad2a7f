"""OPT (Zhang et al. 2022): GPT-3's build, with learned positions that begin at row 2."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.family import Part, Side, Site, Variant
from bartviz.families.llama import BYTES, LLAMA, keys

OPT = replace(
    LLAMA,
    name="opt",
    title="OPT",
    keys=keys(
        LLAMA.keys,
        vocabulary=("vocab_size", 50_272),
        width=("hidden_size", 768),
        head_width=None,
        decoder_layers=("num_hidden_layers", 12),
        decoder_heads=("num_attention_heads", 12),
        decoder_key_heads=None,
        decoder_feed_forward=("ffn_dim", 3072),
        embedding_width=("word_embed_proj_dim", 768),
    ),
    activation=("activation_function", "relu"),
    tied=True,
    fixed={
        "do_layer_norm_before": True,
        "_remove_final_layer_norm": False,
        "enable_bias": True,
        "layer_norm_elementwise_affine": True,
    },
    decoder=Side(
        before=(
            Part(matrices.TOKENS, "decoder.embed_tokens.weight", "V e"),
            Part("embedding projection weight", "decoder.project_in.weight", "d e"),
            Part(matrices.POSITIONS, "decoder.embed_positions.weight", "P d"),
        ),
        layer="decoder.layers.{}.",
        parts=(
            *matrices.projections("q_proj k_proj v_proj out_proj", bias="qkvo"),
            *matrices.dense("fc1 fc2", bias=True),
            *matrices.norm("self-attention", "self_attn_layer_norm"),
            *matrices.norm("feed-forward", "final_layer_norm"),
        ),
        attention=Site("self_attn", "out_proj"),
        after=(
            *matrices.norm("final", "decoder.final_layer_norm"),
            Part("embedding projection back weight", "decoder.project_out.weight", "e d"),
        ),
    ),
    positions="learned",
    added_rows=2,
    variants={
        "OPTForCausalLM": Variant(
            matrices.WRITES,
            head=(Part("output layer weight", "lm_head.weight", "U e"),),
            ties={"lm_head.weight": ".decoder.embed_tokens.weight"},
        ),
        "OPTModel": Variant(matrices.BASE, bare=True),
    },
    classes=("OPTForCausalLM",),
    training=replace(BYTES, single="</s> A", paper="Zhang et al. 2022"),
)
