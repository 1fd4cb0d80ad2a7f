"""T5 (Raffel et al. 2020), and T5 1.1 with gated feed-forward layers (Shazeer 2020)."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.bart import SHARED, SHARED_TIES, writers
from bartviz.families.family import Family, Part, Side, Site, Training, Variant
from bartviz.language import mark

# Its values reach the record through the mask that the network hands to ``tape/tape.py`` (``add_bias``).
_BIAS = Part("relative position bias", "layer.0.SelfAttention.relative_attention_bias.weight", "B H")
_CROSS = matrices.attention("cross-attention", "layer.1.EncDecAttention.", "q k v o", "layer.1.layer_norm", bias=False)


def _side(name: str, *, gated: bool = False) -> Side:
    """No biases, and one table of relative positions, in the first layer."""
    decoder = name == "decoder"
    block = "layer.2." if decoder else "layer.1."
    into, gate = ("wi_1", "wi_0") if gated else ("wi", "")
    dense = f"{block}DenseReluDense."
    return Side(
        before=(Part(matrices.TOKENS, f"{name}.embed_tokens.weight", "V d"),),
        layer=f"{name}.block.{{}}.",
        first=(_BIAS,),
        parts=(
            *matrices.attention(
                "self-attention", "layer.0.SelfAttention.", "q k v o", "layer.0.layer_norm", bias=False
            ),
            *(_CROSS if decoder else ()),
            *matrices.feed_forward(
                dense + into, f"{dense}wo", f"{block}layer_norm", bias=False, gate=gate and dense + gate
            ),
        ),
        attention=Site("layer.0.SelfAttention", "o"),
        cross=Site("layer.1.EncDecAttention", "o") if decoder else None,
        after=matrices.norm("final", f"{name}.final_layer_norm", bias=False),
    )


_FIRST = Family(
    name="t5",
    title="T5",
    keys={
        "vocabulary": ("vocab_size", 32_128),
        "width": ("d_model", 512),
        "head_width": ("d_kv", 64),
        "encoder_layers": ("num_layers", 6),
        "decoder_layers": ("num_decoder_layers", "encoder_layers"),
        "encoder_heads": ("num_heads", 8),
        "encoder_feed_forward": ("d_ff", 2048),
        "buckets": ("relative_attention_num_buckets", 32),
    },
    activation=("feed_forward_proj", "relu"),
    aliases={
        "hidden_size": "d_model",
        "num_attention_heads": "num_heads",
        "num_hidden_layers": "num_layers",
        "head_dim": "d_kv",
    },
    base="",
    encoder=_side("encoder"),
    decoder=_side("decoder"),
    shared=SHARED,
    shared_ties=SHARED_TIES,
    tying="output",
    state_scale="scale_decoder_outputs",
    positions="relative",
    norm="pre",
    variants={**writers("T5", bias=False), "T5EncoderModel": Variant(mark("encoder only"), bare=True, decoder=False)},
    classes=("T5ForConditionalGeneration",),
    # A pair is one text, its parts named by words ("premise: A hypothesis: B").
    training=Training(
        matrices.SENTENCEPIECE,
        "A </s>",
        None,
        mark("restore the spans (15%) behind numbered sentinels, and many tasks with a prefix"),
        mark("only the spans, each after its sentinel"),
        "Raffel et al. 2020",
        prefix="translate English to German: A",
    ),
    start="pad",
)
T5 = replace(
    _FIRST,
    gated=replace(
        _FIRST,
        encoder=_side("encoder", gated=True),
        decoder=_side("decoder", gated=True),
        training=replace(
            _FIRST.training,
            objective=mark("restore the spans (15%) behind numbered sentinels"),
            paper="Shazeer 2020; Raffel et al. 2020",
            prefix=None,
        ),
    ),
)
