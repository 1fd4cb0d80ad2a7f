"""Numbers of ablations, written by hand: maps, ranks, sentences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bartviz.analysis import ablation as analysis
from bartviz.analysis.ablation import Ablation, Guesses, Sweep
from bartviz.errors import SettingError
from bartviz.record.attention import Head, Kind
from tests.support import stand_in

ALL = tuple(Head(kind, layer, head) for kind in ("encoder", "cross") for layer in range(2) for head in range(2))


def sweep(change: list[float] | None = None) -> Sweep:
    values = np.array(change or [0.0, -0.05, 0.2, -0.01, -2.5, 0.0, 0.02, -0.3], np.float32)
    return Sweep(
        ALL,
        0.0,
        False,
        -4.0,
        3,
        values,
        np.abs(values),
        np.array([0, 0, 0, 0, 2, 0, 0, 1]),
        (np.abs(values) / 10).astype(np.float32),
    )


def ablation(before: list[float], after: list[float], best: list[int]) -> Ablation:
    """Three tokens whose probabilities are given; the best token was 7 in each row."""
    record = stand_in.record()
    labels = ("a", "b", "c")
    was = Guesses(np.log(np.array(before, np.float32)), np.array([7, 7, 7]), labels, np.array(before, np.float32))
    now = Guesses(np.log(np.array(after, np.float32)), np.array(best), labels, np.array(after, np.float32))
    attention: dict[Kind, np.ndarray] = {kind: np.zeros((3, 4), np.float32) for kind in record.kinds}
    return Ablation(
        record,
        {Head("cross", 1, 2): 0.0},
        np.arange(3),
        labels,
        was,
        now,
        np.array([0.0, 0.1, 0.2], np.float32),
        np.zeros(9, np.float32),
        attention,
        record,
    )


def test_the_effect_is_the_change_of_the_summed_log_p() -> None:
    found = ablation([0.5, 0.5, 0.8], [0.5, 0.25, 0.8], [7, 3, 7])
    assert found.effect == pytest.approx(np.log(0.5))
    assert found.turned.tolist() == [1]
    assert analysis.notice(found) == (
        "With cross L1H2 silenced, “b” went from 50% to 25%. The best token changes at 1 of 3; the probability "
        "of its 3 tokens went from 20% to 10% (log p −0.69 nats)."
    )
    same = analysis.notice(ablation([0.5, 0.5, 0.8], [0.5, 0.25, 0.8], [7, 7, 7]))
    assert "The best token stays the same at all 3; the probability" in same
    rare = analysis.notice(ablation([0.01, 0.01, 0.01], [0.01, 0.005, 0.01], [7, 7, 7]))
    assert rare.endswith("log p of its 3 tokens changed by −0.69 nats.")  # not "from <0.1% to <0.1%"
    still = analysis.notice(ablation([0.5, 0.5, 0.8], [0.5, 0.499, 0.8], [7, 7, 7]))
    assert still.startswith(
        "With cross L1H2 silenced, the probabilities of its tokens hardly change: “b” stays at 50%."
    )
    assert still.endswith("the probability of its 3 tokens stays at 20% (log p −0.00 nats).")


def test_a_change_too_small_for_its_share_is_told_by_its_log_p() -> None:
    told = analysis.notice(ablation([9e-4, 5e-4, 4e-4], [9e-4, 5e-12, 4e-4], [7, 7, 7]))
    assert told.startswith("With cross L1H2 silenced, log p of “b” changes by −18.42 nats. The best token stays")
    told = analysis.notice(ablation([9e-4, 5e-4, 4e-4], [9e-4, 5e-4, 4e-4], [7, 3, 7]))
    assert "of its tokens hardly change: “a” stays at <0.1%. The best token changes at 1 of 3;" in told


def test_a_token_of_tiny_probability_is_not_called_impossible() -> None:
    assert "“b” went from 20% to <0.1%." in analysis.notice(ablation([0.5, 0.2, 0.8], [0.5, 0.0004, 0.8], [7, 3, 7]))


def test_heads_are_named_in_the_order_of_the_model() -> None:
    heads = [Head("cross", 2, 2), Head("decoder", 1, 1), Head("encoder", 3, 0), Head("encoder", 0, 1)]
    said = "encoder L0H1, encoder L3H0, decoder L1H1, cross L2H2"
    assert analysis.name(dict.fromkeys(heads, 0.5)) == said


def test_no_change_is_stated() -> None:
    same = ablation([0.5, 0.5, 0.8], [0.5, 0.5, 0.8], [7, 7, 7])
    same = replace(same, divergence=np.zeros(3, np.float32), factors={Head("cross", 1, 2): 1.0})
    assert analysis.notice(same) == "With cross L1H2 multiplied by 1, every number is bit-identical."


def test_what_moved_without_a_change_of_log_p_is_not_called_equal() -> None:
    same = ablation([0.5, 0.5, 0.8], [0.5, 0.5, 0.8], [7, 7, 7])
    same = replace(same, divergence=np.zeros(3, np.float32))
    moved = np.zeros(9, np.float32)
    moved[4] = 1e-6
    assert "last bit" not in analysis.notice(replace(same, distance=moved))
    turned = {**same.attention, "cross": np.full((3, 4), 1e-6, np.float32)}
    assert "last bit" not in analysis.notice(replace(same, attention=turned))


def test_a_network_without_words_is_described_by_its_states() -> None:
    found = replace(
        ablation([0.5] * 3, [0.5] * 3, [7] * 3),
        before=None,
        after=None,
        distance=np.array([0, 0, 0.25, 0, 0, 0, 0, 0, 0], np.float32),
    )
    assert np.isnan(found.effect)
    assert "“Ich” moved furthest: cosine distance 0.250" in analysis.notice(found)
    assert list(analysis.rows_table(found).columns) == ["row", "token", "cosine distance"]


def test_a_sweep_is_a_map_for_each_kind_and_a_ranked_table() -> None:
    found = sweep()
    np.testing.assert_allclose(found.map("cross"), [[-2.5, 0], [0.02, -0.3]])
    np.testing.assert_array_equal(found.map("cross", "changed"), [[2, 0], [0, 1]])
    table = analysis.sweep_table(found)
    assert table["rank"].tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert table.iloc[0][["kind", "layer", "head"]].tolist() == ["cross", 0, 0]
    assert table.iloc[-1]["log p change (nats)"] == pytest.approx(0.2)
    assert [found.heads[place].short for place in found.ranked("divergence")][:3] == ["L0H0", "L1H1", "L1H0"]


def test_the_sentence_of_a_sweep_names_the_costliest_and_counts_the_small() -> None:
    said = analysis.sweep_notice(sweep())
    assert "With each head silenced in turn: cross L0H0 lowers log p most (−2.50 nats from −4.00)" in said
    assert "5 of 8 change it by less than 0.1 and 1 makes it likelier" in said


def test_one_head_and_several_are_counted_in_their_own_number() -> None:
    said = analysis.sweep_notice(replace(sweep([-2.5, -0.05, 0.2, 0.3, -0.4, -0.5, -0.6, -0.7])))
    assert said.endswith("; 1 of 8 changes it by less than 0.1 and 2 make it likelier by more than that.")


def test_the_only_head_that_is_kept_is_named_as_such() -> None:
    said = analysis.sweep_notice(replace(sweep(), keep=True))
    assert said.startswith(
        "With every other head of its layer silenced: cross L0H0 alone in its layer lowers log p most (−2.50 nats"
    )


@pytest.mark.parametrize("keep", [False, True])
def test_a_sweep_without_effect_names_no_head(keep: bool) -> None:
    said = analysis.sweep_notice(replace(sweep([1e-5, -1e-5, *[0.0] * 6]), keep=keep))
    assert "none of 8 heads changes" in said
    assert "L0H0" not in said
    helped = analysis.sweep_notice(replace(sweep([0.5] * 7 + [0.25]), keep=keep))
    assert "cross L1H1" in helped
    assert "none lowers it" in helped


def test_a_sweep_of_a_network_without_words_has_one_measure() -> None:
    found = replace(sweep(), log_probability=np.full(8, np.nan, np.float32))
    assert found.measures == ("distance",)
    assert "moves the hidden states most" in analysis.sweep_notice(found)
    with pytest.raises(SettingError, match="distance"):
        found.values("divergence")
    with pytest.raises(SettingError, match="encoder or cross"):
        sweep().map("decoder")


def test_whole_layers_and_long_lists_are_named_shortly() -> None:
    row = {Head("encoder", 1, head): 0.0 for head in range(4)}
    assert analysis.name(row, {"encoder": 4}) == "all of encoder L1"
    assert analysis.name(row, {"encoder": 5}).startswith("encoder L1H0, encoder L1H1")
    many = {Head("encoder", layer, 0): 0.0 for layer in range(8)}
    assert analysis.name(many).endswith("encoder L4H0 and 3 more")


def test_arrays_cannot_be_written_to() -> None:
    found = sweep()
    with pytest.raises(ValueError, match="read-only"):
        found.log_probability[0] = 1
    assert found.nbytes == sum(
        array.nbytes for array in (found.log_probability, found.divergence, found.changed, found.distance)
    )


def guesses(*nats: float) -> Guesses:
    of = len(nats)
    return Guesses(np.array(nats, np.float32), np.zeros(of, np.int64), ("a",) * of, np.zeros(of, np.float32))


def test_the_probability_of_a_whole_text_by_hand() -> None:
    half, fifth = float(np.log(0.5)), float(np.log(0.2))
    whole = analysis.of_whole(guesses(half, half), guesses(half, fifth))
    np.testing.assert_allclose([whole.was, whole.now, whole.times], [0.25, 0.1, 0.4], rtol=1e-6)
    assert whole.told
    assert not analysis.of_whole(guesses(-8.0), guesses(-7.0)).told  # 0.03% and 0.09%
    assert not analysis.of_whole(guesses(float(np.log(0.403))), guesses(float(np.log(0.397)))).told  # 40% and 40%


def test_of_a_text_beyond_the_smallest_number_the_quotient_is_exact() -> None:
    whole = analysis.of_whole(guesses(*[-100.0] * 20), guesses(*[-100.0] * 19, -101.0))
    assert whole.times == pytest.approx(float(np.exp(-1.0)))
    assert whole.was > 0
    assert 0 < analysis.of_whole(guesses(0.0), guesses(-1e5)).times < 1e-300
    assert np.isfinite(analysis.of_whole(guesses(-1e5), guesses(0.0)).times)
