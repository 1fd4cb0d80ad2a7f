"""Word tables and error rates with numbers a person can check."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from training.alignment import error_rate, links, parse_gold, read_gold, word_table

GOLD = parse_gold("I see him", "Ich sehe ihn", "0-0 1-1 2-2 1?2")


def test_links_are_read_as_sure_and_possible() -> None:
    assert GOLD.sure == {(0, 0), (1, 1), (2, 2)}
    assert GOLD.possible == GOLD.sure | {(1, 2)}


def test_a_file_is_read_row_by_row(tmp_path: Path) -> None:
    path = tmp_path / "gold.tsv"
    path.write_text("a b\tc\t0-0 1?0\nx\ty\t0-0\n", encoding="utf-8")
    assert [(gold.en, len(gold.sure), len(gold.possible)) for gold in read_gold(path)] == [("a b", 1, 2), ("x", 1, 1)]


def test_error_rate_by_hand() -> None:
    assert error_rate([GOLD.sure], [GOLD]) == 0.0
    assert error_rate([frozenset({(2, 0)})], [GOLD]) == 1.0
    # a possible link is no error, and no merit for the sure one that is missed: 1 - (2 + 3) / (3 + 3)
    assert error_rate([frozenset({(0, 0), (1, 1), (1, 2)})], [GOLD]) == pytest.approx(1 / 6)


def test_rows_are_averaged_and_columns_summed() -> None:
    weights = np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.1, 0.1, 0.3], [0.2, 0.2, 0.2, 0.4]], np.float32)
    table = word_table(weights, [0, 0, None], [None, 0, 0, 1])  # German: one word of two tokens; English: two words
    np.testing.assert_allclose(table, [[0.35, 0.35]], atol=1e-6)


def test_each_row_is_linked_to_its_heaviest_column() -> None:
    assert links(np.array([[0.1, 0.9], [0.6, 0.4]], np.float32)) == {(1, 0), (0, 1)}
