"""Matrices as int8 with a scale for each row: what is written, what is read back, and what is refused."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import load_file as numpy_file
from safetensors.torch import load_file, save_file
from torch import Tensor

import bartviz
from bartviz.errors import BudgetError, ModelError
from bartviz.models import build, checkpoint, int8, weights
from bartviz.models.load import load
from tests.support import networks

FC1 = "model.encoder.layers.1.fc1.weight"
Change = Callable[[dict[str, Tensor]], object]


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of a small BART as transformers saves it, and with int8 matrices; not to be changed."""
    root = tmp_path_factory.mktemp("int8")
    networks.save("bart", root / "float32", trained=True)
    networks.save("bart", root / "int8", trained=True, int8=True)
    return root


@pytest.fixture
def bart(saved: Path, tmp_path: Path) -> Path:
    """A folder of our own with int8 matrices, to be spoiled."""
    return Path(shutil.copytree(saved / "int8", tmp_path / "bart"))


def expanded(file: Path) -> dict[str, Tensor]:
    """A file's numbers as NumPy multiplies them: in float64, where each product is exact, rounded to float32 once."""
    arrays = numpy_file(file)
    for name in [name for name, array in arrays.items() if array.dtype == np.int8]:
        scales = arrays.pop(name + weights.SCALE).astype(np.float64)  # (N,)
        arrays[name] = (arrays[name] * scales[:, None]).astype(np.float32)  # (N, D)
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


# By hand ------------------------------------------------------------------------------------------------------------


def test_a_row_is_its_integers_times_its_scale() -> None:
    matrix = torch.tensor([[127.0, -63.6, 0.4], [0.0, 0.0, 0.0], [-2.0, 1.0, 0.0]])
    values, scales = int8.rounded(matrix)
    assert values.tolist() == [[127, -64, 0], [0, 0, 0], [-127, 64, 0]]
    assert values.dtype == torch.int8
    assert scales.tolist() == pytest.approx([1.0, 0.0, 2 / 127])
    assert scales.dtype == torch.float32


def test_vectors_and_small_matrices_stay_floats() -> None:
    given = {"matrix": torch.ones(8, 9), "bias": torch.ones(8).half(), "types": torch.ones(2, 64), "row": torch.ones(9)}
    packed = int8.pack(given)
    assert {name: tensor.dtype for name, tensor in packed.items()} == {
        "matrix": torch.int8,
        "matrix.row_scale": torch.float32,
        "bias": torch.float32,
        "types": torch.float32,
        "row": torch.float32,
    }


# A file and a folder ------------------------------------------------------------------------------------------------


def test_the_file_says_what_it_is_and_takes_about_a_quarter(saved: Path) -> None:
    before, after = (saved / name / "model.safetensors" for name in ("float32", "int8"))
    with safe_open(after, "pt") as file:
        assert file.metadata() == {"format": "bartviz-int8"}
        assert file.get_slice(FC1).get_dtype() == "I8"
        assert file.get_slice(f"{FC1}.row_scale").get_shape() == file.get_slice(FC1).get_shape()[:1]
    assert after.stat().st_size < 0.45 * before.stat().st_size  # with rows of 32 numbers; 0.26 of a real network's


def test_writing_twice_gives_the_same_bytes_also_in_place(saved: Path, tmp_path: Path) -> None:
    first, again = saved / "int8" / "model.safetensors", tmp_path / "model.safetensors"
    int8.write(saved / "float32" / "model.safetensors", again)
    assert again.read_bytes() == first.read_bytes()
    shutil.copyfile(saved / "float32" / "model.safetensors", again)
    int8.write(again, again)
    assert again.read_bytes() == first.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]


def test_a_model_is_loaded_with_the_numbers_that_numpy_computes(saved: Path) -> None:
    model, plain = load(saved / "int8"), load(saved / "float32")
    loaded = model.network.state_dict()
    for name, tensor in expanded(saved / "int8" / "model.safetensors").items():
        assert torch.equal(loaded[name], tensor), name
        assert loaded[name].dtype == torch.float32
    assert model.network.lm_head.weight is model.network.model.shared.weight
    assert (model.nbytes, model.notices) == (plain.nbytes, ())
    assert model.nbytes == build.predicted_bytes(checkpoint.sanitise(model.config.to_dict()))
    assert model.info.fingerprint != plain.info.fingerprint
    assert model.info.parameters == plain.info.parameters


@pytest.mark.slow
@pytest.mark.parametrize("family", ["bert-pretraining", "gpt2", "t5", "marian", "gpt_oss"])
def test_other_families_are_read_too(family: str, tmp_path: Path) -> None:
    folder = networks.save(family, tmp_path, trained=True, int8=True)
    model = load(folder)
    loaded = model.network.state_dict()
    for name, tensor in expanded(folder / "model.safetensors").items():
        assert torch.equal(loaded[name], tensor), name
    assert bartviz.capture(model, networks.PROBE).sound


@pytest.mark.slow
def test_shards_are_written_one_by_one(saved: Path, tmp_path: Path) -> None:
    folder = networks.save("bart", tmp_path, trained=True, shard="100KB")
    for shard in folder.glob("*.safetensors"):
        int8.write(shard, shard)
    whole, parts = load(saved / "int8"), load(folder)
    for name, tensor in whole.network.state_dict().items():
        assert torch.equal(parts.network.state_dict()[name], tensor)


def test_a_text_is_written_and_its_record_passes_every_check(saved: Path) -> None:
    record = bartviz.decode(load(saved / "int8"), "I want to buy a car.")
    assert record.sound
    assert all(check.passed for check in record.check())
    assert record.steps


def test_scales_may_be_float16(bart: Path, saved: Path) -> None:
    rewrite(bart, lambda t: t.update({f"{FC1}.row_scale": t[f"{FC1}.row_scale"].half()}))
    matrix, exact = (dict(load(path).network.named_parameters())[FC1] for path in (bart, saved / "int8"))
    torch.testing.assert_close(matrix, exact, rtol=1e-3, atol=0)


def test_memory_is_counted_as_float32_before_any_weight_is_read(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (weights.check_file(saved / name / "model.safetensors") for name in ("float32", "int8"))
    assert one == other
    monkeypatch.setattr(weights, "read", lambda *_: pytest.fail("weights were read"))
    with pytest.raises(BudgetError):
        load(saved / "int8", budget=one - 1)


# What is refused ----------------------------------------------------------------------------------------------------


def rewrite(folder: Path, change: Change, word: str | None = "bartviz-int8") -> None:
    """Change the tensors of a folder's weights, and perhaps the metadata's word."""
    path = folder / "model.safetensors"
    tensors = load_file(path)
    change(tensors)
    save_file({name: tensor.clone() for name, tensor in tensors.items()}, path, word and {"format": word})


def refused(folder: Path) -> str:
    with pytest.raises(ModelError) as caught:
        load(folder)
    assert str(folder) not in str(caught.value)
    return str(caught.value)


def without(name: str) -> Change:
    return lambda tensors: tensors.pop(name)


def put(name: str, value: Callable[[Tensor], Tensor]) -> Change:
    return lambda tensors: tensors.update({name: value(tensors[name])})


def at_first(number: float) -> Callable[[Tensor], Tensor]:
    def changed(tensor: Tensor) -> Tensor:
        tensor.view(-1)[0] = number
        return tensor

    return changed


SCALES = f"{FC1}.row_scale"
HEADERS: dict[str, tuple[Change, str]] = {
    "no scale": (without(SCALES), f"{FC1} is stored as int8 without one scale"),
    "a scale less": (put(SCALES, lambda t: t[:-1]), "without one scale for each of its rows"),
    "a scale more": (put(SCALES, lambda t: torch.cat([t, t[:1]])), "without one scale for each of its rows"),
    "one for all": (put(SCALES, lambda t: t[0]), "without one scale for each of its rows"),
    "one for each column": (put(SCALES, lambda t: t[:32]), "without one scale for each of its rows"),
    "two axes of scales": (put(SCALES, lambda t: t[:, None]), "without one scale for each of its rows"),
    "integer scales": (put(SCALES, lambda t: t.to(torch.int32)), "float32 or float16"),
    "an int8 vector": (
        put("model.encoder.layers.1.fc1.bias", lambda t: t.to(torch.int8)),
        "fc1.bias is stored as int8",
    ),
    "int8 of three axes": (put(FC1, lambda t: t[..., None]), f"{FC1} is stored as int8 without"),
    "no matrix": (without(FC1), f"does not store as int8: {SCALES}."),
    "a matrix of floats": (put(FC1, lambda t: t.float()), f"does not store as int8: {SCALES}."),
}
NUMBERS: dict[str, tuple[Change, str]] = {
    "a negative scale": (put(SCALES, at_first(-0.5)), f"{FC1} holds int8 numbers below -127 or negative scales"),
    "a scale of NaN": (put(SCALES, at_first(float("nan"))), f"{FC1} holds numbers that are not finite"),
    "an infinite scale": (put(SCALES, at_first(float("inf"))), f"{FC1} holds numbers that are not finite"),
    "a scale too large": (put(SCALES, at_first(3e38)), f"{FC1} holds numbers that are not finite"),
    "an integer of -128": (put(FC1, at_first(-128)), f"{FC1} holds int8 numbers below -127"),
    "int16": (put(FC1, lambda t: t.to(torch.int16)), "does not store as int8"),
    "a matrix of another shape": (put(FC1, lambda t: t[:, :-1]), f"{FC1} has another shape"),
    "a matrix less": (lambda t: (t.pop(FC1), t.pop(SCALES)), "lacks 1 of the network's weights"),
    "a matrix more": (
        lambda t: t.update({"model.encoder.more": t[FC1], "model.encoder.more.row_scale": t[SCALES]}),
        "does not describe: model.encoder.more.",
    ),
}


@pytest.mark.parametrize("case", HEADERS)
def test_matrices_and_scales_that_do_not_go_together_are_refused_before_any_is_read(
    case: str, bart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change, words = HEADERS[case]
    rewrite(bart, change)
    monkeypatch.setattr(weights, "read", lambda *_: pytest.fail("weights were read"))
    assert words in refused(bart)


@pytest.mark.parametrize("case", NUMBERS)
def test_numbers_that_cannot_be_are_refused(case: str, bart: Path) -> None:
    change, words = NUMBERS[case]
    rewrite(bart, change)
    assert words in refused(bart)


@pytest.mark.parametrize("word", [None, "pt", "bartviz-int4"])
def test_int8_is_read_from_files_that_say_so_alone(word: str | None, bart: Path) -> None:
    rewrite(bart, lambda _: None, word)
    assert "stored as I8: quantized models cannot be read" in refused(bart)


@pytest.mark.parametrize("left", [0, 7, 100, 3000, -1])
def test_a_file_that_is_cut_is_damaged(left: int, bart: Path) -> None:
    path = bart / "model.safetensors"
    path.write_bytes(path.read_bytes()[:left])
    assert "empty, cut off or damaged" in refused(bart)


def test_numbers_that_are_not_finite_are_not_written(saved: Path, tmp_path: Path) -> None:
    shutil.copytree(saved / "float32", tmp_path / "bart")
    rewrite(tmp_path / "bart", lambda t: t[FC1].__setitem__((0, 0), float("nan")), "pt")
    with pytest.raises(ModelError, match=f"{FC1} holds numbers that are not finite"):
        int8.write(tmp_path / "bart" / "model.safetensors", tmp_path / "small.safetensors")
    assert not (tmp_path / "small.safetensors").exists()


# Properties ---------------------------------------------------------------------------------------------------------

NUMBER = st.floats(-1e6, 1e6, width=32).filter(lambda number: number == 0 or abs(number) > 1e-30)
SHAPES = st.tuples(st.integers(8, 12), st.integers(8, 20))


@st.composite
def matrices(draw: st.DrawFn) -> Tensor:
    rows, columns = draw(SHAPES)
    numbers = draw(st.lists(NUMBER, min_size=rows * columns, max_size=rows * columns))
    return torch.tensor(numbers).reshape(rows, columns)


@given(matrices())
def test_no_entry_is_off_by_more_than_half_a_scale(matrix: Tensor) -> None:
    values, scales = int8.rounded(matrix)
    error = (values.double() * scales.double()[:, None] - matrix.double()).abs()
    assert bool((error <= scales.double()[:, None] * (0.5 + 1e-4)).all())  # float32's own rounding
    largest = matrix.abs().amax(1)
    assert values.abs().amax(1).tolist() == [127 if size else 0 for size in largest.tolist()]


@given(matrices())
def test_what_was_expanded_rounds_to_the_same_integers(matrix: Tensor) -> None:
    values, scales = int8.rounded(matrix)
    again, close = int8.rounded(values.float() * scales[:, None])
    assert torch.equal(values, again)
    torch.testing.assert_close(close, scales, rtol=1e-6, atol=0)
