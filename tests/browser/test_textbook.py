"""The textbook page in a browser: it loads quickly, filters, unfolds, and links to the right views."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from bartviz.app.frame import page_list
from bartviz.features import textbook
from bartviz.features.textbook import CLAIMS, measured
from bartviz.features.textbook.judging import BELIEVED, CHAPTERS
from scripts.settled import settle
from tests.browser.conftest import Open, go, take


def judged() -> dict[str, str]:
    """Of each line "holds", "fails", ...: the server's record is of an untrained network, which changes none."""
    return {number: verdict.word for number, verdict in textbook.verdicts(None, measured.verdicts()).items()}


@pytest.mark.thorough
def test_a_beginner_answers_and_goes_on_to_the_next_chapter(server: str, visit: Open) -> None:
    chapter, title = next(iter(CHAPTERS.items()))  # after what many people believe
    words = judged()
    number = next(number for number in BELIEVED if words[number] == "fails")
    page = visit(f"{server}/textbook")
    expect(page.locator("[class*='st-key-claim_open_']")).to_have_count(len(BELIEVED))
    expect(page.locator(".bv-verdict")).to_have_count(0)
    page.locator(f".st-key-claim_open_{number}").get_by_role("button", name="False").click()
    line = page.locator(f".st-key-claim_said_right_{number}")
    expect(line).to_contain_text("You said “False”, and the numbers agree.")
    expect(line.locator(".bv-verdict")).to_contain_text("False")
    page.get_by_role("link", name=f"Next chapter: {title}").click()
    expect(page).to_have_url(re.compile(f"chapter={chapter}"))
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()


def test_two_open_statements_of_a_row_end_level_and_an_answer_pushes_no_other_down(server: str, visit: Open) -> None:
    page = visit(f"{server}/textbook")
    pairs = page.locator("[class*='st-key-textbook_pair_']:not(:has(.st-key-textbook_weights))")
    assert pairs.count() == len(BELIEVED) // 2  # one statement has a picture, and no other beside it
    for pair in pairs.all()[:-1]:
        cards = [card.bounding_box() for card in pair.locator("[class*='st-key-claim_open_']").all()]
        buttons = [button.bounding_box() for button in pair.get_by_role("button", name="True", exact=True).all()]
        for one, other in (cards, buttons):
            assert one is not None
            assert other is not None
            assert one["x"] < other["x"]
            assert (one["y"], one["height"]) == (other["y"], other["height"])
    neighbour = pairs.first.get_by_role("button", name="True", exact=True).last
    before = neighbour.bounding_box()
    pairs.first.get_by_role("button", name="True", exact=True).first.click()
    expect(pairs.first.locator(".bv-outcome")).to_be_visible()
    settle(page)
    after = neighbour.bounding_box()
    assert before is not None
    assert after is not None
    assert after["y"] <= before["y"]


def test_on_a_phone_the_statements_are_below_each_other(server: str, visit: Open) -> None:
    page = visit(f"{server}/textbook", size=(390, 844))
    boxes = [card.bounding_box() for card in page.locator("[class*='st-key-claim_open_']").all()]
    assert len(boxes) == len(BELIEVED)
    assert len({box["x"] for box in boxes if box is not None}) == 1


def test_a_filter_a_line_and_its_link(server: str, visit: Open) -> None:
    page = visit(f"{server}/textbook?level=intermediate")
    page.get_by_role("radio", name="False").click()
    settle(page)
    expect(page).to_have_url(re.compile(r"verdict=fails"))
    line = page.locator("[class*='st-key-claim_fails_6']")
    expect(line).to_contain_text("A BERT of 85 million")
    line.locator("summary").click()
    expect(line.locator("table")).to_contain_text("85,054,464")
    line.get_by_role("link", name="See it: Parameters").click()
    expect(page).to_have_url(re.compile(r"/parameters\?.*of=bert-base-uncased"))
    expect(page.locator(".bv-lead")).to_contain_text("109,514,298")  # with the head: BertForMaskedLM


@pytest.mark.thorough
def test_a_link_opens_a_part_of_a_page(server: str, visit: Open) -> None:
    page = visit(f"{server}/textbook?chapter=masks&level=intermediate")
    page.locator("[class*='st-key-claim_'][class*='_10']").get_by_role(
        "link", name=f"See it: {page_list.page('masks').label}"
    ).click()
    expect(page).to_have_url(re.compile(r"/masks\?.*view=additive"))
    settle(page)
    expect(page.get_by_role("tab", name="About 0 or exactly 0")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".st-key-about")).to_be_in_viewport()  # far below the page's hero
    expect(page.get_by_role("heading", name=page_list.page("masks").title)).not_to_be_in_viewport()
    for word in ("heads", "masks"):  # not by a link that speaks of a part
        go(page, page_list.page(word).label)
        expect(page.get_by_role("heading", name=page_list.page(word).title)).to_be_in_viewport()


@pytest.mark.thorough
def test_a_link_to_a_line_shows_it_and_leaves_alone_who_scrolls(server: str, visit: Open) -> None:
    page = visit(f"{server}/textbook?line=8f")  # the last of a long chapter
    line = page.locator(".bv-claim:has(details[open])")
    expect(line).to_be_in_viewport()
    page.mouse.move(700, 400)
    page.mouse.wheel(0, -20_000)
    expect(page.get_by_role("heading").first).to_be_in_viewport()
    settle(page)
    expect(line).not_to_be_in_viewport()


@pytest.mark.thorough
def test_a_line_about_another_model_runs_it_in_a_new_tab(server: str, visit: Open) -> None:
    page = visit(f"{server}/textbook?chapter=heads&level=intermediate")
    with page.context.expect_page() as opening:
        page.get_by_role("link", name="See it: Compare").first.click()
    opened = opening.value
    expect(opened.get_by_role("combobox", name="Model")).to_have_value("bert-tiny-en")
    assert opened.get_by_test_id("stException").count() == 0


@pytest.mark.thorough
def test_the_table_arrives_as_a_file(server: str, visit: Open, tmp_path: Path) -> None:
    page = visit(f"{server}/textbook?verdict=fails&chapter=sizes")
    words = judged()
    shown = [line for line in CLAIMS if line.chapter == "sizes" and words[line.number] == "fails"]
    expect(page.locator(".bv-claim")).to_have_count(len(shown))
    expect(page.get_by_test_id("stProgress")).to_have_count(0)
    take(page, page.locator(".st-key-ledger_csv button"), tmp_path / "ledger.csv")
    rows = list(csv.DictReader((tmp_path / "ledger.csv").read_text("utf-8-sig").splitlines()))
    assert {row["number"]: row["verdict"] for row in rows} == words  # the whole ledger, whatever is shown
    assert len(rows) == len(CLAIMS) > len(shown) > 0
