"""``make pictures``: the pictures of the README and of the site, taken from the running app in a real browser."""

from __future__ import annotations

from playwright.sync_api import sync_playwright

from scripts import moving
from scripts.serving import CHROMIUM, QUIET, ROOT, served
from scripts.settled import settle

DOCS = ROOT / "docs"
# file, address, colour scheme
PICTURES = (
    ("start", "/", "light"),
    ("lessons", "/lessons", "light"),
    ("inputs", "/inputs", "light"),
    ("masks", "/masks", "light"),
    ("inside", "/inside?kind=cross&layer=2&row=2", "light"),
    ("heads", "/heads?kind=cross", "dark"),
    ("compare", "/compare?kind=cross", "light"),
    ("decoding", "/decoding?step=5", "light"),
    ("denoising", "/denoising", "light"),
    ("why", "/why?level=intermediate", "light"),
    ("experiments", "/experiments", "light"),
    ("alignment", "/alignment", "dark"),
    ("classic", "/heads?view=classic", "light"),
    ("parameters", "/parameters?of=facebook/bart-base", "light"),
    ("models", "/models", "light"),
    ("corpus", "/corpus", "light"),
    ("textbook", "/textbook", "light"),
    ("pitfalls", "/pitfalls", "light"),
    ("quiz", "/quiz?lang=ko", "light"),
)


def main() -> None:
    DOCS.mkdir(exist_ok=True)
    with served() as (address, _), sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET.split())
        for name, path, scheme in PICTURES:
            context = browser.new_context(
                viewport={"width": 1366, "height": 768},
                color_scheme="dark" if scheme == "dark" else "light",
                reduced_motion="reduce",
            )
            page = context.new_page()
            page.goto(address + path)
            settle(page)
            page.screenshot(path=DOCS / f"{name}.png")
            context.close()
            print(f"docs/{name}.png")
        moving.steps(browser, address, DOCS / "steps.webp")
        print("docs/steps.webp")
        browser.close()


if __name__ == "__main__":
    main()
