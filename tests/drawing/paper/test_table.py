"""Tables for LaTeX: escaped, with numbers that can be read back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import bartviz
from bartviz import paper
from bartviz.analysis import measures
from bartviz.corpus import shipped
from bartviz.drawing.paper.table import units
from bartviz.errors import SettingError
from bartviz.record.record import Record


def rows(table: str) -> list[list[str]]:
    body = table.split("\\toprule")[1].split("\\bottomrule", maxsplit=1)[0].replace("\\midrule", "")
    return [line.strip().removesuffix(" \\\\").split(" & ") for line in body.strip().splitlines() if line.strip()]


def test_special_characters_are_commands_and_numbers_are_apart() -> None:
    frame = pd.DataFrame(
        {"a_b & c": ["50% of $x^2$", "\\end{table}", "#~<s>"], "n": [1234567, -5, 0], "w": [0.12345, np.nan, -1.0]}
    )
    made = paper.latex(frame, caption="R&D", label="tab:one", digits=2)
    assert rows(made) == [
        [r"a\_b \& c", "n", "w"],
        [r"50\% of \$x\textasciicircum{}2\$", r"1\,234\,567", "0.12"],
        [r"\textbackslash{}end\{table\}", "$-$5", "--"],
        [r"\#\textasciitilde{}\textless{}s\textgreater{}", "0", "$-$1.00"],
    ]
    assert r"\begin{tabular}{lrr}" in made
    assert r"\caption{R\&D}" in made
    assert r"\label{tab:one}" in made
    assert made.count("\\begin") == made.count("\\end{") == 2


def test_no_row_begins_with_what_a_line_break_takes_for_its_argument() -> None:
    frame = pd.DataFrame({"[CLS]": ["[CLS]", "*x", "a"], "w": [1, 2, 3]})
    made = paper.latex(frame)
    assert [line.strip()[:6] for line in made.splitlines() if "&" in line] == ["{}[CLS", "{}[CLS", "{}*x &", "a & 3 "]


def test_measures_that_are_chosen_have_their_units_in_words(record: Record) -> None:
    table = paper.measures(record, "encoder", ["previous", "entropy"], with_units=False)
    assert list(table.columns) == ["head", "name", "score", "previous", "entropy"]
    assert units(["previous", "next", "entropy"]) == "previous, next: share of attention weight; entropy: bits"
    with pytest.raises(SettingError, match="entropy, evenness"):
        paper.measures(record, "encoder", ["weather"])


def test_parameters_of_a_model_are_a_short_table_that_sums_to_the_model() -> None:
    table = paper.parameters("facebook/bart-base")
    assert table["parameters"].sum() == bartviz.parameters("facebook/bart-base")["count"].sum() == 139_420_416
    assert table["share"].sum() == pytest.approx(1)
    assert len(table) < 20
    made = rows(paper.latex(table))
    assert sum(int(row[2].replace("\\,", "")) for row in made[1:]) == 139_420_416


def test_measures_of_a_record_have_a_line_for_each_head(record: Record) -> None:
    made = rows(paper.latex(paper.measures(record, "encoder")))
    assert [row[0] for row in made[1:]] == [f"encoder L{layer}H{head}" for layer in range(3) for head in range(4)]
    measured = measures.of_record(record, "encoder").values["entropy"]
    read = [float(row[made[0].index("entropy (bits)")]) for row in made[1:]]
    assert read == pytest.approx(measured.ravel().tolist(), abs=5.1e-4)


@pytest.mark.parametrize(
    ("numbers", "written"),
    [
        ((0.93412, 0.92107, 0.94722), "0.934 [0.921, 0.947]"),
        ((-0.5, -0.62, -0.38), "−0.50 [−0.62, −0.38]"),
        ((12.34, 2.0, 22.7), "12 [2, 23]"),
        ((0.5, np.nan, np.nan), "0.500"),
        ((0.5, 0.5, 0.5), "0.500 [0.500, 0.500]"),
        ((np.nan, 0.1, 0.2), ""),
        ((0.1, 0.1 - 1e-12, 0.1 + 1e-12), "0.100000 [0.100000, 0.100000]"),
    ],
)
def test_a_number_is_rounded_to_its_interval(numbers: tuple[float, float, float], written: str) -> None:
    assert paper.with_interval(*numbers) == written


def test_tables_with_intervals_become_columns_that_can_be_chosen() -> None:
    atlas = shipped.atlas("bart-tiny-en-de")
    heads = atlas.heads[atlas.heads["measure"] == "alignment"]
    made = rows(paper.latex(paper.rounded(heads), columns=["head", "mean", "n"]))
    assert made[0] == ["head", "mean", "n"]
    best = next(row for row in made if row[0] == "cross L1H4")
    assert best[1].startswith("0.689 ")
    assert best[2] == r"1\,962"
    both = paper.rounded(atlas.against(shipped.atlas("bart-tiny-denoise")))
    assert {"mean", "other_mean", "difference"} <= {*both.columns}
    assert not {name for name in both.columns if name.endswith(("low", "high"))}
    with pytest.raises(SettingError, match="A column is one of"):
        paper.latex(both, columns=["weather"])


def test_heads_have_a_column_for_each_measure_and_even_attention_last() -> None:
    atlas = shipped.atlas("bart-tiny-en-de")
    table = paper.heads(atlas, "encoder", ["previous", "first_value"])
    assert list(table.columns) == ["head", "previous", "first_value"]
    assert len(table) == 33
    lines: Any = atlas.heads[(atlas.heads["kind"] == "encoder") & (atlas.heads["measure"] == "previous")].itertuples()
    for row in lines:
        said = table.loc[table["head"] == f"L{row.layer}H{row.head}", "previous"].item()
        assert float(said.split()[0]) == pytest.approx(row.mean, abs=(row.high - row.low) / 20)
    assert rows(paper.latex(table))[-1] == ["even attention", "0.101", "--"]
    assert "1,962 texts" in paper.heads_caption(atlas, "encoder", ["previous"])
    with pytest.raises(SettingError, match="No encoder attention"):
        paper.heads(atlas, "encoder", ["alignment"])


def test_what_would_be_written_as_nothing_is_a_power_of_ten() -> None:
    frame = pd.DataFrame({"p": [3.14e-5, 0.0, -2e-7, 0.5]})
    assert rows(paper.latex(frame))[1:] == [[r"$3.1 \times 10^{-5}$"], ["0.000"], [r"$-2.0 \times 10^{-7}$"], ["0.500"]]
