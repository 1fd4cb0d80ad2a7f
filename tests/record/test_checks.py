"""Checks of a record: a record passes unless anything in it was changed."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from safetensors.numpy import load, save

import bartviz
from bartviz.errors import RecordError
from bartviz.models.model import Model
from bartviz.record import checks
from bartviz.record.attention import Attention, Kind
from bartviz.record.checks import Check
from bartviz.record.record import Record
from bartviz.record.sample import Sample
from bartviz.record.steps import Candidate, Step, StepNumbers
from bartviz.text import tokenize
from tests.support import loaded, networks, small_tokenizers, stand_in
from tests.text.test_tokenize import HARD

Array = NDArray[Any]
TEXT = "We have been waiting for the bus for more than an hour."
TARGET = "Wir haben mehr als eine Stunde auf den Bus gewartet."


@pytest.fixture(scope="module")
def translator() -> Model:
    return bartviz.load("bart-tiny-en-de")


@pytest.fixture(scope="module")
def whole(translator: Model) -> Record:
    """A record with values."""
    return bartviz.decode(translator, TEXT, values=True)


@pytest.fixture(scope="module")
def bare(translator: Model) -> Record:
    """A record without values, as capture() makes it."""
    return bartviz.decode(translator, TEXT)


def by_hand(output: float = 1.5) -> Attention:
    """Two rows that look at two keys evenly, whose values are 1 and 2: the kernel puts out 1.5."""
    tokens = stand_in.tokens(("a", " b"))
    zeros = np.zeros((1, 1, 2, 1), np.float32)
    values = np.array([1, 2], np.float32).reshape(1, 1, 2, 1)
    sample = Sample(np.array([[0]]), np.array([[0, 1]]), np.full((1, 1, 2, 1), output, np.float32), values)
    return Attention("encoder", zeros, zeros, 1.0, np.ones((2, 2), bool), tokens, tokens, sample=sample)


def test_the_kernels_output_by_hand() -> None:
    assert by_hand().compare() == 0
    assert by_hand(3.0).compare() == pytest.approx(0.5)  # 1.5 of 3
    assert replace(by_hand(), sample=None).compare() is None


@pytest.mark.parametrize(
    ("value", "passed", "failed"),
    [(0.0, True, False), (1e-4, True, False), (2e-4, False, True), (math.nan, False, True), (None, False, False)],
)
def test_a_check_passes_by_its_number_alone(value: float | None, passed: bool, failed: bool) -> None:
    check = Check("mask", value, 1e-4)
    assert (check.passed, check.failed) == (passed, failed)


@pytest.mark.slow
@pytest.mark.parametrize("values", [False, True])
@pytest.mark.some
@pytest.mark.parametrize("family", networks.FAMILIES)
def test_what_a_model_of_each_family_leaves_is_sound(family: str, values: bool, tmp_path: Path) -> None:
    model = loaded.model(family)
    target = TARGET if family in networks.ENCODER_DECODERS else None
    record = bartviz.capture(model, TEXT, target=target, values=values)
    assert record.sound
    for kind in record.kinds:
        sample, (layers, heads, rows, _) = record.attention(kind).sample, record.attention(kind).shape
        assert sample is not None
        assert sample.rows.tolist() == [list(range(rows))] * layers
        every = [list(range(heads))] * layers if values else [[layer % heads] for layer in range(layers)]
        assert sample.heads.tolist() == every
    record.save(tmp_path / "x.safetensors")
    again = bartviz.open(tmp_path / "x.safetensors")
    assert again.sound
    assert (again, again.seal, record.seal) == (record, "unchanged", "made")


@pytest.mark.slow
@pytest.mark.parametrize("family", ["bart", "t5", "gpt2", "marian"])
def test_what_is_written_is_sound_in_every_way(family: str) -> None:
    model = loaded.model(family)
    heads = ["decoder L0H1"]
    ways: tuple[Any, ...] = (
        {},
        {"beams": 3},
        {"sample": bartviz.Sampling(seed=3)},
        {"ablate": heads},
        {"force": {1: 7}},
    )
    for options in ways:
        record = bartviz.decode(model, TEXT, max_new_tokens=9, **options)
        assert record.sound, options
        assert [check for check in bartviz.verify(model, record) if not check.passed] == []
    for record in bartviz.capture_batch(model, [TEXT, "Stop."], padded=True):
        assert record.sound


def test_of_a_long_text_some_rows_of_every_layer_are_compared(translator: Model) -> None:
    record = bartviz.capture(translator, f"{TEXT} " * 9, target=f"{TARGET} " * 9)
    assert record.sound
    for kind in record.kinds:
        attention = record.attention(kind)
        assert attention.sample is not None
        places = attention.sample.rows
        assert places.shape == (attention.shape[0], 64)
        assert len({tuple(rows) for rows in places.tolist()}) == attention.shape[0]  # other ones in each layer
        assert places.max() > 0.9 * attention.shape[2]


def noise(array: Array) -> Array:
    return np.random.default_rng(0).normal(size=array.shape, scale=float(array.std())).astype(array.dtype)


def with_array(record: Record, kind: Kind, name: str, change: Callable[[Array], Array]) -> Record:
    attention = record.attention(kind)
    array: Any = {name: change(getattr(attention, name).copy())}
    changed: Any = {kind: replace(attention, **array)}
    return replace(record, **changed)


def put(place: Any, value: Any) -> Callable[[Array], Array]:
    def change(array: Array) -> Array:
        array[place] = value
        return array

    return change


def swapped(array: Array) -> Array:
    """The queries of two heads of a layer exchanged."""
    array[1, [0, 5]] = array[1, [5, 0]]
    return array


def without_a_layer(record: Record) -> Record:
    cross = record.attention("cross")
    sample = cross.sample
    assert sample is not None
    fewer: Any = {
        name: getattr(cross, name)[:-1]
        for name in ("q", "k", "v", "out", "out_bias")
        if getattr(cross, name) is not None
    }
    less = replace(
        sample,
        heads=sample.heads[:-1],
        rows=sample.rows[:-1],
        output=sample.output[:-1],
        v=None if sample.v is None else sample.v[:-1],
    )
    return replace(record, cross=replace(cross, sample=less, **fewer))


def steps_with(record: Record, **changes: Any) -> Record:
    return replace(record, steps=tuple(replace(step, **changes) for step in record.steps))


def sure(record: Record) -> Record:
    return replace(
        record,
        steps=tuple(
            replace(step, chosen=replace(step.chosen, probability=0.999), log_probability=math.log(0.999))
            for step in record.steps
        ),
    )


def named(record: Record, name: str) -> Record:
    """The record with another name for the source's token "bus", everywhere."""
    labels = [name if label == "bus" else label for label in record.source.labels]
    tokens, encoder, cross = replace(record.source, labels=tuple(labels)), record.encoder, record.cross
    assert encoder is not None
    assert cross is not None
    return replace(record, encoder=replace(encoder, query=tokens, key=tokens), cross=replace(cross, key=tokens))


def with_candidates(record: Record, token: Callable[[int], int]) -> Record:
    """The record with other tokens as candidates, by their place in the list."""
    return replace(
        record,
        steps=tuple(
            replace(
                step, candidates=tuple(replace(one, token_id=token(place)) for place, one in enumerate(step.candidates))
            )
            for step in record.steps
        ),
    )


TAMPERED: dict[str, Callable[[Record], Record]] = {
    "cross queries are noise": lambda record: with_array(record, "cross", "q", noise),
    "the last layer's keys are noise": lambda record: with_array(
        record, "encoder", "k", lambda k: np.concatenate([k[:-1], noise(k[-1:])])
    ),
    "the causal mask is open": lambda record: with_array(record, "decoder", "mask", np.ones_like),
    "a cell of the causal mask is open": lambda record: with_array(record, "decoder", "mask", put((0, 1), True)),
    "three source columns are closed": lambda record: with_array(
        record, "cross", "mask", put((slice(None), slice(2, 5)), False)
    ),
    "the last cross layer is gone": without_a_layer,
    "layers are reversed": lambda record: with_array(record, "encoder", "q", lambda q: q[::-1]),
    "every probability is 0.999": sure,
    "the text is another": lambda record: replace(
        steps_with(record, log_probability=-50.0), target_text="Ich hasse Autos."
    ),
    "the text is another, the numbers are left": lambda record: replace(record, target_text="Ich hasse Autos."),
    "the tokens of an axis are others": lambda record: replace(
        record, cross=replace(record.attention("cross"), key=replace(record.source, ids=record.source.ids + 1))
    ),
    "a word of the source text is another": lambda record: replace(
        record, source_text=record.source_text.replace("bus", "car")
    ),
    "the name of a source token is another": lambda record: named(record, "train"),
    "candidates are in another order": lambda record: replace(
        record, steps=tuple(replace(step, candidates=step.candidates[::-1]) for step in record.steps)
    ),
    "candidates are all the same token": lambda record: with_candidates(record, lambda place: 5),
    "candidates are in no vocabulary": lambda record: with_candidates(record, lambda place: 10**6 + place),
    "the steps are of other tokens": lambda record: replace(
        record, steps=tuple(replace(step, chosen=record.steps[0].chosen) for step in record.steps)
    ),
    "a span ends behind the text": lambda record: replace(record, source_text=record.source_text[:-3]),
    "the entropy is impossible": lambda record: steps_with(record, entropy=40.0),
    "another model has more layers": lambda record: replace(record, model=replace(record.model, decoder_layers=12)),
}
WITH_VALUES: dict[str, Callable[[Record], Record]] = {
    "the values are zero": lambda record: with_array(record, "cross", "v", np.zeros_like),
    "noise in six heads of all layers": lambda record: with_array(
        record, "encoder", "q", lambda q: np.concatenate([q[:, :1], noise(q[:, 1:7]), q[:, 7:]], axis=1)
    ),
    "noise in the first three layers": lambda record: with_array(
        record, "decoder", "k", lambda k: np.concatenate([noise(k[:3]), k[3:]])
    ),
    "the queries of two heads are swapped": lambda record: with_array(record, "encoder", "q", swapped),
    "one cell of cross-attention is closed": lambda record: with_array(record, "cross", "mask", put((3, 4), False)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TAMPERED)
@pytest.mark.parametrize("kept", ["whole", "bare"])
def test_what_was_tampered_with_is_not_sound_and_does_not_open(
    name: str, kept: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    record: Record = request.getfixturevalue(kept)
    assert record.sound
    tampered = TAMPERED[name](record)
    assert not tampered.sound
    tampered.save(tmp_path / "x.safetensors")  # with a digest of its own
    with pytest.raises(RecordError, match="contradicts itself"):
        bartviz.open(tmp_path / "x.safetensors")
    again = bartviz.open(tmp_path / "x.safetensors", allow_unsound=True)
    assert not again.sound
    assert any(check.failed for check in again.check())


def changed(step: Step, name: str, value: float) -> Step:
    """The step with another number; one of a candidate changes in all candidates but the first."""
    new: Any = {name: value}
    if hasattr(step, name):
        return replace(step, **new)
    first, *others = step.candidates
    return replace(step, candidates=(first, *(replace(one, **new) for one in others)))


@pytest.mark.parametrize("name", ["entropy", "log_probability", "probability", "logit"])
@pytest.mark.parametrize("at", [0, 2])
def test_what_is_no_number_is_not_sound(name: str, at: int, bare: Record) -> None:
    steps = list(bare.steps)
    steps[at] = changed(steps[at], name, math.nan)
    tampered = replace(bare, steps=tuple(steps))
    assert {check.name for check in tampered.check() if check.failed} == {checks.PROBABILITIES}


@pytest.mark.parametrize("total", [-0.01, math.nan])
def test_a_total_of_a_beam_tree_is_the_sum_of_its_tokens(total: float, translator: Model) -> None:
    record = bartviz.decode(translator, "Stop.", beams=2)
    assert record.sound
    tree = record.beams
    assert tree is not None
    nodes = [*tree.nodes[:-1], replace(tree.nodes[-1], total=total)]
    tampered = replace(record, beams=replace(tree, nodes=tuple(nodes)))
    assert {check.name for check in tampered.check() if check.failed} == {checks.PROBABILITIES}


@pytest.mark.parametrize("axis", ["heads", "rows"])
def test_a_sample_without_heads_or_rows_is_refused(axis: str, bare: Record) -> None:
    sample = bare.attention("cross").sample
    assert sample is not None
    assert sample.v is not None
    empty = (
        replace(sample, heads=sample.heads[:, :0], output=sample.output[:, :0], v=sample.v[:, :0])
        if axis == "heads"
        else replace(sample, rows=sample.rows[:, :0], output=sample.output[:, :, :0])
    )
    with pytest.raises(RecordError, match="does not fit"):
        replace(bare.attention("cross"), sample=empty)


def test_what_was_compared_counts_each_head_and_row_once() -> None:
    nothing = np.zeros((2, 3, 4, 1), np.float32)
    sample = Sample(np.array([[0, 1, 2], [0, 0, 1]]), np.array([[0, 1, 2, 3], [3, 3, 3, 3]]), nothing)
    assert sample.compared == (2, 1)


@pytest.mark.parametrize("name", small_tokenizers.NAMES)
def test_what_a_tokenizer_rewrites_contradicts_no_text(name: str) -> None:
    for text in (*HARD, "Straße ΣΑΣ “quoted” … ｆｕｌｌ １２３ naïve ﬁne Ⅷ 어텐션을 봅니다"):
        tokens = tokenize.encode(small_tokenizers.tokenizer(name), text)
        if len(tokens):
            encoder = stand_in.attention("encoder", tokens, tokens)
            record = replace(stand_in.record(kind="encoder"), encoder=encoder, source_text=text)
            assert all(check.passed for check in record.check() if check.name == checks.TEXT), text


@pytest.mark.parametrize("name", WITH_VALUES)
def test_where_values_are_kept_every_head_is_compared(name: str, whole: Record) -> None:
    tampered = WITH_VALUES[name](whole)
    assert not tampered.sound
    assert {check.name for check in tampered.check() if check.failed} <= {checks.KERNEL, checks.MASK}


Tree = dict[str, Any]


def edited(path: Path, change: Callable[[Tree, dict[str, Array]], object]) -> None:
    """Change the description and the arrays of a saved record, and leave its digest."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    metadata = json.loads(data[8 : 8 + length])["__metadata__"]
    header, arrays = json.loads(metadata["bartviz"]), load(data)
    change(header["value"], arrays)
    path.write_bytes(save(arrays, metadata=metadata | {"bartviz": json.dumps(header, ensure_ascii=False)}))


FILES: dict[str, Callable[[Tree, dict[str, Array]], object]] = {
    "another model's name": lambda value, arrays: value["model"].update(name="bert-base-uncased"),
    "a number of the third layer": lambda value, arrays: put((2, 3, 1, 1), 0.5)(arrays["encoder.q"]),
    "a setting": lambda value, arrays: value["provenance"].update(seconds=0.001),
    "an array more": lambda value, arrays: arrays.update(more=np.zeros(3)),
    "checks that passed": lambda value, arrays: value["provenance"].update(checks=[]),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_was_changed_is_refused_with_that_reason(name: str, bare: Record, tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    bare.save(path)
    edited(path, lambda value, arrays: None)
    assert bartviz.open(path).sound  # written anew with nothing changed
    edited(path, FILES[name])
    with pytest.raises(RecordError, match="was changed after it was saved"):
        bartviz.open(path)
    again = bartviz.open(path, allow_unsound=True)
    assert (again.seal, again.sound) == ("changed", False)
    assert checks.FILE in {check.name for check in again.check() if check.failed}


def test_a_check_is_judged_by_its_number_not_by_its_own_verdict(bare: Record, tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    replace(bare, provenance=replace(bare.provenance, checks=(Check(checks.LOGITS, 123.0, 1e-4),))).save(path)
    with pytest.raises(RecordError, match="the network's logits"):
        bartviz.open(path)


def test_a_record_from_arrays_or_of_an_older_version_is_not_sound(bare: Record, tmp_path: Path) -> None:
    hand = stand_in.record()
    assert not hand.sound
    assert not any(check.failed for check in hand.check())
    path = tmp_path / "x.safetensors"
    bare.save(path)
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    metadata = json.loads(data[8 : 8 + length])["__metadata__"]
    older = json.loads(metadata["bartviz"]) | {"version": 1}
    path.write_bytes(save(load(data), metadata={"bartviz": json.dumps(older)}))
    again = bartviz.open(path)
    assert (again.seal, again.sound) == ("older", False)
    path.write_bytes(save(load(data), metadata=metadata | {"bartviz": json.dumps(older)}))
    with pytest.raises(RecordError, match="was changed after it was saved"):  # an older file would have no digest
        bartviz.open(path)


def test_a_copy_of_an_opened_record_is_built_again(bare: Record, tmp_path: Path) -> None:
    bare.save(tmp_path / "x.safetensors")
    opened = bartviz.open((tmp_path / "x.safetensors").read_bytes())
    assert opened.seal == "unchanged"
    assert replace(opened, source_text="x").seal == "made"


@pytest.mark.slow
@given(st.integers(0, 2**31), st.floats(-3, 3))
def test_one_number_anywhere_is_noticed(place: int, by: float) -> None:
    """Property: whatever single number of a whole record's file is another one, the file is not as it was saved."""
    from bartviz.record import store

    data = bytearray(store.encode(stand_in.record()))
    length = int.from_bytes(data[:8], "little")
    at = 8 + length + place % (len(data) - 8 - length)
    data[at] ^= 1 + abs(int(by * 80)) % 255
    try:
        _, seal = store.decode(bytes(data), Record)
    except RecordError:
        return
    assert seal == "changed"


def numbers(logits: list[float], *, rest: float = -40.0, vocabulary: int = 100, token: int = 0) -> StepNumbers:
    """The step of a softmax over these logits and as many of ``rest`` as the vocabulary has left."""
    every = np.array([*logits, *[rest] * (vocabulary - len(logits))])
    log_z = float(np.log(np.exp(every).sum()))
    p = np.exp(every - log_z)
    bits = float(-(p * np.log2(np.maximum(p, 1e-300))).sum())
    return StepNumbers(0, 0, list(enumerate(logits)), log_z, bits, token, logits[token])


@pytest.mark.slow
@given(st.lists(st.floats(-20, 20), min_size=1, max_size=8, unique=True), st.floats(-40, -20))
def test_a_real_softmax_agrees_with_itself(logits: list[float], rest: float) -> None:
    one = numbers(sorted(logits, reverse=True), rest=rest)
    assert checks.disagreement(one, 100) < 1e-9
    named = [Candidate(i, str(i), math.exp(logit - one.log_z), logit) for i, logit in one.best]
    step = Step(0, 0, named[0], tuple(named), one.bits, one.log_probability)
    assert checks.disagreement(step, 100) < 1e-9
    off = replace(step, chosen=replace(named[0], probability=named[0].probability * 0.9))
    assert checks.disagreement(off, 100) >= 0.09 * named[0].probability


@pytest.mark.slow
def test_verify_names_another_model_another_text_and_other_numbers(translator: Model, whole: Record) -> None:
    assert [check for check in bartviz.verify(translator, whole) if not check.passed] == []
    other = replace(whole, model=replace(whole.model, fingerprint="another"))
    assert [check.passed for check in bartviz.verify(translator, other)] == [False]
    text = replace(whole, source_text="We have been waiting for the train for more than an hour.")
    last = whole.steps[-1]
    candidates = tuple(replace(one, label="train") for one in last.candidates)
    candidate = replace(whole, steps=(*whole.steps[:-1], replace(last, candidates=candidates)))
    for record in (text, named(whole, "train"), named(text, "train"), candidate):
        assert [check.name for check in bartviz.verify(translator, record) if not check.passed] == [checks.TEXT]
    relative = replace(whole, model=replace(whole.model, family="mbart", trained=False))
    (told,) = (check for check in bartviz.verify(translator, relative) if not check.passed)
    assert (told.name, told.value) == ("description of the model", 2)
    elsewhere = replace(whole, model=replace(whole.model, name="a-folder", source="folder", activation=None))
    assert all(check.passed for check in bartviz.verify(translator, elsewhere))
    shaken = with_array(whole, "decoder", "k", noise)
    failed = [check for check in bartviz.verify(translator, shaken) if not check.passed]
    assert {check.kind for check in failed} == {"decoder"}


def shared(a: Record, b: Record, kind: Kind) -> bool:
    one, other = a.attention(kind).out, b.attention(kind).out
    assert one is not None
    assert other is not None
    return np.shares_memory(one, other)


@pytest.mark.slow
def test_the_model_keeps_one_output_projection_for_all_of_its_records(translator: Model) -> None:
    first = bartviz.capture(translator, TEXT, target=TARGET, values=True)
    second = bartviz.decode(translator, "Stop.", values=True)
    silenced = bartviz.decode(translator, "Stop.", values=True, ablate=["cross L0H0"])
    for kind in first.kinds:
        assert shared(first, second, kind)
    assert not shared(first, silenced, "cross")
    assert shared(first, silenced, "encoder")
    own = silenced.attention("cross")
    assert own.out is not None
    assert own.nbytes > own.out.nbytes
    assert second.nbytes < 0.2 * own.out.nbytes * 3


def test_infinite_numbers_of_a_file_are_refused_without_a_warning(whole: Record, tmp_path: Path) -> None:
    """Warnings are errors in tests: numpy would print one beside the refusal."""
    step = whole.steps[1]
    for logit in (math.inf, -math.inf, math.nan):
        candidates = tuple(replace(one, logit=logit) for one in step.candidates)
        for other in (replace(step, candidates=candidates), replace(step, chosen=replace(step.chosen, logit=logit))):
            changed = replace(whole, steps=(whole.steps[0], other, *whole.steps[2:]))
            assert not changed.sound
            changed.save(tmp_path / "x.safetensors")
            with pytest.raises(RecordError, match="contradicts itself"):
                bartviz.open(tmp_path / "x.safetensors")


def test_the_limits_of_the_runs_checks_are_those_of_the_code(bare: Record) -> None:
    def checked(*kept: Check) -> dict[tuple[str, Kind | None], Check]:
        record = replace(bare, provenance=replace(bare.provenance, checks=kept))
        return {(check.name, check.kind): check for check in record.check()}

    own = bare.provenance.checks
    assert {check.name for check in own} == set(checks.LIMITS)
    loose = checked(*(replace(check, value=1.0, limit=1e308) for check in own))
    for check in own:
        assert loose[check.name, check.kind].failed
        assert loose[check.name, check.kind].limit == checks.LIMITS[check.name]
    lacking = checked(*own[1:])[own[0].name, own[0].kind]
    assert (lacking.value, lacking.passed, lacking.failed) == (None, False, False)
    invented = checked(*own, Check("verified by the authors", 0.0, 1.0))
    assert ("verified by the authors", None) not in invented
    assert invented[checks.RUN, None].failed
    assert (checks.RUN, None) not in checked(*own)


@pytest.mark.parametrize(
    "changed",
    [
        lambda steps: steps[1:],
        lambda steps: steps[:-1],
        lambda steps: (*steps, steps[-1]),
        lambda steps: steps[::-1],
        lambda steps: (*steps[:2], *steps[3:]),
        lambda steps: (replace(steps[0], position=4), *steps[1:]),
        lambda steps: (),
    ],
)
def test_there_is_one_step_for_each_row_in_their_order(bare: Record, changed: Callable[[Any], Any]) -> None:
    record = replace(bare, steps=changed(tuple(bare.steps)))
    assert [check.name for check in record.check() if check.failed] == [checks.IDS]
