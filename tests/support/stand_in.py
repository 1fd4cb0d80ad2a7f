"""Records with random numbers instead of a model's, for tests of drawing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bartviz.families.family import ModelKind
from bartviz.record.attention import Attention, Kind
from bartviz.record.record import ModelInfo, Provenance, Record
from bartviz.record.steps import Candidate, Step
from bartviz.text.tokens import Tokens

LOG_Z = 5.0  # of every step: log p = logit - LOG_Z
SOURCE = ("<s>", "I", " want", " to", " buy", " a", " car", ".", "</s>")
OUTPUT = ("<s>", "Ich", " möchte", " ein", " Auto", " kau", "fen", ".", "</s>")


def tokens(labels: Sequence[str]) -> Tokens:
    """Tokens of these labels: ``<...>`` is special, a leading space starts a word."""
    words: list[int | None] = []
    spans: list[tuple[int, int] | None] = []
    word, place = -1, 0
    for label in labels:
        special = label.startswith("<") and label.endswith(">")
        word += not special and (word < 0 or not label[:1].isalpha())
        words.append(None if special else word)
        start = place + (len(label) - len(label.lstrip()))
        place += 0 if special else len(label)
        spans.append(None if special else (start, place))
    special_flags = np.array([word is None for word in words])
    return Tokens(
        ids=np.arange(len(labels)),
        pieces=tuple(labels),
        labels=tuple(label.strip() or label for label in labels),
        words=tuple(words),
        special=special_flags,
        segments=np.zeros(len(labels), np.int64),
        spans=tuple(spans),
    )


def attention(kind: Kind, query: Tokens, key: Tokens, *, layers: int = 3, heads: int = 4, seed: int = 0) -> Attention:
    """Random attention of this kind, peaked enough to look at; causal where the kind is."""
    random = np.random.default_rng(seed + len(kind))
    q = random.normal(size=(layers, heads, len(query), 8)).astype(np.float32) * 2
    k = random.normal(size=(layers, heads, len(key), 8)).astype(np.float32) * 2
    mask = np.ones((len(query), len(key)), dtype=bool)
    out = random.normal(size=(layers, 32, heads, 8)).astype(np.float32)
    visible = np.tril(mask) if kind == "decoder" else mask
    return Attention(kind, q, k, 8**-0.5, visible, query, key, v=k, out=out, out_bias=out[:, :, 0, 0])


def model_info(
    kind: ModelKind = "encoder-decoder",
    *,
    trained: bool = True,
    layers: tuple[int, int] = (3, 3),
    heads: tuple[int, int] = (4, 4),
) -> ModelInfo:
    return ModelInfo(
        name="stand-in",
        source="embedded",
        family="bart",
        architecture="Stand-in",
        kind=kind,
        trained=trained,
        encoder_layers=layers[0],
        encoder_heads=heads[0],
        decoder_layers=layers[1],
        decoder_heads=heads[1],
        width=32,
        vocabulary=100,
        positions=128,
        parameters=1_234_567,
        fingerprint="stand-in",
    )


def steps(output: Tokens) -> tuple[Step, ...]:
    """One step for each output token: probabilities 0.9, 0.8, ... and two more candidates."""
    made = []
    for row, label in enumerate(output.labels):
        probability = max(0.92 - 0.05 * row, 0.05)
        chosen, *others = (
            Candidate(token, name, p, LOG_Z + math.log(p))
            for token, name, p in ((row, label, probability), (98, "Haus", 0.04), (99, "<b>", 0.01))
        )
        rest = 0.95 - probability  # spread over the rest of the vocabulary
        bits = -sum(p * math.log2(p) for p in (probability, 0.04, 0.01)) + rest * math.log2(97 / max(rest, 1e-9))
        made.append(
            Step(row, row, chosen, (chosen, *others), bits, math.log(probability), "forced" if row == 0 else None)
        )
    return tuple(made)


def record(
    source: Sequence[str] = SOURCE,
    output: Sequence[str] = OUTPUT,
    *,
    kind: ModelKind = "encoder-decoder",
    trained: bool = True,
    layers: int = 3,
    heads: int = 4,
) -> Record:
    """A whole record of a model of this kind; the decoder reads ``</s>`` and then the output shifted by one."""
    read, out, info = (
        tokens(source),
        tokens(output),
        model_info(kind, trained=trained, layers=(layers, layers), heads=(heads, heads)),
    )
    text = "".join(label for label in source if not label.startswith("<"))
    size = {"layers": layers, "heads": heads}
    if kind == "encoder":
        return Record(info, text, None, attention("encoder", read, read, **size), None, None)
    if kind == "decoder":
        return Record(info, text, None, None, attention("decoder", read, read, **size), None)
    given = replace(tokens(("</s>", *output[:-1])), ids=np.array([len(out) - 1, *out.ids[:-1]]))
    return Record(
        info,
        text,
        "".join(label for label in output if not label.startswith("<")),
        attention("encoder", read, read, **size),
        attention("decoder", given, given, **size),
        attention("cross", given, read, **size),
        output=out,
        steps=steps(out),
        provenance=Provenance(seconds=0.12, stopped="</s>"),
    )
