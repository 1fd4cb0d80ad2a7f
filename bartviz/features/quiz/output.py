"""Questions about the output: the shift by one, how sure the model was, temperature, tokens decided by a rule."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator

from bartviz.analysis.masks import quote
from bartviz.features.quiz.question import (
    LINE,
    Maker,
    Material,
    Option,
    Question,
    Subject,
    Touch,
    alone,
    drawn,
    first_word,
    plain,
    shuffled,
    told_apart,
    wrote,
)
from bartviz.language import later, mark
from bartviz.language.percentages import percent
from bartviz.record.record import Record
from bartviz.record.steps import Step

APART = 0.03
"""The least difference between two probabilities that are offered."""
LONGEST = 4
"""The most steps whose probabilities are multiplied."""


def _read_rows(material: Material) -> list[Subject]:
    """The decoder rows of words that predict the token that the next row reads, as far as a line of words can show
    them."""
    record = material.record
    if record.decoder is None or record.output is None:
        return []
    special = record.decoder.query.special
    own = np.flatnonzero(record.decoder.mask.any(axis=0) & ~special).tolist()  # (open columns of words,)
    line = _line(record)
    return [(row,) for row in own if row + 1 < len(line) and line[row + 1] == record.output.labels[row]]


def _line(record: Record) -> tuple[str, ...]:
    """What the decoder reads, and the token that it writes last."""
    assert record.decoder is not None
    assert record.output is not None
    return (*record.decoder.query.labels, record.output.labels[-1])[:LINE]


def _ask_shift(material: Material, random: Generator, subject: Subject) -> Question | None:
    """Which token does a decoder row predict?"""
    record, [place] = material.record, subject
    assert isinstance(place, int)
    assert record.decoder is not None
    first = first_word(record.decoder.query)
    words, row = _line(record)[first:], place - first
    if not plain(words[row]) or not plain(words[row + 1]) or plain(words[row]) == plain(words[row + 1]):
        return None
    line = told_apart(words)
    reads, predicts = line[row], line[row + 1]
    why = later(
        "The decoder has read {reads} and all before it, and from that it has to predict what comes next: {predicts}.",
        reads=quote(reads),
        predicts=quote(predicts),
    )

    def says(at: int) -> str:
        if at == row:
            return later("That is the token that it has just read; it predicts the one after it.")
        return why if at == row + 1 else later("That came before.") if at < row else later("That comes later.")

    near = [row, *(at for at in (row + 2, row - 1, row - 2) if 0 <= at < len(line))]
    paper = [row + 1]
    for at in near:
        if plain(words[at]) and plain(words[at]) not in [plain(words[one]) for one in paper]:
            paper.append(at)
    if len(paper) < 3:
        return None
    step = next((step for step in record.steps if step.row == place), None)
    page, query = (
        ("decoding", {"step": str(step.position + 1)})
        if step is not None
        else ("heads", {"kind": "decoder", "row": str(place)})
    )
    return Question(
        "shift",
        later(
            mark("What did the model write after {reads}?")
            if wrote(record, place)
            else mark("The decoder has read as far as {reads}. Which token should it predict next?"),
            reads=quote(reads),
        ),
        tuple(Option(quote(label), says(at), words[at]) for at, label in enumerate(line)),
        row + 1,
        why,
        page,
        query,
        about={"kind": "decoder", "row": place},
        line=line,
        marked=row,
        touch=Touch("word", tuple(range(len(line))), tuple(sorted(paper[:4]))),
    )


def _free(material: Material) -> list[Step]:
    """The first steps, without those that a rule decided."""
    return [step for step in material.record.steps[:LINE] if step.rule is None and plain(step.chosen.label)]


def _one_unsure(material: Material) -> list[Subject]:
    return [("least",)] if len(_free(material)) >= 3 else []


def _ask_unsure(material: Material, random: Generator, subject: Subject) -> Question | None:
    """At which token was the model least sure?"""
    steps = _free(material)
    labels = tuple(step.chosen.label for step in steps)
    chances = np.array([step.chosen.probability for step in steps])
    best = int(chances.argmin())
    known = alone(labels)
    near = sorted((at for at in np.flatnonzero(known).tolist() if at != best), key=lambda at: float(chances[at]))[:3]
    if not known[best] or len(near) < 2 or np.delete(chances, best).min() < chances[best] + APART:
        return None
    why = later(
        "The model gave {token} {chance}; all others had more. The rest of that step went to other candidates.",
        token=quote(labels[best]),
        chance=percent(float(chances[best])),
    )
    line = told_apart(labels)
    says = [
        later("The model gave {token} {chance}.", token=quote(label), chance=percent(float(chance)))
        for label, chance in zip(line, chances, strict=True)
    ]
    return Question(
        "unsure",
        later("At which token of the output was the model least sure?"),
        tuple(Option(quote(label), says[at], steps[at].position) for at, label in enumerate(line)),
        best,
        why,
        "decoding",
        {"step": str(steps[best].position + 1)},
        about={"asked": "least"},
        line=line,
        touch=Touch("word", tuple(range(len(labels))), tuple(sorted([best, *near]))),
    )


def _two_candidates(material: Material) -> list[Subject]:
    return [(step.position,) for step in _free(material) if len(step.candidates) > 1]


def _ask_temperature(material: Material, random: Generator, subject: Subject) -> Question | None:
    """What does temperature 2 make of the ratio of two candidates?"""
    step = next(step for step in material.record.steps if (step.position,) == subject)
    first, second = step.candidates[:2]
    if not plain(first.label) or not plain(second.label) or second.probability < 0.001:
        return None
    ratio = round(first.probability / second.probability, 1)
    right = math.sqrt(ratio)
    if right < 1.5:
        return None
    why = later(
        "The scores are divided by 2 before the softmax, so the ratio of any two probabilities becomes its square "
        "root: √{ratio:.1f} = {right:.1f}.",
        ratio=ratio,
        right=right,
    )
    wrong = [
        Option(f"{ratio:.1f}", later("That is the ratio at temperature 1."), ratio),
        Option(f"{ratio / 2:.1f}", later("That divides the probabilities; the scores are divided."), ratio / 2),
        Option(f"{ratio**2:.1f}", later("That is what temperature 0.5 gives: a lower one sharpens."), ratio**2),
    ]
    wrong = [one for one in wrong if abs(float(str(one.fact)) - right) > 0.15 * right]
    if len(wrong) < 2 or len({one.text for one in wrong} | {f"{right:.1f}"}) <= len(wrong):
        return None
    options, answer = shuffled(random, Option(f"{right:.1f}", why, right), wrong)
    return Question(
        "temperature",
        later(
            "At temperature 1, {first} is {ratio:.1f} times as probable as {second}. How many times at temperature 2?",
            first=quote(first.label),
            second=quote(second.label),
            ratio=ratio,
        ),
        options,
        answer,
        why,
        "decoding",
        {"step": str(step.position + 1)},
        about={"step": step.position},
    )


def _runs(material: Material) -> list[Subject]:
    """Some steps in a row that no rule decided, by their positions."""
    steps = _free(material)
    runs = [
        steps[start : start + length]
        for length in range(2, LONGEST + 1)
        for start in range(len(steps) - length + 1)
        if steps[start + length - 1].position - steps[start].position == length - 1
    ]
    return [tuple(step.position for step in run) for run in runs]


def _ask_product(material: Material, random: Generator, subject: Subject) -> Question | None:
    """What is the probability of some steps together?"""
    run = [step for step in material.record.steps if step.position in subject]
    wrong = _wrong(run)
    if len(wrong) < 2:
        return None
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
        about={"positions": subject},
    )


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


def _ruled(material: Material) -> list[Subject]:
    """The steps that a rule decided, with labels of their own, if two that no rule touched have such labels too."""
    single = _single(material)
    decided = [step for step in single if step.rule is not None]
    return [(step.position,) for step in decided] if len(single) - len(decided) >= 2 else []


def _single(material: Material) -> list[Step]:
    steps = material.record.steps[:LINE]
    return [step for step, known in zip(steps, alone([step.chosen.label for step in steps]), strict=True) if known]


def _ask_rule(material: Material, random: Generator, subject: Subject) -> Question:
    """Which token was set by a rule, and not chosen by the probabilities? The others of that kind are not offered."""
    single = _single(material)
    right = next(step for step in single if (step.position,) == subject)
    kept = [step for step in single if step is right or step.rule is None]
    near = drawn(random, [at for at, step in enumerate(kept) if step is not right], 3)
    answer = kept.index(right)
    return Question(
        "rule",
        later("Which of these tokens was set by a rule of decoding, whatever the model thought?"),
        tuple(_step(step) for step in kept),
        answer,
        later(
            "{token} was set by a rule of decoding: {rule}. Its probability is the model's own; only the choice was "
            "the rule's.",
            token=quote(right.chosen.label),
            rule=later(str(right.rule)),
        ),
        "decoding",
        {"step": str(right.position + 1)},
        about={"position": right.position},
        line=tuple(step.chosen.label for step in kept),
        touch=Touch("word", tuple(range(len(kept))), tuple(sorted([answer, *near]))),
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


shift = Maker(_read_rows, _ask_shift)
unsure = Maker(_one_unsure, _ask_unsure)
temperature = Maker(_two_candidates, _ask_temperature)
product = Maker(_runs, _ask_product)
rule = Maker(_ruled, _ask_rule)
