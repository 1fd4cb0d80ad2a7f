"""Masks in words: small ones by hand, then any record."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from bartviz.analysis import masks
from bartviz.errors import SettingError
from bartviz.record.attention import Attention, Kind
from bartviz.record.record import Record
from tests.support import records, stand_in

LABELS = stand_in.tokens(("<s>", "a", "b", "</s>"))


def test_shapes_by_hand() -> None:
    full, causal = np.ones((3, 3), np.bool_), np.tri(3).astype(np.bool_)
    padding = full.copy()
    padding[:, 2] = False
    assert masks.shape(full).name == "full"
    assert masks.shape(causal) == masks.Shape(6, 9, True, 0)
    assert masks.shape(padding).name == "padding"
    assert masks.shape(padding & causal).name == "causal and padding"
    assert [masks.shape(one).plain for one in (full, causal, padding)] == [
        "sees the whole text",
        "only looks back (causal)",
        "padding",
    ]
    assert masks.shape(np.eye(3).astype(np.bool_)).name == "another pattern"
    assert masks.shape(np.zeros((2, 2), np.bool_)).closed_keys == 2
    assert masks.shape(np.ones((1, 1), np.bool_)).name == "full"


def test_full_row_names_all_it_sees() -> None:
    own = records.attention("encoder", LABELS, LABELS)
    assert masks.row_sentence(own, 1) == "“a” of “ab” may look at all 4 tokens: “<s>” “a” “b” “</s>”."


def test_causal_row_says_what_comes_later() -> None:
    own = records.attention("decoder", LABELS, LABELS)
    assert masks.row_sentence(own, 2) == (
        "The row that reads “b” of “ab” may look at 3 tokens: “<s>” “a” “b”. Closed: 1 token that comes later."
    )
    assert masks.row_sentence(own, 3) == "The row that reads “</s>” may look at all 4 tokens: “<s>” “a” “b” “</s>”."


def test_padding_is_closed_to_every_row() -> None:
    own = records.attention("cross", LABELS, LABELS, padding=2)
    assert masks.row_sentence(own, 0) == (
        "The row that reads “<s>” may look at 2 tokens: “<s>” “a”. Closed: 2 of padding, to every row."
    )


def test_a_wholly_masked_row_has_a_note_that_it_means_nothing() -> None:
    own = records.attention("cross", LABELS, LABELS, padding=4)
    assert masks.row_sentence(own, 0) == (
        "The row that reads “<s>” cannot look at anything: its weights are uniform and mean nothing."
    )


def test_pattern_of_a_model_is_named_as_such() -> None:
    own = records.attention("encoder", LABELS, LABELS)
    mask = own.mask.copy()
    mask[0, 3] = False
    windowed = Attention("encoder", own.queries, own.keys, own.scale, mask, LABELS, LABELS)
    assert masks.row_sentence(windowed, 0).endswith("Closed: 1 token by the model's own pattern.")


def test_long_rows_count_the_middle() -> None:
    tokens = stand_in.tokens([f"t{i}" for i in range(20)])
    own = records.attention("encoder", tokens, tokens)
    assert "“t5” … 8 more … “t14”" in masks.row_sentence(own, 0)


def test_very_long_words_end_in_an_ellipsis() -> None:
    assert masks.quote("x" * 32) == f"“{'x' * 32}”"
    assert masks.quote("x" * 33) == f"“{'x' * 31}…”"


def test_a_word_that_is_read_from_right_to_left_leaves_its_neighbours_in_a_sentence_where_they_are() -> None:
    assert masks.quote("مرحبا") == "“\u2068مرحبا\u2069”"
    assert masks.quote("שלום" * 20) == f"“\u2068{('שלום' * 20)[:31]}…\u2069”"
    assert masks.quote("어텐션 👩‍👧 Übung") == "“어텐션 👩‍👧 Übung”"


def test_rows_can_be_named_by_what_they_predict() -> None:
    own = records.attention("decoder", LABELS, LABELS)
    assert masks.row_sentence(own, 0).startswith("The row that reads “<s>” may look")
    query = stand_in.tokens(("X", "Y", "Z", "</s>"))
    assert masks.row_sentence(own, 0, query=query).startswith("The row that predicts “X” of “XYZ” may look")


def test_unknown_row_is_refused_with_the_choices() -> None:
    with pytest.raises(SettingError, match="0 to 3"):
        masks.row_sentence(records.attention("encoder", LABELS, LABELS), 4)


def test_notice_counts_the_cells_of_each_kind() -> None:
    sentence = masks.notice(records.encoder_decoder(padding=2))
    assert "encoder padding, 63 of 81 cells open" in sentence
    assert "decoder causal, 45 of 81 cells open" in sentence


def test_beginners_are_told_what_a_writing_decoder_may_not_see() -> None:
    record = records.encoder_decoder(("<s>", "a", "</s>"), ("b", "c", "d", "</s>"))
    assert "only lets it look back: 6 of 16 cells are hidden" in masks.plainly(record)
    reads = records.encoder_only()
    assert "hides nothing" in masks.plainly(reads)


def test_beginners_are_told_how_many_tokens_a_row_may_look_at() -> None:
    record = records.encoder_decoder(("<s>", "a", "</s>"), ("b", "c", "d", "</s>"))

    def said(kind: Kind, row: int) -> str:
        return masks.row_sentence(record.attention(kind), row, record.rows(kind, "predicts"), plain=True)

    assert said("encoder", 1) == "“a” may look at all 3 tokens."
    assert said("decoder", 1) == (
        "To write “c” of “bcd”, the decoder may look at 2 of 4 tokens. “c” of “bcd” itself is hidden, "
        "and so is what comes after it (“d”)."
    )
    assert said("decoder", 2).endswith("“d” of “bcd” itself is hidden.")
    assert said("cross", 1) == "To write “c” of “bcd”, the decoder may look at all 3 tokens."
    long = records.encoder_decoder(("<s>", "a", "</s>"), (*"bcdefgh", "</s>"))
    said_of_long = masks.row_sentence(long.attention("decoder"), 0, long.rows("decoder", "predicts"), plain=True)
    assert said_of_long.endswith("what comes after it (“c”, “d”, “e”, “f” and 2 more).")
    own = records.encoder_decoder(padding=1).attention("encoder")
    assert masks.row_sentence(own, 0, plain=True) == masks.row_sentence(own, 0)  # which says what is hidden


def test_the_sentence_of_painting_is_about_the_mask_that_is_painted() -> None:
    record = records.encoder_decoder(("<s>", "a", "</s>"), ("b", "c", "d", "</s>"))
    assert "Paint the cross" in masks.painted(record, "cross")
    assert masks.painted(record, "cross").startswith("Paint the cross-attention mask, ")
    assert "12 of 12 cells open" in masks.painted(record, "cross")  # 4 rows of the output, 3 columns of the source
    assert "10 of 16 cells open" in masks.painted(record, "decoder")


def test_table_has_every_row_of_every_kind() -> None:
    record = records.encoder_decoder(("<s>", "a", "</s>"), ("b", "</s>"))
    frame = masks.table(record)
    assert list(frame["kind"]) == ["encoder"] * 3 + ["decoder"] * 2 + ["cross"] * 2
    assert list(frame["open"]) == [3, 3, 3, 1, 2, 3, 3]
    assert list(frame["closed"]) == [0, 0, 0, 1, 0, 0, 0]
    assert frame["may look at"][4] == "</s> b"
    assert record.output is not None
    assert list(masks.table(record, "predicts")["query"][3:5]) == list(record.output.labels)


@settings(max_examples=50, deadline=None)
@given(records.records())
def test_every_row_of_every_record_has_its_sentence(record: Record) -> None:
    for kind in record.kinds:
        attention = record.attention(kind)
        for row in range(attention.shape[2]):
            assert str(int(attention.mask[row].sum())) in masks.row_sentence(attention, row)
    assert masks.notice(record).endswith("cells open.")


def test_a_piece_of_a_word_is_named_with_its_word() -> None:
    record = stand_in.record(output=("<s>", " kau", "fen", "</s>"))
    assert record.output is not None
    said = masks.row_sentence(record.attention("cross"), 1, record.output)
    assert said.startswith("The row that predicts “kau” of “kaufen” may look at ")
    assert masks.in_word(record.output, 0) == "“<s>”"
