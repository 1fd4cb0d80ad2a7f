"""Verdicts over texts: by hand, reproducible, and true of networks whose cause is planted."""

from __future__ import annotations

import doctest
from collections.abc import Mapping

import numpy as np
import pytest

import bartviz
from bartviz.analysis import removals, verdicts
from bartviz.analysis.attribution_methods import METHODS
from bartviz.analysis.removals import MEASURES
from bartviz.analysis.verdicts import ALIKE, BETTER, WORSE
from bartviz.attribution import faithfulness as module
from bartviz.attribution import judge as judging
from bartviz.attribution.attribute import COMPUTED
from bartviz.attribution.faithfulness import Trial
from bartviz.attribution.judge import Scorer, judge
from bartviz.attribution.question import Parts, Question
from bartviz.errors import SettingError, TextError
from tests.attribution.planted_cause import SEEDS, copier, permuted
from tests.support import loaded

TEXTS = [
    "I want to buy a car.",
    "The dog is very old.",
    "We live near the sea.",
    "She reads a long letter.",
    "He sold his house.",
    "My brother plays the piano.",
    "Go!",
]


def inverted(question: Question) -> Parts:
    return Parts(-COMPUTED["leave-one-out"](question).source)


def at_random(seed: int) -> Scorer:
    random = np.random.default_rng(seed)
    return lambda question: Parts(random.random((len(question.rows), len(question.record.source))).astype(np.float32))


def refusing(question: Question) -> Parts:
    raise SettingError("Not this text.")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bart-tiny-en-de", "bert-tiny-en"])
def test_right_wrong_and_random_methods_are_told_apart(name: str) -> None:
    methods: Mapping[str, Scorer] = {
        "right": COMPUTED["leave-one-out"],
        "inverted": inverted,
        "random": at_random(0),
        "refusing": refusing,
    }
    done = list[int]()
    model = bartviz.load(name)
    table = bartviz.faithfulness(
        model, TEXTS * 2, methods, ["delete", "mask"], on_progress=lambda at, total: done.append(at)
    )
    assert done == list(range(15))
    assert len(table) == 4 * 2 * len(MEASURES)
    by = table.set_index(["method", "operator", "measure"])
    assert set(by.loc["right"].verdict) == {BETTER}
    assert WORSE in set(by.loc["inverted"].verdict) <= {WORSE, ALIKE}
    assert set(by.loc["random"].verdict) == set(by.loc["refusing"].verdict) == {ALIKE}
    assert (by.loc["right"].texts == 12).all()  # "Go!" has too few words
    assert (by.loc["refusing"].texts == 0).all()
    kept = table[table.texts > 0]
    assert (kept.low <= kept["better by"]).all()
    assert (kept["better by"] <= kept.high).all()
    signs = kept.measure.map(dict(MEASURES))
    np.testing.assert_allclose(kept["better by"], signs * (kept.value - kept.random))


@pytest.mark.slow
def test_a_text_has_the_same_numbers_whenever_it_is_measured() -> None:
    model = bartviz.load("bart-tiny-en-de")
    trial = Trial.of(model, TEXTS, ["leave-one-out"], None, seed=3, filler=None)
    assert trial.operators == ("delete", "mask", "exchange", "fill-in")
    first, again = trial.measured(2, TEXTS[2], lambda: False), trial.measured(2, TEXTS[2], lambda: False)
    assert first is not None
    assert again is not None
    np.testing.assert_array_equal(first, again)
    other = Trial.of(model, TEXTS, ["leave-one-out"], None, seed=4, filler=None).measured(2, TEXTS[2], lambda: False)
    assert other is not None
    assert not np.array_equal(first, other)


def test_more_random_orders_tell_ranks_finer_and_none_are_refused() -> None:
    model = bartviz.load("bart-tiny-en-de")
    for orders in (1, 4):
        trial = Trial.of(model, TEXTS, ["mean attention"], ["mask"], orders=orders, seed=0, filler=None)
        found = trial.measured(2, TEXTS[2], lambda: False)
        assert found is not None
        steps = 2 * orders * (found[..., 2] + 0.5)  # ties count half
        np.testing.assert_allclose(steps, steps.round(), atol=1e-9)
    with pytest.raises(SettingError, match="orders of 1 or more"):
        bartviz.faithfulness(model, TEXTS, ["mean attention"], ["mask"], orders=0)


def test_a_line_by_hand() -> None:
    """Of five texts the values 2, 3, 4, 5, 6 against 1 at random: better by 3, with the interval of Student's t."""
    found = [np.tile(np.array([value, 1.0, 0.4]), (1, 1, 3, 1)) for value in (2.0, 3.0, 4.0, 5.0, 6.0)]
    table = module.table(["mine"], ["mask"], found)
    line = table.iloc[0]
    assert (line.texts, line["better by"], line["rank"]) == (5, 3.0, pytest.approx(0.4))
    error = 2.7764 * np.sqrt(2.5 / 5)
    np.testing.assert_allclose([line.low, line.high], [3 - error, 3 + error], rtol=1e-4)
    assert table["better by"].tolist() == [3.0, -3.0, -3.0]  # of the others less is better
    assert line.p == pytest.approx(2 / 32, abs=0.01)  # two of all 32 signs


@pytest.mark.slow
def test_what_is_not_there_is_refused() -> None:
    model = bartviz.load("bart-tiny-en-de")
    with pytest.raises(SettingError, match="no method magic"):
        bartviz.faithfulness(model, TEXTS, ["magic"])
    with pytest.raises(SettingError, match="no operator burn"):
        bartviz.faithfulness(model, TEXTS, operators=["burn"])  # type: ignore[list-item]
    with pytest.raises(SettingError, match="fills no masks of its own"):
        bartviz.faithfulness(loaded.model("bart"), TEXTS, operators=["fill-in"])
    with pytest.raises(TextError, match="1 have 3 words or more: give at least 5"):
        bartviz.faithfulness(model, ["Go!", "I want to buy a car."], ["mean attention"])
    with pytest.raises(TextError, match="a list and not one str"):
        bartviz.faithfulness(model, "I want to buy a car.")


@pytest.mark.slow
@pytest.mark.parametrize("home", [judging, removals, verdicts])
def test_the_examples_run(home: object) -> None:
    names = {"model": bartviz.load("bart-tiny-en-de"), "bartviz": bartviz, "np": np}
    for found in doctest.DocTestFinder().find(home, extraglobs=names):
        assert not doctest.DocTestRunner(verbose=False).run(found).failed, found.name


PLANTED = [*SEEDS[:2], *(pytest.param(seed, marks=pytest.mark.thorough) for seed in SEEDS[2:])]


@pytest.mark.slow
@pytest.mark.parametrize("seed", PLANTED)
def test_the_method_ranked_first_names_a_planted_cause(seed: int) -> None:
    """Every written word but the first is copied from one position of the source; the method with the best area over
    these steps names it, in each. An inverted method is worse than chance."""
    model = copier(seed)
    one, chain = permuted(model, seed)
    methods = {name: COMPUTED[name] for name in METHODS} | {"inverted": inverted}
    found = judge(model, one, methods, operator="mask")
    copied = np.array(found.steps) >= 2  # the first word has nothing before it whose translation it is
    first = min(found.judgements, key=lambda judgement: judgement.values[copied].mean())
    assert first.verdict == BETTER
    causes = [np.flatnonzero(one.source.ids[list(found.places)] == word).item() for word in chain[1:]]
    np.testing.assert_array_equal(first.scores[copied].argmax(axis=1), causes)
    assert found["inverted"].verdict == WORSE


@pytest.mark.slow
@pytest.mark.thorough
def test_random_scores_are_not_told_apart() -> None:
    """In at least 93 of 100 networks with a planted cause."""
    verdicts_of = []
    for seed in SEEDS:
        model = copier(seed)
        found = judge(model, permuted(model, seed)[0], {"random": at_random(1000 + seed)}, operator="mask")
        verdicts_of.append(found["random"].verdict)
    assert verdicts_of.count(ALIKE) >= 93
