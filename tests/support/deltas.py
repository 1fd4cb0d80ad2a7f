"""What a page sends, put together as the browser does it.

Streamlit joins messages about one place while they wait to be sent, and may so bring them out of order. The browser
then meets a part of a block that is not there, and shows nothing more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

_ROOTS = 4  # the page, the sidebar, what stays unseen, the bottom


@dataclass
class _Node:
    """A block by its kind, or an element; an element has no children."""

    kind: str | None = None
    children: list[_Node] = field(default_factory=list)


def check(messages: Iterable[ForwardMsg]) -> None:
    """Hold that each message finds its place when it comes."""
    root = _Node("root", [_Node("root") for _ in range(_ROOTS)])
    for message in messages:
        if message.HasField("delta") and message.delta.WhichOneof("type") in ("add_block", "new_element"):
            _put(root, message)


def _put(root: _Node, message: ForwardMsg) -> None:
    path, delta = list(message.metadata.delta_path), message.delta
    node = root
    for index in path[:-1]:
        assert index < len(node.children), f"{path} comes before the block that it is in"
        node = node.children[index]
        assert node.kind is not None, f"{path} is in an element, not in a block"
    last = path[-1]
    assert last <= len(node.children), f"{path} comes before what stands above it"
    kind = delta.add_block.WhichOneof("type") or "vertical" if delta.WhichOneof("type") == "add_block" else None
    made = _Node(kind)
    if last == len(node.children):
        node.children.append(made)
        return
    if kind is not None and node.children[last].kind == kind:
        made.children = node.children[last].children
    node.children[last] = made
