"""Files that leave the app: safe for a spreadsheet, for NumPy and for a browser without a network."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bartviz.app.controls import export
from bartviz.language import speaking


@pytest.mark.parametrize("formula", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\uff1d1+1"])
def test_a_formula_is_quoted(formula: str) -> None:
    data = export.csv(pd.DataFrame({"token": [formula, "word"], "weight": [-0.5, 0.25]}))
    rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    assert rows == [["token", "weight"], [f"'{formula}", "-0.5"], ["word", "0.25"]]


def test_a_column_named_like_a_formula_is_quoted_too() -> None:
    assert export.csv(pd.DataFrame({"=cmd()": [1]})).decode("utf-8-sig").startswith("'=cmd()")


@pytest.mark.slow
@given(st.lists(st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])), min_size=1))
def test_any_text_comes_back_and_no_cell_begins_like_a_formula(texts: list[str]) -> None:
    data = export.csv(pd.DataFrame({"token": texts})).decode("utf-8-sig")
    cells = [row[0] if row else "" for row in csv.reader(io.StringIO(data, newline=""))][1:]
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)
    assert [
        cell.removeprefix("'") if text[:1] != "'" else cell for cell, text in zip(cells, texts, strict=True)
    ] == texts


def test_arrays_come_back_without_pickle() -> None:
    weights = np.arange(6, dtype=np.float32).reshape(2, 3)
    with np.load(io.BytesIO(export.npz({"weights": weights})), allow_pickle=False) as read:
        np.testing.assert_array_equal(read["weights"], weights)
    with pytest.raises(ValueError, match="Object arrays"):
        export.npz({"weights": np.array([{}], dtype=object)})


def test_a_figure_becomes_one_page_that_loads_nothing() -> None:
    figure = go.Figure(go.Bar(x=[0], y=[1], customdata=["</script><script>alert(1)</script>"]))
    page = export.offline_html(figure, "<b>heads").decode()
    assert "<title>&lt;b&gt;heads</title>" in page
    assert "default-src 'none'" in page
    assert "</script><script>alert(1)" not in page
    assert "src=" not in page.split("<body>")[1][:300]


def test_the_page_of_a_figure_speaks_its_language_and_saves_an_svg() -> None:
    with speaking("ko"):
        page = export.offline_html(go.Figure(), "bartviz-heads-cross-L2H5").decode()
    assert '<html lang="ko">' in page
    assert '"format": "svg"' in page
    assert '"filename": "bartviz-heads-cross-L2H5"' in page


@pytest.mark.parametrize(
    "title", ["</script><script>alert(1)</script>", "<!--<script>", "a\u2028b", "x\"'};alert(1)//"]
)
def test_a_title_stays_a_title(title: str) -> None:
    page = export.offline_html(go.Figure(), title).decode()
    body = page.split("</title>", 1)[1]
    assert title not in body
    assert "alert(1)<" not in body
    assert "\u2028" not in body[-2000:]
    filename = body[body.rindex('"filename": ') :]
    assert not set("<>!\u2028'") & set(filename.split("}")[0])
