"""The smaller figures of the pages, for notebooks: each from a record's attention, a model's name or a result.

Letters in shapes: L layers, H heads, Q query rows, K key columns, n tokens.
"""

from __future__ import annotations

import math
from typing import Literal

import plotly.graph_objects as go

from bartviz.analysis import activations, article_models, experiment_findings, similar
from bartviz.analysis import inputs as summed
from bartviz.analysis import inside as arithmetic
from bartviz.analysis import patterns as shapes
from bartviz.analysis import pitfalls as analysis
from bartviz.analysis import scaling as unscaled
from bartviz.analysis.ablation import Ablation, Sweep
from bartviz.analysis.costs import Costs
from bartviz.analysis.inputs import Inputs
from bartviz.analysis.inside import Inside
from bartviz.analysis.measures import measures, of_record
from bartviz.arrays import Floats
from bartviz.errors import SettingError
from bartviz.figures import around_attention as around
from bartviz.figures import costs, patterns, pitfalls, products
from bartviz.figures.ablation import moved as moved_attention
from bartviz.figures.checks import ATTENTION, RECORD, expect, expect_word
from bartviz.figures.compare import alike
from bartviz.figures.inputs import positions as similarities
from bartviz.figures.inputs import relative
from bartviz.figures.inputs import shift as shifts
from bartviz.figures.parameters import sizes as bars
from bartviz.record.attention import Attention
from bartviz.record.record import Record
from bartviz.record.softmax import masked_softmax
from bartviz.text.tokens import Tokens

INPUTS = "what bartviz.experiments.embeddings.inputs(model, record) gives"
MOST = 128  # positions of a table that are compared
_MOST_HEADS = 2_500  # GPT-2 XL has 1,200


def likeness(attention: Attention, *, query: Tokens | None = None, dark: bool = False) -> go.Figure:
    """All heads of one kind in a plane in which similar heads are close together (after Clark et al. 2019, 6).

    ``query`` replaces the labels of rows. Raises SettingError if there is a single head, no row with a choice, or very
    many heads: the time grows with the cube of their number.
    """
    expect(attention, Attention, ATTENTION)
    count = math.prod(attention.shape[:2])
    if count > _MOST_HEADS:
        raise SettingError(f"There are {count:,} heads; at most {_MOST_HEADS:,} are compared with each other.")
    found = similar.likeness(attention, query=query)
    if found is None:
        raise SettingError("There is nothing to lay out: a single head, or no row with a choice of keys.")
    return alike(measures(attention, query=query), found, dark=dark)


def score(
    attention: Attention,
    layer: int,
    head: int,
    row: int = 0,
    *,
    key: int | None = None,
    by_size: bool = False,
    dark: bool = False,
) -> go.Figure:
    """The products of one query and one key, dimension by dimension, up to q · k; ``key`` None is the strongest one.

    ``by_size``: the largest first. Raises SettingError for a layer, head, row or key that is not there.
    """
    one = _one(attention, layer, head, row)
    at = one.strongest if key is None else key
    if not 0 <= at < attention.shape[3]:
        raise SettingError(f"There is no key {at}: choose 0 to {attention.shape[3] - 1}.")
    return products.products(one, at, by_size=by_size, dark=dark)


def share(attention: Attention, layer: int, head: int, row: int = 0, *, dark: bool = False) -> go.Figure:
    """What each head of a layer adds to one row, as shares of their lengths. Needs values. Raises SettingError."""
    one = _one(attention, layer, head, row)
    if one.shares is None:
        raise SettingError("This record was made without values. Run the text again with values=True.")
    return products.share(one, dark=dark)


def scaling(attention: Attention, layer: int, head: int | None = None, *, dark: bool = False) -> go.Figure:
    """Scores and entropies with the division by the root of d and without it, for one head or all heads of a layer."""
    expect(attention, Attention, ATTENTION)
    return around.scaling(unscaled.scaling(attention, layer, head), attention.kind, dark=dark)


def growth(attention: Attention, row: int = 0, *, layer: int = 0, dark: bool = False) -> go.Figure:
    """The length of what each layer's attention adds to one row; ``layer`` is filled. Needs values. SettingError."""
    expect(attention, Attention, ATTENTION)
    attention.check(layer, 0)
    return around.growth(arithmetic.growth(attention, row), layer, attention.kind, dark=dark)


def activation(record: Record, *, dark: bool = False) -> go.Figure:
    """GELU and ReLU from -4 to 4; the one that the record's model has is the thick line."""
    expect(record, Record, RECORD)
    return around.activation(activations.of(record.model)[0], dark=dark)


def norms(record: Record, *, dark: bool = False) -> go.Figure:
    """Layer norm before or after each part: the two orders as boxes, that of the record's model in colour."""
    expect(record, Record, RECORD)
    return around.norms(record.model.known.norm == "pre", record.kinds[0], dark=dark)


def positions(one: Inputs, *, dark: bool = False) -> go.Figure:
    """Similarity of the model's positions for this text (at most 128), and of as many sinusoidal ones."""
    return similarities(_table(one), dark=dark)


def shift(one: Inputs, *, dark: bool = False) -> go.Figure:
    """How well a linear map shifts positions: learned and sinusoidal ones."""
    return shifts(summed.shift(_table(one)), dark=dark)


def bias(attention: Attention, *, dark: bool = False) -> go.Figure:
    """T5's number for each distance, a line for each head. Raises SettingError for attention without one."""
    expect(attention, Attention, ATTENTION)
    bias = attention.bias_of(0)
    if bias is None or attention.kind == "cross":
        raise SettingError("This attention has no bias by distance: choose a T5 model, encoder or decoder.")
    return relative(bias, attention.kind, dark=dark)


def pattern(
    attention: Attention,
    name: str,
    *,
    layer: int = 0,
    head: int = 0,
    row: int = 0,
    most: int = 24,
    dark: bool = False,
    **settings: int,
) -> go.Figure:
    """One row of self-attention with nothing closed and under another mask: ``name`` of ``analysis.patterns.PATTERNS``.

    The first ``most`` tokens; ``settings`` such as ``window=2`` are those of the pattern. Raises SettingError.
    """
    expect(attention, Attention, ATTENTION)
    if attention.kind == "cross":
        raise SettingError("A pattern is laid over one text: choose encoder or decoder attention.")
    short = shapes.cut(attention, most)
    short.check(layer, head)
    if not 0 <= row < short.shape[2]:
        raise SettingError(f"There is no row {row}: choose 0 to {short.shape[2] - 1}.")
    mask = shapes.pattern(name, short.shape[2], **settings)
    scores = short.scores(layer, head)
    before, after = (masked_softmax(scores.copy(), one) for one in (short.mask, mask))
    return patterns.row_bars(
        before[row], after[row], short.key.labels, kind=short.kind, mask=mask[row], special=short.key.special, dark=dark
    )


def moved(found: Ablation, *, dark: bool = False) -> go.Figure:
    """The change of every head's attention when some heads are scaled: a result of ``bartviz.ablate``."""
    expect(found, Ablation, "what bartviz.ablate gives")
    return moved_attention(found, dark=dark)


def quiet(sweep: Sweep, record: Record, *, dark: bool = False) -> go.Figure:
    """The sharpness of every head and the effect of silencing it. ``sweep`` is a result of ``bartviz.ablate_sweep``."""
    expect(sweep, Sweep, "what bartviz.ablate_sweep gives, and then the record")
    expect(record, Record, RECORD)
    return pitfalls.sharp_and_silent(
        experiment_findings.quiet(sweep, {kind: of_record(record, kind) for kind in sweep.kinds}), dark=dark
    )


def gap(record: Record, *, dark: bool = False) -> go.Figure:
    """The row whose weights and contributions differ most. Needs values. Raises SettingError."""
    expect(record, Record, RECORD)
    found = analysis.gap(record)
    if found is None:
        raise SettingError("No row of this record can be shown so. Run a longer text, with values=True.")
    labels = record.attention(found.head.kind).key.labels
    return pitfalls.weights_and_contributions(found, labels, dark=dark)


def cost(
    model: str,
    length: int = 512,
    *,
    view: Literal["operations", "memory", "decoding"] = "operations",
    dark: bool = False,
) -> go.Figure:
    """The costs of a length, from the model's configuration: operations, bytes, or decoding steps with and without a
    cache.

    Raises ModelError for a model that is not known, SettingError for a view or an encoder's decoding.
    """
    expect_word(view, ("operations", "memory", "decoding"), "The view of costs")
    own = Costs(model)
    if view == "decoding":
        if own.sizes.decoder is None:
            raise SettingError("This model writes nothing: choose operations or memory.")
        return costs.decoding(own, length, min(length, own.sizes.positions or length, 1024), dark=dark)
    return (costs.operations if view == "operations" else costs.memory)(own, length, dark=dark)


def sizes(*, dark: bool = False) -> go.Figure:
    """The articles' models as bars of parts, in millions; a diamond is the number in the articles."""
    return bars(article_models.models(), dark=dark)


def _one(attention: Attention, layer: int, head: int, row: int) -> Inside:
    expect(attention, Attention, ATTENTION)
    return arithmetic.inside(attention, layer, head, row)


def _table(one: Inputs) -> Floats:
    """(P, e) the first rows of the position table. Raises SettingError for a model that has none."""
    expect(one, Inputs, INPUTS)
    if one.table is None:
        raise SettingError("This model has no position embeddings: draw its bias by distance, figures.bias.")
    return one.table[:MOST]
