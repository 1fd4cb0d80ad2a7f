"""The same record as one file for a browser: ours against plotly's, bertviz's and attnview's; and our other formats.

The peers are given the weights ready made, ours computes them from queries and keys. bertviz's file asks another
host for its scripts; the others ask nobody. attnview is not among our packages: it is measured where it is installed.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from importlib.util import find_spec
from pathlib import Path

import torch
from bertviz import head_view, model_view

import bartviz
from bartviz.arrays import Floats
from bartviz.explorer.file import page
from bartviz.record.record import Record
from benchmarks.payload import MOST, drawn, row
from benchmarks.subjects import subject, text

SENTENCE = "I want to buy a car."


def report(folder: Path, *, lengths: Sequence[int] = (64, 128, 512), seconds: float = 2.0) -> None:
    print("\nFiles: one HTML file with every head of the same record, in bytes, and the CPU time to make it")
    model = subject("bert-base-uncased", folder)
    for n in lengths:
        against_peers(bartviz.capture(model, text(n)), seconds)
    _of_a_sentence(seconds)


def against_peers(record: Record, seconds: float) -> None:
    """A line for each file of an encoder's record."""
    attention = record.attention("encoder")
    print(f"  {attention.shape[0]} x {attention.shape[1]} heads, n = {attention.shape[2]}")
    row("ours: the explorer", lambda: len(page(record)), seconds)
    row("ours: the record, opens again", lambda: _saved(record, "safetensors"), seconds)
    _peers([attention.layer(layer) for layer in range(attention.shape[0])], attention.key.labels, seconds)


def _peers(weights: Sequence[Floats], names: Sequence[str], seconds: float) -> None:
    """The files of the peers, of the weights of every layer: (H, n, n) each."""
    works: dict[str, Callable[[], int]] = {
        "plotly, float32": lambda: len(drawn(weights, names).to_html(include_plotlyjs=True).encode()),
        "bertviz head view": lambda: _bertviz(head_view, weights, names),
        "bertviz model view": lambda: _bertviz(model_view, weights, names),
        "attnview": lambda: _attnview(weights, names),
    }
    cells = sum(layer.size for layer in weights)
    if find_spec("attnview") is None:
        del works["attnview"]
        print("    attnview                         not installed")
    for name, work in works.items():
        if cells > MOST and name != "plotly, float32":
            print(f"    {name:32} not run: {cells / 1e6:,.0f} million weights")
        else:
            row(name, work, seconds)


def _bertviz(view: Callable[..., object], weights: Sequence[Floats], names: Sequence[str]) -> int:
    given = [torch.from_numpy(layer)[None] for layer in weights]  # (1, H, n, n) each
    return len(view(given, list(names), html_action="return").data.encode())  # type: ignore[attr-defined]


def _attnview(weights: Sequence[Floats], names: Sequence[str]) -> int:
    import attnview

    cache = {("pattern", layer): each for layer, each in enumerate(weights)}
    study = attnview.AttentionStudy.from_cache(cache, tokens=list(names))
    return len(attnview.render_html(study).encode())


def _of_a_sentence(seconds: float) -> None:
    """What the shipped translator leaves of a sentence, in each of our formats."""
    record = bartviz.capture(bartviz.load("bart-tiny-en-de"), SENTENCE)
    print(f"  the shipped translator, {SENTENCE!r}: all heads of three kinds, every step")
    row("ours: the explorer", lambda: len(page(record)), seconds)
    row("ours: the record, opens again", lambda: _saved(record, "safetensors"), seconds)
    picture = bartviz.paper.map(record, "cross", 2, 5, width=240)
    row("ours: a head for paper, SVG", lambda: len(bartviz.paper.map(record, "cross", 2, 5).svg.encode()), seconds)
    for ending in ("pdf", "png"):
        row(f"ours: the same as {ending.upper()}", lambda ending=ending: _saved(picture, ending), seconds)  # type: ignore[misc]


def _saved(what: Record | bartviz.paper.Picture, ending: str) -> int:
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()):
        path = Path(folder) / f"file.{ending}"
        what.save(path)
        return path.stat().st_size
