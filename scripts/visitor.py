"""A visitor without a browser: opens a page of a server and asks again, in the messages that Streamlit's browser sends.

It keeps the larger messages as the browser does, so that the server need not send them twice, and counts what it sends.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

LONGEST = 120.0  # seconds after which a visitor gives up
POLL = 0.4  # seconds to the next question where the server names none
EARLY = ForwardMsg.FINISHED_EARLY_FOR_RERUN  # the whole page follows
T = TypeVar("T")


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """Run it to its end in a thread of its own: this one may have an event loop already, such as Playwright's."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


@dataclass(slots=True)
class Sent:
    """The messages of the server in one script run, and the page that they result in."""

    bytes: int = 0
    messages: list[ForwardMsg] = field(default_factory=list)
    elements: list[Element] = field(default_factory=list)  # of the run that reached its end, also those not sent again

    @property
    def text(self) -> str:
        """The HTML of the page, its progress and its errors."""
        parts = (one.html.body or one.progress.text or one.exception.message for one in self.elements)
        return " ".join(filter(None, parts))

    @property
    def refused(self) -> list[str]:
        """The error boxes."""
        return [one.alert.body for one in self.elements if one.alert.format == Alert.ERROR]

    @property
    def failed(self) -> list[str]:
        """Exceptions of the script, which no page should ever raise."""
        raised = [one.exception for one in self.elements if one.WhichOneof("type") == "exception"]
        return [f"{one.type} {one.message}" for one in raised]


class Visitor:
    """One session of a server: its page, and the messages that it keeps for the next run."""

    def __init__(self, connection: ClientConnection, page: str, query: str) -> None:
        self._connection, self._page, self._query = connection, page, query
        self._kept: dict[str, tuple[int, Element]] = {}  # hash -> the last run that sent it, and what it is
        self._runs = self._age = 0
        self._components: set[str] = set()  # that are there, as the browser says of them even if nothing was chosen
        self._again: tuple[str, float] | None = None  # a fragment that is to be run again, after this many seconds

    async def run(self, fragment: str = "") -> Sent:
        """One script run to its end, or one of a fragment: the first run opens the page."""
        asked = BackMsg()
        asked.rerun_script.page_name, asked.rerun_script.query_string = self._page, self._query
        asked.rerun_script.fragment_id, asked.rerun_script.is_auto_rerun = fragment, bool(fragment)
        asked.rerun_script.cached_message_hashes.extend(self._kept)
        for one in sorted(self._components):
            asked.rerun_script.widget_states.widgets.add(id=one, json_value="{}")
        await self._connection.send(asked.SerializeToString())
        sent = Sent()
        while True:
            data = await asyncio.wait_for(self._connection.recv(decode=False), LONGEST)
            message = ForwardMsg.FromString(data)
            sent.bytes += len(data)
            sent.messages.append(message)
            self._read(message, sent)
            if message.WhichOneof("type") == "script_finished" and message.script_finished != EARLY:
                return sent

    async def until(self, wanted: Callable[[str], bool]) -> float:
        """Seconds until the page's text is as wanted; its progress line is requested again, as the browser does.

        Raises TimeoutError where the page fails, refuses, or takes too long.
        """
        started = time.monotonic()
        sent = await self.run()
        while sent.refused or not wanted(sent.text):
            if time.monotonic() - started > LONGEST or sent.failed or sent.refused:
                raise TimeoutError(f"{sent.failed} {sent.refused} {sent.text[:300]}")
            fragment, seconds = self._again or ("", POLL)
            await asyncio.sleep(seconds)
            sent = await self.run(fragment)
        return time.monotonic() - started

    def _read(self, message: ForwardMsg, sent: Sent) -> None:
        """As the browser does: what no run of the last few has sent is forgotten."""
        kind, element = message.WhichOneof("type"), message.delta.new_element
        if message.ref_hash in self._kept:
            element = self._kept[message.ref_hash][1]
        if message.metadata.cacheable or message.ref_hash:
            self._kept[message.ref_hash or message.hash] = self._runs, element
        if kind in ("delta", "ref_hash"):
            sent.elements.append(element)
        if component := element.bidi_component.id:
            self._components.add(component)
        if kind == "new_session":
            self._age = int(message.new_session.config.max_cached_message_age)
        elif kind == "auto_rerun":
            self._again = message.auto_rerun.fragment_id, message.auto_rerun.interval
        elif kind == "script_finished" and message.script_finished == EARLY:
            sent.elements, self._again = [], None
        elif kind == "script_finished":
            self._runs += 1
            self._kept = {name: kept for name, kept in self._kept.items() if self._runs - kept[0] <= self._age}


@asynccontextmanager
async def visitor(address: str, page: str = "", query: str = "") -> AsyncIterator[Visitor]:
    """A session of its own at a server, left at the end; ``page`` is the word of one, without it the first."""
    stream = f"{address.replace('http', 'ws', 1)}/_stcore/stream"
    async with connect(stream, subprotocols=["streamlit", "x"], max_size=None, open_timeout=60) as connection:  # type: ignore[list-item]
        yield Visitor(connection, page, query)


async def answered(address: str, text: str) -> float:
    """Seconds until a new visitor sees the run of this text."""
    started = time.monotonic()
    async with visitor(address, query=link(text)) as one:
        await one.until(drawn)
    return time.monotonic() - started


def link(text: str) -> str:
    """The query of an address that runs a text."""
    return f"text={text.replace(' ', '+')}&model=bart-tiny-en-de"


def drawn(page: str) -> bool:
    """Whether a page shows the status line of a finished run; a run in progress, or a refused one, has none."""
    return "class='bv-status'" in page
