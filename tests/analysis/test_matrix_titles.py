"""What each matrix of an architecture does, in the reader's words."""

from __future__ import annotations

import pytest

from bartviz.analysis import matrix_titles
from bartviz.analysis.parameters import rows
from bartviz.families.catalogue import CATALOGUE, Entry
from bartviz.families.registry import FAMILIES
from bartviz.language import PSEUDO, speaking


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: str(entry.name))
def test_every_role_of_every_model_is_translated(entry: Entry) -> None:
    for architecture in FAMILIES[entry.family].variants:
        for role in {row.role for row in rows(entry.config, architecture)}:
            assert matrix_titles.title(role) == role
            with speaking(PSEUDO):
                assert matrix_titles.title(role).startswith("⟦"), role


def test_what_nobody_knows_stays() -> None:
    assert matrix_titles.title("a role of tomorrow") == "a role of tomorrow"
