"""The inside page in a browser: its numbers are the record's, a click shows a key's products, a phone."""

from __future__ import annotations

import re
from itertools import combinations, pairwise

import pytest
from playwright.sync_api import Page, expect

from bartviz.analysis import inside
from bartviz.language.percentages import percent
from scripts.settled import settle
from tests.browser.conftest import Open
from tests.support import stand_in


def drawn(page: Page) -> None:
    """Wait until the row of arithmetic stands."""
    expect(page.locator(".st-key-inside_row .nsewdrag").first).to_be_attached()
    settle(page)


@pytest.mark.thorough
def test_the_numbers_on_the_page_are_the_records(visit: Open, server: str) -> None:
    page = visit(f"{server}/inside?kind=Encoder&layer=1&head=2&row=3&level=intermediate")
    drawn(page)
    one = inside.inside(stand_in.record().attention("encoder"), 1, 2, 3)
    told = page.locator(".st-key-inside_row").inner_text()
    for key in range(len(one.keys)):
        assert f"{one.weights[key]:.3f}" in told
        assert f"{one.scores[key]:.2f}".replace("-", "−") in told.replace("-", "−")
    equation = page.locator(".bv-equation").inner_text()
    for value, _ in inside.equation(one, one.strongest):
        assert value in equation


def touch(page: Page, one: inside.Inside, key: int) -> None:
    """Touch the weight of a key in the row of arithmetic."""
    boxes = [box for area in page.locator(".st-key-inside_row .nsewdrag").all() if (box := area.bounding_box())]
    weights = sorted((box for box in boxes if box["height"] > 60), key=lambda box: box["x"])[-2]
    line = weights["height"] / len(one.keys)
    page.mouse.click(weights["x"] + weights["width"] * 0.5 / 1.6, weights["y"] + line * (key + 0.5))


def test_a_click_shows_the_products_of_a_key_and_nothing_fades(visit: Open, server: str) -> None:
    page = visit(f"{server}/inside?kind=Encoder&layer=1&head=2&row=3&level=intermediate")
    drawn(page)
    one = inside.inside(stand_in.record().attention("encoder"), 1, 2, 3)
    key = int(one.weights.argmin())
    touch(page, one, key)
    expect(page).to_have_url(re.compile(f"token={key}"))
    expect(page.locator(".bv-equation")).to_contain_text(inside.equation(one, key)[-1][0])
    settle(page)
    touch(page, one, key)  # which chooses nothing else, so the picture is not drawn again
    page.wait_for_timeout(1000)
    strengths = page.locator(".st-key-inside_row .bars :is(path, .bartext)").evaluate_all(
        "all => all.map(one => { const style = getComputedStyle(one); return style.opacity * style.fillOpacity; })"
    )
    assert len(strengths) >= 2 * len(one.keys)
    assert set(strengths) == {1}


@pytest.mark.thorough
def test_the_formula_is_in_step_with_the_pointer(visit: Open, server: str) -> None:
    page = visit(f"{server}/inside?kind=Encoder&layer=1&head=2&row=3&level=intermediate")
    drawn(page)
    lit = page.locator(".formula .lit")
    assert lit.count() == 0
    for subplot, parts, said in (
        ("xy", ["kj"], "offers"),
        ("x4y", ["softmaxj"], "sum to 1"),
        ("xy2", ["q"], "looks for"),
    ):
        page.locator(f".st-key-inside_row .nsewdrag[data-subplot='{subplot}']").hover()
        expect(page.locator(".formula .say")).to_contain_text(said)
        assert [text.strip() for text in lit.all_inner_texts()] == parts
    page.locator("h1").hover()
    expect(lit).to_have_count(0)


def test_a_phone_shows_the_parts_below_each_other_without_scrolling_sideways(visit: Open, server: str) -> None:
    page = visit(f"{server}/inside?kind=Encoder&layer=1&head=2&row=3", size=(390, 844))
    drawn(page)
    parts = page.locator(".st-key-inside_row .main-svg:first-child")
    boxes = [box for part in parts.all() if (box := part.bounding_box())]
    assert len(boxes) == 3
    for box, after in pairwise(boxes):
        assert box["y"] + box["height"] <= after["y"]
    for box in boxes:
        assert box["x"] >= 0
        assert 300 < box["width"] <= 390 - box["x"]
    player = page.locator(".formula").bounding_box()
    assert player is not None
    assert boxes[0]["y"] + boxes[0]["height"] <= player["y"]  # all rows of the first part are on the first screen
    assert player["y"] + player["height"] <= 844  # with the player below them
    page.get_by_role("button", name="One step back").click()  # from the end: the output, which is below the screen
    expect(page.locator(".st-key-inside_row_values")).to_be_in_viewport(ratio=0.9)
    player, part = page.locator(".formula").bounding_box(), page.locator(".st-key-inside_row_values").bounding_box()
    assert player is not None
    assert part is not None
    assert part["y"] + part["height"] <= player["y"]


@pytest.mark.thorough
def test_the_arithmetic_is_played_step_by_step(visit: Open, server: str) -> None:
    page = visit(f"{server}/inside?kind=Encoder&layer=1&head=2&row=3")
    drawn(page)
    weights = page.locator(".st-key-inside_row .subplot.x4y")
    faint = "e => getComputedStyle(e).opacity < 0.1"
    assert not weights.evaluate(faint)
    page.get_by_role("button", name="One step forward").click()
    expect(page.locator(".formula .say")).to_contain_text("what it looks for")
    assert weights.evaluate(faint)
    page.locator(".formula").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    one = inside.inside(stand_in.record().attention("encoder"), 1, 2, 3)
    expect(page.locator(".formula .say")).to_contain_text(percent(float(one.weights[one.strongest])))
    assert not weights.evaluate(faint)


LONG = "Yesterday Internationalization surprised conscientious extraordinarily experimental representatives"


@pytest.mark.parametrize("level", ["beginner", "intermediate"])
def test_captions_do_not_touch_beside_long_words(visit: Open, shipped: str, level: str) -> None:
    page = visit(f"{shipped}/inside?text={LONG.replace(' ', '+')}&level={level}", size=(1366, 768))
    drawn(page)
    boxes = [box for note in page.locator(".st-key-inside_row .annotation").all() if (box := note.bounding_box())]
    assert len(boxes) >= 6
    for one, other in combinations(boxes, 2):
        beside = max(one["x"], other["x"]) - min(one["x"] + one["width"], other["x"] + other["width"])
        below = max(one["y"], other["y"]) - min(one["y"] + one["height"], other["y"] + other["height"])
        assert max(beside, below) >= 0, (one, other)
