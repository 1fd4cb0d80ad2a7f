"""The model at hand as a download: one HTML file in which it runs, made when somebody asks for it."""

from __future__ import annotations

from functools import partial

from bartviz.app import streamlit_internals
from bartviz.app.controls import export
from bartviz.app.frame import sidebar
from bartviz.app.state import session
from bartviz.errors import BartvizError
from bartviz.explorer.engine import supported
from bartviz.features.start import run_alive
from bartviz.language import _, current, speaking
from bartviz.reading.encodings import megabytes
from bartviz.record.record import ModelInfo, Record
from bartviz.serving.engine import Engine, fetching

PATIENCE = 300.0  # seconds that a download waits for its turn


def offer(record: Record) -> None:
    """Add the model of the record to the page's download button, or the reason why it is not there."""
    if record.from_weights or record.model.name not in sidebar.models():
        return
    reason, files = refusal(record.model), []
    if reason is None:
        make = partial(
            _made, session.engine(), session.owner(), record.model.name, session.may_fetch(record.model.name), current()
        )
        size = megabytes(supported.bytes_of(record.model.parameters))
        files = [export.File(_("Live page (about {size})", size=size), "bartviz-model.html", "text/html", make)]
    title = _("The model itself, in a page that runs it without a network")
    export.offer("start_model", title, files, reason or "", place=3)


def refusal(info: ModelInfo) -> str | None:
    """Why there is no file of the model, and what to do instead; None where there is one."""
    if (reason := supported.refusal(info)) is not None:
        return _(reason)
    size = supported.bytes_of(info.parameters)
    if size <= supported.LARGEST:
        return None
    return _(
        "A page of {model} would have {size}; browsers open {limit}. This command makes a folder for a web host: "
        "{command}",
        model=info.name,
        size=megabytes(size),
        limit=megabytes(supported.LARGEST),
        command=f"bartviz alive {info.name} site",
    )


def _made(engine: Engine, owner: str, name: str, may: bool, language: str) -> bytes:
    """The file, made behind the gate as any other work, outside of the session's script."""
    with speaking(language), fetching(may):
        run = engine.work(
            f"{owner} live page",
            name,
            {"work": "live page", "language": language},
            run_alive.page,
            len,
            alive=partial(streamlit_internals.is_alive, owner),
        )
    if not run.wait(PATIENCE):
        run.cancel()
    if run.error is not None:
        raise run.error
    if run.result is None:
        raise BartvizError(_("The page was not ready in time. Try again later."))
    return run.result
