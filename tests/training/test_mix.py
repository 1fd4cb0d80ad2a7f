"""What the translator is trained on."""

from __future__ import annotations

import numpy as np

from training import everyday, mix, names_check
from training.corpus import Pair

ROWS = [Pair(f"It is {i} o'clock now.", f"Es ist jetzt {i} Uhr.") for i in range(400)]


def test_final_marks_go_on_both_sides_or_on_none() -> None:
    assert mix.without_end(Pair("Hi!", "Hallo!")) == Pair("Hi", "Hallo")
    assert mix.without_end(Pair("Stop.", "Halt!")) == Pair("Stop.", "Halt!")


def test_joined_texts_hold_every_row_once() -> None:
    rows = [Pair(f"E{i}.", f"D{i}.") for i in range(200)]
    found = mix.joined(rows, np.random.default_rng(0))
    assert sorted(part for row in found for part in row.en.split()) == sorted(row.en for row in rows)
    assert all(row.de == row.en.replace("E", "D") for row in found)
    twos = sum(" " in row.en for row in found)
    assert 0.13 < twos / len(found) < 0.15


def test_long_texts_and_texts_without_end_stay_alone() -> None:
    rows = [Pair("x" * mix.SHORT + ".", "y."), Pair("No end", "Kein Ende")] * 50
    assert sorted(row.en for row in mix.joined(rows, np.random.default_rng(0))) == sorted(row.en for row in rows)


def test_rows_of_the_corpus_and_of_the_grammar() -> None:
    drawn = mix.Mix(ROWS, np.random.default_rng(0)).draw(1000)
    corpus = sum("o'clock now" in row.en for row in drawn) / len(drawn)
    assert 0.65 < corpus < 0.8
    assert any(row.en[-1] not in ".!?" for row in drawn)


def test_nothing_that_is_measured_is_trained_on() -> None:
    measured = [case.en for case in everyday.cases()] + [case.en for case in names_check.cases()]
    rows = [Pair(en, "x") for en in measured]
    drawn = mix.Mix(rows, np.random.default_rng(0)).draw(600)
    assert drawn
    assert not {row.en for row in drawn} & set(measured)
