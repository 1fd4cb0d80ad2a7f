"""The server around the pages: which requests it answers, its security headers, and its startup.

``app.py`` passes this to Streamlit's ASGI app, so it applies however the server is started.
"""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse

from bartviz.app import streamlit_internals
from bartviz.app.frame import monitoring
from bartviz.app.frame.app_folder import APP
from bartviz.app.frame.assets import Assets
from bartviz.errors import SettingError
from bartviz.safety import logs
from bartviz.serving import framing, hosts, torch_import
from bartviz.serving.limits import Limits, compute

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
    from streamlit.starlette import App

SCRIPT = Path(__file__).parents[2] / "visit.py"
SWITCH = 0.001  # seconds until a thread switch; Python's default of 0.005 delays the server's event loop
REFUSED = "This server does not serve that host name. Its owner can allow it with: bartviz app --allow NAME\n"


class Guard:
    """Passes on requests to an allowed host name and from its own pages; rejects all others before Streamlit sees them.

    Before Streamlit rejects a foreign page it asks a host on the internet for this machine's address, which blocks all
    visitors meanwhile.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.headers = {"X-Content-Type-Options": "nosniff", **framing.headers(_framed_by())}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers, allowed = Headers(scope=scope), st.get_option("server.allowedHosts")
        host, origin = headers.get("host"), headers.get("origin")
        if hosts.serves(allowed, host) and hosts.comes_from_here(allowed, origin, host):
            await self.app(_checked(scope), receive, self._with_headers(send))
            return
        monitoring.COUNTED["refused"] += 1
        logs.log.info("refused: host %.100r, page %.100r", host, origin)
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await PlainTextResponse(REFUSED, 403)(scope, receive, self._with_headers(send))

    def _with_headers(self, send: Send) -> Send:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        return sent


MIDDLEWARE = [Middleware(Guard), Middleware(Assets)]


_READY: list[Callable[[], None]] = []  # called when this process has its port
_FIRST: list[str] = [""]  # the page that a browser is opened at


def serve(host: str, port: int, names: Sequence[str], ready: Callable[[], None] = lambda: None, page: str = "") -> None:
    """Serve the app until the process ends, like ``streamlit run``, whose environment variables apply. ``ready`` is
    called once the port is this server's; ``page`` is the one that a browser is opened at."""
    _READY[:], _FIRST[:] = [ready], [page]
    flags = ["--server.address", host, "--server.port", str(port), "--server.showEmailPrompt", "false"]
    flags += ["--server.maxUploadSize", str(Limits.read().upload_mb)]
    allowed = [part for name in names for part in ("--server.allowedHosts", name)]
    streamlit_internals.run([str(APP), *flags, *allowed])


@asynccontextmanager
async def lifespan(_app: App) -> AsyncIterator[dict[str, Any] | None]:
    """The startup of the server, before it answers the first visitor."""
    _log()
    sys.setswitchinterval(SWITCH)
    streamlit_internals.skip_prompt_check()
    if not compute():  # before anyone is answered: a class that comes at once would wait for it together
        if sys.stderr.isatty():
            print("bartviz: starting the model library", file=sys.stderr, flush=True)
        with suppress(Exception):  # the first run reports what is wrong
            torch_import.load()
    address, port = st.get_option("server.address"), st.get_option("server.port")
    path = st.get_option("server.baseUrlPath")
    for told in _READY:
        told()
    print(hosts.reach(address, port, st.get_option("server.allowedHosts"), path), flush=True)
    if not st.get_option("server.headless"):
        webbrowser.open(hosts.url("localhost" if hosts.is_local(address) else address, port, path, _FIRST[0]))
    yield None


def failed(error: Exception) -> None:
    """Log a script that failed; the visitor sees Streamlit's own message."""
    logs.fault("A page failed.", error)


def _log() -> None:
    """Start the log; if its setting is invalid, the pages report it."""
    try:
        logs.begin(logs.level())
    except SettingError:
        logs.begin(logs.DEFAULT)
    streamlit_internals.silence_failed_scripts()


def _framed_by() -> list[str]:
    """The sites that may frame the app; none if the setting is invalid, which ``bartviz app`` refuses at the start."""
    try:
        return framing.sites()
    except SettingError as error:
        logs.log.error("%s", error)
        return []


def _checked(scope: Scope) -> Scope:
    """The request without its Origin, which was checked here: Streamlit would look up a different one online."""
    return {**scope, "headers": [pair for pair in scope["headers"] if pair[0] != b"origin"]}
