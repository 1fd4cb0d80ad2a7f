"""Which tokens of a templated chat belong to which message.

A chat template is a program: it may put the system's message into the user's, trim texts, or add a message of its own.
So the messages are rendered a second time with a mark in place of each content, which shows the template's own text
between them; the contents are then found in the chat itself by what surrounds them. Where one message ends and the next
begins is seen in the chat without the later ones. What no message owns, such as the template's first token, has none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from bartviz.record.turns import Turn

Message = Mapping[str, str]
Render = Callable[[Sequence[Message], bool], str]
"""The template: messages, and whether the answer's beginning follows -> text. Raises what the template raises."""
ANSWER = "assistant"  # the role of what a model writes, whatever its template calls it
_MARK = re.compile("\ue000(\\d+)\ue001")  # characters for private use: no template looks for them


class Part(NamedTuple):
    """The characters of a message in the text of a chat, from ``start`` up to ``end``."""

    role: str
    start: int
    end: int


def parts(
    render: Render, messages: Sequence[Message], text: str, *, begun: bool, begin: str = ""
) -> tuple[Part, ...] | None:
    """The messages in the text that the template makes of them, and the answer that it begins; None where the template
    changes contents beyond white space at their ends, or leaves one out. ``begin``: the token that begins a text."""
    marked = _marked(messages)
    whole = _rendered(render, marked, begun=begun)
    if whole is None:
        return None
    own = _MARK.split(whole)  # the template's text, then a number and its text, and so on
    literals = own[::2]
    if own[1::2] != [str(number) for number in range(len(messages))]:
        return None
    contents = _contents(literals, [message["content"] for message in messages], text)
    if contents is None:
        return None
    starts, ends = [contents[0][0] - _header(render, messages, literals[0], begin)], list[int]()
    for number in range(1, len(messages)):
        (_, before), (after, _) = contents[number - 1 : number + 1]
        closing = _closing(_rendered(render, marked[:number], begun=False), number, literals[number])
        ends.append(before + (closing or 0))
        starts.append(after if closing is None else before + closing)
    tail = len(literals[-1])
    if begun:
        tail = _closing(_rendered(render, marked, begun=False), len(messages), literals[-1]) or 0
    ends.append(contents[-1][1] + tail)
    found = [Part(message["role"], *place) for message, *place in zip(messages, starts, ends, strict=True)]
    return (*found, Part(ANSWER, ends[-1], len(text))) if begun else tuple(found)


def turns(found: Sequence[Part], ends: Sequence[int | None]) -> tuple[Turn, ...]:
    """The messages as tokens; ``ends``: where each token ends in the text, None for one that is not part of it. A token
    belongs to the message in which it ends."""
    made, at, start = [], 0, 0
    known = [at := at if end is None else max(at, end) for end in ends]
    for part in found:
        first = next((place for place in range(start, len(known)) if known[place] > part.start), len(known))
        start = next((place for place in range(first, len(known)) if known[place] > part.end), len(known))
        made.append(Turn(part.role, first, start))
    return tuple(made)


def _marked(messages: Sequence[Message]) -> list[Message]:
    return [{**message, "content": f"\ue000{number}\ue001"} for number, message in enumerate(messages)]


def _rendered(render: Render, messages: Sequence[Message], *, begun: bool) -> str | None:
    """The text of a chat; None where the template refuses it, as one that wants the roles in turn does."""
    try:
        return render(messages, begun)
    except Exception:  # a template may raise whatever its author wrote
        return None


def _contents(literals: Sequence[str], contents: Sequence[str], text: str) -> list[tuple[int, int]] | None:
    """The place of each content between the template's own texts, which together are the whole text; else None."""
    if not text.startswith(literals[0]):
        return None
    at, found = len(literals[0]), list[tuple[int, int]]()
    for content, after in zip(contents, literals[1:], strict=True):
        for written in (content, content.strip(), content.rstrip(), content.lstrip()):
            if text.startswith(written + after, at):
                break
        else:
            return None
        found.append((at, at + len(written)))
        at += len(written) + len(after)
    return found if at == len(text) else None


def _closing(shorter: str | None, count: int, literal: str) -> int | None:
    """How many characters behind the last of so many messages are there without what follows it, too: they close it.
    None where the template does not show these messages alone."""
    pieces = [""] if shorter is None else _MARK.split(shorter)
    if pieces[1::2] != [str(number) for number in range(count)]:
        return None
    together = zip(pieces[-1], literal, strict=False)
    return sum(1 for _ in takewhile(lambda both: both[0] == both[1], together))


def _header(render: Render, messages: Sequence[Message], before: str, begin: str) -> int:
    """How many characters before the first content belong to its message: of a role that may come again those that it
    has the second time, of a system's message all but the first token, unless the user's has the same."""
    role = messages[0]["role"]
    if role not in (ANSWER, "user"):
        users = _rendered(render, _marked([{"role": "user"}]), begun=False)
        alike = users is not None and _MARK.split(users)[0] == before
        return 0 if alike else len(before.removeprefix(begin))
    again = _marked([{"role": role}, {"role": "user" if role == ANSWER else ANSWER}, {"role": role}])
    pieces = _MARK.split(_rendered(render, again, begun=False) or "")
    if pieces[1::2] != ["0", "1", "2"]:
        return 0
    closing = _closing(_rendered(render, again[:2], begun=False), 2, pieces[4])
    header = "" if closing is None else pieces[4][closing:]
    return len(header) if before.endswith(header) else 0
