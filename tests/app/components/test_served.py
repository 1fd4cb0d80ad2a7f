"""Scripts with an address: one folder for all threads."""

from __future__ import annotations

import gc
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import streamlit as st

from bartviz.app.components import served


def anew() -> None:
    served.folder().cleanup()
    served.folder.cache_clear()


@pytest.mark.slow
def test_visitors_who_come_at_the_same_moment_get_scripts_that_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    named: list[Path] = []
    monkeypatch.setattr(served, "address", lambda _name, folder: named.append(folder))
    make = tempfile.TemporaryDirectory

    def slow(**given: Any) -> Any:
        time.sleep(0.2)  # all threads have asked before the first has an answer
        return make(**given)

    monkeypatch.setattr(tempfile, "TemporaryDirectory", slow)
    monkeypatch.setattr(st.components.v2, "component", lambda _name, js, **_: lambda: js)
    anew()
    script = served.Served("script", html="", css="", script="export default 1;")
    together = threading.Barrier(4)

    def ask() -> str:
        together.wait(30)
        return str(script())

    with ThreadPoolExecutor(4) as pool:
        files = {future.result() for future in [pool.submit(ask) for _ in range(4)]}
    gc.collect()
    assert len(files) == len(set(named)) == 1
    assert (named[0] / files.pop()).read_text("utf-8") == "export default 1;"
    anew()
