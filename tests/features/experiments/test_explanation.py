"""Every choice of the page has its explanation."""

from __future__ import annotations

from bartviz.features.experiments.parts import EXPERIMENTS
from bartviz.teaching.explanations import parts


def test_every_choice_is_explained() -> None:
    assert sorted(EXPERIMENTS) == sorted(parts("experiments"))
