"""The explorer's file in a browser without a network: its numbers, its steps, its links, keys and accessibility."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Request, expect

import bartviz
from bartviz.corpus import replay
from bartviz.explorer import replayed
from bartviz.record.record import Record
from tests.browser.axe import AXE, RUN
from tests.browser.conftest import Open, take
from tests.support import records, stand_in

LIMIT = 30_000  # milliseconds
ODD = ("<s>", "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", " 한국어", "</s>")
# The table below the canvas, column by column.
SHOWN = """() => { const table = document.querySelector("[data-is=canvas]").shadowRoot.querySelector("table");
    return [...table.tBodies[0].rows].map((row) => [...row.cells].slice(1).map((cell) => cell.textContent)); }"""
Explore = Callable[..., Page]


@pytest.fixture
def explore(chrome: Browser) -> Iterator[Explore]:
    """``explore(file, "#kind=cross")``: the file in a browser that is offline; errors and requests fail the test."""
    wrong: list[str] = []
    contexts = []

    def ask(request: Request) -> None:
        if not request.url.startswith("file://"):
            wrong.append(request.url)

    def console(message: ConsoleMessage) -> None:
        if message.type == "error":
            wrong.append(message.text)

    def open_file(
        file: Path,
        hash_: str = "",
        *,
        scheme: str = "light",
        size: tuple[int, int] = (1366, 768),
        locale: str = "en-US",
    ) -> Page:
        context = chrome.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme="dark" if scheme == "dark" else "light",
            reduced_motion="reduce",
            locale=locale,
            offline=True,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(LIMIT)
        page.on("request", ask)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", console)
        page.goto(file.as_uri() + hash_)
        page.locator("html[data-ready]").wait_for(state="attached")
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert not wrong, wrong


@pytest.fixture(scope="module")
def record() -> Record:
    return stand_in.record()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory, record: Record) -> Path:
    path = tmp_path_factory.mktemp("explorer") / "car.html"
    record.save(path)
    return path


def part(page: Page, name: str, of: str = "canvas") -> Locator:
    """A node of the canvas or of the player."""
    return page.locator(f"[data-is={of}] [data-is={name}]")


def test_a_thousand_cells_are_those_of_the_record(explore: Explore, file: Path, record: Record) -> None:
    page = explore(file)
    random = np.random.default_rng(5)
    cells = 0
    while cells < 1000:
        kind = record.kinds[random.integers(len(record.kinds))]
        attention = record.attention(kind)
        layer, head = (int(random.integers(count)) for count in attention.shape[:2])
        page.evaluate("hash => { location.hash = hash }", f"#kind={kind}&layer={layer}&head={head}")
        expect(part(page, "name")).to_have_text(f"{kind.capitalize()} L{layer}H{head}")
        found = page.evaluate("([kind, layer, head]) => bartviz.weights(kind, layer, head)", [kind, layer, head])
        expected = attention.head(layer, head)
        rows, columns = (random.integers(count, size=50) for count in expected.shape)
        np.testing.assert_allclose(np.array(found)[rows, columns], expected[rows, columns], atol=2e-5, rtol=0)
        cells += len(rows)


@pytest.mark.thorough
def test_every_step_of_the_player(explore: Explore, file: Path, record: Record) -> None:
    page = explore(file, "#kind=cross&layer=1&head=2")
    part(page, "first", "player").click()
    assert record.cross is not None
    for number, step in enumerate(record.steps):
        expect(part(page, "counter", "player")).to_have_text(f"{number + 1} / {len(record.steps)}")
        expect(part(page, "output", "player").locator(".now")).to_have_text(step.chosen.label)
        shown = part(page, "source", "player").locator("[title^=weight]")
        weights = [title.split()[1] for title in shown.evaluate_all("nodes => nodes.map(node => node.title)")]
        assert weights == [f"{weight:.3f}" for weight in record.cross.head(1, 2)[step.row]]
        part(page, "next", "player").click()
    page.get_by_role("button", name="Play", exact=True).click()
    expect(part(page, "counter", "player")).to_have_text(f"{len(record.steps)} / {len(record.steps)}")


def test_a_link_leads_to_its_head_row_and_view(explore: Explore, file: Path) -> None:
    page = explore(file, "#kind=decoder&layer=2&head=3&row=5&view=lines")
    expect(part(page, "name")).to_have_text("Decoder L2H3")
    expect(part(page, "matrix-title", "player")).not_to_contain_text("L2H3")  # the player has a head of its own kind
    expect(part(page, "said")).to_contain_text("“Auto” (5)")
    expect(part(page, "lines")).to_have_attribute("aria-pressed", "true")
    page.evaluate("location.hash = '#kind=cross&layer=0&head=1&row=2'")
    expect(part(page, "name")).to_have_text("Cross L0H1")
    expect(part(page, "counter", "player")).to_have_text("3 / 9")
    page.get_by_role("button", name="Encoder", exact=True).click()
    expect(part(page, "name")).to_contain_text("Encoder")
    expect(page).to_have_url(re.compile("kind=encoder"))


def test_a_link_counts_though_the_address_was_written_meanwhile(explore: Explore, file: Path) -> None:
    page = explore(file, "#kind=cross&layer=1&head=1")
    page.evaluate("""() => { const before = location.hash;
        location.hash = "#kind=encoder&layer=1&head=3";
        history.replaceState(null, "", before); }""")
    expect(part(page, "name")).to_have_text("Encoder L1H3")
    expect(page).to_have_url(re.compile("kind=encoder"))


def test_keys_lead_through_heads_rows_and_steps(explore: Explore, file: Path) -> None:
    page = explore(file, "#kind=cross&layer=0&head=0&row=0")
    part(page, "overview").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(part(page, "name")).to_have_text("Cross L1H1")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("layer=1&head=1&row=1"))
    expect(part(page, "counter", "player")).to_have_text("2 / 9")  # the row is the player's step
    expect(part(page, "source-title", "player")).to_contain_text("cross L1H1")
    page.locator("[data-is=player] .player").focus()
    page.keyboard.press("ArrowRight")
    expect(part(page, "counter", "player")).to_have_text("3 / 9")
    expect(page).to_have_url(re.compile("row=2"))  # and the player's step is the row


def test_means_are_those_of_the_heads(explore: Explore, file: Path, record: Record) -> None:
    page = explore(file, "#kind=encoder&layer=1&head=0&weights=layer")
    expect(part(page, "name")).to_contain_text("Mean of the 4 heads of encoder layer 1")
    page.locator("[data-is=canvas] summary").first.click()
    expect(page.locator("[data-is=canvas] table")).to_be_visible()
    shown = [[cell or "0" for cell in row] for row in page.evaluate(SHOWN)]
    expected = record.attention("encoder").layer(1).mean(axis=0)
    np.testing.assert_allclose(np.array(shown, float), expected, atol=6e-4)


def test_languages_and_themes_are_switched(explore: Explore, file: Path) -> None:
    page = explore(file, locale="ko-KR")
    assert page.locator("html").get_attribute("lang") == "ko"
    expect(page.get_by_role("heading", name="한 단계씩", exact=True)).to_be_visible()
    page.get_by_role("combobox", name="언어").select_option("en")
    expect(page.get_by_role("heading", name="Step by step", exact=True)).to_be_visible()
    expect(part(page, "map")).to_have_text("Map")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    page.get_by_role("button", name="Dark colours").click()
    assert page.evaluate(ground) == "rgb(14, 17, 23)"
    expect(page).to_have_url(re.compile("lang=en&theme=dark"))


@pytest.mark.thorough
@pytest.mark.parametrize(("scheme", "width", "height"), [("light", 1366, 768), ("dark", 390, 844)])
def test_axe_finds_nothing_serious(explore: Explore, file: Path, scheme: str, width: int, height: int) -> None:
    page = explore(file, scheme=scheme, size=(width, height))
    for summary in page.locator("summary").all():
        summary.click()
    page.evaluate(AXE.read_text("utf-8"))
    found: list[Any] = page.evaluate(RUN)
    assert found == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_hostile_tokens_are_text_and_do_not_run(explore: Explore, tmp_path: Path) -> None:
    records.encoder_decoder(ODD, ODD).save(tmp_path / "odd.html")
    page = explore(tmp_path / "odd.html", "#kind=encoder&view=text")
    expect(part(page, "query-text")).to_contain_text(ODD[1])
    expect(part(page, "query-text")).to_contain_text(ODD[2])


def test_records_are_tabs(explore: Explore, tmp_path: Path) -> None:
    both = [stand_in.record(), records.encoder_only()]
    bartviz.save(both, tmp_path / "both.html", names=["translation", "encoder"])
    page = explore(tmp_path / "both.html")
    page.get_by_role("button", name="encoder", exact=True).click()
    expect(part(page, "name")).to_contain_text("Encoder")
    expect(page.get_by_role("heading", name="Step by step", exact=True)).to_be_hidden()
    expect(page).to_have_url(re.compile("#record=2"))
    page.get_by_role("button", name="translation", exact=True).click()
    expect(page.get_by_role("heading", name="Step by step", exact=True)).to_be_visible()


def test_a_long_text_is_drawn_small_and_a_chosen_head_exact(explore: Explore, tmp_path: Path) -> None:
    long = ("<s>", *(f" w{number}" for number in range(200)), "</s>")
    record = records.encoder_only(long, layers=3, heads=4)
    record.save(tmp_path / "long.html")
    page = explore(tmp_path / "long.html", "#kind=encoder&layer=2&head=1&row=7")
    weights = record.attention("encoder").head(2, 1)[7]
    expect(part(page, "said")).to_contain_text(f"({weights.max():.3f})")
    part(page, "overview").focus()
    page.keyboard.press("ArrowRight")
    expect(part(page, "said")).to_contain_text(f"({record.attention('encoder').head(2, 2)[7].max():.3f})")


@pytest.mark.thorough
def test_a_page_of_the_app_offers_it(visit: Open, server: str, explore: Explore, tmp_path: Path) -> None:
    page = visit(f"{server}/heads")
    button = page.get_by_role("button", name="Page to explore it", exact=True)
    assert take(page, button, tmp_path / "explorer.html") == "bartviz-explorer.html"
    expect(part(explore(tmp_path / "explorer.html"), "name")).to_contain_text("Cross")


def test_a_record_lives_in_a_cell_of_a_notebook(chrome: Browser, record: Record) -> None:
    context = chrome.new_context(viewport={"width": 1000, "height": 1600}, offline=True)
    page = context.new_page()
    wrong: list[str] = []
    page.on("request", lambda request: wrong.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.set_content(f"<title>notebook</title><p>In [1]:</p>{record._repr_html_()}{record._repr_html_()}")
    first, second = (page.frame_locator("iframe").nth(place) for place in (0, 1))
    for cell in (first, second):
        cell.locator("html[data-ready]").wait_for(state="attached")
    kind = "[data-is=kinds] button[value={}]"
    first.locator(kind.format("decoder")).click()
    expect(first.locator("[data-is=canvas] [data-is=name]")).to_contain_text("Decoder L")
    expect(second.locator("[data-is=canvas] [data-is=name]")).to_contain_text("Cross L")
    expect(first.locator(kind.format("decoder"))).to_have_attribute("aria-pressed", "true")
    expect(second.locator(kind.format("cross"))).to_have_attribute("aria-pressed", "true")
    assert page.title() == "notebook"
    assert page.url == "about:blank"
    assert wrong == []
    context.close()


def test_a_training_in_one_file_is_played_in_both_languages(explore: Explore, tmp_path: Path) -> None:
    found = replay.open_replay(replay.SHIPPED)
    saved = tmp_path / "born.html"
    replayed.save(found, saved)
    page = explore(saved)
    picture, slider = page.locator(".replay"), page.get_by_label("Moment of the training")
    expect(page.get_by_role("heading", level=1)).to_have_text("How heads are born")
    slider.press("End")
    state = picture.locator(".state")
    expect(state).to_have_text(f"Step {found.steps[-1]:,}: moment {len(found.steps)} of {len(found.steps)}.")
    expect(picture.locator(".written b")).to_have_text(found.examples[0].written[-1])
    before = picture.locator(".map").evaluate("node => node.toDataURL()")
    page.get_by_role("button", name="Dark colours").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert picture.locator(".map").evaluate("node => node.toDataURL()") != before
    page.evaluate(AXE.read_text("utf-8"))
    assert page.evaluate(RUN) == []
    page.get_by_label("Language").select_option("ko")
    expect(page.get_by_role("heading", level=1)).to_have_text("헤드의 탄생")
    expect(page.locator("html")).to_have_attribute("lang", "ko")
