"""Every choice of the page has its explanation."""

from __future__ import annotations

from bartviz.features.inputs import EXPLAINED
from bartviz.teaching.explanations import parts


def test_every_choice_is_explained() -> None:
    assert sorted(EXPLAINED.values()) == sorted(parts("inputs"))
