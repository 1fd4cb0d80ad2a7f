"""The bootstrap over the parts of a run, from shards whose values are drawn here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bartviz
from bartviz.analysis.corpus_against import against
from bartviz.analysis.means import ALIKE, BLOCK, LEAST_BLOCKS
from bartviz.commands.cli import main
from bartviz.corpus import tables
from bartviz.corpus.run_folder import Folder, Job, Shard
from bartviz.corpus.stability import resampled, stability, text_blocks
from bartviz.corpus.sums import Partial
from bartviz.errors import SettingError
from tests.support import loaded
from tests.support.process import ROOT

HEADS = 400
PARTS, ROWS = 25, 20


def written(path: Path, values: np.ndarray) -> Path:
    """A folder with a shard for each part of values (P, N, H) of one measure."""
    model = {"encoder_layers": 1, "encoder_heads": values.shape[-1]}
    folder = Folder(path, {"model": model, "measures": {"encoder": ["previous"]}}, resume=False)
    for number, part in enumerate(values.astype(np.float32)):
        texts = np.arange(len(part)) + number * len(part)
        even = np.full((len(part), 1), 0.1, np.float32)
        sums = Partial.of("encoder", ("previous",), part[:, None, :, None], even, texts)
        folder.put(Job(number, (), ()), Shard({"encoder": sums}, len(part)).files())
    return path


def held(table: pd.DataFrame, mean: float) -> float:
    return float(((table["low"] <= mean) & (table["high"] >= mean)).mean())


@pytest.mark.parametrize("parts", [10, PARTS])
def test_intervals_hold_the_mean_where_rows_are_independent(parts: int, tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(0.5, 0.1, (parts, ROWS, HEADS))
    table = stability(written(tmp_path, values))
    assert table["mean"].to_numpy() == pytest.approx(values.mean(axis=(0, 1)), abs=1e-6)
    assert 0.92 <= held(table, 0.5) <= 0.98


def test_intervals_hold_the_mean_where_rows_of_a_part_repeat_each_other(tmp_path: Path) -> None:
    """Where the interval of independent rows does not."""
    values = np.random.default_rng(1).normal(0.5, 0.1, (PARTS, 1, HEADS)).repeat(ROWS, axis=1)
    assert 0.89 <= held(stability(written(tmp_path, values)), 0.5) <= 0.98
    error = 1.96 * values.std(axis=(0, 1)) / (PARTS * ROWS) ** 0.5
    assert (abs(values.mean(axis=(0, 1)) - 0.5) <= error).mean() < 0.6


def test_the_same_seed_gives_the_same_numbers(tmp_path: Path) -> None:
    path = written(tmp_path, np.random.default_rng(0).random((PARTS, ROWS, 3)))
    pd.testing.assert_frame_equal(stability(path, seed=3), stability(path, seed=3))
    assert not stability(path, seed=3).equals(stability(path, seed=4))


def test_few_parts_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, np.full((3, 2, 1), 0.5))
    with pytest.raises(SettingError, match="needs 10 parts"):
        stability(path)


def table_of(values: np.ndarray) -> tuple[pd.DataFrame, Partial]:
    """The lines of an atlas, and the sums, of values (N, C) of one measure."""
    texts, even = np.arange(len(values)), np.full((len(values), 1), 0.1, np.float32)
    sums = Partial.of("encoder", ("previous",), values.astype(np.float32)[:, None, :, None], even, texts)
    return tables.heads(sums), sums


@pytest.mark.parametrize("texts", [BLOCK * (LEAST_BLOCKS + 1), 2_048])
def test_intervals_of_an_atlas_hold_the_mean_of_independent_texts_and_of_texts_that_repeat(texts: int) -> None:
    random = np.random.default_rng(texts)
    table, sums = table_of(random.normal(0.5, 0.1, (texts, HEADS)))
    assert 0.93 <= held(table, 0.5) <= 0.985
    assert np.median(sums.means.wider) < ALIKE
    table, sums = table_of(random.normal(0.5, 0.1, (texts // 20, HEADS)).repeat(20, axis=0))
    assert 0.88 <= held(table, 0.5) <= 0.97
    assert np.median(sums.means.wider) > 3
    error = 1.96 * table["sd"] / texts**0.5  # of independent texts
    assert (abs(table["mean"] - 0.5) <= error).mean() < 0.6


def test_independent_texts_that_are_sorted_are_still_independent() -> None:
    """Their mean varies as if they stood in any other order, so their intervals are no wider."""
    values = np.sort(np.random.default_rng(0).normal(0.5, 0.1, (2_048, HEADS)), axis=0)
    table, sums = table_of(values)
    assert 0.92 <= held(table, 0.5) <= 0.98
    assert (sums.means.wider < ALIKE).all()


def correlated(random: np.random.Generator, texts: int, neighbours: float) -> np.ndarray:
    noise = random.normal(0, 0.1 * (1 - neighbours**2) ** 0.5, (texts + 50, HEADS))
    for row in range(1, len(noise)):
        noise[row] += neighbours * noise[row - 1]
    return 0.5 + noise[50:]


@pytest.mark.parametrize(("neighbours", "told"), [(0.5, 0.94), (0.9, 0.87)])
def test_intervals_where_neighbours_are_correlated_hold_the_mean_as_the_document_says(
    neighbours: float, told: float
) -> None:
    table, _ = table_of(correlated(np.random.default_rng(0), 4_096, neighbours))
    assert held(table, 0.5) == pytest.approx(told, abs=0.05)
    assert f"| correlation of neighbours {neighbours} |" in (ROOT / "docs" / "statistics.md").read_text("utf-8")


def test_documents_longer_than_a_block_need_larger_blocks() -> None:
    random = np.random.default_rng(0)
    documents = random.normal(0.5, 0.05, (42, HEADS)).repeat(100, axis=0)[:4_096]
    values = documents + random.normal(0, 0.1, (4_096, HEADS))
    table, _ = table_of(values)
    assert held(table, 0.5) == pytest.approx(0.48, abs=0.1)
    numbers, one = np.arange(len(values)), values.astype(np.float32)[:, None, :]
    by_document = resampled([text_blocks("encoder", ["previous"], 200, numbers, [one])])
    assert 0.9 <= held(by_document, 0.5) <= 0.98


def test_blocks_by_hand_and_in_parts() -> None:
    """Two blocks of 32 rows: 31 values of 0 and one that is undefined, and 32 of 1."""
    values = np.repeat([0.0, 1.0], BLOCK)[:, None]
    values[0] = np.nan
    _, sums = table_of(values)
    assert sums.blocks[:, 0].tolist() == [2, 1, 1, 32, 32**2]
    assert sums.means.wider.tolist() == [1]  # two blocks say nothing
    every = np.random.default_rng(0).random((BLOCK * 40, 3)).repeat(2, axis=0)[: BLOCK * 40].astype(np.float32)
    even = np.full((BLOCK * 20, 1), 0.1, np.float32)
    parts = [
        Partial.of(
            "encoder", ("previous",), every[at : at + BLOCK * 20, None, :, None], even, np.arange(BLOCK * 20) + at
        )
        for at in (0, BLOCK * 20)
    ]
    added = parts[0].merge(parts[1])
    totals = every.astype(np.float64).reshape(2, 20, BLOCK, 3).sum(axis=2)
    changes = np.diff(totals, axis=1)  # none between the parts, which may be measured apart
    assert added.blocks[:2, 0].tolist() == [40, 38]
    assert (added.blocks[2:4] == 0).all()
    np.testing.assert_allclose(added.blocks[4], (changes**2).sum(axis=(0, 1)))
    error = np.sqrt(40 * (changes**2).mean(axis=(0, 1)) / 2) / len(every)
    alone = every.std(axis=0, ddof=1) / len(every) ** 0.5
    assert added.means.wider == pytest.approx(np.maximum(2.0595 * error / (1.9618 * alone), 1), rel=2e-3)


def test_blocks_of_kept_values_are_the_parts_of_a_run_of_that_size(tmp_path: Path) -> None:
    texts = [f"the {one} sat on the {two}" for one in ("cat", "dog", "mat", "man") for two in ("mat", "dog", "cat")]
    atlas = bartviz.corpus(texts, loaded.model("bert"), tmp_path / "atlas", size=1, values=True)
    parts, blocks = atlas.stability(), atlas.stability(size=1)
    pd.testing.assert_frame_equal(parts, blocks, atol=1e-6)
    with pytest.raises(SettingError, match="needs 10 blocks, and the texts make 6"):
        atlas.stability(size=2)
    with pytest.raises(SettingError, match="at least one row"):
        atlas.stability(size=0)
    file = tmp_path / "stability.csv"
    arguments = ["export", str(atlas.path), str(file), "--table", "stability"]
    assert main([*arguments, "--size", "1"]) == 0
    assert pd.read_csv(file)["low"].to_numpy() == pytest.approx(blocks["low"].to_numpy(), nan_ok=True)
    assert main(["export", str(atlas.path), str(file), "--size", "1"]) == 2


def false_differences(kinds: tuple[str, str], texts: tuple[int, int]) -> tuple[float, float]:
    """The shares of 1,600 heads with p below 0.05 of two corpora of the same mean: of ``against``, and of single texts.

    A corpus is of texts that are "alone", or of "sources" of 32 rows that have half of the variance, or of the same
    "shuffled".
    """
    random = np.random.default_rng(0)

    def drawn(kind: str, n: int) -> pd.DataFrame:
        part = 0.0 if kind == "alone" else 0.5
        source = random.normal(0.5, 0.1 * part**0.5, (n // BLOCK, HEADS)).repeat(BLOCK, axis=0)
        values = source + random.normal(0, 0.1 * (1 - part) ** 0.5, source.shape)
        return table_of(random.permutation(values) if kind == "shuffled" else values)[0]

    found = []
    for _ in range(4):
        one, two = (drawn(kind, n) for kind, n in zip(kinds, texts, strict=True))
        single = [table.drop(columns=["se", "df"]) for table in (one, two)]
        found.append([(against(*tables)["p"] < 0.05).mean() for tables in ((one, two), single)])
    ours, plain = np.mean(found, axis=0)
    return ours, plain


@pytest.mark.parametrize(
    ("kinds", "texts", "plain"),
    [
        (("sources", "sources"), (2_112, 2_112), 0.61),
        (("sources", "sources"), (2_112, 4_224), 0.62),
        (("sources", "alone"), (2_112, 2_112), 0.52),
        (("sources", "alone"), (4_224, 320), 0.16),  # too few texts to have blocks
    ],
)
def test_two_corpora_of_alike_neighbours_differ_falsely_in_5_of_100_heads(
    kinds: tuple[str, str], texts: tuple[int, int], plain: float
) -> None:
    ours, of_single = false_differences(kinds, texts)
    assert 0.03 <= ours <= 0.07
    assert of_single == pytest.approx(plain, abs=0.05)


def test_blocks_change_little_where_neighbours_are_not_alike() -> None:
    """Shuffled sources are still few: no test can see that, and the document says so."""
    ours, plain = false_differences(("alone", "alone"), (2_112, 2_112))
    assert 0.025 <= ours <= plain <= 0.06
    ours, plain = false_differences(("shuffled", "shuffled"), (2_112, 2_112))
    assert 0.58 <= ours <= plain <= 0.7
