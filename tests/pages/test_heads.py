"""The heads page as a script: what it says of the chosen head, and what odd links and records do to it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bartviz.analysis import heads
from bartviz.record import Record
from bartviz.ui import session
from tests import stand_in

ROOT = Path(__file__).parents[2]


def opened(record: Record, **query: str) -> AppTest:
    """The page with this record as the visitor's last run."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.session_state[session.RECORD] = record
    for name, value in query.items():
        app.query_params[name] = value
    app.switch_page("pages/heads.py").run()
    assert not app.exception
    return app


def words(app: AppTest) -> str:
    """All that the page says in HTML of ours."""
    return " ".join(part.proto.body for part in app.get("html"))


def test_it_begins_with_cross_attention_named_by_what_a_row_predicts(record: Record) -> None:
    said = words(opened(record))
    assert "Cross L1H0" in said
    assert "the row that predicts" in said
    assert len(opened(record).get("plotly_chart")) == 2


@pytest.mark.parametrize(
    "query",
    [
        {"layer": "99", "head": "-1", "row": "1e9"},
        {"layer": "abc", "kind": "sideways", "weights": "x", "range": "", "words": "perhaps"},
        {"kind": "Encoder", "layer": "2", "head": "3", "hide": "true", "divide": "true"},
    ],
)
def test_odd_links_are_brought_within_the_record(record: Record, query: dict[str, str]) -> None:
    assert len(opened(record, **query).get("plotly_chart")) == 2


def test_the_link_names_the_head(record: Record) -> None:
    assert "Encoder L2H3" in words(opened(record, kind="Encoder", layer="2", head="3"))


def test_what_is_hidden_is_stated(record: Record) -> None:
    app = opened(record, kind="Encoder", hide="true")
    view = heads.view(record.attention("encoder"), 1, 0, hide_sinks=True)
    assert f"{view.hidden_share:.0%} of the attention went to" in words(app)


def test_the_row_table_holds_the_weights_of_the_head(record: Record) -> None:
    app = opened(record, kind="Cross", layer="0", head="1", row="2")
    table: Any = app.dataframe[0].value
    assert record.cross is not None
    np.testing.assert_allclose(table["weight"], record.cross.head(0, 1)[2], atol=1e-6)


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_a_record_of_one_kind_is_drawn(record: Record, kind: str) -> None:
    attention = record.attention(kind)
    parts = {"encoder": None, "decoder": None, "cross": None, kind: attention}
    alone = replace(
        record, **parts, model=stand_in.model_info(kind), steps=() if kind == "encoder" else record.steps,  # type: ignore[arg-type]
        output=None if kind == "encoder" else record.output,
    )  # fmt: skip
    app = opened(alone, kind="Cross", layer="2")
    assert f"{kind.title()} L2H0" in words(app)


def test_small_maps_can_be_those_of_the_layer_in_the_colours_of_the_large_one(record: Record) -> None:
    assert "All 3 x 4 cross heads" in words(opened(record))
    app = opened(record, small="this layer", layer="2", range="each row's largest")
    assert "The 4 cross heads of layer 2" in words(app)
    small, large = app.get("plotly_chart")
    assert "L%{customdata[0]}H%{customdata[1]}" in small.proto.spec
    assert "share of the row's largest weight" in large.proto.spec
