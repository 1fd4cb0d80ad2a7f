"""The training in the browser: it starts, its loss falls, it stops, goes on, and begins again with another seed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from scripts.settled import settle
from tests.browser.conftest import Open
from tests.features.born.trained import replayed

pytest.importorskip("bartviz.features.born")
UNLEARNED = "It should turn “abcdefg” into “gfedcba”. Nothing has been learned yet: its numbers are random."
PATIENCE = 120_000  # milliseconds: a busy machine learns slowly
STEPPED = """async (slider) => {
    let fastest = Infinity;
    for (let round = 0; round < 30; round++) {
        await new Promise(requestAnimationFrame);
        slider.value = String(round % 3);
        const begun = performance.now();
        slider.dispatchEvent(new Event("input"));
        fastest = Math.min(fastest, performance.now() - begun);
    }
    return fastest;
}"""

FILLED = """(slider) => {
    const fill = CanvasRenderingContext2D.prototype.fill;
    let count = 0;
    CanvasRenderingContext2D.prototype.fill = function (...given) {
        if (this.canvas.classList.contains("curves") && this.globalAlpha < 1) count += 1;
        return fill.apply(this, given);
    };
    slider.dispatchEvent(new Event("input"));
    CanvasRenderingContext2D.prototype.fill = fill;
    return count;
}"""  # how many intervals a step draws


def steps(page: Page) -> int:
    return int(page.locator(".training").get_attribute("data-steps") or 0)


def learns(page: Page, beyond: int) -> None:
    expect(page.locator(".training")).not_to_have_attribute("data-steps", str(beyond), timeout=PATIENCE)


def test_a_training_starts_stops_goes_on_and_begins_again(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/born?width=16")
    training, state = page.locator(".training"), page.locator(".training .state")
    expect(training.locator(".answer b").first).to_have_text("abcdefg", timeout=PATIENCE)
    expect(state).to_have_text(UNLEARNED)
    page.get_by_label("a line from top right to bottom left").check()
    judged = training.locator(".judged")
    height = training.evaluate("(whole) => whole.clientHeight")
    page.get_by_role("button", name="Start training", exact=True).click()
    learns(page, 0)
    learns(page, steps(page))
    expect(judged).to_be_empty()
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(state).to_have_text(re.compile(r"^Stopped\. Step \d+: "), timeout=PATIENCE)
    expect(training.locator(".verdict")).to_contain_text("of its weight on")
    expect(judged).to_have_text(re.compile("^(Your guess was right|You guessed)"))
    assert training.evaluate("(whole) => whole.clientHeight") == height  # nothing moves when it comes
    settle(page)
    before = steps(page)
    assert before > 0

    page.get_by_label("A text of your own").fill("hello")
    page.get_by_role("button", name="Try", exact=True).click()
    expect(training.locator(".answer")).to_have_text("Only the letters a to h, at most 7.")
    page.get_by_label("A text of your own").fill("Deaf")
    page.get_by_role("button", name="Try", exact=True).click()
    expect(training.locator(".answer")).to_contain_text("faed", timeout=PATIENCE)

    page.get_by_role("button", name="Go on", exact=True).click()
    learns(page, before)
    assert steps(page) > before
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(state).to_have_text(re.compile(r"^Stopped\. "), timeout=PATIENCE)
    page.get_by_role("button", name="New random numbers", exact=True).click()
    expect(page).to_have_url(re.compile("seed=2"))
    expect(state).to_have_text(UNLEARNED, timeout=PATIENCE)
    expect(training.locator(".answer")).to_contain_text("faed")


def test_each_picture_of_the_course_has_a_title_and_its_own_legend(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/born?width=16")
    shares, loss = page.locator(".training .shares"), page.locator(".training .loss")
    for said in (
        "How much it gets right",
        "texts it gets right",
        "each head's weight in the right place",
        "Head 1 of layer 0",
    ):
        expect(shares.locator("figcaption")).to_contain_text(said)
    expect(loss.locator("figcaption")).to_have_text("Training loss (0: sure of the right answer)")
    for part in (shares, loss):
        expect(part).to_be_in_viewport(ratio=1)
        assert edge(part.locator("figcaption"), "bottom") <= edge(part.locator("canvas"), "top")


def test_on_a_phone_both_heads_are_on_the_first_screen_before_the_training(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/born?width=16", size=(390, 844))
    maps = page.locator(".training .maps canvas")
    expect(maps).to_have_count(2)
    for each in maps.all():
        expect(each).to_be_in_viewport(ratio=1)
    assert edge(maps.first, "top") == edge(maps.last, "top")
    expect(page.locator(".training .start")).to_be_in_viewport(ratio=1)


def test_on_a_phone_the_map_and_the_curves_are_in_sight_while_it_learns(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/born?width=16", size=(390, 844))
    training = page.locator(".training")
    guess, start, bar = training.locator(".guess"), training.locator(".start"), page.get_by_test_id("stHeader")
    assert edge(guess, "bottom") <= edge(start, "top")  # first the guess, then the start
    start.tap()
    expect(training.locator(".loss")).to_be_in_viewport(ratio=1)
    for part in (".maps", ".shares", ".start"):
        expect(training.locator(part)).to_be_in_viewport(ratio=1)
    assert edge(bar, "bottom") <= edge(start, "top")  # it is not covered
    expect(training.locator(".scale")).to_be_in_viewport(ratio=1)  # which colour stands for which weight
    expect(training.locator(".key.told")).to_be_hidden()  # with a causal mask it would be the line of the right texts


def edge(part: Locator, side: str) -> float:
    """Where the top or the bottom of a part is on the screen, in pixels."""
    return float(part.evaluate("(node, side) => node.getBoundingClientRect()[side]", side))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return replayed(tmp_path_factory.mktemp("trained"))


def test_a_training_is_replayed_moment_by_moment(visit: Open, shipped: str, trained: Path) -> None:
    page = visit(f"{shipped}/born?level=expert")
    field = page.locator("input[type=file]").last
    field.set_input_files(trained)
    replay, slider = page.locator(".replay"), page.get_by_label("Moment of the training")
    expect(replay).to_have_attribute("data-moment", "0", timeout=PATIENCE)
    expect(replay.locator(".state")).to_have_text("Step 0: moment 1 of 3.")
    expect(replay.locator(".keys")).to_contain_text("loss 9.50")
    page.get_by_label(re.compile("Guess first: in which head")).select_option("L1H0")
    slider.focus()
    slider.press("End")
    expect(replay.locator(".state")).to_have_text("Step 900: moment 3 of 3.")
    expect(replay.locator(".verdict")).to_contain_text(
        re.compile(r"Your guess was right: L1H0|You guessed L1H0, and it is L")
    )
    expect(replay.locator(".keys")).to_contain_text("BLEU 20.00")
    before = replay.locator(".map").evaluate("node => node.toDataURL()")
    slider.press("Home")
    expect(replay).to_have_attribute("data-moment", "0")
    assert replay.locator(".map").evaluate("node => node.toDataURL()") != before
    replay.get_by_role("button", name="Play", exact=True).click()
    expect(replay).to_have_attribute("data-moment", "2", timeout=PATIENCE)
    expect(replay.get_by_role("button", name="Play", exact=True)).to_be_visible()

    took = slider.evaluate(STEPPED)  # milliseconds of the fastest step: others share the machine
    assert took < 16 * 0.75


def test_the_intervals_of_all_heads_are_drawn_where_they_can_be_told_apart(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/born?level=expert")
    replay, slider = page.locator(".replay"), page.get_by_label("Moment of the training")
    expect(replay).to_have_attribute("data-moment", "0", timeout=PATIENCE)
    slider.focus()
    slider.press("End")
    heads = replay.locator("select.head option").count()
    expect(replay.locator(".keys")).to_contain_text("each with its 95% interval (faint)")  # alignment, of 500 texts
    assert slider.evaluate(FILLED) == heads > 1
    assert slider.evaluate(STEPPED.replace("round % 3", "9 + round % 3")) < 16 * 0.75  # milliseconds
    slider.press("End")

    replay.locator("select.kind").select_option("encoder")
    replay.locator("select.measure").select_option("same")  # few texts repeat a word
    expect(replay.locator(".keys")).to_contain_text("their 95% intervals overlap")
    assert slider.evaluate(FILLED) == 1
    curves = replay.locator(".curves")
    chosen = replay.locator("select.head option:checked").inner_text()
    box = curves.bounding_box()
    assert box is not None
    for height in (0.05, 0.6):  # two ends of the picture: at least one of their heads is not the chosen one
        curves.hover(position={"x": 0.9 * box["width"], "y": height * box["height"]})
        expect(curves).to_have_attribute("data-pointed", re.compile(r"L\dH\d"))
        if curves.get_attribute("data-pointed") != chosen:
            break
    assert curves.get_attribute("data-pointed") != chosen
    assert slider.evaluate(FILLED) == 2
    page.mouse.move(0, 0)
    expect(curves).to_have_attribute("data-pointed", "")
    assert slider.evaluate(FILLED) == 1
