"""Two outputs of one source: where they diverge, where they converge again, and how probable each is as a whole.

A branch has the same source and the same output up to one step, another token there, and the model's continuation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from bartviz.analysis import decoding
from bartviz.errors import RecordError
from bartviz.language import _, later
from bartviz.language.percentages import percent
from bartviz.record.record import Record


@dataclass(frozen=True, slots=True)
class Course:
    """Two outputs compared. ``parts``: the first step that differs, None if they are the same.

    ``meets``: the step of each output from which both are the same until the end; None if there is none, or only
    special tokens are the same.
    """

    parts: int | None
    meets: tuple[int, int] | None


def course(main: Record, branch: Record) -> Course:
    """Where the outputs of two records diverge and converge. Raises RecordError unless both have one source."""
    if not _same_source(main, branch):
        raise RecordError(
            later("These two records have different sources or models: they are not branches of one text.")
        )
    one, other = _ids(main), _ids(branch)
    shared = _common(one, other)
    if shared == len(one) == len(other):
        return Course(None, None)
    after = one[shared + 1 :], other[shared + 1 :]  # the step at which they part is not the one at which they meet
    same = _common(after[0][::-1], after[1][::-1])
    meets = (len(one) - same, len(other) - same)
    special = _special(main)[meets[0] :]
    return Course(shared, None if all(special) else meets)


def table(main: Record, branch: Record) -> pd.DataFrame:
    """One line per step of the longer output: step from 1; same (bool); and for ``main`` and ``branch`` the token,
    probability in 0..1, rank, log_probability in nats and its sum so far; missing where an output has ended.
    """
    sides = {"main": decoding.steps_table(main), "branch": decoding.steps_table(branch)}
    count = max(map(len, sides.values()))
    names = {
        "predicts": "token",
        "token_id": "token_id",
        "probability": "probability",
        "rank": "rank",
        "log_probability": "log_probability",
        "running_log_probability": "running_log_probability",
        "rule": "rule",
    }
    parts = [
        side[list(names)].rename(columns={old: f"{name}_{new}" for old, new in names.items()})
        for name, side in sides.items()
    ]
    found = pd.concat([pd.DataFrame({"step": np.arange(1, count + 1)}), *parts], axis=1)
    same = found["main_token_id"].eq(found["branch_token_id"])
    found.insert(1, "same", same.fillna(value=False).astype(bool))
    return found


def sentence(main: Record, branch: Record, *, plain: bool = False) -> str:
    """One sentence: where they diverge and with which probabilities, where they converge, and which text is more
    probable; ``plain``: without log p."""
    run = course(main, branch)
    if run.parts is None:
        return _("Both texts are identical.")
    return " ".join([_parting(main, branch, run.parts), _meeting(run), _weighing(main, branch, plain)])


def odds(main: Record, branch: Record) -> float:
    """The probability of the main text divided by that of the branch; infinite if the branch is impossible."""
    difference = main.log_probability - branch.log_probability
    return math.exp(difference) if difference < 700 else math.inf


def _parting(main: Record, branch: Record, parts: int) -> str:
    sides = [
        f"“{record.steps[parts].chosen.label}” ({percent(record.steps[parts].chosen.probability)})"
        if parts < len(record.steps)
        else _("the end")
        for record in (main, branch)
    ]
    return _(
        "The two texts diverge at step {step}: {one} against {other}.", step=parts + 1, one=sides[0], other=sides[1]
    )


def _meeting(run: Course) -> str:
    if run.meets is None:
        return _("They do not converge again.")
    one, other = (step + 1 for step in run.meets)
    if one == other:
        return _("From step {step} on they are identical.", step=one)
    return _("From step {one} of the first and step {other} of the second on they are identical.", one=one, other=other)


def _weighing(main: Record, branch: Record, plain: bool) -> str:
    totals = [f"{record.log_probability:.2f}".replace("-", "−") for record in (main, branch)]
    times = odds(main, branch)
    factor = times if times >= 1 else 1 / times if times else math.inf
    size = f"{factor:,.1f}" if factor < 1000 else f"{factor:,.0f}" if factor < 1e6 else _("over a million")
    values = {"one": totals[0], "other": totals[1], "times": size}
    if plain and times >= 1:
        return _("The first text is {times} times as probable.", **values)
    if plain:
        return _("The second text is {times} times as probable.", **values)
    if times >= 1:
        return _("Whole texts: log p {one} against {other}; the first is {times} times as probable.", **values)
    return _("Whole texts: log p {one} against {other}; the second is {times} times as probable.", **values)


def _same_source(main: Record, branch: Record) -> bool:
    """Whether both are of one model and one source: the encoder's tokens without padding, or the tokens before the
    steps."""
    if main.model.fingerprint != branch.model.fingerprint or main.kinds != branch.kinds:
        return False
    sides = []
    for record in (main, branch):
        decoding.kind_of(record)
        attention, read = record.attention("decoder"), record.source
        if record.encoder is not None:
            sides.append(read.ids[record.encoder.mask.any(axis=0)])
        else:
            sides.append(attention.query.ids[: record.steps[0].row + 1])
    return np.array_equal(sides[0], sides[1])


def _ids(record: Record) -> list[int]:
    decoding.kind_of(record)
    return [step.chosen.token_id for step in record.steps]


def _special(record: Record) -> list[bool]:
    """Whether the token of each step is special."""
    if record.output is None:
        return [False] * len(record.steps)
    return [bool(record.output.special[step.row]) for step in record.steps]


def _common(one: list[int], other: list[int]) -> int:
    """The length of the common prefix."""
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
