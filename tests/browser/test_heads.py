"""The heads page in a browser: a click on a small map makes it large, a row is chosen, a file is taken along."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests import stand_in
from tests.browser.conftest import Open, settle


def drawn(page: Page) -> None:
    """Wait until both pictures stand."""
    expect(page.locator(".stPlotlyChart .nsewdrag")).to_have_count(2, timeout=60_000)
    settle(page)
    page.wait_for_timeout(1000)  # the picture takes its final size


def test_a_click_on_a_small_map_makes_it_the_large_one(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads?layer=0&head=0")
    drawn(page)
    expect(page.locator(".bv-lead")).to_contain_text("Cross L0H0")
    box = page.locator(".stPlotlyChart .nsewdrag").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * 2.45 / 4, box["y"] + box["height"] * 1.45 / 3)  # 3 layers x 4 heads
    expect(page.locator(".bv-lead")).to_contain_text("Cross L1H2", timeout=30_000)
    expect(page).to_have_url(re.compile("head=2"))


def test_the_file_holds_the_weights_of_the_head(visit: Open, server: str, tmp_path: Path) -> None:
    page = visit(f"{server}/heads?layer=2&head=1&reading=reads")
    drawn(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    download.value.save_as(tmp_path / "heads.csv")
    with (tmp_path / "heads.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    cross = stand_in.record().cross
    assert cross is not None
    np.testing.assert_allclose(np.array([row[1:] for row in rows[1:]], float), cross.head(2, 1), atol=1e-5)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_hero_is_seen_without_scrolling(visit: Open, server: str, scheme: str) -> None:
    page = visit(f"{server}/heads", scheme=scheme)
    drawn(page)
    for image in page.locator(".stPlotlyChart .nsewdrag").all():
        box = image.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 768


def test_nothing_hangs_over_the_edge_of_a_phone(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads", size=(420, 900))
    drawn(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
