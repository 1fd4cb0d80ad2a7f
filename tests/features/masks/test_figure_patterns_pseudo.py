"""All texts of the gallery of patterns are translated."""

from __future__ import annotations

import re

from bartviz.features.masks import figure_patterns as patterns
from bartviz.language import PSEUDO, speaking
from tests.figures.test_pseudo import outside


def test_the_gallery_of_patterns_too() -> None:
    with speaking(PSEUDO):
        titles = re.findall(r"<(?:b|span)[^>]*>([^<]*)<", patterns.gallery(8))
    assert len(titles) > 16
    assert not [word for text in titles for word in outside(text)]
