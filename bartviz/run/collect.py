"""Build the Record of a run from its tape; records are built nowhere else."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bartviz.errors import ModelError
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.record.attention import Attention, Kind
from bartviz.record.beam_tree import BeamTree
from bartviz.record.checks import Check
from bartviz.record.prediction import Prediction
from bartviz.record.record import Provenance, Record, now
from bartviz.record.steps import Step
from bartviz.record.turns import Turn
from bartviz.record.vocabulary import TO_MEAN
from bartviz.tape import assemble
from bartviz.tape.tape import Tape, depths
from bartviz.text.tokens import Tokens
from bartviz.version import versions


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of a run for one text, apart from the attention on its tape.

    ``query``: the decoder's inputs; None where they are the source. ``turns``: the messages of a chat. ``checks``:
    those that only the run itself can make.
    """

    source: Tokens
    text: str
    pair: str | None = None
    target: str | None = None
    query: Tokens | None = None
    output: Tokens | None = None
    steps: Sequence[Step] = ()
    beams: BeamTree | None = None
    checks: tuple[Check, ...] = ()
    prediction: Prediction | None = None
    turns: tuple[Turn, ...] = ()

    def axes(self, kind: Kind) -> tuple[Tokens, Tokens]:
        """The tokens of the rows and of the columns of a kind of attention."""
        query = self.source if self.query is None else self.query
        rows = self.source if kind == "encoder" else query
        return rows, query if kind == "decoder" else self.source

    def cut(self, read: int, length: int) -> Result:
        """Without padding: the first ``read`` tokens of the source, and ``length`` of what the decoder reads and
        writes."""
        query, output = (None if part is None else part.take(slice(0, length)) for part in (self.query, self.output))
        return replace(self, source=self.source.take(slice(0, read)), query=query, output=output)


def collect(
    model: Model,
    tape: Tape,
    result: Result,
    *,
    started: float,
    settings: Mapping[str, object],
    notices: tuple[str, ...] = (),
    stopped: str | None = None,
    item: int = 0,
) -> Record:
    """The Record of one text; ``item`` is its index in the batch on the tape, ``started`` a time.perf_counter().

    What is to be known of the model (``Model.notices``) comes after the run's own ``notices``.
    Its attention is compared with the kernel's output here, so that the comparison counts as part of the run.
    """
    attention: dict[Kind, Attention] = {}
    checks = result.checks
    for kind, depth in depths(model.network).items():
        attention[kind], complete = assemble.attention(model.network, tape, kind, depth, *result.axes(kind), item=item)
        checks += (complete,)
        _ = attention[kind].difference
    provenance = Provenance(
        versions=versions(),
        settings={key: value for key, value in {**settings, **_device(model)}.items() if value not in (None, (), [])},
        seconds=time.perf_counter() - started,
        stopped=stopped,
        notices=(*notices, *model.notices),
        checks=checks,
        made=now(),
    )
    record = Record(
        model.info,
        result.text,
        result.target,
        attention.get("encoder"),
        attention.get("decoder"),
        attention.get("cross"),
        output=result.output,
        steps=result.steps,
        provenance=provenance,
        beams=result.beams,
        pair_text=result.pair,
        prediction=result.prediction,
        turns=result.turns,
    )
    if model.info.like is not None:
        _refuse_unsound(record)
    return record


def _refuse_unsound(record: Record) -> None:
    """Raise ModelError if a record of an unlisted type fails a check: nothing else vouches for its numbers."""
    failed = next((check for check in record.checked if check.failed), None)
    if failed is not None:
        raise ModelError(
            later(
                "Models of type {type} are not listed, and a check of this run failed ({check}): the "
                "attention shown would not be the model's own. Choose another model.",
                type=record.model.family,
                check=failed.name,
            )
        )


def _device(model: Model) -> dict[str, object]:
    """The kind of device of a run that was not on the CPU."""
    return {} if model.device.type == "cpu" else {"device": model.device.type}


def ablated(tape: Tape) -> tuple[str, ...]:
    """The heads that a run scaled, by name, with their factors, and whether it was toward a mean in place of 0."""
    more = TO_MEAN if tape.toward else ""
    return tuple(f"{name} x {factor:g}{more}" for name, factor in tape.scale_heads.items())
