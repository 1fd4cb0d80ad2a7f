"""The tape: one attention function for every model, which runs the fast kernel and keeps queries, keys and masks.

transformers lets a program register its own attention function; every attention layer of the supported families calls
it with ``module, query, key, value, attention_mask, scaling, position_bias``. This one runs the fused kernel, so the
model stays as fast as before, and records the inputs of the weights on the tape of the current context. The weights of
a head are softmax(q k^T * scale + bias, over the mask), computed on demand (record/attention.py).

The tape lives in a ContextVar: nothing is stored on a module, and two threads never see each other's tape.
Letters in shapes: B batch, H heads, Q query rows, K key columns, d head width.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask
from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES
from transformers.pytorch_utils import Conv1D

from bartviz.callbacks import never
from bartviz.errors import Cancelled, ModelError, SettingError, choices
from bartviz.families.registry import FAMILIES, is_known, of_network
from bartviz.language import later
from bartviz.record.attention import Head, Kind

IMPLEMENTATION = "bartviz"

_SITE = "_bartviz_site"
SAMPLED_ROWS = 64  # rows of a head that are compared with the kernel's output


@dataclass(frozen=True, slots=True)
class Site:
    """The position of an attention module: its kind, its layer (None: counted as it is called), the number of layers in
    its stack, and the module that projects the heads' outputs."""

    kind: Kind
    layer: int | None
    layers: int
    projection: nn.Module


@dataclass
class Entry:
    """The recording of one layer. Rows of q are appended call by call; k and v are those of the last call.

    v covers every head if values are kept, else only the head whose output is compared.
    """

    q: list[Tensor] = field(default_factory=list)  # each (B, H, Q, d)
    k: Tensor | None = None  # (B, H, K, d)
    v: Tensor | None = None  # (B, H or 1, K, d)
    scale: float = 1.0
    # each (B, R, H, d): the sampled rows, before any ablation; behind those of a short text its last one again
    outputs: list[Tensor] = field(default_factory=list)
    window: int = 0  # a row attends to keys fewer positions away; 0: to all
    softcap: float | None = None
    sinks: Tensor | None = None  # (H,)
    projection: nn.Module | None = None


@dataclass
class Tape:
    """The layers to record in a run, the changes to make in it, and the recordings.

    ``values``: keep v and the output projection of every layer; otherwise only v of one head per layer, a different one
    in each, for the self-check.
    ``scale_heads``: factor f for a head's output z (0 silences it; Michel et al. 2019). ``toward``: for a layer, the
    outputs m that its heads are scaled toward in place of 0, (H, d), or (B, 1, H, d) for each text: f z + (1 - f) m.
    ``cancelled``: called at every layer; True stops the run with Cancelled.
    ``kernel``: computes the heads' outputs (B, Q, H, d) of a layer from what was recorded, in place of the fast kernel.
    ``open_cells``: for a kind, the cells (Q, K) that every layer and head may see, in place of the model's own mask.
    ``lengths``: for a kind, how many rows of each text of a batch are its own: what pads it is not compared.
    ``keeps``: False for a tape that changes a run and is never read: it keeps nothing, opens no cells, has no kernel.
    """

    keeps: ClassVar[bool] = True

    values: bool = False
    scale_heads: Mapping[Head, float] = field(default_factory=dict)
    toward: Mapping[tuple[Kind, int], Tensor] = field(default_factory=dict)
    cancelled: Callable[[], bool] = never
    kernel: Callable[[Tape, Kind, int], Tensor] | None = None
    open_cells: Mapping[Kind, Tensor] = field(default_factory=dict)
    lengths: Mapping[Kind, Sequence[int]] = field(default_factory=dict)
    entries: dict[tuple[Kind, int], Entry] = field(default_factory=dict)
    # By window (0: none), each (B or 1, Q, K) bool, True: may attend.
    masks: dict[tuple[Kind, int], list[Tensor]] = field(default_factory=dict)
    # By layer, each (H, Q, K); of the first layer alone where all layers share it.
    biases: dict[tuple[Kind, int], list[Tensor]] = field(default_factory=dict)
    _calls: Counter[Kind] = field(default_factory=Counter)
    _seen: dict[Kind, set[int]] = field(default_factory=dict)  # the windows of the current call
    _shared: dict[Kind, Tensor] = field(default_factory=dict)  # the first layer's bias in the current call

    def layer_of(self, site: Site) -> int:
        """The layer that is calling now."""
        if site.layer is not None:
            return site.layer
        layer = self._calls[site.kind] % site.layers
        self._calls[site.kind] += 1
        return layer

    def add_mask(self, kind: Kind, layer: int, window: int, mask: Callable[[], Tensor]) -> None:
        """Keep a call's mask once for each window that its layers have."""
        if layer == 0:
            self._seen[kind] = set()
        if window not in self._seen.setdefault(kind, set()):
            self._seen[kind].add(window)
            self.masks.setdefault((kind, window), []).append(mask())

    def given_mask(self, kind: Kind, first: int, rows: int, columns: int) -> Tensor:
        """(1, 1, rows, columns) bool: the given cells of a call whose first row is ``first``.

        A text that is being written may become longer than what was given: further rows see all that is there. A row
        of which every open cell is still to be written sees its own token.
        """
        given = self.open_cells[kind][first : first + rows, :columns]
        cells = torch.ones(rows, columns, dtype=torch.bool)
        if kind == "decoder":
            cells = cells.tril(first)
        cells[: given.shape[0], : given.shape[1]] = given
        blind = (~cells.any(dim=-1)).nonzero()[:, 0]
        cells[blind, (first + blind).clamp(max=columns - 1)] = True
        return cells[None, None]

    def add_bias(self, kind: Kind, layer: int, bias: Tensor) -> None:
        """Keep a bias (B, H, Q, K), unless it is the one that the first layer had."""
        if layer == 0:
            self._shared[kind] = bias
        elif self._shared.get(kind) is bias:
            return
        self.biases.setdefault((kind, layer), []).append(bias[0])

    def part(self) -> None:
        """Keep this text's keys and values, without those of the batch that it was in."""
        for entry in self.entries.values():
            entry.k, entry.v = (part if part is None else part.clone() for part in (entry.k, entry.v))

    def values_of(self, kind: Kind, layer: int, values: Tensor) -> Tensor:
        """The values (B, H, K, d) that the weights of a layer are applied to: the network's own, unless a subclass
        changes them."""
        return values

    def outputs_of(self, kind: Kind, layer: int, outputs: Tensor) -> Tensor:
        """The heads' outputs (B, Q, H, d) that a layer projects: the network's own, scaled where the tape says so,
        unless a subclass changes them."""
        factors = self.factors(kind, layer, outputs.shape[2])
        if factors is None:
            return outputs
        factors, toward = factors.to(outputs.device), self.toward.get((kind, layer))
        scaled = outputs * factors
        return scaled if toward is None else scaled + toward.to(outputs) * (1 - factors)

    def changes(self, kind: Kind) -> bool:
        """Whether a head of this kind is scaled."""
        return any(name.kind == kind for name in self.scale_heads)

    def factors(self, kind: Kind, layer: int, heads: int) -> Tensor | None:
        """(H, 1) factors for the heads of a layer, or None where none changes."""
        changed = {
            name.head: factor for name, factor in self.scale_heads.items() if (name.kind, name.layer) == (kind, layer)
        }
        if not changed:
            return None
        factors = torch.ones(heads, 1)
        for head, factor in changed.items():
            factors[head] = factor
        return factors


@dataclass(frozen=True)
class Tapes:
    """The tapes of several texts that are in one batch, a row each, and the lengths of their sources: the network reads
    them padded, but each text attends to its own alone."""

    rows: Sequence[Tape]
    sources: Sequence[int]


T = TypeVar("T", bound="Tape | Tapes")
_TAPE: ContextVar[Tape | Tapes | None] = ContextVar("bartviz_tape", default=None)


@contextmanager
def recording(tape: T) -> Iterator[T]:
    """Within this block, the attention of attached networks in this context is recorded on ``tape``."""
    token = _TAPE.set(tape)
    try:
        yield tape
    finally:
        _TAPE.reset(token)


def attach(network: PreTrainedModel) -> None:
    """Route a network's attention through the tape. Raises ModelError if the architecture has no attention interface.

    A network's configuration may name another implementation, which overrides an argument at loading; so the
    implementation is set after loading, and checked.
    """
    check_family(getattr(network.config, "model_type", "unknown"))
    sites = _sites(network)
    for name, site in sites.items():
        setattr(network.get_submodule(name), _SITE, site)
    network.set_attn_implementation(IMPLEMENTATION)
    tagged = Counter(site.kind for site in sites.values() if site.layer is not None)
    for kind, layers in depths(network).items():
        if tagged[kind] not in (0, layers) or not any(site.kind == kind for site in sites.values()):
            raise ModelError(
                later(
                    "The model has {layers} {kind} layers, but {count} of them offer their attention.",
                    layers=layers,
                    kind=kind,
                    count=tagged[kind],
                )
            )


def check_family(family: str) -> None:
    """Raise ModelError for a model type whose attention cannot be recorded."""
    if not is_known(family):
        raise ModelError(
            later(
                "Models of type {family} offer their attention, but are not described here yet: see "
                "CONTRIBUTING. Supported types: {names}.",
                family=family,
                names=choices(sorted(FAMILIES)),
            )
            if _offers_attention(family)
            else later(
                "Models of type {family} do not offer their attention. Supported types: {names}.",
                family=family,
                names=choices(sorted(FAMILIES)),
            )
        )


def _offers_attention(model_type: str) -> bool:
    """Whether the models of a type go through the attention interface of transformers."""
    named = MODEL_MAPPING_NAMES.get(model_type)
    named = named[0] if isinstance(named, tuple | list) else named
    base = getattr(transformers, named, None) if isinstance(named, str) else None
    return bool(getattr(base, "_supports_attention_backend", False))


def depths(network: PreTrainedModel) -> dict[Kind, int]:
    """The number of layers of each kind of attention, from the configuration."""
    family = of_network(network)
    return {kind: getattr(network.config, family.key(kind, "layers")) for kind in family.attention}


def check_heads(network: PreTrainedModel, heads: Mapping[Head, float]) -> None:
    """Raise SettingError for a head that the network does not have."""
    layers, family = depths(network), of_network(network)
    for name in heads:
        count = getattr(network.config, family.key(name.kind, "heads"))
        if name.kind not in layers or not 0 <= name.layer < layers[name.kind] or not 0 <= name.head < count:
            there = choices(
                later("{first} to {last}", first=f"{kind} L0H0", last=f"L{depth - 1}H{count - 1}")
                for kind, depth in layers.items()
            )
            raise SettingError(later("This model has no head {name}: choose {there}.", name=name, there=there))


def _sites(network: PreTrainedModel) -> dict[str, Site]:
    """The attention modules by name. ALBERT calls one module once per layer: its layers are counted as they run."""
    sites: dict[str, Site] = {}
    layers = depths(network)
    for kind, (path, output) in of_network(network).attention.items():
        pattern = re.compile(r"(?:^|\.)" + re.escape(path).replace(r"\{\}", r"(\d+)") + "$")
        for name, _ in network.named_modules():
            if match := pattern.search(name):
                layer = int(match[1]) if len(match.groups()) == 1 else None
                holder = name.rpartition(".")[0] if output.startswith("../") else name
                projection = network.get_submodule(f"{holder}.{output.removeprefix('../')}")
                sites[name] = Site(kind, layer, layers[kind], projection)
    return sites


def projection_weights(projection: nn.Module, heads: int) -> tuple[Tensor, Tensor | None]:
    """(D, H, d) and (D,) or None: the output projection of a layer, head by head. GPT-2 keeps its matrix transposed."""
    weight, bias = projection.weight, projection.bias  # (D, H * d), (D,) or None
    assert isinstance(weight, Tensor)
    assert bias is None or isinstance(bias, Tensor)
    if isinstance(projection, Conv1D):
        weight = weight.T
    return weight.reshape(len(weight), heads, -1), bias


def attend(module: nn.Module, *inputs: Any, **kwargs: Any) -> tuple[Tensor, None]:
    """The attention function that transformers calls in every layer, on the tape of the context."""
    tape = _TAPE.get()
    if isinstance(tape, Tapes):
        return _attend_alone(tape, module, *inputs, **kwargs)
    return _attend_on(tape, module, *inputs, **kwargs)


def _attend_alone(
    tapes: Tapes,
    module: nn.Module,
    query: Tensor,  # (n, H, 1, d), and so on: a row for each text
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    position_bias: Tensor | None = None,  # (1, H, 1, K)
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """One step of several texts: each attends without the others and without their padding, on its own tape."""
    crosses, outputs = getattr(module, _SITE).kind == "cross", []
    for row, (tape, source) in enumerate(zip(tapes.rows, tapes.sources, strict=True)):
        count = source if crosses else key.shape[2]
        mask = None if attention_mask is None else attention_mask[row : row + 1, ..., :count]
        bias = position_bias[..., :count] if crosses and position_bias is not None else position_bias
        keys, values = (part[row : row + 1, :, :count] for part in (key, value))
        own, _ = _attend_on(tape, module, query[row : row + 1], keys, values, mask, position_bias=bias, **kwargs)
        outputs.append(own)
    return torch.cat(outputs), None


def _attend_on(
    tape: Tape | None,
    module: nn.Module,
    query: Tensor,  # (B, H, Q, d)
    key: Tensor,  # (B, H, K, d)
    value: Tensor,  # (B, H, K, d)
    attention_mask: Tensor | None,
    scaling: float | None = None,
    is_causal: bool | None = None,
    position_bias: Tensor | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Attention by the fast kernel, whose inputs are kept on the tape.

    Returns the heads' outputs (B, Q, H, d), scaled if the tape says so. Raises Cancelled.
    """
    if tape is not None and tape.cancelled():
        raise Cancelled(later("The run was stopped."))
    causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    site = getattr(module, _SITE, None)
    entry, layer = None, 0
    if tape is not None and site is not None:
        layer = tape.layer_of(site)
        value = tape.values_of(site.kind, layer, value)
    keys, values = (_repeated(part, getattr(module, "num_key_value_groups", 1)) for part in (key, value))
    if tape is not None and site is not None and tape.keeps:
        window = int(kwargs.get("sliding_window") or 0)
        entry = tape.entries.setdefault((site.kind, layer), Entry())
        if site.kind in tape.open_cells:
            first = sum(rows.shape[2] for rows in entry.q)
            attention_mask = tape.given_mask(site.kind, first, query.shape[2], key.shape[2]).to(query.device)
            window = 0
        tape.add_mask(site.kind, layer, window, lambda: _allowed(query, key, attention_mask, causal))
        if position_bias is not None and site.kind != "cross":
            tape.add_bias(site.kind, layer, position_bias)
        entry.q.append(query)
        entry.k, entry.v, entry.scale = keys, values, scale
        entry.window, entry.softcap, entry.sinks = window, softcap, s_aux
        entry.projection = site.projection
        if tape.kernel is not None:
            return tape.kernel(tape, site.kind, layer), None
    if softcap is not None or s_aux is not None:  # no fused kernel has these
        allowed = _allowed(query, key, attention_mask, causal)
        output = _unfused(query, keys, values, allowed, scale, softcap, s_aux)
    else:
        output, _ = sdpa_attention_forward(
            module,
            query,
            key,
            value,
            attention_mask,
            scaling=scaling,
            is_causal=is_causal,
            position_bias=position_bias,
            **kwargs,
        )  # (B, Q, H, d)
    if tape is None or site is None:
        return output, None
    if entry is None:
        return tape.outputs_of(site.kind, layer, output), None
    count = query.shape[2]
    entry.outputs.append(output if count <= SAMPLED_ROWS else _compared(output, layer, tape.lengths.get(site.kind)))
    if not tape.values:
        head = compared_head(layer, query.shape[1])
        entry.v = values[:, head : head + 1]
        if count > 1:
            entry.v = entry.v.clone()  # a view would keep the values of every head in memory
    return tape.outputs_of(site.kind, layer, output), None


def _repeated(part: Tensor, groups: int) -> Tensor:
    """(B, H / groups, K, d) -> (B, H, K, d): the keys or values of each head of queries."""
    return part.repeat_interleave(groups, dim=1) if groups > 1 else part


def _unfused(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    allowed: Tensor,
    scale: float,
    softcap: float | None,
    sinks: Tensor | None,
) -> Tensor:
    """(B, Q, H, d): attention with capped scores, or a sink's score (H,) in addition to the keys'."""
    scores = query @ key.mT * scale  # (B, H, Q, K)
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    scores = scores.masked_fill(~allowed[:, None], torch.finfo(scores.dtype).min)
    if sinks is not None:
        sink = sinks.to(scores.dtype)[None, :, None, None].expand(len(scores), -1, scores.shape[2], 1)
        scores = torch.cat([scores, sink], dim=-1)
    weights = scores.softmax(dim=-1)[..., : key.shape[2]]
    return (weights @ value).transpose(1, 2).contiguous()


def _compared(output: Tensor, layer: int, lengths: Sequence[int] | None) -> Tensor:
    """(B, Q, H, d) -> (B, R, H, d): the sampled rows; of each text its own, where ``lengths`` (B,) says how many."""
    if lengths is None:
        return output[:, torch.from_numpy(sampled(output.shape[1], layer))]
    rows = [sampled(length, layer) for length in lengths]
    index = np.stack([np.pad(own, (0, SAMPLED_ROWS - len(own)), mode="edge") for own in rows])  # (B, R)
    return output[torch.arange(len(rows))[:, None], torch.from_numpy(index)]


def sampled(rows: int, layer: int) -> NDArray[np.int64]:
    """Which of ``rows`` rows of a layer are compared with the kernel's output: all if few, else evenly spaced ones,
    shifted from layer to layer."""
    if rows <= SAMPLED_ROWS:
        return np.arange(rows)
    shift = layer * 0.382 % 1  # as a fraction of the spacing
    return ((np.arange(SAMPLED_ROWS) + shift) * rows / SAMPLED_ROWS).astype(np.int64)


def compared_head(layer: int, heads: int) -> int:
    """The head of a layer that is compared with the kernel's output if values are not kept."""
    return layer % heads


def _allowed(query: Tensor, key: Tensor, mask: Tensor | None, causal: bool) -> Tensor:
    """(B or 1, Q, K) bool: which keys a row may attend to. A causal module with several rows and no mask is causal."""
    rows, columns = query.shape[2], key.shape[2]
    if mask is not None:
        allowed = mask if mask.dtype == torch.bool else mask > torch.finfo(mask.dtype).min / 2
        return allowed[:, 0, :, :columns].expand(-1, rows, -1)
    allowed = torch.ones(1, rows, columns, dtype=torch.bool, device=query.device)
    return allowed.tril() if causal and rows > 1 else allowed


AttentionInterface.register(IMPLEMENTATION, attend)
AttentionMaskInterface.register(IMPLEMENTATION, sdpa_mask)
