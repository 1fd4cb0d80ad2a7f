"""The arithmetic of one row by hand (d = 2, three keys), then against the network's modules, then as properties."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

import bartviz
from bartviz.analysis import contributions, inside
from bartviz.arrays import Floats
from bartviz.errors import SettingError
from bartviz.record.attention import Attention, Kind
from bartviz.record.record import Record
from tests.support import loaded, networks, records, stand_in

TEXT = "The cat is sleeping on the sofa, but the children played outside."
TARGET = "Die Katze schläft auf dem Sofa."


def numbers(values: object, *shape: int) -> Floats:
    return np.array(values, np.float32).reshape(shape)


def by_hand(bias: list[float] | None = None, mask: tuple[bool, ...] = (True, True, True)) -> Attention:
    """q = (1, 2), keys (1, 0), (0, 1), (1, 1): products 1, 2, 3; scale ln 2: weights 2 : 4 : 8.

    Values (7, 0), (0, 7), (7, 7); the output matrix doubles; its bias is (1, 1).
    """
    keys = stand_in.tokens(("a", "b", "c"))
    return Attention(
        "cross",
        numbers([1, 2], 1, 1, 1, 2),
        numbers([1, 0, 0, 1, 1, 1], 1, 1, 3, 2),
        math.log(2),
        np.array([mask]),
        keys.take(slice(1)),
        keys,
        v=numbers([7, 0, 0, 7, 7, 7], 1, 1, 3, 2),
        bias=None if bias is None else numbers(bias, 1, 1, 3),
        out=numbers([2, 0, 0, 2], 1, 2, 1, 2),
        out_bias=numbers([1, 1], 1, 2),
    )


def test_the_arithmetic_by_hand() -> None:
    one = inside.inside(by_hand(), 0, 0, 0)
    assert one.products(2).tolist() == [1, 2]
    assert one.dots.tolist() == [1, 2, 3]
    np.testing.assert_allclose(one.scores, np.log([2, 4, 8]), rtol=1e-6)
    np.testing.assert_allclose(one.weights, [1 / 7, 2 / 7, 4 / 7], rtol=1e-6)
    assert one.context is not None
    np.testing.assert_allclose(one.context, [5, 6], rtol=1e-6)  # 1 * 7/7 + 4, 2 + 4
    assert one.added is not None
    assert one.block is not None
    np.testing.assert_allclose(one.added, [10, 12], rtol=1e-6)
    np.testing.assert_allclose(one.block, [11, 13], rtol=1e-6)
    assert one.shares is not None
    assert one.shares.tolist() == [1.0]
    assert one.strongest == 2


def test_the_bias_comes_after_the_scale() -> None:
    one = inside.inside(by_hand(bias=[math.log(4), math.log(2), 0]), 0, 0, 0)  # 8 : 8 : 8
    np.testing.assert_allclose(one.weights, [1 / 3] * 3, rtol=1e-6)
    steps = inside.equation(one, 0)
    assert [value for value, _ in steps] == [
        "1.0000",
        "× 0.693147",
        "+ 1.3863",
        "= 2.0794",
        "e^(2.0794 − 2.0794) / 3.0000",
        "= 0.333",
    ]


def test_numbers_below_zero_have_a_minus_sign() -> None:
    attention = replace(by_hand(bias=[0, 0, -1.5]), scale=-math.log(2))  # scores ln 1/2, ln 1/4, ln 1/8 - 1.5
    one = inside.inside(attention, 0, 0, 0)
    assert "score −0.69, the next −1.39" in inside.sentence(one)
    values = [value for value, _ in inside.equation(one, 2)]
    assert values[2:5] == ["− 1.5000", "= −3.5794", "e^(−3.5794 + 0.6931) / 1.5558"]


def test_a_masked_key_has_no_weight_and_says_why() -> None:
    one = inside.inside(by_hand(mask=(True, True, False)), 0, 0, 0)  # 2 : 4
    np.testing.assert_allclose(one.weights, [1 / 3, 2 / 3, 0], rtol=1e-6)
    assert inside.equation(one, 2)[-2:] == (("−∞", "mask: may not be seen"), ("0", "weight, exactly"))
    assert "fits “b” of “abc” best: score 1.39, the next 0.69" in inside.sentence(one)


def test_the_equation_ends_at_the_weight() -> None:
    one = inside.inside(by_hand(), 0, 0, 0)
    assert inside.equation(one, 1) == (
        ("2.0000", "q · k, the sum of 2 products"),
        ("× 0.693147", "scale of this model"),
        ("= 1.3863", "score"),
        (
            "e^(1.3863 − 2.0794) / 1.7500",
            "softmax: e to the score minus the largest, divided by the sum over all keys",
        ),  # 1 + 1/2 + 1/4
        ("= 0.286", "weight"),
    )


@pytest.mark.parametrize(
    ("scale", "factor", "divisor"),
    [
        (0.5, "÷ √4", "√4 = 2"),
        (6**-0.5, "÷ √6", "√6 ≈ 2.449"),  # DeBERTa's is three times the width
        (1.0, "× 1", ""),
        (2.0, "× 2", ""),
        (-0.5, "× -0.5", ""),
        (0.3, "× 0.3", ""),
        (1 / 128, "× 0.0078125", ""),  # a number of its own, as Granite's
    ],
)
def test_the_scale_is_a_square_root_where_it_is_one(scale: float, factor: str, divisor: str) -> None:
    one = inside.inside(replace(by_hand(), scale=scale), 0, 0, 0)
    assert (one.width, one.factor, one.divisor) == (2, factor, divisor)


def read(written: str) -> float:
    root = written.startswith("÷ √")
    number = float(written.lstrip("=×÷+√ ").replace("−", "-").replace(" ", ""))
    return number**-0.5 if root else number


@pytest.mark.slow
@given(records.attentions())
def test_what_is_written_can_be_worked_out_by_hand(attention: Attention) -> None:
    """Each written number follows from those before it, as they are written, to the last of its digits or one off."""
    one = inside.inside(attention, 0, attention.shape[1] - 1, attention.shape[2] - 1)
    for key in np.flatnonzero(one.mask):
        values = [value for value, _ in inside.equation(one, int(key))]
        dot, scale, *bias, score, weight = [read(value) for value in (*values[:-2], values[-1])]
        assert dot * scale + sum(bias) == pytest.approx(score, abs=3e-4)
        power, total = values[-2].removeprefix("e^(").split(") / ")
        first, sign, second = power.split(" ")
        assert read(first) == score
        found = math.exp(read(first) + (1 if sign == "+" else -1) * read(second)) / float(total)
        assert found == pytest.approx(weight, abs=7.5e-4 if weight >= 5e-4 else 0.1 * weight)


def test_a_weight_that_is_not_0_is_not_written_so() -> None:
    attention = replace(by_hand(), k=numbers([0, 0, 0, 9, 30, 0], 1, 1, 3, 2))  # products 0, 18, 30
    values = [inside.equation(inside.inside(attention, 0, 0, 0), key)[-1][0] for key in range(3)]
    # 2^-30 and 2^-12
    assert values == ["= 9.3e−10", "= 0.00024", "= 1.000"]


def test_a_wholly_masked_row_has_no_weight_of_0() -> None:
    one = inside.inside(by_hand(mask=(False,) * 3), 0, 0, 0)
    mask, (weight, said) = inside.equation(one, 2)[-2:]
    assert (mask[0], weight) == ("−∞", "= 0.333")
    assert "means nothing" in said


@pytest.mark.parametrize(
    ("mask", "said"),
    [((True, False, False), "may see only “a”"), ((False, False, False), "are masked"), ((True,) * 3, "0.571")],
)
def test_the_sentence_says_what_there_is(mask: tuple[bool, ...], said: str) -> None:
    assert said in inside.sentence(inside.inside(by_hand(mask=mask), 0, 0, 0))


def test_others_act_as_one_key() -> None:
    one = inside.inside(by_hand(), 0, 0, 0)
    shown = inside.shown(one, "strongest", most=1)
    assert (shown.keys, shown.rest) == ((2,), 2)
    assert shown.rest_weight == pytest.approx(3 / 7)
    assert shown.rest_score == pytest.approx(math.log(2 + 4))
    assert shown.rest_value is not None
    np.testing.assert_allclose(shown.rest_value * shown.rest_weight, [1, 2], rtol=1e-6)
    assert inside.shown(one, "first", most=2).keys == (0, 1)
    assert inside.shown(one, "last", most=2).keys == (1, 2)
    assert inside.shown(one, "strongest", most=2, keep=0).keys == (0, 2)
    assert inside.shown(one).rest == 0
    with pytest.raises(SettingError, match="strongest"):
        inside.shown(one, "loudest")  # type: ignore[arg-type]


def test_the_tables_hold_every_number() -> None:
    one = inside.inside(by_hand(bias=[0.5, 0, 0]), 0, 0, 0)
    frame = inside.table(one)
    assert frame["token"].tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(frame["q·k"] * frame["scale"] + frame["bias"], frame["score"], rtol=1e-6)
    assert inside.dimensions(one, 2)["sum"].tolist() == [1, 3]
    kept = inside.arrays(one)
    assert set(kept) >= {"q", "k", "v", "weights", "output", "bias"}
    np.testing.assert_array_equal(kept["output"], one.context)


def test_without_values_it_ends_at_the_weights() -> None:
    bare = replace(by_hand(), v=None, out=None, out_bias=None)
    one = inside.inside(bare, 0, 0, 0)
    assert (one.v, one.context, one.shares) == (None, None, None)
    assert "output" not in inside.arrays(one)
    assert "length of v" not in inside.table(one)
    with pytest.raises(SettingError, match="without values"):
        inside.growth(bare, 0)


@pytest.mark.parametrize("place", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, -1)])
def test_what_is_not_there_is_refused(place: tuple[int, int, int]) -> None:
    with pytest.raises(SettingError, match="choose 0 to 0"):
        inside.inside(by_hand(), *place)


Seen = dict[str, Floats]
PATHS: dict[tuple[str, Kind], tuple[str, tuple[str, ...], str]] = {
    ("bert", "encoder"): ("bert.encoder.layer.1.attention.self", ("query", "key", "value"), "../output.dense"),
    ("bart", "encoder"): ("model.encoder.layers.1.self_attn", ("q_proj", "k_proj", "v_proj"), "out_proj"),
    ("bart", "decoder"): ("model.decoder.layers.1.self_attn", ("q_proj", "k_proj", "v_proj"), "out_proj"),
    ("bart", "cross"): ("model.decoder.layers.1.encoder_attn", ("q_proj", "k_proj", "v_proj"), "out_proj"),
    ("t5", "encoder"): ("encoder.block.1.layer.0.SelfAttention", ("q", "k", "v"), "o"),
    ("t5", "decoder"): ("decoder.block.1.layer.0.SelfAttention", ("q", "k", "v"), "o"),
    ("t5", "cross"): ("decoder.block.1.layer.1.EncDecAttention", ("q", "k", "v"), "o"),
    ("gpt2", "decoder"): ("transformer.h.1.attn", ("c_attn",), "c_proj"),
}


@contextmanager
def watched(network: nn.Module, place: str, names: tuple[str, ...], projection: str) -> Iterator[Seen]:
    """What the modules of one block put out, and what its projection takes in: by hooks of torch's own."""
    seen: Seen = {}
    start = place.rpartition(".")[0] if projection.startswith("../") else place
    modules = {name: network.get_submodule(f"{place}.{name}") for name in names}
    last = network.get_submodule(f"{start}.{projection.removeprefix('../')}")

    def keep(name: str) -> Callable[[nn.Module, tuple[Tensor, ...], Tensor], None]:
        return lambda module, args, out: seen.__setitem__(name, out[0].numpy())

    handles = [module.register_forward_hook(keep(name)) for name, module in modules.items()]
    handles.append(
        last.register_forward_hook(lambda m, args, out: seen.update(joined=args[0][0].numpy(), block=out[0].numpy()))
    )
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()


def network_of(family: str, record: Record, place: tuple[str, tuple[str, ...], str]) -> tuple[Seen, dict[str, Floats]]:
    """The reference network, with transformers' eager attention, over the tokens of the record."""
    network = loaded.reference(family)
    inputs = {"input_ids": torch.from_numpy(record.source.ids.copy())[None]}
    if record.cross is not None:
        inputs["decoder_input_ids"] = torch.from_numpy(record.cross.query.ids.copy())[None]
    with torch.inference_mode(), watched(network, *place) as seen:
        out = network(**inputs, output_attentions=True)
    if record.cross is not None:
        named = {"encoder": out.encoder_attentions, "decoder": out.decoder_attentions, "cross": out.cross_attentions}
    else:
        named = {record.kinds[0]: out.attentions}
    return seen, {kind: layers[1][0].numpy() for kind, layers in named.items()}


@pytest.mark.parametrize(("family", "kind"), PATHS)
def test_every_number_is_the_networks_own(family: str, kind: Kind) -> None:
    target = TARGET if family in networks.ENCODER_DECODERS else None
    record = bartviz.capture(loaded.model(family), TEXT, target=target, values=True)
    attention = record.attention(kind)
    seen, weights = network_of(family, record, PATHS[family, kind])
    heads, width = attention.shape[1], attention.queries.shape[3]
    row, head = attention.shape[2] - 2, heads - 1
    part = slice(head * width, (head + 1) * width)
    if family == "gpt2":
        parts = dict(zip("qkv", np.split(seen["c_attn"], 3, axis=-1), strict=True))
    else:
        parts = dict(zip("qkv", (seen[name] for name in PATHS[family, kind][1]), strict=True))
    one = inside.inside(attention, 1, head, row)
    np.testing.assert_allclose(one.q * one.scale, parts["q"][row, part] * one.scale, rtol=1e-4, atol=2e-4)
    np.testing.assert_allclose(one.k, parts["k"][:, part], rtol=1e-4, atol=2e-4)
    assert one.v is not None
    np.testing.assert_allclose(one.v, parts["v"][:, part], rtol=1e-4, atol=2e-4)
    np.testing.assert_allclose(one.weights, weights[kind][head, row], atol=2e-5)
    assert one.context is not None
    assert one.block is not None
    np.testing.assert_allclose(one.context, seen["joined"][row, part], rtol=1e-4, atol=2e-4)
    np.testing.assert_allclose(one.block, seen["block"][row], rtol=1e-4, atol=2e-4)
    np.testing.assert_allclose(inside.growth(attention, row)[1], np.linalg.norm(seen["block"][row]), rtol=1e-4)


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_t5s_bias_is_its_table_of_distances(kind: Kind) -> None:
    model = loaded.model("t5")
    attention = bartviz.capture(model, TEXT, target=TARGET, values=True).attention(kind)
    module = model.network.get_submodule(f"{kind}.block.0.layer.0.SelfAttention")
    rows = attention.shape[2]
    with torch.inference_mode():
        expected = module.compute_bias(rows, rows)[0]  # type: ignore[operator,unused-ignore]
    for layer in (0, 1):
        one = inside.inside(attention, layer, 2, rows - 1)
        assert one.bias is not None
        np.testing.assert_allclose(one.bias[one.mask], expected[2, rows - 1].numpy()[one.mask], atol=1e-6)
        assert one.scale == 1


@pytest.mark.slow
@given(records.attentions(), st.integers(1, 9))
def test_a_row_is_that_of_the_head_and_the_others_lose_nothing(attention: Attention, most: int) -> None:
    layers, heads, rows, _ = attention.shape
    one = inside.inside(attention, layers - 1, heads - 1, rows - 1)
    np.testing.assert_allclose(one.weights, attention.head(layers - 1, heads - 1)[rows - 1], atol=1e-5)
    np.testing.assert_allclose(one.scores, attention.scores(layers - 1, heads - 1)[rows - 1], rtol=1e-4, atol=1e-4)
    assert one.context is not None
    assert one.shares is not None
    assert one.block is not None
    added = contributions.lengths(attention)[layers - 1, :, rows - 1]
    shares = added / added.sum() if added.any() else np.full(heads, 1 / heads)
    np.testing.assert_allclose(one.shares, shares, atol=1e-4)
    np.testing.assert_allclose(one.block, contributions.output(attention, layers - 1)[rows - 1], rtol=1e-3, atol=1e-3)
    assert one.v is not None
    shown = inside.shown(one, "strongest", most)
    keys = list(shown.keys)
    assert len(keys) + shown.rest == len(one.keys)
    assert one.weights[keys].sum() + shown.rest_weight == pytest.approx(1, abs=1e-5)
    rest = 0 if shown.rest_value is None else shown.rest_weight * shown.rest_value
    np.testing.assert_allclose(one.weights[keys] @ one.v[keys] + rest, one.context, rtol=1e-3, atol=1e-4)
    if not one.masked and shown.rest_score is not None:
        seen = one.scores[[key for key in keys if one.mask[key]]]
        whole = np.logaddexp.reduce(np.append(seen, shown.rest_score))
        assert math.exp(shown.rest_score - whole) == pytest.approx(shown.rest_weight, rel=1e-3, abs=1e-6)
