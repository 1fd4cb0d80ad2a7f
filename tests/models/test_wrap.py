"""bartviz.wrap: records of a network that is already loaded, which is left as it was."""

from __future__ import annotations

import copy
import gc
import hashlib
import threading
import weakref
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from torch.nn.utils import prune
from transformers import PreTrainedModel

import bartviz
from bartviz.errors import BartvizError, BudgetError, Cancelled, ModelError, SettingError, TextError
from bartviz.models import build
from bartviz.models.model import Model
from bartviz.record.record import Record
from tests.support import loaded, networks

HOOKS = "The network's hooks are not called."
TEXT = "The cat is sleeping on the sofa, but the children played outside."
OTHER = "How many people live in this house?"
TARGET = "Die Katze schläft auf dem Sofa."
Words = Any  # a tokenizer of transformers, which has no types


@cache
def folder(family: str) -> Path:
    """A checkpoint of the family, with peaked attention and moved gains."""
    spread = loaded.SPREAD.get(family, 0.3)
    return networks.save(family, loaded.folder() / f"wrapped-{family}", seed=5, spread=spread, trained=True)


@cache
def opened(family: str) -> Model:
    return bartviz.load(folder(family))


def network_of(family: str, implementation: str | None = None, cls: str | None = None) -> tuple[Any, Words]:
    """The checkpoint as transformers opens it, by default with the kernel that it chooses; in training mode, with
    gradients and a hook, as one may find it."""
    recipe = networks.FAMILIES[family]
    kind = getattr(transformers, cls or recipe.network or recipe.family.classes[0])
    network = kind.from_pretrained(folder(family), attn_implementation=implementation)
    return network.train(), networks.tokenizer(family)


def record_of(model: Any, text: str = TEXT, **options: Any) -> Record:
    """One pass; with a given target where the family has cross-attention."""
    config = model.config
    return bartviz.capture(model, text, target=TARGET if config.is_encoder_decoder else None, **options)


def differs(made: Record, expected: Record) -> bool:
    """Whether a weight is another one; libraries of matrix products round by how many threads they are given."""
    maps = [(made.attention(kind), expected.attention(kind)) for kind in made.kinds]
    return any(
        one.shape != other.shape or np.abs(one.layer(at) - other.layer(at)).max() > 1e-4
        for one, other in maps
        for at in range(one.shape[0])
    )


IDS = torch.tensor([[5, 17, 30, 6, 22, 9, 41, 4]])


def logits(network: PreTrainedModel) -> torch.Tensor:
    """What the network answers next, with its dropout if it is in training mode."""
    inputs = {"input_ids": IDS}
    if network.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = IDS[:, :6]
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(11)
        made: torch.Tensor = network(**inputs)[0]
    return made


def state(network: PreTrainedModel, words: Words) -> dict[str, Any]:
    """All that could be changed of a network, its tokenizer and the source of random numbers."""
    tensors = {name: tensor.detach().view(torch.uint8).numpy() for name, tensor in network.state_dict().items()}
    attributes = {
        (name, key): (id(value), list(value) if isinstance(value, dict | list) else None)
        for name, module in network.named_modules()
        for key, value in vars(module).items()
    }
    return {
        "weights": {name: hashlib.sha256(tensor.tobytes()).hexdigest() for name, tensor in tensors.items()},
        "parameters": [
            (name, id(part), part.requires_grad, part.data_ptr()) for name, part in network.named_parameters()
        ],
        "attributes": attributes,
        "configuration": copy.deepcopy(network.config.to_dict()),
        "generation": network.generation_config.to_dict() if network.can_generate() else None,
        "implementation": [module.config._attn_implementation for module in _configured(network)],
        "tokenizer": words.backend_tokenizer.to_str() if words.is_fast else vars(words).keys(),
        "random": torch.get_rng_state().tolist(),
        "logits": logits(network).tolist(),
    }


def _configured(network: PreTrainedModel) -> list[Any]:
    return [module for module in network.modules() if hasattr(module, "config")]


@pytest.mark.slow
@pytest.mark.some
@pytest.mark.parametrize("family", networks.FAMILIES)
def test_the_network_is_left_as_it_was(family: str) -> None:
    network, words = network_of(family, "eager")
    calls: list[int] = []
    network.base_model.register_forward_hook(lambda *_: calls.append(1))
    if words.is_fast:
        words.backend_tokenizer.enable_truncation(5)
    before = state(network, words)
    calls.clear()
    model = bartviz.wrap(network, words)
    record = record_of(model)
    with pytest.raises(SettingError):
        record_of(model, ablate=["encoder L9H9"])
    with pytest.raises(TextError):
        record_of(model, "")
    with pytest.raises(Cancelled):
        record_of(model, cancelled=lambda: True)
    assert not calls
    assert record.provenance.notices == model.notices
    assert HOOKS in model.notices
    assert state(network, words) == before
    assert len(record.source) > 5
    assert record.sound


@pytest.mark.slow
@pytest.mark.some
@pytest.mark.parametrize("family", networks.FAMILIES)
def test_records_are_those_of_the_checkpoint_opened_by_name(family: str) -> None:
    network, words = network_of(family)
    made, expected = record_of(network, tokenizer=words), record_of(opened(family))
    assert made.kinds == expected.kinds
    for kind in made.kinds:
        assert made.attention(kind) == expected.attention(kind)
    assert made.output == expected.output
    assert made.steps == expected.steps
    assert made.model.trained
    assert (made.model.source, made.model.architecture) == ("memory", expected.model.architecture)
    assert bool(bartviz.open(_saved(made)).sound)


def _saved(record: Record) -> Path:
    path = loaded.folder() / "wrapped.safetensors"
    record.save(path)
    return path


@pytest.mark.slow
@pytest.mark.some
@pytest.mark.parametrize("family", networks.FAMILIES)
def test_heads_are_those_of_the_callers_own_eager_attention(family: str) -> None:
    network, words = network_of(family, "eager")
    record = record_of(network, tokenizer=words)
    inputs = {"input_ids": torch.tensor([record.source.ids.tolist()])}
    if record.cross is not None:
        inputs["decoder_input_ids"] = torch.tensor([record.cross.query.ids.tolist()])
    with torch.no_grad():
        out = network.eval()(**inputs, output_attentions=True)
    names = {"encoder": "encoder_attentions", "decoder": "decoder_attentions", "cross": "cross_attentions"}
    for kind in record.kinds:
        layers = out[names[kind]] if record.cross is not None else out.attentions
        assert record.attention(kind).shape[0] == len(layers)
        for layer, weights in enumerate(layers):
            torch.testing.assert_close(torch.tensor(record.attention(kind).layer(layer)), weights[0], atol=2e-5, rtol=0)


@pytest.mark.parametrize("family", ["bert", "bart"])
def test_float32_weights_are_shared_and_not_copied(family: str) -> None:
    network, words = network_of(family)
    own = {part.data_ptr() for part in network.base_model.parameters()}
    made = {part.data_ptr() for part in bartviz.wrap(network, words).network.base_model.parameters()}
    assert made == own


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_other_number_formats_are_computed_in_float32(dtype: torch.dtype, tmp_path: Path) -> None:
    network, words = network_of("bart")
    network = network.to(dtype)
    before = state(network, words) if dtype != torch.float16 else None
    model = bartviz.wrap(network, words)
    made = record_of(model)
    assert {part.dtype for part in network.parameters()} == {dtype}
    assert {part.dtype for part in model.network.parameters()} == {torch.float32}
    assert any("computed in float32" in notice for notice in model.notices)
    assert before is None or state(network, words) == before
    network.save_pretrained(tmp_path)
    words.save_pretrained(tmp_path)
    expected = record_of(bartviz.load(tmp_path))
    assert [made.attention(kind) for kind in made.kinds] == [expected.attention(kind) for kind in made.kinds]


TASKS = {
    "BertModel": "bert",
    "BertForSequenceClassification": "bert",
    "BertForTokenClassification": "bert",
    "RobertaForSequenceClassification": "roberta",
    "AlbertForQuestionAnswering": "albert",
    "DistilBertForSequenceClassification": "distilbert",
    "ElectraForTokenClassification": "electra",
    "BartModel": "bart",
    "BartForSequenceClassification": "bart",
    "MBartForQuestionAnswering": "mbart",
    "MarianModel": "marian",
    "T5Model": "t5",
    "T5ForSequenceClassification": "t5",
    "GPT2Model": "gpt2",
    "GPT2ForSequenceClassification": "gpt2",
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", TASKS)
def test_the_body_of_a_task_class_gives_the_same_attention(cls: str) -> None:
    family = TASKS[cls]
    network, words = network_of(family, cls=cls)
    expected = record_of(opened(family))
    random = torch.get_rng_state()
    model = bartviz.wrap(network, words)
    made = record_of(model)
    for kind in made.kinds:
        assert made.attention(kind) == expected.attention(kind)
    assert torch.equal(torch.get_rng_state(), random)
    assert network.training
    if made.decoder is not None:
        assert any(f"{cls} has no output layer" in notice for notice in model.notices)
        assert made.steps == expected.steps


def test_a_network_of_ones_own_around_a_known_body(tmp_path: Path) -> None:
    body, words = network_of("bert", cls="BertModel")

    class Mine(transformers.BertPreTrainedModel):  # type: ignore[misc]
        def __init__(self, config: Any) -> None:
            super().__init__(config)
            self.bert = body
            self.score = torch.nn.Linear(32, 3)

    assert record_of(Mine(body.config), tokenizer=words).encoder == record_of(opened("bert")).encoder


@pytest.mark.slow
def test_two_threads_with_different_texts_and_a_third_that_uses_the_network_plainly() -> None:
    network, words = network_of("bart", "eager")
    network.eval()
    expected = {text: record_of(network, text, tokenizer=words) for text in (TEXT, OTHER)}
    whole: Any = {"input_ids": IDS, "decoder_input_ids": IDS[:, :6], "output_attentions": True}
    with torch.no_grad():
        plain = network(**whole)[0]
    before = state(network, words)
    assert not bartviz.wrap(network, words).notices  # transformers' own hooks are none
    assert differs(expected[TEXT], expected[OTHER])
    start, finished = threading.Barrier(3), threading.Event()
    wrong: list[str] = []

    def capture(text: str) -> None:
        start.wait()
        made = (record_of(network, text, tokenizer=words) for _ in range(4))
        wrong.extend(text for each in made if differs(each, expected[text]))

    def use() -> None:
        start.wait()
        while not finished.is_set():
            with torch.no_grad():
                out = network(**whole)
            if (
                not torch.allclose(out[0], plain, atol=1e-4)
                or len(out.cross_attentions) != network.config.decoder_layers
            ):
                wrong.append("plain")

    threads = [threading.Thread(target=capture, args=(text,)) for text in expected]
    reader = threading.Thread(target=use)
    for thread in (reader, *threads):
        thread.start()
    for thread in threads:
        thread.join()
    finished.set()
    reader.join()
    assert not wrong
    assert state(network, words) == before


def test_what_is_to_be_known_of_a_network_is_in_its_records() -> None:
    """Also where it is wrapped for one call; a forward that its owner replaced is not called, which is said, too."""
    network, words = networks.build("gpt2", spread=0.3)
    plain = bartviz.capture(network, TEXT, tokenizer=words)
    assert plain.provenance.notices == ()
    network.transformer.h[0].register_forward_hook(lambda module, given, output: None)
    assert bartviz.capture(network, TEXT, tokenizer=words).provenance.notices == (
        "The network's hooks are not called.",
    )
    network.forward = lambda *given, **named: None
    said = bartviz.decode(network, TEXT, tokenizer=words, max_new_tokens=2).provenance.notices
    assert said[0] == "The network's own forward was replaced: it is not called."
    assert len(said) == 2


def test_ids_beyond_the_vocabulary_change_no_output() -> None:
    """Whoever trains GPT-2 on a vocabulary of their own has its configuration's end token, which no text can reach."""
    network, words = networks.build("gpt2", spread=0.3)
    network.config.eos_token_id = network.generation_config.eos_token_id = 50_256
    network.config.bos_token_id = 50_256
    record = bartviz.decode(network, TEXT, tokenizer=words, max_new_tokens=8)
    expected = network.generate(**words(TEXT, return_tensors="pt"), max_new_tokens=8, do_sample=False, pad_token_id=0)
    assert record.output is not None
    assert record.output.ids.tolist()[-8:] == expected[0, -8:].tolist()
    assert "eos_token_id" in "".join(record.provenance.notices)


@pytest.mark.parametrize("token", [420, -1])
def test_a_decoder_without_a_first_token_is_refused_where_it_is_run(token: int) -> None:
    network, words = networks.build("bart", spread=0.3)
    network.config.decoder_start_token_id = network.generation_config.decoder_start_token_id = token
    model = bartviz.wrap(network, words)
    for run in (
        lambda: bartviz.decode(model, TEXT),
        lambda: bartviz.capture(model, TEXT, target="Ja."),
        lambda: bartviz.decode_batch(model, [TEXT]),
    ):
        with pytest.raises(ModelError, match="decoder_start_token_id is not in its vocabulary"):
            run()


def test_one_line_decodes_and_captures() -> None:
    network, words = network_of("bart")
    record = bartviz.decode(network, TEXT, tokenizer=words, max_new_tokens=5, beams=2)
    expected = bartviz.decode(opened("bart"), TEXT, max_new_tokens=5, beams=2)
    assert record.target_text == expected.target_text
    assert record.cross == expected.cross
    greedy = bartviz.capture(network, TEXT, tokenizer=words, max_new_tokens=5)
    assert greedy.cross == bartviz.capture(opened("bart"), TEXT, max_new_tokens=5).cross


@pytest.mark.slow
def test_a_wrapped_network_takes_part_in_everything_that_a_loaded_one_does() -> None:
    network, words = network_of("bart")
    model, opened_model = bartviz.wrap(network, words), opened("bart")
    record, expected = record_of(model), record_of(opened_model)
    assert all(check.passed for check in bartviz.verify(model, record))
    assert bartviz.ablate(model, record, ["cross L1H0"]).effect == pytest.approx(
        bartviz.ablate(opened_model, expected, ["cross L1H0"]).effect
    )
    assert bartviz.parameters(model)["count"].sum() == bartviz.parameters(opened_model)["count"].sum()


def test_the_fingerprint_follows_weights_tokenizer_and_settings() -> None:
    network, words = network_of("bart")
    first = bartviz.wrap(network, words)
    assert bartviz.wrap(network, words).info.fingerprint == first.info.fingerprint
    network.generation_config.num_beams = 3
    settings = bartviz.wrap(network, words)
    more = copy.deepcopy(words)
    more.add_tokens(["Auto"])
    with torch.no_grad():
        network.model.shared.weight[7, 7] += 1
    others = [settings.info.fingerprint, bartviz.wrap(network, words).info.fingerprint]
    network, _ = network_of("bart")
    network.resize_token_embeddings(len(more))
    others.append(bartviz.wrap(network, more).info.fingerprint)
    assert len({first.info.fingerprint, *others}) == 4


def test_a_network_that_was_trained_on_is_refused_until_it_is_wrapped_again() -> None:
    network, words = network_of("bert")
    model = bartviz.wrap(network, words)
    assert not model.stale()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    network(input_ids=torch.tensor([[2, 7, 3]]), labels=torch.tensor([[2, 7, 3]])).loss.backward()
    assert not model.stale()
    optimizer.step()
    assert model.stale()
    with pytest.raises(ModelError, match="changed since it was wrapped"):
        bartviz.capture(model, TEXT)
    assert record_of(bartviz.wrap(network, words)).encoder != record_of(opened("bert")).encoder


def test_a_wrapped_network_outlives_the_callers() -> None:
    network, words = network_of("bert")
    model, seen = bartviz.wrap(network, words), weakref.ref(network)
    del network
    gc.collect()
    assert seen() is None
    assert record_of(model).encoder == record_of(opened("bert")).encoder


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("", "BertForMaskedLM"),
        ("bert-base-cased", "bert-base-cased"),
        ("google/bert", "google/bert"),
        ("/home/somebody/models/mine", "mine"),
        ("C:\\models\\mine", "mine"),
    ],
)
def test_a_record_names_the_model_but_no_path(given: str, name: str) -> None:
    network, words = networks.build("bert")
    network.name_or_path = given
    assert bartviz.wrap(network, words).info.name == name
    assert bartviz.wrap(network, words, name="chosen").info.name == "chosen"


# What is refused ------------------------------------------------------------------------------------------------------


def _unknown_family() -> tuple[Any, Any]:
    config = transformers.BloomConfig(vocab_size=99, hidden_size=8, n_layer=1, n_head=2)
    return transformers.BloomModel(config), networks.tokenizer("gpt2")


def _on_meta() -> tuple[Any, Any]:
    network, words = networks.build("bert")
    return network.to("meta"), words


def _other_tokenizer() -> tuple[Any, Any]:
    return networks.build("bert", vocab_size=50)


def _replaced_module() -> tuple[Any, Any]:
    network, words = networks.build("bert")

    class Adapter(torch.nn.Linear):
        pass

    network.bert.encoder.layer[1].attention.self.query = Adapter(32, 32)
    return network, words


def _patched_forward() -> tuple[Any, Any]:
    network, words = networks.build("bart")
    network.model.decoder.layers[0].fc1.forward = lambda x: x
    return network, words


def _other_activation() -> tuple[Any, Any]:
    network, words = networks.build("bert")
    network.bert.encoder.layer[0].intermediate.intermediate_act_fn = torch.nn.ReLU()
    return network, words


def _own_class() -> tuple[Any, Any]:
    class Mine(transformers.BertModel):  # type: ignore[misc]
        pass

    network, words = networks.build("bert")
    return Mine(network.config), words


def _quantized() -> tuple[Any, Any]:
    network, words = networks.build("bert")
    weight = network.bert.encoder.layer[0].output.dense.weight
    network.bert.encoder.layer[0].output.dense.weight = torch.nn.Parameter(weight.to(torch.int8), requires_grad=False)
    return network, words


def _quantized_module() -> tuple[Any, Any]:
    class Linear(torch.nn.Linear):
        pass

    Linear.__module__ = "torch.ao.nn.quantized.dynamic.modules.linear"  # its own is deprecated, and others are alike
    network, words = networks.build("bert")
    network.bert.encoder.layer[0].output.dense = Linear(8, 8)
    return network, words


def _quantized_by_a_package() -> tuple[Any, Any]:
    """Of a package that this one has not heard of: transformers has written its settings down."""
    network, words = networks.build("bert")
    network.bert.encoder.layer[0].output.dense = type("PackedLinear", (torch.nn.Linear,), {})(8, 8)
    network.config.quantization_config = {"quant_method": "packed"}
    return network, words


def _not_finite() -> tuple[Any, Any]:
    network, words = networks.build("bert")
    network.bert.encoder.layer[0].output.dense.bias[3] = float("nan")
    return network, words


class Around(torch.nn.Module):
    """A module of one's own around a network, as a classifier or SentenceTransformer is."""

    def __init__(self) -> None:
        super().__init__()
        part = torch.nn.Module()
        part.bert = networks.build("bert")[0]
        self.inside = torch.nn.ModuleList([torch.nn.Dropout(), part])


def _mixtral() -> tuple[Any, Any]:
    small = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2}
    config = transformers.MixtralConfig(**small, vocab_size=9, intermediate_size=8, num_local_experts=2)
    return transformers.MixtralForCausalLM(config), None


def _two_berts() -> tuple[Any, Any]:
    network, words = networks.build("bert")
    decoder = transformers.BertConfig(**network.config.to_dict() | {"is_decoder": True, "add_cross_attention": True})
    return transformers.EncoderDecoderModel(encoder=network.bert, decoder=transformers.BertLMHeadModel(decoder)), words


def _decoder(family: str, cls: str) -> Callable[[], tuple[Any, Any]]:
    def made() -> tuple[Any, Any]:
        network, words = networks.build(family)
        return getattr(transformers, cls)(network.config), words

    return made


def _cut() -> tuple[Any, Any]:
    network, words = networks.build("bert")
    network.bert.encoder.layer = network.bert.encoder.layer[:2]
    return network, words


def _cut_decoder() -> tuple[Any, Any]:
    network, words = networks.build("bart")
    network.model.decoder.layers = network.model.decoder.layers[:1]
    return network, words


def _pruned() -> tuple[Any, Any]:
    network, words = networks.build("bert")
    cut: Any = prune.l1_unstructured
    cut(network.bert.encoder.layer[0].output.dense, "weight", 0.3)
    return network, words


def _reparametrized() -> tuple[Any, Any]:
    network, words = networks.build("bert")
    torch.nn.utils.parametrizations.weight_norm(network.bert.encoder.layer[0].output.dense)
    return network, words


REFUSED: dict[str, tuple[Callable[[], tuple[Any, Any]], str]] = {
    "a family": (_unknown_family, r"type bloom do not offer.* Supported types: albert, .* or xlm-roberta"),
    "no network": (lambda: (torch.nn.Linear(2, 2), networks.tokenizer("bert")), "expected, such as .*, not a Linear"),
    "no tokenizer": (lambda: (networks.build("bert")[0], None), "needs its tokenizer"),
    "no weights": (_on_meta, "not in memory .*: bert.embeddings.word_embeddings.weight"),
    "another tokenizer": (_other_tokenizer, "knows .* tokens, but the network has only 50"),
    "a replaced module": (_replaced_module, "encoder.layer.1.attention.self.query is not the Linear"),
    "a patched module": (_patched_forward, "decoder.layers.0.fc1 is not the Linear"),
    "another activation": (_other_activation, "intermediate_act_fn is not the GELU"),
    "a class of its own": (_own_class, "Mine is a class of its own"),
    "quantized": (_quantized, "stored as int8: quantized models cannot be read"),
    "quantized by a package": (_quantized_by_a_package, "is quantized: its encoder.layer.0.output.dense is a Pack"),
    "quantized modules": (_quantized_module, "is quantized: its encoder.layer.0.output.dense is a Linear"),
    "numbers that are not finite": (_not_finite, "not finite"),
    "an interface that nobody described": (_mixtral, "type mixtral offer their attention, but are not described"),
    "a module of one's own": (lambda: (Around(), None), r"not a Around\. Pass its part network\.inside\[1\]\.bert\.$"),
    "a pipeline": (lambda: (SimpleNamespace(model=networks.build("bert")[0]), None), r"its part pipeline\.model\.$"),
    "two BERTs": (_two_berts, r"type encoder-decoder are not read as a whole\. .* network\.encoder\.$"),
    "BART's decoder": (_decoder("bart", "BartForCausalLM"), "BartForCausalLM is only the decoder of a BART model"),
    "a stack of BART": (lambda: (networks.build("bart")[0].model.decoder, None), "BartDecoder is only the decoder"),
    "a stack of T5": (lambda: (networks.build("t5")[0].decoder, None), "T5Stack is only the decoder of a T5 model"),
    "layers cut off": (_cut, r"has 2 encoder layers, and .* says 3: set network\.config\.num_hidden_layers = 2\."),
    "layers of a decoder cut off": (_cut_decoder, r"has 1 decoder layers, .* network\.config\.decoder_layers = 1\."),
    "pruned": (_pruned, r"dense\.weight_orig\. Make them permanent first: torch\.nn\.utils\.prune\.remove"),
    "reparametrized": (_reparametrized, r"parametrizations\.weight\.original.*remove_parametrizations"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_wrapped_is_refused_with_a_reason(case: str) -> None:
    made, message = REFUSED[case]
    network, words = made()
    with pytest.raises(ModelError, match=message):
        bartviz.wrap(network, words)


@pytest.mark.parametrize("case", REFUSED)
def test_no_refusal_of_a_network_speaks_of_a_checkpoint(case: str) -> None:
    network, words = REFUSED[case][0]()
    with pytest.raises(ModelError) as caught:
        bartviz.wrap(network, words)
    assert "checkpoint" not in str(caught.value)


def _regional(network: Any) -> Any:
    network.bert.encoder.layer[1] = torch.compile(network.bert.encoder.layer[1])
    return network


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch's own, in torch.compile
@pytest.mark.parametrize(
    "around",
    [
        torch.compile,
        torch.nn.DataParallel,
        torch.optim.swa_utils.AveragedModel,
        lambda network: torch.compile(torch.nn.DataParallel(network)),
        _regional,
    ],
)
def test_what_computes_the_same_around_a_network_is_taken_off(around: Callable[[Any], Any]) -> None:
    network, words = networks.build("bert", spread=0.3)
    expected = bartviz.capture(network, TEXT, tokenizer=words)
    outside = around(network)
    assert bartviz.capture(outside, TEXT, tokenizer=words).encoder == expected.encoder
    assert type(outside) is type(around(networks.build("bert")[0]))


def test_layers_cut_off_are_fine_once_the_configuration_says_so() -> None:
    network, words = _cut()
    network.config.num_hidden_layers = 2
    assert bartviz.capture(network, TEXT, tokenizer=words).model.encoder_layers == 2


@pytest.mark.some("bart", "t5", "marian", "m2m_100")
@pytest.mark.slow
@pytest.mark.parametrize("family", networks.ENCODER_DECODERS)
def test_the_encoder_of_an_encoder_decoder_is_read_by_itself(family: str, tmp_path: Path) -> None:
    """Its weights are those of transformers' eager attention; and so are those of its folder."""
    network, words = networks.build(family, spread=0.3)
    encoder = network.get_encoder()
    record = bartviz.capture(encoder, TEXT, tokenizer=words)
    encoder.set_attn_implementation("eager")
    with torch.inference_mode():
        out = encoder(input_ids=torch.tensor([record.source.ids.tolist()]), output_attentions=True)
    for layer, weights in enumerate(out.attentions):
        np.testing.assert_allclose(record.attention("encoder").layer(layer), weights[0].numpy(), atol=1e-5)
    assert (record.kinds, record.model.kind, record.model.known.kind) == (("encoder",), "encoder", "encoder")
    assert record.model.parameters == sum(part.numel() for part in encoder.parameters())
    assert record.sound
    if type(encoder).__name__.endswith("Stack"):
        cls = getattr(transformers, type(encoder).__name__.replace("Stack", "EncoderModel"))
        stored = network.state_dict()
        encoder = cls(copy.deepcopy(network.config))
        encoder.load_state_dict({name: value for name, value in stored.items() if name.startswith(("enc", "sha"))})
        assert bartviz.capture(encoder.eval(), TEXT, tokenizer=words).encoder == record.encoder
    encoder.save_pretrained(tmp_path / "encoder")
    words.save_pretrained(tmp_path / "encoder")
    model = bartviz.load(tmp_path / "encoder")
    loaded = bartviz.capture(model, TEXT)
    assert loaded.encoder == record.encoder
    assert not [check for check in bartviz.verify(model, loaded) if check.failed]
    assert sum(bartviz.parameters(model)["count"]) == model.info.parameters
    loaded.save(tmp_path / "record.safetensors")
    assert bartviz.open(tmp_path / "record.safetensors").model == loaded.model


@pytest.mark.parametrize(
    ("given", "labels"),
    [
        ({0: 0, 1: 1}, ("0", "1")),
        ({"0": False, "1": True}, ("False", "True")),
        (["no", "yes"], ("no", "yes")),
        ([1.5, None], ("1.5", "LABEL_1")),
        ({"0": "x" * 300, "1": "a\nb"}, ("x" * 99 + "…", "a b")),
        ({"1": "one", "2": "two"}, ("LABEL_0", "one")),
    ],
)
def test_labels_may_have_names_of_any_kind(given: Any, labels: tuple[str, ...]) -> None:
    network, words = networks.build("bert", architecture="BertForSequenceClassification")
    network.config.id2label = given
    prediction = bartviz.capture(network, TEXT, tokenizer=words).prediction
    assert prediction is not None
    assert prediction.labels == labels


def test_a_pipeline_without_wrapping_says_what_to_do() -> None:
    made: Any = SimpleNamespace(model=networks.build("bert")[0])
    with pytest.raises(SettingError, match=r"bartviz\.wrap\(pipeline\.model, pipeline\.tokenizer\)"):
        bartviz.capture(made, TEXT)


def test_copies_that_do_not_fit_in_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    network, words = networks.build("bert")
    monkeypatch.setattr(build, "free_memory", lambda: 1000)
    assert bartviz.wrap(network, words)
    with pytest.raises(BudgetError, match="memory as float32"):
        bartviz.wrap(network.half(), words)


def test_a_network_without_wrapping_says_what_to_do() -> None:
    network, words = networks.build("bert")
    with pytest.raises(ModelError, match="needs its tokenizer"):
        bartviz.capture(network, TEXT)
    with pytest.raises(ModelError, match="needs its tokenizer"):
        bartviz.capture_batch(network, [TEXT])
    with pytest.raises(SettingError, match="A model has its own tokenizer"):
        bartviz.capture(opened("bert"), TEXT, tokenizer=words)
    with pytest.raises(BartvizError, match="not a str"):
        bartviz.capture("bert", TEXT, tokenizer=words)  # type: ignore[arg-type]
