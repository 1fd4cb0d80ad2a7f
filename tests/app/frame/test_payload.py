"""What a server sends: nothing that the browser has, no script with a message, and little on the pages of many weights.

Bytes and messages are counted over the websocket, from a server as it is installed.
"""

from __future__ import annotations

import asyncio
import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from bartviz.app.components import canvas, player
from bartviz.app.components.served import Served
from bartviz.app.frame.page_list import PAGES
from scripts.serving import served
from scripts.visitor import Sent, visitor, wait_for

TWICE = 200_000  # of a visit to Decoding: the player comes again where a cold model's numbers come a moment later
THREE = 150_000  # of a visit to Compare: each of its three canvases has its own words and colours
VISIT, RERUN = 120_000, 50_000  # bytes at most, of a visit to a page of many weights and of any run after it
MESSAGES = 180  # of a run at most, with all files that a page offers; the textbook has two for each of its lines
STYLE = ".bv-lead"  # stands in style.css alone
SAME = 2  # runs in which nothing changes


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("payload") / "server.log"
    with served(log) as (address, _process):
        yield address
    assert "Traceback" not in log.read_text("utf-8")


def runs(address: str, word: str, count: int, query: str = "") -> list[Sent]:
    """So many script runs of one visitor."""

    async def visit() -> list[Sent]:
        async with visitor(address, word, query) as one:
            return [await one.run() for _ in range(count)]

    return wait_for(visit())


async def drawn(address: str, word: str) -> list[Sent]:
    """The first script run of a visitor, and some in which nothing changes: every result is there by then."""
    async with visitor(address, word) as one:
        sent = first = await one.run()
        while any(element.button.label == "Cancel" for element in sent.elements):  # something is still computed
            await asyncio.sleep(0.2)
            sent = await one.run()
        return [first, *[await one.run() for _ in range(SAME)]]


def html(sent: Sent) -> str:
    return " ".join(message.delta.new_element.html.body for message in sent.messages)


@pytest.mark.some("heads", "decoding", "compare", "experiments")
@pytest.mark.slow
@pytest.mark.parametrize("word", [page.word for page in PAGES if page.word != "textbook"])
def test_a_run_sends_little_and_nothing_again_that_the_browser_has(address: str, word: str) -> None:
    first, *later = wait_for(drawn(address, word if word != PAGES[0].word else ""))
    assert STYLE not in html(first)  # it came with the page
    for sent in later:
        assert sent.bytes <= RERUN
        assert len(sent.messages) <= MESSAGES
        large = [message for message in sent.messages if message.delta.new_element.ByteSize() > 1100]
        assert not large, [message.delta.new_element.WhichOneof("type") for message in large]


@pytest.mark.slow
def test_the_style_stands_in_the_page(address: str) -> None:
    page = urllib.request.Request(address, headers={"Accept": "text/html"})
    with urllib.request.urlopen(page) as answer:
        assert STYLE in answer.read().decode("utf-8").split("<body>")[1]


@pytest.mark.thorough
@pytest.mark.slow
def test_the_ledger_is_sent_once(address: str) -> None:
    first, second = runs(address, "textbook", 2, "chapter=all&guess=false")
    assert second.bytes <= first.bytes / 2.5  # what is left are links, a few hundred bytes for each line


@pytest.mark.slow
@pytest.mark.parametrize(
    ("word", "query"),
    [
        *((word, "") for word in ("compare", "heads", "decoding")),
        ("heads", "view=classic&classic=model"),
        ("heads", "view=classic&kind=encoder&layer=2"),
        ("compare", "kind=encoder"),
    ],
)
def test_a_visit_to_a_page_of_many_weights_is_light(address: str, word: str, query: str) -> None:
    (sent,) = runs(address, word, 1, query)
    assert sent.bytes <= {"decoding": TWICE, "compare": THREE}.get(word, VISIT)


@pytest.mark.slow
@pytest.mark.parametrize(("word", "component"), [("heads", canvas.COMPONENT), ("decoding", player.COMPONENT)])
def test_a_script_is_served_at_its_address(address: str, word: str, component: Served) -> None:
    (sent,) = runs(address, word, 1)
    names = [message.delta.new_element.bidi_component for message in sent.messages]
    one = next(name for name in names if name.component_name == f"bartviz.{component.name}")
    assert one.js_content == ""
    assert fetched(f"{address}/_stcore/bidi-components/{one.component_name}/{one.js_source_path}") == component.script


@pytest.mark.slow
def test_the_classic_frame_fetches_its_libraries_and_names_no_other_host(address: str) -> None:
    offline = pytest.importorskip("bartviz.features.heads.figure_classic.offline")
    (sent,) = runs(address, "heads", 1, "view=classic")
    (frame,) = (m.delta.new_element.iframe.srcdoc for m in sent.messages if m.delta.new_element.iframe.srcdoc)
    libraries = re.findall(r'<script src="([^"]+)">', frame)
    assert [Path(library).name for library in libraries] == list(offline.LIBRARIES)
    for library in libraries:
        assert "//" not in library
        assert fetched(f"{address}/{library}") == (offline.VENDOR / Path(library).name).read_text("utf-8")


def fetched(url: str) -> str:
    with urllib.request.urlopen(url, timeout=60) as answer:
        assert answer.headers.get_content_type() in ("text/javascript", "application/javascript")
        text: str = answer.read().decode("utf-8")
    return text
