"""Where each architecture keeps its sizes: differences between architectures are data, not code.

``FAMILIES`` says under which key of its configuration a family writes each size, what transformers takes where the key
is missing, and how the family treats positions and layer norms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

ModelKind = Literal["encoder", "decoder", "encoder-decoder"]

Positions = Literal["learned", "sinusoidal", "relative"]
Keys = dict[str, tuple[str, int | str | None]]


@dataclass(frozen=True)
class Family:
    """How one architecture writes its configuration and what it does that no key says.

    ``keys``: our word for a size -> (transformers' key, its default: a number, another of our words, or None where
    it follows from other sizes).
    ``aliases``: a second name that transformers takes -> the key. ``activation``: its key and default.
    ``added_rows``: rows of the position table beyond the configured number (BART's 2); ``unused_rows``: rows of the
    configured number that no token uses (RoBERTa's first 2). ``labels``: classes of a head if nothing is configured.
    """

    title: str
    kind: ModelKind
    keys: Mapping[str, tuple[str, int | str | None]]
    activation: tuple[str, str]
    positions: Positions = "learned"
    norm: Literal["post", "pre"] = "post"
    aliases: Mapping[str, str] = field(default_factory=dict)
    added_rows: int = 0
    unused_rows: int = 0
    labels: int = 2


def _encoder(vocabulary: int, width: int, heads: int, feed_forward: int) -> Keys:
    return {
        "vocabulary": ("vocab_size", vocabulary),
        "width": ("hidden_size", width),
        "encoder_layers": ("num_hidden_layers", 12),
        "encoder_heads": ("num_attention_heads", heads),
        "encoder_feed_forward": ("intermediate_size", feed_forward),
        "positions": ("max_position_embeddings", 512),
        "segments": ("type_vocab_size", 2),
    }


_BART: Keys = {
    "vocabulary": ("vocab_size", 50_265),
    "width": ("d_model", 1024),
    "encoder_layers": ("encoder_layers", 12),
    "encoder_heads": ("encoder_attention_heads", 16),
    "encoder_feed_forward": ("encoder_ffn_dim", 4096),
    "decoder_layers": ("decoder_layers", 12),
    "decoder_heads": ("decoder_attention_heads", 16),
    "decoder_feed_forward": ("decoder_ffn_dim", 4096),
    "positions": ("max_position_embeddings", 1024),
}
_BART_ALIASES = {
    "num_attention_heads": "encoder_attention_heads",
    "hidden_size": "d_model",
    "num_hidden_layers": "encoder_layers",
}
_MARIAN = _BART | {"vocabulary": ("vocab_size", 58_101), "target_vocabulary": ("decoder_vocab_size", None)}
_DISTILBERT: Keys = {
    "vocabulary": ("vocab_size", 30_522),
    "width": ("dim", 768),
    "encoder_layers": ("n_layers", 6),
    "encoder_heads": ("n_heads", 12),
    "encoder_feed_forward": ("hidden_dim", 3072),
    "positions": ("max_position_embeddings", 512),
}
_ALBERT: Keys = {
    "embedding_width": ("embedding_size", 128),
    "groups": ("num_hidden_groups", 1),
    "inner_layers": ("inner_group_num", 1),
}
_T5: Keys = {
    "vocabulary": ("vocab_size", 32_128),
    "width": ("d_model", 512),
    "head_width": ("d_kv", 64),
    "encoder_layers": ("num_layers", 6),
    "decoder_layers": ("num_decoder_layers", "encoder_layers"),
    "encoder_heads": ("num_heads", 8),
    "encoder_feed_forward": ("d_ff", 2048),
    "buckets": ("relative_attention_num_buckets", 32),
}
_GPT2: Keys = {
    "vocabulary": ("vocab_size", 50_257),
    "width": ("n_embd", 768),
    "decoder_layers": ("n_layer", 12),
    "decoder_heads": ("n_head", 12),
    "decoder_feed_forward": ("n_inner", None),
    "positions": ("n_positions", 1024),
}

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "bert": Family("BERT", "encoder", _encoder(30_522, 768, 12, 3072), ("hidden_act", "gelu")),
        "roberta": Family("RoBERTa", "encoder", _encoder(50_265, 768, 12, 3072), ("hidden_act", "gelu"), unused_rows=2),
        "distilbert": Family(
            "DistilBERT",
            "encoder",
            _DISTILBERT,
            ("activation", "gelu"),
            aliases={"hidden_size": "dim", "num_attention_heads": "n_heads", "num_hidden_layers": "n_layers"},
        ),
        "electra": Family(
            "ELECTRA",
            "encoder",
            _encoder(30_522, 256, 4, 1024) | {"embedding_width": ("embedding_size", 128)},
            ("hidden_act", "gelu"),
        ),
        "albert": Family("ALBERT", "encoder", _encoder(30_000, 4096, 64, 16_384) | _ALBERT, ("hidden_act", "gelu_new")),
        "bart": Family(
            "BART",
            "encoder-decoder",
            _BART,
            ("activation_function", "gelu"),
            aliases=_BART_ALIASES,
            added_rows=2,
            labels=3,
        ),
        "mbart": Family(
            "mBART",
            "encoder-decoder",
            _BART,
            ("activation_function", "gelu"),
            norm="pre",
            aliases=_BART_ALIASES,
            added_rows=2,
        ),
        "marian": Family(
            "Marian",
            "encoder-decoder",
            _MARIAN,
            ("activation_function", "gelu"),
            positions="sinusoidal",
            aliases=_BART_ALIASES,
        ),
        "pegasus": Family(
            "Pegasus",
            "encoder-decoder",
            _BART,
            ("activation_function", "gelu"),
            positions="sinusoidal",
            norm="pre",
            aliases=_BART_ALIASES,
        ),
        "t5": Family(
            "T5",
            "encoder-decoder",
            _T5,
            ("feed_forward_proj", "relu"),
            positions="relative",
            norm="pre",
            aliases={
                "hidden_size": "d_model",
                "num_attention_heads": "num_heads",
                "num_hidden_layers": "num_layers",
                "head_dim": "d_kv",
            },
        ),
        "gpt2": Family(
            "GPT-2",
            "decoder",
            _GPT2,
            ("activation_function", "gelu_new"),
            norm="pre",
            aliases={
                "hidden_size": "n_embd",
                "max_position_embeddings": "n_positions",
                "num_attention_heads": "n_head",
                "num_hidden_layers": "n_layer",
            },
        ),
    }
)
