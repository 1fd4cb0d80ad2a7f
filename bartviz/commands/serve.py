"""The command ``serve``: replicas that compute for apps, in processes of this machine or of a cluster (Ray Serve)."""

from __future__ import annotations

import argparse
import signal
import threading
from typing import Any

from bartviz.commands.output import EXAMPLES, print_json, say
from bartviz.safety import ray_cluster

MOST = 1000


def add(commands: Any) -> None:
    """Add the command to the parser."""
    serve = commands.add_parser(
        "serve",
        help="compute for apps in several processes, on this machine or on a cluster (Ray Serve)",
        epilog=EXAMPLES
        + "bartviz serve --replicas 2\n  "
        + "BARTVIZ_COMPUTE=127.0.0.1:6379 bartviz app    (with the address that serve prints)",
    )
    serve.add_argument("--replicas", type=_replicas, default=2, help=f"worker processes, 1 to {MOST} (%(default)s)")
    serve.add_argument(
        "--ray",
        default=ray_cluster.LOCAL,
        metavar="ADDRESS",
        help="the Ray cluster to start them on, such as 10.0.0.5:6379; by default a new one on this machine",
    )
    serve.add_argument("--json", action="store_true", help="print the address as JSON, once the replicas are ready")
    serve.add_argument("--cpus", type=_cpus, default=1.0, help="CPUs that each of them asks for (%(default)s)")
    serve.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Serve until Ctrl+C or SIGTERM, which are not errors. Raises PackageError, SettingError."""
    from bartviz.serving import ray_serve

    ray_cluster.expect_token()
    say(f"bartviz: starting {options.replicas} replicas", error=True)
    address = ray_serve.deploy(options.ray, options.replicas, options.cpus)
    ended = threading.Event()
    for ending in (signal.SIGTERM, signal.SIGINT):  # now, as Ray has put its own in their place
        signal.signal(ending, lambda *_: ended.set())
    try:
        if options.json:
            print_json({"address": address, "replicas": options.replicas})
        else:
            say(f"bartviz: ready. Apps of this Ray: BARTVIZ_COMPUTE={address} bartviz app (Ctrl+C ends it)")
        ended.wait()
    finally:
        ray_serve.end(options.ray)
    return 0


def _replicas(text: str) -> int:
    count = int(text)
    if not 1 <= count <= MOST:
        raise argparse.ArgumentTypeError(f"{count} is not a number of replicas: choose 1 to {MOST}")
    return count


def _cpus(text: str) -> float:
    count = float(text)
    if not 0 < count <= MOST:
        raise argparse.ArgumentTypeError(f"{text} is not a number of CPUs: choose one above 0, such as 0.5")
    return count
