"""The engine of live pages, run by node on a packed model, and the network that has the numbers of that model."""

from __future__ import annotations

import copy
import functools
import json
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

import bartviz
from bartviz.explorer.engine import model as networks
from bartviz.explorer.engine.packed import packed
from bartviz.models.model import Model
from tests.support import node
from tests.support.process import ROOT

SCRIPT = ROOT / "tests" / "explorer" / "engine" / "engine.mjs"


def answers(folder: Path, model: Model, questions: Iterable[Mapping[str, Any]]) -> list[Any]:
    """What the engine answers to questions about a model; fails with its errors if it fails."""
    (folder / "model.bin").write_bytes(packed(model))
    lines = [json.dumps(question) for question in questions]
    (folder / "questions.jsonl").write_text("\n".join(lines), encoding="utf-8", errors="surrogatepass")
    command = [node.find_node(), str(SCRIPT), str(folder / "model.bin"), str(folder / "questions.jsonl")]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def rounded(model: Model) -> Model:
    """The model with the numbers that are packed: its matrices rounded to int8 rows."""
    network = copy.deepcopy(model.network)
    copied = bartviz.wrap(network, model.tokenizer, name=model.info.name)
    with torch.no_grad():
        for tensor in networks.described(copied)[1]:
            scales = 1.0 if tensor.scales is None else tensor.scales[:, None]
            tensor.source.copy_(torch.from_numpy(tensor.values.astype(np.float32) * np.float32(scales)))
    return bartviz.wrap(network, model.tokenizer, name=model.info.name)


@functools.cache
def shipped(name: str) -> Model:
    """A model that ships, as it is packed."""
    return rounded(bartviz.load(name))
