"""Llama (Touvron et al. 2023): a decoder with rotary positions, whose build most later decoders share."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.family import Family, Keys, Part, Parts, Side, Site, Training, Variant
from bartviz.language import mark

GATED = matrices.dense("mlp.gate_proj mlp.up_proj mlp.down_proj")
NAMES = "q_proj k_proj v_proj o_proj"
NORMS = (
    *matrices.norm("self-attention", "input_layernorm", bias=False),
    *matrices.norm("feed-forward", "post_attention_layernorm", bias=False),
)
FORWARD = mark("continue a text")
EACH_NEXT = mark("each next token")
BYTES = Training(matrices.BYTE_PAIRS, "A", None, FORWARD, EACH_NEXT, "")


SITE = Site("self_attn", "o_proj")
LAST = matrices.norm("final", "norm", bias=False)


def side(
    attention: Parts,
    feed_forward: Parts = GATED,
    norms: Parts = NORMS,
    *,
    last: Parts = LAST,
    site: Site = SITE,
    tokens: str = "embed_tokens",
    before: Parts = (),
) -> Side:
    """A decoder of Llama's build, from the parts of a layer."""
    return Side(
        before=(Part(matrices.TOKENS, f"{tokens}.weight", "V d"), *before),
        layer="layers.{}.",
        parts=(*attention, *feed_forward, *norms),
        attention=site,
        after=last,
    )


def keys(defaults: Keys, **changes: tuple[str, int | str | None] | None) -> Keys:
    """Keys with other defaults; one that is None is left out."""
    return {word: pair for word, pair in {**defaults, **changes}.items() if pair is not None}


def variants(name: str, *, tokens: str = "embed_tokens") -> dict[str, Variant]:
    """The class that writes, and the base model."""
    return {
        f"{name}ForCausalLM": Variant(matrices.WRITES, head=matrices.LM, ties={"lm_head.weight": f".{tokens}.weight"}),
        f"{name}Model": Variant(matrices.BASE, bare=True),
    }


LLAMA = Family(
    name="llama",
    title="Llama",
    keys={
        "vocabulary": ("vocab_size", 32_000),
        "width": ("hidden_size", 4096),
        "head_width": ("head_dim", None),
        "decoder_layers": ("num_hidden_layers", 32),
        "decoder_heads": ("num_attention_heads", 32),
        "decoder_key_heads": ("num_key_value_heads", None),
        "decoder_feed_forward": ("intermediate_size", 11_008),
        "positions": ("max_position_embeddings", 2048),
    },
    activation=("hidden_act", "silu"),
    tied=False,
    fixed={"attention_bias": False, "mlp_bias": False},
    base="model.",
    decoder=side(matrices.projections(NAMES)),
    norm="pre",
    positions="rotary",
    variants=variants("Llama"),
    classes=("LlamaForCausalLM",),
    training=replace(BYTES, paper="Touvron et al. 2023; Grattafiori et al. 2024"),
)
