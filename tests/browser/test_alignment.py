"""The alignment page in a browser: the picture is fully visible, a manual alignment is judged, a file is downloaded."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from bartviz.analysis import aligners, alignment, gold_alignment
from scripts.settled import settle
from tests.browser.conftest import Open, take
from tests.support import stand_in

PLOT = ".stPlotlyChart .nsewdrag"


def drawn(page: Page) -> None:
    """Wait until both pictures stand."""
    expect(page.locator(".judge button").first).to_be_visible()
    expect(page.locator(PLOT)).to_have_count(1)
    settle(page)


def judge(page: Page, text: str) -> None:
    page.get_by_role("button", name="Alignment as text").click()
    page.get_by_label("Alignment made by hand").fill(text)
    page.get_by_label("Alignment made by hand").press("Control+Enter")
    settle(page)
    page.keyboard.press("Escape")
    settle(page)


@pytest.mark.thorough
def test_a_word_under_the_mouse_says_its_weights(visit: Open, server: str) -> None:
    page = visit(f"{server}/alignment?links=each+output+word+its+strongest&level=intermediate")
    drawn(page)
    page.locator(".judge .output button").first.hover()
    expect(page.locator(".judge .live")).to_contain_text("“Ich” looks most at ")
    page.locator(".bv-lead").first.hover()
    expect(page.locator(".judge .live")).to_contain_text("Touch a word")


def test_words_that_are_not_linked_by_hand_yet_do_not_count(visit: Open, server: str) -> None:
    page = visit(f"{server}/alignment")
    expect(page.locator(".judge svg text").first).to_have_text(re.compile(r"^[<>]?[\d.]+%$"))  # a line's weight
    lead = page.locator(".st-key-alignment_lead .bv-lead")
    page.locator(".judge .source button").first.click()
    page.locator(".judge .output button").first.click()
    expect(lead).to_contain_text("not judged yet")
    expect(page.locator(".bv-note", has_text="■ not judged yet")).to_be_visible()
    settle(page)
    judge(page, "0-0 1-1")  # what is pasted is whole
    expect(lead).not_to_contain_text("not judged yet")


def test_an_alignment_made_by_hand_is_judged_and_the_best_line_chosen(visit: Open, server: str) -> None:
    page = visit(f"{server}/alignment?level=intermediate")
    drawn(page)
    record = stand_in.record()
    text = "0-0 1-1 2?1 3-4 4-2 5-3 6-5"
    judge(page, text)
    ranked = aligners.aligners(record)
    best = aligners.best(ranked, "predicts")
    rate = gold_alignment.score(alignment.links(best.table.weights), gold_alignment.read(text, 7, 6)).error_rate
    expect(page.get_by_test_id("stMetricValue").first).to_have_text(f"{rate:.2f}")
    first = aligners.ranking(ranked, gold=gold_alignment.read(text, 7, 6)).iloc[0]
    table = page.get_by_test_id("stDataFrame").first
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 18, box["y"] + 35 + 17)  # the mark of the first line
    settle(page)
    kind = "layer" if str(first["heads"]).startswith("layer") else "head"
    expect(page).to_have_url(re.compile(f"align={kind}"))
    expect(page.get_by_test_id("stMetricValue").first).to_have_text(f"{first['error rate']:.2f}")


@pytest.mark.thorough
def test_the_line_can_be_downloaded(visit: Open, server: str, tmp_path: Path) -> None:
    page = visit(f"{server}/alignment?align=layer&layer=2&possible=true&level=intermediate")
    drawn(page)
    take(page, page.get_by_role("button", name="Pharaoh"), tmp_path / "links.txt")
    record = stand_in.record()
    weights = alignment.table(record, alignment.heads_of(record, 2)).weights
    wanted = gold_alignment.write(alignment.links(weights), alignment.links(weights, "union"))
    assert (tmp_path / "links.txt").read_text("utf-8").strip() == wanted


@pytest.mark.thorough
def test_choices_keep_their_line_on_a_projector(visit: Open, server: str) -> None:
    page = visit(f"{server}/alignment", size=(1024, 768))
    drawn(page)
    lines = "groups => groups.map(group => new Set([...group.children].map(one => one.offsetTop)).size)"
    assert set(page.get_by_test_id("stMain").get_by_role("radiogroup").evaluate_all(lines)) == {1}
