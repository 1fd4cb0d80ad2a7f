"""The temperature slider of the player: the numbers that it needs from the model, and another text drawn with it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

import streamlit as st

from bartviz.analysis.temperature import Temperatures
from bartviz.app.components.player import DrawRequest
from bartviz.app.controls import tasks
from bartviz.app.frame import sidebar
from bartviz.app.state import session
from bartviz.browser.player.data import revision
from bartviz.families.catalogue import entry
from bartviz.language import later

if TYPE_CHECKING:
    from bartviz.models.model import Model
    from bartviz.record.record import Record
    from bartviz.serving.gate import Ticket

_TASK = "temperature"
QUICK = 0.3  # seconds that the first picture waits for them


def found(record: Record) -> Temperatures | Literal["later"] | None:
    """The numbers; "later" where they are still being computed, None where the model is not at hand. Draws nothing."""
    result: Temperatures | None = tasks.result(_TASK, _whole(record))
    if result is not None or not _at_hand(record):
        return result
    if tasks.begun(_TASK) != _whole(record):
        tasks.begin(_TASK, record.model.name, _whole(record), partial(_work, record))
        result = tasks.wait(_TASK, QUICK)  # else the player would be sent twice
    return "later" if result is None else result


def ask(record: Record, drawn: Temperatures | Literal["later"] | None) -> None:
    """Compute them where the model is at hand: one that ships, or that is loaded. A line at this place shows the
    progress; the page is drawn again when they are there."""
    if drawn != "later":
        return
    if tasks.ask(_TASK, record.model.name, _key(record), partial(_work, record)) is not None:
        st.rerun()


def _work(record: Record, model: Model, ticket: Ticket[Temperatures]) -> Temperatures:
    from bartviz.experiments.temperature import temperatures

    ticket.report(later("Running the model once for other temperatures"))
    return temperatures(model, record, cancelled=ticket.cancelled)


def draw(record: Record, request: DrawRequest) -> None:
    """Draw another text, with the seed after that of this one: a callback."""
    seed = record.provenance.settings.get("seed")
    sidebar.draw_again(
        seed if isinstance(seed, int) else 0,
        temperature=request.temperature,
        draw_k=request.top_k,
        draw_p=request.top_p,
    )


def _at_hand(record: Record) -> bool:
    known, about = entry(record.model.name), session.engine().about(record.model.name)
    fingerprint = record.model.fingerprint
    ships = known is not None and known.source == "embedded" and record.model.source == "embedded"
    return ships or (about is not None and about.info.fingerprint == fingerprint)


def _key(record: Record) -> dict[str, object]:
    ablated = record.provenance.settings.get("ablated") or ()
    return {
        "record": revision(record),
        "model": record.model.fingerprint,
        "ablated": [str(name) for name in ablated] if isinstance(ablated, tuple) else [],
    }


def _whole(record: Record) -> dict[str, object]:
    return {"of": record.model.name} | _key(record)
