"""The atlases that ship."""

from __future__ import annotations

import pytest

import bartviz
from bartviz.corpus import shipped
from bartviz.models.folders import default_roots


@pytest.mark.parametrize("name", shipped.NAMES)
def test_an_atlas_is_of_the_model_that_ships(name: str) -> None:
    model = bartviz.load(name, roots=default_roots())
    assert shipped.atlas(name).description["model"]["fingerprint"] == model.info.fingerprint
