"""A recurrent encoder-decoder unfolded in time, computed live: how much the last state feels each word of the text.

Letters: n source tokens, m output tokens, d width. The encoder reads x_1 .. x_n, its last state is the context c that
the decoder begins with (Cho et al. 2014, Sutskever et al. 2014):

    h_t = tanh(W h_{t-1} + U x_t),  c = h_n,  s_0 = c,  s_t = tanh(W' s_{t-1} + U' y_t)

So the derivative of the last state by a word is a product with a factor diag(1 - h_t^2) W for each step between
(Bengio et al. 1994); with attention it is one factor. The weights are random, as before any training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bartviz.language import _
from bartviz.record.record import Record

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 64
Doubles = NDArray[np.float64]
STEPS, RECURRENT, ATTENTION = "steps to the last state", "gradient, recurrent", "gradient, attention"


@dataclass(frozen=True, slots=True)
class Cell:
    """A recurrent cell: ``state`` (d, d) is W, ``given`` (d, d) is U."""

    state: Doubles
    given: Doubles


@dataclass(frozen=True, slots=True)
class Unfolded:
    """For each of the n source tokens: the steps to the last state, and the norm of that state's derivative by it, in
    the recurrent network and with attention."""

    labels: tuple[str, ...]
    steps: NDArray[np.int64]
    recurrent: Doubles
    attention: Doubles

    @property
    def felt(self) -> tuple[Doubles, Doubles]:
        """Both in parts of their largest."""
        return self.recurrent / self.recurrent.max(), self.attention / self.attention.max()


def unfolded(record: Record) -> Unfolded:
    """The network over the texts of a record, one step for each token."""
    random = np.random.default_rng(0)
    bound = WIDTH**-0.5  # as usual for a recurrent network: uniform, so that a state keeps its size at first
    weights = [random.uniform(-bound, bound, (WIDTH, WIDTH)) for _matrix in range(7)]
    read = _embedded(record.source.ids)
    written = _embedded(record.attention("cross").query.ids) if record.cross is not None else read[:0]
    stages = [(Cell(*weights[:2]), read), (Cell(*weights[2:4]), written)]
    whole = gradients(stages)[: len(read)]
    last = written[-1] if len(written) else read[-1]
    return Unfolded(
        record.source.labels,
        np.arange(len(read) + len(written), len(written), -1) - 1,
        np.linalg.norm(whole, axis=(1, 2)),
        np.linalg.norm(attended(last, read, *weights[4:]), axis=(1, 2)),
    )


def _embedded(ids: Sequence[int] | NDArray[np.int64]) -> Doubles:
    """(n, d): the same random vector for the same token."""
    return np.array([np.random.default_rng(int(number)).normal(size=WIDTH) for number in ids]).reshape(-1, WIDTH)


def gradients(stages: Sequence[tuple[Cell, Doubles]]) -> Doubles:
    """(T, d, d): the derivative of the last state by each input, through all steps between. Stages follow each other,
    each a cell and its inputs (t, d); the first state is 0."""
    steps = [(cell, given) for cell, inputs in stages for given in inputs]
    states, state = [], np.zeros(stages[0][0].state.shape[0])
    for cell, given in steps:
        state = np.tanh(cell.state @ state + cell.given @ given)  # (d,)
        states.append(state)
    found, back = [], np.eye(len(state))
    for (cell, _given), state in zip(reversed(steps), reversed(states), strict=True):
        through = back * (1 - state**2)  # (d, d)
        found.append(through @ cell.given)
        back = through @ cell.state
    return np.array(found[::-1])


def attended(last: Doubles, read: Doubles, query: Doubles, key: Doubles, value: Doubles) -> Doubles:
    """(n, d, d): the derivative by each x_j of o = sum of alpha_j V x_j, where alpha is the softmax of the scores of
    the query of ``last`` (d,): alpha_j (V + (V x_j - o) (K^T q)^T / sqrt d). No step lies between."""
    asked = key.T @ (query @ last) / len(last) ** 0.5  # (d,): scores are its products with x_j
    scores = read @ asked
    alpha = np.exp(scores - scores.max())
    alpha /= alpha.sum()  # (n,)
    values = read @ value.T  # (n, d)
    turned = (values - alpha @ values)[:, :, None] * asked  # (n, d, d)
    found: Doubles = alpha[:, None, None] * (value + turned)
    return found


def sentence(one: Unfolded) -> str:
    """What reaches the first token, in the reader's language."""
    return _(
        "Run, with random weights: the last state feels “{first}”, {steps} steps away, {less:,.0f} times less than "
        "“{last}”, {near} steps away. With attention, both are one step away: {other:.1f} times as much.",
        first=one.labels[0],
        steps=int(one.steps[0]),
        less=one.recurrent[-1] / one.recurrent[0],
        last=one.labels[-1],
        near=int(one.steps[-1]),
        other=one.attention[0] / one.attention[-1],
    )


def table(one: Unfolded) -> pd.DataFrame:
    """One line for each source token."""
    import pandas as pd  # the start page does without it

    return pd.DataFrame({"token": one.labels, STEPS: one.steps, RECURRENT: one.recurrent, ATTENTION: one.attention})
