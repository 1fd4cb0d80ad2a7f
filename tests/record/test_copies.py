"""Records and results of experiments are copied, pickled and sent to other processes, and stay what they are."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pytest

import bartviz
from bartviz.errors import ModelError, RecordError
from bartviz.models.model import Model
from bartviz.record import store
from bartviz.record.attention import Head
from bartviz.record.record import Record
from tests.support import loaded

TEXT = "We have been waiting for the bus."


@pytest.fixture(scope="module")
def model() -> Model:
    return loaded.model("bart")


@pytest.fixture(scope="module")
def record(model: Model) -> Record:
    return bartviz.decode(model, TEXT, max_new_tokens=5, beams=2, values=True)


@pytest.mark.parametrize("by", [pickle, cloudpickle])
def test_a_pickled_record_is_the_same_and_as_sound(record: Record, by: Any) -> None:
    arrived = by.loads(by.dumps(record))
    assert arrived == record
    assert (arrived.seal, arrived.sound) == ("made", True)
    assert not arrived.attention("cross").queries.flags.writeable
    assert arrived.steps == record.steps
    assert arrived.beams == record.beams


def test_a_copy_of_a_record_is_the_record(record: Record) -> None:
    assert copy.copy(record) is record
    assert copy.deepcopy([record])[0] is record


@pytest.mark.slow
def test_a_record_is_sent_to_another_process(record: Record) -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(attrgetter("sound", "seal", "log_probability"), [record])) == [
            (True, "made", record.log_probability)
        ]


@pytest.mark.parametrize("seal", ["made", "unchanged", "older", "changed"])
def test_what_a_pickle_says_of_a_record_is_no_more_than_its_bytes_allow(record: Record, seal: str) -> None:
    function, (data, *_) = record.__reduce__()
    assert function(data, seal).seal == seal
    changed = bytearray(data)
    changed[-1] ^= 1
    arrived = function(bytes(changed), seal)
    assert (arrived.seal, arrived.sound) == ("changed", False)
    assert function(data, "verified").seal == "changed"
    with pytest.raises(RecordError):
        function(data[:-9], seal)


def test_a_record_that_was_changed_after_it_was_saved_stays_so(record: Record, tmp_path: Path) -> None:
    record.save(tmp_path / "a.safetensors")
    content = bytearray((tmp_path / "a.safetensors").read_bytes())
    content[-1] ^= 1
    opened = bartviz.open(bytes(content), allow_unsound=True)
    assert opened.seal == pickle.loads(pickle.dumps(opened)).seal == "changed"
    older = store.decode(store.encode(record), Record)[0]
    object.__setattr__(older, "seal", "older")
    assert pickle.loads(pickle.dumps(older)).seal == "older"


@pytest.mark.slow
def test_results_of_experiments_are_copied_with_read_only_numbers(model: Model, record: Record) -> None:
    ablation = bartviz.ablate(model, record, ["cross L0H1"])
    sweep = bartviz.ablate_sweep(model, record, kinds="cross")
    edit = bartviz.edit(model, record, 2, 9)
    reach = bartviz.reach(model, TEXT, 2, 9)
    for result in (ablation, sweep, edit, reach):
        for arrived in (
            pickle.loads(pickle.dumps(result)),
            copy.deepcopy(result),
            cloudpickle.loads(cloudpickle.dumps(result)),
        ):
            assert repr(arrived) == repr(result)
            assert type(arrived) is type(result)
    arrived = pickle.loads(pickle.dumps(ablation))
    assert arrived.changed == ablation.changed
    assert arrived.factors == ablation.factors
    assert arrived.effect == ablation.effect
    assert not arrived.divergence.flags.writeable
    assert not arrived.attention["cross"].flags.writeable
    with pytest.raises(TypeError):
        arrived.factors["x"] = 1.0
    assert np.array_equal(pickle.loads(pickle.dumps(sweep)).log_probability, sweep.log_probability)


def test_parts_of_a_record_are_copied_alone(record: Record) -> None:
    for part in (record.cross, record.provenance, record.source, record.attention("cross").sample, record.model):
        for arrived in (pickle.loads(pickle.dumps(part)), copy.deepcopy(part)):
            assert arrived == part
    arrived = copy.deepcopy(record.attention("cross"))
    assert not arrived.queries.flags.writeable
    with pytest.raises(TypeError):
        pickle.loads(pickle.dumps(record.provenance)).settings["mode"] = "x"


def test_a_model_says_that_it_cannot_be_sent(model: Model) -> None:
    for copied in (pickle.dumps, copy.deepcopy, copy.copy):
        with pytest.raises(ModelError, match="send records"):
            copied(model)


def test_an_ablation_names_its_heads_and_what_changed(model: Model, record: Record) -> None:
    heads = {f"cross L0H{head}": 0.0 for head in range(record.attention("cross").shape[1])}
    ablation = bartviz.ablate(model, record, heads, write=False)
    assert repr(ablation).startswith("<Ablation of cross L0H0 x 0, ")
    assert "log p " in repr(ablation)
    assert len(repr(ablation)) < 160
    many = replace(ablation, factors={Head("cross", 0, head): 0.0 for head in range(9)})
    assert " and 6 more: " in repr(many)
