"""The model library on a machine that is too small for it: reported as such, every time."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

import pytest

from bartviz.errors import BudgetError
from bartviz.language import speaking
from bartviz.serving import torch_import
from tests.support.process import printed

SCRIPT = """
import resource
from bartviz.serving.engine import Engine
from bartviz.serving.request import Request
from bartviz.serving.limits import Limits

engine = Engine(Limits())
used = 1024 * int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1])
resource.setrlimit(resource.RLIMIT_AS, (used + 200_000_000, -1))  # the library maps more than that
for attempt in range(2):
    run = engine.start("a", Request("bert-tiny-en", "the cat sat"))
    assert run.wait(60)
    print(type(run.error).__name__, run.error)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="sets the limit of a Linux process")
def test_too_little_memory_for_the_library_is_reported_as_such() -> None:
    errors = printed(SCRIPT, os.environ | {"OMP_NUM_THREADS": "1"}).splitlines()
    assert len(errors) == 2
    assert all(line.startswith("BudgetError The machine has too little memory to start the model") for line in errors)


def test_a_second_attempt_fails_for_the_same_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_import, "imported", lambda: False)
    monkeypatch.setattr(torch_import, "_SHORT", threading.Event())
    errors = [
        ImportError("libtorch_cpu.so: failed to map segment from shared object"),
        RuntimeError("function '_has_torch_function' already has a docstring"),
    ]

    def broken(name: str, *rest: Any) -> Any:
        if name == "bartviz.run.forward":
            raise errors.pop(0)
        return real(name, *rest)

    real = __import__
    monkeypatch.setattr("builtins.__import__", broken)
    for _ in range(2):
        with pytest.raises(BudgetError, match="takes about 400 MB") as told:
            torch_import.load()
    monkeypatch.undo()
    with speaking("ko"):
        assert "메모리가 부족" in str(told.value)


def test_another_error_of_the_library_is_reported_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_import, "imported", lambda: False)
    monkeypatch.setattr(torch_import, "_SHORT", threading.Event())
    monkeypatch.setitem(sys.modules, "bartviz.run.forward", None)
    with pytest.raises(ImportError):
        torch_import.load()
