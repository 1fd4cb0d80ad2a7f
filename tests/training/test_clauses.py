"""Clauses: verb forms and word order."""

from __future__ import annotations

import re

import numpy as np
import pytest

from training import clauses
from training.clauses import HE, ME, SHE, SIE, THEY, WE, YE, YOU

GET_UP = clauses.parse("get got got | up early | auf_stehen steht aufgestanden s | früh | nicht früh")
WASH = clauses.parse("wash | @my hands | waschen wäscht gewaschen h | @dat die Hände | @dat nicht die Hände")
OPEN = clauses.parse("open | the door | öffnen öffnet geöffnet h | die Tür")


def all_of(frame: tuple[str, str], action: clauses.Action) -> set[tuple[str, str]]:
    """What a frame gives with an action, over many draws of the subject."""
    rng = np.random.default_rng(0)
    return {(row.en, row.de) for row in (clauses.clause(frame, action, rng) for _ in range(300))}


@pytest.mark.parametrize(
    ("infinitive", "er", "forms"),
    [
        ("spielen", "spielt", "spiele spielst spielt spielen spielt"),
        ("essen", "isst", "esse isst isst essen esst"),
        ("arbeiten", "arbeitet", "arbeite arbeitest arbeitet arbeiten arbeitet"),
        ("öffnen", "öffnet", "öffne öffnest öffnet öffnen öffnet"),
        ("fahren", "fährt", "fahre fährst fährt fahren fahrt"),
        ("laden", "lädt", "lade lädst lädt laden ladet"),
        ("füttern", "füttert", "füttere fütterst füttert füttern füttert"),
        ("mögen", "mag", "mag magst mag mögen mögt"),
        ("haben", "hat", "habe hast hat haben habt"),
        ("lernen", "lernt", "lerne lernst lernt lernen lernt"),
        ("wohnen", "wohnt", "wohne wohnst wohnt wohnen wohnt"),
    ],
)
def test_the_present(infinitive: str, er: str, forms: str) -> None:
    assert [clauses.finite(infinitive, er, person) for person in (ME, YOU, HE, WE, YE)] == forms.split()
    assert clauses.finite(infinitive, er, SHE) == er
    assert {clauses.finite(infinitive, er, person) for person in (THEY, SIE)} == {infinitive}


def test_modal_verbs() -> None:
    assert [clauses.modal("kann", person) for person in range(8)] == (
        ["kann", "kannst", "kann", "kann", "können", "könnt", "können", "können"]
    )


def test_english_verbs() -> None:
    assert [clauses.with_s(verb) for verb in ("go", "have", "study", "play", "wash")] == (
        ["goes", "has", "studies", "plays", "washes"]
    )
    assert [clauses.ing(verb) for verb in ("run", "bake", "see", "play")] == ["running", "baking", "seeing", "playing"]
    assert [clauses.regular_past(verb) for verb in ("bake", "study", "play", "travel")] == (
        ["baked", "studied", "played", "travelled"]
    )


@pytest.mark.parametrize(
    ("frame", "row"),
    [
        (("{S} {V}.", "{S} {v} {o} {p}."), ("I get up early.", "Ich stehe früh auf.")),
        (("{Do} {S} {B}?", "{v} {S} {o} {p}?"), ("Does he get up early?", "Steht er früh auf?")),
        (("{S} {don't} {B}.", "{S} {v} {n} {p}."), ("She doesn't get up early.", "Sie steht nicht früh auf.")),
        (("{S} {P}.", "{S} {h} {o} {g}."), ("We got up early.", "Wir sind früh aufgestanden.")),
        (("if {S} {V}", "wenn {S} {o} {e}"), ("If you get up early", "Wenn du früh aufstehst")),
        (("{S} can {B}.", "{S} {kann} {o} {i}."), ("The man can get up early.", "Der Mann kann früh aufstehen.")),
        (("{S} {try} to {B}", "{S} {versucht}, {z}"), ("He tries to get up early", "Er versucht, aufzustehen")),
        (("Please {B7}.", "Bitte {v} {S} {o} {p}."), ("Please get up early.", "Bitte stehen Sie früh auf.")),
    ],
)  # fmt: skip
def test_word_order(frame: tuple[str, str], row: tuple[str, str]) -> None:
    assert row in all_of(frame, GET_UP)


def test_what_goes_with_the_subject() -> None:
    found = all_of(("{S} {V}.", "{S} {v} {o} {p}."), WASH)
    assert ("I wash my hands.", "Ich wasche mir die Hände.") in found
    assert ("They wash their hands.", "Sie waschen sich die Hände.") in found
    assert ("I like to wash my hands.", "Ich wasche mir gern die Hände.") in all_of(
        ("{S} {like} to {B}.", "{S} {v} gern {o} {p}."), WASH
    )
    look_for = clauses.parse("look | for @my {family.sg} | suchen sucht gesucht h | @mein {family}")
    for en, de in all_of(("{S} {V}.", "{S} {v} {o} {p}."), look_for):
        assert "@" not in en + de
        assert not en.startswith("He looks for") or re.search(r"Er sucht sein(en|e) ", de)


def test_an_object_is_negated_by_nicht_where_nothing_else_is_said() -> None:
    assert OPEN.negated == "die Tür nicht"


def test_every_frame_and_every_action_is_filled() -> None:
    rng = np.random.default_rng(0)
    frames = list(dict.fromkeys(clauses.frames()))
    for action in clauses.actions():
        for frame in frames[:: len(frames) // 8]:
            row = clauses.clause(frame, action, rng)
            assert not re.search(r"[{}@_|]|  ", row.en + row.de)
    for frame in frames:
        row = clauses.clause(frame, GET_UP, rng)
        assert not re.search(r"[{}@_|]|  ", row.en + row.de)
