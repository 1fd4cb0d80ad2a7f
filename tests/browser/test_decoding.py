"""The decoding page in a browser: keys, playback without traffic, links, labels, sizes."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from bartviz.analysis import decoding, start
from bartviz.language.percentages import percent
from scripts.settled import settle
from tests.browser.conftest import COUNT, Open, go, silent, take
from tests.support import stand_in

# Every step that the player shows from now on, with the messages that were sent by then.
COUNTER = """() => { window.seen = [];
    const hosts = [...document.querySelectorAll("[data-testid=stBidiComponentIsolated]")];
    const counter = hosts.map((host) => host.shadowRoot?.querySelector(".player [data-is=counter]")).find(Boolean);
    const note = () => window.seen.at(-1)?.[0] === counter.textContent ||
        window.seen.push([counter.textContent, window.sent]);
    new MutationObserver(note).observe(counter, { childList: true, characterData: true, subtree: true }); }"""


def counter(page: Page, step: int, steps: int = 9) -> None:
    """Wait until the player stands at this step."""
    expect(page.locator(".player [data-is=counter]")).to_have_text(f"{step} / {steps}")


@pytest.mark.thorough
def test_keys_step_and_the_link_follows_when_the_visitor_rests(server: str, visit: Open) -> None:
    page = visit(f"{server}/decoding?step=1&level=intermediate")
    player = page.locator(".player")
    player.focus()
    for _ in range(3):
        player.press("ArrowRight")
    player.press("ArrowLeft")
    counter(page, 3)
    expect(page).to_have_url(re.compile("step=3"))
    player.press("End")
    counter(page, 9)
    expect(page.locator("[data-is=sentence]")).to_contain_text("Stopped: </s>.")
    player.press("Home")
    counter(page, 1)


def test_a_link_restores_step_and_labels(server: str, visit: Open) -> None:
    page = visit(f"{server}/decoding?step=4&reading=reads&level=intermediate")
    counter(page, 4)
    expect(page.locator(".player .now")).to_have_text("ein")
    assert page.locator("[data-is=reads]").get_attribute("aria-pressed") == "true"
    expect(page.locator("[data-is=axes]")).to_contain_text("Row 4 reads “möchte” and predicts “ein”")


def test_playback_reaches_the_end_and_only_then_talks_to_the_server(server: str, visit: Open) -> None:
    page = visit(f"{server}/decoding?step=7&level=intermediate", still=False)
    page.locator("[data-is=speed]").select_option("4")
    page.evaluate(COUNT)
    page.evaluate(COUNTER)
    page.get_by_role("button", name="Play", exact=True).click()
    counter(page, 9)
    assert ["8 / 9", 0] in page.evaluate("window.seen")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("step=9"))
    assert page.evaluate("window.sent") > 0


@pytest.mark.thorough
def test_space_plays_and_pauses(server: str, visit: Open) -> None:
    page = visit(f"{server}/decoding")
    page.locator(".player").press(" ")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.locator(".player").press(" ")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


@pytest.mark.thorough
def test_the_source_is_shaded_by_the_weights_of_the_step(server: str, visit: Open) -> None:
    page = visit(f"{server}/decoding?step=5")
    counter(page, 5)
    head = start.ribbons(stand_in.record()).head  # at first that of the start page
    weights = decoding.alignment(stand_in.record(), layer=head.layer, head=head.head)[4]
    chips = page.locator("[data-is=source] .token, [data-is=source] .special")
    shown = [chips.nth(i).get_attribute("title") for i in range(chips.count())]
    assert shown == [f"weight {percent(weight)}" for weight in weights]


def test_a_beginner_sees_one_text_shaded_few_candidates_and_what_the_steps_bars_are(shipped: str, visit: Open) -> None:
    def written(level: str) -> tuple[set[str], int]:
        page = visit(f"{shipped}/decoding?step=5&level={level}", size=(1366, 1000))
        counter(page, 5, 8)
        expect(page.locator(".film h4")).to_have_text("All steps: the taller the bar, the likelier its token")
        colors = page.locator("[data-is=output] :is(.token, .special):not([hidden])").evaluate_all(
            "all => all.map((node) => getComputedStyle(node).backgroundColor)"
        )
        return set(colors), page.locator(".player .bars li").count()

    shades, bars = written("beginner")
    assert shades == {"rgba(0, 0, 0, 0)"}  # only what is read is shaded: where it looks
    assert 6 <= bars <= 7  # and one of all others
    shades, more = written("expert")
    assert len(shades) > 1
    assert more > bars


@pytest.mark.thorough
def test_another_head_keeps_the_step(server: str, visit: Open) -> None:
    page = visit(f"{server}/decoding?step=5&level=intermediate")
    counter(page, 5)
    before = page.locator("[data-is=source] .token").first.get_attribute("title")
    page.get_by_role("button", name="Layer and head").click()
    page.get_by_role("radio", name="mean of all").click()
    settle(page)
    expect(page.locator("[data-is=matrix-title]")).to_have_text("Alignment so far: cross, mean of 3 layers x 4 heads")
    counter(page, 5)
    assert page.locator("[data-is=source] .token").first.get_attribute("title") != before


@pytest.mark.thorough
def test_the_place_is_found_again_after_another_page(server: str, visit: Open) -> None:
    page = visit(f"{server}/decoding")
    page.locator(".player").press("End")
    expect(page).to_have_url(re.compile("step=9"))
    go(page, "Start")
    expect(page.locator(".player")).to_have_count(0)
    go(page, "Choosing words (decoding)")
    counter(page, 9)


@pytest.mark.thorough
def test_rows_are_renamed_without_moving(server: str, visit: Open) -> None:
    page = visit(f"{server}/decoding?step=5&level=expert")  # others meet one name
    page.locator("[data-is=reads]").click()
    settle(page)
    expect(page).to_have_url(re.compile("reading=reads"))
    counter(page, 5)


@pytest.mark.thorough
def test_a_projectors_width_keeps_the_film_in_view_and_the_candidates_beside_it(server: str, visit: Open) -> None:
    page = visit(f"{server}/decoding?step=5", size=(1024, 768))
    counter(page, 5)
    strip, bars = page.locator(".player .strip").bounding_box(), page.locator(".player .bars").bounding_box()
    assert strip is not None
    assert bars is not None
    assert strip["y"] + strip["height"] <= 769
    assert bars["y"] + 100 <= strip["y"]  # five candidates at least
    page.locator(".player").press("End")
    counter(page, 9)
    assert (page.locator(".player .strip").bounding_box() or strip)["y"] == strip["y"]


@pytest.mark.thorough
def test_nothing_is_wider_than_a_phone(server: str, visit: Open) -> None:
    page = visit(f"{server}/decoding?step=5", size=(420, 900))
    counter(page, 5)
    box = page.locator(".player").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 420
    inside = page.evaluate(
        """() => { const host = [...document.querySelectorAll("[data-testid=stBidiComponentIsolated]")]
            .find((h) => h.shadowRoot?.querySelector(".player")); const p = host.shadowRoot.querySelector(".player");
            return p.scrollWidth <= p.clientWidth; }"""
    )
    assert inside


@pytest.mark.thorough
def test_the_steps_are_downloaded_as_csv(server: str, visit: Open, tmp_path: Path) -> None:
    page = visit(f"{server}/decoding")
    take(page, page.get_by_role("button", name="CSV", exact=True).first, tmp_path / "steps.csv")
    with (tmp_path / "steps.csv").open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["predicts"] for line in lines] == list(stand_in.OUTPUT[:1]) + [t.strip() for t in stand_in.OUTPUT[1:]]
    rules = [step.rule or "" for step in stand_in.record().steps]
    assert any(rules)
    assert [line["rule"] for line in lines] == rules  # the record's own names, not the film's short tags


def test_the_player_and_the_canvas_of_all_heads_move_together(server: str, visit: Open) -> None:
    page = visit(f"{server}/decoding?step=4&step_weights=head&layer=1&head=0&reading=reads&level=intermediate")
    counter(page, 4)
    assert page.locator(".attention").count() == 0
    page.get_by_text("All heads at this step").click()
    said, name = (page.locator(f".attention [data-is={part}]") for part in ("said", "name"))
    expect(said).to_contain_text("(3) attends most to")
    expect(page).to_have_url(re.compile("all_heads=true"))
    settle(page)
    with silent(server):  # nothing of this needs it
        page.locator(".player").press("ArrowRight")  # the player leads
        counter(page, 5)
        expect(said).to_contain_text("(4) attends")
        page.locator(".attention [data-is=overview]").press(",")  # the canvas leads
        counter(page, 4)
        page.get_by_role("button", name="One step forward").last.click()
        counter(page, 5)
        expect(page.locator(".attention [data-is=step-count]")).to_have_text("5 / 9")
    page.locator("h1").click()
    page.keyboard.press("ArrowRight")  # where nothing has the focus it is the player's
    counter(page, 6)
    expect(said).to_contain_text("(5) attends")
    expect(name).to_have_text("Cross L1H0")


@pytest.mark.thorough
def test_a_head_chosen_among_all_is_the_players(server: str, visit: Open) -> None:
    page = visit(f"{server}/decoding?step=4&layer=1&head=1&all_heads=true")
    expect(page.locator(".attention [data-is=name]")).to_have_text("Head 1 of layer 1")
    page.locator(".attention [data-is=overview]").press("ArrowRight")
    expect(page.locator(".player")).to_contain_text("head 2 of layer 1")
    expect(page).to_have_url(re.compile("head=2"))
    counter(page, 4)
    page.get_by_role("button", name="Layer and head").click()
    page.get_by_role("slider", name="Head").press("ArrowRight")
    expect(page.locator(".attention [data-is=name]")).to_have_text("Head 3 of layer 1")
    expect(page.locator(".attention [data-is=step-count]")).to_have_text("4 / 9")


@pytest.mark.thorough
def test_a_row_of_the_canvas_is_a_step(server: str, visit: Open) -> None:
    page = visit(f"{server}/decoding?step=4&all_heads=true&level=intermediate")
    overview = page.locator(".attention [data-is=overview]")
    expect(page.locator(".attention [data-is=step-count]")).to_have_text("4 / 9")
    page.locator("[data-is=speed]").select_option("0.5")  # it must not come to its end meanwhile
    overview.press("Enter")
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    counter(page, 6)
    page.keyboard.press("p")
    expect(page.locator(".player").get_by_role("button", name="Pause")).to_be_visible()
    page.keyboard.press("p")
    expect(page.locator(".player").get_by_role("button", name="Play", exact=True)).to_be_visible()


@pytest.mark.thorough
def test_the_player_speaks_korean(server: str, visit: Open) -> None:
    page = visit(f"{server}/decoding?step=5", locale="ko-KR")
    counter(page, 5)
    expect(page.locator("[data-is=sentence]")).to_contain_text("모델은")
    expect(page.get_by_role("button", name="재생", exact=True)).to_be_visible()
    english = re.compile(r"\b(the|row|step|chosen|layer|looks?|reused|cache|bits)\b", re.IGNORECASE)
    found = english.search(page.locator(".player").inner_text())
    assert found is None, found
