"""The classic view in a browser: drawn without the network, light and dark, with tokens that would be scripts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from bartviz import figures
from scripts.settled import settle
from tests.browser.conftest import Open, beginning
from tests.support import stand_in

HOSTILE = "</script><script>document.title='taken'</script>"


def frame(page: Page) -> FrameLocator:
    found = page.frame_locator("[data-testid='stIFrame'], iframe[srcdoc]").first
    expect(found.locator("#vis svg")).to_be_visible()
    return found


@pytest.mark.some("Cross")
@pytest.mark.parametrize("kind", ["Encoder", "Decoder", "Cross"])
def test_the_head_view_draws_every_weight_of_its_layer(visit: Open, server: str, kind: str) -> None:
    view = frame(visit(f"{server}/heads?view=classic&kind={kind}&layer=2"))
    rows, columns = stand_in.record().attention(kind.lower()).shape[2:]
    expect(view.locator("#attention line")).to_have_count(4 * rows * columns)
    expect(view.locator("#right text").nth(2)).to_have_text("want" if kind != "Decoder" else "Ich")
    expect(view.get_by_text("Layer:")).to_be_hidden()


@pytest.mark.thorough
def test_a_token_under_the_pointer_keeps_its_lines_alone(visit: Open, server: str) -> None:
    view = frame(visit(f"{server}/heads?view=classic&kind=Encoder"))
    expect(view.locator("#attention")).not_to_have_attribute("visibility", "hidden")
    view.locator("#left text").nth(2).hover()
    expect(view.locator("#attention")).to_have_attribute("visibility", "hidden")
    expect(view.locator("#attention line[visibility='visible']")).to_have_count(4 * 9)


@pytest.mark.thorough
def test_the_model_view_opens_a_head(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads?view=classic&classic=model+view")
    view = frame(page)
    expect(view.locator(".attn_background")).to_have_count(3 * 4)
    view.locator("#attn_background_1_2 ~ rect").first.click(force=True)
    expect(view.get_by_text("Layer 1, Head 2")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1366


@pytest.mark.thorough
@pytest.mark.parametrize(("scheme", "ink"), [("light", "rgb(29, 36, 48)"), ("dark", "rgb(232, 234, 238)")])
def test_words_are_readable_in_both_schemes(visit: Open, server: str, scheme: str, ink: str) -> None:
    view = frame(visit(f"{server}/heads?view=classic", scheme=scheme))
    expect(view.locator("#left text").first).to_have_css("fill", ink)


@pytest.mark.thorough
def test_its_place_is_kept_and_it_fits_a_phone(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads?view=classic", size=(420, 900))
    view = frame(page)
    settle(page)
    inner = view.locator("#vis svg").bounding_box()
    outer = page.locator("iframe[srcdoc]").first.bounding_box()
    assert inner is not None
    assert outer is not None
    assert inner["height"] <= outer["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 420


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that begins with a token that would like to be a script, and with Korean."""
    record = stand_in.record(source=("<s>", HOSTILE, " 나는", " <img src=//example.org/x>", "</s>"))
    with beginning(tmp_path_factory.mktemp("hostile"), record) as address:
        yield address


@pytest.mark.thorough
@pytest.mark.parametrize("view", ["head+view", "model+view"])
def test_a_token_that_looks_like_a_script_is_escaped(visit: Open, hostile: str, view: str) -> None:
    page = visit(f"{hostile}/heads?view=classic&kind=Encoder&classic={view}")
    drawn = frame(page)
    if view == "model+view":
        drawn.locator("#attn_background_0_0 ~ rect").first.click(force=True)
    expect(drawn.get_by_text(HOSTILE).first).to_be_visible()
    expect(drawn.get_by_text("나는").first).to_be_visible()
    settle(page)
    assert drawn.locator("img").count() == 0
    assert drawn.locator("html").evaluate("() => document.title") == "bertviz"


@pytest.mark.thorough
def test_a_notebook_shows_two_views_side_by_side_and_asks_for_nothing(chrome: Browser) -> None:
    """As a notebook puts them into its page: each in its frame, with the layer to choose, none in the other's way."""
    record = stand_in.record(source=("<s>", HOSTILE, " 나는", "</s>"))
    shown = [figures.classic(record, "encoder"), figures.classic(record, "encoder", view="model", dark=True)]
    page = chrome.new_page()
    asked: list[str] = []
    failed: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.on("console", lambda told: failed.append(told.text) if told.type in ("error", "warning") else None)
    page.set_content("<title>notebook</title>" + "".join(one._repr_html_() for one in shown))
    head, model = (page.frame_locator("iframe").nth(place) for place in (0, 1))
    expect(head.locator("#attention line")).to_have_count(4 * 4 * 4)
    expect(head.get_by_text(HOSTILE).first).to_be_visible()
    for layer in (0, 2):
        head.locator("#layer").select_option(str(layer))
        weight = round(float(record.attention("encoder").head(layer, 0)[1, 2]), 3)
        line = head.locator("[head-index='0'] > [left-token-index='1'] > [right-token-index='2']")
        expect(line).to_have_attribute("stroke-opacity", f"{weight / 4:g}")  # of four heads that are on
    expect(model.locator(".attn_background")).to_have_count(3 * 4)
    expect(model.get_by_text("All 3 x 4 encoder heads")).to_be_visible()
    assert page.title() == "notebook"
    assert (asked, failed) == ([], [])
    page.close()
