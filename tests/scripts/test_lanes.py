"""Of a test's cases those that its mark names run always, the others only in ``make thorough``."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ("pytester",)
ROOT = Path(__file__).parents[2]
TESTS = """
import pytest

@pytest.mark.some("two", "four")
@pytest.mark.parametrize("other", ["a", "b"])
@pytest.mark.parametrize("word", ["one", "two", "three"])
def test_words(word, other): ...

@pytest.mark.some(1)
@pytest.mark.parametrize("number", [5, 6, 7])
def test_first(number): ...

@pytest.mark.some()
@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_families(family): ...

def test_unmarked(): ...
"""


def collected(pytester: pytest.Pytester, tests: str, *options: str) -> pytest.RunResult:
    pytester.makeini("[pytest]\nmarkers =\n  some\n  thorough\n")
    pytester.makeconftest(
        f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n"
        "from tests.support.lanes import pytest_collection_modifyitems\n"
    )
    pytester.makepyfile(test_it=tests)
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", "--collect-only", "-q", *options)


def test_the_cases_that_are_named_run_always(pytester: pytest.Pytester) -> None:
    found = collected(pytester, TESTS, "-m", "not thorough")
    named = [line.partition("::")[2] for line in found.outlines if "::" in line]
    assert named == ["test_words[two-a]", "test_words[two-b]", "test_first[5]", "test_families[bert]", "test_unmarked"]


def test_all_run_in_the_other_lane(pytester: pytest.Pytester) -> None:
    found = collected(pytester, TESTS)
    assert sum("::" in line for line in found.outlines) == 12


def test_where_the_cases_that_are_named_are_not_there_one_runs(pytester: pytest.Pytester) -> None:
    found = collected(pytester, TESTS.replace('"two", "four"', '"four"'), "-m", "not thorough", "-k", "test_words")
    assert [line.partition("::")[2] for line in found.outlines if "::" in line] == ["test_words[one-a]"]
