"""Branches in a browser, with the translator that ships: candidates, typed words, keys, both strips, long texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from scripts.settled import settle
from tests.browser.conftest import COUNT, Open, beginning, go, silent
from tests.browser.test_decoding import counter
from tests.support import stand_in, trees


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that begins with an output of 96 tokens, every third of them Korean: its vocabulary has hardly more."""
    words = ("<s>", *(f" Wort{i}" if i % 3 else " 어텐션" for i in range(94)), "</s>")
    with beginning(tmp_path_factory.mktemp("long"), stand_in.record(output=words)) as address:
        yield address


@pytest.fixture(scope="module")
def beams(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that begins with a beam search."""
    with beginning(tmp_path_factory.mktemp("beams"), trees.record()) as address:
        yield address


def strip(page: Page, which: str) -> list[str]:
    """The labels of a film strip."""
    return page.locator(f".player [data-is={which}] .name").all_inner_texts()


KINS = """tokens => tokens.map(({ textContent, classList }) =>
    [textContent, ["same", "parts", "differs"].find((kin) => classList.contains(kin))])"""


def written(page: Page, which: str) -> list[tuple[str, str]]:
    """The tokens of a written text, and how each relates to the other text."""
    found: list[list[str]] = page.locator(f".player [data-is={which}] > span").evaluate_all(KINS)
    return [(text, kin) for text, kin in found]


def branched(page: Page) -> None:
    expect(page.locator(".player [data-is=twins]")).to_be_visible()
    settle(page)


def test_a_candidate_is_followed_and_dropped_again(shipped: str, visit: Open) -> None:
    page = visit(f"{shipped}/decoding?step=3")
    counter(page, 3, steps=8)
    first = strip(page, "frames")
    other = page.locator(".player .bars li[role=button]").first
    label = other.locator(".name").inner_text()
    other.click()
    branched(page)
    counter(page, 3, steps=8)
    assert strip(page, "twin")[:3] == [*first[:2], label]
    expect(page.locator("[data-is=course]")).to_contain_text(f"The two texts diverge at step 3: “{first[2]}”")
    expect(page.locator("[data-is=branch-said]")).to_contain_text(f"Branch: “{label}”")
    expect(page).to_have_url(re.compile(r"branch=3\.\d+"))
    main, branch = (written(page, f"{name}-written") for name in ("main", "branch"))
    assert (main[2], branch[2]) == ((first[2], "parts"), (label, "parts"))
    assert [text for text, _kin in main] == first
    assert [text for text, _kin in branch] == strip(page, "twin")
    low = page.locator(".player .strip").bounding_box()
    assert low is not None
    assert low["y"] + low["height"] <= 768  # both strips are seen without scrolling
    page.get_by_role("button", name="Drop").click()
    expect(page.locator(".player [data-is=twins]")).to_be_hidden()
    settle(page)
    assert "branch" not in page.url


def test_what_leads_to_another_text_stays_beside_a_branch(shipped: str, visit: Open) -> None:
    page = visit(f"{shipped}/decoding?step=3&level=intermediate")
    page.locator(".player .bars li[role=button]").nth(1).click()
    branched(page)
    slider, shares = page.locator(".player [data-is=temperature]"), page.locator(".player .bars .value")
    expect(slider).to_be_visible()
    before = shares.first.inner_text()
    slider.fill("0")
    expect(page.locator(".player [data-is=degrees]")).not_to_have_text("1.0")
    assert shares.first.inner_text() != before
    followed = page.locator("[data-is=branch-said]").inner_text()
    page.locator(".player form input").fill("x")
    page.locator(".player").get_by_role("button", name="Follow", exact=True).click()
    expect(page.locator("[data-is=branch-said]")).not_to_have_text(followed)
    expect(page).not_to_have_url(re.compile(r"branch="))  # what is typed stays out of the address


TOPS = """() => {
    window.tops = new Set();
    const [main, player] = ["[data-testid=stMain]", ".st-key-player"].map((one) => document.querySelector(one));
    const look = () => {
        window.tops.add(Math.round(player.getBoundingClientRect().top + main.scrollTop));
        requestAnimationFrame(look);
    };
    look();
}"""


def test_the_player_stays_in_its_place_while_a_branch_is_written(shipped: str, visit: Open) -> None:
    page = visit(f"{shipped}/decoding?step=3&level=intermediate&large=true")
    page.evaluate(TOPS)
    page.locator(".player form input").fill("x")
    page.locator(".player").get_by_role("button", name="Follow", exact=True).click()
    branched(page)
    assert page.evaluate("[...window.tops].length") == 1


def stacked(page: Page) -> bool:
    """Whether what stands below each other in the player does not overlap, from what was written to the film."""
    parts = (".output h4", ".output .now", ".heat", ".choice h4", ".bars li:last-child", ".scale", ".note", ".strip")
    boxes = [box for part in parts if (box := page.locator(f".player {part}").bounding_box()) is not None]
    return all(above["y"] + above["height"] <= below["y"] + 1 for above, below in pairwise(boxes))


@pytest.mark.parametrize("level", ["beginner", "expert"])
def test_nothing_in_the_player_lies_over_its_neighbour(shipped: str, visit: Open, level: str) -> None:
    page = visit(f"{shipped}/decoding?step=3&level={level}")
    page.locator(".player").press("Home")  # the note on the first step, which a rule has decided, takes a line or two
    expect(page.locator(".player .note")).not_to_be_empty()
    assert stacked(page)
    page.locator(".player").press("ArrowRight")
    page.locator(".player .bars li[role=button]").nth(1).click()
    branched(page)
    assert stacked(page)


@pytest.mark.parametrize("locale", ["en-US", "ko-KR"])
def test_the_temperature_and_its_button_are_in_one_line(shipped: str, visit: Open, locale: str) -> None:
    page = visit(f"{shipped}/decoding?step=3&level=intermediate", locale=locale)
    for size in ((1366, 768), (1280, 720)):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        settle(page)
        first, last = (page.locator(f".player [data-is={part}]").bounding_box() for part in ("temperature", "draw"))
        assert first is not None
        assert last is not None
        assert last["y"] <= first["y"] + first["height"] / 2 <= last["y"] + last["height"]
        assert first["width"] >= 60


@pytest.mark.thorough
def test_a_branch_is_dropped_even_if_a_step_is_reported_right_after_it(shipped: str, visit: Open) -> None:
    page = visit(f"{shipped}/decoding?step=7&branch=3.77")
    branched(page)
    page.evaluate(COUNT)
    page.locator(".player").press("ArrowRight")
    with silent(shipped):
        page.get_by_role("button", name="Drop").click()
        page.wait_for_function("window.sent === 2")
    expect(page.locator(".player [data-is=twins]")).to_be_hidden()
    counter(page, 8, steps=8)
    settle(page)
    expect(page.locator(".player [data-is=twins]")).to_be_hidden()
    assert "branch" not in page.url


def test_both_texts_are_read_side_by_side_and_on_a_phone_below_each_other(shipped: str, visit: Open) -> None:
    address = f"{shipped}/decoding?step=3&branch=3.77&level=intermediate"
    for size in ((1366, 768), (390, 844)):
        page = visit(address, size=size)
        branched(page)
        parts = page.locator(".written .parts")
        expect(parts).to_have_count(2)
        first, second = (parts.nth(which).bounding_box() for which in (0, 1))
        assert first is not None
        assert second is not None
        across, down = second["x"] - first["x"], second["y"] - first["y"]
        assert across > 300 > abs(down) if size[0] > 800 else down > 0
        assert max(first["y"], second["y"]) + first["height"] < size[1]
        assert parts.first.evaluate("(node) => parseFloat(getComputedStyle(node).fontSize)") >= 20


@pytest.mark.thorough
def test_on_a_narrow_screen_both_strips_stand_under_the_texts(shipped: str, visit: Open) -> None:
    page = visit(f"{shipped}/decoding?step=3&branch=3.77", size=(1024, 768))
    branched(page)
    twins, low = (page.locator(f".player {part}").bounding_box() for part in ("[data-is=twins]", ".strip"))
    assert twins is not None
    assert low is not None
    assert twins["y"] + twins["height"] <= low["y"]
    assert low["y"] + low["height"] <= 768


@pytest.mark.thorough
def test_a_branch_that_is_longer_is_played_to_its_own_end(shipped: str, visit: Open) -> None:
    page = visit(f"{shipped}/decoding?step=7&branch=3.77&level=intermediate", still=False)
    branched(page)
    counter(page, 7, steps=9)
    page.locator("[data-is=speed]").select_option("4")
    page.get_by_role("button", name="Play", exact=True).click()
    counter(page, 9, steps=9)
    expect(page.locator("[data-is=main-said]")).to_contain_text("ended after 8 steps")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    scrub = page.locator(".player [data-is=scrub]")
    assert scrub.input_value() == "8"
    assert "Step 9 of 9: </s>" in (scrub.get_attribute("aria-valuetext") or "")
    page.get_by_role("button", name="Drop").click()
    counter(page, 8, steps=8)
    page.locator(".player").press("ArrowLeft")
    counter(page, 7, steps=8)


@pytest.mark.thorough
def test_a_typed_word_is_followed_and_made_the_main_text(shipped: str, visit: Open) -> None:
    page = visit(f"{shipped}/decoding?step=3&level=intermediate")
    counter(page, 3, steps=8)
    field = page.locator(".player [data-is=said]")
    for blank in ("", "   "):  # refused at the field, without a word to the server
        field.fill(blank)
        field.press("Enter")
        assert field.evaluate("(node) => node.validationMessage").startswith("Type what it should have said")
    field.fill("will")
    field.press("ArrowLeft")  # moves in the text, not through the steps
    counter(page, 3, steps=8)
    field.press("Enter")
    branched(page)
    twin = strip(page, "twin")
    assert twin[2] == "will"
    assert "branch" not in page.url  # a text of the visitor stays out of the link
    page.get_by_role("button", name="Make this the main text").click()
    expect(page.locator(".player [data-is=twins]")).to_be_hidden()
    settle(page)
    assert strip(page, "frames") == twin


@pytest.mark.thorough
def test_a_link_brings_the_branch_and_keys_reach_candidates(shipped: str, visit: Open) -> None:
    page = visit(f"{shipped}/decoding?step=2&branch=3.733")
    branched(page)
    expect(page.locator("[data-is=course]")).to_have_text("Both texts are identical.")
    page.locator(".player").press("Home")
    page.locator(".player").press("ArrowRight")
    candidate = page.locator(".player .bars li[role=button]").first
    label = candidate.locator(".name").inner_text()
    candidate.focus()
    candidate.press("ArrowDown")
    expect(page.locator(".player .bars li[role=button]").nth(1)).to_be_focused()
    page.locator(".player .bars li[role=button]").nth(1).press("ArrowUp")
    candidate.press("Enter")
    expect(page.locator("[data-is=course]")).to_contain_text("The two texts diverge at step 2")
    assert strip(page, "twin")[1] == label


@pytest.mark.thorough
def test_korean_that_the_model_cannot_say_is_still_a_branch(shipped: str, visit: Open) -> None:
    page = visit(f"{shipped}/decoding?step=3&level=intermediate", scheme="dark", size=(420, 900))
    counter(page, 3, steps=8)
    page.locator(".player [data-is=said]").fill("어텐션")
    page.get_by_role("button", name="Follow", exact=True).click()
    branched(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.thorough
def test_the_words_of_a_long_film_are_read_and_the_current_one_is_in_view(long: str, visit: Open) -> None:
    page = visit(f"{long}/decoding?step=70")
    counter(page, 70, steps=96)
    current = page.locator(".player [data-is=frames] .current")
    film = page.locator(".player [data-is=film]").bounding_box()
    assert film is not None
    for key in ("", "End", "ArrowLeft", "Home"):
        if key:
            page.locator(".player").press(key)
        name, box = current.locator(".name"), current.bounding_box()
        expect(name).to_be_visible()
        assert box is not None
        assert box["width"] >= 44  # a finger, and a word of six letters
        assert film["x"] - 1 <= box["x"]
        assert box["x"] + box["width"] <= film["x"] + film["width"] + 1
    scrub = page.locator(".player [data-is=scrub]").bounding_box()
    assert scrub is not None
    assert scrub["width"] <= film["width"] + 1  # the whole text within reach of one pull


@pytest.mark.thorough
def test_the_beam_tree_is_drawn(beams: str, visit: Open) -> None:
    page = visit(f"{beams}/decoding")
    chart = page.locator(".js-plotly-plot").first
    expect(chart.locator(".scatterlayer .textpoint").first).to_be_attached()
    assert chart.locator(".scatterlayer .textpoint").count() == 12
    expect(page.get_by_text("though “Ha” had 50%").first).to_be_visible()
    page.set_viewport_size({"width": 420, "height": 900})  # its words keep their room, the page its width
    page.wait_for_function("document.querySelector('.js-plotly-plot .main-svg').clientWidth >= 700")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.thorough
def test_ctrl_enter_in_a_field_of_a_page_does_not_press_run(shipped: str, visit: Open) -> None:
    page = visit(f"{shipped}/parameters?of=your+own+config.json")
    page.wait_for_selector("body[data-listens]", state="attached")
    field = page.locator("[data-testid=stMain] textarea").first
    field.fill('{"model_type": "bert"}')
    page.evaluate(
        "window.heard = 0; document.addEventListener('keydown', (e) => { if (e.key === 'Enter') window.heard += 1; })"
    )
    field.press("Control+Enter")
    settle(page)
    assert page.evaluate("window.heard") == 0
    go(page, "Heads")  # a page with the field of the sidebar
    page.locator("[data-testid=stSidebar] textarea").first.press("Control+Enter")
    assert page.evaluate("window.heard") == 1
    settle(page)


def test_a_drawn_text_keeps_its_temperature_and_leads_back(shipped: str, visit: Open) -> None:
    page = visit(f"{shipped}/decoding?step=2")
    slider, degrees = page.locator(".player [data-is=temperature]"), page.locator(".player [data-is=degrees]")
    expect(slider).to_be_enabled()
    back = page.get_by_role("button", name="Back to the most likely words")
    expect(back).to_have_count(0)
    first = strip(page, "frames")
    slider.press("End")
    expect(degrees).to_have_text("2.0")
    page.get_by_role("button", name="Pick at random").click()
    expect(back).to_be_visible()
    for name in ("search=sampling", "temperature=2.0", "seed=1"):
        expect(page).to_have_url(re.compile(rf"[?&]{name}(&|$)"))
    expect(degrees).to_have_text("2.0")
    go(page, "Heads")
    go(page, "Choosing words (decoding)")
    expect(degrees).to_have_text("2.0")
    back.click()
    expect(page).not_to_have_url(re.compile("search|temperature|seed"))
    settle(page)
    expect(back).to_have_count(0)
    assert strip(page, "frames") == first
    expect(degrees).to_have_text("1.0")
