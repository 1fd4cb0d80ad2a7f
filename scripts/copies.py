"""``make copies``: copies of the app behind Caddy, by deploy/Caddyfile, visited by a browser. Needs caddy.

``python -m scripts.copies [plain] [tls]``, without a word both; all of it on loopback. ``plain``, without TLS: answers
have their headers, scripts are compressed, figures are refused; a visitor stays with one copy, whose downloads arrive;
both copies get visitors; and when one copy is ended, its visitors see their texts on the other after a reload. ``tls``,
below a path and with a certificate of Caddy's own authority: every request of a page stays below the path and is
encrypted, the websocket, a download and an upload too; links and what is shared have the path; pages of other sites are
refused.
"""

from __future__ import annotations

import shutil
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urljoin

from playwright.sync_api import Browser, Page, Response, expect, sync_playwright
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from bartviz.app.frame.page_list import PAGES
from scripts.serving import CHROMIUM, PATIENCE, QUIET, ROOT, free_port, running
from scripts.settled import settle
from scripts.visitor import link, wait_for

TEXT = "The weather is nice today."
HEADERS = {
    "strict-transport-security": "max-age=31536000",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
    "content-security-policy": "frame-ancestors 'self'",
}
FIGURES = ("/metrics", "/metrics/", "_stcore/metrics")  # ours at the root, Streamlit's below the path of the app
VISITORS = 12  # at most, until both copies have one
PATH = "bart"
FOREIGN = "https://evil.example"
# What a machine that is only tried on must not do: listen on its networks, and trust the certificates.
CADDY = "{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n\tdefault_bind 127.0.0.1\n}\n"


def main(ways: list[str]) -> None:
    caddy = shutil.which("caddy")
    if caddy is None:
        raise SystemExit("caddy is not installed (Debian: apt-get install caddy).")
    if unknown := {*ways} - {"plain", "tls"}:
        raise SystemExit(f"{', '.join(sorted(unknown))}: choose plain, tls or both.")
    expect.set_options(timeout=1000 * PATIENCE)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET.split())
        for way in ways or ("plain", "tls"):
            {"plain": _plain, "tls": _encrypted}[way](caddy, browser)
        browser.close()


def _plain(caddy: str, browser: Browser) -> None:
    """Two copies at the root, without TLS."""
    with ExitStack() as stack:
        copies = [stack.enter_context(_copy()) for _ in range(2)]
        address, _ = stack.enter_context(_proxy(caddy, "http", [port for port, _ in copies]))
        visitors = _visitors(browser, address)
        print(f"{len(visitors)} visitors were led to both copies, each always to the same one.")
        _answers(visitors[0].context.new_page(), f"{address}/?{link(TEXT)}")
        print("Answers have their headers, scripts are compressed, figures are refused, a download arrives.")
        copies[0][1].terminate()
        copies[0][1].wait(60)
        for page in visitors:
            page.reload()
            _drawn(page)
            page.context.close()
        print("One copy was ended: after a reload all visitors see their texts.", flush=True)


def _encrypted(caddy: str, browser: Browser) -> None:
    """A copy below a path of its own, with TLS."""
    with _copy(PATH) as (port, _), _proxy(caddy, "https", [port]) as (address, certificates):
        _open_to_operators(address, certificates)
        print("The certificate is that of Caddy's authority; health and readiness are answered.")
        assert wait_for(_handshake(address, certificates, address)) == 101
        assert wait_for(_handshake(address, certificates, FOREIGN)) == 403
        assert _status(f"{address}/{PATH}/", certificates, Origin=FOREIGN)[0] == 403
        print("A page of another site is refused, its websocket too.")
        page = browser.new_context(locale="en-US", ignore_https_errors=True).new_page()
        _pages_below(page, address)
        print("Every request of a page is encrypted and stays below the path; links and what is shared have it.")
        _answers(page, f"{address}/{PATH}/?{link(TEXT)}")
        _uploaded(page, f"{address}/{PATH}/compare?{link(TEXT)}&against=run")
        print(
            "Answers have their headers, scripts are compressed, figures are refused, a download and an upload arrive."
        )
        page.context.close()


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
        _drawn(page)
        pages.append(page)
        (cookie,) = {cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "lb"}
        seen.add(cookie)
    return pages


def _answers(page: Page, address: str) -> None:
    """The headers that the proxy and the app add to their answers, as a visitor gets them."""
    answers: dict[str, Response] = {}
    page.set_default_timeout(1000 * PATIENCE)

    def note(answer: Response) -> None:
        answers.setdefault(answer.url, answer)

    page.on("response", note)
    page.goto(address)
    _drawn(page)
    page.remove_listener("response", note)
    first = next(iter(answers.values())).headers
    assert HEADERS.items() <= first.items(), first
    script = page.locator("script[src]").first.evaluate("node => node.src")
    assert page.context.request.get(script).headers.get("content-encoding") in ("gzip", "zstd", "br")
    for path in FIGURES:
        assert page.context.request.get(urljoin(address, path), max_redirects=0).status == 404, path
    page.goto(urljoin(address, f"heads?{link(TEXT)}"))
    with page.expect_download() as download:
        page.get_by_role("button", name="Explorer", exact=True).click()
    assert download.value.path().stat().st_size > 100_000


def _pages_below(page: Page, address: str) -> None:
    """Several pages: what they ask for, where their links lead, and the link that Share shows."""
    root, asked = f"{address}/{PATH}/", list[str]()
    page.set_default_timeout(1000 * PATIENCE)
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url.replace("wss:", "https:", 1)))
    page.goto(root.removesuffix("/"))
    for entry in PAGES:
        page.goto(f"{root}{'' if entry is PAGES[0] else entry.word}?{link(TEXT)}")
        expect(page).to_have_title(f"{entry.label} · bartviz")
        settle(page)
        assert page.url.startswith(root), page.url
        own = page.evaluate("[...document.links].map(link => link.href)")
        assert [one for one in own if one.startswith(address) and not one.startswith(root)] == []
    assert f"{root}_stcore/stream" in asked
    outside = {one for one in asked if not one.startswith((root, "data:", "blob:"))}
    sought = f"{address}/_stcore/health"  # where a connection ends, Streamlit seeks its server at the root, too
    assert outside <= {root.removesuffix("/"), sought}, outside
    page.goto(f"{root}heads?{link(TEXT)}")
    page.get_by_role("button", name="Share").click()
    shared = page.get_by_test_id("stCode")
    expect(shared).to_contain_text(f"{root}heads?")
    expect(shared).to_contain_text("text=The+weather")
    page.goto(shared.inner_text().strip())
    expect(page.locator(".bv-lead").first).to_contain_text("weather")


def _uploaded(page: Page, address: str) -> None:
    """A record that is opened on the page that compares."""
    page.goto(address)
    settle(page)
    record = ROOT / "bartviz" / "embedded" / "records" / "start.safetensors"
    page.locator("input[type=file]").last.set_input_files(str(record))
    expect(page.get_by_text("Saved for comparison: bart-tiny-en-de")).to_be_visible()


def _drawn(page: Page) -> None:
    expect(page.locator(".ribbons .above").get_by_text("weather")).to_be_visible()


def _open_to_operators(address: str, certificates: ssl.SSLContext) -> None:
    """The requests of a monitor and a load balancer, at the root."""
    assert _status(f"{address}/healthz", certificates)[0] == 200
    until = time.monotonic() + PATIENCE
    while _status(f"{address}/readyz", certificates)[0] != 200:  # the first question begins the import
        if time.monotonic() > until:
            raise SystemExit("The app was not ready.")
        time.sleep(0.2)
    assert _status(f"{address}/{PATH}", certificates) == (200, f"{address}/{PATH}/")


def _status(address: str, certificates: ssl.SSLContext, **headers: str) -> tuple[int, str]:
    """The status of an answer, and the address that it came from after redirects."""
    try:
        request = urllib.request.Request(address, headers=headers)
        with urllib.request.urlopen(request, timeout=PATIENCE, context=certificates) as answer:
            return answer.status, answer.url
    except urllib.error.HTTPError as error:
        return error.code, address


async def _handshake(address: str, certificates: ssl.SSLContext, origin: str) -> int:
    """The status of a websocket's handshake for a page of this origin: 101 where it is accepted."""
    stream = f"{address.replace('https', 'wss', 1)}/{PATH}/_stcore/stream"
    try:
        async with connect(stream, origin=origin, ssl=certificates, open_timeout=PATIENCE):  # type: ignore[arg-type]
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


@contextmanager
def _copy(path: str = "") -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """A copy of the app; its port and its process."""
    port = free_port()
    command = [sys.executable, "-m", "bartviz", "app", "--port", str(port), "--allow", "localhost"]
    environment = {"HF_HUB_OFFLINE": "1", "STREAMLIT_SERVER_BASE_URL_PATH": path}
    with running(command, lambda: _well(f"http://127.0.0.1:{port}"), environment=environment) as process:
        yield port, process


@contextmanager
def _proxy(caddy: str, scheme: str, ports: list[int]) -> Iterator[tuple[str, ssl.SSLContext]]:
    """Caddy before the copies; its address, and what verifies its certificate."""
    address = f"{scheme}://localhost:{free_port()}"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "Caddyfile"
        file.write_text(CADDY + (ROOT / "deploy" / "Caddyfile").read_text("utf-8"), "utf-8")
        copies = " ".join(f"127.0.0.1:{port}" for port in ports)
        home = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), folder)
        certificates = ssl.create_default_context()
        authority = Path(folder) / "caddy/pki/authorities/local/root.crt" if scheme == "https" else None
        environment = {"BARTVIZ_NAME": address, "BARTVIZ_COPIES": copies, **home}

        def well() -> bool:
            if authority is not None and authority.exists():
                certificates.load_verify_locations(authority)
            return _well(address, certificates)

        with running([caddy, "run", "--config", str(file)], well, environment=environment):
            yield address, certificates


def _well(address: str, certificates: ssl.SSLContext | None = None) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/healthz", timeout=2, context=certificates) as answer:
            return bool(answer.read() == b"ok")
    except OSError:
        return False


if __name__ == "__main__":
    main(sys.argv[1:])
