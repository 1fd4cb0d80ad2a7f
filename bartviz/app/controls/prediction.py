"""The prediction of a fine-tuned model, in one section of the pages that show its attention."""

from __future__ import annotations

import html
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.analysis import prediction as analysis
from bartviz.app.controls import show
from bartviz.language import _, percentages
from bartviz.text.labels import CONTINUES

if TYPE_CHECKING:
    from bartviz.record.prediction import Prediction
    from bartviz.record.record import Record
    from bartviz.text.tokens import Tokens

MOST = 12  # labels of a text that are shown, the likeliest first
_HUES = (250, 30, 145, 320, 85, 200, 0, 110, 280, 55)  # degrees, of labels in the order of their number


def section(record: Record) -> None:
    """The prediction in a sentence, on the text, and as a table; nothing for a model that predicts no labels."""
    said = record.prediction
    if said is None:
        return
    with st.container(border=True, key="prediction", gap="small"):
        st.subheader(_("What the model says"), anchor=False)
        show.note(analysis.sentence(record))
        if said.task == "answer":
            _answer(record, said)
        elif said.task == "tokens":
            _chips(_of_tokens(said, record.source))
        elif said.scale != "none":
            _chips(_of_text(said))
        show.table(partial(analysis.table, record), title=_("The prediction as a table"))


def _answer(record: Record, said: Prediction) -> None:
    found, source = analysis.answer(record), record.source
    p = said.probabilities
    if found is None or len(p) != len(source):
        return
    ends = (
        (_("How likely each token is the start of the answer"), found.first),
        (_("How likely each token is its end"), found.last),
    )
    for number, (label, chosen) in enumerate(ends):
        show.running_text(source, p[:, number], chosen=chosen, label=label, key=f"prediction_{said.labels[number]}")


def _chips(chips: list[str]) -> None:
    st.html(f"<p class='bv-text bv-encoder' dir='auto'>{' '.join(chips)}</p>")


def _of_text(said: Prediction) -> list[str]:
    """The likeliest labels, each shaded by its probability."""
    pairs = sorted(zip(said.probabilities[0].tolist(), said.labels, strict=True), reverse=True)[:MOST]
    strong = [" bv-strong" if p > show.INK_TURNS else "" for p, _label in pairs]
    return [
        f"<span class='bv-chip{name}' style='--w:{100 * p:.1f}%'>"
        + html.escape(percentages.filled("{label} {p:.1%}", {"label": label, "p": p}))
        + "</span>"
        for name, (p, label) in zip(strong, pairs, strict=True)
    ]


def _of_tokens(said: Prediction, source: Tokens) -> list[str]:
    """Each token with its label below it; the commonest label has no colour."""
    best = said.probabilities.argmax(axis=1).tolist()
    shown = [place for place, special in enumerate(source.special[: len(best)]) if not special]
    common = Counter(best[place] for place in shown).most_common(1)[0][0] if shown else None
    chips = []
    for place in shown:
        label, p = said.labels[best[place]], float(said.probabilities[place, best[place]])
        hue = "" if best[place] == common else f" style='--hue:{_HUES[best[place] % len(_HUES)]}'"
        names = "bv-label" if best[place] == common else "bv-label bv-named"
        written = html.escape(source.labels[place].removeprefix(CONTINUES)) or "&nbsp;"
        chips.append(f"<span class='{names}'{hue} title='{p:.3f}'>{written}<small>{html.escape(label)}</small></span>")
    return chips
