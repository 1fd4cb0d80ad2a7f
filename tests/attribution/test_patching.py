"""What heads recover is what hooks on the network outside of the tape say; everything put back is the clean run."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import bartviz
from bartviz.analysis import patching as analysis
from bartviz.analysis.patching import BYS, Patching
from bartviz.attribution import patching
from bartviz.attribution.patching import Put, _Pair
from bartviz.errors import Cancelled, SettingError, TextError
from bartviz.record.attention import Kind
from bartviz.record.record import Record
from tests.attribution import subjects
from tests.attribution.planted_cause import copier
from tests.support import loaded, networks
from tests.support.planted import SPECIAL, WORDS, translation

# The module whose input are the outputs of the heads of layer {}, by family and kind.
PROJECTIONS: dict[str, dict[Kind, str]] = {
    "bart": {
        "encoder": "model.encoder.layers.{}.self_attn.out_proj",
        "decoder": "model.decoder.layers.{}.self_attn.out_proj",
        "cross": "model.decoder.layers.{}.encoder_attn.out_proj",
    },
    "t5": {
        "encoder": "encoder.block.{}.layer.0.SelfAttention.o",
        "decoder": "decoder.block.{}.layer.0.SelfAttention.o",
        "cross": "decoder.block.{}.layer.1.EncDecAttention.o",
    },
    "gpt2": {"decoder": "transformer.h.{}.attn.c_proj"},
    "bert": {"encoder": "bert.encoder.layer.{}.attention.output.dense"},
}
FIRST, SECOND = 60, 61  # ids of two answers


def pair(family: str) -> tuple[Record, Record]:
    """A record, and that of a text with its last three tokens replaced, apart from the row that is compared."""
    one, model = subjects.record(family), loaded.model(family)
    other = one
    for place in np.flatnonzero(~one.source.special)[:-1][-3:]:
        other = bartviz.edit(model, other, int(place), 50 + int(place)).changed
    return one, other


def answers(family: str) -> tuple[int, int]:
    """The ids of two tokens that the two records of a family tell apart."""
    runs = _Pair(loaded.model(family), *pair(family), lambda: False)
    steps, _ids = runs.clean.scored()
    rows = [-1] if networks.FAMILIES[family].family.kind == "decoder" else steps.tolist()
    apart = (runs.was - runs.now)[rows]  # (T, V)
    row = int((apart.amax(-1) - apart.amin(-1)).argmax())
    return int(apart[row].argmax()), int(apart[row].argmin())


@contextmanager
def inputs(network: Any, paths: dict[tuple[Kind, int], str], put: dict[tuple[Kind, int], Any]) -> Iterator[Any]:
    """Within this block the inputs of projections are kept; some are changed first: a function of (1, Q, H * d)."""
    kept: dict[tuple[Kind, int], Tensor] = {}

    def hook(at: tuple[Kind, int]) -> Any:
        def change(_module: nn.Module, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
            kept[at] = given[0] if at not in put else put[at](given[0])
            return (kept[at], *given[1:])

        return change

    with ExitStack() as stack:
        for at, path in paths.items():
            handle = network.get_submodule(path).register_forward_pre_hook(hook(at))
            stack.callback(handle.remove)
        yield kept


@pytest.mark.slow
@pytest.mark.parametrize("family", PROJECTIONS)
def test_shares_are_those_of_hooks_on_the_network(family: str) -> None:
    one, other = pair(family)
    model, network = loaded.model(family), subjects.network(family)
    ids = answers(family)
    found = {by: bartviz.patch(model, one, other, ids, by=by) for by in BYS}
    row = found["head"].row
    paths = {
        (kind, layer): path.format(layer)
        for kind, path in PROJECTIONS[family].items()
        for layer in range(one.attention(kind).shape[0])
    }
    reads = one.attention("decoder").query.ids if one.cross is not None else None

    def difference(record: Record, put: dict[tuple[Kind, int], Any]) -> tuple[float, dict[tuple[Kind, int], Tensor]]:
        with torch.no_grad(), inputs(network, paths, put) as kept:
            logits = subjects.logits(network, subjects.given(record, target=reads))[row]
        return float(logits[ids[0]] - logits[ids[1]]), kept

    clean, kept = difference(one, {})
    corrupted, _ = difference(other, {})
    assert found["head"].clean == pytest.approx(clean, abs=1e-3)
    assert found["head"].corrupted == pytest.approx(corrupted, abs=1e-3)

    def share(kind: Kind, layer: int, head: int | None, place: int | None) -> float:
        def change(given: Tensor) -> Tensor:
            rows = slice(None) if place is None else place
            width = given.shape[-1] // one.attention(kind).shape[1]
            columns = slice(None) if head is None else slice(head * width, (head + 1) * width)
            changed = given.clone()
            changed[:, rows, columns] = kept[kind, layer][:, rows, columns]
            return changed

        return (difference(other, {(kind, layer): change})[0] - corrupted) / (clean - corrupted)

    near = 2e-3 / min(1.0, abs(clean - corrupted))
    for kind in one.kinds:
        layers, heads, rows, _columns = one.attention(kind).shape
        for layer in range(layers):
            of_heads = [share(kind, layer, head, None) for head in range(heads)]
            np.testing.assert_allclose(found["head"].recovered[kind][layer], of_heads, atol=near)
            of_rows = [share(kind, layer, None, place) for place in range(rows)]
            np.testing.assert_allclose(found["position"].recovered[kind][layer], of_rows, atol=near)
        both = [share(kind, 1, heads - 1, place) for place in range(rows)]
        np.testing.assert_allclose(found["head and position"].recovered[kind][1, heads - 1], both, atol=near)


@pytest.mark.slow
@pytest.mark.some
@pytest.mark.parametrize("family", networks.FAMILIES)
def test_everything_put_back_is_the_clean_run_and_nothing_the_corrupted_one(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a row whose own token is the same in both. (Cohere's logits are small: random networks tell little apart.)"""
    monkeypatch.setattr(patching, "LEAST", 0.01)
    one, other = pair(family)
    model = loaded.model(family)
    found = bartviz.patch(model, one, other, answers(family))
    assert found.everything == pytest.approx(1, abs=1e-3)
    assert {kind: shares.shape for kind, shares in found.recovered.items()} == {
        kind: one.attention(kind).shape[:2] for kind in one.kinds
    }
    runs = _Pair(model, one, other, lambda: False)
    every = [Put(kind, layer) for kind in one.kinds for layer in range(one.attention(kind).shape[0])]
    (logits,) = runs.runs([every, every])
    torch.testing.assert_close(logits[0, found.row], runs.was[found.row], atol=1e-3, rtol=1e-3)
    (nothing,) = runs.runs([[], []])
    torch.testing.assert_close(nothing[1], runs.now, atol=1e-4, rtol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 4, 6])
def test_a_planted_head_is_found(seed: int) -> None:
    """Cross-attention of the first layer alone copies the word whose translation comes; another word in its place is
    copied instead. Of all heads those two recover what differs, at the row that reads the translation's start."""
    model = copier(seed)
    random = np.random.default_rng(seed)
    chain = [SPECIAL + int(random.integers(WORDS))]
    for _ in range(6):
        chain += np.flatnonzero(translation(seed) == chain[-1]).tolist()
    words = model.tokenizer.convert_ids_to_tokens
    source = random.permutation(chain[1:]).tolist()
    one = bartviz.capture(model, " ".join(words(source)), target=" ".join(words(chain)))
    spare = next(i for i in range(SPECIAL, SPECIAL + WORDS) if i not in chain)
    text = " ".join(words([spare if i == chain[4] else i for i in source]))
    found = bartviz.patch(model, one, text, (chain[4], spare), step=5)
    kind, index, share = found.ranked()[0]
    assert (kind, index[0]) == ("cross", 0)
    assert share > 0.3
    assert max(float(np.abs(shares).max()) for kind, shares in found.recovered.items() if kind != "cross") < 0.1
    rows = bartviz.patch(model, one, text, (chain[4], spare), step=5, by="position")
    (best, *_) = rows.ranked()
    assert best[:2] == ("cross", (0, found.row))
    assert best[2] == pytest.approx(1, abs=0.1)


@pytest.mark.slow
def test_texts_of_other_lengths_are_compared_by_the_heads_of_the_decoder() -> None:
    model = bartviz.load("bart-tiny-en-de")
    texts = "I want to buy a car.", "I want to buy two very old houses."
    found = bartviz.patch(model, *texts)
    assert found.kinds == ("decoder", "cross")
    assert found.missing == ("encoder",)
    assert found.everything == pytest.approx(1, abs=1e-3)
    with pytest.raises(TextError, match="have 9 and "):
        bartviz.patch(model, *texts, kinds="encoder")
    with pytest.raises(TextError, match="equally many tokens"):
        bartviz.patch(bartviz.load("bert-tiny-en"), "A man is riding a <mask>.", "A <mask>.")


@pytest.mark.slow
def test_the_first_choices_are_compared_where_they_first_differ() -> None:
    model = bartviz.load("bart-tiny-en-de")
    found = bartviz.patch(model, "I want to buy a car.", "I want to buy a house.", kinds="cross")
    assert found.answers == ("Auto", "Haus")
    assert found.kinds == ("cross",)
    assert found.clean > 0 > found.corrupted
    named = bartviz.patch(model, "I want to buy a car.", "I want to buy a house.", ("Auto", "Haus"), kinds="cross")
    assert (named.ids, named.row) == (found.ids, found.row)
    np.testing.assert_array_equal(named.recovered["cross"], found.recovered["cross"])
    turned = bartviz.patch(model, "I want to buy a car.", "I want to buy a house.", ("Haus", "Auto"), kinds="cross")
    np.testing.assert_allclose(turned.recovered["cross"], found.recovered["cross"], atol=1e-5)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a way": ({"by": "layer"}, "no layer to put back: choose head"),
    "a kind": ({"kinds": ("self",)}, "heads of the kinds encoder, decoder"),
    "no kind": ({"kinds": ()}, "choose at least one"),
    "a step": ({"step": 99}, "no step 99 to compare: choose 0 to "),
    "an answer": ({"answers": (FIRST, 10**6)}, "not in the vocabulary"),
    "one answer": ({"answers": (FIRST, FIRST)}, "compared with itself"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_there_is_refused(name: str) -> None:
    options, said = WRONG[name]
    with pytest.raises(SettingError, match=said):
        bartviz.patch(loaded.model("bart"), *pair("bart"), **options)


@pytest.mark.slow
def test_a_share_of_nothing_is_refused(tmp_path: Any) -> None:
    one, model = subjects.record("bart"), loaded.model("bart")
    with pytest.raises(SettingError, match="the same after both texts"):
        bartviz.patch(model, one, one)
    with pytest.raises(SettingError, match="almost the same number of nats"):
        bartviz.patch(model, one, one, (FIRST, SECOND))
    bare = bartviz.load(networks.save("bert", tmp_path / "bare", architecture="BertModel"))
    with pytest.raises(SettingError, match="predicts no tokens"):
        bartviz.patch(bare, subjects.TEXT, subjects.TEXT)
    padded = bartviz.capture_batch(model, [subjects.TEXT, "The cat."], padded=True)[1]
    with pytest.raises(SettingError, match="has padding"):
        bartviz.patch(model, one, padded)
    with pytest.raises(SettingError, match="another model"):
        bartviz.patch(loaded.model("bart", 1), one, one)
    with pytest.raises(Cancelled):
        bartviz.patch(model, *pair("bart"), cancelled=lambda: True)


@pytest.mark.slow
def test_progress_counts_what_is_put_back() -> None:
    seen: list[tuple[int, int]] = []
    one, other = pair("bart")
    bartviz.patch(loaded.model("bart"), one, other, answers("bart"), on_progress=lambda *done: seen.append(done))
    total = 1 + sum(one.attention(kind).shape[0] * one.attention(kind).shape[1] for kind in one.kinds)
    assert seen[-1] == (total, total)


def by_hand(*shares: float) -> Patching:
    values = np.array([shares], np.float32)
    rows: dict[Kind, tuple[str, ...]] = {"cross": ("<s>", "a", "b")}
    return Patching("hand", "position", 2, ("x", "y"), (5, 6), 3.0, -1.0, {"cross": values}, 1.0, rows, rows)


def test_the_best_is_named_with_its_share() -> None:
    assert analysis.sentence(by_hand(0, 0.2, 0.75)) == (
        "Of what makes it “x” and not “y”, cross L0, row 2 (b) alone recovers 75%; one other recovers 10% or more. All "
        "together recover 100%."
    )
    assert "and no other 10%." in analysis.sentence(by_hand(0, 0, 0.75))
    assert analysis.sentence(by_hand(0, 0.05, 0)).startswith("No one part recovers 10% of the difference")


def test_the_table_has_a_line_for_each_share() -> None:
    one = by_hand(0, 0.25, 0.75)
    table = one.to_dataframe()
    assert table["recovered"].tolist() == [0, 0.25, 0.75]
    assert list(table.drop(columns="other token").itertuples(index=False))[2] == ("cross", 0, -1, 2, "b", 0.75)
    again = pickle.loads(pickle.dumps(one))
    assert again.rows == one.rows
    assert repr(again) == "<Patching by position: 'x' against 'y', cross [1, 3]>"
    with pytest.raises(ValueError, match="read-only"):
        one.recovered["cross"][0, 0] = 1
