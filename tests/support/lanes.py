"""Which cases of a test run always, and which only in ``make thorough``.

``@pytest.mark.some("start", "heads")``: of the test's cases those with one of these words in their name run always, the
others only in ``make thorough``: they repeat for more what these show. ``some(3)``: the first three; ``some()``: the
families of networks below.
"""

from __future__ import annotations

from itertools import groupby

import pytest

# One family or more for each way in which networks differ: position encodings, shared layers, windows, soft caps,
# attention sinks, queries grouped, both stacks, tied weights.
FAMILIES = (
    *("bert", "albert", "modernbert"),
    *("bart", "marian", "t5"),
    *("gpt2", "opt", "mistral", "gemma2", "gpt_oss", "llama", "glm"),
)


@pytest.hookimpl(tryfirst=True)  # before those that the command line does not ask for are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for _, cases in groupby(items, key=lambda item: item.nodeid.partition("[")[0]):
        choose(list(cases))


def choose(cases: list[pytest.Item]) -> None:
    """Mark as thorough those that the test's own mark does not name; if none is there, all but the first."""
    mark = cases[0].get_closest_marker("some")
    if mark is None:
        return
    if mark.args and isinstance(mark.args[0], int):
        always = cases[: mark.args[0]]
    else:
        words = set(mark.args or FAMILIES)
        always = [case for case in cases if words & set(words_of(case))]
    for case in cases:
        if case not in (always or cases[:1]):
            case.add_marker(pytest.mark.thorough)


def words_of(case: pytest.Item) -> list[str]:
    """What stands in the brackets of a case's name: ``bert-cross`` has the words "bert" and "cross"."""
    inside = case.nodeid.partition("[")[2].removesuffix("]")
    return [inside, *inside.split("-")]
