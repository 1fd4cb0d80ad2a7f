"""Can it repair what was lost? The five noise functions of BART, and how a model repairs a corrupted text."""

from pathlib import Path

import streamlit as st

from bartviz.analysis import repairs
from bartviz.analysis.denoising import HIDES
from bartviz.app.controls import show
from bartviz.app.frame import fill_masks, levels, page, page_hooks
from bartviz.features.denoising import parts
from bartviz.features.denoising.figure import denoising as figure
from bartviz.features.denoising.parts_noise import choose, draw_again
from bartviz.language import _, mark

AT_RANDOM = mark("The lost words are chosen at random.")
MOVED = mark("The new order is chosen at random.")
BY_HAND = mark("Touch a word to hide it, or a gap to bring its words back.")
ONLY = mark("Touch a word to hide only that one, or a gap to bring its words back.")
STYLE = Path(parts.__file__).with_name("style.css")


def main() -> None:
    record = page.begin("denoising")
    st.html(STYLE)
    fill_masks.section(record)
    lead = show.place("lead")
    to_do, again = st.columns([4, 1], vertical_alignment="center")
    with to_do:
        told = show.place("denoising_do")
    with again:
        button = show.place("denoising_again")
    picture = show.place("denoising_lines")
    chosen = choose(record)
    hides = chosen.noise in HIDES
    touchable = hides and not page_hooks.current().leads()  # touches answer a lesson
    drawn = () if chosen.hidden is not None else (AT_RANDOM if hides else MOVED,)
    with told:
        show.what_to_do(" ".join(_(said) for said in (*drawn, *((ONLY if drawn else BY_HAND,) if touchable else ()))))
    with button:
        draw_again(chosen, hides=hides)
    with picture:
        repair = parts.repaired(chosen)
        if repair is not None:
            parts.lines(chosen, repair, touchable=touchable)
    with lead:
        show.lead(repairs.notice(repair) if repair is not None else _("The text is damaged, read and repaired."))
    if repair is not None:
        parts.look(chosen, repair)
    levels.explain("denoising")
    if repair is not None:
        show.downloads(
            "denoising",
            table=lambda: repairs.table(repair),
            figure=lambda: figure(repair, dark=page.dark()),
            record=repair.given,
        )
