"""The denoising page in a browser, with the shipped models: seeds, links, BERT, downloads, phones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import bartviz
from bartviz.experiments.repair import repair
from bartviz.models.roots import default_roots
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
def test_the_translator_leaves_it_to_the_denoiser_and_the_score_is_the_librarys(visit: Open, shipped: str) -> None:
    page = opened(visit, f"{shipped}/denoising?noise=masking&noise_seed=3")
    expect(page.get_by_text("so bart-tiny-denoise does it here")).to_be_visible()
    model = bartviz.load("bart-tiny-denoise", roots=default_roots())
    found = repair(model, "I want to buy a car.", "token masking", seed=3)
    expect(page.get_by_text(f"accuracy {found.score.accuracy:.3f}")).to_be_visible()
    lost = page.locator(f"{LINES} .bv-lost")
    expect(lost).to_have_count(len(found.noised.lost))
    expect(lost.first).to_have_text(found.noised.clean[found.noised.lost[0]].text)
    said = page.locator(f"{LINES} .bv-kept, {LINES} .bv-right, {LINES} .bv-wrong, {LINES} .bv-added")
    assert said.all_inner_texts() == [one.text for one in found.said]


@pytest.mark.thorough
def test_another_draw_changes_the_link_and_the_link_brings_it_back(visit: Open, shipped: str) -> None:
    page = opened(visit, f"{shipped}/denoising?noise=deletion")
    lines = page.locator(LINES)
    first = lines.inner_text()
    page.get_by_role("button", name="Draw again").click()
    expect(page).to_have_url(re.compile("noise_seed=2"))
    expect(lines).not_to_have_text(first, use_inner_text=True)
    settle(page)
    again = opened(visit, page.url)
    expect(again.locator(LINES)).to_have_text(lines.inner_text(), use_inner_text=True)


def test_bert_is_shown_next_to_bart(visit: Open, shipped: str) -> None:
    page = opened(visit, f"{shipped}/denoising?noise=masking&text_of=one+sentence&look=compare+with+BERT")
    table = page.locator(".bv-guesses")
    expect(table).to_be_visible()
    masks = page.locator(f"{LINES} .bv-mask").count()
    expect(table.locator("tbody tr")).to_have_count(masks)
    expect(table.locator("tbody tr").first.locator("td").nth(3).locator(".bv-guess")).to_have_count(5)
    page.get_by_test_id("stButtonGroup").get_by_text("rotation").click()
    expect(page.get_by_text("BERT has nothing to fill")).to_be_visible()


@pytest.mark.thorough
def test_all_five_noises_are_compared_with_the_card(visit: Open, shipped: str, tmp_path: Path) -> None:
    page = opened(visit, f"{shipped}/denoising?text_of=three+sentences&look=all+five+noises")
    expect(page.get_by_text("from its model card")).to_be_visible()
    with page.expect_download() as download:
        page.locator(".st-key-downloads_denoising-noises").get_by_role("button", name="CSV", exact=True).click()
    download.value.save_as(tmp_path / "noises.csv")
    lines = (tmp_path / "noises.csv").read_text("utf-8-sig").splitlines()
    assert len(lines) == 6
    assert lines[0].startswith("noise,tokens,right,accuracy")


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
    page.get_by_role("button", name="Draw again").click()
    settle(page)
    expect(page.locator(LINES)).to_be_visible()
    page.wait_for_function(f"Math.abs({lines}?.top - {before}) < 2")


@pytest.mark.thorough
@pytest.mark.parametrize("look", ["token by token", "attention", "compare with BERT", "all five noises"])
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
