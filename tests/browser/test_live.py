"""Models that run in a page, without a network: typed texts, silenced heads, gaps, saved records, links, faults."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import bartviz
from bartviz.explorer import live
from bartviz.models.model import Model
from tests.browser.axe import AXE, RUN
from tests.support import engine

TEXT = "The teacher wrote a letter to his friend."
LIMIT = 60_000  # milliseconds


@pytest.fixture(scope="module")
def translator() -> Model:
    return engine.shipped("bart-tiny-en-de")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("live") / "live.html"
    live.save([bartviz.load("bart-tiny-en-de"), bartviz.load("bert-tiny-en")], path)
    return path


@pytest.fixture
def opened(chrome: Browser, file: Path) -> Iterator[Page]:
    context = chrome.new_context(viewport={"width": 1366, "height": 900}, reduced_motion="reduce", offline=True)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page, wrong = context.new_page(), list[str]()
    page.set_default_timeout(LIMIT)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda asked: None if asked.url.startswith(("file:", "blob:")) else wrong.append(asked.url))
    page.goto(file.as_uri())
    page.locator("html[data-ready]").wait_for(state="attached")
    yield page
    context.close()
    assert not wrong, wrong


def part(page: Page, name: str) -> Locator:
    return page.locator(f":light([data-is={name}])")


def run(page: Page, text: str) -> None:
    part(page, "text").fill(text)
    part(page, "run").click()
    expect(part(page, "source")).to_have_text(text, timeout=LIMIT)
    expect(part(page, "state")).to_have_text("", timeout=LIMIT)


def test_a_typed_text_is_translated_with_the_weights_of_python(opened: Page, translator: Model) -> None:
    run(opened, TEXT)
    record = bartviz.decode(translator, TEXT)
    expect(part(opened, "target")).to_have_text(str(record.target_text))
    found = opened.evaluate("""async () => {
        const record = await (await bartviz.model).capture("The teacher wrote a letter to his friend.");
        return [record.written, record.steps.length, await record.head("cross", 2, 5)]; }""")
    assert found[:2] == [record.target_text, len(record.steps)]
    assert np.abs(np.array(found[2]) - record.attention("cross").head(2, 5)).max() < 1e-4


def test_a_head_is_silenced_and_used_again(opened: Page, translator: Model) -> None:
    run(opened, TEXT)
    part(opened, "silence").click()
    expect(part(opened, "changed")).to_contain_text("Without cross L3H1")
    record = bartviz.decode(translator, TEXT, ablate=["cross L3H1"])
    expect(part(opened, "target")).to_have_text(str(record.target_text))
    part(opened, "restore").click()
    expect(part(opened, "restore")).to_be_hidden()
    expect(part(opened, "target")).to_have_text(str(bartviz.decode(translator, TEXT).target_text))


def test_all_heads_are_ranked(opened: Page, translator: Model) -> None:
    run(opened, TEXT)
    part(opened, "rank").click()
    first = part(opened, "ranking").locator("li button").first
    expect(first).to_be_visible(timeout=LIMIT)
    record = bartviz.decode(translator, TEXT)
    sweep = bartviz.ablate_sweep(translator, record)
    worst = sweep.heads[int(np.argmin(sweep.values("log_probability")))]
    assert first.inner_text() == str(worst)
    first.click()
    expect(part(opened, "silence")).to_contain_text(first.inner_text())


def test_a_gap_is_filled(opened: Page) -> None:
    part(opened, "records").get_by_role("button").nth(1).click()
    run(opened, "The man went to the [MASK] to buy bread.")
    guess = part(opened, "gaps").get_by_role("button").first
    word = guess.inner_text().split()[0]
    guess.click()
    expect(part(opened, "source")).to_have_text(f"The man went to the {word} to buy bread.")


def test_a_saved_record_opens_in_python(opened: Page, translator: Model, tmp_path: Path) -> None:
    run(opened, TEXT)
    with opened.expect_download() as download:
        part(opened, "save").click()
    download.value.save_as(tmp_path / "saved.safetensors")
    record = bartviz.open(tmp_path / "saved.safetensors")
    assert record.sound
    assert record.target_text == bartviz.decode(translator, TEXT).target_text


def test_a_link_has_the_text_and_what_was_silenced(opened: Page, chrome: Browser) -> None:
    run(opened, TEXT)
    part(opened, "silence").click()
    expect(part(opened, "restore")).to_be_visible()
    expect(part(opened, "state")).to_have_text("")
    link, target = opened.evaluate("location.href"), part(opened, "target").inner_text()
    again = opened.context.new_page()
    again.goto(link)
    expect(part(again, "source")).to_have_text(TEXT, timeout=LIMIT)
    expect(part(again, "target")).to_have_text(target)
    expect(part(again, "restore")).to_be_visible()


@pytest.mark.parametrize(("text", "said"), [(" ", "Type a text first."), ("word " * 200, "reads at most 128")])
def test_a_text_that_cannot_be_read_is_refused(text: str, said: str, opened: Page) -> None:
    run(opened, TEXT)
    part(opened, "text").fill(text)
    part(opened, "run").click()
    expect(part(opened, "state")).to_contain_text(said, timeout=LIMIT)
    expect(part(opened, "source")).to_have_text(TEXT)


def test_a_file_that_was_cut_says_so_and_shows_what_was_recorded(chrome: Browser, file: Path, tmp_path: Path) -> None:
    whole = file.read_bytes()
    cut = tmp_path / "cut.html"
    cut.write_bytes(whole[: whole.index(b'id="model-0"') + 4_000_000])
    page = chrome.new_page()
    page.goto(cut.as_uri())
    expect(part(page, "state")).to_contain_text("damaged", timeout=LIMIT)
    expect(part(page, "source")).to_have_text("I want to buy a car.")
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible_on_a_phone(scheme: str, chrome: Browser, file: Path) -> None:
    context = chrome.new_context(
        viewport={"width": 390, "height": 844},
        color_scheme="dark" if scheme == "dark" else "light",
        offline=True,
        bypass_csp=True,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(file.as_uri())
    page.locator("html[data-ready]").wait_for(state="attached")
    run(page, TEXT)
    part(page, "rank").click()
    expect(part(page, "ranking").locator("li").first).to_be_visible(timeout=LIMIT)
    page.add_script_tag(path=AXE)
    found = page.evaluate(RUN)
    assert found == [], found
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()


def test_a_folder_reads_its_model_from_a_host(chrome: Browser, tmp_path: Path) -> None:
    bartviz.load("bert-tiny-en").save(tmp_path / "site")
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "site"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = chrome.new_page()
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        page.locator("html[data-ready]").wait_for(state="attached")
        run(page, "A dog sleeps.")
        page.close()
        server.shutdown()
