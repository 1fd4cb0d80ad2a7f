"""Manual alignments: formats, errors that quote the wrong piece, and the three measures with small numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bartviz.analysis.gold_alignment import Gold, never_first, read, score, write
from bartviz.errors import TextError

pairs = st.frozensets(st.tuples(st.integers(0, 8), st.integers(0, 6)), max_size=20)


def test_sure_and_possible_links_in_every_usual_spelling() -> None:
    wanted = Gold(frozenset({(0, 0), (3, 4)}), frozenset({(1, 2)}))
    for text in ("0-0 3-4 1?2", "0-0\n3-4\n1p2\n", "0s0 3S4 1P2", "0-0/S 3-4:S 1-2/P", "1 1 1 S\n1 4 5 S\n1 2 3 P 0.8"):
        assert read(text, 9, 7) == wanted
    assert wanted.possible == {(0, 0), (3, 4), (1, 2)}


def test_words_may_be_counted_from_one_and_the_target_may_come_first() -> None:
    assert read("1-1 2?3", 2, 3, base=1) == read("0-0 1?2", 2, 3)
    assert read("0-1", 2, 1, swap=True).sure == {(1, 0)}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0-0 1_2", "1_2.*is not a link"),
        ("0-0 1?2/S", "is not a link"),
        ("0-0 9-2", "9-2.*source word 9.*words 0 to 6"),
        ("0-5", "target word 5.*words 0 to 4"),
        ("0-0 1-1\n0-0 2-2", "2 lines, but one sentence"),
        ("1 1 1\n2 1 1", "several sentences"),
        ("-" * 40, "-{23}….*is not a link"),
        ("x" * 100_001, "at most 100,000"),
        ("0--1", "is not a link"),
        ("٣-٣", "is not a link"),
    ],
)
def test_what_cannot_be_read_is_reported_in_one_sentence_with_its_piece(text: str, words: str) -> None:
    with pytest.raises(TextError, match=words) as refused:
        read(text, 7, 5)
    assert str(refused.value).count(". ") == 0


def test_word_zero_does_not_exist_when_counting_from_one() -> None:
    with pytest.raises(TextError, match="source word 0, but the source has words 1 to 7"):
        read("0-1", 7, 5, base=1)


def test_the_error_rate_of_a_case_worked_by_hand() -> None:
    # found 4, of which 2 sure and 1 possible; 3 sure in all: 1 - (2 + 3) / (4 + 3)
    judged = score({(0, 0), (1, 1), (2, 2), (5, 5)}, read("0-0 1-1 3-3 2?2", 6, 6))
    assert judged.error_rate == pytest.approx(2 / 7)
    assert judged.precision == pytest.approx(3 / 4)
    assert judged.recall == pytest.approx(2 / 3)
    assert (judged.wrong, judged.missed) == (1, 1)


def test_links_of_words_that_are_not_judged_yet_do_not_count() -> None:
    gold, found = read("0-0 1?1", 3, 3), {(0, 0), (0, 1), (2, 2)}
    assert (score(found, gold).found, score(found, gold).wrong) == (3, 2)
    begun = score(found, gold.begun())  # output words 0 and 1: of their two links one is right
    assert (begun.found, begun.right, begun.wrong, begun.missed) == (2, 1, 1, 0)
    assert begun.error_rate == pytest.approx(1 - (1 + 1) / (2 + 1))
    assert gold.begun().begun() == gold.begun()


def test_nothing_found_is_all_wrong_and_where_nothing_is_sure_the_error_rate_is_not_defined() -> None:
    nothing = score((), read("0-0", 1, 1))
    assert (nothing.error_rate, nothing.precision, nothing.recall) == (1.0, None, 0.0)
    for gold in (Gold(frozenset(), frozenset()), read("0?0", 1, 1)):
        nothing = score((), gold)
        assert (nothing.error_rate, nothing.precision, nothing.recall) == (None, None, None)


def test_without_sure_links_the_error_rate_is_1_minus_precision() -> None:
    judged = score({(0, 0), (1, 1), (2, 2)}, read("0?0 1?1 3?3", 4, 4))
    assert judged.error_rate == pytest.approx(1 / 3)
    assert judged.precision == pytest.approx(2 / 3)
    assert judged.recall is None


def test_what_a_word_processor_has_made_of_a_line_is_read_too() -> None:
    assert read("\ufeff0–0 1−1 2‑2 2？1", 3, 3) == read("0-0 1-1 2-2 2?1", 3, 3)


def test_links_counted_from_1_are_suspected() -> None:
    assert never_first(read("1-1 2-3", 4, 4))
    assert not never_first(read("1-1 2-0", 4, 4))
    assert not never_first(read("1-1", 4, 4))  # one link tells nothing


@pytest.mark.slow
@given(pairs, pairs)
def test_what_is_written_is_read_again(sure: frozenset[tuple[int, int]], possible: frozenset[tuple[int, int]]) -> None:
    text = write(sure, possible)
    assert read(text, 9, 7) == Gold(sure, possible)
    assert write(read(text, 9, 7).sure, read(text, 9, 7).possible) == text


@pytest.mark.slow
@given(pairs, pairs)
def test_an_alignment_agrees_with_itself(
    sure: frozenset[tuple[int, int]], possible: frozenset[tuple[int, int]]
) -> None:
    gold = Gold(sure, possible)
    assert score(sure, gold).error_rate == (0.0 if sure else None)
    assert score(gold.possible, gold).error_rate == (0.0 if gold.possible else None)  # possible links cost nothing


@pytest.mark.slow
@given(pairs, pairs, pairs)
def test_measures_stay_between_0_and_1(
    found: frozenset[tuple[int, int]], sure: frozenset[tuple[int, int]], possible: frozenset[tuple[int, int]]
) -> None:
    judged = score(found, Gold(sure, possible))
    assert all(0 <= value <= 1 for value in (judged.error_rate, judged.precision, judged.recall) if value is not None)
