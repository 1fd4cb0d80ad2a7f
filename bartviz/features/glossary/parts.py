"""The parts of the glossary: the list in which a term is looked up, the term, and all of them."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import streamlit as st

from bartviz.app.controls import pick
from bartviz.app.frame import levels, page, page_list
from bartviz.language import _
from bartviz.teaching.glossary import Term

STYLE = Path(__file__).with_name("style.css")
ALL = "all"
_ENDS = r"(?:s|es)?\b"  # of a term within a definition


def in_order(terms: Mapping[str, Term]) -> list[str]:
    """The English names of the terms, in the alphabetical order of those of the reader's language."""
    return sorted(terms, key=lambda name: (terms[name].name.casefold(), name))


def choose(terms: Mapping[str, Term]) -> str:
    """The term that is looked up (URL ``term``, its English name), or ``ALL``. The list finds what is typed into it."""
    names = {name: _both(name, terms[name]) for name in in_order(terms)}
    with st.container(key="glossary_search"):
        return pick.select(_("Look up a word"), {ALL: _("All words")} | names, key="term")


def _both(name: str, term: Term) -> str:
    """The name in the reader's language, and in English, by which papers and code call it."""
    return term.name if name in term.name else f"{term.name} ({name})"


def related(terms: Mapping[str, Term], name: str) -> list[str]:
    """The other terms that the definition of this one uses, as it mentions them."""
    text = terms[name].text
    found = {other: re.search(_pattern(terms[other].name), text, re.IGNORECASE) for other in terms if other != name}
    places = {other: (match.start(), -len(match[0])) for other, match in found.items() if match is not None}
    covered = {place for other, (place, _length) in places.items() for place in range(place + 1, place - _length)}
    return sorted((other for other in places if places[other][0] not in covered), key=places.__getitem__)


def _pattern(name: str) -> str:
    """A term as a whole word, also in the plural; of one that is not in Latin letters any part of the text."""
    return rf"\b{re.escape(name)}{_ENDS}" if name.isascii() else re.escape(name)


def one(terms: Mapping[str, Term], name: str) -> None:
    """A term with its formula, from intermediate on, and a link to its page; and the terms that its definition uses."""
    term = terms[name]
    st.html(_listed([term], "bv-term-chosen"))
    if term.formula and levels.at_least("intermediate"):
        st.markdown(f"${term.formula}$")
    if page_list.has(term.page):
        label = _("See it: {page}", page=_(page_list.page(term.page).label))
        page.link(term.page, label, icon=":material/arrow_forward:")
    if uses := related(terms, name):
        st.html(f"<p class='bv-do'>{html.escape(_('Its definition uses:'))}</p>")
        st.html(_listed([terms[other] for other in uses]))


def every(terms: Mapping[str, Term]) -> None:
    """All terms with their definitions."""
    st.subheader(_("All words"), anchor=False)
    st.html(_listed([terms[name] for name in in_order(terms)]))


def _listed(terms: Sequence[Term], name: str = "") -> str:
    entries = "".join(
        f"<div><dt>{html.escape(term.name)}</dt><dd>{html.escape(term.text)}</dd></div>" for term in terms
    )
    return f"<dl class='bv-glossary {name}'>{entries}</dl>"
