"""The classic view in a browser: drawn without the network, light and dark, with tokens that would be scripts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from tests import stand_in
from tests.browser.conftest import Open, beginning, settle

HOSTILE = "</script><script>document.title='taken'</script>"


def frame(page: Page) -> FrameLocator:
    found = page.frame_locator("[data-testid='stIFrame'], iframe[srcdoc]").first
    expect(found.locator("#vis svg")).to_be_visible()
    return found


@pytest.mark.parametrize("kind", ["Encoder", "Decoder", "Cross"])
def test_the_head_view_draws_every_weight_of_its_layer(visit: Open, server: str, kind: str) -> None:
    view = frame(visit(f"{server}/classic?kind={kind}&layer=2"))
    rows, columns = stand_in.record().attention(kind.lower()).shape[2:]
    expect(view.locator("#attention line")).to_have_count(4 * rows * columns)
    expect(view.locator("#right text").nth(2)).to_have_text("want" if kind != "Decoder" else "Ich")
    expect(view.get_by_text("Layer:")).to_be_hidden()


def test_a_token_under_the_pointer_keeps_its_lines_alone(visit: Open, server: str) -> None:
    view = frame(visit(f"{server}/classic?kind=Encoder"))
    expect(view.locator("#attention")).not_to_have_attribute("visibility", "hidden")
    view.locator("#left text").nth(2).hover()
    expect(view.locator("#attention")).to_have_attribute("visibility", "hidden")
    expect(view.locator("#attention line[visibility='visible']")).to_have_count(4 * 9)


def test_the_model_view_opens_a_head(visit: Open, server: str) -> None:
    page = visit(f"{server}/classic?classic=model+view")
    view = frame(page)
    expect(view.locator(".attn_background")).to_have_count(3 * 4)
    view.locator("#attn_background_1_2 ~ rect").first.click(force=True)
    expect(view.get_by_text("Layer 1, Head 2")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1366


@pytest.mark.parametrize(("scheme", "ink"), [("light", "rgb(29, 36, 48)"), ("dark", "rgb(232, 234, 238)")])
def test_words_are_readable_in_both_schemes(visit: Open, server: str, scheme: str, ink: str) -> None:
    view = frame(visit(f"{server}/classic", scheme=scheme))
    expect(view.locator("#left text").first).to_have_css("fill", ink)


def test_its_place_is_kept_and_it_fits_a_phone(visit: Open, server: str) -> None:
    page = visit(f"{server}/classic", size=(420, 900))
    view = frame(page)
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


@pytest.mark.parametrize("view", ["head+view", "model+view"])
def test_a_token_that_would_like_to_be_a_script_is_a_token(visit: Open, hostile: str, view: str) -> None:
    page = visit(f"{hostile}/classic?kind=Encoder&classic={view}")
    drawn = frame(page)
    if view == "model+view":
        drawn.locator("#attn_background_0_0 ~ rect").first.click(force=True)
    expect(drawn.get_by_text(HOSTILE).first).to_be_visible()
    expect(drawn.get_by_text("나는").first).to_be_visible()
    settle(page)
    assert drawn.locator("img").count() == 0
    assert drawn.locator("html").evaluate("() => document.title") == "bertviz"
