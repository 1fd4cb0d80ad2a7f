"""bartviz.wrap: a network that the caller has loaded becomes a Model, and is itself only read.

The Model has a network of its own, built and checked as if the caller's had been saved and loaded again, whose weights
are the caller's tensors where they are float32 on the CPU. So there is nothing to put back after a run, after an error
or while another thread runs the caller's network: its attention implementation, hooks and mode are never changed.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
import weakref
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor
from transformers import GenerationConfig, PreTrainedModel, PreTrainedTokenizerBase

from bartviz.errors import ModelError, SettingError
from bartviz.families.family import Family
from bartviz.families.registry import alone_of, family_of, is_known, of_network
from bartviz.language import later
from bartviz.models import build, checkpoint, unlisted, weights, wrappers
from bartviz.models import tokenizer as vocabulary
from bartviz.models.checkpoint import Settings
from bartviz.models.deadline import DEADLINE, Job
from bartviz.models.location import name_of
from bartviz.models.model import Model, assembled, expect_model
from bartviz.models.one_thread import alone as alone_in_torch
from bartviz.safety.other_libraries import guarded
from bartviz.safety.torch_defaults import torch_defaults
from bartviz.tape.tape import check_family

_HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")


@torch_defaults()
def wrap(network: nn.Module, tokenizer: PreTrainedTokenizerBase | None = None, *, name: str | None = None) -> Model:
    """A model from a network that is already loaded, of any supported family and class, and its tokenizer.

    name: what records call it; None: the name that it was loaded by, else that of its class.
    The network is left as it was: weights, configuration, attention implementation, hooks, training mode, random
    numbers. It may run in other threads meanwhile, and runs of the Model may overlap, as those of a loaded one.

    Everything is computed in float32, on the CPU and without dropout, as by ``bartviz.load`` of the same network. Its
    float32 weights on the CPU are shared, not copied; half-precision weights, and those on another device, are copied
    to float32 (4 bytes each). So is a network with PEFT's adapters: those that are active are merged in the copy, and
    modules that were trained whole replace the original ones. Wrappers such as torch.compile or DataParallel are
    removed, and its hooks are not called, with a notice. For a task class whose predictions are read the head is kept,
    for others only the body; one that writes but has no output layer uses its input embedding as such, with a notice.
    The encoder of an encoder-decoder may be wrapped by itself.
    The Model is for the weights as they are now: once they have changed (training, loading others) it is refused, and
    the network is to be wrapped again. Do not change them while a run computes. Changes through ``.data`` go unseen.

    Raises ModelError for a family that is not supported, modules that are not the family's own (replaced,
    patched, quantized), weights that are not in memory, and a tokenizer that is missing or does not fit;
    BudgetError if the copies would not fit in memory.

    >>> wrapped = bartviz.wrap(model.network, model.tokenizer)
    >>> bartviz.decode(wrapped, "I want to buy a car.").target_text
    'Ich möchte ein Auto kaufen.'
    """
    unforeseen = later("The network cannot be wrapped: it is not as transformers builds it. Save it and load it again.")
    with guarded(ModelError(unforeseen)):
        return _wrap(network, tokenizer, name)


def model_of(model: Model | nn.Module, tokenizer: PreTrainedTokenizerBase | None) -> Model:
    """A model, or a network wrapped with its tokenizer. Raises SettingError, and ModelError as ``wrap``."""
    if isinstance(model, nn.Module):
        return wrap(model, tokenizer)
    expect_model(model)
    if tokenizer is not None:
        raise SettingError(later("A model has its own tokenizer: leave it out, or pass the network itself."))
    made: Model = model
    return made


def _wrap(network: nn.Module, tokenizer: PreTrainedTokenizerBase | None, name: str | None) -> Model:
    plain = wrappers.plain(network) if isinstance(network, nn.Module) else network
    body = _body(plain)
    wrappers.check_layers(body)
    wrappers.check_weights(body)
    settings = _settings(body, network)
    _check_modules(body, build.outline(settings))
    words = _tokenizer(tokenizer)
    vocabulary.check(words, settings)
    _check_memory(body)
    changed = _changes(network)
    stored = weights.network_weights(body, Job(DEADLINE))
    return assembled(
        name or _name(plain) or type(plain).__name__,
        "memory",
        settings,
        vocabulary.Read(words, _digest(words), vocabulary.notices(words, settings)),
        stored,
        build.network_of(settings, stored, words, Job(DEADLINE), in_memory=True),
        notices=_notices(plain, body),
        changed=changed,
    )


def _body(network: nn.Module) -> PreTrainedModel:
    """The network itself if it is of a class that is loaded or that labels, else its base model. Raises ModelError."""
    network = wrappers.expect_network(network)
    model_type = getattr(network.config, "model_type", "unknown")
    unlisted.adopt(model_type)
    if not is_known(model_type) and (part := wrappers.part_of(network)) is not None:
        raise ModelError(
            later(
                "Models of type {family} are not read as a whole. Wrap the part that is: {part}.",
                family=model_type,
                part=part,
            )
        )
    check_family(model_type)
    body: Any = network if _is_kept(network) else network.base_model
    if (alone := alone_of(model_type)) is not None and not _is_kept(body):
        body = _encoder(body, alone, type(network).__name__)
    away = [name for name, part in body.named_parameters() if part.is_meta or isinstance(part, FakeTensor)]
    if away:
        raise ModelError(
            later(
                "The network's weights are not in memory (meta device, or fake tensors): {names}. Load it without "
                "device_map, or onto one device.",
                names=weights.shown(away),
            )
        )
    kept: PreTrainedModel = body
    return kept


def _is_kept(network: nn.Module) -> bool:
    """Whether a network is of a class that is loaded, or that labels."""
    name, model_type = _class_name(network), getattr(network.config, "model_type", "")
    if name is None:
        return False
    family = family_of(model_type, name)
    return name in family.classes or family.task(name) is not None


def _class_name(network: nn.Module) -> str | None:
    """The name of the network's class if it is one of transformers', else None."""
    name = type(network).__name__
    if not isinstance(network, PreTrainedModel):
        return None
    try:
        return name if build.class_of(name, network.config) is type(network) else None
    except (AttributeError, ImportError):
        return None


def _encoder(body: PreTrainedModel, alone: Family, given: str) -> PreTrainedModel:
    """A stack of T5's encoder in the class that holds an encoder alone, its modules shared; any other body unchanged.

    Raises ModelError for a decoder alone; ``given``: the class that the caller passed.
    """
    name = type(body).__name__
    stack = name == alone.classes[0].replace("EncoderModel", "Stack")
    if stack and not body.config.is_decoder:
        with alone_in_torch(None), torch.device("meta"):
            shell: PreTrainedModel = build.class_of(alone.classes[0], body.config)(copy.deepcopy(body.config))
        shell.encoder, shell.shared = body, body.get_input_embeddings()
        return shell.train(body.training)
    if stack or name.endswith(("Decoder", "DecoderWrapper", "ForCausalLM")):
        raise ModelError(
            later(
                "{name} is only the decoder of a {title} model, which bartviz does not read. Wrap the whole "
                "network, or its encoder.",
                name=given,
                title=family_of(body.config.model_type).title,
            )
        )
    return body


def _settings(body: PreTrainedModel, network: nn.Module) -> Settings:
    """The settings that saving the network would write, for the smallest class that has all of its layers."""
    raw = json.loads(body.config.to_json_string())
    dtypes = {part.dtype for part in network.parameters() if part.is_floating_point()} - {torch.float32}
    name = type(body).__name__
    family = of_network(body)
    raw |= {"dtype": str(min(dtypes, key=str)) if dtypes else None, "torch_dtype": None}
    raw["architectures"] = [name if _is_kept(body) else family.classes[-1]]
    return checkpoint.sanitise(raw, _rules(body.generation_config) if body.can_generate() else None)


def _rules(generation: GenerationConfig) -> dict[str, Any]:
    """Generation settings as a file can hold them; JSON has no key that is a sequence of tokens."""
    given = generation.to_dict()
    biases = given.pop("sequence_bias", None)
    if isinstance(biases, Mapping):
        biases = [[list(ids), bias] for ids, bias in biases.items()]
    return {**json.loads(GenerationConfig(**given).to_json_string()), "sequence_bias": biases}


def _check_modules(body: PreTrainedModel, expected: PreTrainedModel) -> None:
    """Raise ModelError where a module runs other code than the family's own of that name."""
    named = dict(_modules(expected))
    for name, module in _modules(body):
        kind = type(named.get(name, module))
        if type(module) is not kind or "forward" in vars(module):
            if _is_quantized(body, module):
                raise ModelError(
                    later(
                        "The network is quantized: its {name} is a {kind}. Load it in float32, float16 or bfloat16.",
                        name=weights.shown([name]),
                        kind=type(module).__name__,
                    )
                )
            raise ModelError(
                later(
                    "The network's {name} is not the {kind} of its family: it was replaced or patched. Wrap "
                    "the network without the change, with adapters merged into its weights.",
                    name=weights.shown([name]),
                    kind=kind.__name__,
                )
            )
    if _class_name(body) is None:
        raise ModelError(
            later(
                "{name} is a class of its own, which may compute something else. Pass its part that is a class of "
                "transformers.",
                name=type(body).__name__,
            )
        )


def _is_quantized(body: PreTrainedModel, module: nn.Module) -> bool:
    """Whether a module that is not the family's own is one of quantization: the network's configuration says so, or the
    name of the package that it comes from (bitsandbytes, quanto, torch.ao.nn.quantized, ...)."""
    home = type(module).__module__
    by_name = any(word in home for word in ("quant", "bitsandbytes", "awq", "gptq", "hqq", "eetq"))
    return by_name or getattr(body.config, "quantization_config", None) is not None


def _modules(network: PreTrainedModel) -> Iterator[tuple[str, nn.Module]]:
    """The modules by name, the same name in a base model and in a network that contains one."""
    prefix = f"{network.base_model_prefix}."
    for name, module in network.named_modules():
        inside = name.removeprefix(prefix)
        if inside and f"{name}." != prefix:
            yield inside, module


def _tokenizer(tokenizer: PreTrainedTokenizerBase | None) -> PreTrainedTokenizerBase:
    """A copy without truncation or padding; Marian's, which bartviz only reads, itself. Raises ModelError."""
    if not isinstance(tokenizer, PreTrainedTokenizerBase):
        raise ModelError(
            later("The network needs its tokenizer, as AutoTokenizer.from_pretrained returns it: pass it as tokenizer.")
        )
    if not tokenizer.is_fast:
        return tokenizer
    words = copy.deepcopy(tokenizer)
    words.backend_tokenizer.no_truncation()
    words.backend_tokenizer.no_padding()
    return words


def _digest(words: PreTrainedTokenizerBase) -> str:
    """SHA-256 of how a tokenizer divides texts."""
    pipeline = words.backend_tokenizer.to_str() if words.is_fast else json.dumps(sorted(words.get_vocab().items()))
    if hasattr(words, "bpe_ranks"):
        pipeline += json.dumps(sorted(words.bpe_ranks))
    languages = (getattr(words, "src_lang", None), getattr(words, "tgt_lang", None))
    return hashlib.sha256(f"{type(words).__name__} {languages} {pipeline}".encode()).hexdigest()


def _check_memory(body: PreTrainedModel) -> None:
    """Raise BudgetError if the float32 copies of the weights do not fit in the free memory."""
    copied = {
        weights.identity(part): 4 * part.numel()
        for part in body.parameters()
        if part.dtype != torch.float32 or part.device.type != "cpu"
    }
    build.refuse_over(sum(copied.values()))


def _changes(network: nn.Module) -> Callable[[], bool]:
    """A function that reports whether any weight has been written to since; it does not keep the weights in memory."""
    versions = [(weakref.ref(part), _version(part)) for part in (*network.parameters(), *network.buffers())]

    def changed() -> bool:
        return any((part := known()) is not None and _version(part) != version for known, version in versions)

    return changed


def _version(tensor: Tensor) -> int:
    """torch's count of the writes to a tensor; an inference tensor has none."""
    return 0 if tensor.is_inference() else tensor._version


def _name(network: nn.Module) -> str:
    """The hub id or folder that a network was loaded from, without its path; empty if from none."""
    given = str(getattr(network, "name_or_path", "") or "")
    if _HUB_ID.fullmatch(given) and not Path(given).exists():
        return given
    return name_of(Path(given.replace("\\", "/"))) if given else ""


def _notices(network: nn.Module, body: PreTrainedModel) -> Iterator[str]:
    if "forward" in vars(network):
        yield later("The network's own forward was replaced: it is not called.")
    if any(map(_hooked, network.modules())):
        yield later("The network's hooks are not called.")
    if of_network(body).kind == "encoder" or not isinstance(network, PreTrainedModel):
        return
    if network.get_output_embeddings() is None:
        yield later("{name} has no output layer: its input embedding serves as one.", name=type(network).__name__)


def _hooked(module: nn.Module) -> bool:
    """Whether the caller has hooks on a module. transformers leaves its own there once attentions were asked for."""
    hooks = (*module._forward_hooks.values(), *module._forward_pre_hooks.values())  # torch offers no public list
    return any(not getattr(hook, "__module__", "").startswith("transformers.") for hook in hooks)
