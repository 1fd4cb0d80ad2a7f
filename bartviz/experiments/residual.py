"""The residual sum of one token in one layer, from one pass of the model and the layer's own matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from transformers.activations import ACT2FN

from bartviz.analysis.contributions import available
from bartviz.analysis.inside import check_row, row_outputs
from bartviz.analysis.residual import Residual, Stack
from bartviz.arrays import Floats
from bartviz.callbacks import never
from bartviz.errors import SettingError
from bartviz.experiments.replay import Replay
from bartviz.families.config import sizes
from bartviz.families.family import Family, Side
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.record.attention import Attention
from bartviz.record.record import Record
from bartviz.run.branches import scaled
from bartviz.safety.torch_defaults import torch_defaults
from bartviz.tape.tape import Tape

_SELF, _CROSS, _FEED = "self-attention", "cross-attention", "feed-forward"


@torch_defaults()
@torch.inference_mode()
def residual(
    model: Model, record: Record, stack: Stack, layer: int, row: int, *, cancelled: Callable[[], bool] = never
) -> Residual:
    """One token's vector before a layer, what each part of the layer adds, and the vector after it.

    Heads that the record's run scaled are scaled again. Raises SettingError for a stack, layer or row that does not
    exist and for a record of another model, Cancelled.
    """
    replay = Replay(model, record)
    if getattr(record, stack) is None:
        raise SettingError(later("This model has no {stack}: choose the other stack.", stack=stack))
    record.attention(stack).check(layer, 0)
    check_row(record.attention(stack), row)
    tape = Tape(values=True, scale_heads=scaled(record), cancelled=cancelled)
    hidden = replay.run(tape).hidden[stack]
    again = replay.kept(tape)
    modules = LayerModules(model, stack, layer)
    state = before = hidden[layer][0, row]  # (D,)
    added, states = dict[str, Floats](), dict[str, Floats]()
    inner = state
    for name in (_SELF, *((_CROSS,) if stack == "decoder" and record.cross is not None else ()), _FEED):
        if name == _FEED:
            inner, part = modules.feed_forward(before if modules.family.parallel else state)
        else:
            part = _attended(again.attention("cross" if name == _CROSS else stack), layer, row)
        part = modules.adds(name, part)
        state = modules.summed(name, state, part)
        added[name], states[name] = _numbers(part), _numbers(state)
    own = hidden[layer + 1][0, row]
    ends = layer + 2 == len(hidden)
    apart = (modules.final(state) if ends else state) - own
    return Residual(
        model=record.model.name,
        stack=stack,
        layer=layer,
        row=row,
        token=record.attention(stack).query.labels[row],
        norm="post" if modules.family.norm == "post" else "pre",
        before=_numbers(before),
        added=added,
        states=states,
        inner=_numbers(inner),
        error=float(apart.abs().max()) / max(1.0, float(own.abs().max())),
    )


class LayerModules:
    """The modules of one layer, found by the names that its family has for them."""

    def __init__(self, model: Model, stack: Stack, layer: int) -> None:
        self.family = _family(model)
        side = self.family.encoder if stack == "encoder" else self.family.decoder
        assert side is not None
        self._base: Any = model.network.base_model
        self._side, self._path = side, _path(model, side, layer)
        self._names = {part.role: part.name for part in side.parts}
        self._projected = sizes(model.config.to_dict()).projected
        self.factor = float(getattr(model.config, self.family.residual_scale, 1.0))
        self._activation = ACT2FN[(model.info.activation or "").removeprefix("gated-")]

    def norm_of_added(self, part: str) -> nn.Module | None:
        """What normalises the vector that a part adds, where the model does so."""
        role = f"{part} output layer norm"
        return self._module(role) if f"{role} weight" in self._names else None

    def norm_of_sum(self, part: str) -> nn.Module | None:
        """What normalises the sum after a part, in a post-norm model."""
        return self._module(f"{part} layer norm") if self.family.norm == "post" else None

    def _module(self, role: str) -> Any:
        return self._base.get_submodule(self._path + self._names[f"{role} weight"].rpartition(".")[0])

    def adds(self, part: str, vector: Tensor) -> Tensor:
        """The vector (D,) that a part adds: its output, normalised or scaled first where the model does so."""
        norm = self.norm_of_added(part)
        return (vector if norm is None else norm(vector)) * self.factor

    def summed(self, part: str, state: Tensor, vector: Tensor) -> Tensor:
        """The sum of state and vector, (D,) each; LayerNorm follows in a post-norm model."""
        norm, whole = self.norm_of_sum(part), state + vector
        normed: Tensor = whole if norm is None else norm(whole)
        return normed

    def feed_forward(self, state: Tensor) -> tuple[Tensor, Tensor]:
        """The inner numbers (f,) and what is added (D,) for a state (D,). Raises SettingError for several networks."""
        if not {f"{_FEED} in weight", f"{_FEED} gate and in weight"} & self._names.keys():
            raise SettingError(
                later(
                    "{title} chooses among several feed-forward networks for each token: its sum is not shown.",
                    title=self.family.title,
                )
            )
        role = _FEED if f"{_FEED} layer norm weight" in self._names else _SELF  # one norm for both where parallel
        read = self._module(f"{role} layer norm")(state) if self.family.norm == "pre" else state
        read = read[None]  # (1, d): GPT-2's layer needs two axes
        if f"{_FEED} gate and in weight" in self._names:
            gate, into = self._module(f"{_FEED} gate and in")(read).chunk(2, dim=-1)  # (1, f) each
            inner = self._activation(gate) * into
        elif f"{_FEED} gate weight" in self._names:
            inner = self._activation(self._module(f"{_FEED} gate")(read)) * self._module(f"{_FEED} in")(read)
        else:
            inner = self._activation(self._module(f"{_FEED} in")(read))  # (1, f)
        return inner[0], self._module(f"{_FEED} out")(inner)[0]

    def final(self, state: Tensor) -> Tensor:
        """The state (D,) after the stack's last LayerNorm, where it has one, at the width of the embeddings."""
        norms = [part.name for part in self._side.after if part.role == "final layer norm weight"]
        normed: Tensor = self._base.get_submodule(norms[0].rpartition(".")[0])(state) if norms else state
        back = [part.name for part in self._side.after if part.role == "embedding projection back weight"]
        return self._base.get_submodule(back[0].rpartition(".")[0])(normed) if back and self._projected else normed


def _family(model: Model) -> Family:
    family = model.info.known
    gated = (model.info.activation or "").startswith("gated-")
    return family.gated if gated and family.gated is not None else family


def _path(model: Model, side: Side, layer: int) -> str:
    """The path of a layer below the base model; ALBERT's layers share the modules of their group."""
    if side.layer.count("{}") == 1:
        return side.layer.format(layer)
    groups, layers = model.config.num_hidden_groups, model.config.num_hidden_layers
    return side.layer.format(layer * groups // layers, 0)


def _attended(attention: Attention, layer: int, row: int) -> Tensor:
    """(D,) what an attention block adds to one row: all heads and the bias."""
    assert available(attention)
    added = row_outputs(attention, layer, row).sum(axis=0)
    return torch.from_numpy(added if attention.out_bias is None else added + attention.out_bias[layer])


def _numbers(tensor: Tensor) -> Floats:
    array: Floats = tensor.detach().float().numpy().copy()
    return array
