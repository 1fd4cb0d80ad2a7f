"""Configurations: defaults as in transformers, impossible sizes refused before anything is built."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
import transformers
from hypothesis import given
from hypothesis import strategies as st

from bartviz.errors import ModelError
from bartviz.families import config as configs
from bartviz.families.registry import FAMILIES

BART = {"model_type": "bart"}


@pytest.mark.parametrize("model_type", FAMILIES)
def test_defaults_are_those_of_transformers(model_type: str) -> None:
    family, theirs = FAMILIES[model_type], transformers.AutoConfig.for_model(model_type)
    known = {key: default for key, default in family.keys.values() if isinstance(default, int)}
    wrong = {key: (ours, getattr(theirs, key)) for key, ours in known.items() if getattr(theirs, key) != ours}
    assert not wrong, f"keys with a default in the family's file, and in transformers: {wrong}"
    assert getattr(theirs, family.activation[0]) == family.activation[1]
    assert dict(family.aliases) == type(theirs).attribute_map
    assert family.labels == theirs.num_labels


def test_sizes_of_bart_base() -> None:
    found = configs.sizes(
        BART
        | {"d_model": 768, "encoder_layers": 6, "encoder_attention_heads": 12, "encoder_ffn_dim": 3072}
        | {"decoder_layers": 6, "decoder_attention_heads": 12, "decoder_ffn_dim": 3072}
    )
    assert found.encoder == found.decoder == configs.Stack(layers=6, heads=12, head_width=64, feed_forward=3072)
    assert (found.vocabulary, found.width, found.positions, found.position_rows) == (50_265, 768, 1024, 1026)
    assert found.tied
    assert not found.gated


def test_what_a_missing_size_follows_from() -> None:
    gpt2 = configs.sizes({"model_type": "gpt2", "n_embd": 24, "n_head": 2, "n_inner": None})
    assert gpt2.decoder == configs.Stack(layers=12, heads=2, head_width=12, feed_forward=96)
    t5 = configs.sizes({"model_type": "t5", "num_layers": 3, "feed_forward_proj": "gated-gelu"})
    assert t5.encoder == t5.decoder == configs.Stack(layers=3, heads=8, head_width=64, feed_forward=2048)
    assert (t5.gated, t5.activation, t5.positions) == (True, "gelu_new", None)
    assert configs.sizes({"model_type": "roberta", "max_position_embeddings": 514}).positions == 512


def test_second_names_count_and_must_agree() -> None:
    assert configs.sizes({"model_type": "gpt2", "num_hidden_layers": 3}).decoder == configs.Stack(3, 12, 64, 3072)
    assert configs.sizes(BART | {"d_model": 64, "hidden_size": 64}).width == 64
    with pytest.raises(ModelError, match="d_model and hidden_size"):
        configs.validate(BART | {"d_model": 64, "hidden_size": 128})


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ([], "one object"),
        ("text", "one object"),
        (None, "one object"),
        ({}, "has no model_type"),
        ({"model_type": "longformer"}, "model_type must be bert"),
        ({"model_type": ["bert"]}, "model_type must be bert"),
        ({"model_type": "bert", "num_attention_heads": 0}, r"1 to 512, not 0"),
        ({"model_type": "bert", "num_hidden_layers": -1}, r"1 to 256, not -1"),
        ({"model_type": "bert", "num_hidden_layers": 20_000}, r"1 to 256, not 20,000"),
        ({"model_type": "gpt2", "num_hidden_layers": 20_000}, r"num_hidden_layers .* 1 to 256"),
        ({"model_type": "bert", "vocab_size": 10**9}, r"1 to 2,000,000, not 1,000,000,000"),
        ({"model_type": "bert", "vocab_size": 10**6000}, "whole number"),
        ({"model_type": "bert", "hidden_size": True}, "whole number"),
        ({"model_type": "bert", "hidden_size": 768.0}, "whole number"),
        ({"model_type": "bert", "hidden_size": "768"}, "whole number"),
        ({"model_type": "bert", "hidden_size": None}, "whole number"),
        ({"model_type": "bert", "hidden_size": 10}, "split evenly over 12 heads"),
        ({"model_type": "bart", "decoder_attention_heads": 3}, "split evenly over 3 heads"),
        ({"model_type": "bert", "is_decoder": True}, "is_decoder"),
        ({"model_type": "gpt2", "add_cross_attention": True}, "add_cross_attention"),
        ({"model_type": "bert", "tie_word_embeddings": "yes"}, "true or false"),
        ({"model_type": "bert", "hidden_act": 3}, "hidden_act"),
        ({"model_type": "bert", "num_labels": 0}, "num_labels"),
        ({"model_type": "t5", "feed_forward_proj": "soft-gated-gelu"}, "feed_forward_proj"),
        ({"model_type": "marian", "decoder_vocab_size": 5}, "decoder_vocab_size"),
        ({"model_type": "albert", "num_hidden_groups": 13}, "num_hidden_groups"),
        ({"model_type": "albert", "inner_group_num": 200}, "256"),
        ({"model_type": "roberta", "max_position_embeddings": 2}, "max_position_embeddings"),
    ],
)
def test_impossible_configurations_are_refused(config: Any, said: str) -> None:
    with pytest.raises(ModelError, match=said):
        configs.validate(config)


numbers = st.integers() | st.integers(-2, 9) | st.floats()
anything = st.none() | st.booleans() | numbers | st.sampled_from(["", "gelu", [], [1], {}, {"0": "A"}, -1])


@pytest.mark.slow
@given(model_type=st.sampled_from(sorted(FAMILIES)), data=st.data())
def test_any_value_under_any_key_is_read_or_refused(model_type: str, data: st.DataObject) -> None:
    family = FAMILIES[model_type]
    keys = [*(key for key, _ in family.keys.values()), *family.aliases, "id2label", "num_labels", family.activation[0]]
    config = {"model_type": model_type, **data.draw(st.dictionaries(st.sampled_from(keys), anything, max_size=3))}
    with contextlib.suppress(ModelError):
        found = configs.sizes(config)
        assert 1 <= found.width <= configs.MAX_WIDTH
        assert 1 <= found.vocabulary <= configs.MAX_VOCABULARY
        for stack in (found.encoder, found.decoder):
            assert stack is None or 1 <= stack.layers <= configs.MAX_LAYERS


def test_parse_and_read(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(BART), encoding="utf-8-sig")
    assert configs.read(tmp_path) == BART
    for text in ("", "{", "[]", "3", "[" * 100_000, '{"a": ' * 100_000, "x" * 2_000_000, "9" * 10_000):
        with pytest.raises(ModelError):
            configs.parse(text)
    (tmp_path / "config.json").write_bytes(b"\xff\xfe\x00")
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(ModelError, match=r"config\.json") as refused:
            configs.read(folder)
        assert str(tmp_path) not in str(refused.value)
