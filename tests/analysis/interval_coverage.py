"""How often the 95% interval of a mean contains it, drawn again and again from values whose mean is known:
``python -m tests.analysis.interval_coverage [ATLAS ...]``.

The values are drawn from distributions, and from those of each head in atlases that keep them (``bartviz corpus
--values``). Letters in shapes: D draws, n texts, N texts of an atlas, C heads.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

import bartviz
from bartviz.analysis import intervals
from bartviz.analysis.corpus_measures import ALL
from bartviz.corpus.atlas import Atlas

Doubles = NDArray[np.float64]
Draw: TypeAlias = Callable[[np.random.Generator, tuple[int, ...]], Doubles]
SIZES = (2, 3, 4, 5, 10, 30, 100, 300)
DRAWS = 10_000
OF_HEAD = 500  # draws from the values of each head
KNOWN = 100  # values of a head, below which nothing is drawn from them


def _few(share: float) -> Draw:
    """Most texts have nearly nothing, this share of them much."""
    return lambda random, size: np.where(random.random(size) < share, random.beta(2, 2, size), 0.001)


DISTRIBUTIONS: Mapping[str, tuple[str, Draw]] = {
    "shares spread out": ("previous", lambda random, size: random.beta(4, 3, size)),
    "shares near 0": ("previous", lambda random, size: random.beta(1, 8, size)),
    "shares near 1": ("previous", lambda random, size: random.beta(80, 2, size)),
    "shares at both ends": ("previous", lambda random, size: random.beta(0.35, 0.5, size)),
    "shares of nearly all": ("previous", lambda random, size: random.beta(200, 1, size)),
    "nothing, but in 30 of 100 texts": ("previous", _few(0.3)),
    "nothing, but in 10 of 100 texts": ("previous", _few(0.1)),
    "nothing, but in 1 of 100 texts": ("previous", _few(0.01)),
    "bits": ("entropy", lambda random, size: random.normal(3, 0.6, size).clip(0)),
    "distances, lopsided": ("distance", lambda random, size: random.lognormal(1, 0.5, size)),
    "silenced": ("silenced", lambda random, size: 0.02 * random.lognormal(0, 1.3, size)),
}
"""A name, the measure whose interval is taken, and how values of it are drawn."""


def ends(measure: str, values: Doubles) -> tuple[Doubles, Doubles]:
    """The intervals (D,) of samples (D, n)."""
    draws, n = values.shape
    sd = values.std(axis=1, ddof=1)
    return intervals.of_means([ALL[measure]] * draws, np.full(draws, n), values.mean(axis=1), sd, values.max(axis=1))


def drawn(name: str, n: int, draws: int = DRAWS) -> float:
    """The share of intervals with the mean, of samples from a distribution; NaN where they are not defined."""
    measure, draw = DISTRIBUTIONS[name]
    return _held(ends(measure, draw(np.random.default_rng(n), (draws, n))), _mean(name))


@cache
def _mean(name: str) -> float:
    return float(DISTRIBUTIONS[name][1](np.random.default_rng(0), (4_000_000,)).mean())


def measured(atlas: Atlas, n: int, draws: int = OF_HEAD) -> Iterator[tuple[str, float]]:
    """The same for each head and measure of an atlas, from its own values: measure, and the share."""
    random = np.random.default_rng(n)
    for kind in atlas.kinds:
        for measure in sorted(set(atlas.heads.query("kind == @kind")["measure"])):
            try:
                values = atlas.values(kind, measure)
            except bartviz.errors.SettingError:  # measured on random tokens: it has no values of texts
                continue
            for column in values.reshape(len(values), -1).T.astype(np.float64):
                known = column[np.isfinite(column)]
                if len(known) >= KNOWN:
                    sample = known[random.integers(0, len(known), (draws, n))]
                    yield measure, _held(ends(measure, sample), known.mean())


def _held(of: tuple[Doubles, Doubles], mean: float) -> float:
    low, high = of
    if np.isnan(low).all():
        return float("nan")
    return float(((low <= mean + 1e-12) & (mean <= high + 1e-12)).mean())


def main() -> None:
    """Print a table of both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("atlas", nargs="*", help="folder of an atlas with values")
    atlases = [bartviz.open_atlas(folder) for folder in parser.parse_args().atlas]
    print(f"| values | {' | '.join(f'n = {n}' for n in SIZES)} |\n|---|{'---|' * len(SIZES)}")
    for name in DISTRIBUTIONS:
        print(f"| {name} | {' | '.join(_percent(drawn(name, n)) for n in SIZES)} |")
    found: dict[str, dict[int, list[float]]] = {}
    for n in SIZES:
        for atlas in atlases:
            for measure, share in measured(atlas, n):
                found.setdefault(measure, {}).setdefault(n, []).append(share)
    for measure in sorted(found):
        cells = (f"{_percent(float(np.mean(of)))} ({_percent(min(of))})" for of in found[measure].values())
        print(f"| `{measure}` | {' | '.join(cells)} |")


def _percent(share: float) -> str:
    return "" if np.isnan(share) else f"{100 * share:.1f}"


if __name__ == "__main__":
    main()
