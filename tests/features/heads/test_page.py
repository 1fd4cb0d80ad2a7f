"""The heads page as a script: its texts on the chosen head, and odd links and records."""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bartviz.analysis import head_names, head_view, start
from bartviz.analysis.measures import of_record
from bartviz.analysis.words import word_groups
from bartviz.arrays import Floats
from bartviz.browser.canvas import data
from bartviz.features.heads import parts as ui
from bartviz.record.attention import Attention
from bartviz.record.record import Record
from tests.support import stand_in, visits
from tests.support.visits import words

opened = partial(visits.opened, "heads")


def drawn(app: AppTest) -> dict[str, Any]:
    """What the canvas was told."""
    [component] = [part for part in app.get("bidi_component") if part.proto.component_name == "bartviz.canvas"]
    return data.decode(component.proto.bytes)[0]


def test_it_begins_with_cross_attention_named_by_what_a_row_predicts(record: Record) -> None:
    app = opened(record)
    head = start.ribbons(record).head
    assert f"Head {head.head} of layer {head.layer}" in words(app)
    meta = drawn(app)
    assert meta["kind"] == "cross"
    assert meta["predicts"]
    assert meta["begin"] == {
        "layer": head.layer,
        "head": head.head,
        "what": "head",
        "row": start.row_of(record, "cross"),
        "view": "map",
        "rows": [],
        "keys": [],
    }


def test_it_says_what_can_be_touched(record: Record) -> None:
    assert ui.TO_DO in words(opened(record))
    assert ui.TO_DO not in words(opened(record, view="classic"))


def test_the_sentence_says_what_a_head_does_where_that_has_a_name(record: Record, monkeypatch: Any) -> None:
    threshold = head_names.THRESHOLD
    for level in ("beginner", "intermediate"):
        found = head_names.names(of_record(record, "cross"), threshold=threshold)
        for (layer, head), given in list(found.items())[:1]:
            app = opened(record, kind="cross", layer=str(layer), head=str(head), level=level)
            said = re.sub("<[^>]*>", "", words(app))
            if level == "beginner":
                assert f"Head {head} of layer {layer} {given.habit}." in said
                assert "strongest link" not in said  # of another row than the one that is framed
            else:
                assert f"Cross L{layer}H{head}, “{given.title}” {given.score:.2f}: " in said
            assert f"'>{given.alone if level == 'beginner' else given.title}</dfn>" in words(app)
            assert given.explained in said
            paragraphs = "\n\n".join(part.value for part in app.markdown)
            assert f"**{given.title}:** {given.explained}" in paragraphs.replace(
                "\\", ""
            )  # for those who point at nothing
    monkeypatch.setattr(ui, "MEASURED", 0)
    assert f"Head {head} of layer {layer}: " in words(
        opened(record, kind="cross", layer=str(layer), head=str(head), level="beginner")
    )


@pytest.mark.parametrize(
    "query",
    [
        {"layer": "99", "head": "-1", "row": "1e9"},
        {"layer": "abc", "kind": "sideways", "weights": "x", "range": "", "words": "perhaps"},
        {"kind": "Encoder", "layer": "2", "head": "3", "hide": "true", "divide": "true"},
    ],
)
def test_odd_links_are_clamped_to_the_record(record: Record, query: dict[str, str]) -> None:
    begin = drawn(opened(record, **query))["begin"]
    assert 0 <= begin["layer"] < 3
    assert 0 <= begin["head"] < 4
    assert 0 <= begin["row"] < 9


def test_a_link_selects_head_row_and_view(record: Record) -> None:
    app = opened(record, kind="Encoder", layer="2", head="3", row="4", view="lines", weights="mean of its layer")
    assert drawn(app)["begin"] == {
        "layer": 2,
        "head": 3,
        "what": "layer",
        "row": 4,
        "view": "lines",
        "rows": [],
        "keys": [],
    }
    assert "Mean of the 4 heads of encoder layer 2" in words(app)


def test_the_link_names_the_head(record: Record) -> None:
    asked = {"kind": "Encoder", "layer": "2", "head": "3"}
    assert "Encoder L2H3" in words(opened(record, **asked, level="intermediate"))
    app = opened(record, **asked, level="beginner")
    assert "Head 3 of layer 2: " in words(app)
    assert not re.search(r"(^|>)\w+ L2H3", words(app))  # no sentence begins with the short name


def test_what_is_hidden_is_stated(record: Record) -> None:
    app = opened(record, kind="Encoder", hide="true")
    view = head_view.view(record.attention("encoder"), 1, 0, hide_sinks=True)
    assert f"{view.hidden_share:.0%} of the attention went to" in words(app)


def test_the_row_table_holds_the_weights_of_the_head(record: Record) -> None:
    app = opened(record, kind="Cross", layer="0", head="1", row="2")
    assert not app.dataframe  # made when it is opened
    app.session_state["folded_heads_row"] = True
    table: Any = app.run().dataframe[0].value
    assert record.cross is not None
    np.testing.assert_allclose(table["weight"], record.cross.head(0, 1)[2], atol=1e-6)


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_a_record_of_one_kind_is_drawn(record: Record, kind: Literal["encoder", "decoder"]) -> None:
    attention = record.attention(kind)
    parts: dict[str, Any] = {"encoder": None, "decoder": None, "cross": None, kind: attention}
    alone = replace(
        record,
        **parts,
        model=stand_in.model_info(kind),
        steps=() if kind == "encoder" else record.steps,
        output=None if kind == "encoder" else record.output,
    )
    app = opened(alone, kind="Cross", layer="2")
    assert f"Head {start.ribbons(alone).head.head} of layer 2" in words(app)
    assert drawn(app)["kind"] == kind


def test_small_maps_can_be_those_of_the_layer_and_colours_those_of_a_row(record: Record) -> None:
    assert drawn(opened(record))["layers"] == "all"
    meta = drawn(opened(record, small="this layer", layer="2", range="each row's largest"))
    assert meta["layers"] == "layer"
    assert meta["span"] == "row"


def test_several_rows_are_summed_in_the_table(record: Record) -> None:
    view = head_view.view(record.attention("cross"), 0, 1)
    frame = ui._rows(view, (1, 3))
    np.testing.assert_allclose(frame["sum"], view.weights[[1, 3]].sum(axis=0))
    np.testing.assert_allclose(frame["mean"], view.weights[[1, 3]].mean(axis=0))
    assert list(frame.columns)[:4] == ["position", "key", "mean", "sum"]
    np.testing.assert_allclose(frame.iloc[:, 5], view.weights[3])


@pytest.mark.slow
def test_several_rows_and_columns_are_in_the_link(record: Record) -> None:
    query: dict[str, Any] = {"kind": "encoder", "chosen_row": ["2", "5", "99", "x"], "chosen_column": "3"}
    app = opened(record, **query)
    begin = drawn(app)["begin"]
    assert (begin["rows"], begin["keys"]) == ([2, 5], [3])
    assert any("The numbers in the rows" in folded.label for folded in app.expander)
    assert app.query_params["chosen_row"] == ["2", "5"]
    link: dict[str, Any] = {key: app.query_params[key] for key in query}
    again = opened(record, **link)
    assert drawn(again)["begin"] == begin
    held = app.session_state["_canvas_heads_canvas"]
    held.latest = replace(held.latest, rows=(), keys=(1,))  # as the browser says it
    app.run()
    assert "chosen_row" not in app.query_params
    assert app.query_params["chosen_column"] == "1"


def test_the_mean_of_all_heads_is_computed_once_for_page_and_canvas(monkeypatch: pytest.MonkeyPatch) -> None:
    computed, mean = [], head_view.mean

    def counted(attention: Attention, layer: int | None = None, head: int | None = None) -> Floats:
        computed.append((layer, head))
        return mean(attention, layer, head)

    monkeypatch.setattr(head_view, "mean", counted)
    app = opened(stand_in.record(source=("<s>", "Seen", " nowhere", " else", "</s>")), weights="mean of all heads")
    assert "Mean of all 12 cross heads" in words(app)
    app.run()
    assert computed.count((None, None)) == 1


def test_the_page_has_a_table_of_the_whole_map_where_the_canvas_has_none() -> None:
    script = Path(data.__file__).with_name("text.js").read_text("utf-8")
    (limit,) = re.findall(r"const MOST_CELLS = (\d+);", script)
    assert int(limit) == ui.TABLED


def test_the_sentence_names_whole_words_where_rows_are_pieces(record: Record) -> None:
    assert record.output is not None
    assert len(word_groups(record.rows("cross"))) < len(record.rows("cross"))
    for level in ("beginner", "intermediate"):
        assert "pieces of words" not in words(opened(record, level=level))
