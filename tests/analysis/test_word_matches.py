"""Words that are the same, signs, and words that choose each other: by hand, and on a model with unknown words."""

from __future__ import annotations

import numpy as np
import pytest

from bartviz.analysis import word_matches
from bartviz.analysis.look_ahead import BACK
from bartviz.analysis.measures import measures, of_record
from bartviz.run.forward import capture
from bartviz.text.tokens import Tokens
from tests.analysis.test_measures import head
from tests.support import loaded, records, stand_in

UNKNOWN = Tokens(
    np.arange(5),
    ("[CLS]", *["[UNK]"] * 3, "[SEP]"),
    ("[CLS]", *["[UNK]"] * 3, "[SEP]"),
    (None, 0, 1, 2, None),
    np.array([True, False, False, False, True]),
    np.zeros(5, np.int64),
    (None, (0, 1), (2, 3), (4, 5), None),
)


def test_unknown_words_are_the_same_only_where_they_are_written_alike() -> None:
    assert word_matches.codes(UNKNOWN, UNKNOWN, ("가 나 가",), ("가 나 가",))[0].tolist() == [-1, 0, 1, 0, -1]
    assert word_matches.codes(UNKNOWN, UNKNOWN)[0].tolist() == [-1, 0, 0, 0, -1]  # nothing else is known of them


def test_signs_that_the_model_does_not_know_are_signs() -> None:
    assert word_matches.punctuation(UNKNOWN, ("( 나 “",)).tolist() == [False, True, False, True, False]
    assert not word_matches.punctuation(UNKNOWN).any()


def test_a_record_compares_words_as_they_are_written() -> None:
    record = capture(loaded.model("bert"), "나는 (차를) 나는 사고")
    assert record.source.labels.count("[UNK]") > 4
    weights = record.attention("encoder").head(1, 2)
    # 0 [CLS], 1 나는, 2 (, 3 차를, 4 ), 5 나는, 6 사고, 7 [SEP]
    found = of_record(record, "encoder")
    assert found.values["same"][1, 2] == pytest.approx((weights[1, 5] + weights[5, 1]) / 2, abs=1e-6)
    assert found.rows["same"] == 2
    signs = [weights[row, [2, 4]].sum() for row in (1, 3, 5, 6)] + [weights[2, 4], weights[4, 2]]
    assert found.values["punctuation"][1, 2] == pytest.approx(np.mean(signs), abs=1e-6)


def test_texts_belong_to_rows_and_columns() -> None:
    record = records.encoder_decoder()
    written = () if record.target_text is None else (record.target_text,)
    assert word_matches.texts_of(record, "encoder") == (record.texts, record.texts)
    assert word_matches.texts_of(record, "decoder") == (written, written)
    assert word_matches.texts_of(record, "cross") == (written, record.texts)
    assert word_matches.texts_of(records.decoder_only(), "decoder") == ((), ())


LOOKS_BACK = ((1, 0, 0, 0), (0, 0.7, 0.3, 0), (0, 0.2, 0.8, 0), (0, 0, 0.3, 0.7))
KEY = ("<s>", "the", " dog", "</s>")


def test_rows_of_a_head_that_looks_back_are_those_that_have_just_read_a_word() -> None:
    attention = head(LOOKS_BACK, KEY, "cross")
    output = stand_in.tokens(("der", " Hund", ".", "</s>"))
    found = measures(attention, query=output)
    assert found.directions is not None
    assert found.directions.tolist() == [[BACK]]
    # row 1 has read the first word, row 2 the second; named by what they predict the three words would get 0.5
    assert found.values["alignment"][0, 0] == pytest.approx((0.7 + 0.8) / 2)


def test_without_predicted_tokens_the_direction_of_a_head_is_unknown() -> None:
    attention = head(LOOKS_BACK, KEY, "cross")
    assert measures(attention).directions is None
    assert measures(attention, padding=np.ones(4, np.bool_)).rows["alignment"] == 0
