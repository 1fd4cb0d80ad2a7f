"""Questions about the output: the shift by one, the probability of a sequence, tokens decided by a rule."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator

from bartviz.analysis.masks import quote
from bartviz.features.quiz.question import TRIES, Material, Option, Question, drawn, plain, shuffled
from bartviz.language import later
from bartviz.language.percentages import percent
from bartviz.record.record import Record
from bartviz.record.steps import Step

APART = 0.03
"""The least difference between two probabilities that are offered."""
LONGEST = 4
"""The most steps whose probabilities are multiplied."""


def shift(material: Material, random: Generator) -> Question | None:
    """Which token does a decoder row predict?"""
    record = material.record
    if record.decoder is None or record.output is None:
        return None
    own = np.flatnonzero(record.decoder.mask.any(axis=0)).tolist()  # (open columns,)
    for row in drawn(random, own, TRIES):
        found = _shifted(record, row, random)
        if found is None:
            continue
        options, answer = found
        reads, predicts = record.decoder.query.labels[row], record.output.labels[row]
        named = {"row": row, "reads": quote(reads), "predicts": quote(predicts)}
        step = next((step for step in record.steps if step.row == row), None)
        page, query = (
            ("decoding", {"step": str(step.position + 1)})
            if step is not None
            else ("heads", {"kind": "decoder", "row": str(row), "reading": "predicts"})
        )
        return Question(
            "shift",
            later("Row {row} of the decoder reads {reads}. Which token does it predict?", **named),
            options,
            answer,
            later(
                "Row {row} is computed from {reads} and all before it, and predicts what comes next: {predicts}.",
                **named,
            ),
            page,
            query,
            about={"row": row},
        )
    return None


def _shifted(record: Record, row: int, random: Generator) -> tuple[tuple[Option, ...], int] | None:
    """The token that a row predicts, among nearby tokens with other labels."""
    assert record.decoder is not None
    assert record.output is not None
    reads, output = record.decoder.query.labels, record.output.labels
    right = output[row]
    says = {
        reads[row]: later("That is the token that the row reads; it predicts the one after it."),
        **{output[at]: later("That comes later in the output.") for at in range(row + 1, min(row + 3, len(output)))},
        **{reads[at]: later("That came before.") for at in range(max(row - 2, 0), row)},
    }
    wrong: dict[str, Option] = {}
    for label, said in says.items():
        if plain(label) and plain(label) != plain(right):
            wrong.setdefault(plain(label), Option(quote(label), said, label))
    if not plain(right) or plain(reads[row]) not in wrong or len(wrong) < 2:
        return None
    first = wrong.pop(plain(reads[row]))
    others = list(wrong.values())
    kept = [first, *(others[place] for place in drawn(random, range(len(others)), 2))]
    return shuffled(random, Option(quote(right), later("It comes right after what the row reads."), right), kept)


def product(material: Material, random: Generator) -> Question | None:
    """What is the probability of some steps together?"""
    steps = [step for step in material.record.steps if step.rule is None]
    runs = [
        steps[start : start + length]
        for length in range(2, LONGEST + 1)
        for start in range(len(steps) - length + 1)
        if steps[start + length - 1].position - steps[start].position == length - 1
    ]
    for place in drawn(random, range(len(runs)), TRIES):
        run = runs[place]
        wrong = _wrong(run)
        if len(wrong) < 2:
            continue
        chances = [step.chosen.probability for step in run]
        right = math.prod(chances)
        options, answer = shuffled(random, _chance(right, later("Step probabilities are multiplied.")), wrong)
        said = " · ".join(f"{quote(step.chosen.label)} {percent(step.chosen.probability)}" for step in run)
        factors = " × ".join(f"{chance:.3f}" for chance in chances)
        return Question(
            "product",
            later(
                "The model gave these tokens, one after the other: {tokens}. How probable are they together, given "
                "all that came before?",
                tokens=said,
            ),
            options,
            answer,
            later(
                "The probability of a sequence is the product of the step probabilities (the chain rule): "
                "{factors} = {product}. Logarithms add up.",
                factors=factors,
                product=percent(right),
            ),
            "decoding",
            {"step": str(run[-1].position + 1)},
            about={"positions": tuple(step.position for step in run)},
        )
    return None


def _wrong(run: list[Step]) -> list[Option]:
    """Results of wrong rules that clearly differ from the right one."""
    chances = [step.chosen.probability for step in run]
    right = math.prod(chances)
    every = [
        (
            sum(chances) / len(chances),
            later("That is the mean, but all of them must happen, so it cannot be that high."),
        ),
        (min(chances), later("That is the smallest of them: the others must happen as well.")),
        (max(chances), later("That is the largest of them: the others must happen as well.")),
        (1 - right, later("That is the probability that at least one of them is different.")),
        (right**2, later("That counts the product twice: each step counts once.")),
    ]
    kept, texts = [right], [percent(right)]
    found: list[Option] = []
    for value, says in every:
        if all(abs(value - other) >= APART for other in kept) and percent(value) not in texts:
            kept.append(value)
            texts.append(percent(value))
            found.append(_chance(value, says))
    return found


def _chance(value: float, says: str) -> Option:
    return Option(percent(value), says, value)


def rule(material: Material, random: Generator) -> Question | None:
    """Which token was not chosen by the probabilities but set by a rule?"""
    steps = material.record.steps
    labels = [plain(step.chosen.label) for step in steps]
    single = [step for step, label in zip(steps, labels, strict=True) if label and labels.count(label) == 1]
    decided = [step for step in single if step.rule is not None]
    free = [step for step in single if step.rule is None]
    if not decided or len(free) < 2:
        return None
    right = decided[int(random.integers(len(decided)))]
    named = {"token": quote(right.chosen.label), "rule": later(str(right.rule))}
    options, answer = shuffled(
        random, _step(right), [_step(free[place]) for place in drawn(random, range(len(free)), 3)]
    )
    return Question(
        "rule",
        later("Which of these tokens was not the model's own choice?"),
        options,
        answer,
        later(
            "{token} was set by a rule of decoding: {rule}. Its probability is the model's own; only the choice was "
            "the rule's.",
            **named,
        ),
        "decoding",
        {"step": str(right.position + 1)},
        about={"position": right.position},
    )


def _step(step: Step) -> Option:
    label = quote(step.chosen.label)
    says = (
        later(
            "No rule touched {token}: the model gave it {chance}.", token=label, chance=percent(step.chosen.probability)
        )
        if step.rule is None
        else later("A rule decided here: {rule}.", rule=later(step.rule))
    )
    return Option(label, says, step.position)
