"""The heads page in a browser: a click on a small map makes it large, a file is downloaded."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from scripts.settled import settle
from tests.browser.conftest import Open
from tests.support import stand_in


def test_a_click_on_a_small_map_makes_it_the_large_one(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads?layer=0&head=0")
    name = page.locator(".attention [data-is=name]")
    expect(name).to_have_text("Cross L0H0")
    box = page.locator(".attention [data-is=overview]").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + 40)
    expect(name).to_have_text("Cross L0H2")
    expect(page.locator(".bv-lead")).to_contain_text("Cross L0H2")
    expect(page).to_have_url(re.compile("head=2"))


@pytest.mark.thorough
def test_the_picture_stays_where_it_is_when_the_sentence_above_it_wraps(visit: Open, server: str) -> None:
    """A picture that jumped by a line made the next click choose the head above."""
    page = visit(f"{server}/heads?layer=0&head=0")
    expect(page.locator(".attention [data-is=name]")).to_have_text("Cross L0H0")
    settle(page)
    tops, lines = [], []
    for words in (3, 25):  # a line and two
        lead = page.locator(".bv-lead").first
        lead.evaluate("(lead, words) => { lead.textContent = 'sentence '.repeat(words); }", words)
        text = lead.evaluate(
            "lead => { const all = new Range(); all.selectNodeContents(lead);"
            " return new Set([...all.getClientRects()].map(box => box.top)).size; }"
        )
        lines.append(text)
        box = page.locator(".attention").first.bounding_box()
        assert box is not None
        tops.append(box["y"])
    assert lines == [1, 2]
    assert tops[0] == tops[1]


@pytest.mark.thorough
def test_the_file_holds_the_weights_of_the_head(visit: Open, server: str, tmp_path: Path) -> None:
    page = visit(f"{server}/heads?layer=2&head=1&reading=reads")
    expect(page.locator(".attention [data-is=name]")).to_have_text("Cross L2H1")
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV", exact=True).click()
    download.value.save_as(tmp_path / "heads.csv")
    with (tmp_path / "heads.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    cross = stand_in.record().cross
    assert cross is not None
    np.testing.assert_allclose(np.array([row[1:] for row in rows[1:]], float), cross.head(2, 1), atol=1e-5)
