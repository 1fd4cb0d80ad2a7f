"""Every page by deep link on a fresh server; the guard; the theme; nothing leaves the machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from bartviz.app.frame import page_list
from scripts.settled import settle
from tests.browser.conftest import Open, go, serve

WITH_TEXT = [page for page in page_list.PAGES if page.run]


@pytest.mark.thorough
@pytest.mark.parametrize("entry", [WITH_TEXT[0], WITH_TEXT[-1]], ids=lambda entry: entry.word)
def test_a_deep_link_that_comes_first_shows_the_whole_app(
    entry: page_list.Page, visit: Open, tmp_path: Path, stand_in_file: str
) -> None:
    """A folder named pages starts each server in a mode in which this page would run alone."""
    with serve(tmp_path, BARTVIZ_RECORD=stand_in_file) as address:
        first = entry is page_list.PAGES[0]  # found by its word, too
        for scheme, word in (("light", "" if first else entry.word), ("dark", entry.word)):
            page = visit(f"{address}/{word}", scheme=scheme)
            page.get_by_role("heading", name=entry.title).wait_for()
            expect(page).to_have_title(f"{entry.label} · bartviz")
            page.get_by_test_id("stSidebar").get_by_role("textbox", name="Text").wait_for()
            assert page.get_by_role("link", name=page_list.PAGES[0].label, exact=True).is_visible()
            assert page.get_by_test_id("stDialog").count() == 0
            page.close()  # before its server goes


@pytest.mark.thorough
@pytest.mark.parametrize("locale", ["en-US", "ko-KR"])
def test_every_page_has_its_place_in_the_bar(locale: str, visit: Open, server: str) -> None:
    page = visit(f"{server}/masks?level=expert", size=(1280, 720), locale=locale)
    sections = page.get_by_test_id("stTopNavSection")
    expect(sections).to_have_count(len(page_list.SECTIONS) - 1)
    for number, section in enumerate(page_list.SECTIONS[1:]):
        expect(sections.nth(number)).to_be_in_viewport(ratio=1)
        sections.nth(number).click()
        places = page.get_by_test_id("stTopNavDropdownLink")
        expect(places).to_have_count(len(section.pages))
        for place, entry in zip(places.all(), section.pages, strict=True):
            expect(place).to_have_attribute("href", f"{server}/{entry.word}")
        page.keyboard.press("Escape")
        expect(places).to_have_count(0)


CURRENT = "[data-testid=stTopNav] [aria-current]"


def test_the_bar_marks_the_section_of_the_open_page(visit: Open, server: str) -> None:
    page = visit(f"{server}/compare", size=(1280, 720))
    marked = page.locator(CURRENT)
    expect(marked).to_have_text("Try it out")
    go(page, "Quiz")
    expect(marked).to_have_text("Learn")
    page.set_viewport_size({"width": 600, "height": 720})  # the bar goes, and comes back as another one
    expect(marked).to_have_count(0)
    page.set_viewport_size({"width": 1280, "height": 720})
    expect(marked).to_have_text("Learn")
    go(page, "Start")
    expect(marked).to_have_text("Start")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_menu_of_a_phone_marks_the_section_of_the_open_page(scheme: str, visit: Open, server: str) -> None:
    page = visit(f"{server}/quiz?lang=ko", size=(390, 844), scheme=scheme)
    page.get_by_test_id("stExpandSidebarButton").click()
    section = page.get_by_role("list", name="배우기", exact=True)
    expect(section.locator("header p")).to_have_css("border-bottom-width", "3px")
    expect(page.locator("header p").filter(has_text="살펴보기")).to_have_css("border-bottom-width", "0px")


def test_the_tab_key_passes_a_closed_sidebar(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/quiz", size=(1280, 720))
    expect(page.get_by_test_id("stSidebar")).to_have_attribute("data-collapsed", "true")
    places = []
    for _ in range(6):
        page.keyboard.press("Tab")
        places.append(page.evaluate("document.activeElement.getBoundingClientRect().x"))
    assert min(places) >= 0
    page.get_by_test_id("stExpandSidebarButton").click()
    expect(page.get_by_test_id("stSidebar").get_by_role("textbox", name="Text")).to_be_visible()


@pytest.mark.thorough
def test_older_addresses_lead_on_with_their_choices(visit: Open, server: str) -> None:
    page = visit(f"{server}/classic?layer=2")
    expect(page).to_have_url(re.compile(r"/heads\?(?=.*layer=2)(?=.*view=classic)"))
    page = visit(f"{server}/fooled?lang=ko")
    expect(page).to_have_url(re.compile(r"/pitfalls\?lang=ko$"))


def test_the_menu_of_a_phone_closes_when_a_page_is_chosen(visit: Open, server: str) -> None:
    page = visit(f"{server}/masks", size=(390, 844))
    go(page, "Heads")
    expect(page.get_by_test_id("stSidebar")).to_have_attribute("data-collapsed", "true")
    page.reload()
    settle(page)
    expect(page.get_by_test_id("stSidebar")).to_have_attribute("data-collapsed", "true")


def test_a_finger_finds_each_page_in_the_menu_of_a_phone(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/masks", size=(390, 844))
    page.get_by_test_id("stExpandSidebarButton").tap()
    links = page.get_by_test_id("stSidebarNavLink")
    expect(links.first).to_be_visible()
    heights = links.evaluate_all("(all) => all.map((link) => link.getBoundingClientRect().height)")
    assert min(heights) >= 44


def test_what_is_shared_shows_the_same_in_a_clean_browser(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/heads?layer=1&head=4&row=5")
    lead = page.locator(".bv-lead").first
    before = lead.inner_text()
    page.get_by_role("button", name="The cat is sleeping on the sofa.").click()
    expect(lead).not_to_have_text(before)
    settle(page)
    page.get_by_role("button", name="Share").click()
    link = page.get_by_role("textbox", name="Link to this page")
    expect(link).to_have_value(re.compile("text=The.cat"))
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    other = visit(link.input_value(), size=(390, 844))
    expect(other.locator(".bv-lead").first).to_have_text(lead.inner_text(), use_inner_text=True)
    said = "[data-is=said]"
    expect(other.locator(said).first).to_have_text(page.locator(said).first.inner_text())


@pytest.mark.thorough
def test_every_page_is_found_on_a_narrow_screen(visit: Open, server: str) -> None:
    page = visit(f"{server}/masks", size=(420, 900))
    go(page, "What-if experiments")
    expect(page.get_by_role("heading", name=page_list.page("experiments").title)).to_be_visible()
    page.set_viewport_size({"width": 900, "height": 700})
    go(page, "Quiz")
    expect(page.get_by_role("heading", name=page_list.page("quiz").title)).to_be_visible()


@pytest.mark.thorough
def test_large_type_reaches_the_pictures_and_what_is_pointed_at(visit: Open, server: str) -> None:
    for address, size in (
        ("alignment?level=intermediate", "12px"),
        ("alignment?level=intermediate&large=true", "16.8px"),
    ):
        title = visit(f"{server}/{address}").locator(".js-plotly-plot .x2title").first
        expect(title).to_have_css("font-size", size)
    page = visit(f"{server}/decoding?step=2&large=true", size=(1366, 1200))
    menu = page.get_by_role("button", name="Menu", exact=True)
    menu.click()
    expect(page.get_by_test_id("stTopNavSection")).to_have_count(len(page_list.SECTIONS) - 1)
    menu.click()
    expect(page.get_by_test_id("stHeader")).to_be_hidden()
    matrix = page.locator("[data-is=matrix]")
    expect(page.locator(".player [data-is=counter]")).to_have_text("2 / 9")
    matrix.scroll_into_view_if_needed()
    settle(page)
    box = matrix.bounding_box()
    assert box is not None
    matrix.click(position={"x": 0.6 * box["width"], "y": 0.5 * box["height"]})
    expect(page.locator(".player [data-is=counter]")).not_to_have_text("2 / 9")  # the row that was touched


def test_large_type_leaves_the_menu_of_a_phone_free(visit: Open, server: str) -> None:
    page = visit(f"{server}/masks?large=true", size=(390, 844))
    menu = page.locator("[data-testid=stExpandSidebarButton]").bounding_box()
    display = page.locator(".st-key-share_place [data-testid=stPopoverButton]").first.bounding_box()
    assert menu is not None
    assert display is not None
    assert menu["x"] + menu["width"] <= display["x"]


@pytest.mark.thorough
def test_the_sentence_of_a_page_is_as_far_from_the_strip_everywhere(visit: Open, shipped: str) -> None:
    page, gaps = visit(f"{shipped}/heads", size=(1366, 768)), {}
    for word in ("heads", "decoding", "alignment", "masks", "inside", "compare", "inputs", "why"):
        page.goto(f"{shipped}/{word}")
        settle(page)
        strip = page.locator(".st-key-text_to_word").bounding_box()
        lead = page.locator(".bv-lead, .bv-do").first.bounding_box()  # on Decoding it is what to do
        assert strip is not None
        assert lead is not None
        gaps[word] = lead["y"] - strip["y"] - strip["height"]
    assert max(gaps.values()) - min(gaps.values()) < 3, gaps
    assert min(gaps.values()) > 5, gaps


def test_a_task_that_is_begun_leaves_the_focus_where_its_answer_comes(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/heads?level=expert")
    page.locator(".st-key-checks summary").click()
    page.locator(".st-key-begin_verify button").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-focus_task_verify .bv-unseen")).to_be_focused()
    expect(page.get_by_text("Not compared:")).to_be_visible()


def test_the_menu_of_a_phone_shows_the_text_to_change_below_the_pages(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads", size=(390, 844))
    page.get_by_role("button", name="Open the menu").tap()
    expect(page.get_by_test_id("stSidebar").get_by_text("Text: type your own")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("locale", ["en-US", "ko-KR"])
@pytest.mark.some("ko-KR")
def test_no_name_in_the_menu_of_a_phone_is_cut_in_large_type(locale: str, visit: Open, server: str) -> None:
    page = visit(f"{server}/masks?large=true", size=(390, 844), locale=locale)
    opens, closes = ("Open the menu", "Close the menu") if locale == "en-US" else ("메뉴 열기", "메뉴 닫기")
    page.get_by_role("button", name=opens).tap()
    expect(page.get_by_role("button", name=closes)).to_be_visible()
    opened = "bar => Promise.all(bar.getAnimations({ subtree: true }).map(({ finished }) => finished)).then(() => null)"
    page.get_by_test_id("stSidebar").evaluate(opened)  # it grows from nothing
    names = page.get_by_test_id("stSidebarNavItems").locator("p, div:has(> p)")
    cut = "names => names.filter(name => name.scrollWidth > name.clientWidth).map(name => name.textContent)"
    assert names.evaluate_all(cut) == []
