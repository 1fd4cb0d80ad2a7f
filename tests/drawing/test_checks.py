"""A figure rejects what it cannot draw with a sentence that says what it accepts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bartviz import figures
from bartviz.errors import SettingError
from bartviz.record.attention import Head
from bartviz.record.record import Record

TAKES: dict[str, tuple[Callable[..., Any], tuple[Any, ...], str]] = {
    "heads": (figures.heads, (), "the attention of one kind, such as record.encoder"),
    "compare": (figures.compare, (), "the attention of one kind"),
    "rollout": (figures.rollout, (), "the attention of one kind"),
    "contribution": (figures.contribution, (0, 0), "the attention of one kind"),
    "inside": (figures.inside, (0, 0), "the attention of one kind"),
    "ablation": (figures.ablation, (), "the result of bartviz.ablate or bartviz.ablate_sweep"),
    "edits": (figures.edits, (), "the result of bartviz.edit or bartviz.reach"),
    "inputs": (figures.inputs, (), r"the result of bartviz.experiments.embeddings.inputs\(model, record\)"),
    "denoising": (figures.denoising, (), r"the result of bartviz.experiments.repair.repair\(model, text, noise\)"),
    "parameters": (figures.parameters, (), "the name of a model, or the table of bartviz.parameters"),
}


@pytest.mark.parametrize("name", TAKES)
def test_a_record_instead_of_its_part_is_refused_with_what_is_accepted(name: str, record: Record) -> None:
    draw, more, takes = TAKES[name]
    with pytest.raises(SettingError, match=f"cannot draw an object of type Record. It needs {takes}"):
        draw(record, *more)


@pytest.mark.parametrize("draw", [figures.decoding, figures.beams, figures.masks, figures.ribbons, figures.alignment])
def test_an_attention_in_the_place_of_its_record_too(draw: Callable[..., Any], record: Record) -> None:
    with pytest.raises(SettingError, match=r"of type Attention\. It needs a record from bartviz\.capture"):
        draw(record.encoder)


def test_none_is_named(record: Record) -> None:
    alone = replace(record, decoder=None, cross=None, output=None, steps=())
    with pytest.raises(SettingError, match=r"cannot draw None.*record\.kinds says which a record has"):
        figures.heads(alone.cross)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="cannot draw None"):
        figures.branches(record, None)  # type: ignore[arg-type]


def test_no_argument_is_ignored_silently(record: Record) -> None:
    cross = record.attention("cross")
    layers = cross.shape[0]
    with pytest.raises(SettingError, match=f"There is no cross layer 99: choose 0 to {layers - 1}"):
        figures.heads(cross, layer=99)
    with pytest.raises(SettingError, match="A head belongs to a layer"):
        figures.heads(cross, head=1)
    with pytest.raises(SettingError, match="name a, too"):
        figures.compare(cross, b=(0, 0))
    with pytest.raises(SettingError, match="There is no key 99: choose 0 to 8"):
        figures.inside(cross, 0, 0, key=99)
    with pytest.raises(SettingError, match="The reading is one of reads or predicts"):
        figures.decoding(record, reading="backwards")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="The reading is one of reads or predicts"):
        record.rows("cross", "backwards")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="lines or matrix"):
        figures.alignment(record, view="circle")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="at least one model"):
        figures.models([])


def test_a_head_may_be_named_and_a_model_may_stand_alone(record: Record) -> None:
    assert figures.alignment(record, ["cross L1H0"]) == figures.alignment(record, [Head("cross", 1, 0)])
    assert figures.models("gpt2") == figures.models(["gpt2"])
