"""All texts of figures are translated: in a language with all messages in brackets, no text is outside of brackets.

But for tokens, numbers, names and the letters of formulas.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from bartviz import figures
from bartviz.analysis import article_models, heads, inside, scaling
from bartviz.analysis import inputs as embeddings
from bartviz.analysis.alignment import heads_of, table
from bartviz.analysis.costs import Costs
from bartviz.analysis.distance import contrast
from bartviz.analysis.gold_alignment import read
from bartviz.analysis.measures import measures
from bartviz.analysis.parameters import configuration, rows
from bartviz.analysis.patterns import pattern
from bartviz.analysis.repairs import Score
from bartviz.features.alignment.figure import lines, matrix
from bartviz.features.compare import figure_contrast as contrasts
from bartviz.features.compare import numbers_similar as similar
from bartviz.features.compare.figure import alike
from bartviz.features.experiments.figure import reach as reached
from bartviz.features.experiments.figure_ablation import moved, worth
from bartviz.features.inputs.figure import positions, relative, shift
from bartviz.features.inside import figure_around_attention as around_attention
from bartviz.features.inside import figure_products as products
from bartviz.features.masks import figure_patterns as patterns
from bartviz.features.parameters import figure_costs as costs
from bartviz.features.parameters.figure import parameters, sizes
from bartviz.language import PSEUDO, speaking
from bartviz.record.attention import Attention
from bartviz.record.record import Record
from tests.analysis.test_ablation import ablation as one_ablation
from tests.analysis.test_ablation import sweep
from tests.analysis.test_branches import MAIN, output
from tests.analysis.test_edits import edit, reach
from tests.features.inputs.test_figure import made
from tests.support import records, stand_in, trees

RECORD = stand_in.record(("<s>", "나는", " 1999", " 차를", " 차를", " 산다", ".", "</s>"))
LONG = stand_in.record((*("<s>", "나는"), *[f" {number}" for number in range(420)], "</s>"))
TOKENS = {
    word
    for label in (
        *stand_in.SOURCE,
        *stand_in.OUTPUT,
        *(line[1] for line in trees.LINES),
        "Haus",
        *reach().tokens.labels,
    )
    for word in re.findall("[A-Za-z]+", label)
} | {"Du", "kaufe", "kaufen"}
NAMES = {"log", "kB", "MB", "GB", "TB", "LayerNorm", "GELU", "ReLU", "pre", "post", "norm"}
MODELS = {"BERT", "BART", "GPT", "base", "large", "small", "medium"}


def biased() -> Attention:
    tokens = stand_in.tokens(["1", "2", "3", "4"])
    return records.attention("decoder", tokens, tokens, bias=True)


def links(gold: bool, cells: bool = False) -> go.Figure:
    shown = table(RECORD, heads_of(RECORD))
    judged = read("0-0 1-1 3?4", len(shown.source), len(shown.target)) if gold else None
    return (matrix if cells else lines)(shown, frozenset({(0, 0), (3, 4), (2, 1)}), gold=judged)


def likely() -> Score:
    flags = np.array([True, False])
    return Score(
        ("1", "2"),
        ~flags & ~flags,
        np.log(np.array([0.5, 0.2], np.float32)),
        ("1", "3"),
        np.array([0.5, 0.6], np.float32),
        flags,
        ~flags,
    )


def one(row: int, bias: bool = False) -> inside.Inside:
    return inside.inside(biased() if bias else RECORD.attention("decoder"), 1, 2, row)


def both(bars: bool) -> go.Figure:
    first, second = (heads.view(RECORD.attention("decoder"), 1, head) for head in (0, 1))
    found = contrast(first, second)
    assert found is not None
    return contrasts.difference(first, second, found, bars=bars)


def near() -> go.Figure:
    found = similar.likeness(RECORD.attention("encoder"))
    assert found is not None
    return alike(measures(RECORD.attention("encoder")), found)


def bars() -> go.Figure:
    weights = np.full(8, 1 / 8, np.float32)
    return patterns.row_bars(weights, weights, RECORD.source.labels, kind="encoder", mask=pattern("window", 8)[0])


def of(name: str) -> go.Figure:
    return parameters(rows(configuration(name)))


def shown(kind: str) -> Attention:
    return RECORD.attention(kind)


FIGURES: dict[str, Callable[[], go.Figure]] = {
    "sweep": lambda: figures.ablation(sweep()),
    "sweep, count": lambda: figures.ablation(sweep(), measure="changed"),
    "nothing swept": lambda: worth({"encoder": None}, {"encoder": (3, 4)}, clicks=True),
    "ablation": lambda: figures.ablation(one_ablation([0.5, 0.5, 0.8], [0.5, 0.25, 0.8], [7, 3, 7])),
    "attention moved": lambda: moved(one_ablation([0.5] * 3, [0.5] * 3, [7] * 3)),
    "alignment": lambda: links(gold=False),
    "alignment judged": lambda: links(gold=True),
    "alignment matrix": lambda: links(gold=True, cells=True),
    "beams": lambda: figures.beams(trees.record(), most=6, step=1),
    "branches": lambda: figures.branches(MAIN, output("Ich", " möchte", " kaufen", " ein", " Auto", ".", "</s>")),
    "compare": lambda: figures.compare(shown("cross"), a=(0, 1)),
    "compare by distance": lambda: figures.compare(shown("encoder"), a=(0, 1), color="to_a"),
    "compare two": lambda: figures.compare(shown("encoder"), a=(0, 1), b=(1, 1)),
    "compare two texts": lambda: figures.compare(shown("encoder"), a=(0, 1), b=(1, 1), other=shown("decoder")),
    "difference": lambda: both(bars=True),
    "alike": near,
    "contribution": lambda: figures.contribution(shown("decoder"), 1, 2, range="log"),
    "rollout": lambda: figures.rollout(shown("decoder"), range="row"),
    "decoding": lambda: figures.decoding(RECORD, reading="reads", step=3),
    "decoding, one head": lambda: figures.decoding(RECORD, layer=1, head=1),
    "denoising": lambda: figures.denoising(likely()),
    "edit, encodings": lambda: figures.edits(edit()),
    "edit, attention": lambda: figures.edits(edit(), view="attention"),
    "edit, outputs": lambda: figures.edits(edit(), view="outputs"),
    "reach": lambda: reached(reach(), place=5),
    "all heads": lambda: figures.heads(shown("cross")),
    "heads of a layer": lambda: figures.heads(shown("cross"), layer=1),
    "one head": lambda: figures.heads(shown("decoder"), layer=1, head=2, hide_sinks=True),
    "one head, long": lambda: figures.heads(LONG.attention("encoder"), layer=1, head=2),
    "inputs": lambda: figures.inputs(made()),
    "positions": lambda: positions(np.random.default_rng(1).normal(size=(10, 6))),
    "shift": lambda: shift(embeddings.shift(np.random.default_rng(1).normal(size=(32, 6)))),
    "relative": lambda: relative(np.arange(12.0).reshape(3, 2, 2), "encoder"),
    "inside": lambda: figures.inside(shown("decoder"), 1, 2, row=3, most=2),
    "inside, long": lambda: figures.inside(LONG.attention("encoder"), 1, 2, row=3),
    "inside, bias": lambda: figures.inside(biased(), 0, 0, row=2),
    "products": lambda: products.products(one(3), 1, by_size=True),
    "share": lambda: products.share(one(3)),
    "scaling": lambda: around_attention.scaling(scaling.scaling(shown("decoder"), 1), "decoder"),
    "activation": lambda: around_attention.activation("gelu_new"),
    "norms": lambda: around_attention.norms(True, "encoder"),
    "growth": lambda: around_attention.growth(np.arange(1.0, 4.0, dtype=np.float32), 1, "encoder"),
    "masks": lambda: figures.masks(RECORD),
    "masks, numbers": lambda: figures.masks(RECORD, view="additive"),
    "masks, weights": lambda: figures.masks(RECORD, view="weights"),
    "mask, bias": lambda: figures.masks(stand_in_biased(), view="additive"),
    "bars of a row": bars,
    "BART": lambda: of("facebook/bart-base"),
    "ALBERT": lambda: of("albert-base-v2"),
    "T5": lambda: of("t5-small"),
    "sizes": lambda: sizes(article_models.models()),
    "operations": lambda: costs.operations(Costs("bert-base-uncased"), 100),
    "memory": lambda: costs.memory(Costs("facebook/bart-base"), 100),
    "cache": lambda: costs.decoding(Costs("facebook/bart-base"), 20, 8),
}


def stand_in_biased() -> Record:
    tokens = stand_in.tokens(["1", "2", "3", "4"])
    base = stand_in.record(["1", "2", "3", "4"], kind="encoder")
    return Record(
        base.model, base.source_text, None, records.attention("encoder", tokens, tokens, bias=True), None, None
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_all_texts_of_a_figure_are_translated(name: str) -> None:
    with speaking(PSEUDO):
        found = {word for text in texts(FIGURES[name]()) for word in outside(text)}
    assert found <= TOKENS | NAMES | MODELS


def test_the_gallery_of_patterns_too() -> None:
    with speaking(PSEUDO):
        titles = re.findall(r"<(?:b|span)[^>]*>([^<]*)<", patterns.gallery(8))
    assert len(titles) > 16
    assert not [word for text in titles for word in outside(text)]


def test_what_was_not_looked_up_is_found() -> None:
    assert outside("<b>⟦{x}⟧</b> and ⟦more ⟦inside⟧⟧ %{customdata[0]:.3f} L1H2 q · k") == ["and"]
    drawn = go.Figure(
        {"data": [{"type": "bar", "y": [1], "hovertext": ["seen"]}], "layout": {"title": {"text": "too"}}}
    )
    assert set(texts(drawn)) >= {"seen", "too"}


def outside(text: str) -> list[str]:
    """The words of a text that stand outside all brackets; a letter, a head's name and a file's name are no words."""
    text = re.sub(r"<b>[\w]+(?:\.\w+)+</b>", " ", re.sub(r"%\{[^}]*\}", " ", text))
    text = re.sub(r"\b[LH]\d+(?:H\d+)?\b", " ", html.unescape(re.sub(r"<[^>]*>", " ", text)))
    while (shorter := re.sub(r"⟦[^⟦⟧]*⟧", " ", text)) != text:
        text = shorter
    return re.findall(r"[A-Za-z]{2,}", text)


def texts(figure: go.Figure) -> Iterator[str]:
    """Titles, labels, annotations, colour bars, legends, and what the pointer says."""
    layout = figure.layout
    yield layout.title.text or ""
    for axis in (*figure.select_xaxes(), *figure.select_yaxes()):
        yield axis.title.text or ""
        yield from axis.ticktext if axis.ticktext is not None else ()
    yield from (note.text for note in layout.annotations)
    for trace in figure.data:
        yield from _of(trace.to_plotly_json())
        if layout.showlegend is not False and trace.type in ("scatter", "bar") and trace.showlegend is not False:
            yield trace.name or ""


def _of(trace: dict[str, Any]) -> Iterator[str]:
    bar = trace.get("colorbar", {})
    yield bar.get("title", {}).get("text", "")
    for part in (bar.get("ticktext"), *(trace.get(key) for key in ("text", "hovertext", "labels", "customdata"))):
        yield from (
            str(one) for one in np.ravel(np.asarray([] if part is None else part, object)) if isinstance(one, str)
        )
    if trace.get("hoverinfo") != "skip":
        yield re.sub("<extra></extra>", "", trace.get("hovertemplate", ""))
