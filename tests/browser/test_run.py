"""A text typed and run on the trained model, stopped; and what else a visitor does with the frame."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from bartviz.app.frame import page_list
from scripts.settled import settle
from tests.browser.conftest import Open

# A file of this name and text is dropped on the page's title.
DROP = """([name, text]) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([text], name));
    const drop = new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true });
    document.querySelector("h1").dispatchEvent(drop);
}"""


def text_box(page: Page) -> Locator:
    return page.get_by_test_id("stSidebar").get_by_role("textbox", name="Text: type your own", exact=True)


def type_and_run(page: Page, text: str) -> None:
    box = text_box(page)
    box.fill(text)
    box.press("Control+Enter")


def test_a_text_is_typed_and_run_with_ctrl_enter(visit: Open, server: str) -> None:
    page = visit(f"{server}/?level=expert")
    type_and_run(page, "The cat is sleeping on the sofa.")
    above = page.locator(".ribbons .above")
    expect(above).to_contain_text("cat")
    settle(page)
    expect(page.locator(".ribbons .below")).to_contain_text("Katze")
    expect(page.locator(".bv-status")).to_contain_text("bart-tiny-en-de")
    expect(page.locator(".bv-status")).to_contain_text("checked when it was made")
    assert "text=" not in page.url


@pytest.mark.thorough
def test_a_text_file_that_is_dropped_is_read_once_and_the_text_runs_again(visit: Open, server: str) -> None:
    page = visit(server)
    page.evaluate(DROP, ["large.txt", "x" * 8_000_001])
    expect(page.get_by_text("at most 8 MB are opened here")).to_be_visible()
    page.get_by_role("button", name="Close").click()
    settle(page)
    page.evaluate(DROP, ["one.txt", "I have a dog."])
    expect(page.get_by_text("one.txt becomes the text when you press Run.")).to_be_visible()
    settle(page)
    for _run in range(2):  # the file is deleted when it was read
        page.get_by_test_id("stSidebar").get_by_role("button", name="Run").click()
        expect(page.locator(".ribbons .above")).to_contain_text("dog")
        settle(page)
    expect(text_box(page)).to_have_value("I have a dog.")


@pytest.mark.thorough
def test_the_text_stays_when_the_page_changes(visit: Open, server: str) -> None:
    page = visit(server)
    type_and_run(page, "I have a dog.")
    expect(page.locator(".ribbons .above")).to_contain_text("dog")
    page.get_by_role("link", name="How was each word chosen?").click()
    page.get_by_role("heading", name=page_list.page("decoding").title).wait_for()
    settle(page)
    expect(text_box(page)).to_have_value("I have a dog.")


@pytest.mark.thorough
def test_an_address_that_is_typed_offers_the_text_of_before(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads")
    type_and_run(page, "A small mouse is late.")
    expect(page.locator(".bv-ticks, .bv-lead").first).to_be_visible()
    settle(page)
    page.goto(f"{server}/masks")
    settle(page)
    expect(text_box(page)).not_to_have_value("A small mouse is late.")
    page.get_by_role("button", name="Run it again").click()
    expect(text_box(page)).to_have_value("A small mouse is late.")
    settle(page)
    expect(page.get_by_text("Earlier in this tab")).to_have_count(0)
    expect(page.locator(".bv-lead").first).to_be_visible()


def test_odd_texts_are_shown_as_they_are_and_fetch_nothing(visit: Open, server: str) -> None:
    page = visit(server)
    odd = "</script><script>hit=1</script> ![a](http://x.example/a.png) **b** <s> %{z} '\"><img src=x onerror=hit=1>"
    type_and_run(page, odd)
    expect(page.locator(".ribbons .above")).to_contain_text("hit")
    settle(page)
    assert page.evaluate("window.hit") is None
    assert page.locator("img[src='x']").count() == 0


@pytest.mark.thorough
def test_a_change_of_theme_draws_the_figures_again(visit: Open, server: str) -> None:
    page = visit(f"{server}/alignment?level=intermediate")
    paper = "document.querySelector('.js-plotly-plot .main-svg')?.style.background"
    page.wait_for_function(paper)
    light = page.evaluate(paper)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"{paper} !== {light!r}")
    settle(page)
