"""Where a network computes: on the CPU, or as a copy on an accelerator (a GPU).

The network itself stays on the CPU, where its matrices are read; passes run on the copy, and what they return comes
back. Records are the same arrays either way.
"""

from __future__ import annotations

import copy

import torch
from torch import nn
from transformers import PreTrainedModel

from bartviz.errors import SettingError, choices
from bartviz.language import later

AUTO = "auto"
CPU = torch.device("cpu")


def chosen(name: str) -> torch.device:
    """The device of a name: "cpu", "cuda", "cuda:1", "mps", or "auto" for the accelerator if there is one.

    Raises SettingError for a device that is not there.
    """
    if name == str(CPU):
        return CPU
    there = _accelerators()
    if name == AUTO:
        return there[0] if there else CPU
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    known = [one for one in there if device is not None and one.type == device.type]
    if device is None or not known or not (device.index is None or device in known):
        names = choices(str(one) for one in (CPU, *there))
        raise SettingError(later("There is no device {name} here. Choose one of: {names}.", name=name, names=names))
    return known[0] if device.index is None else device


def _accelerators() -> list[torch.device]:
    """The accelerators that torch can use here."""
    kind = torch.accelerator.current_accelerator(check_available=True)
    if kind is None:
        return []
    return [torch.device(kind.type, index) for index in range(torch.accelerator.device_count())]


def on(network: PreTrainedModel, device: torch.device) -> PreTrainedModel:
    """A copy of an attached network with its weights on a device; those that are shared are shared in the copy, too."""
    moved: dict[int, object] = {
        id(part): nn.Parameter(part.to(device), requires_grad=False) for part in network.parameters()
    }
    moved |= {id(part): part.to(device) for part in network.buffers()}
    return copy.deepcopy(network, moved)
