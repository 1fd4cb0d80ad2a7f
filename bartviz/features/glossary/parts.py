"""The parts of the glossary: the list in which a term is looked up, the term, and all of them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import streamlit as st

from bartviz.app.components.invisible import unseen
from bartviz.app.controls import pick
from bartviz.app.frame import levels, page, page_list
from bartviz.language import _
from bartviz.teaching.glossary import Term

STYLE = Path(__file__).with_name("style.css")
ALL = "all"
_ENDS = r"(?:s|es)?\b"  # of a term within a definition
_INITIALS = (
    "ㄱㄱㄴㄷㄷㄹㅁㅂㅂㅅㅅㅇㅈㅈㅊㅋㅌㅍㅎ"  # of Korean syllables, in their order; doubled ones are with the single
)
_FIRST, _LAST, _EACH = ord("가"), ord("힣"), ord("까") - ord("가")  # syllables, and how many have one initial
_SEE = unseen("glossary_see", Path(__file__).with_name("see.js"))


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


def letter(name: str) -> str:
    """The letter below which a name is found: its first, of a Korean syllable the initial."""
    first = next((sign for sign in name if sign.isalnum()), name[:1])
    return _INITIALS[(ord(first) - _FIRST) // _EACH] if _FIRST <= ord(first) <= _LAST else first.upper()


def by_letter(terms: Mapping[str, Term]) -> list[tuple[str, list[Term]]]:
    """The terms in their order, below the letters with which they begin."""
    ordered = (terms[name] for name in in_order(terms))
    return [(first, list(group)) for first, group in groupby(ordered, lambda term: letter(term.name))]


def letters(terms: Mapping[str, Term]) -> None:
    """The letters that terms begin with; each leads to the first of its terms."""
    links = "".join(
        f"<a href='#letter-{number}'>{html.escape(first)}</a>"
        for number, (first, _group) in enumerate(by_letter(terms))
    )
    st.html(f"<nav class='bv-letters' aria-label='{html.escape(_('To a letter'), quote=True)}'>{links}</nav>")


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
    """All terms with their definitions, in columns that are read one after the other."""
    sections = "".join(
        f"<section><h3 id='letter-{number}'>{html.escape(first)}</h3>{_listed(group)}</section>"
        for number, (first, group) in enumerate(by_letter(terms))
    )
    st.html(f"<div class='bv-glossary-all'>{sections}</div>")
    _pages(term.page for term in terms.values())


def _pages(words: Iterable[str]) -> None:
    """The pages to which the list links; the script presses the app's links to them, which are not seen."""
    with st.container(key="glossary_pages"):
        for word in filter(page_list.has, dict.fromkeys(words)):
            with st.container(key=f"glossary_to_{word}"):
                page.link(word, _(page_list.page(word).label))
        _SEE(key="glossary_see", data={})


def _listed(terms: Sequence[Term], name: str = "") -> str:
    entries = "".join(
        f"<div><dt>{html.escape(term.name)}</dt><dd>{html.escape(term.text)}{'' if name else _link(term)}</dd></div>"
        for term in terms
    )
    return f"<dl class='bv-glossary {name}'>{entries}</dl>"


def _link(term: Term) -> str:
    """The link to the page that shows it best."""
    if not page_list.has(term.page):
        return ""
    label = html.escape(_("See it: {page}", page=_(page_list.page(term.page).label)))
    return f" <a class='bv-see' data-page='{term.page}' href='{term.page}' target='_self'>{label}</a>"
