"""decode() repeated over a record's own tokens: its choices from the logits of one pass, and its beam search again.

The settings are the record's own, and the rules those of the checkpoint, as when the record was made.
Letters in shapes: T steps, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from bartviz.callbacks import never
from bartviz.errors import SettingError
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.record.beam_tree import BeamTree
from bartviz.record.record import Record
from bartviz.record.steps import chosen_ids
from bartviz.record.vocabulary import BEAM_SEARCH, BRANCHED_AT, CHOSEN_BY_YOU, DECODER_START, KEPT, Stop
from bartviz.run import beam_search, generate, loop, rules
from bartviz.run.branches import as_before, beginning
from bartviz.run.loop import Choice, Forced, Task
from bartviz.run.memory_limit import refuse_run
from bartviz.run.options import Options, method
from bartviz.run.sampling import Sampling
from bartviz.tape.tape import recording


@dataclass(frozen=True)
class Rerun:
    """The result of decode() repeated over a record's tokens.

    ``choices``: the token of each step, the rule that decides it and the probabilities from which it is drawn.
    ``short`` (T,): how far the record's token is below the chosen one, in logits after the rules; 0 where they are the
    same, infinity where it was drawn or forced otherwise. Both are empty for a beam search, which has ``tree``.
    """

    choices: Sequence[Choice]
    short: Sequence[float]
    tree: BeamTree | None
    stopped: Stop
    settings: Mapping[str, object]


def rerun(model: Model, record: Record, logits: Tensor, cancelled: Callable[[], bool] = never) -> Rerun:
    """Repeat the choices of a record that a model wrote. logits (T, V): those of its steps.

    Raises SettingError where the record's settings are none that decode() takes, BudgetError, Cancelled.
    """
    before = as_before(record)
    options = Options(**{**before, "top_k": max(before["top_k"], 1), "cancelled": cancelled})
    if record.provenance.mode == BEAM_SEARCH and options.beams == 1:
        raise SettingError(later("The record's setting {name} cannot be read. Decode the text again.", name="beams"))
    prepared, start = beginning(model, record)
    strategy = method(model, options)
    task, tape = generate.planned(model, prepared, start, _forced(record), options)
    settings = {**generate.settings_of(task, tape, strategy, options), **_kept_settings(record)}
    with torch.inference_mode(), recording(tape):
        if isinstance(strategy, beam_search.Settings):
            refuse_run(generate.predicted(task, prepared, options, strategy.beams))
            written = loop.with_beams(task, tape, strategy)
            return Rerun((), (), written.tree, written.stopped, settings)
        ids = [*start, *chosen_ids(record.steps)]
        choices = loop.choices(task, strategy, ids, logits)
        short = [_short(task, strategy, ids, step, choice, logits) for step, choice in enumerate(choices)]
    last = replace(task.summary.step(0, 0, logits[-1], ids[-1]), rule=choices[-1].rule)
    return Rerun(choices, short, None, loop.stopped(last, task), settings)


def _forced(record: Record) -> dict[int, Forced]:
    """The tokens that were put into the text, by position: those of ``force`` and, of a branch, all before it."""
    settings, steps = record.provenance.settings, record.steps
    branched, named = settings.get(BRANCHED_AT, 0), settings.get("forced", ())
    forced: dict[int, Forced] = {}
    try:
        for position in range(int(str(branched))):
            forced[position] = Forced(steps[position].chosen.token_id, steps[position].rule or KEPT)
        for entry in named if isinstance(named, tuple) else (named,):
            position_text, token = str(entry).split(": ")
            forced[int(position_text)] = Forced(int(token), CHOSEN_BY_YOU)
    except (ValueError, IndexError):
        raise SettingError(
            later("The record's setting {name} cannot be read. Decode the text again.", name="forced")
        ) from None
    return forced


def _kept_settings(record: Record) -> dict[str, object]:
    """Settings that say where, together with which others, and after which tokens a text was written; the tokens
    themselves are in the record."""
    kept = ("batch", "device", BRANCHED_AT, DECODER_START)
    return {key: value for key, value in record.provenance.settings.items() if key in kept}


def _short(
    task: Task, strategy: Sampling | None, ids: Sequence[int], step: int, choice: Choice, logits: Tensor
) -> float:
    """How far the record's token is below the one that is chosen at a step, in logits after the rules."""
    token = ids[len(task.start) + step]
    if token == choice.token:
        return 0.0
    if strategy is not None or step in task.forced:
        return float("inf")
    so_far = torch.tensor([ids[: len(task.start) + step]])
    scores = rules.apply(task.active, so_far, logits[step : step + 1]).scores[0]
    return float(scores[choice.token] - scores[token])
