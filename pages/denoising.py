"""Can it repair what was lost? The five noise functions of BART, and what a model makes of a corrupted text."""

from pathlib import Path

import streamlit as st

from bartviz.analysis import repairs
from bartviz.figures import denoising as figure
from bartviz.language import _
from bartviz.ui.controls import show
from bartviz.ui.frame import doubt, levels, page
from bartviz.ui.views.denoising import parts

STYLE = Path(parts.__file__).with_name("denoising.css")


def main() -> None:
    record = page.begin("denoising")
    st.html(STYLE)
    said = st.container()
    chosen = parts.choose(record)
    with st.container(key="denoising_lines"):
        found = parts.repaired(chosen)
        if found is not None:
            parts.lines(found)
            doubt.line(found.written)
    with said:
        show.lead(repairs.notice(found) if found is not None else _("The text is corrupted, read and repaired."))
    if found is not None:
        parts.look(chosen, found)
        show.table(repairs.table(found), title=_("The three lines as a table"))
    levels.explain("denoising")
    if found is not None:
        show.downloads(
            "denoising",
            table=lambda: repairs.table(found),
            figure=lambda: figure(found, dark=page.dark()),
            record=found.given,
        )


main()
