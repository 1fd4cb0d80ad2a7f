"""What can be explained, and how an attribution becomes shades: by hand, on records with random numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bartviz.analysis.attribution import Attribution, Axis
from bartviz.analysis.attribution_methods import METHODS
from bartviz.features.why import numbers
from bartviz.record.record import Record
from tests.support import stand_in

VALUES = np.array([[9.0, 0.5, -1.0, 2.0, 4.0, 0.0, 1.0, 0.5, 0.0]], np.float32)  # of <s> I want to buy a car . </s>


def explained(record: Record, row: int, earlier: np.ndarray | None = None) -> Attribution:
    return Attribution(
        record.model.name,
        METHODS["leave-one-out"],
        Axis.apart(["kau"]),
        np.array([row]),
        np.zeros(1, np.float32),
        Axis.of(record.source),
        VALUES,
        None if earlier is None else Axis.of(record.attention("decoder").query),
        earlier,
    )


def test_every_step_of_an_output_can_be_explained_and_a_piece_names_its_word() -> None:
    found = numbers.places(stand_in.record())
    assert [place.label for place in found] == ["<s>", "Ich", "möchte", "ein", "Auto", "kau", "fen", ".", "</s>"]
    assert [place.row for place in found] == list(range(9))
    assert [place.word for place in found if place.word] == ["kaufen", "kaufen"]
    assert [place.label for place in found if place.joined] == ["fen"]
    assert [place.label for place in found if place.special] == ["<s>", "</s>"]


def test_what_was_written_before_is_recalled_by_its_last_tokens() -> None:
    found = numbers.places(stand_in.record())
    assert [numbers.before(found[:at]) for at in (0, 1, 3)] == ["", "", "Ich möchte"]
    assert numbers.before(found[:5]) == "Ich möchte ein Auto"
    assert numbers.before(found[:7]) == "… ein Auto kaufen"


def test_a_model_that_fills_masks_explains_these_or_every_word() -> None:
    record = stand_in.record(["<s>", "A", " car", ".", "</s>"], kind="encoder")
    assert [place.label for place in numbers.places(record)] == ["A", "car", "."]
    masked = stand_in.record(["<s>", "A", "<mask>", ".", "</s>"], kind="encoder")
    assert [(place.label, place.row) for place in numbers.places(masked)] == [("<mask>", 2)]


def test_the_row_of_another_page_is_explained_or_the_nearest() -> None:
    record = stand_in.record()
    found = numbers.places(record)
    assert [numbers.chosen(record, found, row) for row in (0, 5, 99)] == [0, 5, 8]
    first = numbers.chosen(record, found, None)
    assert 0 <= first < len(found)


def test_words_are_shaded_by_the_largest_number_and_special_tokens_are_no_words() -> None:
    record = stand_in.record()
    shown = numbers.shown(record, explained(record, row=5))
    assert [chip.value for chip in shown.source] == VALUES[0].tolist()
    assert [chip.share for chip in shown.source] == pytest.approx((VALUES[0] / 9).tolist())
    assert [shown.source[i].word.text for i in shown.strongest()] == ["buy", "to", "car"]
    assert shown.written == (0.0,) * 9
    assert shown.before is None


def test_a_sentence_names_no_word_far_behind_the_strongest() -> None:
    record = stand_in.record()
    shown = numbers.shown(record, explained(record, row=5))
    spoken = [i for i, chip in enumerate(shown.source) if not chip.word.special]
    values = dict.fromkeys(spoken, 0.0) | {spoken[2]: 5.0, spoken[0]: 1.0, spoken[1]: 0.9}

    def of(largest: float) -> numbers.Shown:
        chips = [(chip, values.get(i, 9.0)) for i, chip in enumerate(shown.source)]
        return replace(shown, source=tuple(replace(chip, value=v, share=v / largest) for chip, v in chips))

    assert of(9).strongest() == (spoken[2], spoken[0], spoken[1])
    assert of(9).named() == (spoken[2], spoken[0])
    assert of(40).named() == (spoken[2],)
    assert of(60).named() == ()  # beside what was written before, no colour of the text is seen


def test_a_word_has_the_sum_of_its_tokens() -> None:
    record = stand_in.record(["<s>", "I", " wa", "nt", " to", " buy", " a", ".", "</s>"])
    shown = numbers.shown(record, explained(record, row=5))
    assert [chip.value for chip in shown.source] == [9.0, 0.5, 1.0, 4.0, 0.0, 1.0, 0.5, 0.0]


def test_outputs_before_the_token_are_shaded_where_the_decoder_reads_them() -> None:
    record = stand_in.record()
    earlier = np.zeros((1, 9), np.float32)
    earlier[0, 5] = 18.0  # the decoder's input 5 is what step 4 has written
    earlier[0, 7] = 50.0  # is read later than row 5
    shown = numbers.shown(record, explained(record, row=5, earlier=earlier))
    assert shown.written == (0, 0, 0, 0, 1.0, 0, 0, 0, 0)
    assert shown.before == 4
    assert shown.source[0].share == 0.5


def test_how_likely_a_token_is_without_a_word() -> None:
    record = stand_in.record()
    found = explained(record, 5, np.array([[0.0, 0.25, 2.0, 0.0, 1.0, 4.0, 0.0, 0.0, 0.0]], np.float32))
    assert numbers.has_fallen(found)
    assert not numbers.has_fallen(replace(found, contrast="kaufen"))
    assert not numbers.has_fallen(replace(found, method=METHODS["rollout"]))
    read, written, whole = numbers.left(record, found)
    assert whole == pytest.approx(np.exp(found.explained[0]))
    for word, without in zip(numbers.source_words(record), read, strict=True):
        alone = word.end - word.start == 1
        assert without == (pytest.approx(min(whole / np.exp(VALUES[0, word.start]), 1.0)) if alone else None)
    assert written[1] == pytest.approx(whole / np.exp(2.0))  # the place of a row is read by the next one
    assert written[-1] is None  # written later


def test_heads_are_ranked_by_their_weight_on_the_words() -> None:
    record = stand_in.record()
    word = next(word for word in numbers.source_words(record) if word.text == "buy")
    found = numbers.carriers(record, 5, [word])
    cross = record.attention("cross")
    assert len(found) == cross.shape[0] * cross.shape[1]
    assert [one.share for one in found] == sorted((one.share for one in found), reverse=True)
    for one in found:
        assert one.share == pytest.approx(float(cross.head(one.head.layer, one.head.head)[5, word.start]), abs=1e-6)
    layers = numbers.by_layer(found)
    assert layers[1] == pytest.approx(float(cross.layer(1)[:, 5, word.start].mean()), abs=1e-6)
