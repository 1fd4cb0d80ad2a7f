"""The visitor's language: the browser's, and the chosen one; the same on every page, and no number changes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from bartviz.app.frame import page_list
from bartviz.language import LANGUAGES, _, speaking
from scripts.settled import settle
from tests.browser.conftest import Open, go


def said(message: str, language: str, **values: object) -> str:
    with speaking(language):
        return _(message, **values)


def title(page: Page, word: str, language: str) -> None:
    expect(page.get_by_role("heading", name=said(page_list.page(word).title, language))).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", language)


def turn(page: Page, word: str, language: str) -> None:
    go(page, said(page_list.page(word).label, language))
    title(page, word, language)
    settle(page)


def test_a_korean_browser_gets_korean_and_can_have_english(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads?kind=encoder", locale="ko-KR")
    title(page, "heads", "ko")
    expect(page.get_by_role("radio", name=re.compile(rf"^{said('Encoder', 'ko')} \("))).to_be_checked()
    assert "lang" not in page.url  # it is the browser's own
    page.locator(".st-key-display button").first.click()
    page.get_by_role("radio", name=LANGUAGES["en"], exact=True).click()
    title(page, "heads", "en")
    settle(page)
    expect(page).to_have_url(re.compile("lang=en"))
    expect(page.get_by_role("radio", name=re.compile(r"^Encoder \("))).to_be_checked()
    turn(page, "inside", "en")
    expect(page).to_have_url(re.compile("lang=en"))
    expect(page.get_by_role("radio", name="Encoder", exact=True)).to_be_checked()
    page.reload()
    title(page, "inside", "en")


def test_what_streamlit_says_is_in_the_language_of_the_page(visit: Open, server: str) -> None:
    page = visit(f"{server}/corpus?lang=ko", size=(390, 844))
    upload = page.get_by_test_id("stMain").get_by_test_id("stFileUploaderDropzone")
    expect(upload).to_contain_text(said("Upload", "ko"))
    expect(upload).not_to_contain_text("per file")
    expect(page.get_by_test_id("stExpandSidebarButton")).to_have_accessible_name(said("Open the menu", "ko"))
    assert not page.get_by_placeholder("Choose an option").count()
    page.locator(".st-key-display button").first.click()
    page.get_by_role("radio", name=LANGUAGES["en"], exact=True).click()
    title(page, "corpus", "en")
    expect(upload).to_contain_text("per file")


@pytest.mark.parametrize("word", ["start", "parameters"])
def test_the_other_language_is_named_on_a_button_of_every_page(visit: Open, server: str, word: str) -> None:
    page = visit(f"{server}/{'' if word == 'start' else word}")
    for language in ("ko", "en"):
        page.get_by_role("button", name=LANGUAGES[language]).click()
        page.get_by_role("radio", name=LANGUAGES[language], exact=True).click()
        title(page, word, language)
        page.keyboard.press("Escape")


@pytest.mark.thorough
def test_a_sentence_changes_its_words_and_keeps_its_numbers(visit: Open, server: str) -> None:
    numbers = []
    for language in LANGUAGES:
        page = visit(f"{server}/?lang={language}&level=expert")
        title(page, "start", language)
        told = page.locator(".bv-status").first.inner_text()
        numbers.append(re.findall(r"\d+(?:\.\d+)?", told))
    assert numbers[0] == numbers[1]
    assert len(numbers[0]) >= 4
