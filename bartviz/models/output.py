"""The output layer of a network that writes: the matrix product from its last states to the logits.

A network makes the logits of all rows at once, and BART's copies them to add its bias: for 500 rows of 50,000 tokens
two times 100 MB. Here they are made from the last states, some hundred rows at a time and in the same memory: so a
capture of 500 + 500 tokens with its candidates takes no longer than a plain pass even at width 256, where the output
is most of the work.

Letters in shapes: D width, V vocabulary, n rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from bartviz.safety.other_libraries import guarded, run_failed

CLOSE = 1e-5  # largest difference from the network's own logits, relative to the largest of them


@dataclass(frozen=True)
class OutputLayer:
    """A matrix (V, D) and a bias (V,), or None where there is none. ``holder``: the part of the network that has the
    matrix and what comes before it: BERT has another layer there. None if it is the matrix alone."""

    matrix: Tensor
    bias: Tensor | None
    holder: nn.Module | None = None

    @classmethod
    def of(cls, network: PreTrainedModel) -> OutputLayer | None:
        """The network's; None if it is not a matrix product."""
        layer = network.get_output_embeddings()
        if not isinstance(layer, nn.Linear):
            return None
        bias = getattr(network, "final_logits_bias", layer.bias)  # BART's is a buffer
        name = next(name for name, part in network.named_modules() if part is layer).rpartition(".")[0]
        holder = network.get_submodule(name) if name else None
        return cls(layer.weight, None if bias is None else bias.flatten(), holder)

    def logits(self, states: Tensor) -> Tensor:
        """(n, V) from the last states (n, D)."""
        if self.holder is None:
            return nn.functional.linear(states, self.matrix, self.bias)
        made: Tensor = self.holder(states)
        return made


class Rows:
    """The raw logits of a text's rows, made when they are asked for: ``rows[2:5]`` (3, V), ``rows[3]`` (V,).

    A single row of the slice that was made last is taken from it: reading the whole matrix for one row takes long.
    """

    def __init__(self, layer: OutputLayer, states: Tensor) -> None:
        self._layer, self._states = layer, states  # (n, D), the last ones
        self._first, self._made = 0, states.new_empty(0)

    @property
    def shape(self) -> tuple[int, int]:
        """(n, V)"""
        return len(self._states), len(self._layer.matrix)

    @torch.inference_mode()
    def __getitem__(self, rows: int | slice) -> Tensor:
        if isinstance(rows, int) and 0 <= rows - self._first < len(self._made):
            return self._made[rows - self._first]
        if isinstance(rows, slice):
            self._made = self._states.new_empty(0)  # its memory is free for the next
        with guarded(run_failed()):
            made = self._layer.logits(self._states[rows]).cpu()
        if isinstance(rows, slice):
            self._first, self._made = rows.indices(len(self._states))[0], made
        return made


def is_all(network: PreTrainedModel, inputs: Mapping[str, Tensor], logits: Tensor) -> bool:
    """Whether the base model's states and the output layer alone give these logits (B, n, V) of the whole network.

    Some networks scale the states before it, as T5 does, or cap the logits after it, as Gemma 2 does.
    """
    layer, base = OutputLayer.of(network), network.base_model
    if layer is None or base is network or logits.shape[-1] != len(layer.matrix):
        return False
    try:
        again = layer.logits(base(**inputs).last_hidden_state)
    except (TypeError, RuntimeError):  # more comes before the matrix than its holder, or it reads more than states
        return False
    return bool((again - logits).abs().max() <= CLOSE * logits.abs().max().clamp(min=1.0))
