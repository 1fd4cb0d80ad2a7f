"""What the engine in the browser needs of a model: its tensors, and by role which of them does what.

Matrices are int8 with a scale for each row, as ``models.int8`` stores them; norms, biases and positions are float32.
The engine knows no family: the table of parameters says what each tensor does, and a model with a tensor, an
activation or a wiring that the engine does not compute is refused.

Letters in shapes: N rows, D columns.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from bartviz.analysis.parameters import Parameter, configuration
from bartviz.analysis.parameters import rows as parameter_rows
from bartviz.errors import ModelError
from bartviz.explorer.engine import supported
from bartviz.families import config, matrices
from bartviz.families.config import Sizes, Stack
from bartviz.language import later
from bartviz.models.int8 import SHORTEST, rounded
from bartviz.models.model import Model
from bartviz.run import rules
from bartviz.run.batch import start_token

_ATTENTIONS = ("self-attention", "cross-attention")
_FUSED = "self-attention query, key and value"
_LINEAR = (
    *(f"{kind} {role}" for kind in _ATTENTIONS for role in ("query", "key", "value", "output")),
    *("feed-forward in", "feed-forward out", "embedding projection", "output transform", "output layer", _FUSED),
)
_NORMS = tuple(f"{of} layer norm" for of in (*_ATTENTIONS, "feed-forward", "embedding", "final", "output"))
_ROLES = {f"{role} {kind}" for role in (*_LINEAR, *_NORMS) for kind in ("weight", "bias")}
_ROLES |= {matrices.TOKENS, matrices.POSITIONS, matrices.SEGMENTS}


@dataclass(frozen=True)
class Stored:
    """A tensor: float32 numbers (N,) or (N, D), or integers (N, D) and the scale of each row (N,).

    ``source``: the network's own, of the same shape, whose memory it shares.
    """

    source: Tensor
    values: npt.NDArray[np.float32] | npt.NDArray[np.int8]
    scales: npt.NDArray[np.float32] | None = None


def described(model: Model) -> tuple[dict[str, Any], list[Stored]]:
    """The wiring of a model's network, as ``Spec`` in types.d.ts, and the tensors that it numbers.

    Raises ModelError, with the reason, for a network that the engine does not compute.
    """
    sizes = config.sizes(configuration(model))
    listed = [row for row in parameter_rows(configuration(model), None) if row.component != "head" or _writes(row)]
    _check(model, sizes, listed)
    tensors = _Tensors(model.network)
    shared = {row.name for row in listed if row.component == "shared"}
    numbers: dict[tuple[str, int | None], dict[str, int]] = {}
    for row in listed:
        if row.name not in shared:
            numbers.setdefault((row.component, row.layer), {}).update(tensors.of(row))
    head = numbers.get(("head", None), {})
    bias = getattr(model.network, "final_logits_bias", None)
    if bias is not None and head:
        head["output layer bias"] = tensors.add("final_logits_bias", bias.flatten())
    spec = {
        "width": sizes.width,
        "vocabulary": sizes.target_vocabulary,
        "positions": model.info.positions,
        "offset": sizes.family.added_rows + sizes.family.unused_rows,
        "factor": _factor(model),
        "epsilon": _epsilon(model),
        "activation": supported.ALIASES.get(sizes.activation, sizes.activation),
        "norm": sizes.family.norm,
        "head": head,
        **{side: _side(stack, side, numbers) for side, stack in _stacks(sizes)},
    }
    return spec, tensors.stored


def _writes(row: Parameter) -> bool:
    return row.role.startswith("output ")


def predicts(model: Model) -> bool:
    """Whether it has an output layer over its vocabulary: an encoder alone may lack it."""
    rows = parameter_rows(configuration(model), None)
    return model.info.kind != "encoder" or any(row.component == "head" and _writes(row) for row in rows)


def _stacks(sizes: Sizes) -> Iterator[tuple[str, Stack | None]]:
    yield "encoder", sizes.encoder
    yield "decoder", sizes.decoder


def _side(stack: Stack | None, side: str, numbers: Mapping[tuple[str, int | None], dict[str, int]]) -> Any:
    if stack is None:
        return None
    layers = [numbers[side, layer] for layer in range(stack.layers)]
    return {"heads": stack.heads, "roles": numbers[side, None], "layers": layers}


def _check(model: Model, sizes: Sizes, listed: list[Parameter]) -> None:
    """Raise ModelError for what the engine does not compute."""
    found = list(supported.reasons(sizes.family, sizes.activation))
    if unread := {row.role for row in listed} - _ROLES:
        names = ", ".join(sorted(unread))
        found.append(later("it has matrices that the page does not read: {names}", names=names))
    if model.head is not None:
        found.append(supported.labels())
    if found:
        raise ModelError(supported.refused(model.info.name, found[0]))


def _factor(model: Model) -> float:
    """The factor of token embeddings, the same for both sides."""
    base: Any = model.network.base_model
    half = getattr(base, "encoder", getattr(base, "decoder", base))
    words = base.get_input_embeddings()
    return float(getattr(words, "embed_scale", getattr(half, "embed_scale", 1.0)))


def _epsilon(model: Model) -> float:
    found = {module.eps for module in model.network.modules() if isinstance(module, nn.LayerNorm)}
    if len(found) != 1:
        raise ModelError(later("{model} cannot run in a page: its layer norms differ.", model=model.info.name))
    return float(found.pop())


class _Tensors:
    """The tensors of a network, each once, and the number of each."""

    def __init__(self, network: nn.Module) -> None:
        self._network = network
        self._state: Mapping[str, Tensor] = network.state_dict()
        self._numbers: dict[tuple[int, int], int] = {}
        self.stored: list[Stored] = []

    def of(self, row: Parameter) -> dict[str, int]:
        """The numbers of a parameter by role; queries, keys and values in one matrix are three."""
        tensor = self._state[row.name]
        if tensor.ndim == 2 and isinstance(self._network.get_submodule(row.name.rpartition(".")[0]), Conv1D):
            tensor = tensor.T  # it is stored inputs first
        exact = row.role in (matrices.POSITIONS, matrices.SEGMENTS)
        if not row.role.startswith(_FUSED):
            return {row.role: self.add(row.name, tensor, exact)}
        kind = row.role.removeprefix(_FUSED)
        thirds = dict(zip(("query", "key", "value"), tensor.chunk(3), strict=True))
        return {f"self-attention {role}{kind}": self.add(f"{row.name} {role}", third) for role, third in thirds.items()}

    def add(self, name: str, tensor: Tensor, exact: bool = False) -> int:
        """The number of a tensor, which is stored if it is new; tied ones are the same numbers in memory."""
        known = (tensor.data_ptr(), tensor.numel())
        if known not in self._numbers:
            self._numbers[known] = len(self.stored)
            self.stored.append(_stored(tensor, exact))
        return self._numbers[known]


def _stored(source: Tensor, exact: bool) -> Stored:
    tensor = source.to(torch.float32).contiguous()
    if tensor.ndim == 2 and not exact and min(tensor.shape) >= SHORTEST:
        integers, scales = rounded(tensor)
        return Stored(source, integers.numpy(), scales.numpy())
    return Stored(source, tensor.numpy())


def fingerprint(model: Model, stored: list[Stored]) -> str:
    """The model's own where it is packed exactly, else one of its own: rounded weights are other weights."""
    if all(torch.equal(tensor.source.to(torch.float32).cpu(), _numbers(tensor)) for tensor in stored):
        return model.info.fingerprint
    return hashlib.sha256(f"{model.info.fingerprint} int8".encode()).hexdigest()[:32]


def _numbers(tensor: Stored) -> Tensor:
    values = torch.from_numpy(tensor.values)
    return values if tensor.scales is None else values * torch.from_numpy(tensor.scales)[:, None]


def generation(model: Model) -> dict[str, Any]:
    """How the model writes, as ``Generation`` in types.d.ts.

    Raises ModelError for a setting that the engine does not apply and that would change what is written.
    """
    g = model.generation
    other = [name for name in ("sequence_bias", "exponential_decay_length_penalty") if getattr(g, name, None)]
    if other:
        reason = later("its generation settings have {names}", names=", ".join(other))
        raise ModelError(supported.refused(model.info.name, reason))
    ends = list(rules.end_tokens(g))
    forced = g.forced_eos_token_id
    return {
        "start": None if model.info.kind != "encoder-decoder" else start_token(model),
        "ends": ends,
        "longest": g.max_length,
        "mostNew": g.max_new_tokens,
        "penalty": g.repetition_penalty or 1.0,
        "encoderPenalty": g.encoder_repetition_penalty or 1.0,
        "ngram": g.no_repeat_ngram_size or 0,
        "encoderNgram": g.encoder_no_repeat_ngram_size or 0,
        "badWords": [ids for ids in g.bad_words_ids or () if ids not in [[end] for end in ends]],
        "minLength": (g.min_length or 0) if g.min_new_tokens is None else 0,
        "minNew": g.min_new_tokens or 0,
        "forcedFirst": g.forced_bos_token_id,
        "forcedEnd": None if forced is None else list(forced) if isinstance(forced, list | tuple) else [forced],
        "suppressed": list(g.suppress_tokens or ()),
        "suppressedFirst": list(g.begin_suppress_tokens or ()),
        "lengthPenalty": 1.0 if g.length_penalty is None else g.length_penalty,
        "earlyStopping": g.early_stopping or False,
    }
