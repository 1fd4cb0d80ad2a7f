"""Two tables of atlases, compared head by head."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bartviz.analysis.corpus_against import Pair, against, incomparable, paired_against
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


def test_p_of_two_independent_means_is_welchs() -> None:
    """By hand: t = 0.2 / sqrt(0.2^2/100 + 0.3^2/400) = 8, and of 0.012: t = 0.48 with 168.3 degrees of freedom."""
    far, near = (against(heads(0.8), heads(other, n=400, sd=0.3)).iloc[0] for other in (0.6, 0.812))
    assert far["p"] == pytest.approx(1.9e-13, rel=0.1)
    assert near["p"] == pytest.approx(0.632, abs=2e-3)
    assert near["n"] == 100
    table = against(heads(0.8, 0.5, 0.2), heads(0.75, 0.5, 0.1)).sort_values("p")
    p = table["p"].to_numpy()
    assert table["p_holm"].to_numpy() == pytest.approx([3 * p[0], 2 * p[1], p[2]])
    assert table["p_bh"].to_numpy() == pytest.approx([3 * p[0], 3 * p[1] / 2, p[2]])


def pairs(one: np.ndarray, two: np.ndarray) -> list[Pair]:
    """Values (N, H) of one layer."""
    texts = np.arange(len(one))
    return [Pair("encoder", "entropy", texts, one[:, None].astype(np.float32), two[:, None].astype(np.float32))]


def test_a_paired_difference_by_hand() -> None:
    """Differences 0.1, 0.2, 0.3, and a text that one model has no value for: mean 0.2, sd 0.1, t 4.3027."""
    one = np.array([[0.5], [1.5], [2.5], [9.0]])
    two = np.array([[0.6], [1.7], [2.8], [np.nan]])
    row = paired_against(heads(0.5), heads(0.5), pairs(one, two)).iloc[0]
    assert row["n"] == 3
    assert (row["mean"], row["other_mean"]) == pytest.approx((1.5, 1.7))
    assert (row["median"], row["other_median"], row["difference_median"]) == pytest.approx((1.5, 1.7, 0.2))
    assert row["difference"] == pytest.approx(0.2)
    assert row["difference_low"] == pytest.approx(0.2 - 4.3027 * 0.1 / 3**0.5, abs=1e-4)
    assert row["difference_high"] == pytest.approx(0.2 + 4.3027 * 0.1 / 3**0.5, abs=1e-4)
    # t = 3.4641 with 2 degrees of freedom: p = 1 - t / sqrt(t^2 + 2)
    assert row["p"] == pytest.approx(1 - 12**0.5 / 14**0.5, abs=1e-5)


def test_values_that_do_not_change_are_no_difference_and_one_text_has_no_test() -> None:
    same = np.array([[0.5, 0.1], [1.5, 0.2]])
    table = paired_against(heads(0.5, 0.5), heads(0.5, 0.5), pairs(same, same))
    assert (table["p"] == 1).all()
    assert (table[["difference_low", "difference_high"]].to_numpy() == 0).all()
    one = paired_against(heads(0.5), heads(0.5), pairs(same[:1, :1], same[:1, :1] + 1))
    assert one[["p", "p_holm", "p_bh", "difference_low"]].isna().all(axis=None)


def test_arithmetic_in_another_order_is_no_difference() -> None:
    random = np.random.default_rng(0)
    one = random.uniform(0, 3, (500, 6))
    for scale, apart in ((1e-6, False), (1e-3, True)):
        table = paired_against(heads(0.5), heads(0.5), pairs(one, one + scale * random.uniform(1, 2, one.shape)))
        assert (table["p"] < 1e-9).all() == apart
        assert (table["difference"] > 0).all() == apart


@pytest.mark.parametrize("n", [5, 20, 300])
def test_the_paired_interval_holds_the_difference_in_93_to_97_of_100_draws(n: int) -> None:
    """4,000 heads whose values rise and fall with the text by far more than the models differ."""
    random = np.random.default_rng(n)
    text = random.normal(2, 0.5, (n, 1))
    one = text + random.normal(0, 0.1, (n, 4_000))
    two = text + 0.05 + random.normal(0, 0.1, (n, 4_000))
    table = paired_against(heads(0.5), heads(0.5), pairs(one, two))
    held = ((table["difference_low"] <= 0.05) & (table["difference_high"] >= 0.05)).mean()
    assert 0.93 <= held <= 0.97
    nothing = paired_against(heads(0.5), heads(0.5), pairs(one, text + random.normal(0, 0.1, (n, 4_000))))
    assert 0.03 <= (nothing["p"] <= 0.05).mean() <= 0.07
    assert (nothing["p_holm"] <= 0.05).sum() <= 3
    apart = (table["difference_low"] > 0) | (table["difference_high"] < 0)
    assert apart.tolist() == (table["p"] < 0.05).tolist()


def test_differences_of_alike_neighbours_are_no_more_certain_than_those_of_each_once() -> None:
    """110 texts 20 times in a row: 400 heads that do not differ, and p is below 0.05 for about 5 of 100."""
    random = np.random.default_rng(0)
    one, two = (random.normal(2, 0.1, (110, 400)).repeat(20, axis=0) for _ in range(2))
    table = paired_against(heads(0.5), heads(0.5), pairs(one, two))
    apart = (table["difference_low"] > 0) | (table["difference_high"] < 0)
    assert apart.tolist() == (table["p"] < 0.05).tolist()
    assert 0.03 <= apart.mean() <= 0.12
    single = np.abs(table["difference"]) > 1.96 * (two - one).std(axis=0) / len(one) ** 0.5
    assert single.mean() > 0.5
