"""The name of a head has one parser: every form is accepted wherever a head is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bartviz
from bartviz import Head
from bartviz.corpus import shipped
from bartviz.errors import SettingError
from bartviz.record.attention import HeadName, is_head
from bartviz.record.record import Record

FORMS: list[HeadName] = [Head("cross", 2, 5), "cross L2H5", " CROSS  l2h5 ", ("cross", 2, 5)]
RECORD = Path(bartviz.figures.__file__).parents[1] / "embedded" / "records" / "start.safetensors"


@pytest.fixture(scope="module")
def record() -> Record:
    return bartviz.open(RECORD)


@pytest.fixture(scope="module")
def model() -> bartviz.Model:
    return bartviz.load("bart-tiny-en-de")


USES: dict[str, Callable[[Record, HeadName], Any]] = {
    "weights": lambda record, head: record.head(head).tolist(),
    "figure": lambda record, head: bartviz.figures.heads(record.attention("cross"), head=head).to_json(),
    "compare": lambda record, head: bartviz.figures.compare(record.attention("cross"), a=head, b=(0, 0)).to_json(),
    "alignment": lambda record, head: bartviz.figures.alignment(record, [head]).to_json(),
    "map": lambda record, head: bartviz.paper.map(record, head).svg,
    "links": lambda record, head: bartviz.paper.alignment(record, [head]).svg,
    "ribbons": lambda record, head: bartviz.paper.ribbons(record, head).svg,
    "passport": lambda record, head: bartviz.open_atlas(shipped.FOLDER / "bart-tiny-en-de").passport(head),
}


@pytest.mark.parametrize("form", FORMS[1:], ids=str)
@pytest.mark.parametrize("use", USES)
def test_every_form_is_the_same_head(record: Record, use: str, form: HeadName) -> None:
    assert USES[use](record, form) == USES[use](record, FORMS[0])


@pytest.mark.parametrize("form", FORMS[1:], ids=str)
def test_every_form_is_silenced(record: Record, model: bartviz.Model, form: HeadName) -> None:
    text = record.source_text
    wanted = bartviz.decode(model, text, ablate=FORMS[0], max_new_tokens=3).provenance.settings["ablated"]
    for given in (form, [form], {form: 0.0}):
        found = bartviz.decode(model, text, ablate=given, max_new_tokens=3)
        assert found.provenance.settings["ablated"] == wanted


@pytest.mark.parametrize("form", ["L2H5", (2, 5)], ids=str)
def test_a_single_kind_need_not_be_named(record: Record, form: HeadName) -> None:
    assert record.cross is not None
    assert record.cross.place(form) == (2, 5)
    with pytest.raises(SettingError, match="several kinds"):
        record.head(form)


@pytest.mark.parametrize(
    "wrong", ["cross", "L2", ("cross", 2), (2, -5), ("crss", 2, 5), 5, None, (2, 5, 1, 1)], ids=str
)
def test_what_is_no_head_is_refused(record: Record, wrong: Any) -> None:
    with pytest.raises(SettingError, match=r"A head is written as"):
        Head.parse(wrong, kinds=("cross",))
    assert is_head(wrong) == isinstance(wrong, str) or wrong in [(2, -5), ("crss", 2, 5)]


def test_a_head_of_another_kind_or_that_is_not_there_is_refused(record: Record) -> None:
    assert record.cross is not None
    with pytest.raises(SettingError, match="no head of cross attention"):
        record.cross.place("encoder L0H0")
    with pytest.raises(SettingError):
        record.head("cross L99H0")
