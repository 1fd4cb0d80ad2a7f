"""The corpus page: the numbers of the atlas that ships, and examples that open as records."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bartviz import open_atlas
from bartviz.analysis.corpus_measures import measure_of
from bartviz.analysis.mutual import score
from bartviz.app.state import session
from bartviz.corpus import schema, shipped
from bartviz.corpus.atlas import Atlas, in_memory
from bartviz.corpus.read import Line
from bartviz.corpus.run import corpus, of_lines
from bartviz.corpus.sums import Partial
from bartviz.errors import SettingError
from bartviz.features.corpus import parts_own
from bartviz.features.corpus.parts import all_linked
from bartviz.language.percentages import percent
from bartviz.record.record import Record
from tests.support import loaded
from tests.support.pages import App
from tests.support.visits import words


def test_the_page_opens_with_the_best_aligning_head_and_its_numbers(app: App) -> None:
    page = app("corpus", record=None)
    assert not page.exception
    heads = shipped.atlas("bart-tiny-en-de").heads
    best = heads[(heads["kind"] == "cross") & (heads["measure"] == "alignment")].nlargest(1, "mean").iloc[0]
    assert f"Cross L{best['layer']}H{best['head']}" in words(page)
    assert f"{best['mean']:.2f}, 95% interval {best['low']:.2f} to {best['high']:.2f}" in words(page)
    assert len(page.get("plotly_chart")) == 3
    assert "CC BY 2.0 FR" in words(page)


def test_it_begins_with_what_the_head_does_on_average_and_in_one_typical_text(app: App) -> None:
    def means(measure: str) -> float:
        return float(heads.query("measure == @measure").iloc[0]["mean"])

    def typical(measure: str, value: Callable[[float], str]) -> str:
        first = examples.query("measure == @measure").sort_values("rank").iloc[0]
        return f"A typical text: “{html.escape(first['text'])}” ({value(first['value'])})."

    def said(measure: str, level: str = "expert") -> str:
        page = app("corpus", record=None, atlas="bert-tiny-en", by=measure, layer="2", head="3", level=level)
        return re.sub("<[^>]*>", "", words(page))

    atlas = shipped.atlas("bert-tiny-en")
    of_head = "kind == 'encoder' and layer == 2 and head == 3"
    heads, examples = atlas.heads.query(of_head), atlas.examples.query(f"{of_head} and which == 'typical'")
    n = f"on average over {heads.query('measure == @name', local_dict={'name': 'next'}).iloc[0]['n']:,} texts."
    habit = "looks at the token after"
    expert, beginner = said("next"), said("next", "beginner")
    takes = f"(with {means('next'):.2f} of its attention)"
    assert f"Encoder L2H3 {habit} {takes}, {n} {typical('next', '{:.2f}'.format)}" in expert
    others = atlas.heads.query("kind == 'encoder' and measure == 'next'")["mean"]
    more = int((others > means("next")).sum())
    among = f"{more} of all {len(others)} encoder heads" if more else f"That is the most of all {len(others)} "
    assert f"Head 3 of layer 2 {habit} (with {percent(means('next'))} of its attention), {n} {among}" in beginner
    for measure in ("entropy", "evenness"):
        assert (
            f"Encoder L2H3: {measure_of(measure).title} {means(measure):.2f} {n} {typical(measure, '{:.2f}'.format)}"
            in said(measure)
        )


def test_all_words_are_linked_where_the_share_is_too_large_for_one_without_a_link() -> None:
    links = np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0.9, 0.1]])  # the last chooses a taken word
    assert not all_linked(score(links), "one two three four")
    links[3] = [0, 0, 0.1, 0.9]
    assert all_linked(score(links), "one two three four")
    assert not all_linked(0.74, "one two three.")  # three of four would do: the full stop counts
    assert not all_linked(1.0, None)


def test_a_beginner_sees_the_means_beside_the_texts_and_no_interval(app: App) -> None:
    page = app("corpus", record=None, level="beginner")
    assert not page.exception
    heads = shipped.atlas("bart-tiny-en-de").heads
    best = heads[(heads["kind"] == "cross") & (heads["measure"] == "alignment")].nlargest(1, "mean").iloc[0]
    assert f"(with {percent(best['mean'])} of its attention), on average over {best['n']:,} texts." in words(page)
    (mosaic,) = (json.loads(chart.proto.spec) for chart in page.get("plotly_chart"))
    assert percent(best["mean"]) in next(trace for trace in mosaic["data"] if trace["name"] == "numbers")["text"]
    said = html.unescape(words(page))
    assert said.count("links each output word to a source word of its own") == 1
    assert "“one to one”:" not in said  # what it means is said once, below the picture
    assert "That is the highest value of all 32 cross-attention heads." in said
    name = f"head {best['head']} of layer {best['layer']}"
    examples = shipped.atlas("bart-tiny-en-de").examples
    of_best = (examples["kind"] == "cross") & (examples["layer"] == best["layer"]) & (examples["head"] == best["head"])
    most = examples[of_best & (examples["measure"] == "alignment") & (examples["which"] == "highest")]["value"].max()
    assert f"of its own, which gets {percent(most)} of the attention of {name} on average" in said
    assert "English–German sentence pairs that were not used in training." in said
    assert "tatoeba-valid.tsv" not in said
    assert "Layers and heads are numbered from 0." in words(page)
    assert "95% interval 0." not in words(page)
    titles = [subheader.value for subheader in page.subheader]
    assert titles[:2] == ["Strongest examples", "Weakest examples"]
    assert titles[-1] == "Your own texts"
    assert "Tokens it looks at" not in titles  # folded, with the two charts
    assert len(page.get("plotly_chart")) == 1
    assert any(fold.label.startswith("More: from text to text") for fold in page.expander)


def test_a_link_chooses_the_atlas_the_measure_and_the_head(app: App) -> None:
    page = app("corpus", record=None, atlas="bert-tiny-en", by="next", layer="2", head="3")
    assert not page.exception
    examples = shipped.atlas("bert-tiny-en").examples.query("layer == 2 and head == 3 and measure == 'next'")
    assert len(examples) == 12
    assert all(html.escape(text) in words(page) for text in examples["text"])
    assert "→" not in words(page)


def test_whose_the_second_lines_are_is_said_above_the_examples(app: App) -> None:
    said = words(app("corpus", record=None))
    assert said.index("The text after “→” comes from the collection") < said.index("<span class='bv-written'>→")


def test_an_example_is_run_with_its_model_and_its_output(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(session, "submit", asked.append)
    page = app("corpus")
    page.button(key="corpus_highest_1_open").click().run()
    (request,) = asked
    atlas = shipped.atlas("bart-tiny-en-de")
    chosen = "kind == 'cross' and measure == 'alignment'"
    best = atlas.heads.query(chosen).nlargest(1, "mean").iloc[0]
    examples = atlas.examples.query(f"{chosen} and layer == {best['layer']} and head == {best['head']}")
    wanted = examples.query("which == 'highest' and rank == 1").iloc[0]
    assert (request.model, request.text, request.target) == ("bart-tiny-en-de", wanted["text"], wanted["target"])


@pytest.mark.slow
def test_an_own_text_is_back_when_its_visitor_comes_back(app: App, record: Record) -> None:
    own = replace(record, source_text="My own text.")
    page = app("corpus")
    page.session_state[session.RECORD] = own
    page.session_state["text"] = "My own text."
    page = page.run()
    page.button(key="corpus_highest_1_open").click().run()
    assert page.session_state["text"] != "My own text."
    page = page.switch_page("pages/heads.py").run()
    assert "This text is from" in words(page)
    page = page.switch_page("pages/corpus.py").run()
    assert page.session_state["text"] == "My own text."
    page = page.switch_page("pages/heads.py").run()
    assert "This text is from" not in words(page)
    assert page.session_state[session.RECORD] is own


@pytest.mark.slow
def test_the_atlases_open_without_torch() -> None:
    code = (
        "import sys; from bartviz.corpus import shipped; from bartviz.features.corpus import parts; "
        "shipped.atlas('bert-tiny-en').roles; print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_two_atlases_are_compared_head_by_head(app: App) -> None:
    page = app("corpus", record=None, against="bart-tiny-denoise")
    assert not page.exception
    one, other = (shipped.atlas(name) for name in ("bart-tiny-en-de", "bart-tiny-denoise"))
    rows = one.against(other).query("kind == 'cross' and measure == 'alignment'")
    apart = int(((rows["difference_low"] > 0) | (rows["difference_high"] < 0)).sum())
    assert f"{rows['changed'].sum()} of {len(rows)} heads have another role in bart-tiny-denoise, and {apart}" in words(
        page
    )
    assert len(page.get("plotly_chart")) == 4


def test_two_models_over_the_same_texts_are_compared_text_by_text(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [Line(number, "a", number + 1, f"The {word} is late.") for number, word in enumerate(["car", "cat", "bus"])]
    for name, seed in (("before", 0), ("after", 1)):
        of_lines(loaded.model("bert", seed), lines, "a", values=True).save(tmp_path / name)
    monkeypatch.setenv("BARTVIZ_ATLASES", str(tmp_path))
    page = app("corpus", record=None, atlas="before", against="after", by="entropy")
    assert not page.exception
    table = open_atlas(tmp_path / "before").against(tmp_path / "after", paired=True)
    rows = table.query("kind == 'encoder' and measure == 'entropy'")
    apart = int((rows["p_bh"] <= 0.05).sum())
    assert f"The same 3 texts went through both models: {apart} of {len(rows)} heads differ" in words(page)
    assert "independent" not in words(page)
    page = app("corpus", record=None, atlas="before", against="after", by="induction")
    assert not page.exception
    assert "this measure is of random tokens, not of the texts" in words(page)


def test_an_atlas_of_ones_own_is_shown_with_its_texts_but_no_map_of_a_model_that_is_not_there(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = shipped.atlas("bert-tiny-en")
    model = {**ours.description["model"], "name": "checkpoint-900"}
    description = {**ours.description, "model": model, "corpus": {"name": "letters.txt"}}
    replace(ours, description=description).save(tmp_path / "mine")
    monkeypatch.setenv("BARTVIZ_ATLASES", str(tmp_path))
    page = app("corpus", record=None, atlas="mine")
    assert not page.exception
    texts = ours.description["texts"]
    assert f"{texts:,} texts of letters.txt, read by checkpoint-900" in words(page)
    assert "this server does not have the model checkpoint-900" in words(page)
    assert "CC BY" not in words(page)
    assert not [button for button in page.button if str(button.key).startswith("corpus_")]


def test_of_the_atlases_that_ship_only_the_one_that_is_shown_is_checked(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[str] = []

    def check(atlas: Atlas) -> None:
        checked.append(atlas.path.name)
        if atlas.path.name == "bert-tiny-en":
            raise SettingError("It was changed")

    monkeypatch.setattr(Atlas, "check", check)
    monkeypatch.setattr(parts_own, "cached", lambda call: call())
    page = app("corpus", record=None, atlas="bart-tiny-denoise")
    assert not page.exception
    assert not page.error
    assert set(checked) == {"bart-tiny-denoise"}
    page = app("corpus", record=None, atlas="bert-tiny-en")
    assert [error.value for error in page.error] == ["It was changed"]


def test_an_atlas_that_is_damaged_takes_no_other_away(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("good", "bad", "worse"):
        shutil.copytree(shipped.FOLDER / "bert-tiny-en", tmp_path / name)
    (tmp_path / "bad" / "heads.parquet").write_bytes(b"nothing")
    examples = pd.read_parquet(tmp_path / "worse" / "examples.parquet").drop(columns="which")
    examples.to_parquet(tmp_path / "worse" / "examples.parquet")
    description = json.loads((tmp_path / "worse" / "atlas.json").read_bytes())
    files = {name: (tmp_path / "worse" / f"{name}.parquet").read_bytes() for name in schema.TABLES}
    (tmp_path / "worse" / "atlas.json").write_text(json.dumps(schema.sealed(description, files)))
    monkeypatch.setenv("BARTVIZ_ATLASES", str(tmp_path))
    for chosen in (None, "bad", "worse", "good", "bart-tiny-en-de"):
        page = app("corpus", record=None, **({} if chosen is None else {"atlas": chosen}))
        assert not page.exception
        assert not page.error
        assert "The atlas “bad” is left out: heads.parquet of the atlas bad cannot be read: it was changed" in words(
            page
        )
        assert "The atlas “worse” is left out: examples.parquet of the atlas worse cannot be read" in words(page)
        assert page.selectbox(key="atlas").options == ["good", *shipped.NAMES]


SENTENCES = "I see a dog, a cat and a dog.\nYes, we have 3 cars.\nIt is late.\nNo, no, no.\n"


@pytest.mark.slow
def test_single_weights_are_found_by_their_tokens(app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "texts.txt").write_text(SENTENCES, "utf-8")
    made = corpus(tmp_path / "texts.txt", "bert-tiny-en", tmp_path / "mine", edges=0.1)
    monkeypatch.setenv("BARTVIZ_ATLASES", str(tmp_path))
    page = app("corpus", record=None, atlas="mine", layer="0", head="1", key=",", where="earlier")
    assert not page.exception
    right = made.find(kind="encoder", layer=0, head=1, key=",", where="earlier")
    assert right.count > 0
    assert f"{right.count} weights of at least 0.1 in 4 texts." in words(page)
    for row in right.edges.head(3).to_dict("records"):
        assert (
            f"<b>{row['weight']:.2f}</b> <code>{row['query_token']}</code> → <code>,</code> · {row['text']}"
            in words(page)
        )
    page.selectbox(key="key").select("number").run()
    page.selectbox(key="where").select("any").run()
    page.segmented_control(key="least_weight").set_value("0.3").run()
    again = made.find(kind="encoder", layer=0, head=1, key="number", least=0.3).count
    assert f"{again} weights of at least 0.3 in 4 texts." in words(page)


def test_an_atlas_without_single_weights_offers_no_search(app: App) -> None:
    page = app("corpus", record=None)
    assert "weights of at least" not in words(page)
    assert not [box for box in page.selectbox if box.key == "query"]


PAIRS = b"text,de\nA car.,Ein Auto.\nA house.,\nI see the cat.,Ich sehe die Katze.\n"


@pytest.mark.slow
def test_own_texts_are_measured_and_shown(app: App, at_once: list[str]) -> None:
    page = app("corpus", record=None)
    page = page.file_uploader(key="corpus_file").upload("mine.csv", PAIRS).run()
    target = next(box for box in page.selectbox if str(box.key).startswith("corpus_target"))
    assert target.options == ["none: the model writes them", "1: text", "2: de"]
    assert page.button(key="corpus_measure").label == "Measure 3 texts"
    page = target.select(1).run()
    assert "1 row cannot be used. Line 3: It has no text in this column." in words(page)
    page = page.button(key="corpus_measure").click().run()
    assert not page.exception
    assert at_once == ["bart-tiny-en-de"]
    assert page.selectbox(key="atlas").value == "mine.csv (bart-tiny-en-de)"
    assert "2 texts of mine.csv, read by bart-tiny-en-de" in words(page)
    assert "Ich sehe die Katze." in words(page)
    assert "2 of 2 texts were measured: their atlas can be chosen above." in words(page)
    page = page.selectbox(key="against").select("bart-tiny-en-de").run()
    assert not page.exception
    assert len(page.get("plotly_chart")) == 4


@pytest.mark.slow
def test_a_file_of_many_texts_says_how_many_are_measured(app: App, at_once: list[str]) -> None:
    page = app("corpus", record=None)
    page = page.file_uploader(key="corpus_file").upload("many.txt", b"A car.\n" * 700).run()
    assert page.button(key="corpus_measure").label == "Measure 500 texts"
    assert "The file has 700 texts: the first 500 are measured." in words(page)
    page = page.file_uploader(key="corpus_file").upload("none.txt", b" \n\n").run()
    assert [said.value for said in page.error] == [r"There are no rows\."]
    assert at_once == []


def test_how_the_file_is_written_is_asked_where_it_is_measured(app: App, at_once: list[str]) -> None:
    page = app("corpus", record=None)
    table = "nr;satz\n1;Das Mädchen ist da.\n2;Wo ist es?\n".encode("cp1252")
    page = page.file_uploader(key="corpus_file").upload("mine.csv", table).run()
    assert "not Unicode" in page.error[0].value
    encoding = next(box for box in page.selectbox if str(box.key).startswith("corpus_encoding"))
    page = encoding.select("cp1252").run()
    assert page.button(key="corpus_measure").label == "Measure 2 texts"
    box = next(box for box in page.checkbox if str(box.key).startswith("corpus_header"))
    assert box.value
    page = box.uncheck().run()
    assert page.button(key="corpus_measure").label == "Measure 3 texts"
    page = page.file_uploader(key="corpus_file").upload("a.docx", b"PK\x03\x04").run()
    assert "office document" in page.error[0].value
    page = page.file_uploader(key="corpus_file").upload("a.tsv", b'text\tde\n"Ja\nZwei"\tzwei\nDrei\tdrei\n').run()
    assert "Rows of several lines, in quotation marks: 1." in words(page)
    assert page.button(key="corpus_measure").label == "Measure 2 texts"
    quotes = next(box for box in page.checkbox if str(box.key).startswith("corpus_quotes"))
    page = quotes.uncheck().run()
    assert page.button(key="corpus_measure").label == "Measure 3 texts"
    assert at_once == []


def test_few_texts_are_said_and_their_roles_are_not_compared(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = Partial.of("encoder", ("previous",), np.full((5, 4, 6, 1), 0.9), np.full((5, 1), 0.2), np.arange(5))
    rows = [Line(number, "a.txt", number + 1, f"text {number}") for number in range(5)]
    ours = shipped.atlas("bert-tiny-en").description
    in_memory(ours, {"encoder": part}, {}, 5, [], rows, {}).save(tmp_path / "few")
    monkeypatch.setenv("BARTVIZ_ATLASES", str(tmp_path))
    page = app("corpus", record=None, atlas="few", against="bert-tiny-en")
    assert not page.exception
    assert "In 0 of 5 texts it is below 0.5. Fewer than 30 texts: an interval says little here." in words(page)
    assert "Roles are not compared." in words(page)
    assert "have another role" not in words(page)
