"""Replicas as a deployment of Ray Serve: several processes, on this machine or on those of a cluster.

Serve starts a replica again that has stopped, and sends a call to a replica that has its model if one is free. Nothing
listens for HTTP: calls come from apps that are connected to the same Ray, with its token.
"""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any

from bartviz.errors import BartvizError, PackageError, SettingError, needs
from bartviz.language import later
from bartviz.models.roots import fix_roots
from bartviz.safety.ray_cluster import LOCAL, connected
from bartviz.serving.limits import Limits
from bartviz.serving.remote import Lost, NoReplicas
from bartviz.serving.replica import Answer, Call, Replica

NAME = "bartviz"  # of the application in Ray Serve
TOGETHER = 8  # calls that a replica takes at the same time; further ones wait for the first replica that is free
MODELS = 16  # models of one replica that calls are sent after; how many it keeps is a question of their bytes
PASSED_ON = ("BARTVIZ_", "HF_")  # beginnings of settings that replicas are given
SECRET = "TOKEN"  # end of settings that they are not given: Ray writes what it is given to a log that all may read


def deploy(address: str, replicas: int, cpus: float) -> str:
    """Start that many replicas and return when they run: the address that apps connect to.

    address: of a Ray, or "local" for one of this process's own. cpus: that each replica asks for.
    Raises PackageError, and SettingError where they cannot be started.
    """
    ray = connected(address, max(1, round(replicas * cpus + 0.5)))
    serve = _serve()
    fix_roots()
    settings = passed_on(os.environ)
    deployment = serve.deployment(
        _deployed(serve),
        name=NAME,
        num_replicas=replicas,
        max_ongoing_requests=TOGETHER,
        ray_actor_options={"num_cpus": cpus, "runtime_env": {"env_vars": settings}},
    )
    serve.start(http_options={"location": "NoServer"})
    try:
        serve.run(deployment.bind(Limits.read()), name=NAME, route_prefix=None)
    except RuntimeError as error:
        raise SettingError(f"The replicas did not start: {str(error).splitlines()[0]}") from error
    return str(ray.get_runtime_context().gcs_address)


def passed_on(environment: Mapping[str, str]) -> dict[str, str]:
    """The settings that replicas are given. Tokens they have from the Ray that starts them, as all its processes."""
    return {
        name: value for name, value in environment.items() if name.startswith(PASSED_ON) and not name.endswith(SECRET)
    }


def end(address: str) -> None:
    """Stop the replicas that ``deploy`` has started at this address, and the connection; a Ray of our own, too."""
    if address != LOCAL:
        _serve().delete(NAME)
    import_module("ray").shutdown()


class RayReplicas:
    """The connection to the replicas of a Ray at this address."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._lock = threading.Lock()
        self._reached = False  # Ray, which takes one connection of a process, whether or not replicas run
        self._handle: Any = None

    def connect(self) -> None:
        """Connect, once. Raises PackageError, SettingError."""
        with self._lock:
            if self._handle is None:
                if not self._reached:
                    connected(self._address)
                    self._reached = True
                serve = _serve()
                try:
                    self._handle = serve.get_app_handle(NAME)
                except serve.exceptions.RayServeException as error:
                    raise _missing(self._address) from error

    def ask(self, call: Call) -> _Answers:
        """Ask a replica."""
        handle = self._handle
        if handle is None:  # since ``connect``
            raise _missing(self._address)
        method = handle.options(method_name="run", stream=True, multiplexed_model_id=call.model)
        return _Answers(method.remote(call), self._ended)

    def _ended(self) -> NoReplicas:
        """No replicas run any more: the next ``connect`` looks for them."""
        self._handle = None
        return _missing(self._address)


class _Answers:
    """The answers of a replica; the errors of Ray become Lost."""

    def __init__(self, generator: Any, ended: Callable[[], NoReplicas]) -> None:
        self._generator = generator
        self._ended = ended

    def __iter__(self) -> Iterator[Answer]:
        return self

    def __next__(self) -> Answer:
        errors = import_module("ray.exceptions")
        try:
            return next(self._generator)
        except errors.RayTaskError as error:
            if isinstance(error.cause, BartvizError):
                raise error.cause from None
            raise
        except errors.RayError as error:
            raise Lost from error
        except _serve().exceptions.RayServeException as error:
            raise self._ended() from error

    def cancel(self) -> None:
        with suppress(Exception):  # raises again what a call has failed with
            self._generator.cancel()


def _missing(address: str) -> NoReplicas:
    return NoReplicas(later("No replicas run at {address}: start them with bartviz serve.", address=address))


def _serve() -> Any:
    try:
        return import_module("ray.serve")
    except ModuleNotFoundError as error:
        raise PackageError(needs("This", "ray")) from error


def _deployed(serve: Any) -> type[Replica]:
    """The replica, which reports its models to Serve."""

    class Deployed(Replica):
        @serve.multiplexed(max_num_models_per_replica=MODELS)  # type: ignore[untyped-decorator]
        async def has(self, name: str) -> str:
            return name

        async def run(self, call: Call) -> AsyncIterator[Answer]:
            if call.model:  # Serve has no model without a name; the run refuses that
                await self.has(call.model)
            async for answer in super().run(call):
                yield answer

    return Deployed
