"""The head of a fine-tuned checkpoint: what it labels, the names of its labels, and BART's own module for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
import transformers
from torch import Tensor, nn
from transformers import PreTrainedConfig

from bartviz.errors import ModelError
from bartviz.families.config import Sizes
from bartviz.families.family import DECODER_HEAD, Task
from bartviz.language import later
from bartviz.record.prediction import ENDS, FOLLOWS, Scale

LONGEST_LABEL = 100  # characters


@dataclass(frozen=True)
class TaskHead:
    """The head that a checkpoint was fine-tuned with: transformers' class, its task, its labels, what makes logits
    probabilities.

    ``module``: the head on the state of the decoder (BART), next to the network that writes; None where the network
    is of the class itself.
    """

    architecture: str
    task: Task
    labels: tuple[str, ...]
    scale: Scale
    module: nn.Module | None = None


def named(raw: Mapping[str, Any], sizes: Sizes, architecture: str) -> TaskHead | None:
    """The head that a configuration describes, without its weights; None for a class that labels nothing."""
    task = sizes.family.task(architecture)
    if task is None:
        return None
    if architecture.endswith("ForNextSentencePrediction"):
        return TaskHead(architecture, task, FOLLOWS, "softmax")
    if task == "answer":
        return TaskHead(architecture, task, ENDS, "softmax") if sizes.labels == len(ENDS) else None
    return TaskHead(architecture, task, _labels(raw, sizes.labels), _scale(raw, sizes.labels, task))


def _labels(raw: Mapping[str, Any], count: int) -> tuple[str, ...]:
    """The names of the classes, of whatever type they are; transformers' own (``LABEL_0``) where there is none."""
    given = raw.get("id2label")
    pairs = given.items() if isinstance(given, Mapping) else enumerate(given if isinstance(given, list) else ())
    names = {str(number): _readable(name) for number, name in pairs}
    return tuple(names.get(str(number)) or f"LABEL_{number}" for number in range(count))


def _readable(name: object) -> str:
    """A label as a text that can be saved and shown; empty for none."""
    text = "" if name is None else str(name).encode("utf-8", "replace").decode("utf-8")
    text = "".join(character if character.isprintable() else " " for character in text).strip()
    return text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…"


def _scale(raw: Mapping[str, Any], count: int, task: Task) -> Scale:
    """As transformers' pipelines do: one output, or one for a number, has no probability."""
    problem = raw.get("problem_type")
    if task == "text" and (problem == "regression" or (problem is None and count == 1)):
        return "none"
    return "sigmoid" if task == "text" and problem == "multi_label_classification" else "softmax"


def filled(head: TaskHead, config: PreTrainedConfig, tensors: Mapping[str, Tensor]) -> TaskHead | None:
    """The head with its module on the decoder's state and these weights; None if the checkpoint lacks any of them."""
    with torch.device("meta"):
        module: nn.Module = getattr(transformers, head.architecture)(config).get_submodule(DECODER_HEAD)
    prefix = f"{DECODER_HEAD}."
    stored = {name.removeprefix(prefix): value.detach() for name, value in tensors.items() if name.startswith(prefix)}
    expected = module.state_dict()
    if stored.keys() != expected.keys():
        return None
    wrong = [name for name, value in expected.items() if stored[name].shape != value.shape]
    if wrong:
        raise ModelError(
            later("The weights do not fit the configuration: {names} has another shape.", names=f"{prefix}{min(wrong)}")
        )
    module.load_state_dict(stored, assign=True)
    return replace(head, module=module.requires_grad_(False).eval())
