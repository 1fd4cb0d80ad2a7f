"""bartviz.from_attentions: weights that somebody else has computed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BertConfig,
    BertModel,
    GPT2Config,
    GPT2LMHeadModel,
    MistralConfig,
    MistralForCausalLM,
)

import bartviz
from bartviz.analysis.alignment import table
from bartviz.analysis.measures import of_record
from bartviz.errors import RecordError, WeightsOnlyError
from bartviz.families.catalogue import EMBEDDED
from bartviz.record.attention import Attention, Head
from bartviz.record.record import Record, open_record

CAUSAL = np.array([[1, 0, 0], [0.5, 0.5, 0], [0.2, 0.3, 0.5]])  # three tokens, one head
EVEN = np.full((3, 3), 1 / 3)
ABC = ["a", "b", "c"]


def one(weights: Any) -> Any:
    """(1, 1, Q, K): a layer of one head."""
    return np.asarray(weights)[None, None]


def whole(**changed: Any) -> Record:
    """An encoder-decoder of three source and two target tokens."""
    given: dict[str, Any] = {
        "encoder": one(EVEN),
        "decoder": one([[1, 0], [0.25, 0.75]]),
        "cross": one([[0.5, 0.25, 0.25], [0, 0, 1]]),
        "encoder_tokens": ABC,
        "decoder_tokens": ["x", "y"],
    }
    return bartviz.from_attentions(**(given | changed))


def test_weights_and_tokens_are_those_that_were_given() -> None:
    record = whole()
    assert record.cross is not None
    np.testing.assert_array_equal(record.cross.head(0, 0), [[0.5, 0.25, 0.25], [0, 0, 1]])
    assert record.cross.query.labels == ("x", "y")
    assert record.cross.key.labels == tuple(ABC)
    assert (record.source_text, record.target_text) == ("a b c", "x y")
    assert record.sound
    assert record.from_weights


@pytest.mark.parametrize(("weights", "kind"), [(CAUSAL, "decoder"), (EVEN, "encoder")])
def test_one_stack_is_a_decoder_if_no_row_attends_to_a_later_token(weights: Any, kind: str) -> None:
    record = bartviz.from_attentions(one(weights), ABC)
    assert record.kinds == (kind,)
    np.testing.assert_allclose(record.attention(kind).head(0, 0), weights, rtol=1e-6)
    assert bartviz.from_attentions(encoder=one(weights), tokens=ABC).kinds == ("encoder",)


FORMS: Mapping[str, Any] = {
    "array": one(CAUSAL),
    "float64 with a batch axis": CAUSAL[None, None, None],
    "list of layers": [CAUSAL[None]],
    "nested lists": [[CAUSAL.tolist()]],
    "tuple of tensors with a batch axis": (torch.tensor(CAUSAL)[None, None].requires_grad_(),),
    "bfloat16 tensor": torch.tensor(one([[1, 0, 0], [0.5, 0.5, 0], [0.25, 0.25, 0.5]])).bfloat16(),
    "cache of TransformerLens": {
        "blocks.0.attn.hook_pattern": torch.tensor(CAUSAL)[None, None],
        "blocks.0.attn.hook_q": torch.zeros(1, 3, 1, 4),
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read(form: str) -> None:
    record = bartviz.from_attentions(FORMS[form], ABC)
    rounded = np.array([[1, 0, 0], [0.5, 0.5, 0], [0.25, 0.25, 0.5]])
    expected = rounded if "bfloat16" in form else CAUSAL
    np.testing.assert_allclose(record.attention("decoder").head(0, 0), expected, rtol=1e-6)
    assert record.sound


def test_layers_of_a_cache_are_in_the_order_of_their_numbers() -> None:
    cached = {f"blocks.{layer}.attn.hook_pattern": one(CAUSAL if layer == 10 else np.eye(3)) for layer in range(11)}
    record = bartviz.from_attentions({key: cached[key] for key in sorted(cached)}, ABC)
    np.testing.assert_allclose(record.attention("decoder").head(10, 0), CAUSAL, rtol=1e-6)


REFUSED: Mapping[str, tuple[Any, str]] = {
    "a row that sums to 0.9": (partial(whole, encoder=one(EVEN * 0.9)), "sums to 0.900"),
    "NaN": (partial(whole, encoder=one(EVEN * np.nan)), "not finite"),
    "a masked row of NaN": (
        partial(whole, encoder=one([[1, 0, 0], [np.nan] * 3, [0, 1, 0]])),
        "Row 1 of encoder L0H0 attends to nothing",
    ),
    "a masked row of 0": (
        partial(whole, cross=one([[0.5, 0.25, 0.25], [0, 0, 0]])),
        "Row 1 of cross L0H0 attends to nothing",
    ),
    "infinity": (partial(whole, encoder=one([[1, 0, 0], [np.inf, 0, 0], [0, 1, 0]])), "first in row 1 of L0H0"),
    "a tensor without numbers": (partial(whole, encoder=torch.empty(1, 1, 3, 3, device="meta")), "in memory"),
    "a name that no file holds": (partial(whole, name="\ud800"), "cannot be written"),
    "scores": (partial(whole, encoder=one([[2, -1, 0]] * 3)), "negative"),
    "another number of tokens": (partial(whole, encoder_tokens=["a", "b"]), "2 tokens of the encoder"),
    "no tokens": (partial(whole, encoder_tokens=None), "give encoder_tokens"),
    "one string": (partial(whole, encoder_tokens="abc"), "list of strings"),
    "unequal heads": (
        partial(bartviz.from_attentions, [CAUSAL[None], np.stack([CAUSAL] * 2)], ABC),
        "Layer 1 of the given attention has 2 heads, layer 0 has 1",
    ),
    "two texts": (partial(whole, encoder=np.stack([one(EVEN)] * 2, axis=1)), "Select a text on the batch axis"),
    "no weights": (partial(whole, encoder=(None, None)), 'attn_implementation="eager"'),
    "steps without weights": (partial(whole, decoder=((), ())), 'attn_implementation="eager"'),
    "Only heads of cross-attention": (partial(bartviz.from_attentions, cross=one(EVEN)), "all three; given: cross"),
    "nothing": (bartviz.from_attentions, "given: none"),
    "twice": (partial(whole, encoder_attention=one(EVEN)), "given twice"),
    "a decoder that looks ahead": (partial(whole, decoder=one(np.full((2, 2), 0.5))), "encoder="),
    "cross-attention of another source": (partial(whole, cross=one([[0.5, 0.5], [1, 0]])), "has 2 rows and 2 columns"),
    "words": (partial(whole, encoder=[["many words"]]), "must be numbers"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_attention_is_refused_with_a_reason(case: str) -> None:
    make, reason = REFUSED[case]
    with pytest.raises(RecordError, match=reason):
        make()


def test_a_column_that_nothing_attends_to_is_padding() -> None:
    padded = one([[0.5, 0.5, 0], [0.25, 0.75, 0], [0.5, 0.5, 0]])
    record = whole(encoder=padded, cross=one([[0.5, 0.5, 0], [0, 1, 0]]))
    assert record.encoder is not None
    assert record.encoder.mask.any(axis=0).tolist() == [True, True, False]
    assert record.encoder.key.special.tolist() == [False, False, True]
    assert record.sound
    with pytest.raises(RecordError, match="padding"):
        whole(encoder=padded)


def test_what_needs_queries_and_keys_says_so() -> None:
    attention = whole().attention("cross")
    with pytest.raises(WeightsOnlyError, match="attention weights only"):
        attention.scores(0, 0)
    for name in ("queries", "keys"):
        with pytest.raises(WeightsOnlyError, match="attention weights only"):
            getattr(attention, name)


def test_changed_weights_fail_a_check() -> None:
    record = whole()
    assert record.encoder is not None
    weights = np.array(record.encoder.weights)
    weights[0, 0, 1] = [0.5, 0.2, 0.2]
    attention = Attention.of_weights("encoder", weights, record.encoder.mask, record.encoder.query, record.encoder.key)
    changed = Record(record.model, record.source_text, record.target_text, attention, record.decoder, record.cross)
    failed = [check for check in changed.check() if check.failed]
    assert [(check.name, check.kind) for check in failed] == [("sums of the rows", "encoder")]
    assert failed[0].value == pytest.approx(0.1)


def test_a_captured_record_and_its_weights_give_the_same_numbers() -> None:
    captured = open_record(EMBEDDED / "records" / "start.safetensors")
    assert captured.cross is not None
    assert captured.output is not None
    weights = captured.to_numpy()
    record = bartviz.from_attentions(
        encoder=weights["encoder"],
        decoder=weights["decoder"],
        cross=weights["cross"],
        encoder_tokens=captured.cross.key.pieces,
        decoder_tokens=[*captured.cross.query.pieces, captured.output.pieces[-1]],
    )
    for kind in captured.kinds:
        own, other = record.attention(kind), captured.attention(kind)
        for layer, head in np.ndindex(other.shape[:2]):
            np.testing.assert_array_equal(own.head(layer, head), other.head(layer, head))
        measured, expected = of_record(record, kind).values, of_record(captured, kind).values
        assert measured.keys() == expected.keys()
        assert np.isnan(measured["share"]).all()  # of the lengths that heads add: it needs values
        for name in expected.keys() - {"share"}:
            np.testing.assert_allclose(measured[name], expected[name], rtol=1e-5, atol=1e-6, err_msg=name)
    heads = [Head("cross", 1, 2)]
    np.testing.assert_array_equal(table(record, heads).weights, table(captured, heads).weights)


@cache
def bart() -> Any:
    torch.manual_seed(0)
    sizes = dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim"), 16)
    config = BartConfig(
        vocab_size=30,
        d_model=16,
        encoder_layers=2,
        decoder_layers=3,
        encoder_attention_heads=2,
        decoder_attention_heads=4,
        max_position_embeddings=40,
        init_std=2.0,
        forced_eos_token_id=None,
        **sizes,
    )
    return BartForConditionalGeneration._from_config(config, attn_implementation="eager").eval()


IDS = torch.tensor([[0, 5, 6, 7, 8, 2]])
GENERATE = {
    "max_new_tokens": 5,
    "min_new_tokens": 5,
    "do_sample": False,
    "output_attentions": True,
    "return_dict_in_generate": True,
}


def strings(ids: torch.Tensor) -> list[str]:
    return [f"w{number}" for number in ids[0].tolist()]


def source_of(name: str) -> Record:
    """A record from one of the sources that users have."""
    if name == "named":
        return whole()
    if name == "forward":
        output = bart()(IDS, decoder_input_ids=IDS[:, :4], output_attentions=True)
        return bartviz.from_attentions(output, encoder_tokens=strings(IDS), decoder_tokens=strings(IDS[:, :4]))
    if name == "generate":
        output = bart().generate(IDS, **GENERATE)
        return bartviz.from_attentions(
            output, encoder_tokens=strings(IDS), decoder_tokens=strings(output.sequences), name="my BART"
        )
    if name == "bertviz":
        output = bart()(IDS, decoder_input_ids=IDS[:, :4], output_attentions=True)
        return bartviz.from_attentions(
            encoder_attention=output.encoder_attentions,
            decoder_attention=output.decoder_attentions,
            cross_attention=output.cross_attentions,
            encoder_tokens=strings(IDS),
            decoder_tokens=strings(IDS[:, :4]),
        )
    if name == "inseq":
        return bartviz.from_attentions(SimpleNamespace(sequence_attributions=[of_inseq()]))
    return bartviz.from_attentions(FORMS["cache of TransformerLens"], ABC)


def of_inseq(**changed: Any) -> Any:
    """What inseq 0.6 returns for a text: (keys, generated tokens, layers, heads), NaN for what a row cannot see."""
    target = torch.tensor([[2, 0, 9, 4]])
    output = bart()(IDS, decoder_input_ids=target[:, :-1], output_attentions=True)
    cross, own = (
        torch.stack(layers, -1)[0].permute(2, 1, 3, 0).detach()  # (K, T, L, H)
        for layers in (output.cross_attentions, output.decoder_attentions)
    )
    keys, steps = torch.arange(4)[:, None], torch.arange(3)
    own = torch.cat([own, own[:1] * 0]).masked_fill((keys > steps)[..., None, None], torch.nan)
    tokens = ([SimpleNamespace(token=one) for one in strings(ids)] for ids in (IDS, target))
    source, target_tokens = tokens
    values = {"source": source, "target": target_tokens, "attr_pos_start": 1, "attr_pos_end": 4}
    return SimpleNamespace(**values | {"source_attributions": cross, "target_attributions": own} | changed)


SOURCES = ("inseq", "named", "forward", "generate", "bertviz", "cache")


@pytest.mark.parametrize("name", SOURCES)
def test_a_record_is_the_same_after_a_round_trip(name: str, tmp_path: Path) -> None:
    record = source_of(name)
    record.save(tmp_path / "given.safetensors")
    again = bartviz.open(tmp_path / "given.safetensors")
    assert again == record
    assert again.sound
    for kind in record.kinds:
        np.testing.assert_array_equal(again.attention(kind).weights, record.attention(kind).weights)
    record.save(tmp_path / "given.html")  # the explorer
    assert (tmp_path / "given.html").stat().st_size > 10_000


@pytest.mark.parametrize("cache", [True, False])
def test_the_steps_of_generate_are_the_rows_of_one_pass(cache: bool) -> None:
    output = bart().generate(IDS, use_cache=cache, **GENERATE)
    record = bartviz.from_attentions(output, encoder_tokens=strings(IDS), decoder_tokens=strings(output.sequences))
    again = bart()(IDS, decoder_input_ids=output.sequences[:, :-1], output_attentions=True)
    for kind, weights in record.to_numpy().items():
        expected = np.stack([layer[0].detach().numpy() for layer in again[f"{kind}_attentions"]])
        np.testing.assert_allclose(weights, expected, atol=5e-5)
    assert record.rows("cross").labels == tuple(strings(output.sequences[:, 1:]))


def test_an_output_of_inseq_has_its_tokens_and_no_encoder() -> None:
    record = bartviz.from_attentions(of_inseq())
    expected = bart()(IDS, decoder_input_ids=torch.tensor([[2, 0, 9]]), output_attentions=True)
    assert record.kinds == ("decoder", "cross")
    for kind, weights in record.to_numpy().items():
        eager = np.stack([layer[0].detach().numpy() for layer in expected[f"{kind}_attentions"]])
        np.testing.assert_array_equal(weights, eager)
    assert (record.source.labels, record.rows("cross").labels) == (tuple(strings(IDS)), ("w0", "w9", "w4"))
    assert (record.source_text, record.target_text) == ("w0 w5 w6 w7 w8 w2", "w2 w0 w9 w4")
    assert record.sound


def test_a_decoder_alone_of_inseq_is_whole_from_its_first_token_on() -> None:
    alone = of_inseq(source_attributions=None, source=of_inseq().target)
    record = bartviz.from_attentions(alone)
    assert record.kinds == ("decoder",)
    assert record.source.labels == ("w2", "w0", "w9")
    with pytest.raises(RecordError, match=r"begins at token 2.*attr_pos_start=1"):
        bartviz.from_attentions(of_inseq(source_attributions=None, attr_pos_start=2))


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"target_attributions": None}, "attribute_target=True"),
        ({"source_attributions": torch.ones(6, 3)}, "before any aggregation"),
        ({"source": []}, "and 6 columns, but the decoder has 3 tokens and the encoder 0"),
    ],
)
def test_what_inseq_left_out_is_named(changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(RecordError, match=reason):
        bartviz.from_attentions(of_inseq(**changed))
    with pytest.raises(RecordError, match="for 2 texts"):
        bartviz.from_attentions(SimpleNamespace(sequence_attributions=[of_inseq(), of_inseq()]))


def test_a_prompt_and_its_continuation_are_one_decoder() -> None:
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=30, n_embd=16, n_layer=2, n_head=2, n_positions=40, eos_token_id=2)
    network: Any = GPT2LMHeadModel._from_config(config, attn_implementation="eager").eval()
    output = network.generate(IDS, pad_token_id=1, **GENERATE)
    record = bartviz.from_attentions(output, strings(output.sequences))
    again = network(output.sequences[:, :-1], output_attentions=True)
    expected = np.stack([layer[0].detach().numpy() for layer in again.attentions])
    np.testing.assert_allclose(record.to_numpy()["decoder"], expected, atol=1e-6)
    assert record.kinds == ("decoder",)


def test_an_encoder_is_known_by_what_it_attends_to() -> None:
    torch.manual_seed(0)
    config = BertConfig(vocab_size=30, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16)
    network: Any = BertModel._from_config(config, attn_implementation="eager").eval()
    record = bartviz.from_attentions(network(IDS, output_attentions=True), strings(IDS))
    assert record.kinds == ("encoder",)
    assert record.encoder is not None
    assert record.encoder.shape == (2, 2, 6, 6)


def small(config: Any, network: Any, **sizes: Any) -> Any:
    torch.manual_seed(0)
    common = {"vocab_size": 30, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": None}
    return network._from_config(config(**common | sizes), attn_implementation="eager").eval()


def gpt2(**sizes: Any) -> Any:
    return small(GPT2Config, GPT2LMHeadModel, n_embd=16, n_layer=2, n_head=2, n_positions=40, **sizes)


def forced(network: Any, ids: torch.Tensor) -> np.ndarray[Any, Any]:
    """(L, H, T, T): eager attention in one pass of a decoder over its own output but the last token."""
    output = network(ids[:, :-1], output_attentions=True)
    return np.stack([layer[0].detach().numpy() for layer in output.attentions])


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("beams", [2, 4])
def test_the_best_of_the_beams_is_followed_from_place_to_place(beams: int, cached: bool) -> None:
    """Row 0 of each step is another text wherever the beams changed places, so this differs from eager's one pass."""
    output = bart().generate(IDS, num_beams=beams, use_cache=cached, **GENERATE)
    record = bartviz.from_attentions(output, encoder_tokens=strings(IDS), decoder_tokens=strings(output.sequences))
    again = bart()(IDS, decoder_input_ids=output.sequences[:, :-1], output_attentions=True)
    for kind, weights in record.to_numpy().items():
        expected = np.stack([layer[0].detach().numpy() for layer in again[f"{kind}_attentions"]])
        np.testing.assert_allclose(weights, expected, atol=5e-5)
    network = gpt2(initializer_range=1.0)
    output = network.generate(IDS, num_beams=beams, use_cache=cached, **GENERATE)
    assert len(set(output.beam_indices[0].tolist())) > 1
    alone = bartviz.from_attentions(output, strings(output.sequences))
    np.testing.assert_allclose(alone.to_numpy()["decoder"], forced(network, output.sequences), atol=5e-5)


def test_beams_that_cannot_be_followed_are_refused() -> None:
    output = bart().generate(IDS, num_beams=2, **GENERATE)
    given: dict[str, Any] = {"encoder_tokens": strings(IDS), "decoder_tokens": strings(output.sequences)}
    stacks: dict[str, Any] = {kind: output[f"{kind}_attentions"] for kind in ("encoder", "decoder", "cross")}
    with pytest.raises(RecordError, match=r"for 2 texts or beams.*pass the whole output"):
        bartviz.from_attentions(**stacks, **given)
    two = bart().generate(IDS, num_beams=2, num_return_sequences=2, **GENERATE)
    with pytest.raises(RecordError, match=r"beams of 2 texts.*num_return_sequences=1"):
        bartviz.from_attentions(two, **given)


def test_what_the_fast_kernel_does_not_return_is_named() -> None:
    sizes = {"vocab_size": 30, "n_embd": 16, "n_layer": 2, "n_head": 2, "eos_token_id": None, "pad_token_id": 1}
    fast: Any = GPT2LMHeadModel(GPT2Config(**sizes)).eval()
    bare = bart()(IDS, decoder_input_ids=IDS)
    written = fast.generate(IDS, **GENERATE)
    for output in (fast(IDS, output_attentions=True), bare, written, written.attentions, (), (None,)):
        with pytest.raises(RecordError, match='attn_implementation="eager"'):
            bartviz.from_attentions(output, strings(IDS))


@pytest.mark.parametrize("seed", range(4))
def test_dropout_is_named(seed: int) -> None:
    network = small(
        BertConfig,
        BertModel,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        attention_probs_dropout_prob=0.3,
    )
    torch.manual_seed(seed)
    with pytest.raises(RecordError, match=r"dropout: call network\.eval"):
        bartviz.from_attentions(network.train()(IDS, output_attentions=True), strings(IDS))
    with pytest.raises(RecordError, match=r"dropout: call network\.eval"):  # one head
        bartviz.from_attentions(decoder=one([[0, 0, 0], [0, 2, 0], [0.4, 0.6, 0]])[:, :, 1:, :], tokens=ABC)


def test_a_share_of_a_sink_is_named() -> None:
    with pytest.raises(RecordError, match="attention sink"):
        bartviz.from_attentions(decoder=one(CAUSAL * [[0.3], [0.5], [0.9]]), tokens=ABC)


@pytest.mark.parametrize("padding", [1, 2, 3])
def test_padding_on_the_left_of_a_decoder_is_named(padding: int) -> None:
    """Rows of padding come out even from a softmax over masked scores; a stack without a name is a decoder's still."""
    network = gpt2()
    ids = torch.cat([torch.ones(1, padding, dtype=torch.long), IDS], dim=1)
    mask = (torch.arange(ids.shape[1]) >= padding).long()[None]
    output = network(ids, attention_mask=mask, output_attentions=True)
    for given in ({"attention": output}, {"decoder": output.attentions}):
        with pytest.raises(RecordError, match=f"first {padding} rows of the decoder.*padding on the left"):
            bartviz.from_attentions(**given, tokens=strings(ids))
    cut = [layer[:, :, padding:, padding:] for layer in output.attentions]
    assert bartviz.from_attentions(cut, strings(IDS)).kinds == ("decoder",)


@pytest.mark.parametrize("left", [True, False])
def test_padding_of_an_encoder_is_no_text_on_either_side(left: bool) -> None:
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    network = small(BertConfig, BertModel, **sizes)
    pad = torch.ones(1, 2, dtype=torch.long)
    ids = torch.cat([pad, IDS] if left else [IDS, pad], dim=1)
    output = network(ids, attention_mask=(ids != 1).long(), output_attentions=True)
    record = bartviz.from_attentions(output, strings(ids))
    assert record.kinds == ("encoder",)
    assert record.source.special.tolist() == (ids[0] == 1).tolist()


def test_a_row_that_a_mask_leaves_empty_is_named() -> None:
    torch.manual_seed(0)
    layer = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    states, padding = torch.randn(1, 3, 8), torch.tensor([[False, False, True]])
    causal = torch.tensor([[True, True, True], [False, False, True], [False, False, False]])  # row 0 sees nothing
    _, weights = layer(states, states, states, key_padding_mask=padding, attn_mask=causal, average_attn_weights=False)
    with pytest.raises(RecordError, match="Row 0 of encoder L0H0 attends to nothing"):
        bartviz.from_attentions(encoder=[weights], tokens=ABC)


def test_a_call_with_a_cache_is_named() -> None:
    network = gpt2()
    past = network(IDS[:, :4], use_cache=True).past_key_values
    output = network(IDS[:, 4:], past_key_values=past, output_attentions=True)
    with pytest.raises(RecordError, match=r"decoder attention has 2 rows and 6 columns.*past_key_values"):
        bartviz.from_attentions(output, strings(IDS[:, 4:]))


@pytest.mark.parametrize("options", [{}, {"cache_implementation": "static"}, {"use_cache": False}])
def test_steps_of_a_sliding_window_and_of_a_cache_of_fixed_size_are_rows_of_one_pass(options: dict[str, Any]) -> None:
    """A window's cache holds the last keys alone, one of fixed size has columns for keys that are still to come."""
    network = small(
        MistralConfig,
        MistralForCausalLM,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        sliding_window=3,
        initializer_range=0.5,
    )
    output = network.generate(IDS, **GENERATE | options)
    record = bartviz.from_attentions(output, strings(output.sequences))
    np.testing.assert_allclose(record.to_numpy()["decoder"], forced(network, output.sequences), atol=1e-5)


def test_numbers_of_which_a_part_would_be_dropped_are_refused() -> None:
    """The imaginary part of a complex number, and what a masked array hides."""
    even = np.full((1, 1, 3, 3), 1 / 3)
    for given in (even.astype(np.complex64), torch.tensor(even).to(torch.complex64), [even[0].astype(np.complex128)]):
        with pytest.raises(RecordError, match="must be numbers in memory"):
            bartviz.from_attentions(encoder=given, tokens=ABC)
    hidden = np.zeros(even.shape, bool)
    assert bartviz.from_attentions(encoder=np.ma.MaskedArray(even, mask=hidden), tokens=ABC).sound
    hidden[..., 1, 2] = True
    with pytest.raises(RecordError, match=r"not finite.* row 1 of L0H0"):
        bartviz.from_attentions(encoder=np.ma.MaskedArray(even, mask=hidden), tokens=ABC)
