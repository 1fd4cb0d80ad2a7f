"""Costs against numbers by hand, against torch's own operation counter, and against the measured memory of a pass."""

from __future__ import annotations

import weakref
from typing import Any

import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from bartviz.analysis.costs import FLOPS, MAX_LENGTH, Costs
from bartviz.errors import SettingError

BERT = {
    "model_type": "bert",
    "vocab_size": 50,
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 40,
    "max_position_embeddings": 300,
}
BART = {
    "model_type": "bart",
    "vocab_size": 50,
    "d_model": 24,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 3,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 40,
    "decoder_ffn_dim": 56,
    "max_position_embeddings": 300,
}
T5 = {
    "model_type": "t5",
    "vocab_size": 50,
    "d_model": 24,
    "d_kv": 5,
    "d_ff": 40,
    "num_layers": 2,
    "num_decoder_layers": 3,
    "num_heads": 3,
}
GPT2 = {"model_type": "gpt2", "vocab_size": 50, "n_embd": 24, "n_layer": 2, "n_head": 3, "n_positions": 300}
OPT = {
    "model_type": "opt",
    "vocab_size": 50,
    "hidden_size": 24,
    "word_embed_proj_dim": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "ffn_dim": 40,
    "max_position_embeddings": 300,
}
ALBERT = BERT | {"model_type": "albert", "embedding_size": 8, "inner_group_num": 2}
CASES = [
    (BERT, "BertModel"),
    (BERT, "BertForPreTraining"),
    (BERT, "BertForTokenClassification"),
    (BERT | {"model_type": "roberta"}, "RobertaForSequenceClassification"),
    (BERT | {"model_type": "electra", "embedding_size": 8}, "ElectraForMaskedLM"),
    (ALBERT, "AlbertForMaskedLM"),
    (BART, "BartForConditionalGeneration"),
    (BART, "BartForSequenceClassification"),
    (BART | {"model_type": "pegasus"}, "PegasusForConditionalGeneration"),
    (T5, "T5ForConditionalGeneration"),
    (T5 | {"feed_forward_proj": "gated-gelu"}, "T5ForConditionalGeneration"),
    (T5, "T5EncoderModel"),
    (GPT2, "GPT2LMHeadModel"),
    (GPT2, "GPT2ForSequenceClassification"),
    (OPT, "OPTForCausalLM"),
]
names = [f"{case[0]['model_type']}-{case[1]}" for case in CASES]


def build(config: dict[str, Any], architecture: str, attention: str = "eager") -> transformers.PreTrainedModel:
    ids = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}
    chosen = transformers.AutoConfig.for_model(**config, **ids, attn_implementation=attention)
    return getattr(transformers, architecture)(chosen).eval()


def inputs(costs: Costs, n: int, m: int) -> dict[str, torch.Tensor]:
    ids = torch.full((1, n), 5)
    ids[0, -1] = 2
    given = {"input_ids": ids}
    if costs.sizes.encoder is not None and costs.sizes.decoder is not None and "Sequence" not in costs.architecture:
        given["decoder_input_ids"] = torch.full((1, m), 5)
    return given


def counted(network: torch.nn.Module, **given: Any) -> int:
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        network(**given)
    return int(counter.get_total_flops())


# Numbers that a person can check --------------------------------------------------------------------------------------


def test_bert_base_by_hand() -> None:
    table = Costs("bert-base-uncased").operations(512).set_index("part")["multiply_adds"]
    assert table["projections"] == 12 * 4 * 512 * 768 * 768
    assert table["scores"] == table["weighted sums"] == 12 * 512 * 512 * 768
    assert table["feed-forward"] == 12 * 2 * 512 * 768 * 3072
    assert table["output"] == 768 * 768  # the pooler sees one vector
    assert (Costs("bert-base-uncased").operations(512)["flops"] == 2 * table.to_numpy()).all()


def test_attention_passes_the_feed_forward_layers_at_four_widths() -> None:
    costs = Costs("bert-base-uncased")
    assert costs.crossing().scores == 4 * 768
    assert costs.crossing().attention == 2 * 768
    at = costs.operations(3072).set_index("part")["multiply_adds"]
    assert at["scores"] + at["weighted sums"] == at["feed-forward"]
    at = costs.operations(1536).set_index("part")["multiply_adds"]
    assert at["scores"] + at["weighted sums"] + at["projections"] == at["feed-forward"]


def test_memory_of_bert_base_at_512() -> None:
    memory = Costs("bert-base-uncased").memory(512)
    assert memory.attention == 12 * 12 * 512 * 512 * 4 == 150_994_944
    assert memory.captured == 12 * 2 * 512 * 768 * 4
    assert memory.weights == 4 * 109_482_240
    assert memory.cache == 0
    assert Costs("bert-base-uncased").memory(512, dtype="int8").weights == 109_482_240


def test_queries_and_keys_are_smaller_than_weights_from_twice_the_head_width_on() -> None:
    costs = Costs("bert-base-uncased")
    assert costs.memory(128).captured == costs.memory(128).attention
    assert costs.memory(127).captured > costs.memory(127).attention
    assert costs.memory(129).captured < costs.memory(129).attention


def test_cache_of_bart_base() -> None:
    memory = Costs("facebook/bart-base").memory(100, 20)
    assert memory.cache == 4 * 2 * 6 * 768 * (20 + 100)
    assert memory.attention == 4 * 6 * 12 * (100 * 100 + 20 * 20 + 20 * 100)


def test_a_cached_step_grows_linearly_an_uncached_one_quadratically() -> None:
    steps = Costs("facebook/bart-base").generation(10, 40)
    cached, uncached = steps["cached"].to_numpy(), steps["uncached"].to_numpy()
    assert (cached[2:] - cached[1:-1] == 2 * 6 * 768).all()  # one more key in each of 6 layers: QK^T and AV
    assert ((uncached[2:] - 2 * uncached[1:-1] + uncached[:-2]) == 2 * 2 * 6 * 768).all()


def test_settings_are_checked() -> None:
    costs = Costs("bert-base-uncased")
    for length in (0, -1, MAX_LENGTH + 1):
        with pytest.raises(SettingError, match="1 to 1,048,576"):
            costs.operations(length)
    with pytest.raises(SettingError, match="float32"):
        costs.memory(8, dtype="float8")
    with pytest.raises(SettingError, match="decoder"):
        costs.step(8, 1)


# Equal to what torch counts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("config", "architecture"), CASES, ids=names)
@pytest.mark.parametrize(("n", "m"), [(7, 7), (12, 5)])
def test_operations_are_what_torch_counts(config: dict[str, Any], architecture: str, n: int, m: int) -> None:
    costs = Costs(config, architecture=architecture)
    m = m if "Sequence" not in architecture else n  # BART classifies with the source shifted right as the target
    found = costs.operations(n, m)
    assert found["flops"].sum() == counted(build(config, architecture), **inputs(costs, n, m))


@pytest.mark.parametrize("config", [BART, T5, GPT2, OPT], ids=lambda config: config["model_type"])
def test_decoding_steps_are_what_torch_counts(config: dict[str, Any]) -> None:
    costs = Costs(config)
    network = build(config, costs.architecture)
    source, fixed = 9, {}
    if costs.sizes.encoder is not None:
        with torch.no_grad():
            fixed = {"encoder_outputs": network.get_encoder()(torch.full((1, source), 5))}
    name = "decoder_input_ids" if fixed else "input_ids"
    past = None
    for position in (1, 2, 3, 4):
        whole = {name: torch.full((1, position), 5)}
        assert FLOPS * costs.step(source, position, cache=False) == counted(network, **fixed, **whole, use_cache=False)
        with torch.no_grad(), FlopCounterMode(display=False) as counter:
            past = network(
                **fixed, **{name: torch.full((1, 1), 5)}, past_key_values=past, use_cache=True
            ).past_key_values
        assert FLOPS * costs.step(source, position) == counter.get_total_flops()
    assert past is not None
    keys = [tensor for cache in caches(past) for layer in cache.layers for tensor in (layer.keys, layer.values)]
    assert costs.memory(*((source, 4) if fixed else (4,))).cache == sum(tensor.nbytes for tensor in keys)


def caches(past: Any) -> list[Any]:
    return [past.self_attention_cache, past.cross_attention_cache] if hasattr(past, "cross_attention_cache") else [past]


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(n=st.integers(1, 5000), m=st.integers(1, 5000))
def test_a_curve_is_its_points(n: int, m: int) -> None:
    costs = Costs("facebook/bart-base")
    point = costs.curve([n], m).iloc[0]
    assert point[["projections", "scores", "weighted sums", "feed-forward", "output"]].sum() == (
        costs.operations(n, m)["multiply_adds"].sum()
    )
    assert point["captured"] == costs.memory(n, m).captured


# Close to what torch holds --------------------------------------------------------------------------------------------


class Held(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Bytes of all tensors alive that were made under it, and their maximum."""

    def __init__(self, known: list[torch.Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.sizes = {tensor.untyped_storage()._cdata: 0 for tensor in known}
        self.now = self.most = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(out):
            if isinstance(tensor, torch.Tensor) and tensor.untyped_storage()._cdata not in self.sizes:
                storage = tensor.untyped_storage()
                self.sizes[storage._cdata] = storage.nbytes()
                self.now += storage.nbytes()
                weakref.finalize(storage, self.release, storage._cdata)
        self.most = max(self.most, self.now)
        return out

    def release(self, key: int) -> None:
        self.now -= self.sizes.pop(key, 0)


@pytest.mark.parametrize(
    ("config", "architecture"),
    [
        (BERT, "BertModel"),
        (BERT | {"vocab_size": 3000}, "BertForMaskedLM"),
        (BART, "BartModel"),
        (GPT2, "GPT2Model"),
        (BART | {"vocab_size": 3000}, "BartForConditionalGeneration"),
        (T5, "T5Model"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize(("n", "m"), [(256, 16), (40, 40), (16, 256)])
def test_activations_are_within_a_fifth(config: dict[str, Any], architecture: str, n: int, m: int) -> None:
    wide = {"hidden_size": 60, "intermediate_size": 240, "d_model": 60, "d_ff": 240, "n_embd": 60, "d_kv": 20}
    wide |= {"encoder_ffn_dim": 240, "decoder_ffn_dim": 240}
    config = {**config, **{key: value for key, value in wide.items() if key in config}}
    costs = Costs(config, architecture=architecture)
    network = build(config, architecture, "sdpa")
    with torch.no_grad(), Held([*network.parameters(), *network.buffers()]) as held:
        network(**inputs(costs, n, m), **({} if costs.sizes.decoder is None else {"use_cache": False}))
    assert costs.memory(n, m).activations == pytest.approx(held.most, rel=0.2)
