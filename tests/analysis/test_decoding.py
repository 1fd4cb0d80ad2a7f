"""Decoding in numbers that a person can check, then as properties of random records."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bartviz.analysis import decoding
from bartviz.analysis.sentence_words import weights_name
from bartviz.errors import RecordError, SettingError
from bartviz.record.attention import Attention, Kind
from bartviz.record.record import Provenance, Record
from bartviz.record.steps import Candidate, Step
from bartviz.text.tokens import Tokens
from tests.support import records, stand_in

SOURCE = stand_in.tokens(("<s>", "Hi", "</s>"))
READS, OUTPUT = stand_in.tokens(("</s>", "Ha")), stand_in.tokens(("Ha", "</s>"))


def by_hand(kind: Kind, query: Tokens, key: Tokens, q: list[list[float]], k: list[list[float]]) -> Attention:
    """One layer, two heads, width 1: weights are softmax(q k)."""
    mask = np.tri(len(query), len(key), dtype=bool) if kind == "decoder" else np.ones((len(query), len(key)), bool)
    return Attention(kind, np.array(q)[None, :, :, None], np.array(k)[None, :, :, None], 1.0, mask, query, key)


def small(mode: str = "greedy") -> Record:
    """Two steps: “Ha” with 1/2 (1 bit), then the end with 1/4 (2 bits) by a rule, though “Ho” had 1/2."""
    ln2, ln3 = np.log(2), np.log(3)
    ha, end, ho = Candidate(5, "Ha", 0.5, 1.0), Candidate(2, "</s>", 0.25, 0.3), Candidate(6, "Ho", 0.5, 1.0)
    steps = (
        Step(0, 0, ha, (ha, ho), 1.0, float(np.log(0.5))),
        Step(1, 1, end, (ho, end), 2.0, float(np.log(0.25)), "forced end token"),
    )
    return Record(
        replace(stand_in.model_info(), width=4),
        "Hi",
        "Ha",
        by_hand("encoder", SOURCE, SOURCE, [[0, 0, 0]] * 2, [[0, 0, 0]] * 2),
        by_hand("decoder", READS, READS, [[0, 0]] * 2, [[0, 0]] * 2),
        by_hand("cross", READS, SOURCE, [[1, 0], [0, 1]], [[0, ln3, 0], [0, 0, ln2]]),
        output=OUTPUT,
        steps=steps,
        provenance=Provenance(settings={"mode": mode}),
    )


def decoded(prompt: int = 3) -> Record:
    """A decoder-only record whose steps begin after a prompt."""
    record = records.decoder_only(stand_in.OUTPUT)
    assert record.output is not None
    return replace(record, steps=stand_in.steps(record.output)[prompt - 1 :])


def test_steps_name_what_a_row_reads_and_predicts() -> None:
    table = decoding.steps_table(small())
    assert list(table["reads"]) == ["</s>", "Ha"]
    assert list(table["predicts"]) == ["Ha", "</s>"]
    assert list(table["rank"]) == [1, 2]
    assert list(table["rule"].isna()) == [True, False]


def test_log_probabilities_add_up_and_probabilities_multiply() -> None:
    table = decoding.steps_table(small())
    np.testing.assert_allclose(table["running_log_probability"], [np.log(1 / 2), np.log(1 / 8)])
    np.testing.assert_allclose(table["running_probability"], [1 / 2, 1 / 8])
    np.testing.assert_allclose(table["entropy_bits"], [1, 2])


def test_candidates_are_described_with_their_probabilities() -> None:
    assert json.loads(decoding.steps_table(small())["candidates"][0]) == [["Ha", 0.5], ["Ho", 0.5]]


def test_a_token_outside_the_candidates_has_no_rank() -> None:
    step = small().steps[0]
    assert decoding.rank(replace(step, chosen=Candidate(77, "Hu", 0.001, -3.0))) is None


def test_alignment_by_hand() -> None:
    record = small()
    first = decoding.alignment(record, layer=0, head=0)
    np.testing.assert_allclose(first, [[1 / 5, 3 / 5, 1 / 5], [1 / 3, 1 / 3, 1 / 3]], rtol=1e-6)
    mean = decoding.alignment(record, layer=0)
    np.testing.assert_allclose(mean, [[4 / 15, 7 / 15, 4 / 15], [7 / 24, 7 / 24, 10 / 24]], rtol=1e-6)
    np.testing.assert_array_equal(decoding.alignment(record), mean)  # there is one layer


def test_what_is_shown_is_named() -> None:
    cross = small().cross
    assert cross is not None
    assert weights_name(cross, 0, 1) == "cross L0H1"
    assert weights_name(cross, 0, None) == "cross layer 0, mean of 2 heads"
    assert weights_name(cross, None, None) == "cross, mean of 1 layers x 2 heads"


def test_notice_names_the_least_sure_step_that_no_rule_decided() -> None:
    assert decoding.least_sure(small()).chosen.label == "Ha"
    assert (
        decoding.notice(small())
        == "Least sure word: “Ha” (50%, 1.0 bits): “Ho” had 50%. All 2 steps together: 13% (log p −2.1)."
    )


def test_a_model_is_least_sure_of_a_word_and_of_an_end_or_a_mark_only_where_there_is_no_word() -> None:
    record = small()
    free = (record.steps[0], replace(record.steps[1], rule=None))  # the end has half the probability of “Ha”
    assert decoding.least_sure(replace(record, steps=free)).chosen.label == "Ha"
    mark = replace(free[0], chosen=replace(free[0].chosen, label="."))
    assert decoding.least_sure(replace(record, steps=(mark, free[1]))).chosen.label == "</s>"


def test_the_least_sure_step_is_the_least_probable_not_that_of_the_highest_entropy() -> None:
    record = small()
    likely, rare = record.steps[0], replace(record.steps[0], chosen=Candidate(6, "Ho", 0.4, 1.0), entropy=0.97)
    steps = (replace(likely, entropy=3.0), replace(rare, position=1, row=1))
    record = replace(record, output=stand_in.tokens(("Ha", "Ho")), steps=steps)
    assert decoding.least_sure(record).chosen.label == "Ho"


def test_cache_costs_by_hand() -> None:
    """Width 4, two heads of 1, one layer, three source tokens: a projection costs 2 x 4 x 2 = 16 a row."""
    table = decoding.cache_table(small())
    assert list(table["new_rows"]) == [1, 1]
    assert list(table["all_rows"]) == [1, 2]
    assert list(table["self_bytes"]) == [2 * 2 * 1 * 4, 2 * 2 * 2 * 4]  # keys and values, 2 numbers a row, 4 bytes
    assert list(table["cross_bytes"]) == [2 * 2 * 3 * 4] * 2
    assert list(table["cache_bytes"]) == [16 + 48, 32 + 48]
    # own: 4 projections and 4 * 2 a pair of rows; cross: 2 projections, 4 * 2 a pair, 2 projections a source token once
    first = (4 * 16 + 8) + (2 * 16 + 8 * 3) + 2 * 16 * 3
    assert list(table["operations_cached"]) == [first, (4 * 16 + 8 * 2) + (2 * 16 + 8 * 3)]
    assert list(table["operations_uncached"]) == [first, (4 * 16 * 2 + 8 * 4) + 2 * (2 * 16 + 8 * 3) + 2 * 16 * 3]
    assert decoding.encoder_operations(small()) == 4 * 16 * 3 + 8 * 9


def test_a_prompt_is_computed_at_the_first_step() -> None:
    table = decoding.cache_table(decoded(prompt=3))
    assert list(table["new_rows"]) == [3, 1, 1, 1, 1, 1]
    assert set(table["cross_bytes"]) == {0}
    assert decoding.encoder_operations(decoded()) == 0


def test_a_decoder_explains_its_steps_by_its_own_attention() -> None:
    record = decoded(prompt=3)
    assert decoding.kind_of(record) == "decoder"
    weights = decoding.alignment(record, layer=0)
    assert weights.shape == (6, 8)
    assert not weights[0, 3:].any()  # row 2 may not look ahead
    assert decoding.labels(record) == stand_in.tokens(stand_in.OUTPUT).labels[3:]


@pytest.mark.parametrize(
    ("mode", "given_"), [("greedy", False), ("given target", True), ("one pass", False), ("batch of 2", False)]
)
def test_given_tokens_differ_from_chosen_ones(mode: str, given_: bool) -> None:
    assert decoding.given(small(mode)) == given_


def test_a_text_read_in_one_pass_is_given() -> None:
    assert decoding.given(replace(decoded(), provenance=Provenance(settings={"mode": "one pass"})))


def test_an_encoder_is_refused_with_an_explanation() -> None:
    with pytest.raises(RecordError, match=r"writes no text\. Choose an encoder-decoder"):
        decoding.steps_table(records.encoder_only())


def test_a_record_without_steps_is_refused() -> None:
    with pytest.raises(RecordError, match="no decoding steps"):
        decoding.alignment(records.decoder_only())


@pytest.mark.parametrize(("layer", "head"), [(7, None), (0, 9), (-1, 0), (None, 0)])
def test_layers_and_heads_that_are_not_there_are_refused(layer: int | None, head: int | None) -> None:
    with pytest.raises(SettingError):
        decoding.alignment(small(), layer=layer, head=head)


def test_arrays_carry_their_labels() -> None:
    found = decoding.arrays(small(), layer=0)
    assert found["alignment"].shape == (len(found["row_predicts"]), len(found["alignment_columns"]))
    assert found["decoder"].shape == (len(found["row_reads"]), len(found["decoder_columns"]))


@settings(max_examples=30)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 3), st.integers(1, 3), st.integers(0, 99))
def test_properties_of_any_decoding(source: int, output: int, layers: int, heads: int, seed: int) -> None:
    record = records.encoder_decoder(
        ["a"] * source, ["b"] * output, layers=(1, layers), heads=(2, heads), padding=source - 1, seed=seed
    )
    mean = decoding.alignment(record)
    each = [decoding.alignment(record, layer=i, head=j) for i in range(layers) for j in range(heads)]
    np.testing.assert_allclose(mean.sum(axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(mean, np.mean(each, axis=0), atol=1e-6)
    assert not mean[:, 1:].any()  # padding
    table, cost = decoding.steps_table(record), decoding.cache_table(record)
    assert table["running_log_probability"].iloc[-1] == pytest.approx(record.log_probability)
    assert cost["new_rows"].sum() == output
    assert (cost["operations_cached"] <= cost["operations_uncached"]).all()
    assert cost["operations_cached"][0] == cost["operations_uncached"][0]
