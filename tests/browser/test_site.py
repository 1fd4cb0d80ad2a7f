"""The documentation site from its folder, without a network: nothing is asked for, nothing serious is found."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from scripts import site
from tests.browser.test_accessibility import AXE

pytestmark = pytest.mark.slow
FOUND = """async () => (await axe.run(document, { iframes: false, resultTypes: ["violations"] })).violations
    .filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, nodes }) => [id, nodes.map((node) => node.target.join(" ") + ": " + node.failureSummary)])"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return site.build(tmp_path_factory.mktemp("site") / "docs", execute=False)


def watched(page: Page) -> list[str]:
    """The addresses that the page asks for, from now on."""
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    page.on("request", note)
    return asked


@pytest.mark.parametrize("name", ["index", "quickstart.ko", "deploy", "views/heads", "reference"])
def test_a_page_is_whole_in_both_schemes_and_widths(name: str, pages: Path, chrome: Browser) -> None:
    for scheme, width in (("light", 1366), ("dark", 390)):
        context = chrome.new_context(
            color_scheme="dark" if scheme == "dark" else "light", viewport={"width": width, "height": 800}
        )
        page = context.new_page()
        asked = watched(page)
        page.goto((pages / f"{name}.html").as_uri())
        page.evaluate(AXE.read_text("utf-8"))
        assert page.evaluate(FOUND) == [], f"{scheme}, {width} wide"
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
        context.close()


def test_the_explorer_is_live_in_its_page(pages: Path, chrome: Browser) -> None:
    page = chrome.new_page()
    page.goto((pages / "views" / "heads.html").as_uri())
    page.locator("iframe.explorer").scroll_into_view_if_needed()
    expect(page.frame_locator("iframe.explorer").get_by_text("Encoder L1H2").first).to_be_visible()
    page.close()
