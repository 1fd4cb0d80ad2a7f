"""StarCoder2 (Lozhkov et al. 2024): a decoder for code with biases everywhere and no gate."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.llama import BYTES, LLAMA, NAMES, keys, side, variants

STARCODER2 = replace(
    LLAMA,
    name="starcoder2",
    title="StarCoder2",
    keys=keys(
        LLAMA.keys,
        vocabulary=("vocab_size", 49_152),
        width=("hidden_size", 3072),
        head_width=None,
        decoder_layers=("num_hidden_layers", 30),
        decoder_heads=("num_attention_heads", 24),
        decoder_key_heads=("num_key_value_heads", 2),
        decoder_feed_forward=("intermediate_size", 12_288),
        positions=("max_position_embeddings", 4096),
    ),
    activation=("hidden_act", "gelu_pytorch_tanh"),
    tied=True,
    fixed={"use_bias": True},
    decoder=side(
        matrices.projections(NAMES, bias="qkvo"),
        matrices.dense("mlp.c_fc mlp.c_proj", bias=True),
        (
            *matrices.norm("self-attention", "input_layernorm"),
            *matrices.norm("feed-forward", "post_attention_layernorm"),
        ),
        last=matrices.norm("final", "norm"),
    ),
    variants=variants("Starcoder2"),
    classes=("Starcoder2ForCausalLM",),
    training=replace(BYTES, paper="Lozhkov et al. 2024"),
)
