"""A family: all facts about one architecture, as data. ``registry`` gathers them.

A shape is written in letters, output width first where transformers writes it so:
V vocabulary, U target vocabulary, d width, e embedding width, f feed-forward width, g gate and input side by side (2f),
a all heads side by side (H * h), h head width, k the heads of keys side by side (fewer where queries share them),
q query, key and value side by side (a + 2k), H heads, P position rows, S segments, B relative-position buckets,
C classes, E experts, 1 and 2 themselves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

ModelKind = Literal["encoder", "decoder", "encoder-decoder"]
Kind = Literal["encoder", "decoder", "cross"]  # of attention
Positions = Literal["learned", "sinusoidal", "relative", "rotary"]
Norm = Literal["post", "pre", "inner"]
Task = Literal["text", "tokens", "answer"]  # what a fine-tuned head labels
DECODER_HEAD = "classification_head"  # BART's: its path in the class that classifies
Keys = Mapping[str, tuple[str, int | str | None]]


class Part(NamedTuple):
    """One matrix or vector: what it does, its name below the module that holds it, its shape in letters."""

    role: str
    name: str
    shape: str


class Site(NamedTuple):
    """The path of an attention module, and of the module that projects its heads' outputs, seen from there."""

    module: str
    output: str


Parts = tuple[Part, ...]


@dataclass(frozen=True)
class Side:
    """An encoder or a decoder: what comes before its layers, what each layer holds, what comes after them.

    ``layer`` is the path of layer ``{}``; ``first`` is held by layer 0 alone, ``later`` by all others.
    ``attention`` and ``cross`` are where self-attention and cross-attention are within a layer.
    """

    before: Parts
    layer: str
    parts: Parts
    attention: Site
    cross: Site | None = None
    first: Parts = ()
    later: Parts = ()
    normed_tokens: bool = False  # whether the embedding's norm comes before positions are added
    after: Parts = ()


@dataclass(frozen=True)
class Variant:
    """One class of transformers, and what it adds to the base model.

    ``does``: what it is for, in English; ``bare``: the base model itself, its names without a prefix.
    ``ties``: a head's matrix -> the one it is (names inside the base model start with "."); they hold where the
    configuration ties word embeddings, as it does by default.
    ``logits_bias``: whether it adds a bias to its logits, which is no parameter.
    ``task``: what a head that was fine-tuned labels: the text, each of its tokens, or the ends of an answer in it.
    """

    does: str
    bare: bool = False
    pooler: bool = False
    decoder: bool = True
    head: Parts = ()
    ties: Mapping[str, str] = field(default_factory=dict)
    logits_bias: bool = False
    task: Task | None = None


@dataclass(frozen=True)
class Training:
    """How texts are written for a family, what it was trained to do, and the paper that says so.

    ``single`` and ``pair``: one text A, and two texts A and B, between their special tokens as transformers'
    tokenizers write them.
    """

    tokenizer: str
    single: str
    pair: str | None
    objective: str
    predicts: str
    paper: str
    prefix: str | None = None


@dataclass(frozen=True, kw_only=True)
class Family:
    """One architecture: how it writes its configuration, what it consists of, and what no configuration says."""

    name: str  # transformers' model_type
    title: str
    like: str = ""  # the listed family that an unlisted type is read as

    # Its configuration. keys: our word for a size -> (transformers' key, its default: a number, another of our words,
    # or None where it follows from other sizes); aliases: a second name that transformers takes -> the key.
    keys: Keys
    activation: tuple[str, str]  # key, default
    aliases: Mapping[str, str] = field(default_factory=dict)
    labels: int = 2  # classes of a head if nothing is configured
    tied: bool = True  # whether word embeddings are tied if nothing is configured
    # Keys that change the network's build, and the only value that is read: other builds are refused.
    fixed: Mapping[str, Any] = field(default_factory=dict)

    # Its modules and matrices.
    base: str  # the path of the base model inside a model with a head
    encoder: Side | None = None
    decoder: Side | None = None
    shared: Parts = ()  # what the base model holds outside its sides
    shared_ties: Mapping[str, str] = field(default_factory=dict)  # a matrix of a side -> the shared one that it is
    pooler: Parts = ()
    projected: bool = False  # whether embeddings are projected even where they are as wide as the model
    # What tie_word_embeddings decides: whether all embeddings are one matrix, or whether the output layer is one with
    # them, which transformers undoes for a checkpoint that holds an output layer of its own.
    tying: Literal["embeddings", "output"] = "embeddings"
    # After each sum, before each sublayer, or on what a sublayer adds. parallel: all sublayers read the layer's input.
    norm: Norm = "post"
    parallel: bool = False
    positions: Positions = "learned"
    added_rows: int = 0  # of the position table, beyond the configured number (BART: 2)
    unused_rows: int = 0  # of the configured number, up to the padding token's (RoBERTa: 2)
    # The configuration's keys of factors, where there are any: of token embeddings, of what a sublayer adds.
    embedding_scale: str = ""
    residual_scale: str = ""
    # The key that says whether the last state is divided by the root of the width before the output layer, and keys
    # that scale or cap the logits after it, each with the value that changes nothing.
    state_scale: str = ""
    logits_changed: Mapping[str, float | None] = field(default_factory=dict)
    gated: Family | None = None  # what it is with gated feed-forward layers

    # Its classes in transformers. variants: those that are counted, first the one for a configuration that names none;
    # classes: those that are loaded, a checkpoint without a head by the next one.
    variants: Mapping[str, Variant]
    classes: tuple[str, ...]

    # Its use.
    training: Training
    start: Literal["pad", "begin", "end", "language"] | None = (
        None  # the decoder's first token; a language also ends an output
    )
    denoises: bool = False  # whether it restores corrupted text of one language without further training

    @property
    def kind(self) -> ModelKind:
        if self.encoder is None:
            return "decoder"
        return "encoder" if self.decoder is None else "encoder-decoder"

    def task(self, architecture: str) -> Task | None:
        """The object that a class of the family labels, where its predictions are read.

        Encoders label from their states; BART and its relatives label a text, from a state of the decoder.
        """
        variant = self.variants.get(architecture)
        if variant is None or variant.task is None or self.kind == "decoder":
            return None
        decides = any(part.name.startswith(f"{DECODER_HEAD}.") for part in variant.head)
        return variant.task if self.kind == "encoder" or decides else None

    @property
    def gates(self) -> bool:
        """Whether its feed-forward layers multiply the activation's result with that of a second matrix."""
        side = self.encoder or self.decoder
        return side is not None and any(part.role.startswith("feed-forward gate") for part in side.parts)

    @property
    def biased_layers(self) -> bool:
        """Whether every layer has a bias on its scores (umT5), not the first alone for all (T5)."""
        side = self.encoder or self.decoder
        return side is not None and any(part.role == "relative position bias" for part in side.parts)

    @property
    def attention(self) -> Mapping[Kind, Site]:
        """Where each kind of attention is, from the base model; ``{}`` stands for numbers."""
        found: dict[Kind, Site] = {}
        if self.encoder is not None:
            found["encoder"] = _below(self.encoder.layer, self.encoder.attention)
        if self.decoder is not None:
            found["decoder"] = _below(self.decoder.layer, self.decoder.attention)
            if self.decoder.cross is not None:
                found["cross"] = _below(self.decoder.layer, self.decoder.cross)
        return found

    @property
    def layers(self) -> Mapping[Kind, re.Pattern[str]]:
        """Where each stack's layers are, by number, in the name of a module; none of ALBERT, whose layers are one."""
        sides: tuple[tuple[Kind, Side | None], ...] = (("encoder", self.encoder), ("decoder", self.decoder))
        return {
            kind: re.compile(r"(?:^|\.)" + re.escape(side.layer).replace(r"\{\}", r"(\d+)"))
            for kind, side in sides
            if side is not None and side.layer.count("{}") == 1
        }

    def key(self, kind: Kind, size: str) -> str:
        """transformers' key for a size (layers, heads) of a kind of attention; one stack's may hold for both."""
        side = "encoder" if kind == "encoder" else "decoder"
        words = (f"{side}_{size}", f"encoder_{size}", f"decoder_{size}")
        return next(self.keys[word][0] for word in words if word in self.keys)


def _below(layer: str, site: Site) -> Site:
    return site._replace(module=layer + site.module)
