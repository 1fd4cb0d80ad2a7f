"""Which matrices and vectors an architecture consists of, as transformers 5 names them: tables, no code.

A shape is written in letters, output width first where transformers writes it so:
V vocabulary, U target vocabulary, d width, e embedding width, f feed-forward width, a all heads side by side (H * d_k),
q query, key and value side by side (3d), H heads, P position rows, S segments, B relative-position buckets,
C classes, 1 and 2 themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple


class Part(NamedTuple):
    """One matrix or vector: what it does, its name below the module that holds it, its shape in letters."""

    role: str
    name: str
    shape: str


Parts = tuple[Part, ...]


def _linear(role: str, name: str, shape: str, bias: bool = True) -> Parts:
    weight = Part(f"{role} weight", f"{name}.weight", shape)
    return (weight, Part(f"{role} bias", f"{name}.bias", shape.split(maxsplit=1)[0])) if bias else (weight,)


def _norm(role: str, name: str, width: str = "d", bias: bool = True) -> Parts:
    return _linear(f"{role} layer norm", name, width, bias)


def _attention(role: str, path: str, names: str, norm: str, bias: bool = True) -> Parts:
    """``names``: those of the query, key, value and output projections."""
    query, key, value, output = names.split()
    return (
        *_linear(f"{role} query", path + query, "a d", bias),
        *_linear(f"{role} key", path + key, "a d", bias),
        *_linear(f"{role} value", path + value, "a d", bias),
        *_linear(f"{role} output", path + output, "d a", bias),
        *_norm(role, norm, bias=bias),
    )


def _feed_forward(into: str, out: str, norm: str, bias: bool = True, gate: str = "") -> Parts:
    return (
        *(_linear("feed-forward gate", gate, "f d", bias) if gate else ()),
        *_linear("feed-forward in", into, "f d", bias),
        *_linear("feed-forward out", out, "d f", bias),
        *_norm("feed-forward", norm, bias=bias),
    )


@dataclass(frozen=True)
class Side:
    """An encoder or a decoder: what comes before its layers, what each layer holds, what comes after them.

    ``layer`` is the path of layer ``{}``; ``first`` is held by layer 0 alone.
    """

    before: Parts
    layer: str
    parts: Parts
    first: Parts = ()
    after: Parts = ()


@dataclass(frozen=True)
class Blueprint:
    """One family: its sides, its pooler, the base model's name inside a model with a head, and what is tied."""

    base: str
    default: str
    encoder: Side | None = None
    decoder: Side | None = None
    shared: Parts = ()
    pooler: Parts = ()
    ties: Mapping[str, str] = field(default_factory=dict)


TOKENS, POSITIONS, SEGMENTS = "token embedding", "position embedding", "segment embedding"


def _embeddings(width: str, *extra: Part) -> Parts:
    return (
        Part(TOKENS, "embeddings.word_embeddings.weight", f"V {width}"),
        Part(POSITIONS, "embeddings.position_embeddings.weight", f"P {width}"),
        *extra,
        *_norm("embedding", "embeddings.LayerNorm", width),
    )


_SEGMENT = "embeddings.token_type_embeddings.weight"
_BERT_LAYER = (
    *_attention(
        "self-attention", "attention.", "self.query self.key self.value output.dense", "attention.output.LayerNorm"
    ),
    *_feed_forward("intermediate.dense", "output.dense", "output.LayerNorm"),
)
_BERT = Side(_embeddings("d", Part(SEGMENTS, _SEGMENT, "S d")), "encoder.layer.{}.", _BERT_LAYER)
_POOLER = _linear("pooler", "pooler.dense", "d d")
_PROJECT = "embedding projection"

_DISTILBERT = Side(
    _embeddings("d"),
    "transformer.layer.{}.",
    (
        *_attention("self-attention", "attention.", "q_lin k_lin v_lin out_lin", "sa_layer_norm"),
        *_feed_forward("ffn.lin1", "ffn.lin2", "output_layer_norm"),
    ),
)
_ELECTRA = Side(
    (*_embeddings("e", Part(SEGMENTS, _SEGMENT, "S e")), *_linear(_PROJECT, "embeddings_project", "d e")),
    "encoder.layer.{}.",
    _BERT_LAYER,
)
_ALBERT = Side(
    (
        *_embeddings("e", Part(SEGMENTS, _SEGMENT, "S e")),
        *_linear(_PROJECT, "encoder.embedding_hidden_mapping_in", "d e"),
    ),
    "encoder.albert_layer_groups.{}.albert_layers.{}.",
    (
        *_attention("self-attention", "attention.", "query key value dense", "attention.LayerNorm"),
        *_feed_forward("ffn", "ffn_output", "full_layer_layer_norm"),
    ),
)


def _bart(side: str, *, embedding_norm: bool = False, final_norm: bool = False) -> Side:
    """One side of BART, mBART, Marian or Pegasus (Lewis et al. 2019, section 2.1)."""
    projections = "q_proj k_proj v_proj out_proj"
    crossing = (
        _attention("cross-attention", "encoder_attn.", projections, "encoder_attn_layer_norm")
        if side == "decoder"
        else ()
    )
    return Side(
        before=(
            Part(TOKENS, f"{side}.embed_tokens.weight", "U d" if side == "decoder" else "V d"),
            Part(POSITIONS, f"{side}.embed_positions.weight", "P d"),
            *(_norm("embedding", f"{side}.layernorm_embedding") if embedding_norm else ()),
        ),
        layer=f"{side}.layers.{{}}.",
        parts=(
            *_attention("self-attention", "self_attn.", projections, "self_attn_layer_norm"),
            *crossing,
            *_feed_forward("fc1", "fc2", "final_layer_norm"),
        ),
        after=_norm("final", f"{side}.layer_norm") if final_norm else (),
    )


_SHARED = (Part(TOKENS, "shared.weight", "V d"),)
_SHARED_TIES = MappingProxyType(
    {"encoder.embed_tokens.weight": "shared.weight", "decoder.embed_tokens.weight": "shared.weight"}
)


def _bart_family(default: str, *, embedding_norm: bool = False, final_norm: bool = False) -> Blueprint:
    encoder, decoder = (
        _bart(side, embedding_norm=embedding_norm, final_norm=final_norm) for side in ("encoder", "decoder")
    )
    return Blueprint("model.", default, encoder, decoder, _SHARED, ties=_SHARED_TIES)


def _t5(side: str, gated: bool) -> Side:
    """One side of T5 (Raffel et al. 2020): no biases, one relative-position table, in the first layer."""
    ff = 2 if side == "decoder" else 1
    crossing = (
        _attention("cross-attention", "layer.1.EncDecAttention.", "q k v o", "layer.1.layer_norm", bias=False)
        if side == "decoder"
        else ()
    )
    dense = f"layer.{ff}.DenseReluDense."
    return Side(
        before=(Part(TOKENS, f"{side}.embed_tokens.weight", "V d"),),
        layer=f"{side}.block.{{}}.",
        first=(Part("relative position bias", "layer.0.SelfAttention.relative_attention_bias.weight", "B H"),),
        parts=(
            *_attention("self-attention", "layer.0.SelfAttention.", "q k v o", "layer.0.layer_norm", bias=False),
            *crossing,
            *_feed_forward(
                dense + ("wi_1" if gated else "wi"),
                dense + "wo",
                f"layer.{ff}.layer_norm",
                bias=False,
                gate=dense + "wi_0" if gated else "",
            ),
        ),
        after=_norm("final", f"{side}.final_layer_norm", bias=False),
    )


def _t5_family(gated: bool) -> Blueprint:
    sides = (_t5("encoder", gated), _t5("decoder", gated))
    return Blueprint("", "T5ForConditionalGeneration", *sides, _SHARED, ties=_SHARED_TIES)


_GPT2 = Side(  # Radford et al. 2019; its linear layers are written input width first
    before=(Part(TOKENS, "wte.weight", "V d"), Part(POSITIONS, "wpe.weight", "P d")),
    layer="h.{}.",
    parts=(
        *_norm("self-attention", "ln_1"),
        Part("self-attention query, key and value weight", "attn.c_attn.weight", "d q"),
        Part("self-attention query, key and value bias", "attn.c_attn.bias", "q"),
        Part("self-attention output weight", "attn.c_proj.weight", "d d"),
        Part("self-attention output bias", "attn.c_proj.bias", "d"),
        *_norm("feed-forward", "ln_2"),
        Part("feed-forward in weight", "mlp.c_fc.weight", "d f"),
        Part("feed-forward in bias", "mlp.c_fc.bias", "f"),
        Part("feed-forward out weight", "mlp.c_proj.weight", "f d"),
        Part("feed-forward out bias", "mlp.c_proj.bias", "d"),
    ),
    after=_norm("final", "ln_f"),
)

BLUEPRINTS: Mapping[str, Blueprint] = MappingProxyType(
    {
        "bert": Blueprint("bert.", "BertModel", _BERT, pooler=_POOLER),
        "roberta": Blueprint("roberta.", "RobertaModel", _BERT, pooler=_POOLER),
        "distilbert": Blueprint("distilbert.", "DistilBertModel", _DISTILBERT),
        "electra": Blueprint("electra.", "ElectraModel", _ELECTRA),
        "albert": Blueprint("albert.", "AlbertModel", _ALBERT, pooler=_linear("pooler", "pooler", "d d")),
        "bart": _bart_family("BartForConditionalGeneration", embedding_norm=True),
        "mbart": _bart_family("MBartForConditionalGeneration", embedding_norm=True, final_norm=True),
        "marian": _bart_family("MarianMTModel"),
        "pegasus": _bart_family("PegasusForConditionalGeneration", final_norm=True),
        "t5": _t5_family(gated=False),
        "t5 gated": _t5_family(gated=True),
        "gpt2": Blueprint("transformer.", "GPT2LMHeadModel", decoder=_GPT2),
    }
)
