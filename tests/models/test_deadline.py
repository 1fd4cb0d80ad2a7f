"""Waiting for work that may hang."""

from __future__ import annotations

import threading
import time
from contextvars import ContextVar

import pytest

from bartviz.errors import Cancelled, ModelError, SettingError
from bartviz.models import deadline
from bartviz.models.deadline import Job


def test_the_result_comes_back() -> None:
    assert deadline.run(lambda job: 40 + 2, seconds=60) == 42


def test_what_the_work_raises_comes_back() -> None:
    def fail(job: Job) -> None:
        raise SettingError("no")

    with pytest.raises(SettingError, match="no"):
        deadline.run(fail, seconds=60)


def test_progress_is_reported_in_the_callers_thread_until_the_end() -> None:
    told: list[tuple[int, int, int]] = []

    def work(job: Job) -> None:
        for done in range(1, 4):
            job.done, job.size = done, 3
            time.sleep(2 * deadline.TICK)

    deadline.run(work, seconds=60, progress=lambda done, total: told.append((done, total, threading.get_ident())))
    assert told[-1] == (3, 3, threading.get_ident())
    assert [done for done, _, _ in told] == sorted({done for done, _, _ in told})


@pytest.mark.parametrize("way", ["deadline", "cancel", "a broken progress"])
def test_nobody_waits_for_work_that_hangs_and_it_learns_so(way: str) -> None:
    hang, learnt, cancel = threading.Event(), threading.Event(), threading.Event()

    def work(job: Job) -> None:
        job.done, job.size = 1, 2
        hang.wait(60)
        try:
            job.check()
        except (Cancelled, ModelError):
            learnt.set()
            raise

    def progress(done: int, total: int) -> None:
        if way == "cancel":
            cancel.set()
        if way == "a broken progress":
            raise KeyboardInterrupt

    start = time.monotonic()
    expected = {"deadline": ModelError, "cancel": Cancelled, "a broken progress": KeyboardInterrupt}[way]
    with pytest.raises(expected):
        deadline.run(work, seconds=0.2 if way == "deadline" else 60, cancel=cancel, progress=progress)
    assert time.monotonic() - start < 30  # not as long as the work would have waited
    hang.set()
    assert learnt.wait(60)


@pytest.mark.parametrize(
    ("arrived", "said"), [(0, "did not deliver.* 0.0 of 2.0 MB"), (500_000, "0.5 of 2.0 MB"), (2_000_000, "not ready")]
)
def test_an_expired_deadline_says_how_much_was_downloaded(arrived: int, said: str) -> None:
    def work(job: Job) -> None:
        job.done, job.size = arrived, 2_000_000
        job.pause(20)

    with pytest.raises(ModelError, match=said):
        deadline.run(work, seconds=0.1)


def test_the_callers_context_is_seen() -> None:
    variable: ContextVar[str] = ContextVar("variable", default="outside")
    variable.set("inside")
    assert deadline.run(lambda job: variable.get(), seconds=60) == "inside"


def test_within_gives_up() -> None:
    assert deadline.within(60, lambda: 3) == 3
    hang = threading.Event()
    with pytest.raises(TimeoutError):
        deadline.within(0.05, lambda: hang.wait(20))
    hang.set()


def test_a_small_download_does_not_read_0_of_0() -> None:
    assert deadline.downloading(0, 212_000_000) == "Downloading the model: 0 of 212 MB"
    assert deadline.downloading(30_000, 400_000) == "Downloading the model: 0.03 of 0.40 MB"
