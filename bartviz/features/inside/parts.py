"""The parts of the inside page: the pickers, the row of arithmetic, one key's products, the head's contribution, and
around attention the scaling, the activation and the norms."""

from __future__ import annotations

import html
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import cast

import streamlit as st

from bartviz.analysis import activations, inside, scaling, sentence_words
from bartviz.analysis.contributions import available
from bartviz.analysis.inside import Inside, Shown, Which, row_label
from bartviz.analysis.masks import in_word
from bartviz.app.controls import large_type, pick, show
from bartviz.app.frame import levels, page
from bartviz.features.inside import figure_around_attention as around_figures
from bartviz.features.inside import figure_products as products
from bartviz.features.inside import parts_formula as formula
from bartviz.features.inside.figure import arithmetic
from bartviz.features.inside.parts_lens import lens
from bartviz.features.inside.parts_residual import residual
from bartviz.language import _, mark, named
from bartviz.record.attention import Attention, Head
from bartviz.record.record import Record

KEYS = {
    "strongest": mark("the strongest"),
    "near": mark("near the query"),
    "first": mark("the first"),
    "last": mark("the last"),
}
ORDER = {"dimension": mark("dimension by dimension"), "size": mark("largest first")}
AROUND = {
    "scaling": mark("Without the scaling"),
    "activation": mark("GELU and ReLU"),
    "norms": mark("Before or after the norm"),
    "residual": mark("The residual sum"),
    "lens": mark("Reading earlier layers"),
}
NO_VALUES = mark(
    "This record was saved without values, so the row ends at the weights: press Run to see what the head adds."
)
_STYLE = Path(__file__).with_name("style.css")
_PARTS = ("keys", "weights", "values")
_WIDTHS, _WIDTHS_WITH_BIAS = (3.9, 3.6, 2.2), (2.7, 5, 1.8)
_AUTO = "_inside_key"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The page's choice: one head, one query token, the keys shown, one key, and the order of its products.

    ``choose`` returns the strongest key; ``choose_key`` returns the one that the visitor chose.
    """

    attention: Attention
    one: Inside
    which: Which
    key: int
    by_size: bool = False

    @property
    def stem(self) -> str:
        """Head and row as part of a file name: ``cross-L2H5-row3``."""
        return f"{self.one.kind}-L{self.one.layer}H{self.one.head}-row{self.one.row}"

    @property
    def shown(self) -> Shown:
        return inside.shown(self.one, self.which, keep=self.key)


def choose(record: Record) -> Chosen:
    """The pickers: kind, layer, head, query token; and for a long text the keys shown. A beginner brings the head from
    another page: its sliders are there, so that a link and the session keep it, but not in sight (first.css)."""
    told = levels.at_least("intermediate")
    places = show.halves(
        "inside" if told else "inside_plain", [2.2, *([1, 1] if told else []), 1.4, 1], align="center", after=True
    )
    first, *heads, fourth, fifth = places
    with first:
        kind = pick.kind(record)
    attention = record.attention(kind)
    _layers, _heads, rows, columns = attention.shape
    second, third = heads if told else [st.container(key="inside_held")] * 2
    layer, head = pick.one_head(record, kind, second, third)
    with fourth:
        label = None if told else _("Word")  # the rows of a beginner's picture are the keys
        row = pick.row(record, kind, rows, label=label, names=record.rows(kind, "predicts").labels)  # as it says
    one = inside.inside(attention, layer, head, row)
    which = "strongest"
    if columns > inside.MOST:
        with fifth, st.popover(_("Keys shown"), width="stretch"):
            label = _("Of {all:,} keys, {count} are shown one by one", all=columns, count=inside.MOST)
            which = pick.one_of(label, named(KEYS), key="which")
    return Chosen(attention, one, cast("Which", which), one.strongest)


def choose_key(chosen: Chosen) -> Chosen:
    """The pickers of the key to examine, which a click in the row above chooses, too."""
    one = chosen.one
    st.subheader(_("How the score of one key is computed"), anchor=False)
    first, second, third = st.columns([1.4, 2, 1.8], vertical_alignment="center")
    moved = {"token", _AUTO} <= st.session_state.keys() and st.session_state["token"] != st.session_state[_AUTO]
    if moved:  # by the visitor
        st.session_state["follow"] = False
    with first:
        follow = pick.switch(_("The strongest key"), key="follow", default=True)
    if follow:
        st.session_state["token"] = one.strongest
    with second:
        key = pick.index(_("Key token"), len(one.keys), key="token", default=one.strongest, names=one.keys.labels)
    st.session_state[_AUTO] = key
    with third:
        order = pick.one_of(_("Products"), named(ORDER), key="order")
    return replace(chosen, key=key, by_size=order == "size")


def row(record: Record, chosen: Chosen) -> None:
    """The formula and the row of arithmetic; a click on a weight examines that key below."""
    said, plain = predicted(record, chosen.one), not levels.at_least("intermediate")
    shown = chosen.shown
    _rows, colors = pick.colors_of_words(record).sides(chosen.one.kind)
    figure = partial(
        arithmetic,
        chosen.one,
        shown,
        chosen.key,
        predicts=predicts(record, chosen.one),
        dark=page.dark(),
        colors=colors,
        plain=plain,
        large=large_type.on(),
    )
    subject = {"head": chosen.one.name, "query": predicts(record, chosen.one) or chosen.one.query_label}
    alts = (
        _("{head} for {query}: the query, each key, and their products.", **subject),
        _("{head} for {query}: the score of each key, and its weight.", **subject),
        _("{head} for {query}: the value of each key times its weight, and their sum, the output.", **subject),
    )
    st.html(_STYLE)
    touched = lambda: _choose_clicked(shown.keys)  # noqa: E731
    with st.container(key="inside_played"):
        formula.show(chosen.one, chosen.key, said, key="inside_formula", within=".st-key-inside_row", plain=plain)
        picture = st.container(key="inside_row")
    with picture:
        widths = _WIDTHS if chosen.one.bias is None else _WIDTHS_WITH_BIAS
        places = st.columns(widths if chosen.one.v is not None else widths[:2], gap="small")
        for part, place in enumerate(places):
            with place, show.sideways("inside_scores") if chosen.one.bias is not None and part == 1 else nullcontext():
                on_click = touched if part == 1 else None
                show.figure(
                    partial(figure, part=part), key=f"inside_row_{_PARTS[part]}", alt=alts[part], on_click=on_click
                )
    notes = [_("Touch or point at a cell for its numbers; touch a weight to see how its score is computed.")]
    if not plain:  # a beginner is told above the picture
        notes = [
            _("Each stripe is a number: coloured if positive, grey if negative."),
            *notes,
            _("The numbers next to the bars are rounded."),
        ]
    if shown.rest:
        notes.append(_("{count:,} of {all:,} keys are summed in one row.", count=shown.rest, all=len(chosen.one.keys)))
    show.note(" ".join(notes))
    if not available(chosen.attention):
        st.info(_(NO_VALUES))


def predicts(record: Record, one: Inside) -> str | None:
    """The token that a decoder row predicts, or None if it predicts nothing."""
    return None if one.kind == "encoder" or record.output is None else record.output.labels[one.row]


def predicted(record: Record, one: Inside) -> str | None:
    """The same in a sentence, with the word that it is a piece of."""
    return None if one.kind == "encoder" or record.output is None else in_word(record.output, one.row)


def _choose_clicked(keys: tuple[int, ...]) -> None:
    points = st.session_state[f"inside_row_{_PARTS[1]}"].selection.points
    index = points[0].get("y") if points else None
    if isinstance(index, int | float) and 0 <= int(index) < len(keys):
        st.session_state["follow"] = False
        st.session_state["token"] = keys[int(index)]


def text(record: Record, chosen: Chosen) -> None:
    """The text of the keys, shaded by the weights of the row."""
    one = chosen.one
    subject = row_label(one, predicted(record, one), start=False)
    show.running_text(
        one.keys,
        None if one.masked else one.weights,
        kind=one.kind,
        chosen=one.row if one.kind != "cross" else None,
        label=_("{head}: where {who} looks", head=levels.head_name(Head(one.kind, one.layer, one.head)), who=subject),
        colors=pick.colors_of_words(record).sides(one.kind)[1],
        key="inside_text",
    )


def key(chosen: Chosen) -> None:
    """A key's way from its products to its weight: the picture, and the line of arithmetic."""
    one, index = chosen.one, chosen.key
    show.note(
        _(
            "Query {query}, key {key}: {count} products and their sum",
            query=one.asks,
            key=one.named(index),
            count=one.width,
        )
    )
    figure = partial(products.products, one, index, by_size=chosen.by_size, dark=page.dark())
    alt = _("The products of query and key; their sum is {sum:.3f}.", sum=one.dots[index])
    show.figure(figure, key="inside_products", alt=alt)
    _equation(inside.equation(one, index))
    show.note(_(inside.ROUNDED))
    show.table(partial(inside.dimensions, one, index), title=_("The products as a table"))
    show.downloads(
        "inside-products",
        title=_("The products of one key"),
        of=f"{chosen.stem}-key{index}",
        table=lambda: inside.dimensions(one, index),
        figure=figure,
    )


def _equation(steps: tuple[tuple[str, str], ...]) -> None:
    number = "font-family:monospace;font-size:1.12rem;font-weight:600;white-space:nowrap"
    parts = "".join(
        f"<span style='display:inline-block;margin:0 1.1rem .5rem 0;vertical-align:top'>"
        f"<span style='{number}'>{html.escape(value)}</span><br>"
        f"<span class='bv-note'>{html.escape(what)}</span></span>"
        for value, what in steps
    )
    st.html(f"<p class='bv-equation' style='margin:0'>{parts}</p>")


def share(chosen: Chosen) -> None:
    """The head's contribution to its layer's output, next to those of the other heads."""
    one = chosen.one
    if one.shares is None or one.added is None or one.block is None:
        return
    st.subheader(_("What the head adds to its layer"), anchor=False)
    length, whole = (float((part.astype(float) ** 2).sum() ** 0.5) for part in (one.added, one.block))
    sentence = _(
        "The output, {width} numbers, times the head's part of the output matrix is a vector of length {length:.3f}: "
        "{share:.1%} of the lengths that the {heads} heads add.",
        width=one.width,
        length=length,
        share=one.shares[one.head],
        heads=len(one.shares),
    )
    together = (
        mark("Heads may partly cancel: together, with the bias, they add a vector of length {length:.3f}.")
        if one.projection_bias
        else mark("Heads may partly cancel: together they add a vector of length {length:.3f}.")
    )
    sentence = f"{sentence} {_(together, length=whole)}"
    show.note(sentence)
    show.figure(partial(products.share, one, dark=page.dark()), key="inside_share", alt=sentence)


def around(record: Record, chosen: Chosen) -> None:
    """The tabs on scaling, activation, norms, the residual sum and earlier layers."""
    part, tab = pick.tabs(named(AROUND), key="around")
    with tab:
        if part == "scaling":
            _scaling(chosen)
        elif part == "norms":
            _norms(record, chosen)
        elif part == "residual":
            residual(record, chosen.one.kind, chosen.one.layer, chosen.one.row)
        elif part == "lens":
            lens(record)
        else:
            sentence = activations.sentence(record.model)
            show.note(sentence)
            name = activations.activation_function(record.model)[0]
            show.figure(partial(around_figures.activation, name, dark=page.dark()), key="inside_gelu", alt=sentence)


def _scaling(chosen: Chosen) -> None:
    one = chosen.one
    whole = pick.switch(_("All heads of the layer"), key="whole")
    scaled = scaling.scaling(chosen.attention, one.layer, None if whole else one.head)
    sentence = scaling.sentence(scaled)
    notes = [sentence]
    if scaled.rows < scaled.of_rows:
        notes.append(_("{count} of {all:,} rows were examined.", count=scaled.rows, all=scaled.of_rows))
    q, k = scaled.components
    notes.append(
        _(
            "The numbers in q have a variance of {q:.2f}, those in k {k:.2f}; if they were independent with "
            "variance 1, products of vectors with {width} dimensions would have a variance of {width}.",
            q=q,
            k=k,
            width=scaled.width,
        )
    )
    show.note(" ".join(notes))
    drawn = partial(around_figures.scaling, scaled, one.kind, dark=page.dark())
    show.figure(drawn, key="inside_scaling", alt=sentence)
    show.table(partial(scaling.table, scaled), key="scaling")
    show.downloads(
        "inside-scaling",
        title=_(AROUND["scaling"]),
        of=f"{one.kind}-L{one.layer}{'' if whole else f'H{one.head}'}",
        table=scaling.table(scaled),
        figure=drawn,
    )


def _norms(record: Record, chosen: Chosen) -> None:
    sentence, one = activations.norm_sentence(record.model), chosen.one
    show.note(sentence)
    pre = record.model.known.norm == "pre"
    show.figure(partial(around_figures.norms, pre, one.kind, dark=page.dark()), key="inside_norms", alt=sentence)
    if not available(chosen.attention):
        show.note(_(NO_VALUES))
        return
    lengths = inside.growth(chosen.attention, one.row)
    measured = _(
        "Measured: the length of what each layer's {attention} adds to {token}, from {least:.2f} to {most:.2f}. "
        "The stream that it is added to is not in a record: “The residual sum” reads it from the model.",
        attention=sentence_words.attention(one.kind),
        token=one.asks,
        least=lengths.min(),
        most=lengths.max(),
    )
    show.note(measured)
    drawn = partial(around_figures.growth, lengths, one.layer, one.kind, dark=page.dark())
    show.figure(drawn, key="inside_growth", alt=measured)
    show.downloads(
        "inside-growth",
        title=_(AROUND["norms"]),
        of=f"{one.kind}-row{one.row}",
        arrays={"lengths": lengths},
        figure=drawn,
    )
