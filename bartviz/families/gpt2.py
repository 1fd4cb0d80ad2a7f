"""GPT-2 (Radford et al. 2019). Its linear layers are written input width first."""

from __future__ import annotations

from bartviz.families import matrices
from bartviz.families.family import Family, Part, Side, Site, Training, Variant
from bartviz.language import mark

GPT2 = Family(
    name="gpt2",
    title="GPT-2",
    keys={
        "vocabulary": ("vocab_size", 50_257),
        "width": ("n_embd", 768),
        "decoder_layers": ("n_layer", 12),
        "decoder_heads": ("n_head", 12),
        "decoder_feed_forward": ("n_inner", None),
        "positions": ("n_positions", 1024),
    },
    activation=("activation_function", "gelu_new"),
    aliases={
        "hidden_size": "n_embd",
        "max_position_embeddings": "n_positions",
        "num_attention_heads": "n_head",
        "num_hidden_layers": "n_layer",
    },
    base="transformer.",
    decoder=Side(
        before=(Part(matrices.TOKENS, "wte.weight", "V d"), Part(matrices.POSITIONS, "wpe.weight", "P d")),
        layer="h.{}.",
        parts=(
            *matrices.norm("self-attention", "ln_1"),
            Part("self-attention query, key and value weight", "attn.c_attn.weight", "d q"),
            Part("self-attention query, key and value bias", "attn.c_attn.bias", "q"),
            Part("self-attention output weight", "attn.c_proj.weight", "d d"),
            Part("self-attention output bias", "attn.c_proj.bias", "d"),
            *matrices.norm("feed-forward", "ln_2"),
            Part("feed-forward in weight", "mlp.c_fc.weight", "d f"),
            Part("feed-forward in bias", "mlp.c_fc.bias", "f"),
            Part("feed-forward out weight", "mlp.c_proj.weight", "f d"),
            Part("feed-forward out bias", "mlp.c_proj.bias", "d"),
        ),
        attention=Site("attn", "c_proj"),
        after=matrices.norm("final", "ln_f"),
    ),
    norm="pre",
    variants={
        "GPT2LMHeadModel": Variant(matrices.WRITES, head=matrices.LM, ties={"lm_head.weight": ".wte.weight"}),
        "GPT2Model": Variant(matrices.BASE, bare=True),
        **matrices.tasks(
            "GPT2",
            matrices.classifies((Part("token classifier weight", "score.weight", "C d"),)),
            matrices.marks_answers("2"),
        ),
    },
    classes=("GPT2LMHeadModel",),
    training=Training(
        matrices.BYTE_PAIRS, "A", None, mark("continue a text"), mark("each next token"), "Radford et al. 2019"
    ),
)
