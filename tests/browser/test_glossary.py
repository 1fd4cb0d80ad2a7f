"""The glossary in a browser: a letter leads to its first term, a term to the page that shows it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from scripts.settled import settle
from tests.browser.conftest import Open


@pytest.mark.parametrize(
    ("language", "letter", "term"), [("en", "S", "sampling"), ("ko", "ㅎ", "헤드"), ("ko", "A", "AER")]
)
@pytest.mark.parametrize("size", [(1366, 768), (390, 844)])
def test_a_letter_leads_to_its_first_term(
    server: str, visit: Open, size: tuple[int, int], language: str, letter: str, term: str
) -> None:
    page = visit(f"{server}/glossary?lang={language}", size=size)
    letters = page.locator(".bv-letters").get_by_role("link")
    expect(letters.first).to_be_in_viewport()
    expect(letters.last).to_be_in_viewport()
    letters.get_by_text(letter, exact=True).click()
    settle(page)
    expect(page.locator(".bv-glossary-all h3").get_by_text(letter, exact=True)).to_be_in_viewport()
    expect(page.locator(".bv-glossary-all dt").get_by_text(term, exact=True)).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_term_leads_to_its_page_within_the_visit(server: str, visit: Open) -> None:
    page = visit(f"{server}/glossary?lang=en&level=expert")
    page.evaluate("window.stayed = true")
    page.locator(".bv-glossary-all .bv-see").get_by_text("See it: Hidden words (masks)").first.click()
    expect(page).to_have_url(re.compile(r"/masks\b"))
    settle(page)
    assert page.evaluate("window.stayed")


def test_a_column_begins_with_a_letter(server: str, visit: Open) -> None:
    page = visit(f"{server}/glossary")
    settle(page)
    tops = page.locator(".bv-glossary-all > section").evaluate_all(
        "all => all.map(one => [one.getClientRects().length, one.getBoundingClientRect().left])"
    )
    assert {parts for parts, _left in tops} == {1}  # none is in two columns
    assert len({left for _parts, left in tops}) == 2
