"""Fixtures that every test may use. Those of pages are in ``tests/support/pages.py``."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from hypothesis import settings

from bartviz.record.record import Record
from tests.support import stand_in
from tests.support.flaky import pytest_runtest_protocol, pytest_terminal_summary
from tests.support.lanes import pytest_collection_modifyitems

__all__ = ["pytest_collection_modifyitems", "pytest_runtest_protocol", "pytest_terminal_summary"]

# The same examples in every run, more of them in ``make thorough``, and no clock: a busy machine is no fault.
settings.register_profile("bartviz", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("thorough", settings.get_profile("bartviz"), max_examples=100)
settings.load_profile("bartviz")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is imported and collected stays to the end: the garbage collector need not look at it again and again."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


@pytest.fixture
def record() -> Record:
    """An encoder-decoder record with random numbers."""
    return stand_in.record()
