"""Tables for LaTeX: escaped, with numbers that can be read back."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bartviz
from bartviz import paper
from bartviz.analysis import measures
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
    assert units(["previous", "next", "entropy"]) == "previous, next: share of weight; entropy: bits"
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
