"""The inputs page as a script, on small random models: pieces without a model, sums, positions, three tokenizers."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

import bartviz
from bartviz.analysis.inputs import most_cut, norms
from bartviz.app.controls import tasks
from bartviz.experiments.embeddings import inputs, split
from bartviz.experiments.word_states import word_states
from bartviz.features.inputs import EXPLAINED, parts_contexts
from bartviz.features.inputs.parts import RARER, cut
from bartviz.models.roots import default_roots
from bartviz.record.record import Record
from bartviz.serving import saved_records
from bartviz.serving.engine import Engine
from bartviz.teaching.explanations import explanation, parts
from tests.support import stand_in, visits
from tests.support.pages import App, tables

pytestmark = pytest.mark.usefixtures("engine")
TEXT = "The cat <b>is</b> sleeping on the sofa."


def of(name: str, text: str = TEXT, **more: Any) -> Record:
    return bartviz.capture(bartviz.load(name, roots=default_roots()), text, **more)


def words(app: Any) -> str:
    assert not app.exception
    assert not app.error
    return visits.words(app)


@pytest.mark.slow
def test_pieces_come_without_a_model(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    record = of("small-bert", pair="a dog")
    monkeypatch.setattr(Engine, "work", lambda *given, **more: pytest.fail("the model was asked"))
    page = app("inputs", record=record)
    said = words(page)
    assert "<b>is</b>" not in said
    assert f"The model gets {len(record.source)} numbers and no letters" in said
    assert "two segments" in said
    for token_id in record.source.ids:
        assert f"<span class='bv-id'>{token_id}</span>" in said
    assert tables(page)[0]["id"].tolist() == record.source.ids.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["small-bert", "small-bart", "small-t5", "small-gpt2"])
@pytest.mark.parametrize("look", ["sum", "positions"])
def test_sums_and_positions_of_every_kind(app: App, name: str, look: str) -> None:
    record = of(name, target="Die Katze.") if name in ("small-bart", "small-t5") else of(name)
    page = app("inputs", record=record, look=look)
    said = words(page)
    found = inputs(bartviz.load(name, roots=default_roots()), record)
    if look == "sum":
        assert f"at most {found.error:.1e} (limit 1e-05): ok" in said
        assert ("another after that" in said) == (len(norms(found)) > len(found.parts) + 1)
        assert tables(page)[0]["id"].tolist() == record.source.ids.tolist()
    assert len(page.get("plotly_chart")) == (1 if look == "sum" or found.table is None else 2)


@pytest.mark.slow
@pytest.mark.parametrize("look", EXPLAINED)
def test_beginners_read_what_they_look_at_and_no_rounding_errors(app: App, look: str) -> None:
    page = app("inputs", record=of("small-bart", target="Die Katze."), look=look, level="beginner")
    told = " ".join(part.value for part in page.markdown)
    assert [name for name, word in EXPLAINED.items() if explanation(word).beginner in told] == [look]
    assert not re.search(r"\de[+-]\d", words(page))
    assert len(page.get("plotly_chart")) == (1 if look in ("sum", "positions") else 0)


@pytest.mark.slow
def test_the_tokenizers_open_with_a_text_that_they_cut_differently(app: App) -> None:
    page = app("inputs", record=of("small-t5", target="x"), look="tokenizers")
    assert len(set(tables(page)[0]["tokens"])) == 3


@pytest.mark.slow
@pytest.mark.parametrize("name", saved_records.NAMES)
def test_where_no_word_is_cut_the_same_tokenizer_cuts_a_rarer_one(app: App, name: str) -> None:
    record = saved_records.read(name)
    page = app("inputs", record=record)
    most = most_cut(split(bartviz.load(record.model.name, roots=default_roots()), RARER).tokens)
    assert most is not None
    said = words(page)
    assert "No word had to be split." in said
    named = dict(re.findall(r"“([^”]+)” from (\d+)", said[said.index("built from pieces") :]))
    assert named[most[0]] == str(most[1])


@pytest.mark.slow
def test_a_text_that_is_cut_needs_no_other(app: App) -> None:
    for pieces in ([" a", " c", "at"], [" a", " cat", "."]):  # the model of the second does not ship
        page = app("inputs", record=stand_in.record(["<s>", *pieces, "</s>"], kind="encoder"))
        said = words(page)
        assert ("“cat” alone is cut into 2." in said) == (pieces[-1] == "at")
        assert said.count("class='bv-cut'") == 1


def test_a_word_stands_whole_above_its_pieces() -> None:
    record = stand_in.record(["<s>", " a", " c", "at", "</s>"], kind="encoder")
    drawn = cut(record.source, (record.source_text,))
    words_above = re.findall(r"class='bv-from[^>]*>([^<]*)<", drawn)
    assert [word.strip() for word in words_above] == ["&nbsp;", "a", "cat", "&nbsp;"]
    assert re.findall(r"class='bv-chip'>([^<]*)<", drawn) == ["a", "c", "at"]


@pytest.mark.slow
def test_the_decoders_inputs_too(app: App) -> None:
    record = of("small-bart", target="Die Katze.")
    assert record.decoder is not None
    page = app("inputs", record=record, look="sum", stack="decoder")
    assert tables(page)[0]["id"].tolist() == record.decoder.query.ids.tolist()
    assert "ok" in words(page)


@pytest.mark.slow
def test_three_tokenizers_and_the_chosen_third(app: App) -> None:
    page = app("inputs", record=of("small-t5", target="x"), look="tokenizers", sample="emoji")
    said = words(page)
    frame = tables(page)[0]
    assert frame["model"].tolist() == ["bart-tiny-en-de", "bert-tiny-en", "small-t5"]
    assert frame["unknown"][0] == 0
    assert frame["unknown"][1] > 0
    assert "SentencePiece" in said
    assert "🍕" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        {"look": "nothing", "stack": "cross", "sample": "?", "third": "../../etc", "rows": "-4"},
        {"look": "positions", "rows": "99999", "stack": "cross"},
        {"look": "tokenizers", "sample": "?", "third": "../../etc"},
    ],
)
def test_odd_links_are_clamped_to_what_exists(app: App, query: dict[str, str]) -> None:
    words(app("inputs", record=of("small-gpt2"), **query))


def test_every_choice_is_explained() -> None:
    assert sorted(EXPLAINED.values()) == sorted(parts("inputs"))


def test_one_word_in_two_texts_has_a_bar_for_each_comparison_in_each_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    model = bartviz.load("bert-tiny-en")

    def ask(name: str, model_name: str, key: dict[str, object], work: Any) -> Any:
        assert name == "contexts"
        return work(model, SimpleNamespace(cancelled=lambda: False))

    monkeypatch.setattr(tasks, "ask", ask)
    page = visits.opened("inputs", bartviz.capture(model, "The cat sleeps."), look="contexts")
    assert not page.exception
    found = word_states(model, parts_contexts.WORD, *parts_contexts.TEXTS[:2])
    assert f"their cosine (1: the same direction) is {found.same[0]:.2f} before" in visits.words(page)
    assert f"{found.same[-1]:.2f} after the last" in visits.words(page)
    (drawn,) = [part.proto.body for part in page.get("html") if "<div class='bv-contexts'>" in part.proto.body]
    assert drawn.count("class='bv-layer'") == len(found.same) == model.info.encoder_layers + 1
    assert drawn.count("bv-alike") == len(found.same) + 1  # and in the legend
    page.text_input(key="contexts_2").set_value("")
    (button,) = [one for one in page.button if one.label == "Compare"]
    button.click().run()
    (drawn,) = [part.proto.body for part in page.get("html") if "<div class='bv-contexts'>" in part.proto.body]
    assert "bv-alike" not in drawn
