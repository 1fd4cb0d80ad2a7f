"""BART (Lewis et al. 2020), of which mBART, Marian and Pegasus are relatives."""

from __future__ import annotations

from bartviz.families import matrices
from bartviz.families.family import DECODER_HEAD, Family, Part, Parts, Side, Site, Training, Variant
from bartviz.language import mark

SHARED: Parts = (Part(matrices.TOKENS, "shared.weight", "V d"),)
SHARED_TIES = {f"{side}.embed_tokens.weight": "shared.weight" for side in ("encoder", "decoder")}
_PROJECTIONS = "q_proj k_proj v_proj out_proj"
_CROSS = matrices.attention("cross-attention", "encoder_attn.", _PROJECTIONS, "encoder_attn_layer_norm")


def side(name: str, *, embedding_norm: bool = False, final_norm: bool = False) -> Side:
    """The encoder or decoder of BART and its relatives (Lewis et al. 2020, section 2.1)."""
    decoder = name == "decoder"
    return Side(
        before=(
            Part(matrices.TOKENS, f"{name}.embed_tokens.weight", "U d" if decoder else "V d"),
            Part(matrices.POSITIONS, f"{name}.embed_positions.weight", "P d"),
            *(matrices.norm("embedding", f"{name}.layernorm_embedding") if embedding_norm else ()),
        ),
        layer=f"{name}.layers.{{}}.",
        parts=(
            *matrices.attention("self-attention", "self_attn.", _PROJECTIONS, "self_attn_layer_norm"),
            *(_CROSS if decoder else ()),
            *matrices.feed_forward("fc1", "fc2", "final_layer_norm"),
        ),
        attention=Site("self_attn", "out_proj"),
        cross=Site("encoder_attn", "out_proj") if decoder else None,
        after=matrices.norm("final", f"{name}.layer_norm") if final_norm else (),
    )


def writers(name: str, language_model: str = "ForConditionalGeneration", *, bias: bool = True) -> dict[str, Variant]:
    """The class that writes, and the base model."""
    ties = {"lm_head.weight": ".shared.weight"}
    return {
        f"{name}{language_model}": Variant(matrices.WRITES, head=matrices.LM, ties=ties, logits_bias=bias),
        f"{name}Model": Variant(matrices.BASE, bare=True),
    }


def variants(name: str) -> dict[str, Variant]:
    """The classes of BART and mBART."""
    head = (
        *matrices.linear("classifier dense", f"{DECODER_HEAD}.dense", "d d"),
        *matrices.linear("classifier", f"{DECODER_HEAD}.out_proj", "C d"),
    )
    return {
        **writers(name),
        f"{name}ForSequenceClassification": matrices.classifies(head),
        f"{name}ForQuestionAnswering": matrices.marks_answers("2"),
    }


BART = Family(
    name="bart",
    title="BART",
    keys={
        "vocabulary": ("vocab_size", 50_265),
        "width": ("d_model", 1024),
        "encoder_layers": ("encoder_layers", 12),
        "encoder_heads": ("encoder_attention_heads", 16),
        "encoder_feed_forward": ("encoder_ffn_dim", 4096),
        "decoder_layers": ("decoder_layers", 12),
        "decoder_heads": ("decoder_attention_heads", 16),
        "decoder_feed_forward": ("decoder_ffn_dim", 4096),
        "positions": ("max_position_embeddings", 1024),
    },
    activation=("activation_function", "gelu"),
    aliases={
        "num_attention_heads": "encoder_attention_heads",
        "hidden_size": "d_model",
        "num_hidden_layers": "encoder_layers",
    },
    labels=3,
    base="model.",
    encoder=side("encoder", embedding_norm=True),
    decoder=side("decoder", embedding_norm=True),
    shared=SHARED,
    shared_ties=SHARED_TIES,
    added_rows=2,
    variants=variants("Bart"),
    classes=("BartForConditionalGeneration",),
    training=Training(
        matrices.BYTE_PAIRS,
        "<s> A </s>",
        "<s> A </s></s> B </s>",
        mark("restore a text whose spans (30%) are each one mask and whose sentences are shuffled"),
        matrices.WHOLE,
        "Lewis et al. 2020",
    ),
    start="end",
    denoises=True,
)
