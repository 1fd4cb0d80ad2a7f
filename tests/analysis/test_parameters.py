"""The closed form against numbers from the papers and articles, and against the models as transformers builds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bartviz.analysis.parameters import Built, Parameter, architecture_of, fits, listing, parameters, rows, total
from bartviz.errors import ModelError, SettingError
from bartviz.families import config as configs
from bartviz.families.catalogue import CATALOGUE, Entry, entry
from bartviz.families.registry import FAMILIES
from bartviz.models import skeleton
from tests.support import loaded, networks, stand_in

Sizes = dict[str, Any]
few = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def as_built(found: tuple[Parameter, ...]) -> Built:
    """The rows in the form of a built model's listing: one entry per name, a second place of a name left out."""
    return {row.name: (row.shape, row.shared_with, row.trainable) for row in reversed(found)}


def differences(ours: Mapping[str, object], theirs: Mapping[str, object]) -> str:
    """The matrices in which a family's file and transformers differ, a line each."""
    return "\n".join(
        f"{name}: {ours.get(name, 'not')} in the family's file, {theirs.get(name, 'not')} in transformers"
        for name in sorted({*ours, *theirs})
        if ours.get(name) != theirs.get(name)
    )


def assert_equal(config: Mapping[str, Any], architecture: str) -> None:
    found, network = rows(config, architecture), skeleton.build(config, architecture)
    faults = differences(as_built(found), network)
    assert not faults, faults
    assert sum(row.count for row in found) == sum(prod(shape) for shape, tied, _ in network.values() if tied is None)


@pytest.mark.some
@pytest.mark.parametrize("family", sorted(networks.FAMILIES))
def test_a_loaded_model_is_counted_as_it_was_loaded(family: str) -> None:
    model = loaded.model(family)
    table = parameters(model)
    counted = table[table["count"] > 0]
    ours = dict(zip(counted["name"], counted["shape"], strict=True))
    listed = listing(model.network).items()
    faults = differences(ours, {name: shape for name, (shape, tied, _) in listed if tied is None})
    assert not faults, faults
    assert counted["count"].sum() == model.info.parameters
    assert total(model) == model.info.parameters


@pytest.mark.parametrize("what", [None, 7, object(), ["bart"]])
def test_what_is_no_model_is_refused(what: object) -> None:
    with pytest.raises(SettingError, match=f"not for a {type(what).__name__}"):
        parameters(what)  # type: ignore[arg-type]


def test_what_a_record_says_of_its_model_is_too_little_to_count() -> None:
    with pytest.raises(SettingError, match="not for a ModelInfo"):
        parameters(stand_in.record().model)  # type: ignore[arg-type]


# Numbers that a person can check --------------------------------------------------------------------------------------


def test_a_bert_of_two_wide_vectors_by_hand() -> None:
    config = {
        "model_type": "bert",
        "vocab_size": 7,
        "hidden_size": 2,
        "num_hidden_layers": 1,
        "num_attention_heads": 1,
        "intermediate_size": 3,
        "max_position_embeddings": 5,
        "type_vocab_size": 2,
    }
    table = parameters(config)
    embeddings = 7 * 2 + 5 * 2 + 2 * 2 + 2 + 2
    attention = 4 * (2 * 2 + 2) + 2 + 2
    feed_forward = (3 * 2 + 3) + (2 * 3 + 2) + 2 + 2
    pooler = 2 * 2 + 2
    assert table["count"].sum() == embeddings + attention + feed_forward + pooler == 87
    query = table[table["role"] == "self-attention query weight"].iloc[0]
    assert query["name"] == "encoder.layer.0.attention.self.query.weight"
    assert (query["component"], query["layer"], query["shape"], query["count"]) == ("encoder", 0, (2, 2), 4)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("bert-base-uncased", 109_482_240),
        ("bert-large-uncased", 335_141_888),
        ("facebook/bart-base", 139_420_416),
        ("facebook/bart-large", 406_291_456),
        ("gpt2", 124_439_808),
        ("gpt2-medium", 354_823_168),
        ("t5-small", 60_506_624),
        ("t5-base", 222_903_552),
        ("Helsinki-NLP/opus-mt-en-de", 74_410_496),
    ],
)
def test_published_sizes(name: str, expected: int) -> None:
    assert total(name) == expected


def test_t5_has_relative_positions_in_the_first_layer_only() -> None:
    table = parameters("t5-small")
    bias = table[table["role"] == "relative position bias"]
    assert list(bias["component"]) == ["encoder", "decoder"]
    assert list(bias["layer"]) == [0, 0]
    assert list(bias["shape"]) == [(32, 8), (32, 8)]


def test_t5_1_1_has_an_output_matrix_of_its_own() -> None:
    tied = total("t5-base")
    assert total({**entry_of("t5-base").config, "tie_word_embeddings": False}) == tied + 32_128 * 768
    assert total("google/t5-v1_1-base") == 247_577_856


def test_albert_layers_repeat_one_set_of_weights() -> None:
    table = parameters("albert-base-v2")
    layers = table[table["layer"].notna()]
    assert layers["layer"].nunique() == 12
    assert (layers[layers["layer"] > 0]["count"] == 0).all()
    assert layers["elements"].sum() == 12 * layers["count"].sum()
    assert table["count"].sum() == 11_683_584


def test_computed_positions_are_counted_but_never_trained() -> None:
    table = parameters("Helsinki-NLP/opus-mt-en-de")
    computed = table[~table["trainable"]]
    assert set(computed["role"]) == {"position embedding"}
    assert computed["count"].sum() == 2 * 512 * 512


# What is asked for ----------------------------------------------------------------------------------------------------


def test_the_class_is_the_one_asked_for_then_the_configurations_then_the_familys() -> None:
    config = {"model_type": "bert", "architectures": ["BertForPreTraining"]}
    assert architecture_of({"model_type": "bert"}) == "BertModel"
    assert architecture_of(config) == "BertForPreTraining"
    assert architecture_of(config, "BertForMaskedLM") == "BertForMaskedLM"
    assert architecture_of({"model_type": "bart", "architectures": ["SomethingElse"]}) == "BartForConditionalGeneration"
    assert architecture_of({"model_type": "bart", "architectures": "BartModel"}) == "BartForConditionalGeneration"
    assert total("bert-base-uncased", architecture="BertForPreTraining") == 110_106_428
    with pytest.raises(SettingError, match="BertModel"):
        parameters("bert-base-uncased", architecture="BartModel")


def test_a_folder_with_a_configuration(tmp_path: Any) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "gpt2", "n_layer": 1}', encoding="utf-8")
    assert total(tmp_path) == 124_439_808 - 11 * 7_087_872
    assert total(str(tmp_path)) == total(tmp_path)


@pytest.mark.parametrize("name", ["", "..", "nothing/like-it"])
def test_an_unknown_name_lists_the_choices(name: str) -> None:
    with pytest.raises(ModelError, match=r"facebook/bart-base|config\.json"):
        parameters(name)


def test_two_tables_never_share_their_numbers() -> None:
    first = parameters("t5-small")
    first["count"] = 0
    assert parameters("t5-small")["count"].sum() == 60_506_624


# Equal to what transformers builds ------------------------------------------------------------------------------------


def entry_of(name: str) -> Entry:
    known = entry(name)
    assert known is not None
    return known


@pytest.mark.slow
@pytest.mark.parametrize("known", CATALOGUE, ids=lambda known: known.name)
def test_equals_the_built_model(known: Entry) -> None:
    assert_equal(known.config, architecture_of(known.config))


def test_a_loaded_t5_1_1_keeps_its_own_output_matrix(tmp_path: Path) -> None:
    sizes = {"vocab_size": 9, "d_model": 4, "d_kv": 2, "d_ff": 6, "num_layers": 1, "num_heads": 2}
    config = {"model_type": "t5", **sizes, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
    network = transformers.T5ForConditionalGeneration(transformers.T5Config(**config))
    network.lm_head.weight = torch.nn.Parameter(torch.ones(9, 4))
    network.all_tied_weights_keys.pop("lm_head.weight")
    network.save_pretrained(tmp_path)
    loaded = transformers.T5ForConditionalGeneration.from_pretrained(tmp_path)
    assert listing(loaded) == as_built(rows(config))


@pytest.mark.parametrize("family", ["bert", "llama", "t5"])
def test_a_network_fits_its_own_sizes_alone(family: str) -> None:
    model = loaded.model(family)
    name = type(model.network).__name__
    own = configs.sizes({**model.config.to_dict(), "architectures": [name]})
    assert fits(own, name, model.network)
    assert not fits(replace(own, vocabulary=own.vocabulary + 1), name, model.network)
    assert not fits(replace(own, tied=not own.tied), name, model.network)


def test_only_sizes_reach_transformers() -> None:
    hostile = {"auto_map": {"AutoModel": "x.Y"}, "attn_implementation": "foreign", "quantization_config": {"a": 1}}
    config = {"model_type": "marian", "vocab_size": 7, "hidden_act": "?", "activation_function": "no-such", **hostile}
    assert_equal(config, "MarianMTModel")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model_type", "architecture"), [(family.name, name) for family in FAMILIES.values() for name in family.variants]
)
@few
@pytest.mark.some
@given(data=st.data())
def test_equals_any_model_of_a_family(model_type: str, architecture: str, data: st.DataObject) -> None:
    assert_equal(data.draw(configurations(model_type)), architecture)


@st.composite
def configurations(draw: st.DrawFn, model_type: str) -> Sizes:
    """A small configuration of one family: any sizes, depths that differ, tied or not, some keys left out."""
    family = FAMILIES[model_type]
    heads = draw(st.sampled_from([1, 2, 3]))
    small: dict[str, st.SearchStrategy[int]] = {
        "width": st.sampled_from([6, 12]),
        "encoder_heads": st.just(heads),
        "decoder_heads": st.sampled_from([1, 2, 3]),
        "encoder_layers": st.integers(1, 3),
        "decoder_layers": st.integers(1, 3),
        "groups": st.just(1),
        "inner_layers": st.integers(1, 2),
        "head_width": st.sampled_from([4, 6]),
        "encoder_key_heads": st.just(1),
        "decoder_key_heads": st.just(1),
    }
    config: Sizes = {"model_type": model_type}
    for word, (key, default) in family.keys.items():
        if default is None and draw(st.booleans()):
            continue
        config[key] = draw(small.get(word, st.integers(3, 9)))
    config["tie_word_embeddings"] = draw(st.booleans())
    return _consistent(draw, model_type, config)


def _consistent(draw: st.DrawFn, model_type: str, config: Sizes) -> Sizes:
    if model_type in ("t5", "mt5"):
        config["feed_forward_proj"] = draw(st.sampled_from(["relu", "gated-gelu"]))
    if model_type == "albert":
        config["num_hidden_groups"] = draw(st.integers(1, config["num_hidden_layers"]))
    if model_type == "marian":
        shared = config["share_encoder_decoder_embeddings"] = draw(st.booleans())
        if shared:
            config["decoder_vocab_size"] = config["vocab_size"]
    if model_type not in ("distilbert", "bart"):  # these answer questions with two classes only
        config["num_labels"] = draw(st.integers(1, 4))
    return config
