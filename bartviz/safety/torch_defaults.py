"""A caller's settings in torch change no number of bartviz: the library computes with torch's own defaults.

Mixed precision, another default type or device, modes that see or replace every operation, and kernels that are
switched off would all reach our network, and some of them change its numbers without an error. So each function that
runs a network runs in ``torch_defaults``, which puts them aside and back again.

Some settings are the thread's, and others the whole process's. The latter are changed only where they differ from
torch's defaults, and put back when the last of our calls has ended: other threads see the defaults meanwhile. The
number of threads stays the caller's: it changes rounding alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import torch
from torch import overrides
from torch.backends import cuda
from torch.nn.modules import module as modules

MKLDNN: Any = torch.backends.mkldnn  # a module that stands for an object of its class


class _Setting(NamedTuple):
    """A setting of the process: how it is read and written, and torch's default."""

    read: Callable[[], Any]
    write: Callable[[Any], object]
    default: Any


def _attribute(holder: Any, name: str, default: Any) -> _Setting:
    return _Setting(lambda: getattr(holder, name), lambda value: setattr(holder, name, value), default)


def _hooks(registered: dict[int, Any]) -> _Setting:
    """Hooks on every module of the process."""

    def write(hooks: dict[int, Any]) -> None:
        registered.clear()
        registered.update(hooks)

    return _Setting(lambda: dict(registered), write, {})


def _deterministic() -> tuple[bool, bool]:
    return torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()


# The precision of a backend's products follows that of all backends until it is set: the wider ones come first.
_SETTINGS = (
    _Setting(torch.get_default_dtype, torch.set_default_dtype, torch.float32),
    _Setting(
        _deterministic, lambda value: torch.use_deterministic_algorithms(value[0], warn_only=value[1]), (False, False)
    ),
    _Setting(cuda.math_sdp_enabled, cuda.enable_math_sdp, True),
    _Setting(cuda.flash_sdp_enabled, cuda.enable_flash_sdp, True),
    _Setting(cuda.mem_efficient_sdp_enabled, cuda.enable_mem_efficient_sdp, True),
    _Setting(cuda.cudnn_sdp_enabled, cuda.enable_cudnn_sdp, True),
    _attribute(torch.backends.mkldnn, "enabled", True),
    _attribute(torch.backends.mkldnn, "deterministic", False),
    _attribute(torch.backends, "fp32_precision", "none"),
    _attribute(torch.backends.mkldnn, "fp32_precision", "none"),
    _attribute(MKLDNN.matmul, "fp32_precision", "none"),
    _attribute(torch.backends.cuda.matmul, "fp32_precision", "none"),
    _hooks(modules._global_forward_pre_hooks),
    _hooks(modules._global_forward_hooks),
)


class _Process:
    """The settings of the process, at torch's defaults while any of our calls runs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls = 0
        self._put_aside: dict[int, Any] = {}  # by its index: the caller's value of a setting

    @contextmanager
    def defaults(self) -> Iterator[None]:
        with self._lock:
            self._calls += 1
            for index, setting in enumerate(_SETTINGS):
                value = setting.read()
                if value != setting.default:
                    self._put_aside[index] = value
                    setting.write(setting.default)
        try:
            yield
        finally:
            with self._lock:
                self._calls -= 1
                if not self._calls:
                    for index in sorted(self._put_aside, reverse=True):
                        _SETTINGS[index].write(self._put_aside.pop(index))


_PROCESS = _Process()


@contextmanager
def torch_defaults() -> Iterator[None]:
    """A block in which torch is as after its import, whatever the caller has set; gradients are not recorded."""
    with ExitStack() as stack:
        stack.enter_context(_thread_defaults())
        stack.enter_context(_PROCESS.defaults())
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.no_grad())
        yield


@contextmanager
def _thread_defaults() -> Iterator[None]:
    """Without this thread's modes, transforms and mixed precision. torch has no public way to leave its modes."""
    with ExitStack() as stack:
        if torch._C._functorch.peek_interpreter_stack() is not None:
            from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack

            stack.enter_context(temporarily_clear_interpreter_stack())
        if torch._C._len_torch_dispatch_stack():
            from torch.utils._python_dispatch import _disable_current_modes

            stack.enter_context(_disable_current_modes())
        if torch._C._len_torch_function_stack():
            stack.enter_context(_without_default_device())
        while torch._C._len_torch_function_stack():
            stack.enter_context(overrides._pop_mode_temporarily())
        accelerator = torch.accelerator.current_accelerator()
        for kind in ("cpu", *([] if accelerator is None else [accelerator.type])):
            if torch.is_autocast_enabled(kind):
                stack.enter_context(torch.autocast(kind, enabled=False))
        yield


@contextmanager
def _without_default_device() -> Iterator[None]:
    """torch notes the default device apart from its mode, where transformers reads it."""
    known = torch._GLOBAL_DEVICE_CONTEXT
    context = getattr(known, "device_context", None)
    known.device_context = None
    try:
        yield
    finally:
        known.device_context = context
