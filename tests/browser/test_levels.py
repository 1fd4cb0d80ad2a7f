"""Levels in a real browser: a level is kept between pages, and definitions open by pointer and keyboard."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from bartviz.app.frame import page_list
from bartviz.teaching.glossary import glossary
from scripts.serving import ROOT, served
from scripts.settled import settle
from tests.browser.conftest import Open, go

BEGINNER = "Rows look at columns."
EXPERT = "What a map cannot say."
WHOLE = """node => {
  const box = node.getBoundingClientRect();
  return box.left >= 0 && box.top >= 0 && box.right <= innerWidth && box.bottom <= innerHeight;
}"""
# What the pictures of a page say, in words: texts outside tables, titles and names for screen readers.
WORDS = """() => [...document.querySelectorAll("[data-testid=stBidiComponentIsolated]")].flatMap((host) => {
  const said = [];
  for (const node of host.shadowRoot?.querySelectorAll(":not(style, script, table *, .formula *)") ?? []) {
    if (!node.checkVisibility({ visibilityProperty: true })) continue;
    const own = [...node.childNodes].filter((child) => child.nodeType === Node.TEXT_NODE);
    said.push(...own.map((text) => text.data), node.title ?? "", node.getAttribute("aria-label") ?? "");
  }
  return said.filter((text) => text?.trim());
})"""
WEIGHT = re.compile(r"(?<![\d.])0\.\d\d+(?![\d%])")


def chip(page: Page, name: str) -> Locator:
    return page.locator(".bv-term").filter(has_text=re.compile(f"^{re.escape(name)}"))


def definition(page: Page, name: str) -> Locator:
    return chip(page, name).locator(".bv-definition")


def expect_whole(page: Page, part: Locator) -> None:
    """All of it is on the screen, at once or as soon as the page stands still."""
    expect(part).to_be_visible()
    page.wait_for_function(WHOLE, arg=part.element_handle())


def test_a_level_is_remembered_on_the_next_page_and_in_the_address(visit: Open, server: str) -> None:
    page = visit(f"{server}/masks")
    expect(page.get_by_text("Each square shows which words may look at which.")).to_be_visible()
    assert "level=" not in page.url
    page.get_by_role("button", name="Display").click()
    page.get_by_role("radio", name="Expert").click()
    settle(page)
    expect(page.get_by_text("About 0 and exactly 0.")).to_be_visible()
    expect(page).to_have_url(re.compile(r"[?&]level=expert"))
    go(page, "Heads")
    expect(page).to_have_url(re.compile(r"/heads\?.*level=expert"))
    page.get_by_text("What am I seeing?").click()
    expect(page.get_by_text(EXPERT)).to_be_visible()
    expect(page.get_by_test_id("stCode")).to_contain_text("import bartviz")
    expect(page.locator(".katex").first).to_be_visible()


def test_what_a_button_chose_is_not_undone_by_the_closed_display(visit: Open, server: str) -> None:
    """A browser has the fields of a popover only while it is open, and goes on sending what they had then."""
    page = visit(f"{server}/masks")
    page.get_by_role("button", name="Display").click()
    page.get_by_role("radio", name="Expert").click()
    settle(page)
    page.get_by_text("Large type", exact=True).click()
    expect(page.locator(".bv-large")).to_be_attached()
    page.keyboard.press("Escape")
    expect(page.get_by_role("radio", name="Expert")).to_have_count(0)
    page.keyboard.press("z")
    expect(page.locator(".bv-large")).to_have_count(0)
    page.get_by_role("button", name="Explain less").click()
    expect(page.get_by_text("About 0 and exactly 0.")).to_have_count(0)
    settle(page)
    go(page, "Heads")
    expect(page.locator(".bv-large")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"level=intermediate"))
    page.get_by_role("button", name="Display").click()
    settle(page)
    expect(page.get_by_role("radio", name="Intermediate")).to_be_checked()
    page.get_by_role("radio", name="Expert").click()  # chosen there, it holds
    settle(page)
    page.keyboard.press("Escape")
    go(page, "Hidden words (masks)")
    expect(page.get_by_text("About 0 and exactly 0.")).to_be_attached()


def test_a_term_says_what_it_means_under_the_pointer_and_by_keyboard(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads?level=intermediate")
    expect(definition(page, "attention")).to_be_hidden()
    chip(page, "attention").hover()
    expect(definition(page, "attention")).to_be_visible()
    expect(definition(page, "attention")).to_contain_text(glossary()["attention"].text)
    expect_whole(page, definition(page, "attention"))
    height = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    page.mouse.move(5, 5)
    expect(definition(page, "attention")).to_be_hidden()
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight") == height
    chip(page, "attention").focus()
    page.keyboard.press("Tab")
    expect(definition(page, "self-attention")).to_be_visible()
    expect(page.locator(".bv-definition:visible")).to_have_count(1)
    expect_whole(page, definition(page, "self-attention"))
    named = chip(page, "self-attention").get_attribute("aria-describedby")
    assert named == definition(page, "self-attention").get_attribute("id")


@pytest.mark.some(2)
@pytest.mark.parametrize("word", ["heads", *(page.word for page in page_list.PAGES if page.word != "heads")])
def test_a_beginner_reads_no_weight_as_a_decimal(visit: Open, server: str, word: str) -> None:
    page = visit(f"{server}/{'' if word == 'start' else word}")
    settle(page)
    for canvas in page.locator(":is(.attention, .player, .square) canvas:visible").all():
        box = canvas.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        said = page.evaluate(WORDS)
        assert [text for text in said if WEIGHT.search(text)] == []
    if word in ("heads", "side"):
        assert any(re.search("looks at|of the attention", text) and "%" in text for text in said)


@pytest.mark.some(1)
@pytest.mark.parametrize("place", ["start", "end"])
def test_a_tap_on_a_phone_shows_the_definition_whole(visit: Open, server: str, place: str) -> None:
    page = visit(f"{server}/heads?level=intermediate", size=(420, 620))
    expect(page.locator(".attention .stage")).to_be_visible()  # what stands above the terms is drawn
    page.locator(".bv-terms").evaluate("(line, block) => line.scrollIntoView({block})", place)
    page.locator(".bv-more-terms summary").tap()
    for name in ("attention", "sink", "mask"):
        chip(page, name).tap()
        expect_whole(page, definition(page, name))
        expect(page.locator(".bv-definition:visible")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 420


FORMULAS = """
import streamlit as st
from bartviz.language import LANGUAGES, speaking
from bartviz.teaching.explanations import explanation, files
from bartviz.teaching.glossary import glossary
from bartviz.app.frame import levels, theme

for language in LANGUAGES:
    with speaking(language):
        for word in files():
            told = explanation(word)
            for text in (told.beginner, told.intermediate, told.expert):
                st.markdown(levels.displayed(text))
for term in glossary().values():
    st.markdown(f"- ${term.formula}$" if term.formula else "-")
st.html("<p id='the-end'></p>")
theme.watch()
"""


@pytest.mark.thorough
def test_every_formula_of_the_explanations_and_the_glossary_is_typeset(visit: Open, tmp_path: Path) -> None:
    script = tmp_path / "formulas.py"
    script.write_text(FORMULAS, "utf-8")
    with served(tmp_path / "server.log", script=str(script), PYTHONPATH=str(ROOT)) as (address, _process):
        page = visit(address)
        expect(page.locator("#the-end")).to_be_attached()
        expect(page.locator(".katex").nth(200)).to_be_attached()
        assert page.locator(".katex-error").all_inner_texts() == []
        assert "$" not in page.get_by_test_id("stMain").inner_text()
        page.close()  # before its server ends, or it asks in vain


@pytest.mark.parametrize(("width", "columns"), [(1920, 2), (1366, 2), (1024, 1), (390, 1)])
def test_an_explanation_has_two_columns_where_there_is_room_for_both(
    visit: Open, server: str, width: int, columns: int
) -> None:
    page = visit(f"{server}/heads", size=(width, 1080))
    text = page.locator(".st-key-explained_heads")
    expect(text).to_contain_text(BEGINNER)
    lefts = text.locator("p").evaluate_all("all => all.map(one => Math.round(one.getBoundingClientRect().left))")
    assert len(set(lefts)) == columns
    ends = text.locator("p").evaluate_all("all => Math.max(...all.map(one => one.getBoundingClientRect().bottom))")
    terms = page.locator(".bv-terms").bounding_box()
    assert terms is not None
    assert ends <= terms["y"]
