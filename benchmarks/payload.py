"""What a browser is sent to see attention, and the CPU time to make it: ours against plotly's and bertviz's.

No network is needed: random queries and keys of BERT-base's shape are enough (12 layers, 12 heads of 64 numbers).
bertviz and plotly get the weights ready made; ours computes them from queries and keys. What would take bertviz longer
than seconds is not run, and is printed so.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Sequence

import numpy as np
import plotly.graph_objects as go
import torch
from bertviz import head_view, model_view
from plotly.subplots import make_subplots

from bartviz.analysis.thumbnails import thumbnails
from bartviz.arrays import Floats
from bartviz.browser.canvas.data import Choice, Picture, Shown, codes
from bartviz.record.attention import Attention
from bartviz.text.tokens import Tokens

LAYERS, HEADS, WIDTH = 12, 12, 64
LENGTHS = (64, 128, 256, 512)
MOST = 3_000_000  # weights that bertviz is given at most
Size = Callable[[], int]  # does the work, gives its bytes


def report(
    *,
    lengths: tuple[int, ...] = LENGTHS,
    single: tuple[int, ...] = (128, 512, 1024),
    large: int = 1024,
    seconds: float = 2.0,
) -> None:
    threads = os.environ.get("OMP_NUM_THREADS", "as many as there are cores")
    print("\nPayload: what a browser is sent, in bytes, and the CPU time to make it (smallest and largest of the runs)")
    print(f"  threads of NumPy: {threads}; bertviz and plotly are given the weights, ours computes them, too")
    for n in lengths:
        own = attention(n, LAYERS)
        print(f"  one map, n = {n}")
        row("ours: exact to three decimals", lambda own=own: codes(own.head(1, 7)).nbytes, seconds)  # type: ignore[misc]
        _peers("one", own, 1, seconds)
        print(f"  {LAYERS} x {HEADS} heads, n = {n}")
        row("ours: small maps", lambda own=own: thumbnails(own).cells.nbytes, seconds)  # type: ignore[misc]
        row("ours: canvas", lambda own=own: len(Picture(own, Shown()).pack(Choice(), 0)), seconds)  # type: ignore[misc]
        _peers("all", own, LAYERS * HEADS, seconds)
    _on_demand(large, seconds)
    print("\nOne head from queries and keys: CPU time")
    for n in single:
        own = attention(n, 1)
        row(f"n = {n}", lambda own=own: own.head(0, 5).nbytes, seconds)  # type: ignore[misc]


def _on_demand(n: int, seconds: float) -> None:
    """What the canvas is sent of a long text: the small maps first, then the exact map that is looked at."""
    print(f"  {LAYERS} x {HEADS} heads, n = {n}")
    picture = Picture(attention(n, LAYERS), Shown())
    row("ours: canvas, small maps", lambda: len(picture.pack(Choice(), 0)), seconds)
    row("ours: one exact map on demand", lambda: len(picture.pack(Choice(3, 7), 0, light=True)), seconds)


def attention(n: int, layers: int, heads: int = HEADS) -> Attention:
    """Attention of a text of n tokens, from random queries and keys; peaked."""
    random = np.random.default_rng(0)
    q, k = (random.standard_normal((layers, heads, n, WIDTH), np.float32) for _ in "qk")
    names = tokens(n)
    return Attention("encoder", q, k, 3 * WIDTH**-0.5, np.ones((n, n), np.bool_), names, names)


def tokens(n: int) -> Tokens:
    """Words of n tokens, a token each."""
    names = tuple(f"token{i}" for i in range(n))
    spans = tuple((8 * i, 8 * i + 7) for i in range(n))
    zeros = np.zeros(n, np.int64)
    return Tokens(np.arange(n), names, names, tuple(range(n)), zeros.astype(np.bool_), zeros, spans)


def _peers(what: str, own: Attention, maps: int, seconds: float) -> None:
    """plotly and bertviz, given the weights of this many maps."""
    names = list(own.query.labels)
    works: dict[str, Callable[[list[Floats]], int]] = {
        "plotly, float32": lambda weights: _plotly(weights, names),
        "bertviz head view": lambda weights: _bertviz(head_view, weights, names),
    }
    if what == "all":
        works["bertviz model view"] = lambda weights: _bertviz(model_view, weights, names)
    few = maps * own.shape[2] * own.shape[3] <= MOST
    weights = [own.layer(layer) for layer in range(own.shape[0])] if maps > 1 else [own.head(1, 7)[None]]
    for name, work in works.items():
        if few or name.startswith("plotly"):
            row(name, lambda work=work: work(weights), seconds)  # type: ignore[misc]
        else:
            print(f"    {name:32} not run: {maps * own.shape[2] * own.shape[3] / 1e6:,.0f} million weights")


def _plotly(layers: list[Floats], names: list[str]) -> int:
    return len(drawn(layers, names).to_json())


def drawn(layers: Sequence[Floats], names: Sequence[str]) -> go.Figure:
    """A heatmap of plotly for each head."""
    count = len(layers[0])
    figure = make_subplots(len(layers), count) if len(layers) * count > 1 else go.Figure()
    for row, layer in enumerate(layers):
        for column, weights in enumerate(layer):
            place = {"row": row + 1, "col": column + 1} if len(layers) * count > 1 else {}
            figure.add_trace(go.Heatmap(z=weights, x=names, y=names, zmin=0, zmax=1), **place)
    return figure


def _bertviz(view: Callable[..., object], layers: list[Floats], names: list[str]) -> int:
    given = [torch.from_numpy(layer)[None] for layer in layers]  # (1, H, n, n) each
    html = view(given, names, html_action="return")
    return len(html.data.encode())  # type: ignore[attr-defined]


def row(name: str, work: Size, seconds: float) -> None:
    """Run for about this many seconds, at least once, and print bytes, the smallest CPU time and the largest; the wall
    time, too, where it is another: several threads at work, or other work on the machine.
    """
    times: list[float] = []
    walls: list[float] = []
    size, end = 0, time.monotonic() + seconds
    while not times or (time.monotonic() < end and len(times) < 20):
        gc.collect()
        begun, start = time.perf_counter(), time.process_time()
        size = work()
        times.append(time.process_time() - start)
        walls.append(time.perf_counter() - begun)
    cpu, wall = min(times) * 1e3, min(walls) * 1e3
    differs = f"   wall {wall:.1f} ms" if abs(wall - cpu) > max(0.1 * cpu, 0.2) else ""
    most = f" to {1e3 * max(times):.1f}" if len(times) > 1 else ""
    print(f"    {name:32} {size / 1e6:9.3f} MB {cpu:10.1f}{most} ms   {len(times)} runs{differs}", flush=True)
