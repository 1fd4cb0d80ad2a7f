"""Levels select the explanations and what is unfolded at first; the terms of a page; folded parts can be opened."""

from __future__ import annotations

import html
import re

import pytest
import streamlit
from streamlit.testing.v1 import AppTest

from bartviz.app.frame import levels, page_list
from bartviz.language import PSEUDO, speaking
from bartviz.teaching.explanations import explanation
from bartviz.teaching.glossary import glossary
from tests.support.pages import App
from tests.support.visits import words

PAGES = [entry.word for entry in page_list.PAGES if entry.word not in ("experiments", "lessons")]


def told(page: AppTest) -> list[str]:
    assert not page.exception
    return [part.value.strip() for part in page.markdown]


def expander(page: AppTest, label: str = "What am I seeing?") -> bool:
    [found] = [part for part in page.expander if part.proto.label == label]
    return bool(found.proto.expanded)


def fresh(app: App, word: str, **query: str) -> AppTest:
    """A page as somebody sees it who has chosen no level."""
    return app(word, **({"level": levels.DEFAULT} | query))


@pytest.mark.some(5)
@pytest.mark.slow
@pytest.mark.parametrize("word", PAGES)
def test_each_level_adds_its_text_to_those_below(app: App, word: str) -> None:
    known = explanation(word)
    texts = {"beginner": known.beginner, "intermediate": known.intermediate, "expert": known.expert}
    for level in levels.LEVELS:
        page = app(word, level=level)
        said = {paragraph for part in told(page) for paragraph in part.split("\n\n")}  # one may depend on a choice
        shown = [name for name, text in texts.items() if said.issuperset(levels.displayed(text).strip().split("\n\n"))]
        assert shown == list(levels.LEVELS[: levels.LEVELS.index(level) + 1])
        assert expander(page) == (level == "beginner")
        assert bool(known.code.strip() in [part.value for part in page.code]) == (level == "expert")


def test_everybody_begins_as_a_beginner(app: App) -> None:
    assert levels.displayed(explanation("start").intermediate).strip() not in told(fresh(app, "start"))
    assert levels.DEFAULT == "beginner"


@pytest.mark.parametrize("said", ["", "professor", "EXPERT!", "<b>"])
def test_a_link_of_no_known_level_is_the_first_one(app: App, said: str) -> None:
    page = app("start", level=said)
    assert page.session_state[levels.KEY] == "beginner"


def test_a_level_is_remembered_on_the_next_page(app: App) -> None:
    page = app("start", level="expert")
    page.switch_page("pages/heads.py").run()
    assert levels.displayed(explanation("heads").expert).strip() in told(page)
    assert page.query_params[levels.KEY] in ("expert", ["expert"])


def test_more_and_less_are_a_press_away_and_keep_the_text_open(app: App) -> None:
    page = fresh(app, "masks")
    page.button(key="to_intermediate_masks").click().run()
    assert page.session_state[levels.KEY] == "intermediate"
    assert expander(page)
    page.button(key="to_expert_masks").click().run()
    assert expander(page)
    assert [button.key for button in page.button if str(button.key).startswith("to_")] == ["to_intermediate_masks"]
    page.switch_page("pages/heads.py").run()
    assert not expander(page)


def test_the_terms_of_a_page_have_their_definitions(app: App) -> None:
    shown = words(fresh(app, "inside"))
    chips = re.findall(r"<dfn class='bv-term' tabindex='0' aria-describedby='([^']+)'>([^<]+)<", shown)
    assert [name for _place, name in chips] == list(explanation("inside").terms)
    for place, name in chips:
        body = re.search(rf"role='tooltip' id='{re.escape(place)}'>([^<]*)</span>", shown)
        assert body is not None
        where = glossary()[name].page
        see = (
            ""
            if where == "inside" or not page_list.has(where)
            else f" See it on the page {page_list.page(where).label}."
        )
        assert html.unescape(body[1]) == glossary()[name].text + see


def test_five_terms_are_shown_and_the_others_are_folded(app: App) -> None:
    shown = words(app("inside"))
    names, (first, more) = explanation("inside").terms, shown.split("<details class='bv-more-terms'>")
    assert (first.count("<dfn"), more.count("<dfn")) == (5, len(names) - 5)
    assert f"<summary>{len(names) - 5} more terms</summary>" in more
    first, more = words(fresh(app, "inside")).split("<details class='bv-more-terms'>")  # for a beginner, all
    assert (first.count("<dfn"), more.count("<dfn")) == (0, len(names))


def test_few_terms_are_not_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    monkeypatch.setattr(streamlit, "html", drawn.append)
    monkeypatch.setattr(levels, "at_least", lambda level: True)
    levels.terms(list(glossary())[:5], key="start")
    assert drawn[0].count("<dfn") == 5
    assert "<details" not in drawn[0]


def test_terms_are_escaped() -> None:
    with speaking(PSEUDO):
        chip = levels._chip(glossary()["WordPiece"], "term-x-0", "inputs")
    assert "⟦WordPiece⟧" in chip
    assert "##" in chip
    assert chip.count("<") == 4


FOLDED = {
    "masks": ("More: the formula, padding, other patterns", "about", "zero"),
    "parameters": ("More: what length costs, other models", "more", "claims"),
    "inside": ("More: the layer around the head, the scaling, the layer norms", "whole", "true"),
}


@pytest.mark.parametrize("word", FOLDED)
def test_what_is_folded_for_a_beginner_opens_by_hand_by_level_and_by_link(app: App, word: str) -> None:
    label, name, value = FOLDED[word]
    page = fresh(app, word)
    assert [(part.proto.expanded, len(part.children)) for part in page.expander if part.proto.label == label] == [
        (False, 0)
    ]
    page.session_state[f"folded_{word}"] = True
    [opened] = [part for part in page.run().expander if part.proto.label == label]
    assert not page.exception
    assert len(opened.children) > 0
    closer = app(word, level="intermediate")
    assert not closer.exception
    assert label not in [part.proto.label for part in closer.expander]
    linked = fresh(app, word, **{name: value})
    for _run in range(2):
        assert not linked.exception
        [opened] = [part for part in linked.expander if part.proto.label == label]  # its title stays
        assert (opened.proto.expanded, len(opened.children) > 0) == (True, True)
        linked.run()
    linked.session_state[f"folded_{word}"] = False
    for _run in range(2):
        [closed] = [part for part in linked.run().expander if part.proto.label == label]
        assert not linked.exception
        assert (closed.proto.expanded, len(closed.children)) == (False, 0)


def test_a_formula_stands_on_lines_of_its_own() -> None:
    assert levels.displayed("a $x$\n\n$$y$$\n\n$$z\n+ 1$$\n") == "a $x$\n\n$$\ny\n$$\n\n$$\nz\n+ 1\n$$\n"
    assert levels.displayed("$$\ny\n$$") == "$$\ny\n$$"
    assert levels.displayed(r"$$x, \qquad y$$") == "$$\n{x,} \\qquad \\allowbreak {y}\n$$"


def test_a_page_without_a_text_draws_nothing() -> None:
    def script() -> None:
        from bartviz.app.frame import levels

        levels.explain("nowhere")

    page = AppTest.from_function(script, default_timeout=120).run()
    assert not page.exception
    assert not page.expander
