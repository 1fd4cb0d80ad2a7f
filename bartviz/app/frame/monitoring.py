"""For an operator: whether visitors can come (``/healthz``), whether a text would run soon (``/readyz``), and figures
for a monitor (``/metrics``).

All are at the root, whatever the path of the app, and contain counts, bytes and seconds, never a text. The figures are
in the format of Prometheus, for this process since its start.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from bartviz.app import streamlit_internals
from bartviz.app.state import session

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Metric
    from starlette.requests import Request

COUNTED: Counter[str] = Counter()  # "refused": requests under a name, or from a page, that is not allowed


async def healthy(_request: Request) -> PlainTextResponse:
    """200 if visitors can come, else 503: Streamlit's own answer, which it gives only below the path of the app."""
    well, message = await streamlit_internals.is_ready()
    return PlainTextResponse(message, 200 if well else 503)


async def ready(_request: Request) -> JSONResponse:
    """200 if a text would run soon: models can run (the library is imported), and the queue has room. Else 503.

    The first call starts the import of the library, so that a balancer need not send a visitor to start it.
    """
    engine = session.engine()
    engine.warm_up(0)
    state = {"library": engine.ready, "waiting": engine.waiting, "room": engine.queue - engine.waiting}
    return JSONResponse(state, 200 if state["library"] and state["room"] > 0 else 503)


async def figures(_request: Request) -> Response:
    """The figures of the engine and of the process."""
    from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

    return Response(await run_in_threadpool(generate_latest, _registry()), media_type=CONTENT_TYPE_LATEST)


ROUTES = [Route("/healthz", healthy), Route("/readyz", ready), Route("/metrics", figures)]


@cache
def _registry() -> CollectorRegistry:
    from prometheus_client import CollectorRegistry, ProcessCollector

    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    registry.register(_Engine())
    return registry


class _Engine:
    """The engine's figures, read when they are asked for."""

    def collect(self) -> Iterator[Metric]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        engine = session.engine()
        ended = CounterMetricFamily("bartviz_runs", "Finished runs, by outcome", labels=["outcome"])
        ended.add_metric(["done"], engine.gate.ended["done"])
        for outcome in ("failed", "cancelled"):  # while the model was loaded, or later
            ended.add_metric([outcome], engine.loading.ended[outcome] + engine.gate.ended[outcome])
        yield ended
        yield CounterMetricFamily("bartviz_run_seconds", "Duration of runs in seconds", engine.gate.seconds)
        yield CounterMetricFamily(
            "bartviz_refused_requests", "Requests for a host name or page that is not allowed", COUNTED["refused"]
        )
        yield GaugeMetricFamily("bartviz_waiting_runs", "Runs that wait", engine.waiting)
        yield GaugeMetricFamily("bartviz_waiting_limit_runs", "Limit of waiting runs", engine.queue)
        yield GaugeMetricFamily("bartviz_computing_runs", "Runs in progress", engine.gate.running)
        for name, kept in (("model", engine.models), ("record", engine.results)):
            yield GaugeMetricFamily(f"bartviz_{name}_cached", f"Values in the {name} cache", len(kept))
            yield GaugeMetricFamily(f"bartviz_{name}_bytes", f"Bytes of the {name} cache, in use included", kept.bytes)
            yield GaugeMetricFamily(f"bartviz_{name}_limit_bytes", f"Bytes allowed to the {name} cache", kept.limit)
