"""A device that this machine does not have, pretended: numbers stay on the CPU, but torch keeps the rules of a GPU.

Tensors on the device and others may not meet in one operation, NumPy cannot read the former, and what is computed from
them is on the device, too. Whoever forgets to move a tensor there or back fails as on a machine with a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

DEVICE = torch.device("cuda", 0)
CPU = torch.device("cpu")
_READS_ONLY = frozenset({Tensor.tolist, Tensor.item, Tensor.__len__, Tensor.__bool__, Tensor.__float__, Tensor.__int__})


class Pretended(TorchFunctionMode):
    """Within this block there is one accelerator. ``operations`` counts what was computed on it."""

    def __init__(self) -> None:
        super().__init__()
        self.operations = 0
        self._there: dict[int, Tensor] = {}  # by the address of their numbers; kept, so that none is used again

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if func is torch.device:
            return func(*args, **kwargs)
        if func == Tensor.device.__get__:
            return DEVICE if self._is_there(args[0]) else CPU
        given, args, kwargs = _asked(args, kwargs)
        tensors = list(_tensors((args, kwargs)))
        there = [part for part in tensors if self._is_there(part)]
        if func in (Tensor.numpy, Tensor.__array__) and there:
            raise TypeError("can't convert a tensor of the pretended device to numpy; use Tensor.cpu() first")
        if func is Tensor.cpu or (func is Tensor.to and given == CPU):
            return args[0].clone() if there else func(*args, **kwargs)
        if given is not None:
            if func is Tensor.to and not args[1:] and not kwargs:
                return self._put(args[0].clone()) if given == DEVICE and not there else args[0]
            made = func(*args, **kwargs)
            return self._put(made) if given == DEVICE else made
        here = [part for part in tensors if part.dim() > 0 and part.numel() > 0 and not self._is_there(part)]
        if there and here and func not in (Tensor.__getitem__, torch.nn.Parameter):
            raise RuntimeError(f"Expected all tensors to be on the same device: {func}")
        made = func(*args, **kwargs)
        if there and func not in _READS_ONLY:
            self.operations += 1
            return self._put(made)
        return made

    def _is_there(self, part: Tensor) -> bool:
        return part.numel() > 0 and part.untyped_storage().data_ptr() in self._there

    def _put(self, made: Any) -> Any:
        for part in _tensors(made):
            if part.numel():
                self._there[part.untyped_storage().data_ptr()] = part
        return made


def _asked(args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[torch.device | None, tuple[Any, ...], dict[str, Any]]:
    """The device that a call names, and its arguments without it."""
    named = kwargs.pop("device", None)
    rest = tuple(value for value in args if not isinstance(value, torch.device))
    named = next((value for value in args if isinstance(value, torch.device)), named)
    return (None if named is None else torch.device(named)), rest, kwargs


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _tensors(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _tensors(part)
