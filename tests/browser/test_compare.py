"""The compare page in a browser: a click pins a head, a run is kept and opened again, the hero is seen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from bartviz import store
from bartviz.record import Record
from tests import records, stand_in
from tests.browser.conftest import Open, settle


def drawn(page: Page, charts: int = 5) -> None:
    """Wait until all pictures stand."""
    expect(page.locator(".stPlotlyChart .js-plotly-plot .main-svg:first-child")).to_have_count(charts)
    settle(page)
    page.wait_for_timeout(1000)  # the pictures take their final size


def click_on(page: Page, chart: int, across: float, down: float) -> None:
    box = page.locator(".stPlotlyChart .nsewdrag").nth(chart).bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * across, box["y"] + box["height"] * down)


def test_a_click_in_the_matrix_pins_that_head(visit: Open, server: str) -> None:
    page = visit(f"{server}/compare?kind=Encoder&a=encoder+L0H0&b=encoder+L0H1")
    drawn(page)
    click_on(page, 1, 2.5 / 4, 1.5 / 3)  # 3 layers x 4 heads
    expect(page.get_by_text("A: encoder L1H2")).to_be_visible()
    expect(page).to_have_url(re.compile(r"a=encoder(\+|%20)L1H2"))
    page.locator(".st-key-click").get_by_text("B", exact=True).click()
    settle(page)
    click_on(page, 1, 3.5 / 4, 2.5 / 3)
    expect(page.get_by_text("B: encoder L2H3")).to_be_visible()


def test_a_click_on_a_point_pins_its_head(visit: Open, server: str) -> None:
    page = visit(f"{server}/compare?kind=Encoder&a=encoder+L0H0&b=encoder+L0H1")
    drawn(page)
    point = page.locator(".stPlotlyChart").first.locator("path.point").nth(7)
    box = point.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.get_by_text("A: encoder L1H3")).to_be_visible()


def test_a_saved_run_is_opened_as_b(visit: Open, server: str, tmp_path: Path) -> None:
    page = visit(f"{server}/compare?a=cross+L1H1")
    drawn(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Record").click()
    download.value.save_as(tmp_path / "again.safetensors")
    assert store.read(tmp_path / "again.safetensors", Record) == stand_in.record()
    page.get_by_role("button", name="Other run").click()
    page.locator("input[type=file]").last.set_input_files(str(tmp_path / "again.safetensors"))
    expect(page.get_by_text("B: cross L1H1 of stand-in")).to_be_visible()
    expect(page.get_by_text("A and B are the same (")).to_be_visible()


def test_a_run_over_other_tokens_stands_beside_without_a_difference(visit: Open, server: str, tmp_path: Path) -> None:
    records.encoder_only(("[CLS]", "ein", " <b>Wort</b>", "[SEP]")).save(tmp_path / "other.safetensors")
    page = visit(f"{server}/compare?a=encoder+L1H1&kind=Encoder")
    drawn(page)
    page.get_by_role("button", name="Other run").click()
    page.locator("input[type=file]").last.set_input_files(str(tmp_path / "other.safetensors"))
    expect(page.get_by_text("needs the same tokens on both sides").first).to_be_visible()
    drawn(page, charts=4)
    assert page.locator(".stPlotlyChart b").count() == 0  # the label is text, not markup


def test_a_file_that_is_no_record_is_refused_in_words(visit: Open, server: str, tmp_path: Path) -> None:
    (tmp_path / "x.safetensors").write_bytes(b"\x08\x00\x00\x00\x00\x00\x00\x00{}      ")
    page = visit(f"{server}/compare")
    drawn(page)
    page.get_by_role("button", name="Other run").click()
    page.locator("input[type=file]").last.set_input_files(str(tmp_path / "x.safetensors"))
    expect(page.get_by_text("This is not a bartviz record")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_hero_is_seen_without_scrolling(visit: Open, server: str, scheme: str) -> None:
    page = visit(f"{server}/compare", scheme=scheme)
    drawn(page)
    for image in page.locator(".stPlotlyChart .nsewdrag").all()[:2]:
        box = image.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 768


def test_nothing_hangs_over_the_edge_of_a_phone(visit: Open, server: str) -> None:
    page = visit(f"{server}/compare", size=(420, 900))
    drawn(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
