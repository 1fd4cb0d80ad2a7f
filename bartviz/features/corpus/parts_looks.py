"""What the chosen head looks at, and how far: its weight by distance, and the tokens with the highest lift."""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.app.controls import show
from bartviz.app.frame import page
from bartviz.app.state.result_cache import cached
from bartviz.corpus.look_tables import LEAST_TEXTS
from bartviz.corpus.looks import LOOKS, Look
from bartviz.corpus.passport import TITLES
from bartviz.features.corpus.figure_distances import distances as drawing
from bartviz.features.corpus.parts import Chosen
from bartviz.language import _, mark
from bartviz.language.percentages import percent

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

SHOWN = 8  # tokens of each side
_LIFTS: dict[Look, str] = {
    "key": mark("Lift 1 is what even attention would give."),
    "query": mark("Lift 1 is what a row of this head gives to other words in the mean."),
}


def section(chosen: Chosen) -> None:
    """The bars of distances and the two lists; a notice for an atlas of an earlier version."""
    title = _("How far {head} looks", head=chosen.name)
    st.subheader(show.plain(title), anchor=False)
    if not chosen.of.has_looks:
        show.note(_("This atlas does not say what heads look at: an earlier version made it. Create it again."))
        return
    show.figure(partial(_distances, chosen, dark=page.dark()), key="corpus_distances", alt=title)
    own = "" if chosen.head.kind != "cross" else _("The distance is that of the positions in either text.")
    said = _("Lines are 95% intervals, dashes what even attention would give. Rows of special tokens are not counted.")
    show.note(f"{said} {own}".strip())
    found = cached(partial(_found, chosen))
    for column, side in zip(st.columns(2), LOOKS, strict=True):
        with column:
            st.subheader(_(TITLES[side]), anchor=False)
            _list(found.words[found.words["side"] == side].head(SHOWN))
            show.note(" ".join(filter(None, (_special(found) if side == "key" else "", _(_LIFTS[side])))))
    show.table(partial(_numbers, chosen), title=_("Every token with its numbers"))


@dataclass(frozen=True, slots=True)
class _Found:
    """Tokens without special ones, the special ones that are looked at, and the share of weight on these."""

    words: pd.DataFrame
    special: pd.DataFrame
    share: float


def _found(chosen: Chosen) -> _Found:
    looks, far = chosen.of.looks(chosen.head), chosen.of.distances(chosen.head)
    special = looks[looks["special"] & (looks["side"] == "key")].sort_values("share", ascending=False)
    return _Found(chosen.of.looks(chosen.head, special=False), special, float(far.loc[far["special"], "share"].sum()))


def _distances(chosen: Chosen, *, dark: bool) -> go.Figure:
    return drawing(chosen.of.distances(chosen.head), head=chosen.head, dark=dark)


def _numbers(chosen: Chosen) -> pd.DataFrame:
    return chosen.of.looks(chosen.head).drop(columns=["kind", "layer", "head"])


def _special(found: _Found) -> str:
    """How much is on special tokens, and on which."""
    if not len(found.special):
        return ""
    few = found.special.head(3)
    named = ", ".join(f"{token} {percent(share)}" for token, share in zip(few["token"], few["share"], strict=True))
    share = percent(found.share)
    return _("Special tokens get {share} of its weight, which is left out here: {tokens}.", share=share, tokens=named)


def _list(rows: pd.DataFrame) -> None:
    """Tokens with their lift, its interval, and their share."""
    if not len(rows):
        show.note(_("No token is in {least} texts or more, as a list needs.", least=LEAST_TEXTS))
        return
    head = "".join(f"<th>{html.escape(name)}</th>" for name in (_("token"), _("lift"), _("95% interval"), _("share")))
    lines = "".join(
        f"<tr><td><span class='bv-chip'>{html.escape(row['token'])}</span></td><td><b>{row['lift']:.2f}</b></td>"
        f"<td>{row['low']:.2f}–{row['high']:.2f}</td><td>{percent(row['share'])}</td></tr>"
        for row in rows.to_dict("records")
    )
    st.html(f"<table class='bv-looks'><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>")
