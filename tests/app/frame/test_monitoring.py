"""What an operator asks the server: ready or not, and figures; never a text of a visitor."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.requests import Request

from bartviz.app.frame import monitoring
from bartviz.app.state import session
from scripts.serving import served
from scripts.visitor import visitor, wait_for

TEXT = "A quokka is sleeping under the tree."


def ask(address: str, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(address + path, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def figures(address: str) -> dict[str, float]:
    """Every sample by its name and labels."""
    status, text = ask(address, "/metrics")
    assert status == 200
    assert "quokka" not in text
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {" ".join([sample.name, *sample.labels.values()]): sample.value for sample in samples}


async def run(address: str, text: str) -> None:
    async with visitor(address, query=f"model=bart-tiny-en-de&text={text.replace(' ', '+')}") as one:
        await one.until(lambda said: "class='bv-status'" in said)


@pytest.mark.parametrize(
    ("imported", "waiting", "status"), [(True, 0, 200), (True, 255, 200), (True, 256, 503), (False, 0, 503)]
)
def test_a_server_is_not_ready_without_its_library_or_with_a_full_queue(
    imported: bool, waiting: int, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[float] = []
    engine = SimpleNamespace(ready=imported, waiting=waiting, queue=256, warm_up=begun.append)
    monkeypatch.setattr(session, "engine", lambda: engine)
    answer = wait_for(monitoring.ready(Request({"type": "http"})))
    assert answer.status_code == status
    assert json.loads(bytes(answer.body)) == {"library": imported, "waiting": waiting, "room": 256 - waiting}
    assert begun == [0]


@pytest.mark.slow
def test_a_server_is_ready_when_it_answers_and_counts_what_it_does(tmp_path: Path) -> None:
    with served(tmp_path / "log") as (address, _):
        before = figures(address)
        assert ask(address, "/healthz") == (200, "ok")
        status, text = ask(address, "/readyz")
        assert status == 200  # the library is imported before anyone is answered
        assert json.loads(text) == {"library": True, "waiting": 0, "room": 256}
        refused = urllib.request.Request(address + "/readyz", headers={"Host": "evil.example"})
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(refused, timeout=30)
        wait_for(run(address, TEXT))
        after = figures(address)
    assert before["bartviz_runs_total done"] == before["bartviz_refused_requests_total"] == 0
    assert (after["bartviz_runs_total done"], after["bartviz_runs_total failed"]) == (1, 0)
    assert after["bartviz_run_seconds_total"] > 0
    assert after["bartviz_model_cached"] == after["bartviz_refused_requests_total"] == 1
    assert 0 < after["bartviz_model_bytes"] < after["bartviz_model_limit_bytes"]
    assert after["bartviz_waiting_limit_runs"] == 256
    assert after["bartviz_record_limit_bytes"] == 256e6
    assert after["process_resident_memory_bytes"] > before["process_resident_memory_bytes"]
