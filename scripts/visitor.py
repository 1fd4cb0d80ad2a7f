"""A visitor without a browser: opens a page of a server and asks again, in the messages that Streamlit's browser sends.

It keeps the larger messages as the browser does, so that the server need not send them twice, and counts what it sends.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

LONGEST = 120.0  # seconds after which a run is given up
EARLY = ForwardMsg.FINISHED_EARLY_FOR_RERUN  # the whole page follows


@dataclass(slots=True)
class Sent:
    """What the server sent in one script run."""

    bytes: int = 0
    messages: list[ForwardMsg] = field(default_factory=list)

    @property
    def html(self) -> str:
        """All that was sent as HTML of ours, or as an error."""
        elements = [message.delta.new_element for message in self.messages if message.WhichOneof("type") == "delta"]
        return " ".join(element.html.body or element.exception.message for element in elements)


class Visitor:
    """One session of a server: its page, and the messages that it keeps for the next run."""

    def __init__(self, connection: ClientConnection, page: str, query: str) -> None:
        self._connection, self._page, self._query = connection, page, query
        self._kept: dict[str, int] = {}  # hash -> the last run that sent it
        self._runs = self._age = 0
        self._components: set[str] = set()  # that are there, as the browser says of them even if nothing was chosen

    async def run(self) -> Sent:
        """One script run, to its end: the first one opens the page."""
        asked = BackMsg()
        asked.rerun_script.page_name, asked.rerun_script.query_string = self._page, self._query
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
            self._keep(message)
            if message.WhichOneof("type") == "script_finished" and message.script_finished != EARLY:
                return sent

    def _keep(self, message: ForwardMsg) -> None:
        """As the browser does: what no run of the last few has sent is forgotten."""
        if message.metadata.cacheable or message.ref_hash:
            self._kept[message.ref_hash or message.hash] = self._runs
        if component := message.delta.new_element.bidi_component.id:
            self._components.add(component)
        if message.WhichOneof("type") == "new_session":
            self._age = int(message.new_session.config.max_cached_message_age)
        if message.WhichOneof("type") == "script_finished" and message.script_finished != EARLY:
            self._runs += 1
            self._kept = {name: run for name, run in self._kept.items() if self._runs - run <= self._age}


@asynccontextmanager
async def visitor(address: str, page: str = "", query: str = "") -> AsyncIterator[Visitor]:
    """A session of its own at a server's address; ``page`` is the word of one, without it the first."""
    stream = f"{address.replace('http', 'ws', 1)}/_stcore/stream"
    async with connect(stream, subprotocols=["streamlit", "x"], max_size=None, open_timeout=60) as connection:  # type: ignore[list-item]
        yield Visitor(connection, page, query)
