"""The server that pictures, measurements and browser tests start: its environment is a user's."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import memory
from scripts.serving import served


@pytest.mark.thorough
@pytest.mark.slow
def test_what_holds_a_benchmark_to_one_thread_does_not_reach_its_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    with served(without=memory.OURS) as (_address, process):
        environment = Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0")
    assert b"HF_HUB_OFFLINE=1" in environment
    assert not any(entry.startswith(b"OMP_NUM_THREADS=") for entry in environment)
