"""Seeded random Records of every kind, and hypothesis strategies for them: unequal depths, padding, odd tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from hypothesis import strategies as st

from bartviz.record.attention import KINDS, Attention, Kind
from bartviz.record.record import Record
from bartviz.text.tokens import Tokens
from tests.support import stand_in

ODD = (
    "<s>",
    "</s>",
    "a",
    "a",
    " the",
    "<b>",
    "%{z}",
    "1999",
    " 어텐션",
    "👩‍👩‍👧",
    "&amp;",
    "**x**",
    " ",
    ".",
    "=1+1",
    "",
)


def attention(
    kind: Kind,
    query: Tokens,
    key: Tokens,
    *,
    layers: int = 2,
    heads: int = 3,
    width: int = 4,
    padding: int = 0,
    bias: bool = False,
    seed: int = 0,
) -> Attention:
    """Random attention (seeded): decoder self-attention is causal, the last ``padding`` keys may not be looked at."""
    random = np.random.default_rng((seed, KINDS.index(kind)))
    rows, columns = len(query), len(key)
    mask = np.tri(rows, columns, dtype=bool) if kind == "decoder" else np.ones((rows, columns), dtype=bool)
    mask[:, columns - padding :] = False
    q, k = (random.normal(size=(layers, heads, n, width)).astype(np.float32) * 2 for n in (rows, columns))
    scores = random.normal(size=(heads, rows, columns)).astype(np.float32) if bias else None
    out = random.normal(size=(layers, 6, heads, width)).astype(np.float32)
    added = random.normal(size=(layers, 6)).astype(np.float32)
    return Attention(kind, q, k, width**-0.5, mask, query, key, v=k, bias=scores, out=out, out_bias=added)


def encoder_only(labels: Sequence[str] = stand_in.SOURCE, *, layers: int = 2, heads: int = 3, seed: int = 0) -> Record:
    """As BERT leaves it: one attention, of the kind encoder."""
    tokens = stand_in.tokens(labels)
    own = attention("encoder", tokens, tokens, layers=layers, heads=heads, seed=seed)
    return Record(
        stand_in.model_info("encoder", layers=(layers, 0), heads=(heads, 0)), "".join(labels), None, own, None, None
    )


def decoder_only(labels: Sequence[str] = stand_in.OUTPUT, *, layers: int = 2, heads: int = 3, seed: int = 0) -> Record:
    """As GPT-2 leaves it: one attention, of the kind decoder, causal; row t predicts the token of row t + 1."""
    read, out = stand_in.tokens(labels[:-1]), stand_in.tokens(labels[1:])
    own = attention("decoder", read, read, layers=layers, heads=heads, seed=seed)
    return Record(
        stand_in.model_info("decoder", layers=(0, layers), heads=(0, heads)),
        "".join(labels),
        None,
        None,
        own,
        None,
        output=out,
    )


def encoder_decoder(
    source: Sequence[str] = stand_in.SOURCE,
    output: Sequence[str] = stand_in.OUTPUT,
    *,
    layers: tuple[int, int] = (3, 2),
    heads: tuple[int, int] = (2, 4),
    padding: int = 0,
    seed: int = 0,
) -> Record:
    """As DistilBART leaves it: three kinds, encoder and decoder of unequal depth; ``padding`` ends the source."""
    read, out = stand_in.tokens(source), stand_in.tokens(output)
    given = replace(stand_in.tokens(("</s>", *output[:-1])), ids=np.array([len(out) - 1, *out.ids[:-1]]))
    deep = partial(attention, layers=layers[0], heads=heads[0], seed=seed)
    shallow = partial(attention, layers=layers[1], heads=heads[1], seed=seed)
    return Record(
        stand_in.model_info(layers=layers, heads=heads),
        "".join(source),
        "".join(output),
        deep("encoder", read, read, padding=padding),
        shallow("decoder", given, given),
        shallow("cross", given, read, padding=padding),
        output=out,
        steps=stand_in.steps(out),
    )


labels = st.lists(st.sampled_from(ODD), min_size=1, max_size=9)
"""Strategy: 1 to 9 labels, some special, some empty, some that plotly, HTML or Markdown would take for theirs."""


@st.composite
def attentions(draw: st.DrawFn, kind: Kind | None = None) -> Attention:
    """Strategy: random attention of one kind (or any): 1-3 layers, 1-3 heads, 1-9 tokens a side, some padded wholly."""
    chosen: Kind = kind if kind is not None else draw(st.sampled_from(KINDS))
    query = stand_in.tokens(draw(labels))
    key = stand_in.tokens(draw(labels)) if chosen == "cross" else query
    return attention(
        chosen,
        query,
        key,
        layers=draw(st.integers(1, 3)),
        heads=draw(st.integers(1, 3)),
        padding=draw(st.integers(0, len(key))),
        bias=draw(st.booleans()),
        seed=draw(st.integers(0, 2**16)),
    )


@st.composite
def records(draw: st.DrawFn) -> Record:
    """Strategy: a random record of an encoder, a decoder, or both with unequal depths."""
    seed, sizes = draw(st.integers(0, 2**16)), st.integers(1, 3)
    source, output = draw(labels), draw(labels)
    build = draw(st.sampled_from(("encoder", "decoder", "both")))
    if build == "encoder":
        return encoder_only(source, layers=draw(sizes), heads=draw(sizes), seed=seed)
    if build == "decoder":
        return decoder_only((*output, "</s>"), layers=draw(sizes), heads=draw(sizes), seed=seed)
    return encoder_decoder(
        source,
        output,
        layers=(draw(sizes), draw(sizes)),
        heads=(draw(sizes), draw(sizes)),
        padding=draw(st.integers(0, len(source) - 1)),
        seed=seed,
    )
