"""Visitors without a browser: clients that speak Streamlit's websocket messages, for measurements and tests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

LONGEST = 120.0  # seconds after which a client gives up
POLL = 0.4  # seconds to the next question where the server names none


class Visitor:
    """One session: opens a page by its word and query, reads what is sent, and asks again where a browser would."""

    def __init__(self, connection: ClientConnection, query: str = "", page: str = "") -> None:
        self.connection, self.query, self.page = connection, query, page
        self.said = ""  # in the last run, as HTML and progress
        self.failed: list[str] = []  # exceptions of the script, which no page should ever raise
        self.refused: list[str] = []  # error boxes of the last run
        self.runs = 0
        self.again: tuple[str, float] | None = None  # a fragment that is to be run again, after so many seconds

    async def run(self, fragment: str = "") -> str:
        """One script run, or one of a fragment: everything that was said until it ended."""
        message = BackMsg()
        message.rerun_script.query_string = self.query
        message.rerun_script.page_name = self.page
        message.rerun_script.fragment_id = fragment
        message.rerun_script.is_auto_rerun = bool(fragment)
        await self.connection.send(message.SerializeToString())
        self.runs += 1
        parts: list[str] = []
        refused: list[str] = []
        while True:
            data = await asyncio.wait_for(self.connection.recv(), LONGEST)
            forward = ForwardMsg()
            forward.ParseFromString(data if isinstance(data, bytes) else data.encode())
            element = forward.delta.new_element
            parts.append(element.html.body or element.progress.text)
            if element.alert.format == Alert.ERROR:
                refused.append(element.alert.body)
            if element.WhichOneof("type") == "exception":
                self.failed.append(f"{element.exception.type} {element.exception.message}")
            kind = forward.WhichOneof("type")
            if kind == "auto_rerun":
                self.again = forward.auto_rerun.fragment_id, forward.auto_rerun.interval
            elif kind == "script_finished" and forward.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                parts, refused, self.again = [], [], None  # the whole page follows
            elif kind == "script_finished":
                self.said, self.refused = " ".join(filter(None, parts)), refused
                return self.said

    async def until(self, wanted: Callable[[str], bool]) -> float:
        """Seconds until the page says what is wanted; its progress line is asked anew, as the browser does.

        Raises TimeoutError where it fails, is refused, or takes too long.
        """
        started = time.monotonic()
        said = await self.run()
        while self.refused or not wanted(said):
            if time.monotonic() - started > LONGEST or self.failed or self.refused:
                raise TimeoutError(f"{self.failed} {self.refused} {self.said[:300]}")
            fragment, seconds = self.again or ("", POLL)
            await asyncio.sleep(seconds)
            said = await self.run(fragment)
        return time.monotonic() - started


@asynccontextmanager
async def visitor(address: str, query: str = "", page: str = "") -> AsyncIterator[Visitor]:
    """A visitor of a server, who leaves at the end."""
    stream = f"{address.replace('http', 'ws', 1)}/_stcore/stream"
    protocols = ["streamlit", "x"]
    async with connect(stream, subprotocols=protocols, max_size=None, open_timeout=60) as connection:  # type: ignore[arg-type]
        yield Visitor(connection, query, page)
