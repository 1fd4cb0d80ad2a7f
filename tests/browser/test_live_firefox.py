"""Models that run in a page, in Firefox, from the disk and from a host: a text, a head, a saved record."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import bartviz
from tests.support import engine
from tests.support.firefox import Firefox, find_firefox, firefox

MODEL = "bart-tiny-en-de"
TEXT = "The teacher wrote a letter to his friend."


@contextmanager
def hosted(folder: Path) -> Iterator[str]:
    """The address of a folder on a host of static files."""
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def part(name: str) -> str:
    return f"document.querySelector('[data-is={name}]')"


def overview(browser: Firefox, layer: int, head: int) -> tuple[float, float]:
    """Where a head is in the small maps of the canvas: a line for each layer, its heads and their mean."""
    left, top, width, height = browser.evaluate(
        f"(() => {{ const node = {part('canvas')}.shadowRoot.querySelector('[data-is=overview]'); "
        "node.scrollIntoView({ block: 'center' }); const { x, y, width, height } = node.getBoundingClientRect(); "
        "return [x, y, width, height]; })()"
    )
    return left + width * (head + 0.5) / 9, top + height * (layer + 0.5) / 4


@pytest.mark.thorough
@pytest.mark.skipif(find_firefox() is None, reason="Firefox is not installed")
@pytest.mark.parametrize("where", ["disk", "host"])
def test_a_text_is_typed_a_head_touched_and_a_record_saved(where: str, tmp_path: Path) -> None:
    target = tmp_path / ("page.html" if where == "disk" else "site")
    bartviz.load(MODEL).save(target)
    record = bartviz.decode(engine.shipped(MODEL), TEXT)
    with nullcontext(target.as_uri()) if where == "disk" else hosted(target) as address, firefox(tmp_path) as browser:
        browser.open(address)
        browser.wait("document.documentElement.dataset.ready === 'yes'")
        browser.press(part("text"))
        browser.type(TEXT)
        browser.press(part("run"))
        browser.wait(f"{part('source')}.textContent === {TEXT!r}")
        assert browser.evaluate(f"{part('target')}.textContent") == record.target_text
        for layer, head in ((1, 3), (0, 6)):
            browser.touch(*overview(browser, layer, head))
            browser.wait(f"{part('silence')}.textContent.includes('cross L{layer}H{head}')")
        browser.press(part("save"))
        saved = bartviz.open(browser.downloaded(".safetensors"))
        assert saved.sound
        assert saved.target_text == record.target_text
        # Firefox asks a host for its icon by itself, which the page's policy forbids.
        assert [said for said in browser.wrong if "/favicon.ico" not in said] == []
