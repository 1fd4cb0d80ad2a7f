"""Heads silenced and scaled, against networks whose heads were silenced by hand; and what must not change."""

from __future__ import annotations

import copy
import threading
from functools import cache
from itertools import count
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from transformers import PreTrainedModel

import bartviz
from bartviz.errors import Cancelled, SettingError
from bartviz.experiments.ablation import ablate, ablate_sweep, heads_of
from bartviz.record.attention import KINDS, Head, Kind
from bartviz.record.record import Record
from tests.support import loaded, networks
from tests.tape.test_assemble import ENDINGS

TEXT = "The cat is sleeping on the sofa, but the children played outside."
TARGET = "Die Katze schläft auf dem Sofa, aber die Kinder spielten draußen."
CLOSE = 1e-4  # nats, between runs side by side and a run alone: float32 in another order


@cache
def record(family: str, text: str = TEXT) -> Record:
    target = TARGET if family in networks.ENCODER_DECODERS else None
    return bartviz.capture(loaded.model(family), text, target=target)


ENCODERS, WRITERS = ("bert", "distilbert", "albert"), ("bart", "pegasus", "t5")
EVERY_KIND: tuple[tuple[str, Kind], ...] = (
    *((family, "encoder") for family in ENCODERS),
    *((family, kind) for family in WRITERS for kind in KINDS),
    ("gpt2", "decoder"),
)


def zeroed(family: str, kind: Kind, layer: int) -> PreTrainedModel:
    """The network outside of the tape, with zeros in place of what comes into the projection of one layer's heads."""
    network = copy.deepcopy(loaded.reference(family))
    endings = tuple(ending.format(layer) for ending in ENDINGS[kind])
    (module,) = (module for name, module in network.named_modules() if name.endswith(endings))
    calls = count()

    def empty(_module: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor]:
        mine = family != "albert" or next(calls) == layer  # one module, called layer by layer
        return (torch.zeros_like(inputs[0]) if mine else inputs[0],)

    module.register_forward_pre_hook(empty)
    return network


@pytest.mark.slow
@pytest.mark.parametrize(("family", "kind"), EVERY_KIND)
def test_all_heads_of_a_layer_silenced_are_a_context_of_zeros(family: str, kind: Kind) -> None:
    """In every layer: the same network outside of the tape, in which zeros come into the projection."""
    one, model = record(family), loaded.model(family)
    given: dict[str, Any] = {"input_ids": torch.from_numpy(one.source.ids.copy())[None]}
    if one.cross is not None:
        given["decoder_input_ids"] = torch.from_numpy(one.attention("decoder").query.ids.copy())[None]
    for layer in range(one.attention(kind).shape[0]):
        heads = [Head(kind, layer, head) for head in range(one.attention(kind).shape[1])]
        found = ablate(model, one, heads, write=False)
        with torch.inference_mode():
            out = zeroed(family, kind, layer)(**given)
        expected = out.logits[0].double().log_softmax(-1).numpy()
        assert found.before is not None
        assert found.after is not None
        targets = found.before.best if one.output is None else one.output.ids[found.rows]
        np.testing.assert_allclose(found.after.log_probability, expected[found.rows, targets], atol=4e-4)
        np.testing.assert_array_equal(found.after.best, expected[found.rows].argmax(-1))
        assert np.abs(found.before.log_probability - found.after.log_probability).max() > 1e-3


@pytest.mark.slow
@pytest.mark.some
@pytest.mark.parametrize("family", networks.FAMILIES)
def test_a_factor_of_one_changes_nothing_to_the_last_bit(family: str) -> None:
    one = record(family)
    found = ablate(loaded.model(family), one, {head: 1.0 for kind in one.kinds for head in heads_of(one, kind)})
    assert found.effect == 0
    assert not found.divergence.any()
    assert not found.distance.any()
    assert not found.turned.size
    assert not any(change.any() for change in found.attention.values())


@pytest.mark.slow
@pytest.mark.parametrize("family", ["bart", "t5", "gpt2", "mbart"])
def test_the_unchanged_run_gives_the_record_its_own_probabilities(family: str) -> None:
    one = record(family)
    found = ablate(loaded.model(family), one, [heads_of(one, "decoder")[0]], write=False)
    assert found.before is not None
    np.testing.assert_allclose(found.before.log_probability, [step.log_probability for step in one.steps], atol=4e-4)
    assert len(found.targets) == len(found.rows) == len(one.steps)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["bart", "t5-gated", "gpt2", "bert", "albert", "distilbert"])
@pytest.mark.parametrize("keep", [False, True])
def test_a_sweep_gives_the_numbers_of_each_ablation_alone(family: str, keep: bool) -> None:
    model, one = loaded.model(family), record(family)
    sweep = ablate_sweep(model, one, keep=keep)
    assert sweep.heads == tuple(head for kind in one.kinds for head in heads_of(one, kind))
    for place in range(0, len(sweep.heads), 5):
        head = sweep.heads[place]
        row = [Head(head.kind, head.layer, other) for other in range(one.attention(head.kind).shape[1])]
        found = ablate(model, one, [other for other in row if other != head] if keep else [head], write=False)
        assert sweep.log_probability[place] == pytest.approx(found.effect, abs=CLOSE)
        assert sweep.divergence[place] == pytest.approx(found.divergence.mean(), abs=CLOSE)
        assert sweep.distance[place] == pytest.approx(found.distance.mean(), abs=CLOSE)
        assert sweep.changed[place] == len(found.turned)


@pytest.mark.slow
@settings(max_examples=12)
@given(st.data())
def test_any_set_of_heads_leaves_what_comes_before_it_as_it_was(data: st.DataObject) -> None:
    model, one = loaded.model("bart"), record("bart")
    everyone = [head for kind in one.kinds for head in heads_of(one, kind)]
    heads = data.draw(st.lists(st.sampled_from(everyone), min_size=1, max_size=5, unique=True))
    found = ablate(model, one, dict.fromkeys(heads, data.draw(st.floats(0, 2))), write=False)
    first = min((head.layer for head in heads if head.kind == "encoder"), default=one.attention("encoder").shape[0])
    assert not found.attention["encoder"][: first + 1].any()
    if all(head.kind != "encoder" for head in heads):
        low = min(head.layer for head in heads)
        assert not found.attention["decoder"][: low + 1].any()
    for change in found.attention.values():
        assert ((change >= 0) & (change <= 1)).all()


@pytest.mark.parametrize("family", ["bert", "albert", "bart", "t5", "gpt2"])
def test_the_network_itself_is_left_as_it_was(family: str) -> None:
    """Also for a pass that is nobody's run, as generate() makes it, and after an ablation that was stopped."""
    one, model = record(family), loaded.model(family)
    given: dict[str, Any] = {"input_ids": torch.from_numpy(one.source.ids.copy())[None], "output_hidden_states": True}
    if one.cross is not None:
        given["decoder_input_ids"] = torch.from_numpy(one.attention("decoder").query.ids.copy())[None]

    def states() -> list[Tensor]:
        with torch.inference_mode():
            out = model.network(**given)
        return [state for name, value in out.items() if "hidden_states" in name for state in value]

    before = states()
    asked = count()
    everyone = {head: 0.0 for kind in one.kinds for head in heads_of(one, kind)}
    ablate(model, one, everyone, write=False)
    ablate_sweep(model, one, kinds=one.kinds[:1])
    with pytest.raises(Cancelled):
        ablate(model, one, everyone, write=False, cancelled=lambda: next(asked) == 3)
    assert before
    assert all(torch.equal(was, now) for was, now in zip(before, states(), strict=True))


@pytest.mark.slow
def test_later_runs_and_other_sessions_see_nothing_of_it() -> None:
    model, one = loaded.model("bart"), record("bart")
    wrong: list[int] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            again = bartviz.capture(model, TEXT, target=TARGET)
            wrong.extend([1] * (again.log_probability != one.log_probability))
            wrong.extend([1] * any(again.attention(kind) != one.attention(kind) for kind in one.kinds))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for _ in range(6):
            ablate_sweep(model, one, kinds=["cross"])
            ablate(model, one, {"encoder L0H0": 0.0, "cross L1H1": 2.0}, write=False)
    finally:
        stop.set()
        reader.join()
    again = bartviz.capture(model, TEXT, target=TARGET)
    assert not wrong
    for kind in one.kinds:
        np.testing.assert_array_equal(again.attention(kind).q, one.attention(kind).q)
        np.testing.assert_array_equal(again.attention(kind).k, one.attention(kind).k)


@pytest.mark.parametrize("family", ["bart", "gpt2"])
def test_what_it_then_writes_is_what_decode_writes(family: str) -> None:
    model = loaded.model(family)
    one = bartviz.decode(model, TEXT, max_new_tokens=9)
    heads = ["decoder L0H0", "decoder L1H1"]
    found = ablate(model, one, heads)
    assert found.written is not None
    before, after = found.written
    assert before is one
    expected = bartviz.decode(model, TEXT, max_new_tokens=9, ablate=heads)
    assert [step.chosen for step in after.steps] == [step.chosen for step in expected.steps]
    assert found.changed.output == one.output
    assert found.changed.provenance.settings["mode"] == "ablated"
    assert found.changed.provenance.settings["ablated"] == ("decoder L0H0 x 0", "decoder L1H1 x 0")
    assert found.changed.provenance.versions == one.provenance.versions


@pytest.mark.slow
@pytest.mark.parametrize("sample", [None, bartviz.Sampling(seed=3)])
def test_what_it_then_writes_keeps_the_settings_of_the_record(sample: bartviz.Sampling | None) -> None:
    """A record without the checkpoint's rules is compared with one without them, as long and as little repeated."""
    model = loaded.model("bart")
    own: dict[str, Any] = {"max_new_tokens": 12, "min_new_tokens": 12, "no_repeat_ngram_size": 1, "use_rules": False}
    rules = own | {"use_rules": True}
    for given_settings in (own, rules):
        one = bartviz.decode(model, TEXT, sample=sample, **given_settings)
        found = ablate(model, one, ["decoder L0H0"])
        assert found.written is not None
        before, after = found.written
        assert (before is one) == (sample is None)
        for written in (before, after):
            names = ("max_new_tokens", "min_new_tokens", "no_repeat_ngram_size", "use_rules", "rules")
            kept = [written.provenance.settings.get(name) for name in names]
            assert kept == [one.provenance.settings.get(name) for name in names]
        expected = bartviz.decode(model, TEXT, ablate=["decoder L0H0"], **given_settings)
        assert [step.chosen for step in after.steps] == [step.chosen for step in expected.steps]


def test_a_typed_mask_is_the_only_row_and_without_one_every_word_is() -> None:
    model = loaded.model("bert")
    masked = bartviz.capture(model, "The cat is [MASK] on the sofa.", allow_special=True)
    found = ablate(model, masked, ["encoder L0H0"])
    assert found.rows.tolist() == [masked.source.ids.tolist().index(model.tokenizer.mask_token_id)]
    assert found.written is None
    plain = record("bert")
    rows = ablate(model, plain, ["encoder L0H0"]).rows
    np.testing.assert_array_equal(rows, np.flatnonzero(~plain.source.special))


def test_a_padded_record_is_run_with_its_padding_closed() -> None:
    model = loaded.model("bart")
    padded = bartviz.capture_batch(
        model, [TEXT, "What time is it?"], targets=[TARGET, "Wie spät ist es?"], padded=True
    )[1]
    alone = bartviz.capture(model, "What time is it?", target="Wie spät ist es?")
    changes = [ablate(model, one, ["cross L0H1"], write=False).effect for one in (padded, alone)]
    assert changes[0] == pytest.approx(changes[1], abs=1e-3)


@pytest.mark.slow
def test_a_padded_record_is_decoded_again_as_it_would_be_alone() -> None:
    model = loaded.model("bart")
    padded = bartviz.capture_batch(
        model, [TEXT, "What time is it?"], targets=[TARGET, "Wie spät ist es?"], padded=True
    )[1]
    alone = bartviz.capture(model, "What time is it?", target="Wie spät ist es?")
    texts = [[part.target_text for part in ablate(model, one, ["cross L0H1"]).written or ()] for one in (padded, alone)]
    assert texts[0] == texts[1]
    assert len(texts[0]) == 2


@pytest.mark.parametrize("family", ["bart", "gpt2", "bert"])
def test_padding_is_not_counted(family: str) -> None:
    """The numbers of a padded text are those of the text alone."""
    model, texts = loaded.model(family), [TEXT, "What time is it?"]
    target = "Wie spät ist es?" if family == "bart" else None
    padded = bartviz.capture_batch(model, texts, targets=[TARGET, target] if target else None, padded=True)[1]
    alone = bartviz.capture(model, texts[1], target=target)
    assert len(padded.source) > len(alone.source)
    head = heads_of(alone, alone.kinds[0])[0]
    first, second = (ablate(model, one, [head], write=False) for one in (padded, alone))
    rows = len(second.distance)
    np.testing.assert_allclose(first.distance[:rows], second.distance, atol=1e-4)
    assert not first.distance[rows:].any()
    for kind in alone.kinds:
        np.testing.assert_allclose(first.attention[kind], second.attention[kind], atol=1e-3)
    sweeps = [ablate_sweep(model, one, kinds=[alone.kinds[0]]) for one in (padded, alone)]
    np.testing.assert_allclose(sweeps[0].distance, sweeps[1].distance, atol=1e-4)


def test_a_sweep_says_how_far_it_is_and_can_be_stopped() -> None:
    model, one = loaded.model("bart"), record("bart")
    seen: list[tuple[int, int]] = []
    sweep = ablate_sweep(model, one, on_progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (len(sweep.heads), len(sweep.heads))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    with pytest.raises(Cancelled):
        ablate_sweep(model, one, cancelled=lambda: True)
    with pytest.raises(Cancelled):
        ablate(model, one, ["cross L0H0"], cancelled=lambda: True)


def test_what_cannot_be_done_is_refused_with_the_choices() -> None:
    model, one = loaded.model("bart"), record("bart")
    with pytest.raises(SettingError, match="no head"):
        ablate(model, one, ["cross L9H0"])
    with pytest.raises(SettingError, match="at least one head"):
        ablate(model, one, [])
    with pytest.raises(SettingError, match="factor"):
        ablate(model, one, {"cross L0H0": -1.0})
    with pytest.raises(SettingError, match="another model"):
        ablate(model, record("marian"), ["cross L0H0"])
    with pytest.raises(SettingError, match="encoder, decoder or cross"):
        ablate_sweep(model, one, kinds=[])
