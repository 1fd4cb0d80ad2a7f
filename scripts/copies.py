"""``make copies``: two copies of the app behind Caddy, by deploy/Caddyfile, visited by a browser. Needs caddy.

All of it is on loopback, without TLS. What is seen: answers have their headers, scripts are compressed, /metrics is
refused; a visitor stays with one copy, whose downloads arrive; both copies get visitors; and when one copy is ended,
its visitors see their texts on the other after a reload.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urljoin

from playwright.sync_api import Browser, Page, Response, expect, sync_playwright

from benchmarks.sessions import link
from scripts.serving import CHROMIUM, PATIENCE, QUIET, ROOT, free_port, health

TEXT = "The weather is nice today."
HEADERS = {
    "strict-transport-security": "max-age=31536000",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "content-security-policy": "frame-ancestors 'self'",
}
VISITORS = 12  # at most, until both copies have one


def main() -> None:
    caddy = shutil.which("caddy")
    if caddy is None:
        raise SystemExit("caddy is not installed (Debian: apt-get install caddy).")
    expect.set_options(timeout=1000 * PATIENCE)
    with ExitStack() as stack:
        copies = [stack.enter_context(_copy()) for _ in range(2)]
        address = stack.enter_context(_proxy(caddy, [port for port, _ in copies]))
        driver = stack.enter_context(sync_playwright())
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET.split())
        visitors = _visitors(browser, address)
        print(f"{len(visitors)} visitors were led to both copies, each always to the same one.")
        _answers(visitors[0].context.new_page(), f"{address}/?{link(TEXT)}")
        print("Answers have their headers, scripts are compressed, /metrics is refused, a download arrives.")
        copies[0][1].terminate()
        copies[0][1].wait(60)
        for page in visitors:
            page.reload()
            expect(page.locator(".ribbons .above").get_by_text("weather")).to_be_visible()
        print("One copy was ended: after a reload all visitors see their texts.")
        browser.close()


def _visitors(browser: Browser, address: str) -> list[Page]:
    """Visitors who follow a link with a text, until both copies have one."""
    pages: list[Page] = []
    seen: set[str] = set()
    while len(seen) < 2:
        if len(pages) == VISITORS:
            raise SystemExit(f"{VISITORS} visitors were all led to the same copy.")
        page = browser.new_context(locale="en-US").new_page()
        page.set_default_timeout(1000 * PATIENCE)
        page.goto(f"{address}/?{link(TEXT)}")
        expect(page.locator(".ribbons .above").get_by_text("weather")).to_be_visible()
        pages.append(page)
        (cookie,) = {cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "lb"}
        seen.add(cookie)
    return pages


def _answers(page: Page, address: str) -> None:
    """What the proxy and the app put on their answers, as a visitor gets them."""
    answers: dict[str, Response] = {}
    page.set_default_timeout(1000 * PATIENCE)

    def note(answer: Response) -> None:
        answers.setdefault(answer.url, answer)

    page.on("response", note)
    page.goto(address)
    expect(page.locator(".ribbons .above").get_by_text("weather")).to_be_visible()
    first = next(iter(answers.values())).headers
    assert HEADERS.items() <= first.items(), first
    script = page.locator("script[src]").first.evaluate("node => node.src")
    assert page.context.request.get(script).headers.get("content-encoding") in ("gzip", "zstd", "br")
    assert page.context.request.get(urljoin(address, "/metrics")).status == 404
    page.goto(urljoin(address, f"/heads?{link(TEXT)}"))
    with page.expect_download() as download:
        page.get_by_role("button", name="Explorer", exact=True).click()
    assert download.value.path().stat().st_size > 100_000


@contextmanager
def _copy() -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """A copy of the app; its port and its process."""
    port = free_port()
    command = [sys.executable, "-m", "bartviz", "app", "--port", str(port), "--allow", "localhost"]
    with _running(command, f"http://127.0.0.1:{port}", {"HF_HUB_OFFLINE": "1"}) as process:
        yield port, process


@contextmanager
def _proxy(caddy: str, ports: list[int]) -> Iterator[str]:
    """Caddy before the copies; its address."""
    address = f"http://localhost:{free_port()}"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "Caddyfile"
        file.write_text("{\n\tadmin off\n}\n" + (ROOT / "deploy" / "Caddyfile").read_text("utf-8"), "utf-8")
        copies = " ".join(f"127.0.0.1:{port}" for port in ports)
        home = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), folder)
        with _running(
            [caddy, "run", "--config", str(file)], address, {"BARTVIZ_NAME": address, "BARTVIZ_COPIES": copies, **home}
        ):
            yield address


@contextmanager
def _running(command: list[str], address: str, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A server, once it answers that it is well; it is ended in the end."""
    process = subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until = time.monotonic() + PATIENCE
        while health(address, 2) is None:
            if process.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"{Path(command[0]).name} did not come up.")
            time.sleep(0.1)
        yield process
    finally:
        process.terminate()
        process.wait(60)


if __name__ == "__main__":
    main()
