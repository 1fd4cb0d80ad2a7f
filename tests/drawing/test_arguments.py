"""A figure rejects what it cannot draw with a sentence that says what it accepts."""

from __future__ import annotations

from typing import Any

import pytest

from bartviz import figures
from bartviz.errors import SettingError
from bartviz.record.record import Record


def there(*names: str) -> list[str]:
    """Those of the figures whose features have not been deleted."""
    return [name for name in names if name in dir(figures)]


ATTENTION, RECORD = "the attention of one kind", r"a record from bartviz\.capture"
TAKES: dict[str, tuple[tuple[Any, ...], str]] = {
    "heads": ((), f"{ATTENTION}, such as record.encoder"),
    "compare": ((), ATTENTION),
    "rollout": ((), ATTENTION),
    "contribution": ((0, 0), ATTENTION),
    "inside": ((0, 0), ATTENTION),
    "ablation": ((), "the result of bartviz.ablate or bartviz.ablate_sweep"),
    "edits": ((), "the result of bartviz.edit or bartviz.reach"),
    "inputs": ((), r"the result of bartviz.experiments.embeddings.inputs\(model, record\)"),
    "denoising": ((), r"the result of bartviz.experiments.repair.repair\(model, text, noise\)"),
    "parameters": ((), "the name of a model, or the table of bartviz.parameters"),
}
# A figure, its arguments after the record (or the attention of its cross-attention), and what is said of them.
REFUSED: list[tuple[str, tuple[Any, ...], dict[str, Any], str]] = [
    ("heads", (), {"layer": 99}, "There is no cross layer 99: choose 0 to 2"),
    ("heads", (), {"head": 1}, "A head belongs to a layer"),
    ("compare", (), {"b": (0, 0)}, "name a as well"),
    ("inside", (0, 0), {"key": 99}, "There is no key 99: choose 0 to 8"),
    ("decoding", (), {"reading": "backwards"}, "The reading is one of reads or predicts"),
    ("alignment", (), {"view": "circle"}, "lines or matrix"),
]


@pytest.mark.parametrize("name", there(*TAKES))
def test_a_record_instead_of_its_part_is_refused_with_what_is_accepted(name: str, record: Record) -> None:
    more, takes = TAKES[name]
    with pytest.raises(SettingError, match=f"cannot draw an object of type Record. It needs {takes}"):
        getattr(figures, name)(record, *more)


@pytest.mark.parametrize("name", there("decoding", "beams", "masks", "ribbons", "alignment"))
def test_an_attention_in_the_place_of_its_record_too(name: str, record: Record) -> None:
    with pytest.raises(SettingError, match=rf"of type Attention\. It needs {RECORD}"):
        getattr(figures, name)(record.encoder)


@pytest.mark.parametrize("name", there("compare", "heads", "rollout"))
def test_none_is_named(name: str) -> None:
    with pytest.raises(SettingError, match=r"cannot draw None.*record\.kinds says which a record has"):
        getattr(figures, name)(None)


@pytest.mark.parametrize("name", there("branches"))
def test_none_in_the_place_of_another_record_is_named(name: str, record: Record) -> None:
    with pytest.raises(SettingError, match="cannot draw None"):
        getattr(figures, name)(record, None)


@pytest.mark.parametrize(("name", "given", "named", "said"), [case for case in REFUSED if there(case[0])])
def test_no_argument_is_ignored_silently(
    name: str, given: tuple[Any, ...], named: dict[str, Any], said: str, record: Record
) -> None:
    shown = record if name in ("decoding", "alignment") else record.attention("cross")
    with pytest.raises(SettingError, match=said):
        getattr(figures, name)(shown, *given, **named)


def test_a_record_says_which_readings_its_rows_have(record: Record) -> None:
    with pytest.raises(SettingError, match="The reading is one of reads or predicts"):
        record.rows("cross", "backwards")  # type: ignore[arg-type]
