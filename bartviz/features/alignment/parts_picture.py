"""The picture of the alignment page: two lines of words with their links, and the matrix of weights."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.analysis import alignment as analysis
from bartviz.analysis import sentence_words
from bartviz.analysis.masks import quote
from bartviz.app.controls import large_type, pick, show
from bartviz.app.frame import levels, page
from bartviz.features.alignment import parts
from bartviz.features.alignment import parts_judge as judge
from bartviz.features.alignment.figure import MOST, colors_of, lines, matrix, signs, within
from bartviz.features.alignment.parts import HEIGHT, Chosen
from bartviz.language import _, plural
from bartviz.record.record import Record

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from bartviz.analysis.gold_alignment import Gold


def picture(record: Record, chosen: Chosen) -> partial[go.Figure]:
    """Two lines of words with their links, next to the matrix. Returns the figure of the lines, for the download."""
    shown, dark = chosen.shown, page.dark()
    notice = parts.notice(chosen)
    colors = colors_of(shown, pick.colors_of_words(record))
    left, right = st.columns(2, gap="medium")
    with left:
        first = _first(chosen)
        with st.container(key="alignment_lines"):
            judge.draw(record, chosen, first, colors)
        if said := " ".join(filter(None, (_legend(chosen), _alone(chosen), part(chosen, first)))):
            show.note(said)
    with right:
        whole = partial(
            matrix,
            shown,
            chosen.links,
            gold=chosen.gold,
            dark=dark,
            height=HEIGHT,
            colors=colors,
            square=False,
            percents=not levels.at_least("intermediate"),
            large=large_type.on(),
        )
        alt = f"{_('Weights between words.')} {notice}"
        show.figure(whole, key="alignment_matrix", alt=alt, fills=True)
        if chosen.gold is not None:
            show.note(_judged(chosen, chosen.gold))
        elif chosen.links:
            show.note(_("A dot on the map marks a link."))
    return partial(lines, shown, chosen.links, gold=chosen.gold, first=first, dark=dark, height=HEIGHT, colors=colors)


def _legend(chosen: Chosen) -> str:
    """What the lines between the words are; empty where nothing needs to be said."""
    if chosen.gold is None:
        weight = _("The number on a line is its weight: the wider the line, the larger the weight.")
        return weight if chosen.links else ""
    said = [
        _("Wide lines: links of the model. Narrow lines: yours.")
        if chosen.gold.judged is not None
        else _("Wide lines: links of the model. Narrow lines: those made by hand.")
    ]
    if chosen.gold.possible - chosen.gold.sure:
        said += [_("Dotted lines are possible links: they can be defended, but not everybody would draw them.")]
    return " ".join(said)


def _judged(chosen: Chosen, gold: Gold) -> str:
    """What the marks on the map say, and whose links they take as right."""
    yours = gold.judged is not None
    taken = _("Your links are taken as right") if yours else _("Links made by hand are taken as right")
    return f"{taken}: {signs(chosen.shown, chosen.links, gold)}"


def _alone(chosen: Chosen) -> str:
    """Which words of the source have no link because no word of the output looks most at them; empty if there are none,
    and where links are made in another way or by hand."""
    shown = chosen.shown
    if chosen.gold is not None or chosen.method not in ("mutual", "target"):
        return ""
    looked_at = {source for source, _target in analysis.links(shown.weights, "target")}
    words = [
        quote(label)
        for source, label in enumerate(shown.source.labels)
        if source not in looked_at and any(map(str.isalnum, label))
    ]
    if not words:
        return ""
    return plural(
        "{words} has no link: no output word looks at it most.",
        "{words} have no link: no output word looks at them most.",
        len(words),
        words=sentence_words.shortened(words),
    )


def _first(chosen: Chosen) -> tuple[int, int]:
    """The first words of the lines, if the text is long."""
    sides = (
        (_("From source word"), chosen.shown.source, "from_source"),
        (_("From output word"), chosen.shown.target, "from_output"),
    )
    source, target = (pick.index(label, max(len(side) - MOST, 0) + 1, key=key) for label, side, key in sides)
    return source, target


def part(chosen: Chosen, first: tuple[int, int]) -> str:
    """Which words and links of a long text are drawn; empty if all are."""
    shown = chosen.shown
    sources, targets = within(shown, first)
    if len(sources) == len(shown.source) and len(targets) == len(shown.target):
        return ""
    return _(
        "Source words {first_source} to {last_source} of {sources} and output words {first_target} to {last_target} of "
        "{targets} are drawn, with {drawn} of {links} links; the matrix and the table have all.",
        first_source=sources.start,
        last_source=sources.stop - 1,
        sources=len(shown.source),
        first_target=targets.start,
        last_target=targets.stop - 1,
        targets=len(shown.target),
        drawn=sum(i in sources and j in targets for i, j in chosen.links),
        links=len(chosen.links),
    )
