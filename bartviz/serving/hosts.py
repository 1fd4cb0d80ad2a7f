"""Which host names the server answers to, so that other web pages cannot control it (DNS rebinding).

An attacker's name server may resolve a name to this machine, and an attacker's page may connect to it. So a request is
answered only if its Host is an allowed name and its Origin is that same host.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Sequence
from contextlib import suppress
from urllib.parse import urlsplit

from bartviz.errors import SettingError
from bartviz.language import later

LOCAL = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = "0.0.0.0"  # all networks of this machine
_NAME = re.compile(r"\*|(\*\.)?[a-z0-9]([a-z0-9_-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9_-]*[a-z0-9])?)*")


def address(text: str) -> str:
    """An address to listen on. Raises SettingError for a name, which could resolve to anything."""
    if text == "localhost":
        return LOCAL[0]
    try:
        return str(ipaddress.ip_address(text.strip("[]")))
    except ValueError:
        message = later(
            "The address to listen on must be one of this machine's network addresses, such as 192.168.1.5; "
            "0.0.0.0 means all of them."
        )
        raise SettingError(message) from None


def names(text: str) -> list[str]:
    """Allowed host names, separated by commas. Raises SettingError for one with a scheme, port or path."""
    hosts = [part.strip().lower().strip("[]").rstrip(".") for part in text.split(",") if part.strip()]
    for name in hosts:
        if not (_NAME.fullmatch(name) or _is_address(name)):
            message = later(
                "A served host name has no scheme, port or path: bart.example, *.school.example or 192.168.1.5."
            )
            raise SettingError(message)
    return hosts


def machine_names(listening: str) -> list[str]:
    """The names of this machine on the network it listens on; queries no name server."""
    if is_local(listening):
        return []
    if not ipaddress.ip_address(listening).is_unspecified:
        return [listening]
    hostname = socket.gethostname().lower()
    hosts = [hostname, f"{hostname}.local"] if _NAME.fullmatch(hostname) else []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):  # no network
        probe.connect(("192.0.2.1", 9))  # selects a network interface, sends nothing; the address is reserved
        hosts.insert(0, probe.getsockname()[0])
    return [name for name in hosts if not is_local(name)]


def is_local(name: str) -> bool:
    """Whether the name refers to this machine only."""
    return name in LOCAL or (_is_address(name) and ipaddress.ip_address(name).is_loopback)


def serves(allowed: Sequence[str], host: str | None) -> bool:
    """Whether the Host of a request is allowed; a pattern ``*.school.example`` covers every subdomain."""
    parts = _parts(host)
    return parts is not None and any(
        pattern in ("*", parts[0]) or (pattern.startswith("*.") and parts[0].endswith(pattern[1:]))
        for pattern in (each.strip().lower().rstrip(".") for each in allowed)
    )


def comes_from_here(allowed: Sequence[str], origin: str | None, host: str | None) -> bool:
    """Whether a request comes from a page of this server, or from no page at all.

    A proxy may drop the port from the Host or replace the Host: then the page's name must be an allowed one.
    Pages of other servers on this machine are rejected too.
    """
    if origin is None:
        return True
    page, named = _parts(origin.partition("://")[2]), _parts(host)
    if page is None or named is None:
        return False
    port = page[1] or (443 if origin.startswith("https:") else 80)
    known = [name for name in allowed if name != "*" and not is_local(name)]
    return (page[0] == named[0] and named[1] in (None, port)) or serves(known, page[0])


def reach(listening: str, port: int, allowed: Sequence[str], path: str = "") -> str:
    """One sentence for the person who starts a server: who can open it."""
    known = [name for name in allowed if not is_local(name)]
    if is_local(listening):
        proxied = f", and anyone a proxy on it lets in as {_listed(known)}" if known else ""
        return f"Only this machine can open it{proxied}."
    if not known:
        return "It listens on your network but answers only this machine: allow a name with --allow."
    if "*" in known:
        return f"Everyone in your network can open it, under any name, on port {port}."
    return f"Everyone in your network can open it: {_listed([url(name, port, path) for name in known])}."


def url(name: str, port: int, path: str = "", page: str = "") -> str:
    """The URL to open, of the start page or another; with a slash at its end where the app has a path of its own."""
    root = f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"
    whole = f"{root}/{path.strip('/')}/" if path.strip("/") else root
    return f"{whole.rstrip('/')}/{page}" if page else whole


def _parts(host: str | None) -> tuple[str, int | None] | None:
    """The name and the port of a Host header; None if it is invalid."""
    if not host or any(sign in host for sign in "@/?#\\"):
        return None
    try:
        parts = urlsplit(f"//{host}")
        port = parts.port
    except ValueError:
        return None
    return (parts.hostname.rstrip("."), port) if parts.hostname else None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _listed(values: Sequence[str]) -> str:
    return ", ".join(values)
