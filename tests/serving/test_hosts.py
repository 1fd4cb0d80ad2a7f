"""Host names: parsed, rejected, and listed at the start."""

from __future__ import annotations

import socket

import pytest

from bartviz.errors import SettingError
from bartviz.serving import hosts

LOCAL = ["127.0.0.1", "localhost"]


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8501", "127.0.0.1:1", "localhost.", "localhost.:80"])
def test_this_machine_is_served(host: str) -> None:
    assert hosts.serves(LOCAL, host)


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        ":8501",
        "evil.example",
        "localhost.evil.example",
        "evil.localhost",
        "127.0.0.1.evil.example",
        "localhost:port",
        "localhost:99999",
        "user@localhost",
        "localhost/",
        "localhost#",
        "127.0.0.2",
        "[::1",
        "[::1]",
    ],
)
def test_no_other_name_is(host: str | None) -> None:
    assert not hosts.serves(LOCAL, host)


def test_a_pattern_means_what_is_below_it() -> None:
    allowed = ["*.school.example", "::1"]
    assert hosts.serves(allowed, "bart.school.example")
    assert hosts.serves(allowed, "a.b.school.example:443")
    assert hosts.serves(allowed, "[::1]:8501")
    assert not hosts.serves(allowed, "school.example")
    assert not hosts.serves(allowed, "badschool.example")
    assert hosts.serves(["*"], "any.name")
    assert not hosts.serves([], "localhost")


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        (None, "localhost:8501"),
        ("http://localhost:8501", "localhost:8501"),
        ("http://localhost", "localhost:80"),
        ("https://LOCALHOST", "localhost:443"),
        ("http://127.0.0.1:9000", "127.0.0.1"),
        ("http://[::1]:85", "[::1]:85"),
        ("https://bart.example", "bart.example"),
        ("http://bart.example:8080", "bart.example"),
        ("https://bart.example", "127.0.0.1:8501"),  # the proxy wrote a Host of its own
    ],
)
def test_a_page_of_this_server_may_ask_it(origin: str | None, host: str) -> None:
    assert hosts.comes_from_here(["localhost", "bart.example"], origin, host)


@pytest.mark.parametrize(
    "origin",
    [
        "http://localhost:9000",
        "http://127.0.0.1:8501",
        "https://localhost:443",
        "http://evil.example:8501",
        "null",
        "",
        "file://",
        "http://",
        "http://localhost:8501/page",
        "http://me@localhost:8501",
        "http://localhost:x",
        "https://bart.example.evil.example",
        "localhost:8501",
    ],
)
def test_no_other_page_may(origin: str) -> None:
    assert not hosts.comes_from_here(["localhost", "127.0.0.1", "*", "bart.example"], origin, "localhost:8501")
    assert not hosts.comes_from_here(["localhost"], origin, None)


def test_names_are_read_with_commas_and_without_case() -> None:
    assert hosts.names("Bart.Example, 192.168.1.5,*.school.example,[::1], *") == [
        "bart.example",
        "192.168.1.5",
        "*.school.example",
        "::1",
        "*",
    ]
    assert hosts.names("") == []


@pytest.mark.parametrize("text", ["http://bart.example", "bart.example:443", "bart.example/app", "b art", "-x", "a..b"])
def test_what_is_no_name_is_refused_without_being_repeated(text: str) -> None:
    with pytest.raises(SettingError, match="no scheme, port or path") as told:
        hosts.names(text)
    assert text not in str(told.value)


def test_an_address_is_one_and_no_name() -> None:
    assert [hosts.address(text) for text in ("localhost", "0.0.0.0", "[::1]", "192.168.1.5")] == [
        "127.0.0.1",
        "0.0.0.0",
        "::1",
        "192.168.1.5",
    ]
    with pytest.raises(SettingError, match=r"0\.0\.0\.0 means all"):
        hosts.address("bart.example")


def test_the_names_of_this_machine_ask_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: pytest.fail("asked a name server"))
    monkeypatch.setattr(socket, "gethostname", lambda: "Desk")
    assert hosts.machine_names("127.0.0.1") == []
    assert hosts.machine_names("192.168.1.5") == ["192.168.1.5"]
    everywhere = hosts.machine_names("0.0.0.0")
    assert everywhere[-2:] == ["desk", "desk.local"]
    assert not any(hosts.is_local(name) for name in everywhere)


@pytest.mark.parametrize(
    ("listening", "allowed", "said"),
    [
        ("127.0.0.1", LOCAL, "Only this machine can open it."),
        ("::1", LOCAL, "Only this machine can open it."),
        (
            "127.0.0.1",
            [*LOCAL, "bart.example"],
            "Only this machine can open it, and anyone a proxy on it lets in as bart.example.",
        ),
        (
            "0.0.0.0",
            [*LOCAL, "192.168.1.5", "desk"],
            "Everyone in your network can open it: http://192.168.1.5:80, http://desk:80.",
        ),
        ("0.0.0.0", ["*"], "Everyone in your network can open it, under any name, on port 80."),
        ("0.0.0.0", LOCAL, "It listens on your network but answers only this machine: allow a name with --allow."),
    ],
)
def test_who_can_open_it_is_one_sentence(listening: str, allowed: list[str], said: str) -> None:
    assert hosts.reach(listening, 80, allowed) == said


def test_a_path_of_the_app_is_part_of_what_is_opened() -> None:
    assert hosts.url("localhost", 80) == hosts.url("localhost", 80, "/") == "http://localhost:80"
    assert hosts.url("localhost", 80, "", "born") == "http://localhost:80/born"
    assert hosts.url("localhost", 80, "/bart/", "born") == "http://localhost:80/bart/born"
    assert hosts.url("::1", 80, "bart") == hosts.url("::1", 80, "/bart/") == "http://[::1]:80/bart/"
    assert hosts.reach("0.0.0.0", 80, ["desk"], "bart").endswith(": http://desk:80/bart/.")
