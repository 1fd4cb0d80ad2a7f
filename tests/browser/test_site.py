"""The documentation site: it builds without warnings, asks no other host, and its links lead somewhere.

The browser opens it from its folder, without a network. It is built once for all of these tests, without the results of
notebooks, which tests/test_documents_run.py runs.
"""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from bartviz.app.frame import page_list
from scripts import site
from tests.browser.axe import AXE

pytestmark = [pytest.mark.slow, pytest.mark.thorough]
LOADED = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src", "object": "data"}
MADE = ("explorer", "alive")  # folders of pages that bartviz makes
FOUND = """async () => (await axe.run(document, { iframes: false, resultTypes: ["violations"] })).violations
    .filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, nodes }) => [id, nodes.map((node) => node.target.join(" ") + ": " + node.failureSummary)])"""


class Read(HTMLParser):
    """What a page loads, where its links lead, and the anchors that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif LOADED.get(tag) in given and given.get("rel") not in ("canonical",):
            self.loads.append(given[LOADED[tag]])


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return site.build(tmp_path_factory.mktemp("site") / "docs", execute=False)  # fails for a warning


@pytest.fixture(scope="module")
def pages(built: Path) -> dict[Path, Read]:
    """Every page of our own, read."""
    return {path: Read(path.read_text("utf-8")) for path in built.rglob("*.html") if path.parent.name not in MADE}


def test_no_page_loads_anything_from_another_host(pages: dict[Path, Read]) -> None:
    assert [(path.name, load) for path, page in pages.items() for load in page.loads if urlsplit(load).netloc] == []
    styles = [
        file.read_text("utf-8") for path in pages if path.name == "index.html" for file in path.parent.rglob("*.css")
    ]
    assert styles
    assert not [style for style in styles if "url(http" in style or "url(//" in style or "@import" in style]


def test_links_and_what_is_loaded_are_there(pages: dict[Path, Read]) -> None:
    lost = []
    for path, page in pages.items():
        for address in [*page.links, *page.loads]:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            here = pages.get(target)
            if not target.exists() or (here and parts.fragment and unquote(parts.fragment) not in here.anchors):
                lost.append((path.name, address))
    assert lost == []


def test_every_view_has_a_page_and_some_the_explorer(pages: dict[Path, Read]) -> None:
    found = {path.stem: page for path, page in pages.items() if path.parent.name == "views"}
    assert {entry.word for entry in page_list.PAGES} == found.keys() - {"index"}
    pictures = {word for word in found if (site.ROOT / "docs" / f"{word}.png").is_file()}
    assert len(pictures) > 9
    assert {word for word, page in found.items() if any(load.endswith(".png") for load in page.loads)} == pictures
    live = {word for word, page in found.items() if any("explorer/" in load for load in page.loads)}
    assert {"heads", "decoding"} <= live


def test_a_model_runs_in_the_guide(chrome: Browser, built: Path) -> None:
    page = chrome.new_page(viewport={"width": 1366, "height": 900}, offline=True)
    page.goto((built / "guides" / "alive.html").as_uri())
    frame = page.frame_locator("iframe.explorer")
    frame.locator("textarea[data-is=text]").fill("It is late.")
    frame.locator("[data-is=run]").click()
    expect(frame.locator("[data-is=source]").first).to_have_text("It is late.", timeout=60_000)
    for name in site.ALIVE[1:]:
        assert page.locator(f"a[href='../alive/{name}.html']").count() == 1
        assert (built / "alive" / f"{name}.html").stat().st_size > 1_000_000
    page.close()


def test_the_korean_page_says_so(pages: dict[Path, Read]) -> None:
    (korean,) = [path for path in pages if path.name == "quickstart.ko.html"]
    assert 'lang="ko"' in korean.read_text("utf-8").split(">", 2)[1]


def watched(page: Page) -> list[str]:
    """The addresses that the page asks for, from now on."""
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    page.on("request", note)
    return asked


@pytest.mark.some("quickstart.ko", "views/heads")
@pytest.mark.parametrize("name", ["index", "quickstart.ko", "deploy", "views/heads", "reference"])
def test_a_page_is_whole_in_both_schemes_and_widths(name: str, built: Path, chrome: Browser) -> None:
    for scheme, width in (("light", 1366), ("dark", 390)):
        context = chrome.new_context(
            color_scheme="dark" if scheme == "dark" else "light", viewport={"width": width, "height": 800}
        )
        page = context.new_page()
        asked = watched(page)
        page.goto((built / f"{name}.html").as_uri())
        page.evaluate(AXE.read_text("utf-8"))
        assert page.evaluate(FOUND) == [], f"{scheme}, {width} wide"
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
        context.close()


@pytest.mark.thorough
def test_no_page_has_a_serious_finding_or_asks_the_network(pages: dict[Path, Read], chrome: Browser) -> None:
    context = chrome.new_context(viewport={"width": 390, "height": 800}, color_scheme="dark", offline=True)
    page = context.new_page()
    asked = watched(page)
    found = []
    for path in pages:
        page.goto(path.as_uri())
        page.evaluate(AXE.read_text("utf-8"))
        found += [(path.name, finding) for finding in page.evaluate(FOUND)]
        if page.evaluate("document.documentElement.scrollWidth") > 390:
            found.append((path.name, "wider than the window"))
    assert found == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    context.close()


def test_the_explorer_is_live_in_its_page(built: Path, chrome: Browser) -> None:
    page = chrome.new_page()
    page.goto((built / "views" / "heads.html").as_uri())
    page.locator("iframe.explorer").scroll_into_view_if_needed()
    expect(page.frame_locator("iframe.explorer").get_by_text("Encoder L1H2").first).to_be_visible()
    page.close()
