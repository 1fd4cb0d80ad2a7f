"""A checkpoint's settings after sanitising."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bartviz.errors import BartvizError, ModelError
from bartviz.families.catalogue import CATALOGUE, Entry
from bartviz.models import checkpoint
from bartviz.models.files import MAX_JSON_BYTES, read_json
from tests.support import networks
from tests.support.networks import FAMILIES

BART = {"model_type": "bart", "vocab_size": 100, "d_model": 64}
BERT = {"model_type": "bert", "vocab_size": 100, "hidden_size": 24}
GPT2 = {"model_type": "gpt2", "vocab_size": 100, "n_embd": 32, "n_head": 4}


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
def test_every_model_of_the_catalogue_has_settings(entry: Entry) -> None:
    settings = checkpoint.sanitise(entry.config)
    assert settings.config.model_type == entry.family
    assert settings.config.vocab_size == entry.config["vocab_size"]


def test_unknown_keys_have_no_way_in() -> None:
    config = checkpoint.sanitise({**BART, "fusion_config": {"x": 1}, "transformers_weights": "/etc/passwd"}).config
    assert not hasattr(config, "fusion_config")
    assert not hasattr(config, "transformers_weights")


def test_default_ids_outside_of_the_vocabulary_are_dropped() -> None:
    """GPT-2's own end token is 50256; a smaller vocabulary has none unless it says which."""
    default = checkpoint.sanitise(GPT2)
    assert default.config.eos_token_id is None
    assert default.notices == ()


IDS = ("pad_token_id", "bos_token_id", "eos_token_id", "sep_token_id", "cls_token_id", "mask_token_id")


@pytest.mark.parametrize("key", [*IDS, "forced_bos_token_id", "forced_eos_token_id"])
@pytest.mark.parametrize("token", [100, 50_256, -1, [100], [], True, "0", 1.5, [[0]]])
def test_an_id_that_no_text_can_produce_is_none(key: str, token: object) -> None:
    """A GPT-2 trained on a vocabulary of its own keeps 50256 in its configuration."""
    read = checkpoint.sanitise({**GPT2, key: token})
    assert getattr(read.config, key, None) is None
    assert getattr(read.generation, key, None) is None
    assert key in "".join(read.notices)
    separate = checkpoint.sanitise(GPT2, {key: token})
    assert getattr(separate.generation, key, None) is None
    assert key in "".join(separate.notices)


@pytest.mark.parametrize(
    ("key", "given", "read"),
    [
        ("eos_token_id", [3, 50_256, 7], [3, 7]),
        ("suppress_tokens", [-1, 5, 100], [5]),
        ("begin_suppress_tokens", [220, 50_256], None),
        ("bad_words_ids", [[5, 6], [5, 100], [100], [0]], [[5, 6], [0]]),
        ("eos_token_id", 99, 99),
        ("eos_token_id", 0, 0),
    ],
)
def test_of_a_list_the_ids_of_the_vocabulary_stay(key: str, given: object, read: object) -> None:
    settings = checkpoint.sanitise(GPT2, {key: given})
    assert getattr(settings.generation, key) == read
    assert (key in "".join(settings.notices)) == (given != read)


@pytest.mark.some
@pytest.mark.parametrize("family", FAMILIES)
def test_an_unreachable_id_closes_no_family(family: str) -> None:
    network, _ = networks.build(family)
    config = network.config.to_dict()
    keys = [key for key in config if key.endswith("token_id") and key != "pad_token_id"]
    settings = checkpoint.sanitise(config | dict.fromkeys(keys, 10**6))
    assert settings.config.vocab_size == network.config.vocab_size


def test_positions_that_are_counted_from_a_missing_token_are_refused() -> None:
    with pytest.raises(ModelError, match="pad_token_id"):
        checkpoint.sanitise({"model_type": "roberta", "vocab_size": 100, "hidden_size": 24, "pad_token_id": 100})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("temperature", "hot"),
        ("top_k", -1),
        ("num_beams", "4"),
        ("early_stopping", "soon"),
        ("max_new_tokens", 0),
        ("length_penalty", None),
        ("cache_implementation", "mine"),
        ("num_return_sequences", 5),
        ("watermarking_config", {"x": 1}),
        ("assistant_ensemble_weight", 7),
    ],
)
def test_a_generation_setting_that_is_not_supported_refuses_no_model(key: str, value: object) -> None:
    settings = checkpoint.sanitise(GPT2, {key: value, "no_repeat_ngram_size": 2})
    assert settings.generation.no_repeat_ngram_size == 2
    assert getattr(settings.generation, key, None) != value or value is None
    assert settings.notices == ()
    assert checkpoint.sanitise({**BERT, key: value}).unapplied == ()


def test_generation_settings_stand_in_their_own_file_or_in_the_config() -> None:
    assert checkpoint.sanitise({**BART, "no_repeat_ngram_size": 3}).generation.no_repeat_ngram_size == 3
    separate = checkpoint.sanitise({**BART, "no_repeat_ngram_size": 3}, {"num_beams": 2}).generation
    assert not separate.no_repeat_ngram_size
    assert separate.num_beams == 2
    assert separate.decoder_start_token_id == 2  # from the configuration


def test_t5_of_version_1_1_does_not_scale_its_outputs() -> None:
    """Its config says so with tie_word_embeddings, or, saved again by transformers 5, with a key of its own."""
    t5 = {"model_type": "t5", "vocab_size": 100, "feed_forward_proj": "gated-gelu"}
    assert checkpoint.sanitise(t5).config.scale_decoder_outputs is True
    assert checkpoint.sanitise({**t5, "tie_word_embeddings": False}).config.scale_decoder_outputs is False
    saved_again = {**t5, "tie_word_embeddings": True, "scale_decoder_outputs": False}
    assert checkpoint.sanitise(saved_again).config.scale_decoder_outputs is False


def test_equal_settings_have_equal_content() -> None:
    one, two = checkpoint.sanitise(BART), checkpoint.sanitise(dict(reversed(BART.items())))
    assert one.content == two.content
    assert checkpoint.sanitise({**BART, "scale_embedding": True}).content != one.content


def test_a_file_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    with path.open("wb") as file:
        file.truncate(MAX_JSON_BYTES + 1)
    with pytest.raises(ModelError, match="16 MB"):
        read_json(path)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(
    (
        "vocab_size",
        "d_model",
        "encoder_layers",
        "scale_embedding",
        "activation_function",
        "pad_token_id",
        "dropout",
        "forced_eos_token_id",
        "architectures",
        "num_beams",
        "bad_words_ids",
        "id2label",
        "trained",
        "auto_map",
        "dtype",
        "decoder_start_token_id",
        "max_length",
        "init_std",
        "normalize_before",
        "tie_word_embeddings",
        "early_stopping",
        "eos_token_id",
        "suppress_tokens",
        "sep_token_id",
        "temperature",
    )
)


@pytest.mark.slow
@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_any_value_is_taken_or_refused_in_our_words(changes: dict[str, object]) -> None:
    try:
        settings = checkpoint.sanitise({**BART, **changes})
    except BartvizError:
        return
    assert settings.config.model_type == "bart"
    assert settings.content


LLAMA = {"vocab_size": 50, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 2, "pad_token_id": 0}


@pytest.mark.parametrize(
    ("model_type", "older", "read"),
    [
        ("llama", {"rope_theta": 5e5}, {"rope_type": "default", "rope_theta": 5e5}),
        (
            "gpt_neox",
            {"rotary_pct": 0.5, "rotary_emb_base": 9999},
            {"rope_type": "default", "partial_rotary_factor": 0.5, "rope_theta": 9999},
        ),
        (
            "phi",
            {"partial_rotary_factor": 0.4, "rope_theta": 7.0},
            {"rope_type": "default", "partial_rotary_factor": 0.4, "rope_theta": 7.0},
        ),
    ],
)
def test_rotary_positions_of_older_configurations_are_kept(
    model_type: str, older: dict[str, float], read: dict[str, object]
) -> None:
    raw = {"model_type": model_type, **LLAMA, "bos_token_id": 1, "eos_token_id": 2, **older}
    assert checkpoint.sanitise(raw).config.rope_parameters == read


def test_a_build_that_differs_from_its_familys_is_refused_with_the_key() -> None:
    with pytest.raises(ModelError, match="attention_bias to True; of Llama only models with False"):
        checkpoint.sanitise({"model_type": "llama", **LLAMA, "attention_bias": True})
    with pytest.raises(ModelError, match="2 heads cannot share 4"):
        checkpoint.sanitise({"model_type": "llama", **LLAMA, "num_key_value_heads": 4})


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({key: value for key, value in BERT.items() if key != "model_type"}, "has no model_type"),
        (
            {"hidden_size": 24, "num_hidden_layers": 2, "type_vocab_size": 2, "vocab_size": 9},
            'add "model_type": "bert"',
        ),
        ({"n_embd": 24, "n_layer": 2, "n_head": 2, "vocab_size": 9}, 'those of GPT-2.*add "model_type": "gpt2"'),
        ({**BART, "is_decoder": True}, "only the decoder of a BART model"),
        ({**BERT, "is_decoder": True}, "turns an encoder into a decoder"),
    ],
)
def test_a_configuration_that_is_refused_says_what_is_wrong(config: dict[str, object], said: str) -> None:
    with pytest.raises(ModelError, match=said):
        checkpoint.sanitise(config)
