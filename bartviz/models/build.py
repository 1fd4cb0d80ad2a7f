"""Networks: built from settings and weights, attached to the tape, and validated by a short pass."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

from bartviz.errors import BudgetError, ModelError
from bartviz.families.family import DECODER_HEAD
from bartviz.language import later
from bartviz.models import output, task_head, unlisted, weights
from bartviz.models.checkpoint import Settings
from bartviz.models.deadline import Job
from bartviz.models.one_thread import alone
from bartviz.models.task_head import TaskHead
from bartviz.models.weights import Weights
from bartviz.safety.other_libraries import guarded
from bartviz.tape import tape


def predicted_bytes(settings: Settings) -> int:
    """Bytes of the network of these settings as float32, shared weights counted once.

    The network is built on the meta device, in milliseconds. Raises ModelError for an impossible configuration.
    """
    unforeseen = ModelError(later("The model's network cannot be built from its configuration."))
    with guarded(unforeseen):
        network = outline(settings)
    untied = getattr(settings.config, "scale_decoder_outputs", True) is False  # T5 1.1: an output matrix of its own
    return nbytes(network) + 4 * settings.sizes.vocabulary * settings.sizes.width * untied


def outline(settings: Settings) -> PreTrainedModel:
    """The network of a fine-tuned class, else the largest of the settings' family, on the meta device: its modules
    without their numbers. Raises ModelError where Python has removed the docstrings that transformers needs."""
    if sys.flags.optimize > 1:
        raise ModelError(
            later("Python runs with -OO, which removes the docstrings that transformers needs. Run it without.")
        )
    with alone(None), torch.device("meta"):
        name = _candidate_classes(settings)[0] if settings.head is None else settings.head.architecture
        network: PreTrainedModel = class_of(name, settings.config)(settings.config)
    return network


def check_budget(settings: Settings, budget: int | None, stored: int = 0) -> int:
    """The bytes that the network will take. Raises BudgetError if they exceed ``budget``.

    budget: None means the free memory. stored: bytes of the checkpoint's tensors as float32, if already known.
    """
    needed = max(predicted_bytes(settings), stored)
    refuse_over(needed, budget)
    return needed


def refuse_over(needed: int, budget: int | None = None) -> None:
    """Raise BudgetError if a network needs more bytes than ``budget``; None: than are free."""
    limit = free_memory() if budget is None else budget
    if limit is not None and needed > limit:
        raise BudgetError(
            later(
                "The model needs {needed} of memory as float32, but only {limit} may be used. Choose a smaller "
                "model, or unload another one.",
                needed=_size(needed),
                limit=_size(limit),
            )
        )


def free_memory() -> int | None:
    """Bytes that this process may still allocate within its container's limit; None if unknown."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = 1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        return None
    group = Path("/sys/fs/cgroup")
    try:
        limit, used = (int((group / name).read_text(encoding="ascii")) for name in ("memory.max", "memory.current"))
        cached = dict(line.split() for line in (group / "memory.stat").read_text(encoding="ascii").splitlines())
    except (OSError, ValueError):  # no container, or one without a limit
        return free
    return min(free, limit - used + int(cached.get("inactive_file", 0)))


def nbytes(network: nn.Module) -> int:
    """Bytes of a network's parameters and buffers, shared ones counted once."""
    return sum(part.nbytes for part in (*network.parameters(), *network.buffers()))


def _size(count: int) -> str:
    return f"{count / 1e9:.2f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"


@dataclass(frozen=True, eq=False)
class Network:
    """A network that was built and probed, with its head if it was fine-tuned, and notices.

    ``trained``: whether it looks so. ``output_alone``: whether the output layer alone makes its logits (output.py).
    """

    module: PreTrainedModel
    head: TaskHead | None
    notices: tuple[str, ...]
    trained: bool
    output_alone: bool

    @property
    def modules(self) -> tuple[nn.Module, ...]:
        """The network, and its head where that is a module of its own."""
        of_head = None if self.head is None else self.head.module
        return (self.module,) if of_head is None else (self.module, of_head)


def network_of(
    settings: Settings, stored: Weights, tokenizer: PreTrainedTokenizerBase, job: Job, *, in_memory: bool = False
) -> Network:
    """The largest network of the family that the checkpoint fills completely, attached to the tape and probed.

    ``in_memory``: whether the weights are those of a caller's network.
    """
    notices: tuple[str, ...] = ()
    head = settings.head
    classes = _candidate_classes(settings)
    no_pooler = bool(settings.sizes.family.pooler) and not any("pooler." in key for key in stored.tensors)
    for name in classes:
        job.check()
        options = {"add_pooling_layer": False} if no_pooler and name == classes[-1] else {}
        network, info = _build(name, settings, stored, job, **options)
        missing = info["missing_keys"]
        if not missing or not weights.absent_heads(network, missing, stored.tensors):
            break
        if name != classes[-1]:
            missing_head = (
                later("The network has no head for {name}: wrapped without it.", name=name)
                if in_memory
                else later("The checkpoint has no head for {name}: loaded without it.", name=name)
            )
            notices = (missing_head,)
    if head is not None and settings.sizes.family.kind != "encoder":
        with alone(job):
            head = task_head.filled(head, settings.config, stored.tensors)
        if head is not None:
            info["unexpected_keys"] = [key for key in info["unexpected_keys"] if not key.startswith(f"{DECODER_HEAD}.")]
    elif head is not None and name != head.architecture:
        head = None
    notices += weights.judge(
        network, info, settings.sizes.tied or "lm_head.weight" in stored.tensors, in_memory=in_memory
    )
    trained = weights.looks_trained(network)
    network.generation_config = settings.generation if network.can_generate() else None
    network.config.architectures = [name]
    network.requires_grad_(False)
    tape.attach(network)
    notices += unlisted.notices(settings.sizes, network.eval())
    return Network(network, head, notices, trained, _probe(network, tokenizer))


def _candidate_classes(settings: Settings) -> tuple[str, ...]:
    """The classes to try, largest first: from the configuration's architecture, else from the family's full network.

    An encoder that was fine-tuned is of its own class; BART keeps the network that writes.
    """
    names = settings.sizes.family.classes
    if settings.head is not None and settings.sizes.family.kind == "encoder":
        return (settings.head.architecture, *names)
    start = next((names.index(name) for name in settings.architectures if name in names), 0)
    return names[start:]


def _build(
    name: str, settings: Settings, stored: Weights, job: Job, **options: bool
) -> tuple[PreTrainedModel, dict[str, Any]]:
    """The network with these weights. transformers gets tensors, not a folder, so it opens no file and runs no code."""
    unforeseen = ModelError(later("The model's network cannot be built from its configuration and weights."))
    with alone(job), guarded(unforeseen):
        network, info = class_of(name, settings.config).from_pretrained(
            None,
            config=settings.config,
            state_dict=dict(stored.tensors),
            dtype=torch.float32,
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
            ignore_mismatched_sizes=True,
            output_loading_info=True,
            **options,
        )
    return network, info


def class_of(name: str, config: PreTrainedConfig) -> Any:
    """A class of transformers: a public one, or one of the module that has the models of this configuration."""
    if hasattr(transformers, name):
        return getattr(transformers, name)
    return getattr(import_module(type(config).__module__.replace("configuration_", "modeling_")), name)


def _probe(network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> bool:
    """One short pass: every layer on the tape, every number finite. Raises ModelError.

    Whether the output layer alone makes the network's logits (output.py).
    """
    with guarded(ModelError(later("The model's tokenizer fails on a short text: its files contradict each other."))):
        ids = torch.tensor([tokenizer("a b")["input_ids"][:8] or [0]])  # (1, n)
    inputs = {"input_ids": ids}
    if network.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = ids[:, :2]
    record = tape.Tape(values=True)
    failed = ModelError(unlisted.FAILS)
    with guarded(failed), torch.inference_mode(), tape.recording(record):
        first = network(**inputs)[0]
    expected = {(kind, layer) for kind, depth in tape.depths(network).items() for layer in range(depth)}
    if set(record.entries) != expected:
        raise ModelError(
            later(
                "The model has {there} layers of attention, but {seen} were observed.",
                there=len(expected),
                seen=len(record.entries),
            )
        )
    numbers = [first, *(part for entry in record.entries.values() for part in (*entry.q, *entry.outputs))]
    if not all(bool(torch.isfinite(part).all()) for part in numbers):
        raise ModelError(
            later("The model computes numbers that are not finite (NaN or infinity) on a first short text.")
        )
    with guarded(failed), torch.inference_mode():
        return output.is_all(network, inputs, first)
