"""Heads that do one thing by construction are named after it, random ones are not, and intervals hold the mean."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bartviz.analysis.corpus_roles import roles
from bartviz.corpus.read import Line
from bartviz.corpus.run_folder import Job
from bartviz.corpus.sums import Partial
from bartviz.corpus.tables import heads
from bartviz.corpus.work import measured, random
from bartviz.models.model import Model
from tests.corpus import planted_heads
from tests.support import planted

TEXTS = 40
NETWORKS, SOME, RANDOM = 40, 10, 50


def job(seed: int) -> Job:
    """Texts of words that may come twice, with translations in another order."""
    generator, lines = np.random.default_rng(seed), []
    ids = planted.translation(seed)
    for number in range(TEXTS):
        words = planted.SPECIAL + generator.permutation(planted.WORDS)[: generator.integers(5, 9)]
        target = ids[generator.permutation(words)]
        twice = np.concatenate([words, words[:2]]) if number % 2 else words
        text, output = planted.written(twice), planted.written(target)
        lines.append(Line(number, "corpus.tsv", number + 1, text, None, output))
    return Job(0, tuple(lines), ())


def named(model: Model, seed: int) -> dict[str, str]:
    """Head -> the measure that names it."""
    parts = [*measured(model, job(seed)).sums.values(), *random(model).sums.values()]
    found = roles(pd.concat([heads(part) for part in parts], ignore_index=True))
    again = {"duplicate": "same"}  # on random tokens the same token is the same word
    return {
        f"{row.kind} L{row.layer}H{row.head}": again.get(str(row.measure), str(row.measure))
        for row in found.itertuples()
    }


@pytest.mark.some("0")
@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, NETWORKS, SOME))
def test_every_planted_head_is_named_after_what_it_does(first: int) -> None:
    for seed in range(first, first + SOME):
        four = [planted.ENCODER[(seed + step) % len(planted.ENCODER)] for step in range(4)]
        heads = {
            "encoder 0": (four[0], four[1]),
            "encoder 1": (four[2], four[3]),
            "decoder 0": ("previous", "same"),
            "decoder 1": ("induction", ("previous", "first", "itself")[seed % 3]),
            "cross 0": ("alignment", "first"),
        }
        places = {site: site.replace(" ", " L") for site in heads}
        wanted = {f"{places[site]}H{at}": name for site, names in heads.items() for at, name in enumerate(names)}
        found = named(planted.planted(heads, seed), seed)
        assert found | wanted == found, seed


def test_only_a_head_that_agrees_with_alignments_by_hand_is_said_to_align() -> None:
    """One that links each word to what stands after its translation pairs words as surely, and is not."""
    lines = [
        Line(number, "corpus.tsv", number + 1, row["text"], None, row["target"], row["gold"])
        for number, row in enumerate(planted_heads.texts(0))
    ]
    model = planted.planted({"encoder 0": ("previous", "next"), "cross 0": ("alignment", "beside")}, 0)
    found = roles(heads(measured(model, Job(0, tuple(lines), ())).sums["cross"]))
    said = {int(str(row.head)): str(row.role) for row in found[found["layer"] == 0].itertuples()}
    assert said[0] == "aligns the word just read"
    assert "align" not in said.get(1, "")


def test_a_head_that_always_looks_as_far_back_is_no_induction_head() -> None:
    """Random tokens are repeated after 15 positions here, so that the token to come was 14 positions before."""
    places = {"encoder 0": ("first", "itself"), "encoder 1": ("first", "itself"), "cross 0": ("first", "alignment")}
    heads = {**places, "decoder 0": ("previous", "fifteen"), "decoder 1": ("induction", "fourteen")}
    part = random(planted.planted(heads, 0)).sums["decoder"]
    names = [f"L{layer}H{head}" for layer, head in np.ndindex(part.shape)]
    means = (part.total / part.count).reshape(len(names), 2)
    found = {name: dict(zip(part.names, row.tolist(), strict=True)) for name, row in zip(names, means, strict=True)}
    assert found["L1H0"]["induction"] > 0.9
    assert found["L1H1"]["induction"] < 0.05
    assert found["L0H1"]["duplicate"] < 0.05


@pytest.mark.thorough
@pytest.mark.slow
def test_no_random_head_has_a_name() -> None:
    for seed in range(RANDOM):
        assert named(planted.random(seed), seed) == {}, seed


def test_the_interval_holds_the_mean_as_often_as_it_says() -> None:
    """Over resampled halves of a corpus: 95 % of the intervals, which are wide as they should be, hold its mean."""
    generator = np.random.default_rng(0)
    values = generator.beta(2, 5, (4_000, 2, 4, 3)).astype(np.float32)
    even = np.full((len(values), 3), 0.2, np.float32)
    mean = values.mean(axis=0, dtype=np.float64).ravel()
    held = []
    for _ in range(200):
        half = generator.choice(len(values), len(values) // 2)
        part = Partial.of("encoder", ("previous", "next", "itself"), values[half], even[half], np.arange(len(half)))
        found = heads(part)
        held.append((found["low"].to_numpy() <= mean) & (mean <= found["high"].to_numpy()))
    assert 0.93 <= np.mean(held) <= 0.97
