"""The steps of an output: the token at each position, its probability, and the other candidates.

A run keeps only numbers; a step and the labels of its candidates are made from them on demand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, overload


@dataclass(frozen=True, slots=True)
class Candidate:
    """A token that could have come next; probability in 0..1 and logit are the model's own, before any rule.

    ``filtered``: the sampling probability, after rules, temperature, top-k and top-p; None without sampling.
    """

    token_id: int
    label: str
    probability: float
    logit: float
    filtered: float | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One generated (or given) token, the end token included.

    ``row`` is the decoder row that predicted it; entropy in bits over the vocabulary; log_probability in nats;
    ``rule`` names what overrode the probabilities (forced end token, minimum length, ...), else None.
    """

    position: int
    row: int
    chosen: Candidate
    candidates: tuple[Candidate, ...]
    entropy: float
    log_probability: float
    rule: str | None = None


def told_apart(candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """The candidates' labels; one that likelier candidates have too is numbered, as “Ich (2)”.

    A word's piece with its space and the same piece without it are two tokens that read alike at the start of a text.
    """
    labels: list[str] = []
    for index, one in enumerate(candidates):
        before = sum(other.label == one.label for other in candidates[:index])
        labels.append(f"{one.label} ({before + 1})" if before else one.label)
    return tuple(labels)


@dataclass(frozen=True, slots=True)
class StepNumbers:
    """The numbers from which a step is made.

    ``best`` are pairs of id and logit, the largest first; log p = logit - log_z; ``bits`` is the entropy. ``token`` and
    ``logit`` are those of the chosen token. ``drawn``: the sampling probabilities of the best and, last, of the token;
    None without sampling.
    """

    position: int
    row: int
    best: Sequence[tuple[int, float]]
    log_z: float
    bits: float
    token: int
    logit: float
    rule: str | None = None
    drawn: Sequence[float] | None = None

    @property
    def log_probability(self) -> float:
        """log p of the token, in nats."""
        return self.logit - self.log_z


class Steps(Sequence[Step]):
    """Steps that are made, with labelled candidates, on first access; each is made once.

    ``label(token, row)`` labels a token that could follow a decoder row.
    """

    def __init__(self, numbers: Sequence[StepNumbers], label: Callable[[int, int], str]) -> None:
        self.numbers = tuple(numbers)
        self._label: Callable[[int, int], str] | None = label
        self._made: list[Step | None] = [None] * len(self.numbers)

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Step, ...]: ...
    def __getitem__(self, index: int | slice) -> Step | tuple[Step, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        label, made = self._label, self._made[index]  # in this order: another thread may make the last one meanwhile
        if made is None:
            assert label is not None  # dropped once every step has been made
            made = self._made[index] = _made(self.numbers[index], label)
            if None not in self._made:
                self._label = None  # it holds the tokenizer
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """How they are sent to another process: as a tuple with every label made."""
        return tuple, (list(self),)

    def __len__(self) -> int:
        return len(self.numbers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Steps | tuple) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # equal to a tuple of the same steps

    def __repr__(self) -> str:
        return repr(tuple(self))


def _made(numbers: StepNumbers, label: Callable[[int, int], str]) -> Step:
    def candidate(token: int, logit: float, drawn: float | None) -> Candidate:
        return Candidate(token, label(token, numbers.row), math.exp(logit - numbers.log_z), logit, drawn)

    drawn = [None] * (len(numbers.best) + 1) if numbers.drawn is None else numbers.drawn
    return Step(
        numbers.position,
        numbers.row,
        candidate(numbers.token, numbers.logit, drawn[-1]),
        tuple(candidate(token, logit, p) for (token, logit), p in zip(numbers.best, drawn, strict=False)),
        numbers.bits,
        numbers.log_probability,
        numbers.rule,
    )


def bare(steps: Sequence[Step]) -> Sequence[Step | StepNumbers]:
    """The steps, or the numbers behind them: row, rule and log_probability, without making any label."""
    return steps.numbers if isinstance(steps, Steps) else steps


def chosen_ids(steps: Sequence[Step]) -> list[int]:
    """The id of each step's token, without making the steps."""
    return [step.token if isinstance(step, StepNumbers) else step.chosen.token_id for step in bare(steps)]
