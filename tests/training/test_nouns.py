"""German nouns with determiner and adjective, and English plurals."""

from __future__ import annotations

import pytest

from training import lists, nouns

APPLE = nouns.parse("apple | der Apfel, Äpfel")
CAT = nouns.parse("cat | die Katze, Katzen")
KNIFE = nouns.parse("knife/knives | das Messer, Messer")
BOY = nouns.parse("boy | der Junge*, Jungen")
MILK = nouns.parse("milk | die Milch")


@pytest.mark.parametrize(
    ("noun", "word", "case", "adjective", "german"),
    [
        (APPLE, "der", "nom", "", "der Apfel"),
        (APPLE, "ein", "acc", "rot", "einen roten Apfel"),
        (APPLE, "ein", "nom", "rot", "ein roter Apfel"),
        (APPLE, "der", "nom", "rot", "der rote Apfel"),
        (APPLE, "der", "dat", "rot", "dem roten Apfel"),
        (APPLE, "der-pl", "dat", "", "den Äpfeln"),
        (APPLE, "pl", "nom", "rot", "rote Äpfel"),
        (CAT, "ein", "dat", "klein", "einer kleinen Katze"),
        (CAT, "kein", "acc", "", "keine Katze"),
        (CAT, "der-pl", "dat", "", "den Katzen"),
        (CAT, "welcher", "nom", "", "welche Katze"),
        (KNIFE, "ein", "acc", "neu", "ein neues Messer"),
        (KNIFE, "dieser", "nom", "", "dieses Messer"),
        (KNIFE, "unser", "dat", "", "unserem Messer"),
        (KNIFE, "euer", "nom", "", "euer Messer"),
        (CAT, "euer", "nom", "", "eure Katze"),
        (KNIFE, "mein-pl", "nom", "alt", "meine alten Messer"),
        (KNIFE, "ein", "acc", "teuer", "ein teures Messer"),
        (BOY, "der", "nom", "", "der Junge"),
        (BOY, "der", "acc", "klein", "den kleinen Jungen"),
        (BOY, "ein", "dat", "", "einem Jungen"),
        (MILK, "sg", "nom", "", "Milch"),
        (MILK, "sg", "acc", "kalt", "kalte Milch"),
        (APPLE, "next", "acc", "", "den nächsten Apfel"),
    ],
)
def test_a_noun_after_its_determiner(noun: nouns.Noun, word: str, case: str, adjective: str, german: str) -> None:
    assert noun.german(word, case, adjective) == german


def test_english_forms() -> None:
    assert [KNIFE.english(form) for form in ("a", "sg", "pl")] == ["a knife", "knife", "knives"]


@pytest.mark.parametrize(
    ("word", "plural"),
    [
        ("cherry", "cherries"),
        ("toy", "toys"),
        ("brush", "brushes"),
        ("bus", "buses"),
        ("tomato", "tomatoes"),
        ("piano", "pianos"),
        ("bar of chocolate", "bars of chocolate"),
    ],
)
def test_regular_plurals(word: str, plural: str) -> None:
    assert nouns.english_plural(word) == plural


def test_every_noun_of_the_list_is_read() -> None:
    found = [noun for name, rows in lists.sections(nouns.FILE).items() if " | d" in rows[0] for noun in nouns.of(name)]
    assert len(found) > 350
    assert all(noun.de[0].isupper() and not noun.de.endswith("*") for noun in found)
