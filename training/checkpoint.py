"""The state of a training run as one safetensors file: tensors by name, progress and curve as JSON in its header."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

Metrics = dict[str, float]


@dataclass(frozen=True)
class State:
    """All that a run continues from; lists are in the order of the model's parameters."""

    weights: Sequence[Tensor]
    mean: Sequence[Tensor]
    moments: Mapping[int, Mapping[str, Tensor]]  # what the optimizer knows of each parameter
    progress: Sequence[float]
    curve: Sequence[Metrics]


def write(state: State, path: Path) -> None:
    """Write the state; whoever reads, meanwhile or after a power cut, finds the file before it or this one, no part."""
    tensors = {f"weights.{i}": value for i, value in enumerate(state.weights)}
    tensors |= {f"mean.{i}": value for i, value in enumerate(state.mean)}
    tensors |= {f"moments.{i}.{name}": value for i, known in state.moments.items() for name, value in known.items()}
    header = {"progress": json.dumps(list(state.progress)), "curve": json.dumps(list(state.curve))}
    new = path.with_suffix(".new")
    save_file({name: value.detach().contiguous() for name, value in tensors.items()}, new, header)
    with new.open("rb") as file:
        os.fsync(file.fileno())
    new.replace(path)


def read(path: Path, device: str = "cpu") -> State:
    """The state in a file that ``write`` has made, bit for bit."""
    weights: dict[int, Tensor] = {}
    mean: dict[int, Tensor] = {}
    moments: defaultdict[int, dict[str, Tensor]] = defaultdict(dict)
    with safe_open(path, "pt", device=device) as file:
        header = file.metadata()
        for name in file.keys():  # noqa: SIM118 (it is no dictionary)
            part, place, *of = name.split(".")
            if part == "moments":
                moments[int(place)][of[0]] = file.get_tensor(name)
            else:
                (weights if part == "weights" else mean)[int(place)] = file.get_tensor(name)
    return State(
        weights=[weights[i] for i in range(len(weights))],
        mean=[mean[i] for i in range(len(mean))],
        moments=dict(moments),
        progress=json.loads(header["progress"]),
        curve=json.loads(header["curve"]),
    )
