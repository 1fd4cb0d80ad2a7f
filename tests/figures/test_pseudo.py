"""All texts of figures are translated: in a language with all messages in brackets, no text is outside of brackets.

But for tokens, numbers, names and the letters of formulas.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from bartviz import figures
from bartviz.language import PSEUDO, speaking
from tests.analysis.test_attribution import by_hand
from tests.analysis.test_edits import reach
from tests.figures.shown import LONG, attention
from tests.support import stand_in, trees

TOKENS = {
    word
    for label in (
        *stand_in.SOURCE,
        *stand_in.OUTPUT,
        *(line[1] for line in trees.LINES),
        "Haus",
        "new",  # a word that the denoiser adds
        *reach().tokens.labels,
        *by_hand("rollout").source.labels,
        *(word.text for word in by_hand("rollout").source.words),
        *(word.text for word in by_hand("rollout").steps.words),
    )
    for word in re.findall("[A-Za-z]+", label)
} | {"Du", "kaufe", "kaufen"}
NAMES = {"log", "kB", "MB", "GB", "TB", "LayerNorm", "GELU", "ReLU", "pre", "post", "norm"}
MODELS = {"BERT", "BART", "GPT", "base", "large", "small", "medium"}


FIGURES: dict[str, Callable[[], go.Figure]] = {
    "all heads": lambda: figures.heads(attention("cross")),
    "heads of a layer": lambda: figures.heads(attention("cross"), layer=1),
    "one head": lambda: figures.heads(attention("decoder"), layer=1, head=2, hide_sinks=True),
    "attribution, signed": lambda: figures.attribution(by_hand("leave-one-out", contrast="x")),
    "attribution, shares": lambda: figures.attribution(by_hand("rollout").words()),
    "one head, long": lambda: figures.heads(LONG.attention("encoder"), layer=1, head=2),
}
for file in sorted((Path(__file__).parents[1] / "features").glob("*/drawn.py")):
    FIGURES |= getattr(import_module(f"tests.features.{file.parent.name}.drawn"), "FIGURES", {})


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_all_texts_of_a_figure_are_translated(name: str) -> None:
    with speaking(PSEUDO):
        found = {word for text in texts(FIGURES[name]()) for word in outside(text)}
    assert found <= TOKENS | NAMES | MODELS


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
