"""Starting a server: seventeen visitors before it is warm, pages of other sites, allowed hosts."""

from __future__ import annotations

import asyncio
import http.client
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import segno
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from bartviz.app.frame.page_list import PAGES
from bartviz.serving import hosts
from scripts.serving import health, served
from scripts.visitor import visitor, wait_for


def ask(address: str, path: str = "/", **headers: str) -> http.client.HTTPResponse:
    """One request with these headers, its Host too, as no browser lets a page choose it."""
    host, port = address.removeprefix("http://").split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=30)
    connection.putrequest("GET", path, skip_host=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


async def knock(address: str, **headers: str) -> int:
    """The status of a websocket handshake: 101 where it is accepted."""
    stream = f"{address.replace('http', 'ws', 1)}/_stcore/stream"
    try:
        async with connect(stream, additional_headers=headers, subprotocols=["streamlit"], open_timeout=60):  # type: ignore[list-item]
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


@contextmanager
def swallowing() -> Iterator[tuple[str, list[bytes]]]:
    """A proxy that takes every packet and never answers, as a school's firewall does; and what it was sent."""
    seen: list[bytes] = []
    kept: list[socket.socket] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def take() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                kept.append(connection)
                seen.append(connection.recv(1000))

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}", seen
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(10)
    for connection in kept:
        connection.close()


@pytest.mark.thorough
@pytest.mark.slow
def test_visitors_of_every_page_of_a_server_that_has_just_started_all_see_their_page(tmp_path: Path) -> None:
    async def open_page(address: str, word: str) -> tuple[str, list[str], str]:
        async with visitor(address, page="" if word == PAGES[0].word else word) as one:
            sent = await one.run()
            return word, sent.failed, sent.text

    async def all_at_once(address: str) -> list[tuple[str, list[str], str]]:
        return await asyncio.gather(*(open_page(address, page.word) for page in PAGES))

    with served(tmp_path / "log") as (address, _):
        found = wait_for(all_at_once(address))
    assert len(found) == len(PAGES)
    assert {word: failed for word, failed, _ in found if failed} == {}
    assert all(said for _, _, said in found)
    assert "Traceback" not in (tmp_path / "log").read_text("utf-8")


@pytest.mark.thorough
@pytest.mark.slow
def test_a_page_of_another_site_is_refused_without_a_name_lookup(tmp_path: Path) -> None:
    async def attack(address: str) -> list[int]:
        foreign = ("http://evil.example", "null", "http://localhost:1", "https://127.0.0.1.evil.example", "file://")
        return await asyncio.gather(*(knock(address, Origin=origin) for origin in foreign * 2))

    with swallowing() as (proxy, seen):
        firewall = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), proxy)
        with served(tmp_path / "log", no_proxy="", NO_PROXY="", **firewall) as (address, _):
            waits: list[float | None] = []
            statuses: list[int] = []
            attacker = threading.Thread(target=lambda: statuses.extend(wait_for(attack(address))))
            attacker.start()
            while attacker.is_alive():
                waits.append(health_directly(address))
                time.sleep(0.05)
            same = wait_for(knock(address, Origin=address))
    assert statuses == [403] * 10
    assert same == 101
    assert seen == []
    assert all(wait is not None and wait < 0.3 for wait in waits), waits


def health_directly(address: str) -> float | None:
    started = time.monotonic()
    answer = ask(address, "/_stcore/health", Host=address.removeprefix("http://"))
    return time.monotonic() - started if answer.status == 200 else None


@pytest.mark.slow
def test_only_names_that_are_served_are_answered_and_every_answer_forbids_what_pages_never_need() -> None:
    with served() as (address, _):
        here = address.removeprefix("http://")
        for path in ("/", "/_stcore/health", "/_stcore/host-config", "/no/such/page"):
            ours, foreign = ask(address, path, Host=here), ask(address, path, Host="evil.example")
            assert (ours.status, foreign.status) == (200, 403)
            for answer in (ours, foreign):
                assert answer.headers["X-Content-Type-Options"] == "nosniff"
                assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"
                assert answer.headers["Content-Security-Policy"] == "frame-ancestors 'self'"
        assert ask(address, Host=here, Origin="http://evil.example").status == 403
        assert wait_for(knock(address)) == 101
        port = here.partition(":")[2]
        with pytest.raises(InvalidStatus):
            wait_for(_as_host(address, f"evil.example:{port}"))


@pytest.mark.thorough
@pytest.mark.slow
def test_a_site_that_the_setting_names_may_frame_every_answer() -> None:
    with served(BARTVIZ_FRAME_ANCESTORS="https://course.example") as (address, _):
        for path in ("/", "/_stcore/health", "/_stcore/host-config"):
            answer = ask(address, path, Host=address.removeprefix("http://"))
            assert answer.headers["Content-Security-Policy"] == "frame-ancestors 'self' https://course.example"
            assert answer.headers["X-Frame-Options"] is None
            assert answer.headers["X-Content-Type-Options"] == "nosniff"


async def _as_host(address: str, host: str) -> None:
    """A handshake whose Host is a name that leads to this machine, as a name server may say."""
    stream = f"ws://{host}/_stcore/stream"
    ours, port = address.removeprefix("http://").split(":")
    async with connect(stream, host=ours, port=int(port), open_timeout=60):
        pass


@contextmanager
def started(*words: str) -> Iterator[tuple[str, subprocess.Popen[str], list[str]]]:
    """``bartviz app`` with these words: its address, its process, and the two lines that it prints."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "bartviz", "app", "--port", str(port), *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{port}", process, [process.stdout.readline(), process.stdout.readline()]
    finally:
        if process.poll() is None:
            process.terminate()
            process.communicate(timeout=60)


def _await(address: str, process: subprocess.Popen[str]) -> None:
    while health(address) is None:
        assert process.poll() is None
        time.sleep(0.1)


@pytest.mark.thorough
@pytest.mark.slow
def test_a_name_that_is_allowed_is_served_and_the_start_says_who_can_open_it() -> None:
    with started("--allow", "bart.example,*.school.example", "--allow", "10.0.0.9") as (address, process, said):
        assert said[0] == f"bartviz: {address} (Ctrl+C ends it)\n"
        assert said[1].startswith("Only this machine can open it, and anyone a proxy on it lets in as bart.example, ")
        _await(address, process)
        port = int(address.rpartition(":")[2])
        for name in ("bart.example", "a.school.example", "10.0.0.9:8000", "localhost"):
            assert ask(address, Host=name).status == 200
            assert wait_for(_proxied(port, name, f"http://{name}")) == 101
        assert wait_for(_proxied(port, "bart.example", "http://bart.example:8080")) == 101  # as nginx has it: $host
        assert wait_for(_proxied(port, f"127.0.0.1:{port}", "https://bart.example")) == 101  # a Host of its own
        assert ask(address, Host="evil.example").status == 403


async def _proxied(port: int, host: str, page: str) -> int:
    """The handshake as a proxy hands it on."""
    async with connect(f"ws://{host}/_stcore/stream", host="127.0.0.1", port=port, origin=page):  # type: ignore[arg-type]
        return 101


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--host", "bart.example"], "0.0.0.0 means all"),
        (["--allow", "https://bart.example/app"], "no scheme, port or path"),
    ],
)
def test_what_is_no_host_is_refused_before_anything_starts(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from bartviz.commands.cli import main

    with pytest.raises(SystemExit) as stop:
        main(["app", *words])
    assert stop.value.code == 2
    assert told in " ".join(capsys.readouterr().err.split())


def test_without_streamlit_no_address_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bartviz.commands.cli import main

    monkeypatch.setattr("bartviz.commands.app.find_spec", lambda _name: None)
    assert main(["app"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("bartviz: This command needs streamlit, which is not installed.")


def test_an_address_that_is_not_ours_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    from bartviz.commands.cli import main

    assert main(["app", "--host", "192.0.2.1", "--port", "18191"]) == 2
    assert "192.0.2.1 is not an address of this machine" in capsys.readouterr().err


@pytest.mark.thorough
@pytest.mark.slow
def test_a_path_of_its_own_is_said_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """As behind a proxy that serves it beside other things."""
    monkeypatch.setenv("STREAMLIT_SERVER_BASE_URL_PATH", "bart")

    async def open_page(address: str) -> list[str]:
        async with visitor(f"{address}/bart") as one:
            sent = await one.run()
            assert sent.text
            return sent.failed

    with started() as (address, process, said):
        _await(f"{address}/bart", process)
        assert said[0] == f"bartviz: {address}/bart/ (Ctrl+C ends it)\n"
        statuses = [ask(address, path, Host="localhost").status for path in ("/", "/healthz")]
        assert statuses == [404, 200]
        assert wait_for(open_page(address)) == []


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/maps").is_file(), reason="a process's libraries are read from Linux's /proc")
def test_the_model_library_is_there_before_the_first_visitor_is_answered() -> None:
    """Fifty who come to a server just started would otherwise all wait for its import, which they slow down."""
    with started() as (address, process, _):
        _await(address, process)
        assert "libtorch" in Path(f"/proc/{process.pid}/maps").read_text()


@pytest.mark.some(1)
@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_who_ends_it_gets_no_error(ending: signal.Signals) -> None:
    with started() as (address, process, said):
        assert said[0] == f"bartviz: {address} (Ctrl+C ends it)\n"
        _await(address, process)
        process.send_signal(ending)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert errors == ""
    assert health(address) is None  # the command has become the server: nothing else is left


def test_sharing_says_the_address_and_draws_its_code() -> None:
    from bartviz.commands.app import invitation

    said, *drawn = invitation(["192.168.1.5", "desk.local"], 8501).splitlines()
    assert "http://192.168.1.5:8501" in said
    rows = segno.make("http://192.168.1.5:8501", error="l").symbol_size(border=4)[1]
    assert len(drawn) == (rows + 1) // 2  # two rows of modules in a line of block characters
    assert "not in a network" in invitation([], 8501)


def test_sharing_with_this_machine_alone_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    from bartviz.commands.cli import main

    assert main(["app", "--share", "--host", "127.0.0.1"]) == 2
    assert "Leave out one of them" in capsys.readouterr().err


@pytest.mark.thorough
@pytest.mark.slow
def test_a_shared_app_listens_on_all_networks_and_answers_to_its_address() -> None:
    with started("--share") as (address, process, said):
        _await(address, process)
        names = hosts.machine_names("0.0.0.0")
        port = address.rpartition(":")[2]
        assert said[0] == f"bartviz: {hosts.url(names[0], int(port))} (Ctrl+C ends it)\n"
        assert f"http://{names[0]}:{port}" in said[1]
        assert ask(address, Host=f"{names[0]}:{port}").status == 200
        assert ask(address, Host="evil.example").status == 403
