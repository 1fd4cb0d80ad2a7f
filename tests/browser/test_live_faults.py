"""What a page with a model in it says where something is amiss: an old browser, a damaged file, no memory, a stop."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import bartviz
from tests.browser.test_live import LIMIT, TEXT, part, run

RECORDED = "I want to buy a car."
Opened = Callable[..., Page]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("faults") / "live.html"
    bartviz.load("bart-tiny-en-de").save(path)
    return path


@pytest.fixture
def opened(chrome: Browser) -> Iterator[Opened]:
    """``opened(file, script, locale="ko-KR")``: a page in whose browser the script has run; an error of it fails."""
    wrong: list[str] = []
    contexts = []

    def open_file(file: Path, script: str = "", *, locale: str = "en-US") -> Page:
        context = chrome.new_context(offline=True, reduced_motion="reduce", locale=locale)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(LIMIT)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.add_init_script(script)
        page.goto(file.as_uri())
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert not wrong, wrong


@pytest.mark.parametrize(
    ("missing", "named"),
    [
        ("delete globalThis.Worker", "Worker"),
        ("delete Intl.Segmenter", "Intl.Segmenter"),
        ("delete RegExp.prototype.unicodeSets", "RegExp.unicodeSets"),
    ],
)
def test_an_old_browser_shows_what_was_recorded(missing: str, named: str, opened: Opened, file: Path) -> None:
    page = opened(file, missing)
    expect(part(page, "state")).to_contain_text(f"cannot run the model ({named})")
    expect(part(page, "source")).to_have_text(RECORDED)
    for button in ("run", "silence", "rank", "save"):
        part(page, button).click()
        expect(part(page, "state")).to_contain_text(f"cannot run the model ({named})")
    expect(part(page, "source")).to_have_text(RECORDED)


@pytest.mark.parametrize(("locale", "said"), [("en-US", "in a newer browser"), ("ko-KR", "더 새로운 브라우저")])
def test_a_browser_that_is_older_still_says_so(locale: str, said: str, opened: Opened, file: Path) -> None:
    page = opened(file, "delete globalThis.DecompressionStream", locale=locale)
    expect(part(page, "state")).to_contain_text(said)


@pytest.mark.parametrize("where", ["<style>", 'type="module">', 'id="worker">', 'id="live">', 'id="data">'])
def test_a_file_that_was_cut_before_its_model_says_so(where: str, chrome: Browser, file: Path, tmp_path: Path) -> None:
    whole, cut = file.read_text("utf-8"), tmp_path / "cut.html"
    cut.write_text(whole[: whole.index(where) + len(where) + 300], "utf-8")
    page = chrome.new_page()
    page.goto(cut.as_uri())
    for said in ("its end is missing", "끝부분이 없습니다"):
        expect(page.get_by_role("alert")).to_contain_text(said)
    if where != "<style>":  # what cannot be used is not there
        expect(part(page, "text")).to_be_hidden()
    page.close()


def test_a_record_that_was_changed_on_the_way_is_not_shown(chrome: Browser, file: Path, tmp_path: Path) -> None:
    whole, changed = file.read_text("utf-8"), tmp_path / "changed.html"
    at = whole.index('id="data">') + 400
    changed.write_text(f"{whole[:at]}{'AAAA' if whole[at : at + 4] != 'AAAA' else 'BBBB'}{whole[at + 4 :]}", "utf-8")
    page = chrome.new_page()
    page.goto(changed.as_uri())
    expect(page.get_by_role("alert")).to_contain_text("the file was changed on its way")
    page.close()


def test_a_model_that_a_host_does_not_give_could_not_be_fetched(chrome: Browser, tmp_path: Path) -> None:
    bartviz.load("bart-tiny-en-de").save(tmp_path)
    page = chrome.new_page()
    page.route("http://pupils.example/**", lambda asked: asked.fulfill(body=(tmp_path / "index.html").read_bytes()))
    page.route("**/model-0.bin", lambda asked: asked.abort("internetdisconnected"))
    page.goto("http://pupils.example/index.html")
    expect(part(page, "state")).to_contain_text("could not be fetched. Check the network", timeout=LIMIT)
    expect(part(page, "source")).to_have_text(RECORDED)
    page.route("**/model-0.bin", lambda asked: asked.fulfill(body=(tmp_path / "model-0.bin").read_bytes()))
    run(page, TEXT)
    page.close()


def test_a_part_of_the_model_that_was_changed_on_the_way_is_found(opened: Opened, file: Path, tmp_path: Path) -> None:
    whole = file.read_text("utf-8")
    at = whole.index('id="model-0"') + 3_000_000
    changed = tmp_path / "changed.html"
    changed.write_text(f"{whole[:at]}{'AAAA' if whole[at : at + 4] != 'AAAA' else 'BBBB'}{whole[at + 4 :]}", "utf-8")
    page = opened(changed)
    expect(part(page, "state")).to_contain_text("damaged", timeout=LIMIT)
    expect(part(page, "source")).to_have_text(RECORDED)


def test_a_device_without_memory_for_the_model_says_so_and_may_try_again(
    opened: Opened, file: Path, tmp_path: Path
) -> None:
    refusing = (
        "let refused = 0; const Memory = WebAssembly.Memory; WebAssembly.Memory = function (...given) "
        "{ if (refused++ < 1) throw new RangeError('no memory'); return new Memory(...given); };"
    )
    whole, refused = file.read_text("utf-8"), tmp_path / "refused.html"
    assert whole.count('id="worker">') == 1
    refused.write_text(whole.replace('id="worker">', f'id="worker">{refusing}'), "utf-8")
    page = opened(refused)
    expect(part(page, "state")).to_contain_text("not have enough memory", timeout=LIMIT)
    expect(part(page, "source")).to_have_text(RECORDED)
    run(page, TEXT)


def test_a_run_is_stopped_and_the_next_one_is_whole(opened: Opened, file: Path) -> None:
    page = opened(file)
    run(page, TEXT)
    part(page, "more").locator("summary").click()
    part(page, "beams").select_option("5")
    part(page, "text").fill("The old man and the young woman want to buy a small house by the sea. " * 5)
    stopped = page.evaluate("""() => new Promise((done) => {
        const [run, stop, state] = ["run", "stop", "state"].map((name) => document.querySelector(`[data-is=${name}]`));
        new MutationObserver((_, observer) => {
            if (/^Step/.test(state.textContent)) stop.click();
            if (state.textContent !== "Stopped.") return;
            observer.disconnect(); // the next run is left alone
            done(performance.now());
        }).observe(state, { childList: true, characterData: true, subtree: true });
        run.click(); })""")
    assert stopped
    expect(part(page, "stop")).to_be_hidden()
    expect(part(page, "source")).to_have_text(TEXT)
    part(page, "beams").select_option("1")
    run(page, "A dog sleeps.")
    expect(part(page, "state")).to_have_text(re.compile("^$"))
