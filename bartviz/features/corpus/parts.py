"""The parts of the corpus page: the pickers, every head by one measure, and what is known of the chosen head."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from bartviz.analysis import corpus as analysis
from bartviz.analysis import head_names, plain_words, sentence_words
from bartviz.analysis.corpus_measures import in_order, measure_of
from bartviz.analysis.corpus_roles import roles
from bartviz.analysis.intervals import FEW
from bartviz.analysis.means import BLOCK
from bartviz.app import streamlit_internals
from bartviz.app.controls import expander, pick, show
from bartviz.app.frame import levels, page, page_list, sidebar, way_back
from bartviz.app.state import own_atlas, url_state
from bartviz.app.state.result_cache import cached
from bartviz.corpus import shipped
from bartviz.corpus.atlas import Atlas
from bartviz.corpus.passport import EXAMPLES
from bartviz.errors import SettingError
from bartviz.features.corpus import parts_own as own
from bartviz.features.corpus.figure import atlas as drawing
from bartviz.features.corpus.figure_distribution import distribution
from bartviz.language import _, plural
from bartviz.record.attention import KINDS, Head, Kind

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

_HEADS = "corpus_heads"
STYLE = Path(__file__).with_name("style.css")
_WORD_OR_MARK = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Chosen:
    """The atlas by name, as it was at a moment (``version``), the measure, and the head."""

    atlas: str
    version: int
    measure: str
    head: Head
    shape: tuple[int, int]  # layers, heads in each

    @property
    def of(self) -> Atlas:
        return own.atlas(self.atlas)

    @property
    def name(self) -> str:
        return levels.head_within(self.head)


def choose() -> Chosen:
    """The pickers of the atlas, the kind, the measure and the head (URL ``atlas``, ``kind``, ``by``, ``layer``,
    ``head``). Ends the script run where the atlas cannot be read.

    A beginner chooses the head in the picture; the pickers are for those who come to them by keys."""
    if levels.at_least("intermediate"):
        second, first, third, fourth = show.halves("corpus", [1.3, 1.2, 1.2, 0.9], after=True)
    else:
        second, first, third = show.halves("corpus_plain", [1.3, 1.2, 1.2], after=True)
        fourth = st.container(key="corpus_by_keys")
    try:
        with first:
            if new := own_atlas.arrived():
                st.session_state["atlas"] = new
            readable, damaged = own.readable()
            hint = _("An atlas: the averages of every head of this model over many texts.")
            name = pick.select(_("Model"), readable, key="atlas", hint=hint)
        version = own.version(name)
        if reason := own.damage(name):
            raise SettingError(reason)
        held = cached(partial(_held, name, version))
    except SettingError as error:
        st.error(show.plain(str(error)))
        st.stop()
    for other, reason in damaged.items():
        show.note(_("The atlas “{name}” is left out: {reason}", name=other, reason=reason))
    with second:
        word = pick.one_of(
            _("Attention"),
            {kind: sentence_words.kind_alone(kind) for kind in held},
            key="kind",
            default="cross" if "cross" in held else None,
        )
    kind = next(kind for kind in held if kind == word)
    layers, heads, best = held[kind]
    names = {name: measure_of(name).title for name in best}
    with third:
        measure = pick.select(_("Measure"), names, key="by", default="alignment" if kind == "cross" else "previous")
    url_state.belong(pick.HEAD_OF, kind, dict(zip(("layer", "head"), best[measure], strict=True)))
    with fourth:
        popover, shown = pick.popover(_("Layer and head"), key="corpus_head")
    with popover:
        layer = pick.index(_("Layer"), layers, key="layer", default=best[measure][0], shown=shown)
        number = pick.index(_("Head"), heads, key="head", default=best[measure][1], shown=shown)
    return Chosen(name, version, measure, Head(kind, layer, number), (layers, heads))


def _held(name: str, _version: int) -> dict[Kind, tuple[int, int, dict[str, tuple[int, int]]]]:
    """Kind -> layers, heads, and the layer and head with the highest mean of each measure."""
    lines = own.atlas(name).heads.dropna(subset=["mean"])
    held: dict[Kind, tuple[int, int, dict[str, tuple[int, int]]]] = {}
    for kind in KINDS:
        rows = lines[lines["kind"] == kind].sort_values("mean", ascending=False).drop_duplicates("measure")
        first = dict(zip(rows["measure"], zip(rows["layer"].tolist(), rows["head"].tolist(), strict=True), strict=True))
        if first:
            of_kind = lines[lines["kind"] == kind]
            best = {name: first[name] for name in in_order(first)}
            held[kind] = int(of_kind["layer"].max()) + 1, int(of_kind["head"].max()) + 1, best
    return held


def over_all(chosen: Chosen) -> tuple[str, tuple[str, str]]:
    """What the head does on average over all texts, and for a beginner how many others do more, else a text in which it
    does about that, where the atlas has one; and a term in it with its definition."""
    n, mean = _mean(chosen)
    head, value = levels.head_name(chosen.head), _written(chosen, mean)
    if chosen.measure in head_names.NAMES:
        habit = head_names.Name(chosen.measure, mean, head_names.THRESHOLD)
        term, does = habit.alone, habit.does(value)
        said = _("{head} {habit}, on average over {n:,} texts.", head=head, habit=does, n=n)
    else:
        term = measure_of(chosen.measure).title
        said = _("{head}: {measure} {value} on average over {n:,} texts.", head=head, measure=term, value=value, n=n)
    more = _typical(chosen) if levels.at_least("intermediate") else _among(chosen, mean)
    return f"{said} {more}".strip(), (term, measure_of(chosen.measure).briefly)


def _among(chosen: Chosen, mean: float) -> str:
    """How many heads of the kind have a larger mean; empty for the only head."""
    rows = chosen.of.heads
    means = rows.loc[(rows["kind"] == chosen.head.kind) & (rows["measure"] == chosen.measure), "mean"].dropna()
    more, heads, kind = int((means > mean).sum()), len(means), sentence_words.before_noun(chosen.head.kind)
    if not more:
        return _("That is the highest value of all {heads} {kind} heads.", heads=heads, kind=kind) if heads > 1 else ""
    return plural(
        "{count} of all {heads} {kind} heads has more.",
        "{count} of all {heads} {kind} heads have more.",
        more,
        heads=heads,
        kind=kind,
    )


def _written(chosen: Chosen, value: float) -> str:
    """A value of the measure, as this level writes shares."""
    return levels.share(value) if measure_of(chosen.measure).is_share else f"{value:.2f}"


def _mean(chosen: Chosen) -> tuple[int, float]:
    """The number of texts in which the measure of the chosen head is defined, and its mean over them."""
    rows = analysis.of_head(chosen.of.heads, chosen.head)
    row = rows[rows["measure"] == chosen.measure].iloc[0]
    return int(row["n"]), float(row["mean"])


def _typical(chosen: Chosen) -> str:
    rows = cached(partial(_examples, chosen))["typical"]
    if not rows:
        return ""
    text, value = str(rows[0]["text"]), _written(chosen, float(rows[0]["value"]))
    return _("A typical text: “{text}” ({value}).", text=text, value=value)


def notice(chosen: Chosen) -> str:
    """The role of the chosen head, with the evidence for and against it."""
    return cached(partial(_notice, chosen))


def _notice(chosen: Chosen) -> str:
    of = chosen.of
    return analysis.notice(analysis.evidence(of.heads, of.histograms, chosen.head), chosen.head)


def all_heads(chosen: Chosen, *, plain: bool = False, dark: bool) -> go.Figure:
    """Every head of the kind by the measure; the chosen one is framed. ``plain``: as a beginner sees them, without
    intervals and shares in per cent."""
    return drawing(
        chosen.of.heads,
        measure=chosen.measure,
        kind=chosen.head.kind,
        head=chosen.head,
        intervals=not plain,
        percents=plain,
        dark=dark,
    )


def _values(chosen: Chosen, *, dark: bool) -> go.Figure:
    histograms = chosen.of.histograms
    width = chosen.of.bins(chosen.measure).width
    return distribution(histograms, measure=chosen.measure, head=chosen.head, width=width, dark=dark)


def picture(chosen: Chosen) -> None:
    """Every head, and the texts of the chosen one: for beginners its means beside the texts, for others its intervals,
    too."""
    clicked = partial(_choose_clicked, *chosen.shape)
    how = _("Each cell is a head and shows its average over all texts. Choose one.")
    if levels.at_least("intermediate"):
        show.lead(notice(chosen))
        alt = _("Each head by its mean over the corpus: left by layer and head, right as points with 95% intervals")
        show.what_to_do(how)
        with show.sideways("corpus_wide"):
            show.figure(partial(all_heads, chosen, dark=page.dark()), key=_HEADS, alt=alt, on_click=clicked)
        _said(chosen)
        examples(chosen, list(EXAMPLES))
        return
    left, right = st.columns(2, gap="medium")
    with left:
        show.what_to_do(f"{plain_words.head()} {how} {_explained(chosen)}")
        alt = _("Each head by its mean over the corpus, by layer and head")
        drawn = partial(all_heads, chosen, plain=True, dark=page.dark())
        show.figure(drawn, key=_HEADS, alt=alt, on_click=clicked)
        show.note(_("Layers and heads are numbered from 0."))
        _said(chosen)
    with right:
        examples(chosen, ["highest", "lowest"])


def _explained(chosen: Chosen) -> str:
    """What the numbers of the picture are, for a reader who meets the measure for the first time."""
    measure = measure_of(chosen.measure)
    if chosen.measure == "alignment":
        return _(
            "One to one is the share of attention that links each output word to a source word of its own. That word "
            "need not be its translation; it may be the one next to it."
        )
    return _("“{measure}”: {says}", measure=measure.title, says=measure.briefly)


def _said(chosen: Chosen) -> None:
    """What the picture shows: the texts, the measure."""
    of = chosen.of.description
    about = {"texts": of["texts"], "model": of["model"]["name"]}
    if chosen.of.source == shipped.SOURCE:
        which = shipped.PAIRS if of["settings"]["columns"]["target"] == "de" else shipped.SENTENCES
        counted = _("Measured on {texts:,} texts, read by {model}: {which}.", which=_(which), **about)
    else:
        counted = _("Measured on {texts:,} texts of {corpus}, read by {model}.", corpus=of["corpus"]["name"], **about)
    even = _("A dotted line is even attention, where it is defined.") if levels.at_least("intermediate") else ""
    source = _(chosen.of.source) if chosen.of.source else ""
    n, _value = _mean(chosen)
    few = analysis.few(n) if of["texts"] >= FEW else ""  # else the sentence above says it
    show.note(" ".join(filter(None, (counted, even, few))))
    more = " ".join(filter(None, (measure_of(chosen.measure).says, source)))
    summary = html.escape(_("The measure and its texts"))
    st.html(f"<details class='bv-note bv-about'><summary>{summary}</summary><p>{html.escape(more)}</p></details>")


def _choose_clicked(layers: int, heads: int) -> None:
    """Choose the head of the cell, or of the point, that was clicked."""
    place = pick.clicked_head(_HEADS, layers, heads)
    if place is not None:
        for key, number in zip(("layer", "head"), place, strict=True):
            url_state.put_number(key, number)


def values(chosen: Chosen) -> None:
    """How the values of the chosen head are distributed over the texts."""
    title = _("How {head} differs from text to text", head=chosen.name)
    st.subheader(show.plain(title), anchor=False)
    show.figure(partial(_values, chosen, dark=page.dark()), key="corpus_values", alt=title)


def examples(chosen: Chosen, shown: Sequence[str]) -> None:
    """The texts where the head does most and least, about its mean, and some drawn at random, as far as ``shown``; each
    opens as a record on the page of heads, if the server has the model."""
    rows = cached(partial(_examples, chosen))
    given = any(isinstance(row["target"], str) and row["target"] for which in shown for row in rows[which])
    columns = [*st.columns(2), *st.columns(2)] if len(shown) > 2 else [st.container() for _which in shown]
    for column, which in zip(columns, shown, strict=True):
        with column, st.container(key=f"corpus_{which}"):
            st.subheader(_(EXAMPLES[which]), anchor=False)
            if which == shown[0] and (said := _about_examples(chosen, rows[which], given)):
                show.note(said)
            for row in rows[which]:
                opens(f"corpus_{which}_{row['rank']}", f"<b>{_written(chosen, row['value'])}</b>", row, chosen)
    if not _runs(chosen):
        model = chosen.of.description["model"]["name"]
        show.note(_("No attention maps: this server does not have the model {model}.", model=model))


def _about_examples(chosen: Chosen, rows: Sequence[Mapping[Any, Any]], given: bool) -> str:
    """What the values of the examples (``rows``) are a share of, and whose the outputs beside the texts are, if they
    were ``given``."""
    title, said = measure_of(chosen.measure).title, []
    if chosen.measure == "alignment" and rows and all_linked(rows[0]["value"], rows[0]["target"]):
        said.append(
            _(
                "In the first one, each output word has a source word of its own, which gets {share} of the attention "
                "of {head} on average.",
                share=_written(chosen, rows[0]["value"]),
                head=chosen.name,
            )
        )
    elif chosen.measure in head_names.NAMES:
        said.append(_("Share of the attention of {head} that counts as “{measure}”.", head=chosen.name, measure=title))
    if given:
        said.append(_("The text after “→” comes from the collection: the model was given it and did not write it."))
    return " ".join(said)


def all_linked(value: float, target: object) -> bool:
    """Whether every word of an output has a word of its own, since the measure "one to one" is so close to 1 that not
    one of them can lack it."""
    words = len(_WORD_OR_MARK.findall(target)) if isinstance(target, str) else 0
    return words > 0 and (1 - value) * words < 1


def _examples(chosen: Chosen) -> dict[str, list[dict[Any, Any]]]:
    rows = analysis.of_head(chosen.of.examples, chosen.head)
    rows = rows[rows["measure"] == chosen.measure].sort_values("rank")
    return {which: rows[rows["which"] == which].to_dict("records") for which in EXAMPLES}


def opens(key: str, value: str, row: Mapping[Any, Any], chosen: Chosen) -> None:
    """A text of the atlas with a value (HTML), and the way to its map, if the server has the model."""
    text, pair, target = (row[name] if isinstance(row[name], str) else "" for name in ("text", "pair", "target"))
    said = "<br>".join(html.escape(part) for part in (text, pair) if part)
    if target:
        said += f"<br><span class='bv-written'>→ {html.escape(target)}</span>"
    model = str(chosen.of.description["model"]["name"])
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=key):
        st.html(f"<p>{value} · {said}</p>")
        opened = (
            _runs(chosen)
            and page_list.has("heads")
            and st.button(
                _("See its attention"),
                key=f"{key}_open",
                on_click=partial(sidebar.run_text, page="corpus"),
                args=(model, text, target, pair),
            )
        )
    if opened:
        place = {"layer": str(chosen.head.layer), "head": str(chosen.head.head)}
        query = {"kind": chosen.head.kind, "weights": "head", "view": "map"} | place
        streamlit_internals.switch_page(page_list.page("heads").file, way_back.from_here("heads", query))


def _runs(chosen: Chosen) -> bool:
    """Whether the server has the model."""
    return chosen.of.description["model"]["name"] in sidebar.models()


def passport(chosen: Chosen) -> pd.DataFrame:
    """Every measure of the chosen head, with its rank among its kind."""
    return analysis.passport(chosen.of.heads, chosen.head)


def known(chosen: Chosen) -> None:
    """The passport of the chosen head, its neighbours, and the heads that have a role; computed when it is opened."""
    with expander.section(show.plain(_("Profile of {head}", head=chosen.name)), key="profile") as opened:
        if not opened:
            return
        found = cached(partial(_known, chosen))
        if found.effect:
            st.html(f"<p>{html.escape(found.effect)}</p>")
        _table(found.passport)
        if len(found.arcs):
            st.subheader(_("Dependency arcs that it follows"), anchor=False)
            _table(found.arcs)
        left, right = st.columns([1, 2])
        with left:
            st.subheader(_("Most similar heads"), anchor=False)
            _table(found.near)
        with right:
            st.subheader(_("Heads with a role"), anchor=False)
            _table(found.named)
            if found.wider > 1:
                show.note(
                    _(
                        "Texts that stand next to each other are alike here. So the intervals are those of blocks of "
                        "{rows} rows, {times:.1f} times as wide as of single texts.",
                        rows=BLOCK,
                        times=found.wider,
                    )
                )


@dataclass(frozen=True, slots=True)
class _Known:
    effect: str
    wider: float
    passport: pd.DataFrame
    arcs: pd.DataFrame
    near: pd.DataFrame
    named: pd.DataFrame


def _known(chosen: Chosen) -> _Known:
    of = chosen.of
    arcs = analysis.of_head(of.relations, chosen.head).drop(columns=["kind", "layer", "head"])
    tables = (passport(chosen), arcs, analysis.neighbours(of.heads, chosen.head), _roles(of))
    return _Known(analysis.effect(of.heads, chosen.head), of.wider, *map(show.in_words, tables))


def _table(frame: pd.DataFrame) -> None:
    numbers = {
        name: st.column_config.NumberColumn(title, format="%.2f")
        for name, title in show.headers(frame).items()
        if frame[name].dtype.kind == "f"
    }
    st.dataframe(frame, hide_index=True, column_config=show.headers(frame) | numbers)


def _roles(of: Atlas) -> pd.DataFrame:
    found = roles(of.heads)
    names = [f"{row.kind} L{row.layer}H{row.head}" for row in found.itertuples()]
    return found.assign(head=names)[["head", "role", "mean", "low", "high", "even", "n"]]
