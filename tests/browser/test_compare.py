"""The compare page in a browser: a click pins a head, a run is saved and opened again, the main figure is visible."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from bartviz.families.catalogue import EMBEDDED
from bartviz.record import store
from bartviz.record.record import Record
from scripts.settled import settle
from tests.browser.conftest import Open, take
from tests.browser.finger import SCROLLED, place_in, swipe
from tests.support import stand_in


def of(page: Page, letter: str, name: str) -> Locator:
    """A part of the canvas of A or of B."""
    return page.locator(f".st-key-canvas_alone_compare_{letter.lower()} .attention [data-is={name}]")


APART = "difference"  # the canvas of what differs, beside A and B


def drawn(page: Page, charts: int = 2, letters: str = "AB") -> None:
    """Wait until all pictures stand."""
    for letter in letters:
        expect(of(page, letter, "said")).not_to_be_empty()
    expect(page.locator(".stPlotlyChart .js-plotly-plot .main-svg:first-child")).to_have_count(charts)
    settle(page)


def click_on(page: Page, across: float, down: float) -> None:
    place = page.locator(".st-key-compare_matrix .nsewdrag").first
    place.scroll_into_view_if_needed()
    box = place.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * across, box["y"] + box["height"] * down)


@pytest.mark.thorough
def test_a_swipe_over_a_chart_scrolls_the_page_and_leaves_the_chart(visit: Open, server: str) -> None:
    page = visit(f"{server}/compare?level=intermediate&kind=Encoder", size=(390, 844))
    drawn(page)
    chart = page.locator(".st-key-compare_scatter")
    place, ticks = place_in(chart.locator(".nsewdrag"), 0.5, 0.5), chart.locator(".xtick, .ytick").all_text_contents
    above, before = page.evaluate(SCROLLED), ticks()
    assert "0.5" in before
    swipe(page, place, up=150)
    page.wait_for_function(f"{SCROLLED} > {above} + 100")
    settle(page)
    assert ticks() == before


def test_a_click_in_the_matrix_pins_that_head(visit: Open, server: str) -> None:
    page = visit(f"{server}/compare?level=intermediate&kind=Encoder&a=encoder+L0H0&b=encoder+L0H1")
    drawn(page)
    click_on(page, 2.5 / 4, 1.5 / 3)  # 3 layers x 4 heads
    expect(page.get_by_text("A: encoder L1H2")).to_be_visible()
    expect(page).to_have_url(re.compile(r"a=encoder(\+|%20)L1H2"))
    page.locator(".st-key-click").get_by_text("B", exact=True).click()
    settle(page)
    click_on(page, 3.5 / 4, 2.5 / 3)
    expect(page.get_by_text("B: encoder L2H3")).to_be_visible()


@pytest.mark.thorough
def test_a_click_on_a_point_pins_its_head(visit: Open, server: str) -> None:
    page = visit(f"{server}/compare?level=intermediate&kind=Encoder&a=encoder+L0H0&b=encoder+L0H1")
    drawn(page)
    point = page.locator(".st-key-compare_scatter path.point").nth(7)
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.get_by_text("A: encoder L1H3")).to_be_visible()


@pytest.mark.thorough
def test_a_saved_run_is_opened_as_b(visit: Open, server: str, tmp_path: Path) -> None:
    page = visit(f"{server}/compare?a=cross+L1H1&against=run")
    drawn(page, 0, "A")  # there is no B yet
    take(page, page.get_by_role("button", name="Save to open again", exact=True), tmp_path / "again.safetensors")
    assert store.read(tmp_path / "again.safetensors", Record)[0] == stand_in.record()
    page.locator("input[type=file]").last.set_input_files(str(tmp_path / "again.safetensors"))
    expect(page.get_by_text("B: head 1 of layer 1 (cross-attention) of “")).to_be_visible()
    expect(page.get_by_text("A and B are the same")).to_be_visible()


@pytest.mark.thorough
def test_the_record_that_ships_is_small_enough_to_be_opened(visit: Open, server: str) -> None:
    page = visit(f"{server}/compare?a=cross+L1H1&against=run")
    drawn(page, 0, "A")  # there is no B yet
    page.locator("input[type=file]").last.set_input_files(str(EMBEDDED / "records" / "start.safetensors"))
    expect(page.get_by_text("Saved for comparison: bart-tiny-en-de")).to_be_visible()


@pytest.mark.thorough
def test_a_file_that_is_no_record_is_refused_with_a_message(visit: Open, server: str, tmp_path: Path) -> None:
    (tmp_path / "x.safetensors").write_bytes(b"\x08\x00\x00\x00\x00\x00\x00\x00{}      ")
    page = visit(f"{server}/compare?against=run")
    drawn(page, 0, "A")  # there is no B yet
    page.locator("input[type=file]").last.set_input_files(str(tmp_path / "x.safetensors"))
    expect(page.get_by_text("This is not a bartviz record")).to_be_visible()


@pytest.mark.thorough
def test_a_row_chosen_in_one_canvas_is_chosen_in_the_other(visit: Open, server: str) -> None:
    page = visit(f"{server}/compare?a=encoder+L0H1&b=encoder+L2H3&row=2&level=intermediate")
    drawn(page)
    attention = stand_in.record().attention("encoder")
    for letter, place in {"A": (0, 1), "B": (2, 3)}.items():
        row = attention.head(*place)[2]
        best = f"“{attention.key.labels[int(row.argmax())]}” ({row.max():.3f})"
        expect(of(page, letter, "said")).to_contain_text(f"(2) attends most to {best}")
    plot = of(page, "B", "plot")
    plot.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "["):  # the last one leads nowhere: B stays the page's head
        page.keyboard.press(key)
    expect(of(page, "B", "live")).to_contain_text(f"(4) attends to “I” (1): {attention.head(2, 3)[4, 1]:.3f}")
    page.keyboard.press("Enter")
    expect(of(page, "A", "said")).to_contain_text("(4) attends most to")
    expect(page).to_have_url(re.compile("row=4"))
    expect(plot).to_be_focused()
    page.keyboard.press("2")
    expect(of(page, "A", "lines")).to_have_attribute("aria-pressed", "true")
    assert of(page, "A", "overview").is_hidden()


@pytest.mark.thorough
def test_rows_of_other_tokens_are_chosen_each_for_itself(visit: Open, server: str) -> None:
    page = visit(f"{server}/compare?a=encoder+L0H1&b=decoder+L2H3&row=2&row_b=4&view=text&level=intermediate")
    drawn(page)
    expect(of(page, "A", "said")).to_contain_text("(2) attends most to")
    expect(of(page, "B", "said")).to_contain_text("(4) attends most to")
    of(page, "B", "query-text").locator("[role=option]").nth(3).click()
    of(page, "B", "query-text").locator("[role=option]").nth(5).click(modifiers=["Control"])
    page.mouse.move(5, 5)  # what is under the pointer would be spoken of alone
    expect(of(page, "B", "said")).to_contain_text("2 rows, ")
    expect(page).to_have_url(re.compile("row_b=5"))
    settle(page)
    expect(of(page, "A", "said")).to_contain_text("(2) attends most to")
    expect(of(page, "B", "said")).to_contain_text("2 rows, ")


@pytest.mark.thorough
def test_a_and_b_are_below_each_other_on_a_phone_and_keep_their_position(visit: Open, server: str) -> None:
    page = visit(f"{server}/compare?level=intermediate", size=(420, 900))
    drawn(page)
    boxes = [page.locator(f".st-key-canvas_alone_compare_{letter}").bounding_box() for letter in "ab"]
    a, b = (box for box in boxes if box is not None)
    assert a["y"] + a["height"] <= b["y"]
    of(page, "B", "lines").click()
    settle(page)
    again = page.locator(".st-key-canvas_alone_compare_b").bounding_box()
    assert again is not None
    assert again["height"] == b["height"]


@pytest.mark.parametrize("level", ["beginner", "expert"])
@pytest.mark.parametrize("size", [(1366, 768), (1920, 1080)])
def test_the_rows_of_all_three_maps_are_level(visit: Open, shipped: str, size: tuple[int, int], level: str) -> None:
    page = visit(f"{shipped}/compare?level={level}", size=size)
    settle(page)
    boxes = [of(page, letter, "plot").bounding_box() for letter in ("A", "B", APART)]
    places = [(box["y"], box["height"]) for box in boxes if box is not None]
    assert len(places) == 3
    assert all(abs(one - other) < 1 for place in places for one, other in zip(place, places[0], strict=True))  # pixels


def test_a_row_chosen_in_what_differs_is_chosen_in_both(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/compare")
    drawn(page, charts=0)
    plot = of(page, APART, "plot")
    plot.focus()
    for key in ("ArrowUp", "2", "Enter", "Escape"):  # a difference has no lines
        page.keyboard.press(key)
    expect(page).to_have_url(re.compile("row="))
    assert "view=" not in page.url
    settle(page)
    said = of(page, APART, "said").text_content() or ""
    row = said.split(":")[0]
    for letter in "AB":
        expect(of(page, letter, "said")).to_contain_text(f"To write {row}, most attention goes to")


def test_what_differs_is_seen_beside_both_maps_on_a_laptop(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/compare")
    drawn(page, charts=0)
    boxes = [of(page, letter, "plot").bounding_box() for letter in ("A", "B", APART)]
    a, b, apart = (box for box in boxes if box is not None)
    assert a["x"] + a["width"] <= b["x"]
    assert b["x"] + b["width"] <= apart["x"]
    assert all(box["y"] + box["height"] <= 768 for box in (a, b, apart))
    for letter in "AB":  # the sentence below a map says what its row looks at
        expect(of(page, letter, "said")).to_be_visible()
        expect(of(page, letter, "strip")).to_be_hidden()


@pytest.mark.parametrize("locale", ["en", "ko"])
@pytest.mark.some("en")
def test_a_phone_shows_both_maps_side_by_side_on_the_first_screen(visit: Open, shipped: str, locale: str) -> None:
    page = visit(f"{shipped}/compare?lang={locale}", size=(390, 844))
    drawn(page, charts=0)
    boxes = [of(page, letter, "plot").bounding_box() for letter in "AB"]
    a, b = (box for box in boxes if box is not None)
    assert a["y"] == b["y"]
    assert a["x"] + a["width"] <= b["x"]
    assert b["y"] + b["height"] <= 844
    heads = [page.locator(f".st-key-{letter} input").bounding_box() for letter in "ab"]
    first, second = (box for box in heads if box is not None)
    assert first["y"] + first["height"] <= second["y"]
    cut = "field => field.scrollWidth > field.clientWidth"  # what a head does is read whole
    assert not any(page.locator(f".st-key-{letter} input").evaluate(cut) for letter in "ab")


def test_a_phone_has_the_maps_of_a_long_text_below_each_other(visit: Open, shipped: str) -> None:
    text = "The old man who lives next door told me yesterday that he would like to buy a new red car soon."
    page = visit(f"{shipped}/compare?text={text.replace(' ', '+')}", size=(390, 844))
    drawn(page, charts=0)
    boxes = [of(page, letter, "plot").bounding_box() for letter in "AB"]
    a, b = (box for box in boxes if box is not None)
    assert a["y"] + a["height"] <= b["y"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
