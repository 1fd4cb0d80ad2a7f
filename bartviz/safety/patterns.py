"""Regular expressions of others: only those that take time in proportion to the text are accepted.

The engine behind a tokenizer goes back and tries again where a match fails, so a short pattern may take minutes on a
text of a page (``a*a*b``), or for ever (``(a+)+b``), and nothing can stop it meanwhile. A pattern is accepted if no
failure can come after something unbounded was read: behind ``x+`` everything is optional. Where something must follow
(``\\s*[\\r\\n]+``), a later branch has to take the whole run (``\\s+``), so that it is read twice and not once for
each of its characters. That covers the patterns that tokenizers are known to have.

In proportion is not enough: ``[a-z]{1,90}[a-z]{1,90}[0-9]`` tries 8,100 ways at every character. So the steps that a
match may take are counted, too (``steps``), and few are accepted.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

MAX_LENGTH = 4096  # characters of a pattern; the longest known one has 1,500
MAX_STEPS = 1_000  # at each character of a text, of which each takes some nanoseconds; the most known ones are 356
_MAX_WAYS = 10_000  # in which the bounded part of a branch may match: no more are counted
MAX_REPEATS = 256  # of something bounded
MAX_DEPTH = 16  # groups in groups

_QUANTIFIER = re.compile(r"[*+?]|\{(\d{0,6})(,?)(\d{0,6})\}")
_GROUP = re.compile(r"\((?:\?(?:[imx]*(?:-[imx]+)?:|[=!>]|<[=!]))?")
_ESCAPE = re.compile(
    r"\\(?:[pP]\{[^{}]*\}|x\{[0-9A-Fa-f ]+\}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[^1-9gkKRXNOGQEyYcCM])", re.S
)
_ANCHORS = frozenset(("^", "$", r"\b", r"\B", r"\A", r"\z", r"\Z"))


class _Refused(Exception):
    """A pattern with something that is not known to be safe."""


@dataclass(frozen=True)
class _Item:
    """One part of a branch: a character of some class, a group, or a condition (``text`` begins with ``(?`` or it is
    an anchor); how often it may be there, without end if ``most`` is None."""

    text: str
    kind: Literal["character", "group", "condition"]
    branches: tuple[tuple[_Item, ...], ...] = ()
    least: int = 1
    most: int | None = 1

    @property
    def endless(self) -> bool:
        return self.most is None or any(item.endless for branch in self.branches for item in branch)


_Branch = tuple[_Item, ...]


@lru_cache(1024)
def is_linear(pattern: str) -> bool:
    """Whether a pattern takes time in proportion to any text that it is searched in."""
    if len(pattern) > MAX_LENGTH:
        return False
    try:
        branches, end = _branches(pattern, 0, 0)
        return (
            end == len(pattern)
            and _steps(branches) <= MAX_STEPS
            and all(
                _never_returns(branch) or _is_covered(branch, branches[n + 1 :]) for n, branch in enumerate(branches)
            )
        )
    except _Refused:
        return False


def steps(pattern: str) -> float:
    """How many steps a search may take at each character of a text, at most, apart from what is unbounded; infinity
    for a pattern that is not understood."""
    try:
        return _steps(_branches(pattern, 0, 0)[0])
    except _Refused:
        return math.inf


def matches_nothing(pattern: str) -> bool:
    """Whether a pattern matches the empty text, and so everywhere. Raises nothing: True if it is not understood."""
    try:
        return any(map(_may_be_empty, _branches(pattern, 0, 0)[0]))
    except _Refused:
        return True


def _may_be_empty(branch: _Branch) -> bool:
    return all(item.least == 0 or item.kind == "condition" or any(map(_may_be_empty, item.branches)) for item in branch)


def _branches(pattern: str, start: int, depth: int) -> tuple[tuple[_Branch, ...], int]:
    """The alternatives from ``start`` to the end of the group, and that end."""
    if depth > MAX_DEPTH:
        raise _Refused
    branches: list[_Branch] = []
    items: list[_Item] = []
    while start < len(pattern) and pattern[start] != ")":
        if pattern[start] == "|":
            branches.append(tuple(items))
            items, start = [], start + 1
            continue
        item, start = _item(pattern, start, depth)
        while found := _QUANTIFIER.match(pattern, start):
            item, start = _repeated(item, found, pattern)
        items.append(item)
    return (*branches, tuple(items)), start


def _item(pattern: str, start: int, depth: int) -> tuple[_Item, int]:
    sign = pattern[start]
    if sign == "(":
        head = _GROUP.match(pattern, start)
        assert head is not None
        branches, end = _branches(pattern, head.end(), depth + 1)
        if pattern[end : end + 1] != ")" or pattern[head.end() : head.end() + 1] == "?":
            raise _Refused
        kind: Literal["group", "condition"] = "condition" if head[0][-1] in "=!" else "group"
        item = _Item(pattern[start : end + 1], kind, branches)
        if kind == "condition" and item.endless:
            raise _Refused
        return item, end + 1
    if sign == "[":
        end = _class_end(pattern, start)
        return _Item(pattern[start:end], "character"), end
    if sign == "\\":
        found = _ESCAPE.match(pattern, start)
        if found is None:
            raise _Refused
        return _Item(found[0], "condition" if found[0] in _ANCHORS else "character"), found.end()
    if sign in "*+?":
        raise _Refused
    return _Item(sign, "condition" if sign in _ANCHORS else "character"), start + 1


def _class_end(pattern: str, start: int) -> int:
    """The index behind a class such as ``[^a-z[\\p{L}]]``."""
    depth, index = 0, start
    while index < len(pattern):
        sign = pattern[index]
        if sign == "\\":
            index += 1
        elif sign == "[":
            depth += 1
            if pattern[index + 1 : index + 2] == "]" or pattern[index + 1 : index + 3] == "^]":
                raise _Refused
        elif sign == "]":
            depth -= 1
            if not depth:
                return index + 1
        index += 1
    raise _Refused


def _repeated(item: _Item, found: re.Match[str], pattern: str) -> tuple[_Item, int]:
    """An item with its quantifier, which may be lazy or possessive."""
    if item.kind == "condition":
        raise _Refused
    least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(found[0], (0, None))
    end = found.end()
    if found[0][0] == "{":
        if not (found[1] or found[3]):
            raise _Refused
        least = int(found[1] or 0)
        most = (int(found[3]) if found[3] else None) if found[2] else least
    elif pattern[end : end + 1] in ("?", "+"):
        if pattern[end] == "?" and most is None:
            raise _Refused
        end += 1
    if least > MAX_REPEATS or (most or 0) > MAX_REPEATS or (most is not None and most < least):
        raise _Refused
    if (item.least, item.most) != (1, 1):
        item = _Item(item.text, "group", ((item,),))  # a quantifier behind a quantifier
    return _Item(item.text, item.kind, item.branches, least, most), end


def _never_returns(branch: _Branch) -> bool:
    """Whether nothing can fail behind what is unbounded."""
    endless = False
    for item in branch:
        if endless and (item.least > 0 or item.kind == "condition"):
            return False
        if item.kind == "group":
            if not all(map(_never_returns, item.branches)):
                return False
            if item.least > 1 and any(part.endless for inner in item.branches for part in inner):
                return False
        endless = endless or item.endless
    return True


def _is_covered(branch: _Branch, later: tuple[_Branch, ...]) -> bool:
    """Whether characters read without a match are taken as a whole by a later branch."""
    run = _run(branch)
    if run is None or not _never_returns(branch[branch.index(run) + 1 :]):
        return False
    if _takes_all(branch, run):
        return True
    for other in later:
        if _takes_all(other, run):
            return True
        same = _run(other)
        if same is None or same.text != run.text:
            return False
    return False


def _run(branch: _Branch) -> _Item | None:
    """The first unbounded item of a branch, if it is a character."""
    first = next((item for item in branch if item.endless), None)
    return first if first is not None and first.kind == "character" else None


def _takes_all(branch: _Branch, run: _Item) -> bool:
    """Whether a branch matches every run of these characters as a whole, or all but the last."""
    if tuple(item.text for item in branch) == (r"\s", r"(?!\S)") == (run.text, r"(?!\S)"):
        return True
    mine = _run(branch)
    if mine is None or mine.text != run.text or mine.least > max(1, run.least) or not _never_returns(branch):
        return False
    return all(item.least == 0 for item in branch[: branch.index(mine)])


def _steps(branches: tuple[_Branch, ...]) -> int:
    return sum(_ways(branch) * _width(branch) for branch in branches)


def _ways(branch: _Branch) -> int:
    """An upper bound of the ways in which the bounded items of a branch match."""
    ways = 1
    for item in branch:
        inner = sum(map(_ways, item.branches)) if item.branches else 1
        repeats = item.most if item.most is not None else max(item.least, 1)
        of_repeats: int = max(1, inner) ** min(repeats, 64)
        ways *= of_repeats * (1 if item.most is None else item.most - item.least + 1)
        if ways > _MAX_WAYS:
            return ways
    return ways


def _width(branch: _Branch) -> int:
    """The characters that a branch matches at most, with each unbounded item once: the size of what is compiled."""
    return sum(max(map(_width, item.branches), default=1) * max(item.least, item.most or 1, 1) for item in branch)
