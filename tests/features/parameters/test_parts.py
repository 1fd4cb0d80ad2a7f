"""The parameters page by AppTest: any model by link, a pasted configuration, refusals, the check against a build."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from bartviz.analysis import plain_words
from bartviz.families import config as configs
from bartviz.families.catalogue import CATALOGUE
from bartviz.features.parameters.parts import LENGTHS, OWN, SIGNS, USUAL, _big
from bartviz.models import skeleton
from bartviz.record.record import Record
from tests.support.pages import App

CONFIGURATIONS = {known.name: known.config for known in CATALOGUE}


def html(page: AppTest) -> str:
    return "".join(part.proto.body for part in page.get("html"))


def figures(page: AppTest) -> list[str]:
    """The plotly figures of the page, as JSON text."""
    return [chart.proto.spec for chart in page.get("plotly_chart")]


def areas(page: AppTest) -> list[dict[str, Any]]:
    """What the parts of the page that open areas were given: the path to the open one, and the table."""
    parts = [part.proto for part in page.get("bidi_component") if part.proto.component_name == "bartviz.areas"]
    return [json.loads(part.bytes) for part in parts]


def rows(page: AppTest) -> list[list[str]]:
    """The cells of the table of parts."""
    return [row["cells"] for row in areas(page)[-1]["rows"]]


def counts(page: AppTest) -> dict[str, int]:
    """The parts of the table with their parameters."""
    at = areas(page)[-1]["head"].index("Parameters")
    return {row[0]: int(row[at].replace(",", "")) for row in rows(page)}


@pytest.mark.slow
def test_the_model_of_the_sidebar_is_counted_at_first(app: App) -> None:
    for model, total in (("bart-tiny-en-de", "7,387,136"), ("gpt2", "124,439,808")):
        assert f"{total} parameters" in html(app("parameters", record=None, model=model)), model


@pytest.mark.slow
def test_the_legend_names_every_colour_of_a_layer_with_its_parameters(app: App) -> None:
    shown = re.findall(r"<li>(?:<i [^>]*></i>)*(.*?)</li>", html(app("parameters", record=None, of="t5-small")))
    attention, forward = 4 * 512 * 512 + 512, 2 * 512 * 2048 + 512  # matrices, and a norm without a bias
    counts = {"self-attention": 12 * attention, "cross-attention": 6 * attention, "feed-forward": 12 * forward}
    counts["embeddings"] = 32_128 * 512  # the tokens', of encoder, decoder and output layer
    titles = {"embeddings": "shared embeddings"}
    assert dict(entry.split(" · ")[:2] for entry in shown) == {
        plain_words.named(titles.get(name, name), name): f"{count / 1e6:.1f} M" for name, count in counts.items()
    }


def test_the_legend_and_the_table_agree_on_names_and_shares(app: App) -> None:
    page = app("parameters", record=None, of="bart-tiny-en-de", level="beginner")
    shown = re.findall(r"<li>(?:<i [^>]*></i>)*(.*?)</li>", html(page))
    shares = {name: share for name, _count, share in (entry.split(" · ") for entry in shown)}
    assert sum(float(share.rstrip("%")) for share in shares.values()) == pytest.approx(100, abs=0.2)
    table = {row[0]: row[-1] for row in rows(page)}
    embeddings = plain_words.named("shared embeddings", "embeddings")
    assert shares[embeddings] == table["shared embeddings"] == "27.7%"
    masked = {"of": "bert-base-uncased", "class": "BertForMaskedLM", "level": "intermediate"}
    page = app("parameters", record=None, **masked)
    tied = plain_words.named("encoder: token embedding, output layer", "embeddings")
    assert f"{tied} · 23.5 M" in html(page)
    assert {"encoder: token embedding", "output layer"} <= {row[0] for row in rows(page)}


def test_bart_base(app: App) -> None:
    page = app("parameters", record=None, of="facebook/bart-base")
    assert not page.exception
    assert "Of 139,420,416 parameters 41% are in the decoder layers." in html(page)
    table = {part: (once, used) for part, once, used in rows(page)}
    assert table["sum"] == ("139,420,416", "255,230,976")
    for part in ("encoder: token embedding", "decoder: token embedding", "output layer"):
        assert table[part] == ("0", "38,603,520")
    for column in (0, 1):
        *parts, whole = (int(numbers[column].replace(",", "")) for numbers in table.values())
        assert sum(parts) == whole
    assert "numbers 4 times, where it is kept, as encoder input, as decoder input, as output layer." in html(page)
    assert "model.decoder.layers.5.fc2.weight" in figures(page)[0]
    assert len(figures(page)) == 4  # the map, operations, memory, decoding


def test_a_beginner_sees_the_share_of_each_part_and_the_positions_by_name(app: App) -> None:
    page = app("parameters", record=None, of="facebook/bart-base", level="beginner")
    assert "The model consists of 139,420,416 numbers; 41% of them are in the decoder layers." in html(page)
    assert areas(page)[-1]["head"] == ["Part", "Parameters", "Share of the model"]
    assert sum(float(row[-1].lstrip("<").rstrip("%")) for row in rows(page)) == pytest.approx(100, abs=0.4)
    found = counts(page)
    assert sum(found.values()) == 139_420_416
    assert found["encoder: position embedding"] == 1026 * 768
    assert found["decoder: 6 layers"] == 6 * 9_451_776
    assert "is wrong" not in html(page)


def test_the_sentence_and_the_table_follow_the_open_area(app: App) -> None:
    page = app("parameters", record=None, of="facebook/bart-base", area="encoder/layer 2/feed-forward")
    weights = 768 * 3072 + 3072 + 3072 * 768 + 768 + 2 * 768  # two matrices with biases, and a layer norm
    assert f"Encoder, layer 2, feed-forward: {weights:,} numbers, 3.4% of the model." in html(page)
    assert sum(counts(page).values()) == weights
    assert [row[1] for row in rows(page)][:2] == ["3,072 × 768", "3,072"]
    assert json.loads(figures(page)[0])["data"][0]["level"] == "encoder/layer 2/feed-forward"


def test_a_matrix_says_its_shape_and_what_it_does(app: App) -> None:
    name = "model.encoder.layers.2.self_attn.q_proj.weight"
    page = app("parameters", record=None, of="facebook/bart-base", area=name)
    said = "Encoder, layer 2, self-attention query weight: 768 × 768, 589,824 numbers, 0.4% of the model."
    assert f"{said} It makes a token&#x27;s query from its state" in html(page)
    assert name in html(page)
    assert json.loads(figures(page)[0])["data"][0]["level"] == "encoder/layer 2/self-attention"


@pytest.mark.parametrize("level", ["beginner", "intermediate"])
@pytest.mark.parametrize("beside", ["none", "facebook/bart-large"])
def test_every_area_is_reached_by_the_names_of_parts_and_left_by_the_path(app: App, level: str, beside: str) -> None:
    """A map cannot be reached by keys."""
    link = {"of": "facebook/bart-base", "beside": beside, "level": level}
    page = app("parameters", record=None, **link)
    given = [area["ids"] for area in (json.loads(one)["data"][0] for one in figures(page)[:1])]
    seen, queue = {"model"}, ["model"]
    while queue:
        if (area := queue.pop()) not in ("model", "encoder", "encoder/layer 1", "encoder/layer 1/feed-forward"):
            continue  # the others are like these
        page = app("parameters", record=None, area=area, **link)
        path = [name["id"] for name in areas(page)[0]["path"]]
        assert not path or (path[0], path[-1]) == ("model", area)
        found = {row["id"] for row in areas(page)[-1]["rows"] if row["id"]}
        assert found <= set(given[0]) | {f"encoder/layer {layer}" for layer in range(12)}
        queue += found - seen
        seen |= found
    assert {"shared", "decoder", "encoder/layer 5", "encoder/layer 1/self-attention"} <= seen
    assert "model.encoder.layers.1.fc2.weight" in seen


def test_an_area_opens_in_both_of_two_models_on_one_scale(app: App) -> None:
    link = {"of": "facebook/bart-base", "beside": "facebook/bart-large", "level": "beginner"}
    page = app("parameters", record=None, area="decoder/layer 3", **link)
    assert "Decoder, layer 3: 9,451,776 numbers in bart-base, 16,796,672 in bart-large." in html(page)
    first, second = (json.loads(one)["data"][0] for one in figures(page)[:2])
    assert first["level"] == second["level"] == "decoder/layer 3"
    assert first["domain"]["x"][1] < second["domain"]["x"][1] <= 1
    page = app("parameters", record=None, area="decoder/layer 9", **link)
    assert "Decoder, layer 9: 16,796,672 numbers in bart-large; bart-base has no such part." in html(page)
    assert [json.loads(one)["data"][0]["level"] for one in figures(page)[:1]] == ["decoder/layer 9"]


@pytest.mark.slow
def test_an_area_that_the_next_model_does_not_have_is_closed(app: App) -> None:
    page = app("parameters", record=None, of="facebook/bart-base", area="decoder/layer 5")
    page.selectbox(key="of").select("bert-base-uncased").run()
    assert not page.exception
    assert "Of 109,482,240 parameters" in html(page)


@pytest.mark.slow
@pytest.mark.parametrize("name", {known.family: known.name for known in CATALOGUE}.values())
def test_a_model_of_each_family_by_link(app: App, name: str) -> None:
    page = app("parameters", of=name, n="64")
    assert not page.exception
    assert page.selectbox(key="of").value == name
    assert page.select_slider(key="n").value == 64
    assert len(figures(page)) in (3, 4)


def test_class_and_part_by_link(app: App) -> None:
    page = app("parameters", of="bert-base-uncased", part="head", **{"class": "BertForMaskedLM"})
    assert not page.exception
    assert page.selectbox(key="class").value == "BertForMaskedLM"
    assert list(page.dataframe[0].value["Name"])[-2:] == [
        "cls.predictions.decoder.weight",
        "cls.predictions.decoder.bias",
    ]
    page.selectbox(key="of").select("gpt2").run()
    assert not page.exception
    assert page.selectbox(key="class").value == "GPT2LMHeadModel"


def test_what_length_costs_begins_at_a_length_that_the_model_reads(app: App) -> None:
    page = app("parameters", of="bart-tiny-en-de", more="What length costs")
    for name in ("bart-tiny-en-de", "facebook/bart-base", "bart-tiny-en-de"):
        page = page.selectbox(key="of").select(name).run()
        positions = configs.sizes(CONFIGURATIONS[name]).positions
        assert positions is not None
        usual = page.select_slider(key="n").value
        assert usual == max(count for count in LENGTHS if count <= min(positions, USUAL)), name
        assert "it cannot read" not in html(page), name
    page.select_slider(key="n").set_value(1024).run()
    page.selectbox(key="of").select("facebook/bart-base").run()
    assert page.select_slider(key="n").value == 1024  # what a visitor chose stays


def test_no_part_of_the_model_is_called_a_head(app: App) -> None:
    """In an app about attention heads a part named head would be taken for one."""
    for query in ({}, {"more": "The articles' models"}, {"part": "head"}):
        page = app("parameters", of="facebook/bart-base", **query)
        texts = [html(page), *figures(page), *(str(table.value) for table in page.dataframe)]
        texts += [chart.proto.alt for chart in page.get("plotly_chart")]
        assert not any(re.search(r"\bhead\b", text) for text in texts), query
        assert list(page.button_group(key="part").options)[-2:] == ["decoder", "output layer"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        {"of": "../etc"},
        {"of": ""},
        {"class": "eval"},
        {"n": "-1"},
        {"n": "1e9"},
        {"part": "x"},
        {"format": "?"},
        {"more": "x"},
        {"area": "<b>"},
    ],
)
def test_invalid_links(app: App, query: dict[str, str]) -> None:
    page = app("parameters", **query)
    assert not page.exception
    assert page.select_slider(key="n").value in LENGTHS
    assert "7,387,136" in html(page)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"model_type": "bert", "num_hidden_layers": 20000}', "1 to 256, not 20,000"),
        ("[1]", "one JSON object"),
        ("{<script>", "not valid JSON"),
        ('{"model_type": "**bert**"}', "model_type must be bert"),
        ("", "not valid JSON"),
    ],
)
def test_a_pasted_configuration_that_is_refused(app: App, text: str, said: str) -> None:
    page = app("parameters", of=OWN)
    page.text_area(key="config").input(text).run()
    assert not page.exception
    assert said in page.error[0].value.replace("\\", "")
    assert not figures(page)


def test_a_pasted_configuration(app: App) -> None:
    page = app("parameters", of=OWN)
    config = {"model_type": "gpt2", "n_layer": 2, "architectures": ["GPT2Model"], "auto_map": {"AutoModel": "x.Y"}}
    page.text_area(key="config").input(json.dumps(config)).run()
    assert not page.exception
    assert page.selectbox(key="class").value == "GPT2Model"
    assert f"Of {39_383_808 + 2 * 7_087_872 + 1536:,} parameters" in html(page)


def test_the_tabs(app: App) -> None:
    page = app("parameters", more="What the articles say")
    assert not page.exception
    assert len(figures(page)) == 1
    verdicts = page.table[0].value["Verdict"]
    assert {"✓ True", "✗ False"} <= set(verdicts) <= {f"{SIGNS[word]} {word}" for word in SIGNS}
    assert len(figures(app("parameters", more="The articles' models"))) == 2


@pytest.mark.slow
def test_the_build_agrees_and_the_answer_leaves_with_the_model(app: App) -> None:
    page = app("parameters", of="albert-base-v2", more="Is it true?")
    page.button(key="build").click().run()
    assert not page.exception
    assert (
        page.success[0].value == "Equal: all 25 matrices and vectors, in name, shape and ties; 11,683,584 parameters."
    )
    page.selectbox(key="of").select("gpt2").run()
    assert not page.success


def test_an_interrupted_build_is_completed_by_the_next_run(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    page = app("parameters", of="albert-base-v2", more="Is it true?")
    build, newer = skeleton.build, ["message"]

    def broken_off(*args: Any) -> Any:
        if newer:
            newer.clear()
            st.rerun()
        return build(*args)

    monkeypatch.setattr(skeleton, "build", broken_off)
    page.button(key="build").click().run()
    assert not newer
    assert page.success


def test_the_loaded_models_own_count(app: App, record: Record) -> None:
    model = replace(record.model, name="gpt2", architecture="GPT2LMHeadModel", parameters=124_439_808)
    link = {"of": "gpt2", "more": "Is it true?"}
    assert "124,439,808: the same number." in html(app("parameters", record=replace(record, model=model), **link))
    other = replace(record, model=replace(model, parameters=5))
    assert "has 5, not 124,439,808" in html(app("parameters", record=other, **link))


@pytest.mark.parametrize(("count", "said"), [(999, "999"), (48_318_971_904, "48.3 G"), (1e21, "1e+06 P")])
def test_big_counts(count: float, said: str) -> None:
    assert _big(count) == said


def test_a_model_beside_it_is_drawn_on_the_same_scale(app: App) -> None:
    page = app("parameters", record=None, of="facebook/bart-base", beside="bert-base-uncased")
    assert not page.exception
    assert "bart-base has 1.27 times as many parameters as bert-base-uncased" in html(page)
    assert "One scale" in html(page)
    maps = [json.loads(one)["data"][0] for one in figures(page)[:2]]
    assert [one["type"] for one in maps] == ["treemap", "treemap"]
    assert maps[1]["domain"]["x"][1] < maps[0]["domain"]["x"][1] <= 1
    assert areas(page)[-1]["head"][1:] == ["bart-base", "bert-base-uncased"]
    opens = {row["cells"][0]: row["id"] for row in areas(page)[-1]["rows"]}
    assert (opens["encoder layers"], opens["decoder layers"]) == ("encoder", "decoder")
    assert opens["embeddings"] is None  # those of BERT are in its encoder, those of BART are shared
    page.selectbox(key="beside").select("none").run()
    assert not page.exception
    assert "times as many" not in html(page)


def test_the_legend_is_that_of_the_open_area(app: App) -> None:
    def shown(**query: str) -> list[str]:
        return re.findall(
            r"<li>(?:<i [^>]*></i>)*(.*?)</li>", html(app("parameters", record=None, of="t5-small", **query))
        )

    attention = 4 * 512 * 512 + 512
    encoder = [entry.split(" · ")[:2] for entry in shown(area="encoder")]
    assert ["self-attention (within one text)", f"{6 * attention / 1e6:.1f} M"] in encoder
    crossing = plain_words.named("cross-attention", "cross-attention")
    assert crossing not in dict(encoder)
    assert [entry.split(" · ")[0] for entry in shown(area="decoder/layer 1/cross-attention")] == [crossing]
    embeddings = plain_words.named("shared embeddings", "embeddings")
    assert [entry.split(" · ")[0] for entry in shown(area="shared")] == [embeddings]
    both = shown(area="encoder", beside="facebook/bart-base")
    assert crossing not in both


def test_a_model_is_not_compared_with_itself(app: App) -> None:
    page = app("parameters", record=None, of="t5-small", beside="t5-small")
    assert not page.exception
    assert "t5-small" not in page.selectbox(key="beside").options
    assert page.selectbox(key="beside").value == "none"
