"""The attention canvas in a browser: keys, exact values, selections, long texts, odd tokens, themes, sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from bartviz.analysis import start
from bartviz.app.state import clicks
from bartviz.record.attention import Attention
from scripts.settled import settle
from tests.browser.conftest import COUNT, Open, beginning
from tests.browser.finger import SCROLLED, place_in, swipe
from tests.support import stand_in

LONG = ("<s>", *(f" w{place}" for place in range(510)), "</s>")
# A key in the overview, and what the frame after it shows.
FRAME = """() => new Promise((done) => {
    const hosts = [...document.querySelectorAll("[data-testid=stBidiComponentIsolated]")];
    const root = hosts.map((host) => host.shadowRoot?.querySelector(".attention")).find(Boolean);
    const find = (name) => root.querySelector(`[data-is=${name}]`);
    const key = new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, composed: true });
    find("overview").dispatchEvent(key);
    const told = () => ({ name: find("name").textContent, sent: window.sent });
    requestAnimationFrame(() => done(told())); })"""
SAID = re.compile(r"\((\d+)\) attends to “.*” \((\d+)\): ([\d.]+)$")


def part(page: Page, name: str) -> Locator:
    return page.locator(f".attention [data-is={name}]")


def ready(page: Page, name: str) -> None:
    """Wait until the canvas stands, with these weights."""
    expect(part(page, "name")).to_have_text(name)
    expect(part(page, "said")).not_to_be_empty()
    settle(page)


def cross() -> Attention:
    return stand_in.record().attention("cross")


@pytest.fixture(scope="module")
def long_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that begins with 512 tokens, 6 x 6 heads."""
    record = stand_in.record(LONG, kind="encoder", layers=6, heads=6)
    with beginning(tmp_path_factory.mktemp("long"), record) as address:
        yield address


def test_no_key_is_named_where_there_is_no_keyboard(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads?layer=0&head=0", size=(390, 844))
    ready(page, "Head 0 of layer 0")
    helped = part(page, "keys")
    expect(helped.locator("summary").get_by_text("Keys")).to_be_hidden()
    helped.locator("summary").get_by_text("Tap and zoom").click()
    assert [line for line in helped.locator("dl").inner_text().split("\n") if line] == [
        "tap: choose a row · two fingers: zoom and move"
    ]


@pytest.mark.thorough
def test_keys_lead_through_heads_cells_and_rows(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads?layer=0&head=0&reading=token+it+reads&level=intermediate")
    ready(page, "Cross L0H0")
    overview, plot = part(page, "overview"), part(page, "plot")
    overview.press("ArrowRight")
    overview.press("ArrowDown")
    ready(page, "Cross L1H1")
    expect(page).to_have_url(re.compile("layer=1"))
    expect(page.locator(".bv-lead")).to_contain_text("Cross L1H1")
    overview.press("Enter")
    expect(plot).to_be_focused()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    value = cross().head(1, 1)[4, 1]  # from the first word, row 2
    expect(part(page, "live")).to_have_text(f"cross L1H1. “ein” (4) attends to “I” (1): {value:.3f}")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("row=4"))
    page.keyboard.press("Escape")
    expect(part(page, "said")).to_contain_text("“ein” (4) attends most to")
    page.keyboard.press("]")
    ready(page, "Cross L1H2")
    page.keyboard.press("?")
    expect(part(page, "keys").locator("summary")).to_be_focused()
    expect(part(page, "keys").locator("dl")).to_be_visible()
    page.keyboard.press("?")
    expect(part(page, "keys").locator("dl")).to_be_hidden()
    expect(plot).to_be_focused()


@pytest.mark.thorough
def test_the_means_are_shown_next_to_the_heads(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads?layer=2&head=3")
    ready(page, "Head 3 of layer 2")
    part(page, "overview").press("ArrowRight")
    ready(page, "Mean of the 4 heads of cross layer 2")
    part(page, "overview").press("ArrowDown")
    ready(page, "Mean of all 12 cross heads")
    expect(page.locator(".bv-lead")).to_contain_text("Mean of all 12 cross heads")
    part(page, "overview").press("ArrowUp")
    part(page, "overview").press("ArrowLeft")
    ready(page, "Head 3 of layer 2")


def test_a_hover_shows_the_exact_weight_without_the_server(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads?layer=2&head=1&reading=token+it+reads&level=intermediate")
    ready(page, "Cross L2H1")
    page.evaluate(COUNT)
    box = part(page, "plot").bounding_box()
    assert box is not None
    weights, found = cross().head(2, 1), set()
    for across in np.linspace(0.3, 0.97, 6):
        for down in np.linspace(0.3, 0.9, 6):
            page.mouse.move(box["x"] + box["width"] * across, box["y"] + box["height"] * down)
            page.evaluate("() => new Promise(requestAnimationFrame)")
            said = SAID.search(part(page, "said").inner_text())
            if said is None:
                continue
            row, column = int(said[1]), int(said[2])
            assert said[3] == f"{weights[row, column]:.3f}"
            assert part(page, "tip-value").inner_text() == said[3]
            found.add((row, column))
    assert len(found) > 15
    assert page.evaluate("window.sent") == 0


def test_another_head_is_drawn_in_the_next_frame_before_the_server_hears_of_it(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads?layer=1&head=0")
    ready(page, "Head 0 of layer 1")
    page.evaluate(COUNT)
    frame = page.evaluate(FRAME)
    assert frame == {"name": "Head 1 of layer 1", "sent": 0}
    expect(page.locator(".bv-lead")).to_contain_text("Head 1 of layer 1")


@pytest.mark.thorough
def test_several_rows_and_columns_are_summed(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads?layer=0&head=2&reading=token+it+reads&view=text&level=intermediate")
    ready(page, "Cross L0H2")
    weights = cross().head(0, 2)
    rows, columns = part(page, "query-text").locator("[role=option]"), part(page, "key-text").locator("[role=option]")
    rows.nth(1).click()
    rows.nth(4).click(modifiers=["Control"])
    page.mouse.move(5, 5)
    mean = weights[[1, 4]].mean(axis=0)
    best = int(mean.argmax())
    expect(part(page, "said")).to_contain_text(f"(sum {2 * mean[best]:.3f}, mean {mean[best]:.3f})")
    assert columns.nth(best).get_attribute("title") == f"{mean[best]:.3f}"
    columns.nth(2).click()
    columns.nth(6).click(modifiers=["Shift"])
    page.mouse.move(5, 5)
    expect(part(page, "said")).to_contain_text("5 columns, “want”, “to”, “buy”, “a”, “car”, together get")
    told = re.search(
        r"get (\d\.\d+) from 2 rows \(mean (\d\.\d+)\); mean of all rows (\d\.\d+)", part(page, "said").inner_text()
    )
    assert told is not None
    block = weights[:, 2:7].sum(axis=1)
    np.testing.assert_allclose(
        [float(value) for value in told.groups()],
        [block[[1, 4]].sum(), block[[1, 4]].mean(), block.mean()],
        atol=0.0011,
    )
    expect(page.get_by_text("The numbers in the rows")).to_be_visible()
    assert part(page, "query-text").locator("[aria-selected=true]").count() == 2


@pytest.mark.thorough
def test_a_drag_along_an_axis_selects_its_tokens(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads?layer=0&head=2&reading=token+it+reads")
    ready(page, "Head 2 of layer 0")
    box = part(page, "plot").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 10, box["y"] + box["height"] * 0.5)
    page.mouse.down()
    page.mouse.move(box["x"] + 10, box["y"] + box["height"] * 0.75, steps=6)
    page.mouse.up()
    page.mouse.move(5, 5)
    expect(part(page, "said")).to_contain_text(re.compile(r"^\d rows, "))


@pytest.mark.thorough
def test_the_table_holds_the_weights(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads?kind=Decoder&layer=1&head=1&reading=token+it+reads&level=intermediate")
    ready(page, "Decoder L1H1")
    part(page, "details").locator("summary").click()
    weights = stand_in.record().attention("decoder").head(1, 1)
    rows = part(page, "table").locator("tbody tr")
    third = [*(f"{value:.3f}" for value in weights[2, :3]), *["masked"] * (len(weights) - 3)]
    expect(rows.nth(2).locator("td")).to_have_text(third)
    chosen = part(page, "table").locator("tr.chosen th")
    before = chosen.inner_text()
    rows.nth(0).evaluate("(row) => { row.dataset.same = 'yes'; }")
    part(page, "overview").press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(chosen).not_to_have_text(before)
    expect(chosen).to_have_count(1)
    expect(part(page, "table").locator("[aria-current] th")).to_have_text(chosen.inner_text())
    assert rows.nth(0).get_attribute("data-same") == "yes"  # the table was not made anew
    expect(part(page, "said")).to_contain_text(re.compile(rf"\({chosen.inner_text().split()[0]}\) attends"))


@pytest.mark.thorough
def test_512_tokens_come_as_small_maps_and_one_exact_on_demand(visit: Open, long_server: str) -> None:
    page = visit(f"{long_server}/heads?layer=0&head=0&row=7&level=intermediate")
    ready(page, "Encoder L0H0")
    expect(part(page, "said")).to_contain_text("“w6” (7) attends most to")
    part(page, "overview").press("ArrowDown")
    ready(page, "Encoder L1H0")
    attention = stand_in.record(LONG, kind="encoder", layers=6, heads=6).attention("encoder")
    row = attention.head(1, 0)[7]
    expect(part(page, "said")).to_contain_text(f"“{attention.key.labels[int(row.argmax())]}” ({row.max():.3f})")
    plot = part(page, "plot")
    plot.focus()
    for key in ("ArrowRight", "ArrowRight", "+", "+", "+", "+", "+"):
        page.keyboard.press(key)
    expect(part(page, "live")).to_contain_text(f"“w6” (7) attends to “w1” (2): {row[2]:.3f}")
    page.evaluate(COUNT)
    box = plot.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.wheel(0, -500)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 - 60, box["y"] + box["height"] / 2 - 40, steps=5)
    page.mouse.up()
    page.evaluate("() => new Promise(requestAnimationFrame)")
    said = SAID.search(part(page, "said").inner_text())
    assert said is not None
    assert said[3] == f"{attention.head(1, 0)[int(said[1]), int(said[2])]:.3f}"
    assert page.evaluate("window.sent") == 0
    page.mouse.move(5, 5)
    part(page, "overview").press("ArrowUp")
    expect(part(page, "said")).to_contain_text("“w6” (7) attends most to")  # it was here before


@pytest.mark.thorough
@pytest.mark.parametrize("view", ["map", "lines", "text"])
def test_tokens_stay_text(visit: Open, odd_server: str, view: str) -> None:
    page = visit(f"{odd_server}/heads?view={view}&kind=Encoder&layer=0&head=0&row=5&level=intermediate")
    ready(page, "Encoder L0H0")
    expect(part(page, "said")).to_contain_text("“어텐션” (5) attends most to “**b**”")
    assert page.locator(".attention img, .attention b:not([data-is]), .attention script").count() == 0
    part(page, "details").locator("summary").click()
    expect(part(page, "table")).to_contain_text("<img src=x onerror=alert(1)>")


def test_a_link_selects_head_row_and_view_and_the_page_updates_it(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads?kind=Encoder&layer=2&head=3&row=4&view=lines")
    ready(page, "Head 3 of layer 2")
    expect(part(page, "lines")).to_have_attribute("aria-pressed", "true")
    expect(part(page, "said")).to_contain_text("“buy” looks most at")
    part(page, "text").click()
    expect(page).to_have_url(re.compile("view=text"))
    expect(part(page, "said")).to_contain_text("“buy” looks most at")


@pytest.mark.thorough
def test_the_focus_stays_when_another_view_comes(visit: Open, server: str) -> None:
    row = start.row_of(stand_in.record(), "cross")  # at first
    page = visit(f"{server}/heads?layer=1&head=0")
    ready(page, "Head 0 of layer 1")
    part(page, "plot").press("3")
    expect(part(page, "query-text")).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"row={row + 1}"))
    page.keyboard.press("2")
    expect(part(page, "plot")).to_be_focused()


def test_a_picker_moves_the_canvas_and_the_canvas_the_page_again(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads?layer=1&head=0&level=intermediate")
    ready(page, "Cross L1H0")
    part(page, "overview").press("ArrowRight")
    expect(page.locator(".bv-lead")).to_contain_text("Cross L1H1")
    page.get_by_text("Settings", exact=True).click()
    page.wait_for_timeout(1000 * clicks.LAG)  # a control set back sooner is taken for a message of before
    page.get_by_role("radio", name="mean of its layer").click()
    expect(page.locator(".bv-lead")).to_contain_text("Mean of")
    page.wait_for_timeout(1000 * clicks.LAG)
    page.get_by_role("radio", name="one head").click()
    ready(page, "Cross L1H1")
    expect(page.locator(".bv-lead")).to_contain_text("Cross L1H1")
    part(page, "overview").press("ArrowRight")
    expect(page.locator(".bv-lead")).to_contain_text("Cross L1H2")


@pytest.mark.thorough
def test_what_is_selected_and_pointed_at_outlives_a_run_and_a_theme(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads?layer=1&head=0&reading=token+it+reads&level=intermediate")
    ready(page, "Cross L1H0")
    box = part(page, "plot").bounding_box()
    assert box is not None
    place = (box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.6)
    page.mouse.click(*place)
    expect(part(page, "said")).to_have_text(SAID)
    said = part(page, "said").inner_text()
    settle(page)
    page.emulate_media(color_scheme="dark")
    settle(page)
    assert part(page, "said").inner_text() == said
    assert part(page, "plot").bounding_box() == box


@pytest.mark.thorough
def test_one_key_enlarges_the_type(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads?layer=1&head=0")
    ready(page, "Head 0 of layer 1")
    small = part(page, "name").evaluate("node => getComputedStyle(node).fontSize")
    part(page, "overview").press("l")
    large = part(page, "name").evaluate("node => getComputedStyle(node).fontSize")
    assert float(large.removesuffix("px")) > 1.3 * float(small.removesuffix("px"))
    expect(part(page, "large")).to_have_attribute("aria-pressed", "true")


def test_a_finger_that_scrolls_over_the_map_chooses_nothing(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads?layer=1&head=0&row=3", size=(390, 844))
    ready(page, "Head 0 of layer 1")
    plot, address = part(page, "plot"), page.url
    page.evaluate(COUNT)
    for across, down in ((0.5, 0.05), (0.03, 0.6), (0.6, 0.6)):  # over a column's label, a row's label, a cell
        place = place_in(plot, across, down)
        above = page.evaluate(SCROLLED)
        swipe(page, place, up=150)
        page.wait_for_function(f"{SCROLLED} > {above} + 100")
    assert page.evaluate("window.sent") == 0
    assert page.url == address
    page.touchscreen.tap(*place_in(plot, 0.5, 0.05))
    expect(page).to_have_url(re.compile("chosen_column="))
    page.touchscreen.tap(*place_in(plot, 0.03, 0.9))
    expect(page).not_to_have_url(re.compile(r"\brow=3\b"))


@pytest.mark.thorough
def test_two_fingers_zoom_and_move_the_map(visit: Open, long_server: str) -> None:
    page = visit(f"{long_server}/heads?layer=0&head=0&row=7", size=(420, 900))
    ready(page, "Head 0 of layer 0")
    plot = part(page, "plot")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    said = part(page, "said").inner_text()
    fingers = page.context.new_cdp_session(page)
    middle, apart = (box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.6), 20.0

    def touch(kind: str, *points: tuple[float, float]) -> None:
        told = [{"x": x, "y": y, "id": name} for name, (x, y) in enumerate(points)]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": told})

    def spread(wide: float, moved: float = 0.0) -> tuple[tuple[float, float], tuple[float, float]]:
        x, y = middle[0] + moved, middle[1]
        return (x - wide, y), (x + wide, y)

    scroll = page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop")
    page.evaluate(COUNT)
    before = zoom(page)
    touch("touchStart", *spread(apart))
    for wide in (30.0, 50.0, 80.0, 120.0):
        touch("touchMove", *spread(wide))
    touch("touchMove", *spread(120.0, -30.0))
    touch("touchEnd")
    page.evaluate("() => new Promise(requestAnimationFrame)")
    assert before == (0.0, 1.0)
    left, factor = zoom(page)
    assert factor == pytest.approx(6, rel=0.05)
    assert left > 100
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") == scroll
    assert part(page, "said").inner_text() == said  # no row was chosen by it
    assert page.evaluate("window.sent") == 0


def zoom(page: Page) -> tuple[float, float]:
    """The first column that is seen, and how much larger than fitted the map is: as the canvas's own node says."""
    seen = part(page, "plot").evaluate("node => [node.dataset.column ?? 0, node.dataset.zoom ?? 1].map(Number)")
    return seen[0], seen[1]


@pytest.mark.thorough
def test_the_canvas_speaks_korean(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads?layer=0&head=0&reading=reads", locale="ko-KR")
    expect(part(page, "name")).to_have_text("0층의 헤드 0")
    expect(part(page, "said")).to_contain_text("가장 많이 보는 곳")
    expect(part(page, "lines")).to_have_text("선")
    expect(part(page, "overview")).to_have_attribute("aria-label", re.compile("화살표 키"))
    part(page, "overview").press("ArrowRight")
    expect(part(page, "name")).to_have_text("0층의 헤드 1")
    english = re.compile(r"\b(the|row|column|head|attends?|looks?|weight|masked)\b", re.IGNORECASE)
    found = english.search(page.locator(".attention").inner_text())
    assert found is None, found
