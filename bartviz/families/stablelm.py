"""StableLM (Bellagente et al. 2024): Llama with LayerNorm, and a quarter of each head rotated."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.llama import BYTES, GATED, LLAMA, NAMES, keys, side, variants

STABLELM = replace(
    LLAMA,
    name="stablelm",
    title="StableLM",
    keys=keys(
        LLAMA.keys,
        vocabulary=("vocab_size", 50_304),
        width=("hidden_size", 2560),
        head_width=None,
        decoder_key_heads=("num_key_value_heads", 32),
        decoder_feed_forward=("intermediate_size", 6912),
        positions=("max_position_embeddings", 4096),
    ),
    fixed={"use_qkv_bias": False, "qk_layernorm": False, "use_parallel_residual": False},
    decoder=side(
        matrices.projections(NAMES),
        GATED,
        (
            *matrices.norm("self-attention", "input_layernorm"),
            *matrices.norm("feed-forward", "post_attention_layernorm"),
        ),
        last=matrices.norm("final", "norm"),
    ),
    variants=variants("StableLm"),
    classes=("StableLmForCausalLM",),
    training=replace(BYTES, paper="Bellagente et al. 2024"),
)
