"""``python -m scripts.controls``: how much there is to press and to read on each page, as a table; tests hold it to
``MOST`` (``tests/browser/test_controls.py``).

A control is what can be pressed, typed in or dragged; one inside another is counted once, each choice of a row of
choices by itself, and words or cells of a picture as the places that the Tab key reaches in it. Above the fold is what
a laptop shows before anything is scrolled, sidebar and menu included; words are those of the page alone.
"""

from __future__ import annotations

import argparse
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from bartviz.app.frame.levels import LEVELS
from bartviz.app.frame.page_list import PAGES
from scripts.serving import CHROMIUM, QUIET, served
from scripts.settled import settle

SIZE = (1366, 768)
PATIENCE = 180_000  # milliseconds: a page may compute what it shows
MOST = {"beginner": 24, "expert": 45}  # controls above the fold, of the levels that have a limit
COLUMNS = ("page", "level", "above the fold", "frame", "words", "on the page")

# Walks into the components, whose elements are in trees of their own.
COUNTED = """() => {
    const fields = "a[href], button, input, select, textarea, summary, iframe";
    const roles = ["button", "slider", "tab", "link", "combobox", "switch", "checkbox", "radio", "menuitem", "option"];
    const frame = "[data-testid=stSidebar], [data-testid=stHeader]";
    const reached = "a[href], button, input, select, textarea, summary, iframe, [tabindex='0']";
    const pressed = (one) => one.matches(fields) || roles.includes(one.role);
    const isControl = (one) => pressed(one) ? one.tabIndex >= 0 || one.role === "radio" || one.role === "tab"
        : one.tabIndex >= 0 && !(one.shadowRoot ?? one).querySelector(reached);  // not what holds others, or scrolls
    const seen = (one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    const rects = (one) => {
        const box = one.getBoundingClientRect();
        if (box.width > 1 && box.height > 1) return box;
        const label = one.closest("label")?.getBoundingClientRect();  // of a field that is drawn by its label
        return label && label.width > 1 && label.height > 1 ? label : null;
    };
    const controls = [], words = { above: 0, all: 0 };
    const above = (box) =>
        box.top + box.height / 2 < innerHeight && box.bottom > 0 && box.left < innerWidth && box.right > 0;
    const walk = (node, inFrame, inControl) => {
        if (node.nodeType === Node.TEXT_NODE) {
            const count = node.data.trim().split(/\\s+/).filter((word) => /[\\p{L}\\p{N}]/u.test(word)).length;
            if (!count || inFrame) return;
            const range = document.createRange();
            range.selectNodeContents(node);
            const box = range.getBoundingClientRect();
            if (box.width <= 1 || box.height <= 1) return;
            words.all += count;
            if (above(box)) words.above += count;
            return;
        }
        let inside = inControl, framed = inFrame;
        if (node.nodeType === Node.ELEMENT_NODE) {
            if (["STYLE", "SCRIPT", "NOSCRIPT", "TEMPLATE"].includes(node.tagName)) return;
            framed ||= node.matches(frame);
            const style = getComputedStyle(node);
            const drawn = node.tagName === "INPUT" || style.display === "contents" || seen(node);
            if (style.display === "none") return;
            if (!inControl && isControl(node) && drawn && !node.disabled) {
                const box = rects(node);
                if (box && (node.tagName !== "INPUT" || seen(node.closest("label") ?? node))) {
                    inside = true;
                    const name = node.ariaLabel || node.innerText || node.placeholder || node.className;
                    controls.push({ framed, above: above(box), tag: node.tagName, role: node.role ?? "",
                        name: String(name).replace(/\\s+/g, " ").slice(0, 60), top: Math.round(box.top) });
                }
            }
            if (!drawn) return;
        }
        for (const child of node.shadowRoot?.childNodes ?? []) walk(child, framed, inside);
        for (const child of node.childNodes) walk(child, framed, inside);
    };
    walk(document.body, false, false);
    return { controls, words };
}"""


def measured(browser: Browser, address: str, word: str, level: str) -> dict[str, Any]:
    """The controls of a page with where they are, and its words."""
    context = browser.new_context(viewport={"width": SIZE[0], "height": SIZE[1]}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(f"{address}/{'' if word == PAGES[0].word else word}?level={level}")
    found = counted(page)
    context.close()
    return found


def counted(page: Page) -> dict[str, Any]:
    """What ``count`` finds once the page is at rest and no run is in progress."""
    settle(page)
    page.get_by_role("button", name="Cancel", exact=True).wait_for(state="detached")
    settle(page)
    return count(page)


def count(page: Page) -> dict[str, Any]:
    """The controls of a page as it is now, with where they are, and its words."""
    found: dict[str, Any] = page.evaluate(COUNTED)
    return found


def above(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Of what ``counted`` gives, the controls above the fold."""
    return [control for control in found["controls"] if control["above"]]


def row(word: str, level: str, found: dict[str, Any]) -> tuple[str, ...]:
    """One line of the table."""
    seen, words = above(found), found["words"]
    frame = sum(one["framed"] for one in seen)
    over = " !" if len(seen) > MOST.get(level, len(seen)) else ""
    return word, level, f"{len(seen)}{over}", str(frame), str(words["above"]), str(len(found["controls"]) - frame)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="pages, by the word of their address; without one, all")
    parser.add_argument("--level", action="append", choices=LEVELS, help="a level; without one, all")
    parser.add_argument("--list", action="store_true", help="also every control above the fold")
    given = parser.parse_args()
    print(f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}", flush=True)
    with served() as (address, _), sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET.split())
        for word in given.words or [page.word for page in PAGES]:
            for level in given.level or LEVELS:
                found = measured(browser, address, word, level)
                print(f"| {' | '.join(row(word, level, found))} |", flush=True)
                for one in above(found) if given.list else ():
                    place = "frame" if one["framed"] else "page"
                    print(f"    {place} {one['top']:4} {one['tag'].lower()} {one['role']} {one['name']!r}")
        browser.close()


if __name__ == "__main__":
    main()
