"""A fresh server, a real Chromium, and pages that may not reach out of the machine nor fail in silence."""

from __future__ import annotations

import re
import signal
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Playwright,
    Request,
    expect,
    sync_playwright,
)

from bartviz.record.record import Record
from scripts.menu import link
from scripts.serving import CHROMIUM, QUIET, served
from scripts.settled import settle
from tests.support import records, stand_in

PATIENCE = 180_000  # milliseconds; the machine may be busy
ONE_PROCESS = "--process-per-site"  # a page finds the scripts of the page before it compiled
OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"  # no request of the browser leaves the machine
Open = Callable[..., Page]
# Every message to the server from now on is counted; messages of sockets that are open already, too.
COUNT = """() => { window.sent = 0; const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (...a) { window.sent += 1; return send.apply(this, a); }; }"""
ODD = ("<s>", "<img src=x onerror=alert(1)>", " </script><b>", " %{z}", " **b**", " 어텐션", " 👩‍👧", "</s>")
Idle = dict[tuple[object, ...], list[BrowserContext]]
SERVERS: dict[str, subprocess.Popen[bytes]] = {}  # address -> process
expect.set_options(timeout=PATIENCE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/browser" in item.nodeid:
            item.add_marker(pytest.mark.browser)


@contextmanager
def serve(folder: Path, **environment: str) -> Iterator[str]:
    """A server of its own on a free port, with these environment variables; gives its address."""
    log = folder / "server.log"
    with served(log, **environment) as (address, process):
        SERVERS[address] = process
        yield address
    assert "Traceback" not in log.read_text("utf-8"), log.read_text("utf-8")[-3000:]


@contextmanager
def silent(address: str) -> Iterator[None]:
    """The server comes to nothing meanwhile: all that is said to it waits, and then comes at the same moment."""
    SERVERS[address].send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        SERVERS[address].send_signal(signal.SIGCONT)


@contextmanager
def beginning(folder: Path, record: Record) -> Iterator[str]:
    """A server of its own that begins with this record; gives its address."""
    record.save(folder / "record.safetensors")
    with serve(folder, BARTVIZ_RECORD=str(folder / "record.safetensors")) as address:
        yield address


@pytest.fixture(scope="session")
def stand_in_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A saved record with random numbers, for servers that show it at first."""
    file = tmp_path_factory.mktemp("records") / "start.safetensors"
    stand_in.record().save(file)
    return str(file)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, stand_in_file: str) -> Iterator[str]:
    """A server that begins with the stand-in record, for all visitors of a test run."""
    with serve(tmp_path_factory.mktemp("server"), BARTVIZ_RECORD=stand_in_file) as address:
        yield address


@pytest.fixture(scope="session")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server as it is installed, with the record and the models that ship, for all visitors of a test run."""
    with serve(tmp_path_factory.mktemp("shipped")) as address:
        yield address


@pytest.fixture(scope="session")
def odd_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that begins with tokens that HTML, Markdown or plotly would take for theirs, Korean and emoji."""
    with beginning(tmp_path_factory.mktemp("odd"), records.encoder_decoder(ODD, ODD)) as address:
        yield address


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def chrome(playwright: Playwright) -> Iterator[Browser]:
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*QUIET.split(), OFFLINE, ONE_PROCESS])
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def idle() -> Idle:
    """The browser's contexts that no test uses now, by what they were made with.

    Each keeps its first page open, an empty one of a server, and with it the process that has compiled the scripts of
    earlier tests: a page opens with half the work.
    """
    return defaultdict(list)


@pytest.fixture
def visit(chrome: Browser, idle: Idle) -> Iterator[Open]:
    """``visit(address, scheme="dark", size=(420, 900), still=True, locale="ko-KR")``: a page in a browser of its own.

    ``before`` is called with the page while it is still empty, for instance to give it a script of its own.
    It may have files of that server in its cache, but nothing else that an earlier visit has stored. After the test it
    fails on any request to another machine (none arrives), on any error of a page, and on any message of the browser's
    console that says error.
    """
    outside: list[str] = []
    errors: list[str] = []
    taken = []

    def ask(request: Request) -> None:
        if not request.url.startswith(("http://127.0.0.1", "data:", "blob:")):
            outside.append(request.url)

    def console(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(f"{message.text} ({message.location['url']})")

    def open_page(
        address: str,
        *,
        scheme: str = "light",
        size: tuple[int, int] = (1366, 768),
        still: bool = True,
        locale: str = "en-US",
        before: Callable[[Page], None] | None = None,
    ) -> Page:
        made_with = (size[0] < 600, locale)  # what a context cannot change
        if idle[made_with]:
            context = idle[made_with].pop()
        else:
            context = chrome.new_context(has_touch=size[0] < 600, accept_downloads=True, locale=locale)
            context.new_page().goto(f"{origin(address)}/_stcore/health")
        taken.append((made_with, context))
        context.on("request", ask)
        page = context.new_page()
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.emulate_media(
            color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce" if still else "no-preference"
        )
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", console)
        forget(page, address)
        if before is not None:
            before(page)
        page.goto(address)
        settle(page)
        return page

    yield open_page
    for made_with, context in reversed(taken):
        for page in context.pages[1:]:
            page.close()
        context.remove_listener("request", ask)
        idle[made_with].append(context)
    assert not outside, f"left the machine: {outside}"
    assert not errors, errors


def take(page: Page, button: Locator, file: Path) -> str:
    """Open the page's download button, press one of its files, and keep it; gives the name that it comes with."""
    page.get_by_role("button", name="Download", exact=True).click()
    with page.expect_download() as arriving:
        button.click()
    arriving.value.save_as(file)
    return arriving.value.suggested_filename


def forget(page: Page, address: str) -> None:
    """Take away what earlier visitors of this server have stored in the page's browser, cached files excepted."""
    page.context.clear_cookies()
    session = page.context.new_cdp_session(page)
    session.send("Storage.clearDataForOrigin", {"origin": origin(address), "storageTypes": "all"})
    session.detach()


def origin(address: str) -> str:
    return "{0.scheme}://{0.netloc}".format(urlsplit(address))


def go(page: Page, label: str) -> None:
    """Open the page of that label as a visitor does: in one of the sections of the bar, or in the sidebar."""
    found = link(page, label)
    place = found.get_attribute("href") or ""
    found.click()
    page.wait_for_url(re.compile(rf"{re.escape(place)}/?(\?.*)?$"), wait_until="commit")  # the server has heard of it
    settle(page)
