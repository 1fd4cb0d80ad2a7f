"""The denoising page in a browser, with the shipped models: BERT, a place that stays, phones."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from scripts.settled import settle
from tests.browser.conftest import Open

LINES, LEAD, NOTES = ".bv-repair", ".bv-lead", ".bv-note"


def opened(visit: Open, address: str, **options: str | tuple[int, int]) -> Page:
    """The page, once the three lines are there: the models are loaded first."""
    page = visit(address, **options)
    expect(page.locator(LINES)).to_be_visible()
    settle(page)
    return page


@pytest.mark.thorough
def test_bert_is_shown_next_to_bart(visit: Open, shipped: str) -> None:
    page = opened(
        visit, f"{shipped}/denoising?level=intermediate&noise=masking&text_of=one+sentence&look=compare+with+BERT"
    )
    table = page.locator(".bv-guesses")
    expect(table).to_be_visible()
    masks = page.locator(f"{LINES} .bv-mask").count()
    expect(table.locator("tbody tr")).to_have_count(masks)
    expect(table.locator("tbody tr").first.locator("td").nth(3).locator(".bv-guess")).to_have_count(5)
    page.get_by_test_id("stButtonGroup").get_by_text("rotation").click()
    expect(page.get_by_text("BERT has nothing to fill")).to_be_visible()


def test_a_touch_on_a_word_hides_it_and_one_on_its_gap_shows_it_again(visit: Open, shipped: str) -> None:
    page = opened(visit, f"{shipped}/denoising?noise=masking&text_of=one+sentence")
    word = page.locator(f"{LINES} [role=button]", has_text="garden")
    expect(word).to_have_attribute("aria-pressed", "false")
    word.click()
    expect(word).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_url(re.compile("hidden="))
    number = word.get_attribute("data-words")
    page.locator(f"{LINES} .bv-mask[data-words='{number}']").click()
    expect(word).to_have_attribute("aria-pressed", "false")
    word.focus()
    page.keyboard.press("Enter")
    expect(word).to_have_attribute("aria-pressed", "true")
    expect(word).to_be_focused()


def resting(page: Page) -> float:
    """Where the lines begin, once nothing above them moves them any more: half a second in one place."""
    places = [-1.0]
    while len(places) < 6 or len(set(places[-6:])) > 1:
        assert len(places) < 300, f"the lines do not come to rest: {places[-6:]}"
        page.wait_for_timeout(100)
        box = page.locator(LINES).bounding_box()
        places.append(box["y"] if box is not None else -1.0 - len(places))
    return places[-1]


@pytest.mark.thorough
def test_the_lines_are_seen_without_scrolling_and_stay_where_they_are(visit: Open, shipped: str) -> None:
    page = opened(visit, f"{shipped}/denoising?text_of=three+sentences")
    lines = f"document.querySelector({LINES!r})?.getBoundingClientRect()"
    page.wait_for_function(f"{lines}?.bottom <= 768")
    page.evaluate("document.fonts.ready.then(() => true)")
    before = resting(page)
    page.get_by_role("button", name="Damage other words").click()
    settle(page)
    expect(page.locator(LINES)).to_be_visible()
    page.wait_for_function(f"Math.abs({lines}?.top - {before}) < 2")


def test_the_button_of_another_draw_stays_where_it_is_pressed(visit: Open, shipped: str) -> None:
    page = opened(visit, f"{shipped}/denoising")
    button, lead = page.get_by_role("button", name="Damage other words"), page.locator(LEAD).first
    lines, before = page.locator(LINES).bounding_box(), button.bounding_box()
    assert lines is not None
    assert before is not None
    assert before["y"] + before["height"] <= lines["y"]  # whose height depends on the draw
    said = lead.inner_text()
    button.click()
    expect(lead).not_to_have_text(said)
    settle(page)
    assert button.bounding_box() == before


@pytest.mark.thorough
@pytest.mark.parametrize("look", ["attention", "compare with BERT", "all five kinds of damage"])
def test_nothing_hangs_over_the_edge_of_a_phone(visit: Open, shipped: str, look: str) -> None:
    text = "고양이가+소파에서+자고+있어요." if look == "attention" else "x" * 90
    page = opened(visit, f"{shipped}/denoising?look={look}&model=bart-tiny-denoise&text={text}", size=(420, 900))
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    box = page.locator(LINES).bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= 420


@pytest.mark.thorough
def test_words_of_a_second_line_stand_beside_the_names_not_below_them(visit: Open, shipped: str) -> None:
    page = opened(visit, f"{shipped}/denoising?text_of=three+sentences", size=(390, 844))
    names = page.locator(f"{LINES} .bv-names").bounding_box()
    boxes = [column.bounding_box() for column in page.locator(f"{LINES} .bv-column:not(.bv-names)").all()]
    assert names is not None
    assert len({box["y"] for box in boxes if box is not None}) > 1
    assert all(box is not None and box["x"] >= names["x"] + names["width"] for box in boxes)


def test_a_finger_finds_the_words(visit: Open, shipped: str) -> None:
    page = opened(visit, f"{shipped}/denoising", size=(390, 844))
    words = [box for word in page.locator(".bv-repair [data-words]").all() if (box := word.bounding_box())]
    assert len(words) > 4
    assert all(box["height"] >= 40 and box["width"] >= 24 for box in words)


@pytest.mark.parametrize(
    ("text", "width"), [("I want to buy a car.", 1366), ("ذهبت إلى السوق الكبير", 1366), ("x " * 12, 390)]
)
def test_the_name_of_a_mask_is_in_the_middle_of_its_gap(visit: Open, shipped: str, text: str, width: int) -> None:
    page = opened(visit, f"{shipped}/denoising?text={text}&hidden={'0-1-2' if width > 390 else '1-2-3-4-5-6-7-8-9-10'}")
    page.set_viewport_size({"width": width, "height": 844})
    settle(page)
    place = page.locator(".bv-place", has=page.locator(".bv-first"))
    across, above, below = place.locator(".bv-first > i").evaluate(
        """name => {
            const box = (one) => one.getBoundingClientRect(), range = document.createRange();
            range.selectNodeContents(name);
            const written = box(range), first = box(name.parentElement);
            const gaps = [...name.closest(".bv-place").querySelectorAll(".bv-mask")].map(box);
            const line = gaps.filter((one) => Math.abs(one.top - first.top) < 2);
            const ends = Math.min(...line.map((one) => one.left)) + Math.max(...line.map((one) => one.right));
            return [(written.left + written.right - ends) / 2, written.top - first.top, first.bottom - written.bottom];
        }"""
    )
    assert abs(across) < 4
    assert min(above, below) > 0
