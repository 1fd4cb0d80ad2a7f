"""What do these words mean? Every term that the pages use, to look up."""

import pandas as pd
import streamlit as st

from bartviz.app.controls import show
from bartviz.app.frame import levels, page
from bartviz.features.glossary import parts
from bartviz.language import _
from bartviz.teaching.glossary import glossary


def table() -> pd.DataFrame:
    """Every term: its name, its definition, its formula in LaTeX and the word of the page that shows it best."""
    terms = glossary()
    rows = [
        (terms[name].name, terms[name].text, terms[name].formula, terms[name].page) for name in parts.in_order(terms)
    ]
    return pd.DataFrame(rows, columns=["term", "definition", "formula", "page"])


def main() -> None:
    page.begin("glossary", needs_record=False)
    terms = glossary()
    with st.container(key="glossary_lead", gap=None):
        st.html(parts.STYLE)
        show.lead(_("{count} terms, each in a sentence or two.", count=len(terms)))
    with st.container(horizontal=True, vertical_alignment="bottom", key="glossary_top"):
        chosen = parts.choose(terms)
        parts.letters(terms)
    if chosen != parts.ALL:
        parts.one(terms, chosen)
        st.subheader(_("All words"), anchor=False)
    with show.place("glossary_all"):
        parts.every(terms)
    levels.explain("glossary", with_terms=False)  # they are all above
    show.downloads("glossary", table=table)
