"""Numbers in the documents are those of the measurement, or are computed here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bartviz.analysis.costs import Costs
from bartviz.explorer.file import page
from tests.support import records

ROOT = Path(__file__).parent.parent


def number(document: str, pattern: str) -> str:
    """What the pattern's group finds in a document, once."""
    (found,) = set(re.findall(pattern, " ".join((ROOT / document).read_text("utf-8").split())))
    return str(found)


def measured(size: str) -> float:
    """MB of the explorer's file in the last run of the benchmarks."""
    results = (ROOT / "benchmarks" / "RESULTS.md").read_text("utf-8")
    part = results[results.index(f"12 x 12 heads, n = {size}\n    ours: the explorer") :]
    return float(part.splitlines()[1].split()[3])


@pytest.mark.parametrize(
    ("document", "pattern"),
    [
        ("README.md", r"12 x 12 heads at 64 tokens are one HTML file of ([\d.]+) MB"),
        ("docs/library.md", r"12 x 12 heads take ([\d.]+) MB at 64 tokens"),
    ],
)
def test_the_explorer_is_as_large_as_it_was_measured(document: str, pattern: str) -> None:
    told = number(document, pattern)
    assert told == f"{measured('64'):.1f}"
    made = len(page(records.encoder_only([f" w{i}" for i in range(64)], layers=12, heads=12))) / 1e6
    assert made == pytest.approx(float(told), rel=0.6)  # of random heads, which are harder to pack


def test_why_weights_are_not_saved() -> None:
    memory = Costs("facebook/bart-large").memory(1024, 1024)
    whole = number("docs/architecture.md", r"BART-large at 1,024 tokens would store ([\d.]+) GB")
    most = memory.attention
    assert float(whole) == pytest.approx(36 * 16 * 1024 * 1024 * 4 / 1e9, abs=0.05)
    assert most == 36 * 16 * 1024 * 1024 * 4
    assert "as queries and keys it is about a tenth" in (ROOT / "docs" / "architecture.md").read_text("utf-8")
    assert memory.captured / most == pytest.approx(0.1, rel=1 / 3)
