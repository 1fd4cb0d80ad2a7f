"""A model's configuration: read as transformers reads it, and refused before anything is built from impossible sizes.

``validate`` takes microseconds and needs no torch; ``sizes`` gives what parameters and costs are computed from.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bartviz.errors import ModelError, choices
from bartviz.families.family import Family
from bartviz.families.registry import FAMILIES, family_of, is_known
from bartviz.language import later

Config = Mapping[str, Any]

# Far above every published model of these families, far below what a machine would choke on.
MAX_LAYERS = 256
MAX_HEADS = 512
MAX_WIDTH = 32_768
MAX_FEED_FORWARD = 262_144
MAX_VOCABULARY = 2_000_000
MAX_POSITIONS = 1_048_576
MAX_SMALL = 65_536  # segments, position buckets, labels
MAX_CONFIG_CHARACTERS = 1_000_000

_LIMITS: Mapping[str, int] = MappingProxyType(
    {
        "vocabulary": MAX_VOCABULARY,
        "target_vocabulary": MAX_VOCABULARY,
        "width": MAX_WIDTH,
        "embedding_width": MAX_WIDTH,
        "head_width": MAX_WIDTH,
        "encoder_key_heads": MAX_HEADS,
        "decoder_key_heads": MAX_HEADS,
        "encoder_layers": MAX_LAYERS,
        "decoder_layers": MAX_LAYERS,
        "encoder_heads": MAX_HEADS,
        "decoder_heads": MAX_HEADS,
        "encoder_feed_forward": MAX_FEED_FORWARD,
        "decoder_feed_forward": MAX_FEED_FORWARD,
        "positions": MAX_POSITIONS,
        "segments": MAX_SMALL,
        "buckets": MAX_SMALL,
        "experts": MAX_HEADS,
        "experts_used": MAX_HEADS,
        "groups": MAX_LAYERS,
        "inner_layers": MAX_LAYERS,
    }
)


@dataclass(frozen=True, slots=True)
class Stack:
    """One stack of layers: L layers, H heads of width d, feed-forward width f.

    ``key_heads``: heads of keys and values, each shared by as many heads of queries; None: as many as heads.
    """

    layers: int
    heads: int
    head_width: int
    feed_forward: int
    key_heads: int | None = None

    @property
    def keys(self) -> int:
        """Width of all heads of keys side by side."""
        return (self.key_heads or self.heads) * self.head_width

    @property
    def inner(self) -> int:
        """Width of all heads side by side, H * d."""
        return self.heads * self.head_width


@dataclass(frozen=True, slots=True)
class Sizes:
    """Every size that decides how many parameters a model has and what a pass costs.

    ``positions`` is the longest text in tokens, None where there is no limit; ``position_rows`` the rows of the table.
    ``groups`` and ``inner_layers`` are ALBERT's: its layers share the weights of this many groups. ``gated``: whether
    feed-forward layers are gated, as those of T5 1.1 and Llama. ``experts``: feed-forward networks of a layer, of which
    ``experts_used`` compute for a token. ``architecture``: the class that the configuration names.
    """

    model_type: str
    vocabulary: int
    target_vocabulary: int
    width: int
    embedding_width: int
    encoder: Stack | None
    decoder: Stack | None
    positions: int | None
    position_rows: int
    segments: int
    buckets: int
    groups: int
    inner_layers: int
    experts: int
    experts_used: int
    labels: int
    activation: str
    gated: bool
    tied: bool
    shared: bool
    architecture: str | None = None

    @property
    def family(self) -> Family:
        family = family_of(self.model_type, self.architecture)
        return (family.gated if self.gated else None) or family

    @property
    def projected(self) -> bool:
        """Whether there is a matrix between the embeddings and the layers."""
        return self.embedding_width != self.width or self.family.projected


def parse(text: str) -> dict[str, Any]:
    """A configuration from JSON text; raises ModelError for what is no JSON object or longer than a megabyte."""
    if len(text) > MAX_CONFIG_CHARACTERS:
        raise ModelError(
            later(
                "The configuration has {count:,} characters; {limit:,} is the limit. A "
                "config.json has about 2,000: paste that file.",
                count=len(text),
                limit=MAX_CONFIG_CHARACTERS,
            )
        )
    try:
        config = json.loads(text)
    except (ValueError, RecursionError):
        raise ModelError(
            later("The configuration is not valid JSON. Paste the whole config.json, braces included.")
        ) from None
    if not isinstance(config, dict):
        raise ModelError(later("The configuration must be one JSON object: { ... }."))
    return config


def read(folder: str | PathLike[str]) -> dict[str, Any]:
    """The configuration of a model's folder (its config.json); raises ModelError."""
    file = Path(folder) / "config.json"
    try:
        if file.stat().st_size > 4 * MAX_CONFIG_CHARACTERS:
            raise ModelError(later("The folder's config.json is larger than 4 MB, too large for a configuration."))
        return parse(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError):
        raise ModelError(
            later("The folder has no readable config.json (UTF-8 text). Choose the folder of a model.")
        ) from None


def validate(config: object) -> None:
    """Raise ModelError unless every size in the configuration is one that a model can be built from.

    The sizes checked are those of ``FAMILIES``, under each name that transformers accepts for them.
    """
    sizes(config)


def sizes(config: object) -> Sizes:
    """The sizes that a configuration gives, with transformers' defaults for what it leaves out; raises ModelError."""
    if not isinstance(config, Mapping):
        raise ModelError(later("The configuration must be one object of named values, as in a config.json."))
    model_type = config.get("model_type")
    if model_type is None:
        raise ModelError(_untyped(config))
    if not isinstance(model_type, str) or not is_known(model_type):
        raise ModelError(later("The configuration's model_type must be {families}.", families=choices(FAMILIES)))
    if config.get("is_decoder") and family_of(model_type).kind == "encoder-decoder":
        raise ModelError(
            later(
                "This is only the decoder of a {title} model (is_decoder), which bartviz does not read. "
                "Choose the whole model, or its encoder.",
                title=family_of(model_type).title,
            )
        )
    if config.get("add_cross_attention") or config.get("is_decoder"):
        raise ModelError(
            later(
                "The configuration turns an encoder into a decoder (is_decoder or add_cross_attention), which "
                "bartviz does not read. Remove the two keys, or choose an encoder-decoder such as BART."
            )
        )
    family = family_of(model_type, _architecture(config))
    _refuse_other_builds(config, family)
    return _assemble(model_type, family, config, {word: _size(config, family, word) for word in family.keys})


def _untyped(config: Config) -> str:
    """Advice on what to add to a configuration without a model_type, by the keys that it has."""
    sizes = {name: {key for key, _ in family.keys.values()} for name, family in FAMILIES.items()}
    likely = max(sizes, key=lambda name: (len(sizes[name] & config.keys()), -len(sizes[name])))
    if len(sizes[likely] & config.keys()) < 3:
        return later("The configuration has no model_type, which says how its model is built: add it to config.json.")
    return later(
        "The configuration has no model_type, which says how its model is built. Its keys are those of {title}: if it "
        'is one, add "model_type": "{name}" to config.json.',
        title=FAMILIES[likely].title,
        name=likely,
    )


def _architecture(config: Config) -> str | None:
    """The class that a configuration names first."""
    named = config.get("architectures")
    return named[0] if isinstance(named, list | tuple) and named and isinstance(named[0], str) else None


def _assemble(model_type: str, family: Family, config: Config, found: Mapping[str, int | None]) -> Sizes:
    def size(word: str, otherwise: int) -> int:
        value = found.get(word)
        return otherwise if value is None else value

    vocabulary, width, rows = size("vocabulary", 0), size("width", 0), size("positions", 0)
    activation, gated = _activation(config, family)
    sizes = Sizes(
        model_type=model_type,
        vocabulary=vocabulary,
        target_vocabulary=size("target_vocabulary", vocabulary),
        width=width,
        embedding_width=size("embedding_width", width),
        encoder=_stack(family, "encoder", size, width) if family.kind != "decoder" else None,
        decoder=_stack(family, "decoder", size, width) if family.kind != "encoder" else None,
        positions=rows - family.unused_rows if rows else None,
        position_rows=rows + family.added_rows if rows else 0,
        segments=size("segments", 0),
        buckets=size("buckets", 0),
        groups=size("groups", 0),
        inner_layers=size("inner_layers", 1),
        experts=size("experts", 1),
        experts_used=size("experts_used", 1),
        labels=_labels(config, family),
        activation=activation,
        gated=gated or family.gates,
        tied=_flag(config, "tie_word_embeddings", family.tied),
        shared=_flag(config, "share_encoder_decoder_embeddings"),
        architecture=_architecture(config),
    )
    _check(sizes, family)
    return sizes


def _check(sizes: Sizes, family: Family) -> None:
    """Raise ModelError where sizes that are possible each for itself contradict each other."""
    encoder, groups, inner_layers = sizes.encoder, sizes.groups, sizes.inner_layers
    if encoder is not None and (groups > encoder.layers or encoder.layers * inner_layers > MAX_LAYERS):
        raise ModelError(
            later(
                "num_hidden_groups must not exceed num_hidden_layers, nor the layers in all {limit}: here "
                "{groups} groups of {inner_layers} inner layers for {layers} layers.",
                limit=MAX_LAYERS,
                groups=groups,
                inner_layers=inner_layers,
                layers=encoder.layers,
            )
        )
    if sizes.positions is not None and sizes.positions <= 0:
        raise ModelError(
            later(
                "max_position_embeddings must exceed {unused_rows}, the number of rows that {title} leaves unused.",
                unused_rows=family.unused_rows,
                title=family.title,
            )
        )
    if sizes.shared and sizes.target_vocabulary != sizes.vocabulary:
        raise ModelError(
            later(
                "decoder_vocab_size ({target_vocabulary:,}) must equal vocab_size ({vocabulary:,}) where encoder "
                "and decoder share their embeddings.",
                target_vocabulary=sizes.target_vocabulary,
                vocabulary=sizes.vocabulary,
            )
        )


def _size(config: Config, family: Family, word: str) -> int | None:
    """One size, under whichever of its names the configuration gives it; the names must not contradict each other."""
    key, default = family.keys[word]
    if isinstance(default, str):
        default = config.get(*family.keys[default])
    names = [key, *(alias for alias, target in family.aliases.items() if target == key)]
    given = {name: config[name] for name in names if name in config}
    if default is None:
        given = {name: value for name, value in given.items() if value is not None}
    values = {_whole(name, value, _LIMITS[word]) for name, value in given.items()}
    if len(values) > 1:
        *others, last = given
        both = later("{several} and {last}", several=", ".join(others), last=last)
        raise ModelError(
            later("The configuration gives {names} different numbers for one size: keep one of them.", names=both)
        )
    return values.pop() if values else default


def _whole(name: str, value: object, limit: int) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= limit:
        return value
    said = f"{value:,}" if type(value) is int and abs(value) < 10**15 else later("what it holds")
    raise ModelError(
        later(
            "The configuration's {name} must be a whole number from 1 to {limit:,}, not {said}.",
            name=name,
            limit=limit,
            said=said,
        )
    )


def _refuse_other_builds(config: Config, family: Family) -> None:
    """Raise ModelError for a key that builds the network in a way that the family's description does not cover."""
    for key, value in family.fixed.items():
        if config.get(key, value) not in (value, None):
            raise ModelError(
                later(
                    "The configuration sets {key} to {given}; of {title} only models with {value} are read.",
                    key=key,
                    given=str(config[key])[:40],
                    title=family.title,
                    value=str(value),
                )
            )


def _stack(family: Family, side: str, size: Callable[[str, int], int], width: int) -> Stack:
    """One side's stack; where the family has no sizes of its own for the decoder (T5) the encoder's hold."""
    layers = size(f"{side}_layers", size("encoder_layers", 0))
    heads = size(f"{side}_heads", size("encoder_heads", 0))
    key_heads = size(f"{side}_key_heads", heads)
    if heads % key_heads:
        raise ModelError(
            later(
                "{heads} heads cannot share {key_heads} heads of keys evenly: choose a number that divides them.",
                heads=heads,
                key_heads=key_heads,
            )
        )
    if not size("head_width", 0) and width % heads:
        raise ModelError(
            later(
                "The width {width:,} cannot be split evenly over {heads} heads: choose heads that divide it.",
                width=width,
                heads=heads,
            )
        )
    head_width = size("head_width", width // heads)
    feed_forward = size(f"{side}_feed_forward", size("encoder_feed_forward", 4 * width))
    return Stack(layers, heads, head_width, feed_forward, None if key_heads == heads else key_heads)


def _activation(config: Config, family: Family) -> tuple[str, bool]:
    """The activation's name, and whether the feed-forward layers are gated (T5 1.1: ``gated-gelu``)."""
    key, default = family.activation
    name = config.get(key, default)
    if not isinstance(name, str):
        raise ModelError(
            later(
                'The configuration\'s {key} must be the name of an activation, such as "{default}".',
                key=key,
                default=default,
            )
        )
    if key != "feed_forward_proj":
        return name, False
    head, _, rest = name.rpartition("-")
    if head not in ("", "gated"):
        raise ModelError(later('The configuration\'s feed_forward_proj must look like "relu" or "gated-gelu".'))
    return ("gelu_new" if name == "gated-gelu" else rest), head == "gated"  # so in transformers


def _flag(config: Config, key: str, default: bool = True) -> bool:
    value = config.get(key, default)
    if not isinstance(value, bool):
        raise ModelError(later("The configuration's {key} must be true or false.", key=key))
    return value


def _labels(config: Config, family: Family) -> int:
    """How many classes a classification head has: the entries of id2label, else num_labels."""
    names = config.get("id2label")
    if isinstance(names, Mapping | list) and names:
        return _whole("id2label", len(names), MAX_SMALL)
    number = config.get("num_labels")
    return family.labels if number is None else _whole("num_labels", number, MAX_SMALL)
