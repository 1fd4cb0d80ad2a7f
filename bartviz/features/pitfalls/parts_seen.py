"""Pitfalls visible in one record: weight and contribution, a mean and its heads, sinks, and the shift by one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from bartviz.analysis import alignment, gold_alignment, head_view, sentence_words
from bartviz.analysis.gold_alignment import BY_HAND
from bartviz.analysis.masks import quote
from bartviz.app.controls import pick, show
from bartviz.app.frame import levels, page
from bartviz.features.pitfalls import figure as figures
from bartviz.features.pitfalls import numbers as pitfalls
from bartviz.features.pitfalls.parts import capitalized, head_query, one_map, row_names, sources_and_link, suited, where
from bartviz.language import _, mark
from bartviz.language.percentages import percent
from bartviz.record.attention import Head

if TYPE_CHECKING:
    from bartviz.analysis.gold_alignment import Gold
    from bartviz.arrays import Floats
    from bartviz.record.record import Reading, Record

SHORT = 60  # characters of an output that is quoted in a sentence


def weight_and_effect(record: Record) -> None:
    """Weight is not contribution, and a sharp head may be silenced at no cost."""
    example = suited(record, pitfalls.gap)
    if example is not None:
        gap, shown = example
        attention, names = shown.attention(gap.head.kind), row_names(shown, gap.head.kind)
        looked, brought = (quote(attention.key.labels[at]) for at in (gap.looked, gap.brought))
        values = {
            "head": levels.head_with_kind(gap.head),
            "row": quote(names.labels[gap.row]),
            "looked": looked,
            "brought": brought,
            "weight": float(gap.weights[gap.looked]),
            "share": float(gap.shares[gap.looked]),
            "other": float(gap.shares[gap.brought]),
            "small": float(gap.weights[gap.brought]),
        }
        if not levels.at_least("intermediate"):
            writes = gap.head.kind != "encoder" and names is shown.output
            begins = gap.looked == 0 and bool(attention.key.special[0])
            starts = (
                _("{token}, the mark that ends every text and also starts this output", token=looked)
                if gap.head.kind == "decoder"
                else _("the start mark {token}", token=looked)
            )
            mark_or_word = starts if begins else looked
            text = (shown.target_text if writes else "") or ""
            row = quote(names.labels[gap.row])
            if 0 < len(text) <= SHORT and len(shown.source_text) <= SHORT:
                row = _("{token} in {text} ({source})", token=row, text=quote(text), source=quote(shown.source_text))
            sentence = _plain_gap(gap, row, mark_or_word, looked, brought, writes=writes)
        elif gap.looked == gap.brought:
            sentence = _(
                "{head}, row of {row}: {looked} has {weight:%} of the weight, but only {share:%} of the head's output "
                "comes from there.",
                **values,
            )
        else:
            sentence = _(
                "{head}, row of {row}: {looked} has the largest weight ({weight:%}), but only {share:%} of the head's "
                "output comes from there; the largest share comes from {brought} ({other:%}), whose weight is "
                "{small:%}.",
                **values,
            )
        show.lead(capitalized(sentence))
        _rows, colors = pick.colors_of_words(shown).sides(gap.head.kind)
        drawn = partial(figures.weights_and_contributions, gap, attention.key.labels, colors=colors, dark=page.dark())
        source = " ".join(
            (
                _("The bars show {place} ({attention}) of {model}.", **where(gap.head, shown)),
                _(
                    "A head's output is a sum of vectors, one for each token that it reads: how much comes from a "
                    "token is the length of its vector, as a share of all their lengths."
                )
                if levels.at_least("intermediate")
                else _(
                    "How much comes from a word is measured by how much it adds to the head's output. The numbers are "
                    "rounded."
                ),
                *(
                    [_("A strip below a word is the colour that the word has on every page.")]
                    if colors is not None
                    else []
                ),
            )
        )
        if not levels.at_least("intermediate"):  # what stands beside the picture is for others
            show.figure(drawn, key="pitfalls_gap", alt=sentence)
            show.note(source)
            _about_contributions(gap)
            return
        bars, beside = st.columns([3, 2], gap="medium", vertical_alignment="center")
        with bars:
            show.figure(drawn, key="pitfalls_gap", alt=sentence)
            show.note(source)
        with beside:
            _about_contributions(gap)


def _plain_gap(gap: pitfalls.Gap, row: str, looked: str, there: str, brought: str, *, writes: bool) -> str:
    """The gap for a beginner: what the head looks at most (``there``; in a sentence ``looked``), and what it takes most
    from."""
    message = (
        mark(
            "To write {token}, one head spends {weight:%} of its attention on {looked}. A head collects numbers (the "
            "values) from where it looks and passes them on. Those of {there} are small: only {share:%} of what the "
            "head passes on comes from it."
        )
        if writes
        else mark(
            "At {token}, one head spends {weight:%} of its attention on {looked}. A head collects numbers (the values) "
            "from where it looks and passes them on. Those of {there} are small: only {share:%} of what the head "
            "passes on comes from it."
        )
    )
    said = _(
        message,
        token=row,
        looked=looked,
        there=there,
        weight=float(gap.weights[gap.looked]),
        share=float(gap.shares[gap.looked]),
    )
    if gap.looked == gap.brought:
        return said
    share = float(gap.shares[gap.brought])
    return f"{said} " + _("The largest share, {share:%}, comes from {brought}.", brought=brought, share=share)


def _about_contributions(gap: pitfalls.Gap) -> None:
    """How alike weights and contributions are, who found it, and where to look further."""
    if np.isfinite(gap.rank) and levels.at_least("intermediate"):
        show.note(
            _(
                "Within a row of this head, the rank correlation of weights and contributions is "
                "{rank:.2f} on average (1: the same order, 0: none).",
                rank=gap.rank,
            )
        )
    sources_and_link(
        _(
            "Jain and Wallace 2019; Serrano and Smith 2019; contributions: Kobayashi et al. 2020. The answer: "
            "Wiegreffe and Pinter 2019, “Attention is not not explanation”."
        ),
        "compare",
        _("attention and contribution in every row"),
        head_query(gap.head, a=str(gap.head), below="contribution"),
    )


def averages(record: Record) -> None:
    """A mean map next to two heads that it hides."""
    example = suited(record, pitfalls.average)
    if example is None:
        return
    finding, shown = example
    attention, names = shown.attention(finding.kind), row_names(shown, finding.kind)
    weights = attention.layer(finding.layer)
    pair = [Head(finding.kind, finding.layer, head) for head in finding.pair]
    columns, plain = (finding.first, finding.second), not levels.at_least("intermediate")
    mean = weights.mean(axis=0)
    values = {
        "kind": sentence_words.kind(finding.kind),
        "layer": finding.layer,
        "mean": finding.mean,
        "heads": finding.heads,
        "token": quote(names.labels[finding.row]),
        "a": levels.head_with_kind(pair[0]) if plain else pair[0].short,
        "b": levels.head_within(pair[1]) if plain else pair[1].short,
        "first": quote(attention.key.labels[columns[0]]),
        "second": quote(attention.key.labels[columns[1]]),
        "x": float(weights[finding.pair[0], finding.row, columns[0]]),
        "y": float(weights[finding.pair[1], finding.row, columns[1]]),
        "count": len(weights),
        "p": float(mean[finding.row, columns[0]]),
        "q": float(mean[finding.row, columns[1]]),
    }
    show.lead(capitalized(_plain_mean(values) if plain else _means_sentence(values)))
    maps = {
        _("The mean of {count} heads", count=len(weights)): mean,
        levels.head_within(pair[0]) if plain else pair[0].short: weights[finding.pair[0]],
        levels.head_within(pair[1]) if plain else pair[1].short: weights[finding.pair[1]],
    }
    with st.container(key="squares_mean"):  # on a narrow screen two and one, as on Masks
        map_columns = st.columns(3, gap="small", vertical_alignment="bottom")
    for number, (column, (sentence, drawn_weights)) in enumerate(zip(map_columns, maps.items(), strict=True)):
        with column, st.container(key=f"square_mean_{number}"):
            one_map(shown, drawn_weights, attention, names, sentence, f"pitfalls_mean_{number}", finding.row)
    sources = _("Clark et al. 2019; Voita et al. 2019.")
    if levels.at_least("intermediate"):  # beginners read of tokens, not of entropies
        sources += " " + _(
            "The difference of the two entropies is the Jensen-Shannon divergence of the heads (Lin 1991)."
        )
    sources_and_link(
        sources,
        "heads",
        _("the mean, and every head of it"),
        head_query(pair[0], weights="layer", row=str(finding.row)),
    )


def _means_sentence(values: Mapping[str, object]) -> str:
    """The two heads and their mean."""
    return _(
        "{kind} layer {layer}: a row of the mean has {mean:.2f} bits of entropy, a row of its heads {heads:.2f}. "
        "At {token}, {a} looks at {first} ({x:.2f}) and {b} at {second} ({y:.2f}); the mean of {count} heads has "
        "{p:.2f} and {q:.2f} there.",
        **values,
    )


def _plain_mean(values: Mapping[str, object]) -> str:
    """The same for a beginner: what the two heads look at in the framed row, and how much of it the mean shows."""
    return _(
        "In the framed row, that of {token}, {a} looks most at {first} ({x:%}), and {b} at {second} ({y:%}). The mean "
        "of the {count} heads of this layer gives {first} {p:%} and {second} {q:%}.",
        **values,
    )


def sinks(record: Record) -> None:
    """Attention sinks, and the weights that remain when they are hidden."""
    example = suited(record, pitfalls.sinks)
    if example is None:
        return
    finding, shown = example
    attention, names = shown.attention(finding.kind), row_names(shown, finding.kind)
    tokens = ", ".join(f"{quote(label)} {percent(share)}" for label, share in finding.tokens[:4])
    sentence = _(
        "{attention} puts {share:.0%} of its weight on special tokens and full stops ({tokens}); spread "
        "evenly, it would be {even:.0%}. In {head}, {token} looks most at {before}; with these columns "
        "hidden, at {after}.",
        attention=sentence_words.attention(finding.kind),
        share=finding.share,
        tokens=tokens,
        even=finding.even,
        head=levels.head_with_kind(finding.head),
        token=quote(names.labels[finding.row]),
        before=quote(attention.key.labels[finding.before]),
        after=quote(attention.key.labels[finding.after]),
    )
    show.lead(capitalized(sentence))
    indices = (finding.head.layer, finding.head.head)
    hidden = head_view.sinks(attention)
    whole = attention.head(*indices)
    remaining = np.where(hidden, 0, whole).astype(np.float32)
    rows = np.maximum(remaining.sum(axis=1, keepdims=True), np.float32(1e-9))
    first, second = st.columns(2, gap="small", vertical_alignment="bottom")
    with first:
        one_map(
            shown,
            whole,
            attention,
            names,
            _("{head} unchanged", head=levels.head_within(finding.head)),
            "pitfalls_sinks",
            finding.row,
        )
    with second:
        sentence = _(
            "without them: {share:.0%} of its weight is hidden, the rest of each row is scaled up to 1",
            share=finding.share_head,
        )
        one_map(shown, remaining / rows, attention, names, sentence, "pitfalls_hidden", finding.row)
    sources_and_link(
        _("Clark et al. 2019, section 3.2; Xiao et al. 2023 (attention sinks)."),
        "heads",
        _("this head, with sinks hidden"),
        head_query(finding.head, row=str(finding.row), hide="true", divide="true"),
    )


def shifted(record: Record) -> None:
    """The same head with rows named by the token read, and by the token predicted."""
    example = suited(record, _shift)
    if example is None:
        return
    finding, shown = example
    attention, row = shown.attention("cross"), pitfalls.shifted_row(shown, finding.head)
    values = {
        "head": levels.head_with_kind(finding.head),
        "predicts": finding.errors["predicts"],
        "reads": finding.errors["reads"],
    }
    tell = _shift_sentence if levels.at_least("intermediate") else _plain_shift
    sentence = tell(values, by_hand=finding.by_hand)
    weights = attention.head(finding.head.layer, finding.head.head)
    if row is not None:
        sentence = f"{_framed(shown, weights, row)} {sentence}"
    show.lead(capitalized(sentence))
    titles = {
        "predicts": _("Rows named by what they predict"),
        "reads": _("The same weights, rows named by what they read"),
    }
    for column, (reading, words) in zip(
        st.columns(2, gap="small", vertical_alignment="bottom"), titles.items(), strict=True
    ):
        with column:
            named_by: Reading = "reads" if reading == "reads" else "predicts"
            names = shown.rows("cross", named_by)
            one_map(shown, weights, attention, names, words, f"pitfalls_{reading}", row, reading=named_by)
    sources_and_link(
        _("Och and Ney 2003 (alignment error rate)."),
        "alignment",
        _("the same links, rows named by what they read"),
        head_query(finding.head, align="one", reading="reads"),
    )


def _framed(record: Record, weights: Floats, row: int) -> str:
    """What the framed row looks at, and what seems to look there if it is named by the token that it has read."""
    return _(
        "The framed row looks most at {key} to predict {written}. Where the row is named by the token that it has just "
        "read, as in the second picture, it seems that {read} looks there.",
        key=quote(record.attention("cross").key.labels[int(weights[row].argmax())]),
        written=quote(record.rows("cross", "predicts").labels[row]),
        read=quote(record.rows("cross", "reads").labels[row]),
    )


def _shift_sentence(values: Mapping[str, object], *, by_hand: bool) -> str:
    """What a row is, and how wrong the second names are."""
    if by_hand:
        return _(
            "Row t is computed from token t and predicts token t + 1. Against an alignment made by hand, {head} has an "
            "error rate of {predicts:.2f} if a row is named by the token that it predicts, and {reads:.2f} if it is "
            "named by the one that it reads.",
            **values,
        )
    return _(
        "Row t is computed from token t and predicts token t + 1. Named by what a row reads instead of what it "
        "predicts, {reads:.0%} of the links of {head} are others.",
        **values,
    )


def _plain_shift(values: Mapping[str, object], *, by_hand: bool) -> str:
    """The second of these for a beginner."""
    if by_hand:
        return _(
            "Compared with an alignment made by hand, the error rate of the links is {predicts:%} if rows are named as "
            "in the first picture, {reads:%} as in the second.",
            **values,
        )
    return _("With the second names, {reads:%} of this head's links are others.", **values)


def _shift(record: Record) -> pitfalls.Shift | None:
    return pitfalls.shift(record, by_hand(record))


def by_hand(record: Record) -> Gold | None:
    """The built-in alignment for this pair of texts, if there is one."""
    written = BY_HAND.get((record.source_text, record.target_text or ""))
    if written is None or record.cross is None:
        return None
    source, target = alignment.lines(record)
    return gold_alignment.read(written, len(source), len(target))
