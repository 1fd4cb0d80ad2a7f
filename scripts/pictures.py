"""``make pictures``: the README's pictures, taken from the running app in a real browser."""

from __future__ import annotations

from playwright.sync_api import Page, sync_playwright

from scripts.serving import CHROMIUM, QUIET, ROOT, served

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
    ("experiments", "/experiments", "light"),
    ("alignment", "/alignment", "dark"),
    ("classic", "/classic", "light"),
    ("parameters", "/parameters?of=facebook/bart-base", "light"),
    ("models", "/models", "light"),
    ("textbook", "/textbook", "light"),
    ("fooled", "/fooled", "light"),
    ("quiz", "/quiz?lang=ko", "light"),
)


def settle(page: Page) -> None:
    """Wait until the server has said all and the pictures are drawn."""
    page.wait_for_selector("[data-testid='stApp'][data-test-connection-state='CONNECTED']", timeout=60_000)
    page.wait_for_timeout(500)
    page.wait_for_selector("[data-testid='stApp'][data-test-script-state='notRunning']", timeout=60_000)
    page.wait_for_timeout(1500)
    for _ in range(2):  # one piece of work may lead to another
        page.wait_for_function("!document.querySelector('[class*=st-key-cancel]')", timeout=180_000)
        page.wait_for_timeout(1500)


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
        browser.close()


if __name__ == "__main__":
    main()
