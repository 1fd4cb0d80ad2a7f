"""Why this word? in a browser: a word is touched or reached by keys, and the strongest words are taken away."""

from __future__ import annotations

import re
from itertools import pairwise
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.browser.lessons import begun


@pytest.mark.parametrize("size", [(1366, 768), (390, 844)], ids=["desk", "phone"])
@pytest.mark.some("desk")
def test_a_word_is_explained_and_its_strongest_words_are_removed(
    visit: Open, shipped: str, size: tuple[int, int]
) -> None:
    page = visit(f"{shipped}/why?row=4", size=size)
    lead = page.locator(".st-key-why_lead .bv-lead")
    expect(lead).to_contain_text("Among the words of the text, “car” and “a” matter most for “Auto”")
    page.locator(".why button", has_text="kaufen").click()
    expect(lead).to_contain_text(
        "“Auto”, which was written earlier, matters most for “kaufen”. Among the words of the text, “buy” matters most."
    )
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(lead).to_contain_text("Among the words of the text, “car” and “a” matter most for “Auto”")
    page.get_by_role("button", name=re.compile("^See what the model writes without .*$")).click()
    expect(page.locator(".bv-why-bars > div")).to_have_count(3)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("size", [(1366, 768), (390, 844)], ids=["desk", "phone"])
@pytest.mark.some("desk")
def test_a_slow_method_is_asked_for_above_words_that_are_shaded(
    visit: Open, shipped: str, size: tuple[int, int]
) -> None:
    text = " ".join(["The cat is sleeping on the sofa and the dog is playing in the garden."] * 7)
    query = {"model": "bart-tiny-denoise", "text": f"{text} The cat is sleeping on the sofa."}
    page = visit(f"{shipped}/why?{urlencode(query)}", size=size)
    expect(page.locator(".st-key-why_lead .bv-lead")).to_contain_text("norms of weighted values points to")
    expect(page.get_by_role("button", name="Ask leave-one-out")).to_be_in_viewport(ratio=1)
    expect(page.locator(".why .source .word").nth(1)).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_word_that_is_chosen_is_said_and_what_a_pressed_button_brings_has_the_focus(
    visit: Open, shipped: str
) -> None:
    page = visit(f"{shipped}/why?row=4")
    spoken = page.locator(".why [aria-live=polite]")
    expect(spoken).to_be_empty()
    page.locator(".why button", has_text="kaufen").focus()
    page.keyboard.press("Enter")
    expect(spoken).to_contain_text("Among the words of the text, “buy” matters most")
    expect(page.locator(".why button", has_text="kaufen")).to_be_focused()
    page.get_by_role("button", name=re.compile("^See what the model writes without .*$")).focus()
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-focus_why_removal .bv-lead")).to_be_focused()
    page.keyboard.press("Tab")  # what was brought is no stop of its own
    expect(page.locator(".st-key-folded_why summary")).to_be_focused()


def test_a_gap_that_is_chosen_keeps_the_focus_with_the_guess_in_it(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/why?{urlencode({'model': 'bert-tiny-en', 'text': 'The [MASK] drinks the [MASK].'})}")
    gap = page.locator(".why button").last
    expect(gap).to_have_text("[MASK]")
    gap.focus()
    page.keyboard.press("Enter")
    expect(gap).not_to_have_text("[MASK]")
    expect(gap).to_be_focused()


def test_explain_more_keeps_the_focus_until_there_is_no_more(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/why?row=4")
    more = page.get_by_role("button", name="Explain more")
    more.focus()
    for level in ("Intermediate", "Expert"):
        page.keyboard.press("Enter")
        expect(page.locator(".bv-level").last).to_have_text(level)
        expect(more if level == "Intermediate" else page.get_by_role("button", name="Explain less")).to_be_focused()


def test_a_line_goes_the_way_of_its_words(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/why?{urlencode({'text': 'אני רוצה ספר'})}")
    words = page.locator(".why .source .word:not(.special)")
    expect(words.first).to_be_visible()
    first, last = words.first.bounding_box(), words.last.bounding_box()
    assert first is not None
    assert last is not None
    assert first["x"] > last["x"]
    sides = page.locator(".why .source .word").evaluate_all(
        "words => words.map((word) => word.getBoundingClientRect()).map(({ left, right }) => [left, right])"
    )
    gaps = [before[0] - after[1] for before, after in pairwise(sides)]
    assert gaps[-1] > gaps[1] / 2 > 0  # the end sign stands as far from the last word as words from each other


def test_a_lesson_is_answered_by_the_words_that_were_read(visit: Open, shipped: str) -> None:
    page = begun(visit, f"{shipped}/why?lesson=why&at=1")
    page.locator(".why .source .word", has_text="car").click()
    expect(page.locator(".bv-answer.bv-said-wrong")).to_contain_text("“car” got 0.05")
    page.locator(".why button[aria-pressed=true]").focus()
    for key in ("ArrowUp", *["ArrowRight"] * 4, "Enter"):
        page.keyboard.press(key)
    expect(page.locator(".bv-answer.bv-said-right")).to_contain_text("“buy”, with 0.86")


def test_the_removal_of_a_lesson_is_read_and_typed(visit: Open, shipped: str) -> None:
    page = begun(visit, f"{shipped}/why?lesson=why&at=5")
    page.get_by_role("button", name=re.compile("^See what the model writes without .*$")).click()
    share = page.locator(".bv-why-bars > div").nth(1).locator("span").inner_text()
    page.locator(".st-key-lesson_number input").fill(share.rstrip("%"))
    page.locator(".st-key-lesson_number input").press("Enter")
    expect(page.locator(".bv-answer.bv-said-right")).to_contain_text("without “buy”")
