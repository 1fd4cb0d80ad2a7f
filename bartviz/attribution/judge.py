"""judge(): which methods name the words that one written word needs; without(): the same word with some taken away."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from bartviz.analysis import removals, verdicts
from bartviz.analysis.attribution_methods import METHODS
from bartviz.analysis.intervals import Doubles
from bartviz.analysis.readonly import Brief
from bartviz.analysis.removals import MEASURES, Measure
from bartviz.analysis.verdicts import Verdict
from bartviz.analysis.words import word_groups
from bartviz.arrays import Floats, Ints
from bartviz.attribution.attribute import COMPUTED, captured
from bartviz.attribution.question import Parts, Question, asked
from bartviz.attribution.reading import Ids, Reading
from bartviz.attribution.removal import Operator, Removal
from bartviz.callbacks import never, silent
from bartviz.errors import SettingError, TextError, choices
from bartviz.language import later
from bartviz.models.model import Model, expect_model
from bartviz.record.record import Record
from bartviz.safety.torch_defaults import torch_defaults
from bartviz.text import tokenize

if TYPE_CHECKING:
    import pandas as pd

Scorer = Callable[[Question], Parts]
"""A method: the step that is explained -> a number for each source token."""
Methods = Sequence[str] | Mapping[str, Scorer] | None
"""Names of METHODS; or a caller's own, by the names that it gives them; None: all of METHODS."""
FEWEST = 3
"""Words, below which no order can be told from chance."""
MANY = 8  # words: of more there are fewer random orders
DRAWS = 999  # of a random order for each step


@dataclass(frozen=True, eq=False, repr=False)
class Judgement(Brief):
    """One method on one text, for T steps and W words that can be taken away.

    ``scores`` (T, W): the method's numbers; NaN for a word that a step does not read. ``values`` (T,): the measure of
    their order, the highest first; ``random`` (R,): the mean over the steps where each has a random order. ``rank``:
    the share of these that the method's mean is better than, equal ones half, less 1/2: from -1/2 to 1/2.
    ``p``: how likely random orders are as far to one side, one for all steps or another for each, whichever is
    likelier; ``rate``: the same corrected for the number of methods (Benjamini and Hochberg 1995), and ``verdict`` says
    whether it is at most 5%.
    """

    method: str
    scores: Floats
    values: Doubles
    random: Doubles
    rank: float
    p: float
    rate: float
    verdict: Verdict

    def __repr__(self) -> str:
        return f"<{self.method}: {self.verdict}, {self.values.mean():.3f} against {self.random.mean():.3f}>"


@dataclass(frozen=True, eq=False)
class Judged:
    """Several methods on one text.

    ``steps`` (T,): the numbers of the steps that were explained, and ``tokens`` (T,) the labels of what the model
    writes there; ``values`` (T,): their probabilities with every word there (against another token, the differences of
    their logits). ``words`` (W,): the words that were taken away, and ``places`` (W,) the index of each among all words
    of the source, as in ``Attribution.words().source``. ``judgements``: one for each method, ``found["rollout"]``.
    """

    steps: tuple[int, ...]
    tokens: tuple[str, ...]
    values: Doubles
    operator: Operator
    measure: Measure
    words: tuple[str, ...]
    places: tuple[int, ...]
    judgements: tuple[Judgement, ...]

    def __getitem__(self, method: str) -> Judgement:
        return next(one for one in self.judgements if one.method == method)

    def to_dataframe(self) -> pd.DataFrame:
        """One line for each method: its value, the mean and the middle 95% of random orders, rank, p, rate, verdict."""
        import pandas as pd

        return pd.DataFrame(
            {
                "method": one.method,
                "value": one.values.mean(),
                "random": one.random.mean(),
                "random low": np.quantile(one.random, 0.025),
                "random high": np.quantile(one.random, 0.975),
                "rank": one.rank,
                "p": one.p,
                "rate": one.rate,
                "verdict": one.verdict,
            }
            for one in self.judgements
        )


@dataclass(frozen=True)
class Without:
    """A step with some words taken away. ``read``: the source as the model then reads it. ``before`` and ``after``: the
    probability of the ``token`` (against another one, the difference of their logits). ``written_before`` and
    ``written_after``: the likeliest token at the step, and its probability."""

    token: str
    read: str
    before: float
    after: float
    written_before: tuple[str, float]
    written_after: tuple[str, float]


@torch_defaults()
def judge(
    model: Model,
    text: str | Record,
    methods: Methods = None,
    *,
    step: int | None = None,
    operator: Operator = "mask",
    measure: Measure = "area",
    contrast: str | int | None = None,
    target: str | int | None = None,
    corpus: Sequence[str] = (),
    filler: Model | None = None,
    orders: int = 999,
    seed: int = 0,
    cancelled: Callable[[], bool] = never,
    on_progress: Callable[[int, int], None] = silent,
) -> Judged:
    """Is a method better than chance on this text?

    The source words are taken away in the order of each method, and in random orders; ``measure`` says how the
    probabilities of what the model writes fall (``bartviz.analysis.removals``). A method is better than chance where a
    random order does as well in at most 5% of cases, after a correction for the number of methods. One step alone tells
    little: whoever guesses which of 7 words matters is right once in 7.

    methods: names, all if None; or own ones by name, ``{"mine": lambda question: Parts(values)}`` with values
        (steps, tokens of the source): so numbers that ``attribute`` has found are judged at no further cost.
    step: one step alone, counted from 0 as ``record.steps``, or as the masks of the text; if None all that write a
        token which is not special and read a word.
    operator: what becomes of a word that is taken away (``bartviz.attribution.removal.OPERATORS``).
    corpus: texts whose words "exchange" puts in; without any, the other words of the text. filler: the model that
        guesses for "fill-in"; if None a masked model itself, and for others that ship
        ``bart-tiny-denoise``.
    orders: random orders at most; for more than 8 words a tenth. Where there are no more, every order once.
    on_progress gets the number of methods done, and their total, before each batch of passes. Raises as ``attribute``,
    SettingError for an operator that the model has not, TextError for fewer than 3 words, and where nothing is written
    but special tokens.

    >>> found = judge(model, "I want to buy a car.", ["leave-one-out", "mean attention"])
    >>> found.tokens[4], found.words[3], found["leave-one-out"].verdict
    ('kaufen', 'buy', 'better than chance')
    """
    chosen = chosen_methods(methods)
    if measure not in MEASURES:
        raise SettingError(later("There is no measure {name}: choose {names}.", name=measure, names=choices(MEASURES)))
    reached = 0  # methods that are done: told again before each batch, so that other work may come in between
    question, steps = _asked(
        model, text, step, target, contrast, cancelled, lambda _share: on_progress(reached, len(chosen))
    )
    if not len(steps):
        raise TextError(later("The model wrote no word here that could be judged: give another text."))
    readings = [one for one in Reading.each(question) if len(one.words) >= FEWEST]
    if not readings:
        raise TextError(
            later(
                "Fewer than {least} words can be taken away here, too few to tell an order from chance: give a longer "
                "text.",
                least=FEWEST,
            )
        )
    numbers = list[Floats]()
    for reached, scorer in enumerate(chosen.values()):
        on_progress(reached, len(chosen))
        with torch.no_grad():
            numbers.append(scorer(question).source)  # (steps, n)
    reached = len(chosen)
    named = {place: word.text for one in readings for place, word in zip(one.places, one.words, strict=True)}
    places, random = sorted(named), np.random.default_rng(seed)
    by_chance = removals.random_orders(len(places), orders if len(places) <= MANY else max(1, orders // 10), random)
    pool = pool_of(model, corpus)
    parts = list[_Part]()
    for reading in readings:
        removal = Removal(reading, operator, random, pool=pool, filler=filler)
        scores = np.stack([reading.scores(values[reading.steps]) for values in numbers])  # (M, T, W)
        here = np.searchsorted(places, reading.places)
        own, others = removal.compared(scores, _restricted(by_chance, here), random, [measure])[measure]
        whole = removal.values(np.zeros((1, len(here)), np.bool_))[0]
        wide = np.full((*scores.shape[:2], len(places)), np.nan, np.float32)
        wide[:, :, here] = scores
        parts.append(_Part(np.asarray(steps[reading.steps]), reading.question.ids, whole, wide, own, others))
    on_progress(len(chosen), len(chosen))
    which, ids, whole, scores, own, others = (
        np.concatenate([part[index] for part in parts], axis=axis) for index, axis in enumerate((0, 0, 0, 1, 1, 1))
    )
    return Judged(
        tuple(which.tolist()),
        tuple(tokenize.label(model.tokenizer, token) for token in ids.tolist()),
        whole,
        operator,
        measure,
        tuple(named[place] for place in places),
        tuple(places),
        _judgements(tuple(chosen), scores, own, others, MEASURES[measure], random),
    )


class _Part(NamedTuple):
    """What one reading gives, for its T steps: their numbers and tokens (T,), their probabilities with every word (T,),
    scores (M, T, W), and the measure of M methods (M, T) and of random orders (R, T)."""

    steps: Ints
    ids: Ints
    whole: Doubles
    scores: Floats
    own: Doubles
    others: Doubles


def _judgements(
    names: Sequence[str], scores: Floats, own: Doubles, others: Doubles, sign: int, random: np.random.Generator
) -> tuple[Judgement, ...]:
    """From scores (M, T, W) and the measure of M methods (M, T) and of random orders (R, T).

    One random order for all steps and another one for each are two kinds of chance: where every step has a word of its
    own, the first hardly varies, and where all have the same, the second. A method has to be apart from both.
    """
    means = sign * own.mean(axis=1)
    drawn = random.integers(len(others), size=(max(len(others), DRAWS), others.shape[1]))
    each = others[drawn, np.arange(others.shape[1])].mean(axis=1)  # another order for each step
    kinds = [sign * others.mean(axis=1), sign * each]
    p = np.array([max(verdicts.rank_test(mean, kind) for kind in kinds) for mean in means])
    rates = verdicts.adjusted(p)
    ranks = verdicts.ranks(means, np.broadcast_to(kinds[1], (len(means), len(each))))
    return tuple(
        Judgement(name, scores[m], own[m], each, rank, float(p[m]), rate, verdicts.verdict(rank, rate))
        for m, (name, rank, rate) in enumerate(zip(names, ranks.tolist(), rates.tolist(), strict=True))
    )


def _restricted(orders: Ints, words: Ints) -> Ints:
    """The orders (R, W) of these words alone, by their places among them."""
    known = np.full(orders.shape[1], -1)
    known[words] = np.arange(len(words))
    among = known[orders]
    return among[among >= 0].reshape(len(orders), len(words))


@torch_defaults()
def without(
    model: Model,
    text: str | Record,
    words: Sequence[int],
    *,
    step: int = 0,
    operator: Operator = "mask",
    contrast: str | int | None = None,
    target: str | int | None = None,
    corpus: Sequence[str] = (),
    filler: Model | None = None,
    seed: int = 0,
    cancelled: Callable[[], bool] = never,
) -> Without:
    """A step before and after some words of the source are taken away.

    words: their indices among all words of the source, as ``Judged.places`` and ``Attribution.words().source``; the
    other arguments are those of ``judge``. Raises as ``judge``, and SettingError for a word that cannot be taken away.

    >>> found = without(model, "I want to buy a car.", [4], step=5, operator="delete")
    >>> found.token, found.read, found.after < found.before
    ('kaufen', 'I want to a car.', True)
    """
    question, _ = _asked(model, text, step, target, contrast, cancelled)
    reading = Reading.of(question)
    lacking = set(words) - set(reading.places)
    if lacking:
        named = [f"{place} ({word.text})" for place, word in zip(reading.places, reading.words, strict=True)]
        raise SettingError(
            later("Word {index} cannot be taken away: choose of {names}.", index=min(lacking), names=choices(named))
        )
    removal = Removal(reading, operator, np.random.default_rng(seed), pool=pool_of(model, corpus), filler=filler)
    texts = removal.texts(np.array([np.zeros(len(reading.places), np.bool_), np.isin(reading.places, list(words))]))
    before, after = reading.values(texts)[:, 0].tolist()
    best = [reading.logits([text])[0, 0].softmax(-1).max(-1) for text in texts]
    written = [(tokenize.label(model.tokenizer, int(one.indices)), float(one.values)) for one in best]
    silent = set(model.tokenizer.all_special_ids) - {model.tokenizer.mask_token_id, model.tokenizer.unk_token_id}
    read = model.tokenizer.decode(
        [token for token in texts[1].ids if token not in silent], clean_up_tokenization_spaces=False
    )
    token = tokenize.label(model.tokenizer, int(question.ids[0]))
    return Without(token, read.strip(), before, after, written[0], written[1])


def chosen_methods(methods: Methods) -> Mapping[str, Scorer]:
    """What computes each of the methods. Raises SettingError for a name that is not there."""
    if isinstance(methods, Mapping):
        return methods
    names = tuple(METHODS) if methods is None else tuple(dict.fromkeys(methods))
    for name in names:
        if name not in METHODS:
            raise SettingError(later("There is no method {name}: choose {names}.", name=name, names=choices(METHODS)))
    return {name: COMPUTED[name] for name in names}


def pool_of(model: Model, texts: Sequence[str]) -> list[Ids]:
    """The words of texts, as ids: all but the first of each, as some tokenizers write that one differently."""
    found = list[Ids]()
    for text in texts:
        tokens = tokenize.encode(model.tokenizer, text)
        spoken = [group for group in word_groups(tokens) if not tokens.special[group[0]]]
        found += [tuple(tokens.ids[list(group)].tolist()) for group in spoken[1:]]
    return found


def _asked(
    model: Model,
    text: str | Record,
    step: int | None,
    target: str | int | None,
    contrast: str | int | None,
    cancelled: Callable[[], bool],
    report: Callable[[float | None], None] = lambda share: None,
) -> tuple[Question, Ints]:
    """The question about one step, or about all that write a token which is not special, and their numbers."""
    expect_model(model)
    record = text if isinstance(text, Record) else captured(model, text, target, cancelled)
    expect_model(model, record)
    token = target if model.info.kind == "encoder" else None
    question = asked(
        model, record, token=token, contrast=contrast, step=step, cancelled=cancelled, report=report, source_alone=True
    )
    if step is not None:
        return question, np.array([step])
    spoken = list(range(len(question.rows)))
    if record.output is not None:
        spoken = [place for place, row in enumerate(question.rows.tolist()) if not record.output.special[row]]
    return question.only(spoken), np.array(spoken, np.int64)
