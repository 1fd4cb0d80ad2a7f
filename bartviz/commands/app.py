"""The command ``app``: serve the app, and print who can open it."""

from __future__ import annotations

import argparse
import errno
import os
import signal
import socket
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

from bartviz import plugins
from bartviz.app.frame.app_folder import APP
from bartviz.commands import shown
from bartviz.commands.output import EXAMPLES, print_json, say
from bartviz.errors import BartvizError, SettingError
from bartviz.models.roots import fix_roots
from bartviz.safety import logs, ray_cluster
from bartviz.serving import framing, hosts

FILE: dict[str, Any] = {
    "type": Path,
    "metavar": "FILE",
    "help": "what to show: a saved record, an atlas (its folder or .zip), a series (its folder), or a replay.zip",
}
PATH = "STREAMLIT_SERVER_BASE_URL_PATH"  # Streamlit's own setting


def add(commands: Any) -> None:
    """Add the command to the parser."""
    app = commands.add_parser(
        "app",
        help="serve the app, by default on 127.0.0.1",
        epilog=EXAMPLES
        + "bartviz app --port 8600\n  bartviz app --host 0.0.0.0 --allow bart.example\n  "
        + "bartviz app car.safetensors",
    )
    app.add_argument("file", nargs="?", **FILE)
    add_arguments(app)
    app.set_defaults(run=start)


def add_arguments(app: argparse.ArgumentParser) -> None:
    """Add where to serve: port, address, host names."""
    app.add_argument("--port", type=_port, default=8501, help="1 to 65535 (%(default)s)")
    app.add_argument(
        "--host",
        type=_argument(hosts.address),
        metavar="ADDRESS",
        help="address to listen on; 0.0.0.0 means all addresses and lets your network in (127.0.0.1)",
    )
    app.add_argument(
        "--share",
        action="store_true",
        help="let your network in (as --host 0.0.0.0), and print the address that others open, with its QR code",
    )
    app.add_argument(
        "--allow",
        type=_argument(hosts.names),
        action="extend",
        default=[],
        metavar="NAME",
        help="host name to serve, such as that of a proxy; repeat the option or separate names with commas",
    )
    app.add_argument("--json", action="store_true", help="print the address as JSON")


def start(options: argparse.Namespace) -> int:
    """Serve the app with the file that was named, if any, on its page."""
    page = "" if options.file is None else shown.offer(options.file)
    return run(options, page)


def run(options: argparse.Namespace, page: str = "") -> int:
    """Serve until Ctrl+C or SIGTERM, which are not errors; a browser is opened at ``page``.

    Raises ModuleNotFoundError without the extra "app".
    """
    if find_spec("streamlit") is None:  # before an address is printed; to import it takes a second
        raise ModuleNotFoundError("No module named 'streamlit'", name="streamlit")
    if not APP.is_file():
        return _refuse("the app is not part of this installation. Run it from a copy of the repository.")
    host = options.host or (hosts.EVERYWHERE if options.share else hosts.LOCAL[0])
    if options.share and hosts.is_local(host):
        return _refuse(f"--share lets your network in, and --host {host} keeps it out. Leave out one of them.")
    error = _port_error(host, options.port)
    if error == errno.EADDRNOTAVAIL:
        return _refuse(f"{host} is not an address of this machine. Leave out --host, or use --host 0.0.0.0.")
    if error is not None:
        return _occupied(options.port)
    check_settings()
    names = [*hosts.LOCAL, *hosts.machine_names(host), *options.allow]
    name = next((name for name in hosts.machine_names(host)), host)
    path = os.environ.get(PATH, "")
    address = hosts.url(name, options.port, path, page)

    def told() -> None:
        if options.json:
            print_json({"address": address, "names": list(dict.fromkeys(names))})
        else:
            say(f"bartviz: {address} (Ctrl+C ends it)")
        if options.share and not options.json:
            print(invitation(hosts.machine_names(host), options.port, path), flush=True)

    os.chdir(APP.parent)  # the folder of .streamlit
    for ending in (signal.SIGTERM, signal.SIGINT):
        signal.signal(ending, lambda *_: sys.exit(0))
    from bartviz.app.frame import server

    try:
        server.serve(host, options.port, [*dict.fromkeys(names)], told, page)
    except SystemExit as ended:
        if ended.code == 1 and _port_error(host, options.port) is not None:  # another server took it meanwhile
            return _occupied(options.port)
        raise
    return 0


def _occupied(port: int) -> int:
    other = port % 60_000 + 1
    return _refuse(f"port {port} is not free. Choose another: bartviz app --port {other} (or make run PORT={other}).")


def invitation(names: Sequence[str], port: int, path: str = "") -> str:
    """The text for a class: the address under the first of these names, and its QR code in block characters."""
    if not names:
        return "This machine is not in a network through which others could reach it."
    import segno  # a package of the extra "app"

    address, drawn = hosts.url(names[0], port, path), StringIO()
    segno.make(address, error="l").terminal(drawn, compact=True)
    return f"Others in your network open {address}, or point a phone's camera here:\n{drawn.getvalue()}"


def check_settings() -> None:
    """Validate the environment settings before anything starts. Raises SettingError."""
    from bartviz.corpus import folders
    from bartviz.serving.limits import Limits, compute, device

    Limits.read()
    if compute():
        try:
            ray_cluster.expect(compute())
        except BartvizError as error:
            raise SettingError(f"BARTVIZ_COMPUTE: {error}") from None
    if device() != "cpu":  # asking torch takes seconds
        from bartviz.models.device import chosen

        try:
            chosen(device())
        except SettingError as error:
            raise SettingError(f"BARTVIZ_DEVICE: {error}") from None
    fix_roots()
    plugins.check()
    folders.own()
    framing.sites()
    logs.level()


def _refuse(why: str) -> int:
    say(f"bartviz: {why}", error=True)
    return 2


def _port(text: str) -> int:
    port = int(text)
    if not 1 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{port} is not a port: choose 1 to 65535")
    return port


def _argument(check: Any) -> Any:
    """Wrap a check for argparse, so that its SettingError becomes the error message."""

    def checked(text: str) -> Any:
        try:
            return check(text)
        except SettingError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return checked


def _port_error(host: str, port: int) -> int | None:
    """The system's error number if the port cannot be bound, else None."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return error.errno or 0
    return None
