"""Files that a browser loads before the first script run: the page, with our style in it, and Streamlit's scripts.

The style is in the page itself, so nothing moves when it arrives. So is the server's own address: from a deep link,
Streamlit would ask for it under each folder of the path, one after the other, and the browser would report every miss.
The scripts of the elements that every page has are asked for with the page: the elements then stand at once, where a
grey box of another height would be first. And Streamlit sends its scripts as they are, 3 to 9 MB for a first visit:
they are compressed here, once per server.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from streamlit import get_option

from bartviz.app.frame import levels, page_hooks, page_list
from bartviz.app.streamlit_internals import SCRIPTS
from bartviz.drawing import colors
from bartviz.lazy import FEATURES

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

ELEMENTS = (
    "Html",
    "purify",
    "PageLink",
    "BidiComponent",
    "ButtonGroup",
    "Selectbox",
    "DownloadButton",
    "Slider",
    "Tabs",
)
STYLES = (
    Path(__file__).with_name("first.css"),
    *sorted(FEATURES.glob("*/first.css")),
    *(Path(__file__).with_name(name) for name in ("style.css", "levels.css")),
)
PACKED = ("text/javascript", "application/javascript", "text/css")
MOST = 500  # compressed files that are kept; Streamlit has about 200
LEAST = 1000  # bytes; a smaller answer is not worth compressing
LOCATE = """<script>(() => {
const page = %s, path = location.pathname;
if (path.endsWith(page)) window.__streamlit = { BACKEND_BASE_URL: location.origin + path.slice(0, -page.length) };
const asked = new URLSearchParams(location.search), shown = document.documentElement.classList;
shown.toggle("bv-no-sidebar", !%s.includes(page.slice(1)) || asked.has(%s));
shown.toggle("bv-levelled", %s.includes(asked.get(%s)));
})();</script>"""
_CONDITIONS = (b"if-none-match", b"if-modified-since", b"accept-encoding", b"range")


class _Answer(NamedTuple):
    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


class Assets:
    """Puts the style into each page and sends scripts compressed; passes everything else on."""

    def __init__(self, app: ASGIApp, styles: Iterable[Path] = STYLES) -> None:
        self.app = app
        style = "\n".join([colors.variables(), *(file.read_text("utf-8") for file in styles)])
        self._early = f"{_early()}</head>".encode()
        self._style = f"<style>{style}</style></body>".encode()  # after the head: Streamlit adds its own styles there
        self._packed: dict[str, _Answer] = {}
        base = (get_option("server.baseUrlPath") or "").strip("/")
        self._pages = re.compile(rf"{f'/{re.escape(base)}' if base else ''}(/[\w-]*)", re.ASCII)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope) if scope["type"] == "http" and scope["method"] == "GET" else Headers({})
        name = scope.get("path", "").rsplit("/", 1)[-1]
        if "text/html" in headers.get("accept", "") and ("." not in name or name == "index.html"):  # not a download
            await self._page(scope, receive, send)
        elif scope.get("path", "").endswith((".js", ".css")) and "gzip" in headers.get("accept-encoding", ""):
            await self._script(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _page(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = await self._asked(scope)
        if _type(answer).startswith("text/html"):
            head = b"<head>" + self._locate(scope["path"]).encode()
            body = answer.body.replace(b"<head>", head, 1).replace(b"</head>", self._early, 1)
            body = body.replace(b"</body>", self._style, 1)
            answer = _with(answer, body)
        await _send(answer, scope, receive, send)

    def _locate(self, path: str) -> str:
        """A script that says where the server is (above the page, wherever a proxy has put both), whether the sidebar
        will be open, so that its place is kept, and whether the address asks for a level above a beginner's."""
        page = self._pages.fullmatch(path)
        opens = json.dumps(["", "home", *sorted(page_list.OPEN)])
        above = json.dumps([level for level in levels.LEVELS if level != levels.DEFAULT])
        words = opens, json.dumps(page_hooks.LED), above, json.dumps(levels.KEY)
        return LOCATE % (json.dumps(page[1]), *words) if page else ""

    async def _script(self, scope: Scope, receive: Receive, send: Send) -> None:
        packed = self._packed.get(scope["path"])
        if packed is None:
            packed = await self._asked(scope)
            if packed.status == 200 and _type(packed).startswith(PACKED) and len(packed.body) >= LEAST:
                body = await asyncio.to_thread(gzip.compress, packed.body, 6)
                packed = _with(packed, body, **{"content-encoding": "gzip", "vary": "Accept-Encoding"})
                if len(self._packed) < MOST:
                    self._packed[scope["path"]] = packed
        await _send(packed, scope, receive, send)

    async def _asked(self, scope: Scope) -> _Answer:
        """The whole answer, neither compressed nor shortened to what the browser lacks.

        It is kept for others, so it is whole even if the browser leaves meanwhile: that is not passed on.
        """
        kept = [(name, value) for name, value in scope["headers"] if name not in _CONDITIONS]
        started: list[Message] = []
        parts: list[bytes] = []

        async def hold(message: Message) -> None:
            if message["type"] == "http.response.start":
                started.append(message)
            elif message["type"] == "http.response.body":
                parts.append(message.get("body", b""))

        await self.app({**scope, "headers": kept}, _stays, hold)
        return _Answer(started[0]["status"], list(started[0]["headers"]), b"".join(parts))


async def _stays() -> Message:
    """Requests of a browser that stays connected."""
    await asyncio.Event().wait()
    raise AssertionError


def _early() -> str:
    """Links that ask for the elements' scripts; none for an element that this version of Streamlit does not have."""
    files = (file.name for element in ELEMENTS for file in sorted(SCRIPTS.glob(f"{element}.*.js")))
    return "".join(f'<link rel="modulepreload" crossorigin href="./static/js/{name}">' for name in files)


def _type(answer: _Answer) -> str:
    return Headers(raw=answer.headers).get("content-type", "")


def _with(answer: _Answer, body: bytes, **headers: str) -> _Answer:
    """The answer with another body, which no longer matches its tag and date."""
    changed = MutableHeaders(
        raw=[pair for pair in answer.headers if pair[0].lower() not in (b"etag", b"last-modified")]
    )
    changed.update({"content-length": str(len(body)), **headers})
    return _Answer(answer.status, changed.raw, body)


async def _send(answer: _Answer, scope: Scope, receive: Receive, send: Send) -> None:
    response = Response(answer.body, answer.status)
    response.raw_headers = answer.headers
    await response(scope, receive, send)
