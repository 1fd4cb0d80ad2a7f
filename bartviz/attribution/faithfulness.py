"""faithfulness(): over many texts, which methods name the words that a model needs.

Letters in shapes: M methods, O operators, R random orders, n texts, W words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from bartviz.analysis import verdicts
from bartviz.analysis.intervals import Doubles, student
from bartviz.analysis.removals import MEASURES
from bartviz.analysis.words import words
from bartviz.arrays import Floats
from bartviz.attribution.attribute import captured
from bartviz.attribution.filling import filler_of, known
from bartviz.attribution.judge import FEWEST, Methods, Scorer, chosen_methods, pool_of
from bartviz.attribution.question import asked
from bartviz.attribution.reading import Ids, Reading
from bartviz.attribution.removal import OPERATORS, Operator, Removal
from bartviz.callbacks import never, silent
from bartviz.errors import SettingError, TextError, choices
from bartviz.language import later
from bartviz.models.model import Model, expect_model
from bartviz.safety.torch_defaults import torch_defaults

if TYPE_CHECKING:
    import pandas as pd

RANDOM = 20
"""Random orders of each text; over hundreds of texts fewer say as much."""
FEWEST_TEXTS = 5
COLUMNS = ("value", "random", "rank")
"""What is kept of each text, method, operator and measure: the measure of the method's order, the mean of random ones,
and the rank among these, as in ``Judgement``."""


@torch_defaults()
def faithfulness(
    model: Model,
    texts: Iterable[str],
    methods: Methods = None,
    operators: Sequence[Operator] | None = None,
    *,
    orders: int = RANDOM,
    seed: int = 0,
    filler: Model | None = None,
    cancelled: Callable[[], bool] = never,
    on_progress: Callable[[int, int], None] = silent,
) -> pd.DataFrame:
    """Which methods name the words that a model needs? One line for each method, operator and measure.

    Of each text one token of the output is drawn; of a model that fills masks one word of the text, which is masked.
    Its source words are ranked by each method and in as many random ``orders``, and taken away by each operator:
    ``delete``; ``mask`` (or the unknown token); ``exchange`` (a word of the other texts stands in its place);
    ``fill-in`` (another word, the guess of a model that fills gaps).

    methods: as in ``bartviz.attribution.judge.judge``. operators: all if None, but fill-in only where there is a
    ``filler``: the given one, a masked model itself, ``bart-tiny-denoise`` for the others that ship.

    ``comprehensiveness``: the fall of the token's probability without the first 10%, 20% and 50% of the words, in the
    mean; ``sufficiency``: the fall with these alone, the smaller the better; ``area``: the mean probability while all
    words are taken away one after the other, the smaller the better. ``random``: the same of random orders of the same
    text. ``better by``: how much better the method is, with a 95% interval over texts (``low``, ``high``). ``rank``:
    the mean rank among random orders, from -1/2 to 1/2; ``p`` that of a sign test on these, ``rate`` the false
    discovery rate (Benjamini and Hochberg 1995) over all lines, and ``verdict`` says whether it is at most 5%: better
    than chance, not told apart, or worse than chance. ``texts``: how many were measured; left out are those with fewer
    than 3 words, and those that a method refuses.
    on_progress gets the number of texts done, and their total. Raises SettingError for a method or operator that is not
    there, or no orders, TextError for fewer than 5 texts or a text that is too long, Cancelled.

    >>> texts = ["I want to buy a car.", "The dog is very old.", "We live near the sea.", "She reads a long letter.",
    ...          "He sold his house.", "My brother plays the piano."]
    >>> table = bartviz.faithfulness(model, texts * 2, ["leave-one-out"], ["mask"])
    >>> table[["measure", "verdict"]].values.tolist()[0]
    ['comprehensiveness', 'better than chance']
    """
    if isinstance(texts, str):
        raise TextError(later("Several texts are expected, a list and not one str."))
    lines = list(texts)
    trial = Trial.of(model, lines, methods, operators, orders=orders, seed=seed, filler=filler)
    found = list[Doubles]()
    for done, text in enumerate(lines):
        on_progress(done, len(lines))
        if (one := trial.measured(done, text, cancelled)) is not None:
            found.append(one)
    on_progress(len(lines), len(lines))
    return table(tuple(trial.methods), trial.operators, found, seed)


@dataclass(frozen=True, eq=False)
class Trial:
    """What every text is measured by. A text's numbers depend on its place among the texts and on the seed, not on when
    it is measured; ``pool`` has the words that stand in for others."""

    model: Model
    methods: Mapping[str, Scorer]
    operators: tuple[Operator, ...]
    pool: Sequence[Ids]
    filler: Model | None
    orders: int
    seed: int

    @classmethod
    def of(
        cls,
        model: Model,
        texts: Sequence[str],
        methods: Methods,
        operators: Sequence[Operator] | None,
        *,
        orders: int = RANDOM,
        seed: int,
        filler: Model | None,
    ) -> Trial:
        """Raises SettingError for a method or operator that is not there, or no orders."""
        expect_model(model)
        if orders < 1:
            raise SettingError(later("At least one random order is needed: give orders of 1 or more."))
        chosen = chosen_methods(methods)
        for name in operators or ():
            if name not in OPERATORS:
                raise SettingError(
                    later("There is no operator {name}: choose {names}.", name=name, names=choices(OPERATORS))
                )
        filled = filler is not None or known(model)
        used = tuple(operators) if operators else OPERATORS if filled else OPERATORS[:3]
        if "fill-in" in used and filler is None:
            filler = filler_of(model)
        return cls(model, chosen, used, pool_of(model, texts) if "exchange" in used else [], filler, orders, seed)

    def measured(self, place: int, text: str, cancelled: Callable[[], bool]) -> Doubles | None:
        """(M, O, measures, COLUMNS) of one text, NaN for a method that refuses it; None where it has too few words."""
        random = np.random.default_rng([self.seed, place])
        reading = _drawn(self.model, text, random, cancelled)
        if reading is None:
            return None
        scores = np.stack([_scores(reading, scorer) for scorer in self.methods.values()])  # (M, 1, W)
        by_chance = np.array([random.permutation(len(reading.words)) for _ in range(self.orders)])
        found = np.zeros((len(scores), len(self.operators), len(MEASURES), len(COLUMNS)))
        for o, operator in enumerate(self.operators):
            removal = Removal(reading, operator, random, pool=self.pool, filler=self.filler)
            for m, (measure, (own, others)) in enumerate(removal.compared(scores, by_chance, random).items()):
                sign, chance = MEASURES[measure], others.T  # (1, R)
                found[:, o, m, 0], found[:, o, m, 1] = own[:, 0], chance.mean()
                found[:, o, m, 2] = verdicts.ranks(sign * own[:, 0], sign * np.repeat(chance, len(own), axis=0))
        found[np.isnan(scores[:, 0, 0])] = np.nan
        return found


def table(methods: Sequence[str], operators: Sequence[str], found: Sequence[Doubles], seed: int = 0) -> pd.DataFrame:
    """The lines of ``faithfulness`` from what ``Trial.measured`` gives for each text. Raises TextError for fewer than
    5."""
    import pandas as pd

    if len(found) < FEWEST_TEXTS:
        raise TextError(
            later(
                "Of these texts {count} have {words} words or more: give at least {least}.",
                count=len(found),
                words=FEWEST,
                least=FEWEST_TEXTS,
            )
        )
    numbers = np.stack(found).reshape(len(found), -1, len(COLUMNS))  # (n, lines, COLUMNS)
    own, chance, ranks = numbers[:, :, 0].T, numbers[:, :, 1].T, numbers[:, :, 2].T  # (lines, n)
    names = [(method, operator, measure) for method in methods for operator in operators for measure in MEASURES]
    signs = np.array([MEASURES[measure] for _, _, measure in names])
    counts = (~np.isnan(own)).sum(axis=1)
    better = signs[:, None] * (own - chance)
    mean = _means(better)
    spread = np.sqrt(_means((better - mean[:, None]) ** 2) * counts / np.maximum(counts - 1, 1))
    error = student(counts) * spread / np.sqrt(np.maximum(counts, 1))
    p = verdicts.sign_test(np.nan_to_num(ranks), seed)
    rates, rank = verdicts.adjusted(p), _means(ranks)
    lines = pd.DataFrame(names, columns=["method", "operator", "measure"])
    return lines.assign(
        texts=counts,
        value=_means(own),
        random=_means(chance),
        **{"better by": mean, "low": mean - error, "high": mean + error},
        rank=rank,
        p=p,
        rate=rates,
        verdict=[verdicts.verdict(*pair) for pair in zip(rank.tolist(), rates.tolist(), strict=True)],
    )


def _means(values: Doubles) -> Doubles:
    """(lines,) the means of values (lines, n), without those that are NaN."""
    there = ~np.isnan(values)
    count = there.sum(axis=1)
    return np.where(count > 0, np.where(there, values, 0.0).sum(axis=1) / np.maximum(count, 1), np.nan)


def _scores(reading: Reading, scorer: Scorer) -> Floats:
    """(1, W) a method's scores; NaN where it refuses the text."""
    try:
        with torch.no_grad():
            return reading.scores(scorer(reading.question).source)
    except SettingError:
        return np.full((1, len(reading.words)), np.nan, np.float32)


def _drawn(model: Model, text: str, random: np.random.Generator, cancelled: Callable[[], bool]) -> Reading | None:
    """A reading of one step of a text, drawn at random; None where none has enough words."""
    record = captured(model, text, None, cancelled)
    if model.info.kind == "encoder" and not (record.source.ids == model.tokenizer.mask_token_id).any():
        spoken = [word for word in words(record.source) if not word.special and word.text.isalnum()]
        if len(spoken) <= FEWEST:
            return None
        gap = spoken[int(random.integers(len(spoken)))]
        spans = [span for span in record.source.spans[gap.start : gap.end] if span is not None]
        read = record.source_text
        record = captured(model, f"{read[: spans[0][0]]}<mask>{read[spans[-1][1] :]}", None, cancelled)
    question = asked(model, record, token=None, contrast=None, step=None, cancelled=cancelled, source_alone=True)
    output = record.output
    steps = [step for step, row in enumerate(question.rows.tolist()) if output is None or not output.special[row]]
    readings = [Reading.of(question, slice(step, step + 1)) for step in steps]
    enough = [reading for reading in readings if len(reading.words) >= FEWEST]
    return enough[int(random.integers(len(enough)))] if enough else None
