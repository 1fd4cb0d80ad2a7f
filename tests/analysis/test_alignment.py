"""Word links from weights written by hand, from records with shifted rows and split words, and as properties."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bartviz.analysis import alignment
from bartviz.analysis.alignment import Method, by_hand, heads_of, lines, link_table, links, notice, rows_of, table
from bartviz.analysis.gold_alignment import Gold, crossing, read
from bartviz.arrays import Floats
from bartviz.errors import SettingError
from bartviz.record.attention import Attention, Head
from bartviz.record.record import Record
from tests.support import records, stand_in

# Two output words, three source words: both rows look most at source word 0; column 0 belongs to row 1.
WEIGHTS = np.array([[0.5, 0.4, 0.0], [0.6, 0.1, 0.2]], np.float32)
matrices = hnp.arrays(
    np.float32, hnp.array_shapes(min_dims=2, max_dims=2, max_side=7), elements=st.floats(0, 1, width=32)
)


def with_weights(weights: Floats, record: Record) -> Record:
    """The record with one cross layer of one head that has just these weights (Q, K) (log-scores as q, k the unit)."""
    old = record.cross
    assert old is not None
    rows, columns = weights.shape
    q = np.log(np.maximum(weights, 1e-30))[None, None].astype(np.float32)  # (1, 1, Q, K)
    k = np.eye(columns, dtype=np.float32)[None, None]
    return replace(record, cross=Attention("cross", q, k, 1.0, np.ones((rows, columns), bool), old.query, old.key))


@pytest.mark.parametrize(
    ("method", "wanted"),
    [
        ("target", {(0, 0), (0, 1)}),
        ("source", {(0, 1), (1, 0), (2, 1)}),
        ("mutual", {(0, 1)}),
        ("union", {(0, 0), (0, 1), (1, 0), (2, 1)}),
        ("threshold", {(0, 0), (1, 0), (0, 1)}),
    ],
)
def test_links_of_a_matrix_written_by_hand(method: Method, wanted: set[tuple[int, int]]) -> None:
    assert links(WEIGHTS, method, threshold=0.4) == wanted


def test_grown_links_join_free_neighbours_alone() -> None:
    # mutual (1, 1). Of the union (0, 0) touches it and is free; (2, 1) touches it, and its source is free;
    # (4, 4) is free but touches nothing.
    one, other = frozenset({(1, 1), (0, 0), (4, 4)}), frozenset({(1, 1), (2, 1)})
    assert alignment.grown(one, other) == {(1, 1), (0, 0), (2, 1)}


def test_a_weight_of_0_links_nothing_and_of_equal_weights_the_first_is_taken() -> None:
    assert links(np.zeros((2, 3), np.float32), "union") == frozenset()
    assert links(np.full((1, 3), 0.3, np.float32), "target") == {(0, 0)}


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(SettingError, match="target, source, mutual"):
        links(WEIGHTS, "best")  # type: ignore[arg-type]
    for threshold in (0.0, 1.5, float("nan")):
        with pytest.raises(SettingError, match="above 0 and at most 1"):
            links(WEIGHTS, "threshold", threshold=threshold)


def test_words_leave_special_tokens_out_and_join_pieces(record: Record) -> None:
    source, target = lines(record)
    assert source.labels == ("I", "want", "to", "buy", "a", "car", ".")
    assert target.labels == ("Ich", "möchte", "ein", "Auto", "kaufen", ".")
    assert target.groups[4] == (5, 6)
    assert rows_of(record, target, "predicts")[4] == (5, 6)
    assert rows_of(record, target, "reads")[4] == (6, 7)


def test_a_table_sums_over_columns_and_averages_over_rows() -> None:
    """Output "kau fen" of two rows; source "bu y" of two columns, <s> and </s> beside them."""
    record = stand_in.record(source=("<s>", "bu", "y", "</s>"), output=("kau", "fen", "</s>"), layers=1, heads=1)
    weights = np.array([[0.1, 0.5, 0.2, 0.2], [0.4, 0.1, 0.1, 0.4], [0.25, 0.25, 0.25, 0.25]], np.float32)
    record = with_weights(weights, record)
    shown = table(record, heads_of(record))
    np.testing.assert_allclose(shown.weights, [[0.45]], atol=1e-6)  # mean of 0.5 + 0.2 and 0.1 + 0.1
    np.testing.assert_allclose(shown.special, [0.55], atol=1e-6)
    assert shown.special_share == pytest.approx(0.55)
    read_ = table(record, heads_of(record), reading="reads")
    np.testing.assert_allclose(read_.weights, [[0.35]], atol=1e-6)  # rows 1 and 2: 0.2 and 0.5


def test_an_output_that_was_cut_off_has_a_word_that_no_row_reads() -> None:
    record = stand_in.record(output=("<s>", "Ich", " kaufe"))
    shown = table(record, heads_of(record), reading="reads")
    assert shown.has_rows.tolist() == [True, False]
    assert not shown.weights[1].any()
    assert all(j != 1 for _, j in links(shown.weights, "union"))
    assert table(record, heads_of(record)).has_rows.all()


def test_rows_of_a_record_without_output_are_named_by_what_they_read(record: Record) -> None:
    bare = replace(record, output=None, steps=())
    assert lines(bare)[1].labels == ("Ich", "möchte", "ein", "Auto", "kaufen", ".")
    for reading in ("reads", "predicts"):
        np.testing.assert_allclose(
            table(bare, heads_of(bare), reading=reading).weights[:-1],
            table(record, heads_of(record), reading=reading).weights[:-1],
            atol=1e-6,
        )


def test_a_set_of_heads_is_their_mean_and_is_named(record: Record) -> None:
    chosen = (Head("cross", 1, 0), Head("cross", 2, 3))
    alone = [table(record, [head]).weights for head in chosen]
    both = table(record, chosen)
    np.testing.assert_allclose(both.weights, (alone[0] + alone[1]) / 2, atol=1e-6)
    assert both.name == "the mean of 2 cross heads (L1H0, L2H3)"
    assert table(record, heads_of(record, 1)).name == "the mean of the 4 heads of cross layer 1"
    assert table(record, heads_of(record)).name == "the mean of all 12 cross heads"
    for none, words in (((), "at least one"), ((Head("encoder", 0, 0),), "Only heads of cross-attention")):
        with pytest.raises(SettingError, match=words):
            table(record, none)
    with pytest.raises(SettingError, match="no cross layer 3"):
        heads_of(record, 3)


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_a_model_without_cross_attention_names_models_that_have_it(kind: str) -> None:
    with pytest.raises(SettingError, match="choose an encoder-decoder model"):
        lines(stand_in.record(kind=kind))  # type: ignore[arg-type]


def test_korean_words_are_linked() -> None:
    record = stand_in.record(source=("<s>", "나는", " 집에", " 간다", ".", "</s>"))
    assert lines(record)[0].labels == ("나는", "집에", "간다", ".")


def test_every_link_is_in_the_table_with_its_judgement(record: Record) -> None:
    shown = table(record, heads_of(record))
    gold = read("0-0 1-1 2?2", 7, 6)
    frame = link_table(shown, {(0, 0), (2, 2), (5, 5)}, gold)
    assert dict(zip(frame["source"], frame["judged"], strict=True)) == {
        "I": "right, sure",
        "want": "missed",
        "to": "right, possible",
        "car": "wrong",
    }
    begun = link_table(shown, {(0, 0), (2, 2), (5, 5)}, gold.begun())
    assert begun["judged"].tolist()[-1] == "not judged yet"
    assert frame["weight"].tolist() == pytest.approx([shown.weights[j, i] for i, j in ((0, 0), (1, 1), (2, 2), (5, 5))])


def test_the_sentence_counts_and_names_a_crossing(record: Record) -> None:
    shown = table(record, [Head("cross", 0, 0)])
    assert notice(shown, frozenset({(0, 0), (1, 1)})).endswith(
        "no link crosses another: both texts have the same order."
    )
    said = notice(shown, frozenset({(3, 4), (4, 2), (5, 3)}))
    assert said.startswith("Cross L0H0 links 3 of 5 words")
    assert "with “buy” and “kaufen”" in said
    whole = notice(shown, frozenset((i, i) for i in range(5)))
    assert whole.startswith("Cross L0H0 links all 5 words of the output;")
    dotted = notice(shown, frozenset((i, i) for i in range(6)))
    assert dotted.startswith("Cross L0H0 links all 5 words of the output and 1 punctuation mark;")
    only_marks = notice(shown, frozenset({(0, 5), (5, 0)}))
    assert "1 punctuation mark" in only_marks
    assert "cross" not in only_marks.removeprefix("Cross")
    judged = notice(shown, frozenset({(0, 0), (5, 5)}), Gold(frozenset({(0, 0), (1, 1)}), frozenset()))
    assert judged.endswith("; measured against the links made by hand, 1 of 2 are right, 1 missed.")
    begun = notice(shown, frozenset({(0, 0), (5, 5)}), read("0-0 1-1", 7, 6).begun())
    assert begun.endswith("; measured against your links, 1 of 1 are right, 1 missed; 1 not judged yet.")
    assert "links no word" in notice(shown, frozenset())


def test_links_by_hand_that_a_head_lacks_are_named(record: Record) -> None:
    shown, found = table(record, [Head("cross", 0, 0)]), frozenset({(0, 0), (5, 5)})
    assert by_hand(shown, found, read("0-0", 7, 6)) == "Cross L0H0 has your link."
    assert by_hand(shown, found, read("3-4", 7, 6)) == "Cross L0H0 does not have your link, “buy” – “kaufen”."
    assert by_hand(shown, found, read("0-0 3-4", 7, 6)) == (
        "Cross L0H0 has 1 of your 2 links. It does not have “buy” – “kaufen”."
    )
    assert by_hand(shown, found, read("0-1 0-2 0-3 0-4", 7, 6)).endswith("“I” – “Auto”, …")


def test_one_link_shows_no_order(record: Record) -> None:
    shown = table(record, [Head("cross", 0, 0)])
    assert notice(shown, frozenset({(1, 1)})) == "Cross L0H0 links 1 of 5 words of the output."


def test_a_punctuation_mark_is_linked_but_is_no_word(record: Record) -> None:
    shown = table(record, [Head("cross", 0, 0)])
    assert shown.target.labels[5] == "."
    assert notice(shown, frozenset({(1, 1), (6, 5)})).startswith("Cross L0H0 links 1 of 5 words")
    marks = replace(shown, target=replace(shown.target, labels=("!",) * 6))  # nothing but punctuation
    assert notice(marks, frozenset({(1, 1)})).startswith("Cross L0H0 links 1 of 6 words")


def test_a_crossing_is_found_among_very_many_links() -> None:
    straight = frozenset((i, i) for i in range(1000))
    assert crossing(straight) is None
    assert crossing(straight | {(999, 997)}) == (998, 998)  # the first of the two that cross


@pytest.mark.slow
@given(st.frozensets(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1))
def test_the_link_that_crosses_most_others_is_named(found: frozenset[tuple[int, int]]) -> None:
    crossed = {(i, j): sum((i - a) * (j - b) < 0 for a, b in found) for i, j in found}
    named = crossing(found)
    assert (named is None) == (max(crossed.values()) == 0)
    assert named is None or crossed[named] == max(crossed.values())


@pytest.mark.slow
@given(matrices)
def test_mutual_links_are_in_both_directions_and_growing_stays_between(weights: Floats) -> None:
    by_target, by_source, mutual = (links(weights, method) for method in ("target", "source", "mutual"))
    assert mutual <= by_target
    assert mutual <= by_source
    assert mutual <= links(weights, "grow") <= links(weights, "union")
    assert len({j for _, j in by_target}) == len(by_target)
    assert len({i for i, _ in by_source}) == len(by_source)


@pytest.mark.slow
@given(matrices)
def test_transposing_swaps_the_directions(weights: Floats) -> None:
    turned = {(j, i) for i, j in links(weights.T.copy(), "source")}
    assert links(weights, "target") == turned


@pytest.mark.slow
@given(records.records())
def test_rows_and_their_special_share_sum_to_1(record: Record) -> None:
    if record.cross is None:
        return
    for reading in ("predicts", "reads"):
        shown = table(record, heads_of(record), reading=reading)
        whole = shown.weights.sum(axis=1) + shown.special
        np.testing.assert_allclose(whole[shown.has_rows], 1.0, atol=1e-5)
