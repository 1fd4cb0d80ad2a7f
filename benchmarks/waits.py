"""How long a visitor waits, in a real browser: for the first sentence of a fresh server, for a page, for a head.

Wall time, so that other work on the machine counts: of what is measured several times the least is printed, too.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from statistics import median

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from bartviz.app.frame.page_list import PAGES
from benchmarks.memory import OURS
from scripts.menu import link
from scripts.serving import CHROMIUM, QUIET, served
from scripts.settled import STILL, settle

SIZE = {"width": 1366, "height": 768}
READING = 1.0  # seconds that the first page is open before its text is changed
SENTENCES = ("The weather is nice today.", "We bought a small house near the river last summer.")
PATIENCE = 120_000  # milliseconds
# From now on each frame notes when the page was last at work; a page that is settled has nothing to add.
WATCHED = """() => {
    const still = STILL, begun = performance.now();
    window.waited = 0;
    cancelAnimationFrame(window.watching);
    const look = () => {
        const title = document.querySelector("h1")?.textContent;
        if (!still(document.querySelector("[data-testid=stApp]")) || title !== window.titled)
            window.waited = performance.now() - begun;
        window.titled = title;
        window.watching = requestAnimationFrame(look);
    };
    look();
}""".replace("STILL", STILL)
# The next head by its key, until the picture of it is painted: milliseconds.
SWITCHED = """async () => {
    const hosts = [...document.querySelectorAll("[data-testid=stBidiComponentIsolated]")];
    const root = hosts.map((host) => host.shadowRoot?.querySelector(".attention")).find(Boolean);
    const name = root.querySelector("[data-is=name]"), before = name.textContent, begun = performance.now();
    const key = new KeyboardEvent("keydown", { key: "KEY", bubbles: true, composed: true });
    root.querySelector("[data-is=overview]").dispatchEvent(key);
    const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));  // after its paint
    do await frame(); while (name.textContent === before && performance.now() - begun < 2000);
    return performance.now() - begun;
}"""


def report(starts: int = 3, rounds: int = 3, heads: int = 40) -> None:
    """Print how long a visitor waits: ``starts`` fresh servers, each page ``rounds`` times, ``heads`` heads."""
    print("\nWaits: a visitor in a real browser (wall time)")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET.split())
        _first(browser, starts)
        with served(without=OURS) as (address, _process):
            page = _opened(browser, address)
            _run(page, SENTENCES[0], SENTENCES[0].split()[1])
            fresh, again = _pages(page, 1), _pages(page, rounds)
            print(f"  the first visit of each page    {_spread([one for each in fresh.values() for one in each])}")
            print(f"  a switch between the pages      {_spread([one for each in again.values() for one in each])}")
            for word, waits in sorted(again.items(), key=lambda each: -median(each[1]))[:5]:
                print(
                    f"    {word:<12} first {fresh[word][0]:5.2f} s, then {', '.join(f'{one:.2f}' for one in waits)} s"
                )
            _heads(page, address, heads)
        browser.close()


def _first(browser: Browser, starts: int) -> None:
    """Servers that have just been started, each with its first visitor, who types a sentence a second after the page
    is there."""
    answers, pictures, sentences = [], [], []
    for _ in range(starts):
        started = time.monotonic()
        with served(without=OURS) as (address, _process):
            answers.append(time.monotonic() - started)
            started = time.monotonic()
            page = _opened(browser, address)
            pictures.append(time.monotonic() - started)
            time.sleep(READING)
            sentences.append(_run(page, SENTENCES[0], SENTENCES[0].split()[1]))
            page.close()
    print(f"  a server answers                {_spread(answers)} after its start")
    print(f"  its first picture               {_spread(pictures)} after the visit begins")
    print(f"  its first sentence              {_spread(sentences)} after Run, {READING:.0f} s after the picture")


def _opened(browser: Browser, address: str) -> Page:
    page = browser.new_page(viewport=SIZE, reduced_motion="reduce")  # type: ignore[arg-type]
    page.set_default_timeout(PATIENCE)
    page.goto(address)
    page.locator(".ribbons .below *").first.wait_for()
    return page


def _run(page: Page, text: str, word: str) -> float:
    """Seconds from the press of Run until the picture shows a word of the text."""
    page.get_by_test_id("stSidebar").get_by_role("textbox", name="Text").fill(text)
    started = time.monotonic()
    page.get_by_test_id("stSidebar").get_by_role("button", name=re.compile("^Run")).click()
    page.locator(".ribbons .above").get_by_text(word).wait_for()
    return time.monotonic() - started


def _pages(page: Page, rounds: int) -> dict[str, list[float]]:
    """Seconds from the press on a link of the menu until the page is at rest, for each page."""
    waits: dict[str, list[float]] = {entry.word: [] for entry in PAGES}
    for _ in range(rounds):
        for entry in [*PAGES[1:], PAGES[0]]:
            there = link(page, entry.label)
            page.evaluate(WATCHED)
            there.click()
            page.locator("h1").get_by_text(entry.title, exact=True).wait_for()
            settle(page)
            waits[entry.word].append(page.evaluate("window.waited") / 1e3)
    return waits


def _heads(page: Page, address: str, heads: int) -> None:
    page.goto(f"{address}/heads?layer=0&head=0")
    settle(page)
    waits = []
    for number in range(heads):
        key = ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowLeft", "ArrowUp")[number % 6]
        waits.append(page.evaluate(SWITCHED.replace("KEY", key)))
        page.wait_for_timeout(100)
    print(f"  the picture of another head     {_spread(waits, 'ms', 0)}")


def _spread(waits: Sequence[float], unit: str = "s", digits: int = 2) -> str:
    least, middle, high, most = np.percentile(waits, [0, 50, 95, 100])
    said = (f"{one:.{digits}f}" for one in (least, middle, high, most))
    return "least {} {unit}, median {} {unit}, 95% within {} {unit}, at most {} {unit}".format(*said, unit=unit)
