"""What a caller has switched on in torch reaches no number, and is as it was afterwards."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.backends import mkldnn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.modules.module import register_module_forward_hook
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

import bartviz
from bartviz.errors import ModelError
from bartviz.models.model import Model
from bartviz.record.record import Record
from tests.support import networks

TEXT = "The cat is going to buy a car."


class Doubled(TorchFunctionMode):
    """Every linear layer gives twice its output."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        return result * 2 if func is torch.nn.functional.linear else result


class DoubledBelow(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Every matrix product gives twice its result."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        return result * 2 if any(word in str(func) for word in ("linear", "mm")) else result


@contextmanager
def setting(read: Callable[[], Any], write: Callable[[Any], Any], value: Any) -> Iterator[None]:
    before = read()
    write(value)
    try:
        yield
        assert read() == value, "the caller's setting is as it was"
    finally:
        write(before)


def default_dtype(dtype: torch.dtype) -> AbstractContextManager[None]:
    return setting(torch.get_default_dtype, torch.set_default_dtype, dtype)


@contextmanager
def default_device(name: str) -> Iterator[None]:
    torch.set_default_device(name)
    try:
        yield
        assert torch.get_default_device() == torch.device(name)
        assert torch.empty(1).device == torch.device(name)
    finally:
        torch.set_default_device(None)


@contextmanager
def deterministic(*, warn_only: bool) -> Iterator[None]:
    torch.use_deterministic_algorithms(True, warn_only=warn_only)
    try:
        yield
        assert torch.are_deterministic_algorithms_enabled()
        assert torch.is_deterministic_algorithms_warn_only_enabled() == warn_only
    finally:
        torch.use_deterministic_algorithms(False)


@contextmanager
def hooks_everywhere() -> Iterator[None]:
    double: Any = lambda module, given, out: out * 2 if isinstance(out, torch.Tensor) else None  # noqa: E731
    handle = register_module_forward_hook(double)
    try:
        yield
        assert torch.nn.Linear(1, 1, bias=False)(torch.zeros(1)).shape == (1,)
    finally:
        handle.remove()


@contextmanager
def products(precision: str) -> Iterator[None]:
    with setting(torch.get_float32_matmul_precision, torch.set_float32_matmul_precision, precision):
        yield


@contextmanager
def together() -> Iterator[None]:
    """What changes numbers silently, all at once."""
    with ExitStack() as stack:
        for context in (CONTEXTS[name] for name in ("float16", "float64 by default", "no kernel", "function mode")):
            stack.enter_context(context())
        yield


CONTEXTS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "bfloat16": lambda: torch.autocast("cpu", torch.bfloat16),
    "float16": lambda: torch.autocast("cpu", torch.float16),
    "float64 by default": lambda: default_dtype(torch.float64),
    "bfloat16 by default": lambda: default_dtype(torch.bfloat16),
    "inference mode": torch.inference_mode,
    "no gradients": torch.no_grad,
    "gradients": torch.enable_grad,
    "deterministic": lambda: deterministic(warn_only=False),
    "deterministic, warning": lambda: deterministic(warn_only=True),
    "meta device": lambda: torch.device("meta"),
    "meta device by default": lambda: default_device("meta"),
    "fake tensors": FakeTensorMode,
    "function mode": Doubled,
    "dispatch mode": DoubledBelow,
    "anomalies": lambda: torch.autograd.set_detect_anomaly(True),
    "plain kernel": lambda: sdpa_kernel(SDPBackend.MATH),
    "no kernel": lambda: sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION),
    "no mkldnn": lambda: setting(lambda: mkldnn.enabled, lambda value: setattr(mkldnn, "enabled", value), False),
    "products in bfloat16": lambda: products("medium"),
    "hooks everywhere": hooks_everywhere,
    "together": together,
}


@pytest.fixture(scope="module")
def written() -> tuple[Any, Any]:
    return networks.build("bart", spread=0.3)


@pytest.fixture(scope="module")
def read() -> tuple[Any, Any]:
    return networks.build("bert-pretraining", spread=0.3)


def numbers(*records: Record) -> list[Any]:
    arrays = [array for record in records for array in record.to_numpy().values()]
    return [*arrays, *(step.log_probability for record in records for step in record.steps)]


def everything(network: Any, words: Any) -> list[Any]:
    model = bartviz.wrap(network, words)
    return numbers(
        bartviz.decode(model, TEXT, max_new_tokens=2), bartviz.capture(model, TEXT, target="Ja.", values=True)
    )


@pytest.fixture(scope="module")
def plain(written: tuple[Any, Any], read: tuple[Any, Any]) -> list[Any]:
    return [*everything(*written), *numbers(bartviz.capture(read[0], TEXT, tokenizer=read[1]))]


# One of each kind: what casts, makes other tensors, computes by other kernels, listens, and several at once.
@pytest.mark.some(
    *("bfloat16", "float64 by default", "inference mode", "meta device by default", "fake tensors", "no kernel"),
    *("dispatch mode", "hooks everywhere", "together"),
)
@pytest.mark.parametrize("name", CONTEXTS)
def test_the_record_is_the_same_in_any_context(
    name: str, written: tuple[Any, Any], read: tuple[Any, Any], plain: list[Any]
) -> None:
    with CONTEXTS[name]():
        found = [*everything(*written), *numbers(bartviz.capture(read[0], TEXT, tokenizer=read[1]))]
    for number, expected in zip(found, plain, strict=True):
        np.testing.assert_array_equal(number, expected)


def test_fewer_threads_change_rounding_alone(written: tuple[Any, Any], plain: list[Any]) -> None:
    with setting(torch.get_num_threads, torch.set_num_threads, 1):
        found = everything(*written)
    for number, expected in zip(found, plain, strict=False):
        np.testing.assert_allclose(number, expected, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["together", "meta device by default", "fake tensors"])
def test_a_model_loads_and_is_tested_in_any_context(name: str, tmp_path: Path) -> None:
    folder = networks.save("bart", tmp_path / "model", spread=0.3)

    def work() -> list[Any]:
        model: Model = bartviz.load(folder)
        record = bartviz.decode(model, TEXT, max_new_tokens=4)
        ablated = bartviz.ablate(model, record, ["cross L1H1"])
        edited = bartviz.edit(model, record, 2, 30)
        branched = bartviz.branch(model, record, 1, 30)
        swept = bartviz.ablate_sweep(model, record)
        attributed = bartviz.attribute(model, record, method="gradient x input", step=1)
        assert all(not check.failed for check in bartviz.verify(model, record))
        together = bartviz.capture_batch(model, [TEXT, "It is late."], targets=["Ja.", "Es ist."])
        drawn = bartviz.decode(model, TEXT, sample=bartviz.Sampling(seed=3), max_new_tokens=4)
        searched = bartviz.decode(model, TEXT, beams=2, max_new_tokens=4)
        together += bartviz.decode_batch(model, [TEXT, "It is late."], max_new_tokens=3)
        return [
            *numbers(record, ablated.changed, branched, drawn, searched, *together),
            *edited.hidden.values(),
            swept.divergence,
            attributed.values,
            ablated.effect,
        ]

    expected = work()
    with CONTEXTS[name]():
        found = work()
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_transform_around_a_call_changes_nothing(written: tuple[Any, Any], plain: list[Any]) -> None:
    found: list[Any] = []

    def inside(number: torch.Tensor) -> torch.Tensor:
        found.extend(everything(*written))
        return number * 2

    assert torch.func.vmap(inside)(torch.ones(3)).tolist() == [2, 2, 2]
    for number, expected in zip(found, plain, strict=False):
        np.testing.assert_array_equal(number, expected)


def test_settings_come_back_after_the_last_of_several_calls_and_after_an_error(written: tuple[Any, Any]) -> None:
    network, words = written
    model, stopped = bartviz.wrap(network, words), []

    def slow() -> None:
        stopped.append(bartviz.decode(model, TEXT, max_new_tokens=20).sound)

    with default_dtype(torch.float64):
        threads = [threading.Thread(target=slow) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert torch.get_default_dtype() == torch.float64
        with pytest.raises(ModelError):
            bartviz.wrap(network, None)
        assert torch.get_default_dtype() == torch.float64
    assert stopped == [True, True, True]


def test_a_network_of_fake_tensors_is_refused_with_the_cause() -> None:
    plain, words = networks.build("bert-pretraining")
    with FakeTensorMode():
        network = type(plain)(plain.config)
    with pytest.raises(ModelError, match="not in memory"):
        bartviz.wrap(network, words)
