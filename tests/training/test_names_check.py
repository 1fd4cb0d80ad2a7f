"""Whether names and numbers arrive."""

from __future__ import annotations

import pytest

from training import names, names_check
from training.names_check import Case

CASE = Case("Tabea is twelve.", (frozenset({"Tabea"}), frozenset({"zwölf", "12"})))


@pytest.mark.parametrize(
    ("german", "arrived"),
    [
        ("Tabea ist zwölf.", [True, True]),
        ("Tabea ist 12.", [True, True]),
        ("Tabeas Alter ist 12 Jahre.", [True, True]),
        ("Tabe ist zwölf.", [False, True]),
        ("Tabeatina ist 12.", [False, True]),
        ("Tabea ist 112.", [True, False]),
        ("Tabea ist 12,5.", [True, False]),
        ("", [False, False]),
    ],
)
def test_a_piece_arrives_as_a_whole(german: str, arrived: list[bool]) -> None:
    assert names_check.arrived(CASE, german) == arrived


def test_shares_of_sentences_and_of_pieces() -> None:
    assert names_check.share([CASE, CASE], lambda _: ["Tabea ist 12.", "Tabea ist 13."]) == (0.5, 0.75)


def test_the_list_is_the_same_every_time_and_holds_no_name_for_training() -> None:
    cases = names_check.cases()
    assert len(cases) == names_check.COUNT == len({case.en for case in cases})
    assert cases[0].en == names_check.cases()[0].en
    held = names.held_out()
    assert sum(any(name in case.en for name in held) for case in cases) > 150
    assert all(case.needed for case in cases)
