"""Two tables of atlases, compared head by head."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bartviz.analysis.corpus_against import against, incomparable
from bartviz.errors import SettingError

COLUMNS = ["kind", "layer", "head", "measure", "n", "mean", "sd", "low", "high", "even"]


def heads(*means: float, n: int = 100, sd: float = 0.2, kind: str = "encoder") -> pd.DataFrame:
    error = 1.959964 * sd / n**0.5
    rows = [
        (kind, 0, head, "previous", n, mean, sd, mean - error, mean + error, 0.2) for head, mean in enumerate(means)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def test_the_difference_has_the_interval_of_two_independent_means() -> None:
    table = against(heads(0.8), heads(0.6, n=400, sd=0.3))
    row = table.iloc[0]
    error = 1.96 * (0.2**2 / 100 + 0.3**2 / 400) ** 0.5
    assert row["difference"] == pytest.approx(-0.2)
    assert row["difference_low"] == pytest.approx(-0.2 - error, abs=1e-5)
    assert row["difference_high"] == pytest.approx(-0.2 + error, abs=1e-5)
    assert (row["mean"], row["other_mean"]) == (0.8, 0.6)
    assert row["other_low"] == pytest.approx(0.6 - 1.96 * 0.3 / 20, abs=1e-5)


def test_heads_that_change_their_role_come_first() -> None:
    table = against(heads(0.9, 0.1, 0.2), heads(0.9, 0.2, 0.8))
    assert list(table["head"]) == [2, 0, 1]
    assert list(table["changed"]) == [True, False, False]
    assert list(table["role"]) == ["", "previous token", ""]
    assert list(table["other_role"]) == ["previous token", "previous token", ""]


def test_the_interval_holds_the_true_difference_in_95_of_100_corpora() -> None:
    """10,000 pairs of corpora of 50 and 80 texts: one head each, whose means differ by 0.1."""
    generator = np.random.default_rng(0)

    def drawn(mean: float, sd: float, n: int) -> pd.DataFrame:
        values = generator.normal(mean, sd, (10_000, n))
        rows = heads(*values.mean(axis=1), n=n)
        half = {50: 2.0096, 80: 1.9905}[n] * values.std(axis=1, ddof=1) / n**0.5  # Student's t
        return rows.assign(sd=values.std(axis=1, ddof=1), low=rows["mean"] - half, high=rows["mean"] + half)

    table = against(drawn(0.3, 0.2, 50), drawn(0.4, 0.1, 80))
    inside = (table["difference_low"] <= 0.1) & (table["difference_high"] >= 0.1)
    assert 0.93 <= inside.mean() <= 0.97


def test_a_measure_that_one_atlas_lacks_is_left_out() -> None:
    undefined = heads(0.5).assign(measure="same", mean=np.nan)
    table = against(pd.concat([heads(0.8), undefined]), pd.concat([heads(0.7), heads(0.5).assign(measure="same")]))
    assert list(table["measure"]) == ["previous"]


def test_heads_of_another_shape_are_not_compared_and_the_reason_is_given() -> None:
    one = pd.concat([heads(0.8, 0.7), heads(0.5, kind="cross")])
    two = pd.concat([heads(0.8, 0.7), heads(0.5, 0.5, kind="cross"), heads(0.1, kind="decoder")])
    assert set(against(one, two)["kind"]) == {"encoder"}
    reasons = incomparable(one, two)
    assert reasons["cross"] == "cross attention has 1 layers of 1 heads, and 1 of 2"
    assert reasons["decoder"] == "only one atlas has decoder attention"
    with pytest.raises(SettingError, match="only one atlas has decoder attention"):
        against(heads(0.8), heads(0.8, kind="decoder"))
