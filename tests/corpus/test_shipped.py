"""The atlases that ship."""

from __future__ import annotations

import pytest

import bartviz
from bartviz.corpus import shipped
from bartviz.language import speaking
from bartviz.models.roots import default_roots


@pytest.mark.parametrize("name", shipped.NAMES)
def test_an_atlas_is_of_the_model_that_ships(name: str) -> None:
    model = bartviz.load(name, roots=default_roots())
    assert shipped.atlas(name).description["model"]["fingerprint"] == model.info.fingerprint


@pytest.mark.parametrize("name", shipped.NAMES)
def test_its_tables_are_whole_and_agree(name: str) -> None:
    """The app takes that for granted until an atlas is shown."""
    shipped.atlas(name).check()


def test_each_visitor_reads_the_roles_in_their_own_language() -> None:
    atlas = shipped.atlas("bert-tiny-en")  # one object for all visitors
    with speaking("ko"):
        korean = set(atlas.roles["role"])
    assert set(atlas.roles["role"]).isdisjoint(korean)
    assert "previous token" in set(atlas.roles["role"])
