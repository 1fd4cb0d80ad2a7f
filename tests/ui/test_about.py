"""What is translated of the catalogue is what the catalogue says."""

from __future__ import annotations

from bartviz.families.catalogue import CATALOGUE
from bartviz.ui import about


def test_every_title_and_note_of_the_catalogue_is_a_message() -> None:
    assert set(about.TITLES) == {entry.title for entry in CATALOGUE}
    assert set(about.NOTES) == {entry.note for entry in CATALOGUE}
