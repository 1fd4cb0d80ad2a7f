"""The library for beginners: errors name the mistake, and results have a readable repr."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import bartviz
from bartviz.errors import SettingError, TextError
from bartviz.models.model import Model
from bartviz.record.record import Record
from tests.support import loaded

TEXT = "the cat sat on the mat"


@pytest.fixture(scope="module")
def model() -> Model:
    return loaded.model("bart")


@pytest.fixture(scope="module")
def made(model: Model) -> Record:
    return bartviz.capture(model, TEXT, max_new_tokens=4)


WITHOUT: dict[str, Callable[[Any, Record], object]] = {
    "capture": lambda model, record: bartviz.capture(model, TEXT),
    "capture_batch": lambda model, record: bartviz.capture_batch(model, [TEXT]),
    "decode": lambda model, record: bartviz.decode(model, TEXT),
    "branch": lambda model, record: bartviz.branch(model, record, 1, 5),
    "ablate": lambda model, record: bartviz.ablate(model, record, ["cross L0H0"]),
    "ablate_sweep": bartviz.ablate_sweep,
    "edit": lambda model, record: bartviz.edit(model, record, 1, 5),
    "reach": lambda model, record: bartviz.reach(model, TEXT, 1),
    "attribute": bartviz.attribute,
    "lens": bartviz.lens,
    "patch": lambda model, record: bartviz.patch(model, record, TEXT),
}


@pytest.mark.parametrize("name", WITHOUT)
def test_a_name_is_no_model(name: str, made: Record) -> None:
    with pytest.raises(SettingError, match=r"a model from bartviz\.load, not a str"):
        WITHOUT[name]("bart-tiny-en-de", made)


def test_a_text_is_no_record(model: Model) -> None:
    with pytest.raises(SettingError, match=r"A record from bartviz\.capture is expected, not a str"):
        bartviz.ablate(model, TEXT, ["cross L0H0"])  # type: ignore[arg-type]


def test_one_text_is_a_str_and_several_are_a_list(model: Model) -> None:
    with pytest.raises(TextError, match="One text is expected, a str and not a list"):
        bartviz.capture(model, [TEXT])  # type: ignore[arg-type]
    with pytest.raises(TextError, match="for one text use capture"):
        bartviz.capture_batch(model, TEXT)


def test_tokens_forced_after_the_end_are_reported(model: Model) -> None:
    record = bartviz.decode(model, TEXT, max_new_tokens=3, force={90: 5})
    assert "The text ended before position 90: the token forced there is not in it." in record.provenance.notices


@pytest.mark.slow
def test_one_head_or_kind_needs_no_list(model: Model, made: Record) -> None:
    one, same = (bartviz.ablate(model, made, heads) for heads in ("cross L0H1", ["cross L0H1"]))
    assert one.effect == same.effect
    sweep = bartviz.ablate_sweep(model, made, kinds="cross")
    assert sweep.kinds == ("cross",)


def test_results_have_a_repr_of_one_line(model: Model, made: Record) -> None:
    found = (
        bartviz.ablate(model, made, "cross L0H1"),
        bartviz.ablate_sweep(model, made),
        bartviz.reach(model, TEXT, 2, 7),
        bartviz.attribute(model, made),
    )
    assert [re.split("[: ]", repr(one))[0] for one in found] == ["<Ablation", "<Sweep", "<Reach", "<Attribution"]
    assert all("array(" not in repr(one) and len(repr(one)) < 2000 for one in found), [repr(one) for one in found]
