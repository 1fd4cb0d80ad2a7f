"""A browser's test that fails once is tried again and named; one that fails twice fails, and no other is repeated."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ("pytester",)
ROOT = Path(__file__).parents[2]
TESTS = """
import pathlib, pytest

def tried(name):
    file = pathlib.Path(name)
    file.write_text(file.read_text() + "x" if file.exists() else "x")
    return len(file.read_text())

@pytest.fixture
def fresh():
    return []

@pytest.mark.browser
def test_once(fresh):
    assert not fresh
    fresh.append(1)
    assert tried("once") == 2

@pytest.mark.browser
def test_always():
    tried("always")
    raise ValueError

@pytest.mark.browser
def test_never():
    tried("never")

def test_other():
    tried("other")
    raise ValueError
"""


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["-n", "1"]], ids=["alone", "xdist"])
def test_what_passes_on_the_second_try_is_named(pytester: pytest.Pytester, options: list[str]) -> None:
    pytester.makeini("[pytest]\nmarkers = browser\n")
    pytester.makeconftest(
        f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n"
        "from tests.support.flaky import pytest_runtest_protocol, pytest_terminal_summary\n"
    )
    pytester.makepyfile(test_it=TESTS)
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider", *options)
    done.assert_outcomes(passed=2, failed=2)
    named = [line for line in done.outlines if line.startswith("flaky: ")]
    assert named == ["flaky: test_it.py::test_once (passed on the second try)"]
    counts = {name: len((pytester.path / name).read_text()) for name in ("once", "always", "never", "other")}
    assert counts == {"once": 2, "always": 2, "never": 1, "other": 1}
