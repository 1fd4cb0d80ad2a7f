"""A connection to Ray, on this machine or on a cluster, with its authentication by a token switched on."""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import socket
import sys
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bartviz.errors import PackageError, SettingError, needs

LOCAL = "local"
_LONGEST = 24  # characters of the folder for temporary files: a socket's path has at most 107, and Ray's part takes 70
STORE = 256 << 20  # bytes that a local Ray keeps of pending data
TOKENS = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")


def connected(address: str, cpus: int = 1) -> Any:
    """The package ray, connected. It reads these settings when it is imported.

    address: of a cluster, or "local" for a Ray of this process with that many ``cpus``. Raises PackageError without
    Ray, and SettingError where there is no connection.
    """
    _reach(address)
    if "ray" in sys.modules and os.environ.get("RAY_AUTH_MODE") != "token":
        raise SettingError("Ray was imported without authentication: set RAY_AUTH_MODE=token first.")
    os.environ["RAY_AUTH_MODE"] = "token"
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Ray's own handler of SIGTERM would come before the app's: it prints the stack, and may abort.
    os.environ.setdefault("RAY_DISABLE_FAILURE_SIGNAL_HANDLER", "1")
    own = address == LOCAL
    if own and not _has_token():
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
    folder = _private_folder() if own else None  # before the import: what ends first was begun last
    try:
        ray: Any = import_module("ray")
        errors: Any = import_module("ray.exceptions")
    except ModuleNotFoundError as error:
        raise PackageError(needs("This", "ray")) from error
    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if own:
        settings |= {"num_cpus": cpus, "num_gpus": 0, "object_store_memory": STORE, "include_dashboard": False}
        settings |= {"_node_ip_address": "127.0.0.1", "_temp_dir": folder}
    try:
        ray.init(address=address, **settings)
    except (ConnectionError, RuntimeError, ValueError, errors.RayError) as error:
        reason = str(error).splitlines()[0]
        raise SettingError(f"There is no connection to Ray at {address!r}: {reason}") from error
    return ray


def _private_folder() -> str:
    """A folder for sockets and logs that other users of this machine cannot open: Ray makes its own for everybody. It
    is removed when this process ends."""
    parent = tempfile.gettempdir()
    if len(parent) > _LONGEST:
        parent = "/tmp"
    folder = tempfile.mkdtemp(prefix="bartviz-", dir=parent)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def expect_token() -> None:
    """Raise SettingError unless there is a token that several processes of this user can share."""
    if not _has_token():
        raise SettingError(
            "Ray needs a token that the apps have as well: make one with ray get-auth-token --generate, or set "
            "RAY_AUTH_TOKEN."
        )


def _has_token() -> bool:
    """Whether this user has a token: in the environment, or in the file that ``ray get-auth-token`` writes."""
    return bool(os.environ.keys() & set(TOKENS)) or (Path.home() / ".ray" / "auth_token").is_file()


def expect(address: str) -> None:
    """Raise PackageError without Ray, and SettingError unless a Ray may be at this address."""
    if find_spec("ray") is None:
        raise PackageError(needs("This", "ray"))
    if address == LOCAL:
        raise SettingError("An address is needed, such as 127.0.0.1:6379: bartviz serve prints it.")
    expect_token()
    _reach(address)


def _reach(address: str) -> None:
    """Raise SettingError where nothing answers at HOST:PORT, for which Ray itself would wait minutes."""
    host, _, port = address.rpartition("/")[2].rpartition(":")
    if not host or not port.isdigit():
        return
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise SettingError(f"Nothing answers at {address}: {error}") from error
