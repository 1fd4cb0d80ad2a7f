"""The numbers of words, which are their colours on every page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bartviz.analysis import start, word_colors
from bartviz.analysis.word_colors import NONE
from bartviz.record.record import Record
from tests.analysis.test_decoding import decoded
from tests.analysis.test_start import two_words
from tests.support import stand_in


def test_words_of_the_source_are_counted_and_output_words_have_the_number_of_their_partner() -> None:
    colors = word_colors.of(two_words())
    assert colors.source == (0, 1, NONE)
    assert colors.predicts == (1, 1, NONE)  # "Kat" and "ze" look most at "cat"
    assert colors.reads == (NONE, 1, 1)  # one row later, after the start token


def test_rows_are_named_as_those_of_a_record() -> None:
    record = two_words()
    colors = word_colors.of(record)
    assert colors.sides("cross") == (colors.predicts, colors.source)
    assert colors.sides("cross", "reads") == (colors.reads, colors.source)
    assert colors.sides("decoder") == (colors.reads, colors.reads)
    assert colors.sides("decoder", "predicts") == (colors.predicts, colors.reads)
    assert colors.sides("encoder", "predicts") == (colors.source, colors.source)
    for kind in record.kinds:
        for reading in ("reads", "predicts"):
            rows, columns = colors.sides(kind, reading)
            assert (len(rows), len(columns)) == record.attention(kind).shape[2:]


def test_another_text_has_the_colours_of_the_words_that_it_shares() -> None:
    source = stand_in.tokens(("<s>", " the", " cat", " sleeps")), (NONE, 0, 1, 2)
    output = stand_in.tokens((" dog", " cat")), (7, 5)
    other = stand_in.tokens((" a", " dog", " the", " c", "at"))
    assert word_colors.carried([source], other) == (NONE, NONE, 0, 1, 1)  # both pieces of "cat"
    assert word_colors.carried([source, output], other) == (NONE, 7, 0, 1, 1)


def test_a_word_has_the_colour_of_its_gloss(record: Record) -> None:
    ribbons, colors = start.ribbons(record), word_colors.of(record)
    named = {colors.source[word.start]: word.text for word in ribbons.above}
    glossed = [
        (named[number], gloss)
        for word, gloss in zip(ribbons.below, start.glosses(ribbons), strict=True)
        if gloss and (number := colors.predicts[word.start]) != NONE
    ]
    assert len(glossed) >= 3
    assert all(name == gloss for name, gloss in glossed)


def test_signs_and_special_tokens_have_no_number_and_pieces_have_that_of_their_word(record: Record) -> None:
    numbers = word_colors.of(record).source
    assert numbers[0] == numbers[-1] == NONE
    assert numbers[list(record.source.labels).index(".")] == NONE
    spoken = [number for number in numbers if number != NONE]
    assert spoken == sorted(spoken)
    assert set(spoken) == set(range(max(spoken) + 1))
    pieces = word_colors.of(stand_in.record(source=("<s>", "Or", "gan", " of", "</s>"), kind="encoder")).source
    assert pieces == (NONE, 0, 0, 1, NONE)


def test_a_decoder_alone_counts_the_words_that_it_continues() -> None:
    record = decoded(prompt=3)
    colors = word_colors.of(record)
    assert colors.reads == colors.source
    assert colors.predicts == (*colors.reads[1:], NONE)


def test_without_an_output_rows_are_named_by_what_they_read() -> None:
    colors = word_colors.of(replace(two_words(), output=None, steps=()))
    assert colors.predicts == colors.reads


@pytest.mark.parametrize(("groups", "found"), [(((0, 1), (2,)), (3, NONE)), (((0,), (1, 2)), (NONE, 3))])
def test_a_group_has_the_number_of_its_first_token_that_has_one(groups: object, found: tuple[int, ...]) -> None:
    assert word_colors.grouped((NONE, 3, NONE), groups) == found  # type: ignore[arg-type]
