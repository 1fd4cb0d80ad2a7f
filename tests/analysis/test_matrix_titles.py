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


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: str(entry.name))
def test_every_role_of_every_model_is_explained(entry: Entry) -> None:
    for architecture in FAMILIES[entry.family].variants:
        for role in {row.role for row in rows(entry.config, architecture)}:
            assert matrix_titles.does(role).endswith("."), role


def test_a_bias_is_explained_as_such() -> None:
    assert matrix_titles.does("self-attention query weight").startswith("It makes a token's query")
    assert matrix_titles.does("self-attention query bias") == matrix_titles.does("feed-forward in bias")
    assert "shifts" in matrix_titles.does("self-attention layer norm bias")


def test_what_nobody_knows_stays() -> None:
    assert matrix_titles.title("a role of tomorrow") == "a role of tomorrow"
    assert matrix_titles.does("a role of tomorrow") == ""
