"""A visitor's text is shown as text: in chips, sentences and labels; and downloads."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser

import markdown_it
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from bartviz import paper
from bartviz.analysis import all_heads
from bartviz.app.controls import export, show
from bartviz.record.record import Record
from tests.support import stand_in

BAD = (
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "'\"><img src=x onerror=alert(1)>",
    "![a](http://x.example/a.png)",
    "**b** # h ##ing $x$ :red[r] :smile:",
    "<s> </s> <pad> <mask>",
    "%{z}",
    "http://x.example",
    "a_b_c `d` ~~e~~",
    "&lt;b&gt;",
)


@pytest.fixture(autouse=True)
def nothing_offered() -> None:
    export.begin()


class Tags(HTMLParser):
    """Which elements a piece of HTML has, and its text."""

    def __init__(self, body: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.text = ""
        self.feed(body)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_plain_text_is_no_markdown() -> None:
    markdown = markdown_it.MarkdownIt("commonmark", {"linkify": False})
    for bad in BAD:
        drawn = markdown.renderInline(show.plain(bad))
        assert html.unescape(drawn) == " ".join(bad.split())


def test_plain_escapes_what_only_streamlit_reads() -> None:
    assert show.plain(":red[a] $x$ :material/home:") == r"\:red\[a\] \$x\$ \:material\/home\:"


def script() -> None:
    import streamlit as st

    from bartviz.app.controls import show

    given = st.session_state
    show.lead(given["sentence"])
    show.note(given["sentence"])
    show.running_text(given["tokens"], given["weights"], kind="cross", chosen=1, label=given["sentence"], key="text")


def drawn(labels: tuple[str, ...], weights: object = None, sentence: str = "a sentence") -> list[str]:
    page = AppTest.from_function(script, default_timeout=120)
    page.session_state["tokens"] = stand_in.tokens(labels)
    page.session_state["weights"] = weights
    page.session_state["sentence"] = sentence
    page.run()
    assert not page.exception
    return [part.proto.body for part in page.get("html")]


@pytest.mark.parametrize("bad", BAD)
def test_bad_texts_are_literal(bad: str) -> None:
    lead, note, text = (Tags(body) for body in drawn(("<s>", bad, "</s>"), sentence=bad))
    assert (lead.tags, lead.text, note.tags, note.text) == ({"p"}, bad, {"p"}, bad)
    assert text.tags == {"p", "span"}
    assert text.text == f"{bad}<s>{bad}</s>"


def test_chips_show_their_weight_and_pieces_touch() -> None:
    body = drawn(("<s>", "Kat", "ze", " da"), [0.1, 0.56, 0.3, 0.04])[-1]
    chips = body.split("<span ")[1:]
    assert "class='bv-chip bv-special' style='--w:10.0%' title='0.100'" in chips[0]
    assert "class='bv-chip bv-strong bv-chosen' style='--w:56.0%' title='0.560'" in chips[1]
    assert "class='bv-chip bv-joined' style='--w:30.0%' title='0.300'" in chips[2]
    assert "class='bv-chip' style='--w:4.0%' title='0.040'" in chips[3]


def test_pieces_that_touch_need_no_mark_of_continuation() -> None:
    page = AppTest.from_function(script, default_timeout=120)
    tokens = stand_in.tokens(("Kat", "ze", "n"))
    page.session_state["tokens"] = replace(tokens, labels=("Kat", "⋯ze", "⋯"))
    page.session_state["weights"] = None
    page.session_state["sentence"] = ""
    page.run()
    assert [chip.split(">")[1].split("<")[0] for chip in page.get("html")[-1].proto.body.split("<span")[1:]] == [
        "Kat",
        "ze",
        "⋯",
    ]


def test_weights_that_do_not_fit_are_refused(record: Record) -> None:
    with pytest.raises(ValueError, match=r"\(2,\) weights for 9 tokens"):
        show.running_text(record.source, [0.5, 0.5], key="x")


@pytest.mark.slow
@given(st.text(max_size=60))
def test_any_text_survives_a_chip(text: str) -> None:
    body = show._chip(text, 0.5, ["bv-chip"], chosen=False)
    found = Tags(body)
    assert found.tags == {"span"}
    assert found.text == (text or "\u00a0")


def downloads() -> None:
    import numpy as np
    import pandas as pd
    import plotly.graph_objects as go
    import streamlit as st

    from bartviz.app.controls import export, show
    from bartviz.app.frame import languages

    languages.begin()
    show.downloads(
        "heads",
        table=lambda: pd.DataFrame({"a": [1]}),
        arrays={"w": np.zeros(2)},
        figure=go.Figure,
        record=st.session_state["record"],
    )
    show.downloads("rest", title="The rest", table=pd.DataFrame({"a": [1]}))
    show.downloads("rest", title="The rest", table=pd.DataFrame({"b": [1]}))  # as a fragment does that is drawn again
    export.draw()


def test_one_button_offers_what_was_given(record: Record) -> None:
    page = AppTest.from_function(downloads, default_timeout=120)
    page.session_state["record"] = record
    page.run()
    assert not page.exception
    labels = [button.proto.label for button in page.get("download_button")]
    assert labels == ["CSV", "NPZ", "HTML", "CSV", "All heads (CSV)", "Page to explore it", "Save to open again"]
    assert [block.proto.popover.label for block in page.main.children.values() if block.type == "popover"] == [
        "Download"
    ]


def test_a_part_that_is_drawn_again_gives_its_new_file() -> None:
    made = export.File("CSV", "a.csv", "text/csv", lambda: b"old")
    offered = {"part": export.Offer("A part", [made], "", 1)}
    give = partial(export._made, offered, "part", 0)
    offered["part"] = offered["part"]._replace(files=[made._replace(make=lambda: b"new")])
    assert give() == b"new"


def test_a_page_without_files_has_no_button(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamlit.popover", None)
    export.begin()
    export.draw()


def test_the_table_of_all_heads_is_made_when_asked_for_and_quotes_formulas(
    monkeypatch: pytest.MonkeyPatch, record: Record
) -> None:
    files: dict[str, Callable[[], bytes]] = {}
    monkeypatch.setattr(
        "streamlit.download_button", lambda label, make, file_name, **more: files.update({file_name: make})
    )
    encoder = record.attention("encoder")
    labels = ("=1+1", *encoder.key.labels[1:])
    tokens = replace(encoder.key, labels=labels)
    show.downloads("heads", record=replace(record, encoder=replace(encoder, key=tokens, query=tokens)))
    export.draw()
    assert list(files) == ["bartviz-all-heads.csv", "bartviz-explorer.html", "bartviz-heads.safetensors"]
    rows = list(csv.reader(io.StringIO(files["bartviz-all-heads.csv"]().decode("utf-8-sig"), newline="")))
    assert rows[1][:-1] == ["encoder", "0", "0", "0", "0", "'=1+1", "'=1+1"]
    assert float(rows[1][-1]) == pytest.approx(encoder.head(0, 0)[0, 0])
    assert len(rows) == all_heads.count(record) + 1


def test_a_large_table_of_all_heads_has_its_size_and_a_larger_one_is_refused(
    monkeypatch: pytest.MonkeyPatch, record: Record
) -> None:
    labels: list[str] = []
    notes: list[str] = []
    monkeypatch.setattr("streamlit.download_button", lambda label, make, file_name, **more: labels.append(label))
    monkeypatch.setattr("streamlit.html", notes.append)
    monkeypatch.setattr(all_heads, "count", lambda record: 262_144)
    show.downloads("heads", record=record)
    export.draw()
    assert labels == ["All heads (CSV, about 10.0 MB)", "Page to explore it", "Save to open again"]
    monkeypatch.setattr(all_heads, "count", lambda record: 500_001)
    show.downloads("heads", record=record)
    export.draw()
    assert labels[3:] == ["Page to explore it", "Save to open again"]
    assert "500,001 weights" in notes[-1]


def test_a_figure_that_is_a_page_is_downloaded_as_it_is() -> None:
    assert show._page("<p>한</p>", "name") == "<p>한</p>".encode()


def test_a_picture_for_paper_is_drawn_when_asked_for(monkeypatch: pytest.MonkeyPatch, record: Record) -> None:
    files: dict[str, Callable[[], bytes]] = {}
    monkeypatch.setattr(
        "streamlit.download_button", lambda label, make, file_name, **more: files.update({file_name: make})
    )
    picture = paper.map(record, "cross", 0, 0)
    show.downloads("heads", of="cross-L0H0", picture=lambda: picture)
    export.draw()
    assert {name: make() for name, make in files.items()} == {"bartviz-heads-cross-L0H0.svg": picture.svg.encode()}


def test_a_file_is_named_after_its_content(monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []
    monkeypatch.setattr("streamlit.download_button", lambda label, make, file_name, **more: names.append(file_name))
    show.downloads("heads", of="cross-L2H5", table=pd.DataFrame({"a": [1]}), arrays={"a": [1]})
    show.downloads("start", table=pd.DataFrame({"a": [1]}))
    export.draw()
    assert names == ["bartviz-heads-cross-L2H5.csv", "bartviz-heads-cross-L2H5.npz", "bartviz-start.csv"]
