"""The page of the glossary: every term, and one that is looked up with those that its definition uses."""

from __future__ import annotations

import html
import re

import pytest
from streamlit.testing.v1 import AppTest

from bartviz.app.frame import page_list
from bartviz.features.glossary import parts
from bartviz.features.glossary.page import table
from bartviz.language import _, speaking
from bartviz.teaching.glossary import Term, glossary
from tests.support import visits
from tests.support.pages import App


def words(page: AppTest) -> str:
    return html.unescape(visits.words(page))


def test_every_term_is_there_in_alphabetical_order() -> None:
    names = parts.in_order(glossary())
    assert sorted(names) == sorted(glossary())
    assert names == sorted(names, key=lambda name: (name.casefold(), name))
    assert list(table()["term"]) == names


def test_the_pages_of_the_terms_are_there() -> None:
    assert {term.page for term in glossary().values() if not page_list.has(term.page)} == set()


def test_what_a_definition_uses_is_found_as_whole_words_the_longest_first() -> None:
    def term(name: str, text: str = "") -> Term:
        return Term(name=name, text=text, page="heads")

    terms = {
        "attention": term("attention"),
        "cross-attention": term("cross-attention", "Self-attention of two texts: each head of heads has weights."),
        "self-attention": term("self-attention"),
        "head": term("head"),
        "weight": term("weight"),
        "ad": term("ad"),
    }
    assert parts.related(terms, "cross-attention") == ["self-attention", "head", "weight"]
    assert parts.related(terms, "ad") == []


@pytest.mark.parametrize(
    ("name", "letter"),
    [("attention", "A"), ("top-k", "T"), ("값", "ㄱ"), ("까닭", "ㄱ"), ("헤드", "ㅎ"), ("⟦head⟧", "H")],
)
def test_the_letter_of_a_name(name: str, letter: str) -> None:
    assert parts.letter(name) == letter


@pytest.mark.parametrize("language", ["en", "ko", "pseudo"])
def test_every_letter_comes_once_and_no_term_is_lost(language: str) -> None:
    with speaking(language):
        terms = glossary()
        groups = parts.by_letter(terms)
        ordered = [terms[name] for name in parts.in_order(terms)]
    assert len({letter for letter, _group in groups}) == len(groups)
    assert [term for _letter, group in groups for term in group] == ordered


def test_letters_lead_to_headings_and_terms_to_their_pages(app: App) -> None:
    page = app("glossary", record=None)
    drawn = "".join(part.proto.body for part in page.get("html"))
    targets = re.findall(r"<a href='#(letter-\d+)'>", drawn)
    assert targets == re.findall(r"<h3 id='(letter-\d+)'>", drawn)
    links = re.findall(r"<a class='bv-see' data-page='(\w+)' href='(\w+)'", drawn)
    assert [word for word, _address in links] == [glossary()[name].page for name in parts.in_order(glossary())]
    assert all(word == address for word, address in links)
    pressed = {link.proto.page for link in page.get("page_link")}  # the app's own links, which the script presses
    assert len(pressed) == len(set(links))


@pytest.mark.parametrize("language", ["en", "ko"])
def test_links_call_their_pages_as_the_menu_does(app: App, language: str) -> None:
    page = app("glossary", record=None, lang=language)
    drawn = html.unescape("".join(part.proto.body for part in page.get("html")))
    with speaking(language):
        menu = {entry.word: _(entry.label) for entry in page_list.PAGES}
        said = dict(re.findall(r"data-page='(\w+)'[^>]*>([^<]*)</a>", drawn))
        assert said == {word: _("See it: {page}", page=menu[word]) for word in said}
    assert said


def test_the_terms_are_not_explained_once_more_below(app: App) -> None:
    drawn = "".join(part.proto.body for part in app("glossary", record=None).get("html"))
    assert "bv-terms" not in drawn


@pytest.mark.parametrize("language", ["en", "ko"])
def test_cross_attention_leads_to_encoder_and_decoder(language: str) -> None:
    with speaking(language):
        uses = parts.related(glossary(), "cross-attention")
    assert {"attention", "decoder", "encoder", "step"} <= set(uses)


def test_all_terms_are_shown_until_one_is_chosen(app: App) -> None:
    page = app("glossary", record=None)
    assert not page.exception
    assert all(term.text in words(page) for term in glossary().values())
    page = app("glossary", record=None, term="cross-attention")
    assert not page.exception
    assert glossary()["cross-attention"].text in words(page)
    assert glossary()["decoder"].text in words(page)
    said = words(page)
    assert said.index(glossary()["decoder"].text) < said.index(glossary()["ablation"].text)  # it is used, then come all
    assert all(term.text in said for term in glossary().values())


def test_a_term_that_is_not_there_is_said(app: App) -> None:
    page = app("glossary", record=None, term="quark")
    assert not page.exception
    assert "“term=quark”, which is not available" in words(page)
    assert all(term.text in words(page) for term in glossary().values())


@pytest.mark.parametrize("level", ["beginner", "expert"])
def test_formulas_are_for_those_who_want_them(app: App, level: str) -> None:
    page = app("glossary", record=None, term="softmax", level=level)
    formula = glossary()["softmax"].formula
    assert any(formula in markdown.value for markdown in page.markdown) == (level == "expert")
