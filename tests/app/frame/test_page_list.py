"""The words that code and tests name pages by: links to a page that is not there are left out, and tests skipped."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import pytest

from bartviz.app.frame import page_list
from scripts.layers import PACKAGE, ROOT

# What is called with the word of a page -> which of its arguments that is.
ASKS = {
    "page_list.has": 0,
    "page_list.page": 0,
    "page.begin": 0,
    "page.link": 0,
    "related_links.Link": 0,
    "Link": 0,  # of related_links itself
    "Step": 0,  # of a lesson
    "Box": 1,  # of the picture of the blocks
    "Claim": 3,  # of the textbook
    "Question": 5,  # of the quiz
    "app": 0,  # in tests
    "visits.opened": 0,
    "opened": 0,
    "menu": 1,
}
LAST = {name.rpartition(".")[2] for name in ASKS}
FOLDERS = (PACKAGE, ROOT / "scripts", *(ROOT / "tests" / name for name in ("app", "browser", "features", "teaching")))


def named(source: str) -> Iterator[tuple[int, str]]:
    """Line and word of every page that a file names, in calls and by the file of the page."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id=last) | ast.Attribute(attr=last) as asked) if last in LAST:
                at = ASKS.get(ast.unparse(asked), len(node.args))
                if at >= len(node.args):
                    continue
                match node.args[at]:
                    case ast.Constant(value=str(word)):
                        yield node.lineno, word
            case ast.Constant(value=str(file)) if file.startswith("pages/") and file.endswith(".py"):
                yield node.lineno, Path(file).stem


@pytest.mark.parametrize(
    "source", ['page_list.has("masks")', 'Box(title, "masks")', 'test.switch_page("pages/masks.py")']
)
def test_a_name_is_seen_wherever_it_is(source: str) -> None:
    assert list(named(source)) == [(1, "masks")]


@pytest.mark.slow  # not among the quick tests that scripts/without.py runs: those may name what is deleted
def test_every_page_that_is_named_is_in_the_menu() -> None:
    files = sorted(chain.from_iterable(folder.rglob("*.py") for folder in FOLDERS))
    found = [(file, line, word) for file in files for line, word in named(file.read_text("utf-8"))]
    assert {word for _file, _line, word in found} >= {entry.word for entry in page_list.PAGES}
    assert [
        f"{file.relative_to(ROOT)}:{line}: {word}"
        for file, line, word in found
        if not page_list.has(word) and word != "nowhere"
    ] == []


@pytest.mark.slow
def test_every_module_that_tests_import_where_it_is_there_is_there() -> None:
    texts = [file.read_text("utf-8") for file in (ROOT / "tests").rglob("*.py")]
    names = {name for text in texts for name in re.findall(r'importorskip\("(bartviz\.features\.[\w.]+)"', text)}
    assert names
    assert [name for name in sorted(names) if find_spec(name) is None] == []
