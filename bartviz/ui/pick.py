"""The pickers of the pages: each bound to the URL under its key, and clamped to what the record has.

A value that comes from a link or from an earlier record never indexes anything before it was clamped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from bartviz.record import Kind, Reading, Record

KIND_NAMES: Mapping[Kind, str] = {"encoder": "Encoder", "decoder": "Decoder", "cross": "Cross"}


def one_of(
    label: str,
    options: Sequence[str] | Mapping[str, str],
    *,
    key: str,
    default: str | None = None,
    hint: str | None = None,
) -> str:
    """One of a few named options (keys of ``options``; the values, where given, are what the reader sees)."""
    names = dict(options) if isinstance(options, Mapping) else {option: option for option in options}
    first = default if default in names else next(iter(names))
    if key in st.session_state and st.session_state[key] not in names:
        st.session_state[key] = first
    chosen = st.segmented_control(
        label, list(names), default=first, format_func=names.__getitem__, key=key, bind="query-params", help=hint,
        required=True,
    )  # fmt: skip
    return chosen if chosen in names else first


def index(label: str, count: int, *, key: str, default: int = 0, hint: str | None = None) -> int:
    """An index 0 ... count - 1 on a slider; with a single choice nothing is drawn. ``count`` >= 1."""
    last = count - 1
    first = min(max(default, 0), last)
    if last < 1:
        st.session_state.pop(key, None)
        return 0
    if key in st.session_state:
        st.session_state[key] = min(max(int(st.session_state[key]), 0), last)
    return min(max(int(st.slider(label, 0, last, first, key=key, bind="query-params", help=hint)), 0), last)


def switch(label: str, *, key: str, default: bool = False, hint: str | None = None) -> bool:
    """A toggle."""
    return bool(st.toggle(label, default, key=key, bind="query-params", help=hint))


def kind(record: Record, *, default: Kind | None = None) -> Kind:
    """Which attention: one of the kinds that the record has (URL ``kind``); the first if not told otherwise."""
    names = {kind: KIND_NAMES[kind] for kind in record.kinds}
    chosen = one_of("Attention", names, key="kind", default=default)  # type: ignore[arg-type]
    return next(kind for kind in record.kinds if kind == chosen)


def layer(record: Record, kind: Kind, *, default: int = 0) -> int:
    """A layer of that kind (URL ``layer``), counted from 0."""
    return index("Layer", record.attention(kind).shape[0], key="layer", default=default)


def head(record: Record, kind: Kind, *, default: int = 0) -> int:
    """A head of that kind (URL ``head``), counted from 0."""
    return index("Head", record.attention(kind).shape[1], key="head", default=default)


def row(record: Record, kind: Kind, *, default: int = 0) -> int:
    """A query row of that kind (URL ``row``)."""
    return index("Row", record.attention(kind).shape[2], key="row", default=default)


def step(record: Record, *, default: int = 0) -> int:
    """A decoding step (URL ``step``): an index into ``record.steps``, which must not be empty."""
    return index("Step", len(record.steps), key="step", default=default)


def reading(*, default: Reading = "predicts") -> Reading:
    """How decoder rows are labelled (URL ``reading``): by the token a row reads, or by the one it predicts."""
    names = {"predicts": "token it predicts", "reads": "token it reads"}
    chosen = one_of("A row is named by the", names, key="reading", default=default)
    return "reads" if chosen == "reads" else "predicts"


def by_words(*, default: bool = False) -> bool:
    """Whether pieces of a word are merged (URL ``words``): summed over keys, averaged over queries."""
    return switch("Merge pieces into words", key="words", default=default)
