"""Where are the parameters? From its configuration alone: every matrix, and what length costs."""

import streamlit as st

from bartviz.analysis import articles, parts
from bartviz.analysis.costs import Costs
from bartviz.analysis.parameters import parameters
from bartviz.figures import costs as curves
from bartviz.figures.parameters import parameters as treemap
from bartviz.figures.parameters import sizes
from bartviz.record import Record
from bartviz.ui import page, show
from bartviz.ui import parameters as ui

EXPLAIN = """
**An area is a number of parameters.** Click one to open it, down to the single matrix; the path below leads back.
Layers stand side by side, in each its sublayers from top to bottom: self-attention, cross-attention, feed-forward.

**Counted once.** BART looks up its input words in one matrix, its output words in the same one, and compares its last
state with it to choose the next word. Programs that add up "encoder", "decoder" and "embeddings" count that matrix
several times. It is hatched, and says where it is used.

**From the configuration alone.** Every name, shape and tie follows from a few numbers in config.json; no weights are
loaded. *Is it true?* compares with the model as transformers builds it.

**Operations.** One multiply-add is one product and one sum, 2 FLOPs. Counted are the matrix products, masked cells
included, as torch counts them; softmax, norms and activations are left out. Scores are QKᵀ, sums are the weights times
V: only these two grow with n². *n* is the length of the text in tokens.

**Memory.** Activations are an estimate (within a fifth of what torch holds) of one pass without gradients and with a
fused attention kernel, which never holds the n × n weights. Keeping the weights of all heads costs layers × heads × n²;
bartviz keeps queries and keys instead, layers × 2n × width, and computes a head when you look at it.
"""


@st.fragment
def cost(chosen: ui.Chosen) -> None:
    costs = Costs(chosen.config, architecture=chosen.architecture)
    n, dtype = ui.length(costs)
    left, right = st.columns(2)
    with left:
        alt = "Multiply-adds a token against the length: flat lines, and the scores rising through them"
        show.figure(curves.operations(costs, n, dark=page.dark()), key="operations", alt=alt)
    with right:
        alt = "Bytes against the length: the attention of all heads rises twice as steeply as everything else"
        show.figure(curves.memory(costs, n, dtype=dtype, dark=page.dark()), key="memory", alt=alt)
    if costs.sizes.decoder is not None:
        show.note(f"Decoding step by step, {n:,} source tokens. The encoder, run once, is left out.")
        steps = min(n, costs.sizes.positions or n, 1024)
        alt = "Multiply-adds of each decoding step: nearly flat with a cache, rising without"
        show.figure(curves.decoding(costs, n, steps, dark=page.dark()), key="decoding_cost", alt=alt)
    show.note("Operations by part and bytes, at every length of the curves:")
    show.downloads("operations", table=lambda: costs.curve(curves.lengths(n)))


def compare() -> None:
    show.note("Millions of parameters, each matrix counted once. A diamond is the number that the articles give.")
    alt = "Eight models of the articles as bars: embeddings, encoder layers, decoder layers, head"
    show.figure(sizes(articles.models(), dark=page.dark()), key="sizes", alt=alt)
    show.downloads("sizes", table=articles.models)


def main(record: Record | None) -> None:
    chosen = ui.choose()
    rows = chosen.rows
    show.lead(parts.notice(rows))
    left, right = st.columns([3, 2])
    with left:
        drawn = treemap(rows, title=chosen.title, dark=page.dark())
        show.figure(drawn, key="parameters", alt=f"Areas of {chosen.title}: {parts.notice(rows)}")
    with right:
        ui.numbers(rows)
    names = ("What length costs", "The articles' models", "What the articles say", "Is it true?")
    tabs = st.tabs(names, key="more", on_change="rerun", bind="query-params")
    length, models, claims, check = tabs
    with length:
        if length.open:
            cost(chosen)
    with models:
        if models.open:
            compare()
    with claims:
        if claims.open:
            ui.claims(articles.claims())
    with check:
        if check.open:
            ui.check(chosen, record)
    show.explain(EXPLAIN)
    show.note(f"Every matrix of {chosen.title}, and the map:")
    table = lambda: parameters(chosen.config, architecture=chosen.architecture)  # noqa: E731
    show.downloads("parameters", table=table, figure=lambda: drawn)


main(page.begin("parameters", needs_record=False))
