"""A request for a record, and how its record is computed: alone, or together with others that wait.

Nothing here calls Streamlit, and torch is imported late.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from bartviz.errors import BudgetError
from bartviz.language import later
from bartviz.serving.search import Search, options
from bartviz.text.capitals import IN_LOWER_CASE, fewer, sentence_case

if TYPE_CHECKING:
    from bartviz.models.model import Model
    from bartviz.record.record import Record
    from bartviz.serving.gate import Ticket
    from bartviz.text.clean import Truncate


@dataclass(frozen=True, slots=True)
class Request:
    """A request of the sidebar: one model, one text, and how to run it.

    ``pair`` is the second sentence of an encoder model; ``target`` the given output (teacher forcing) of an
    encoder-decoder. ``max_new_tokens`` None leaves the checkpoint's own limit; ``top_k`` candidates are kept per step.
    ``truncate``: which part of a too long text is kept; None refuses it. ``allow_special``: whether
    ``<mask>`` and the like, typed as text, mean the special token. ``search``: how a text is decoded.
    ``lower``: whether a text in capitals that would fall into pieces is read in lower case, with a notice.
    """

    model: str
    text: str
    pair: str | None = None
    target: str | None = None
    max_new_tokens: int | None = None
    top_k: int = 10
    truncate: Truncate | None = None
    allow_special: bool = False
    search: Search = field(default_factory=Search)
    lower: bool = False


def record(model: Model, ticket: Ticket[Record], request: Request) -> Record:
    """The record with values and output projections; if they do not fit, without them and with a notice."""
    ticket.report(later("Running the model"))
    text, notices = _read(model, request)
    request = replace(request, text=text)
    try:
        return _noted(_captured(model, ticket, request, values=True), notices)
    except BudgetError:
        made = _captured(model, ticket, request, values=False)
    notice = later(
        "The text is long for this model, so values were not stored and the contributions of single words "
        "are not shown."
    )
    return _noted(made, (*notices, notice))


def together(model: Model, ticket: Ticket[Record], requests: Sequence[Request]) -> tuple[Record, ...]:
    """The records of requests that differ in their text alone. Raises as ``decode_batch``.

    Waiting runs would each start on their own if this yielded to them.
    """
    from bartviz.run.generate import decode_batch

    ticket.tell(later("Running the model"))
    texts, notices = zip(*(_read(model, request) for request in requests), strict=True)
    made = decode_batch(model, texts, **_writing(ticket, requests[0], ticket.tell))
    return tuple(map(_noted, made, notices))


def _read(model: Model, request: Request) -> tuple[str, tuple[str, ...]]:
    """The text that is read for a request, and what is said where that is not the text that was typed."""
    if not request.lower or not request.text.isupper():
        return request.text, ()
    from bartviz.text.tokenize import encode

    def length(text: str) -> int:
        return len(encode(model.tokenizer, text, pair=request.pair, allow_special=request.allow_special))

    count = length(request.text)
    small = fewer(request.text, count, length)
    if small is None:
        return request.text, ()
    return sentence_case(request.text), (later(IN_LOWER_CASE, count=count, small=small),)


def _noted(made: Record, notices: tuple[str, ...]) -> Record:
    """The record with notices added to its own."""
    if not notices:
        return made
    return replace(made, provenance=replace(made.provenance, notices=(*made.provenance.notices, *notices)))


def _writing(ticket: Ticket[Record], request: Request, report: Callable[[str, float], None]) -> dict[str, Any]:
    """The options of ``decode`` for a request, its text apart."""

    def on_step(step: int, longest: int) -> None:
        note = later("Writing: token {step} of at most {longest}", step=step, longest=longest)
        report(note, step / max(longest, 1))

    return {
        "max_new_tokens": request.max_new_tokens,
        "top_k": request.top_k,
        "values": True,
        "allow_special": request.allow_special,
        "truncate": request.truncate,
        "cancelled": ticket.cancelled,
        "on_step": on_step,
        **options(request.search),
    }


def _captured(model: Model, ticket: Ticket[Record], request: Request, *, values: bool) -> Record:
    from bartviz.run.forward import capture
    from bartviz.run.generate import decode

    if model.info.kind != "encoder" and request.target is None and model.head is None:
        return decode(model, request.text, **{**_writing(ticket, request, ticket.report), "values": values})
    target = request.target
    if target is not None and model.info.kind == "decoder":
        target = _next_word(request.text, target)
    return capture(
        model,
        request.text,
        pair=request.pair,
        target=target,
        top_k=request.top_k,
        values=values,
        allow_special=request.allow_special,
        truncate=request.truncate,
        cancelled=ticket.cancelled,
    )


def _next_word(text: str, target: str) -> str:
    """The target with a space between its first word and the text before it."""
    separated = text[-1:].isspace() or not target[:1].isalnum()
    return target if separated else f" {target}"


def can_share(model: Model, request: Request) -> bool:
    """Whether the text of a request is written token by token, which it can do together with others."""
    writes = model.info.kind == "encoder-decoder" and request.target is None and model.head is None
    return writes and request.search.by in ("greedy", "sampling")
