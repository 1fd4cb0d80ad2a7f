"""Choices in the address: by a link, a click, the next page, Back, a reload."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from bartviz.app.frame import page_list
from bartviz.features.compare.page import TABS
from scripts.settled import settle
from tests.browser.conftest import Open, go


def counted(name: str) -> re.Pattern[str]:
    """The name of an option, which may have a number behind it."""
    return re.compile(rf"^{re.escape(name)}( \(\d+\))?$")


def chosen(page: Page, name: str) -> Locator:
    """The pressed option of that name."""
    return page.get_by_role("radio", name=counted(name), checked=True)


def press(page: Page, name: str) -> None:
    page.get_by_role("radio", name=counted(name)).click()
    settle(page)


def turn(page: Page, word: str) -> None:
    go(page, page_list.page(word).label)
    page.get_by_role("heading", name=page_list.page(word).title).wait_for()
    settle(page)


def said(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


@pytest.mark.thorough
def test_what_a_link_has_chosen_goes_along_to_the_next_page(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads?kind=encoder&layer=2&head=1")
    expect(chosen(page, "Encoder")).to_be_visible()
    turn(page, "inside")
    expect(chosen(page, "Encoder")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/inside\?kind=encoder&layer=2&head=1$"))
    page.reload()
    settle(page)
    expect(chosen(page, "Encoder")).to_be_visible()
    turn(page, "decoding")  # which has none of it
    turn(page, "heads")
    expect(chosen(page, "Encoder")).to_be_visible()
    expect(page.locator(".attention [data-is=name]")).to_have_text("Head 1 of layer 2")


def test_a_click_is_in_the_address_as_a_word_and_back_undoes_it(visit: Open, server: str) -> None:
    page = visit(f"{server}/inside")
    press(page, "Encoder")
    expect(page).to_have_url(re.compile("kind=encoder"))
    press(page, "Decoder")
    expect(page).to_have_url(re.compile("kind=decoder"))
    page.go_back()
    settle(page)
    expect(chosen(page, "Encoder")).to_be_visible()
    for _ in range(2):  # a row that moved with the kind has an entry of its own
        if "kind" in said(page):
            page.go_back()
            settle(page)
    expect(chosen(page, "Cross")).to_be_visible()
    assert "kind" not in said(page)
    page.go_forward()
    settle(page)
    expect(chosen(page, "Encoder")).to_be_visible()


@pytest.mark.thorough
def test_the_default_that_is_chosen_again_is_left_out_of_the_address(visit: Open, server: str) -> None:
    page = visit(f"{server}/inside?kind=encoder")
    turn(page, "heads")
    expect(chosen(page, "Encoder")).to_be_visible()
    press(page, "Cross")
    expect(page).not_to_have_url(re.compile("kind="))
    turn(page, "inside")
    expect(chosen(page, "Cross")).to_be_visible()


@pytest.mark.thorough
def test_one_press_of_back_leaves_a_page_that_a_link_opened_and_finds_the_choices_of_the_one_before(
    visit: Open, server: str
) -> None:
    page = visit(f"{server}/heads?kind=cross&layer=2&head=3")
    page.get_by_role("button", name="More on").click()
    page.get_by_role("link", name="Look inside it").click()
    page.wait_for_url(re.compile("/inside"))
    settle(page)
    expect(page).not_to_have_url(re.compile("kind="))  # the page has left out the default
    page.go_back()
    settle(page)
    expect(page).to_have_url(re.compile(r"/heads\?layer=2&head=3$"))
    expect(page.locator(".attention [data-is=name]")).to_have_text("Head 3 of layer 2")
    page.go_forward()
    settle(page)
    expect(page).to_have_url(re.compile("/inside"))


def test_quick_clicks_end_where_the_last_one_was(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads")
    for name in ("Encoder", "Decoder", "Encoder", "Cross", "Decoder"):
        page.get_by_role("radio", name=counted(name)).click()
    settle(page)
    expect(chosen(page, "Decoder")).to_be_visible()
    expect(page).to_have_url(re.compile("kind=decoder"))


@pytest.mark.thorough
def test_tabs_are_in_the_address_and_open_by_it(visit: Open, server: str) -> None:
    page = visit(f"{server}/compare?below=likeness", locale="ko-KR")
    first, other = (page.get_by_role("tab").nth(list(TABS).index(word)) for word in ("likeness", "contribution"))
    expect(first).to_have_attribute("aria-selected", "true")
    other.click()
    settle(page)
    expect(page).to_have_url(re.compile("below=contribution"))
    page.go_back()
    settle(page)
    expect(first).to_have_attribute("aria-selected", "true")
    page.locator(".st-key-display button").first.click()
    page.get_by_role("radio", name="English", exact=True).click()
    settle(page)
    expect(page.get_by_role("tab", name="Similarity", exact=True)).to_have_attribute("aria-selected", "true")
    expect(page).to_have_url(re.compile("below=likeness"))


@pytest.mark.thorough
def test_a_link_in_the_same_window_is_followed(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads?kind=encoder")
    press(page, "Decoder")
    page.goto(f"{server}/heads?kind=cross&layer=1&head=0")  # as somebody who follows a link in the same window
    settle(page)
    expect(chosen(page, "Cross")).to_be_visible()
    expect(page.locator(".attention [data-is=name]")).to_have_text("Head 0 of layer 1")
