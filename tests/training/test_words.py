"""The list of whole words: counted as they are written, rare ones and stray letters left out."""

from __future__ import annotations

from training.words import counted, listed, of_language


def test_words_are_counted_as_they_are_written() -> None:
    assert counted(["Don't go, go!", "Über 12 x a"]) == {"Don't": 1, "go": 2, "Über": 1, "a": 1}


def test_rare_words_are_left_out() -> None:
    assert listed(["go Tom", "go Ann", "Ann"], least=2) == ["Ann", "go"]


def test_a_word_is_of_each_language_that_uses_it() -> None:
    english, german = counted(["was " * 20 + "the " * 100]), counted(["was " * 10 + "die " * 9 + "the"])
    known = ["die", "the", "was"]
    assert of_language(known, english, german) == ["the", "was"]
    assert of_language(known, german, english) == ["die", "was"]
