"""What the translator is trained on."""

from __future__ import annotations

import re

import numpy as np

from training import grammar, mix
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
    corpus = sum("o'clock now" in row.en.lower() for row in drawn) / len(drawn)
    assert mix.of_corpus(1000) / 1000 < corpus < 0.7  # of two that are joined, one is enough
    assert any(row.en[-1] not in ".!?" for row in drawn)


def test_lessons_are_in_the_mix_with_their_share() -> None:
    """A greeting or the number of a telephone may be of either list: only those of one are counted."""
    made = mix.Mix(ROWS, np.random.default_rng(0))
    fixed = {en.lower() for en, _ in grammar.phrases(file=grammar.LESSONS) if "{" not in en}
    fixed -= {en.lower() for en, _ in grammar.phrases()}
    expected = [made.own(grammar.lesson).en.lower() in fixed for _ in range(2000)]
    drawn = [row.en.lower() for row in made.draw(6000)]
    found = sum(text in fixed or f"{text}." in fixed for text in drawn) / len(drawn)
    assert 0.7 < found / (mix.LESSONS * np.mean(expected)) < 1.3  # some are joined to others


def test_a_numbered_draw_is_the_same_whatever_was_drawn_before() -> None:
    one, other = (mix.Mix(ROWS, np.random.default_rng(0)) for _ in range(2))
    other.draw(70)
    found = [made.numbered(3, 50, np.random.default_rng(5)) for made in (one, other)]
    assert found[0] == found[1]
    in_turn = [made for i in range(3) for made in one.numbered(i, 50, np.random.default_rng(i))]
    assert in_turn != found[0]
    assert one.deck.position == 3 * mix.of_corpus(50)


def test_some_texts_are_typed_without_the_usual_capitals() -> None:
    rng = np.random.default_rng(0)
    drawn = [mix.typed("I saw Tom.", rng) for _ in range(4000)]
    shares = {text: drawn.count(text) / len(drawn) for text in set(drawn)}
    for text in ("i saw tom.", "i saw Tom.", "I saw tom."):
        assert abs(shares.pop(text) - mix.SMALL / 3) < 4 * (mix.SMALL / 3 / len(drawn)) ** 0.5
    assert set(shares) == {"I saw Tom."}


def test_nothing_that_is_measured_is_trained_on() -> None:
    measured = mix.measured()
    assert len(measured) > 350
    rows = [Pair(en.rstrip("."), "x") for en in measured]
    drawn = mix.Mix(rows, np.random.default_rng(0)).draw(600)
    assert drawn
    assert not {mix.bare(row.en) for row in drawn} & {mix.bare(en) for en in measured}


def test_no_lesson_is_written_as_a_sentence_that_is_measured() -> None:
    """Slots may make one, which a draw leaves out; the words of the articles' sentences are there to be learned."""
    lessons = [en for en, _ in grammar.phrases(file=grammar.LESSONS)]
    assert not {mix.bare(en) for en in lessons} & {mix.bare(en) for en in mix.measured()}
    words = {word for en in lessons for word in re.findall(r"\w+", en.lower())}
    for text in (
        "cat sat mat",
        "study found significant results",
        "bank river walked along eroding closing",
        "beautiful well located middle city where easily accessible public transport",
    ):
        assert set(text.split()) <= words
