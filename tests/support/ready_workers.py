"""Workers of a corpus that start at once, from one process that has imported what each of them imports."""

from __future__ import annotations

from multiprocessing import get_all_start_methods, get_context

import pytest

from bartviz.corpus import workers

IMPORTED = ["bartviz.corpus.run", "bartviz.corpus.why", "bartviz.corpus.find_heads", "bartviz.corpus.series"]


@pytest.fixture
def ready_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork workers from a server of this test run, which is told what to do as a process that is spawned is.

    Imports take seconds of every worker that is spawned; ``tests/corpus/test_run.py`` spawns.
    """
    if "forkserver" in get_all_start_methods():
        context = get_context("forkserver")
        context.set_forkserver_preload(IMPORTED)
        monkeypatch.setattr(workers, "get_context", lambda _method: context)
