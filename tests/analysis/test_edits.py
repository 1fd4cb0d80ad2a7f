"""Changed rows, the first layer that a change reaches, and the sentences, from numbers written by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bartviz.analysis import edits as analysis
from bartviz.analysis.ablation import Guesses
from bartviz.analysis.edits import Edit, Reach, changed_rows
from bartviz.errors import Cancelled, SettingError
from bartviz.record.attention import Attention
from tests.support import records, stand_in


def edit(position: int = 3) -> Edit:
    """A change of the target: nothing before it moves."""
    record = stand_in.record()
    hidden = np.zeros((4, 9), np.float32)
    hidden[0, position], hidden[1:, position:] = 1.2, 0.25
    same = np.arange(9) < position
    logs = np.log(np.full(9, 0.5, np.float32))
    was = Guesses(logs, np.arange(9), stand_in.OUTPUT, np.full(9, 0.5, np.float32))
    now = Guesses(logs - ~same, np.where(same, np.arange(9), 3), stand_in.OUTPUT, np.full(9, 0.5, np.float32))
    equal = {kind: np.broadcast_to(same, (3, 4, 9)).copy() for kind in record.kinds}
    return Edit(
        record,
        "target",
        position,
        "Ich",
        "Du",
        77,
        {"encoder": np.zeros((4, 9), np.float32), "decoder": hidden},
        {kind: np.where(one, 0, 0.5).astype(np.float32) for kind, one in equal.items()},
        equal,
        np.arange(9),
        stand_in.OUTPUT,
        was,
        now,
        np.where(same, 0, 0.1).astype(np.float32),
        same,
        record,
    )


def test_what_stays_is_reported_as_bit_equal() -> None:
    said = analysis.notice(edit())
    assert "“Ich” became “Du” at position 3" in said
    assert "all 9 encoder states stay bit-identical, in every layer" in said
    assert "6 of 6 from it on have changed in every layer, the 3 tokens before it stay bit-identical" in said
    assert "5 of 9 best tokens have changed" in said


def test_the_slightest_change_before_it_is_not_called_equal() -> None:
    found = edit()
    moved = found.hidden["decoder"].copy()
    moved[2, 0] = 1e-30
    said = analysis.notice(replace(found, hidden={"decoder": moved}))
    assert "last bit" not in said


def test_tables_mark_what_is_bit_equal() -> None:
    table = analysis.hidden_table(edit())
    assert len(table) == 2 * 4 * 9
    assert (table["bit-equal"] == (table["relative change"] == 0)).all()
    assert table[table["stack"] == "decoder"]["after"].unique().tolist() == ["embedding", "L0", "L1", "L2"]
    rows = analysis.rows_table(edit())
    assert rows["bit-equal"].tolist() == [True] * 3 + [False] * 6
    np.testing.assert_allclose(rows["p after"][3:], 0.5 / np.e, rtol=1e-6)


@pytest.mark.slow
@given(records.attentions())
def test_attention_has_not_moved_from_itself(attention: Attention) -> None:
    distance, same = changed_rows(attention, attention)
    assert distance.shape == attention.shape[:3]
    assert not distance.any()
    assert same.all()


@pytest.mark.slow
@given(records.attentions(kind="encoder"), st.integers(0, 2**16))
def test_rows_move_by_a_distance_and_equal_ones_by_exactly_nothing(attention: Attention, seed: int) -> None:
    q = attention.queries.copy()
    q[:, :, -1] += np.random.default_rng(seed).normal(size=q[:, :, -1].shape).astype(np.float32)
    distance, same = changed_rows(attention, replace(attention, q=q))
    assert ((distance >= 0) & (distance <= 1)).all()
    assert not distance[same].any()
    assert same[:, :, :-1].all()


def test_only_the_same_shape_is_compared_and_it_can_be_stopped() -> None:
    a, b = (records.encoder_only(("a",) * n).attention("encoder") for n in (3, 4))
    with pytest.raises(SettingError, match="the same shape"):
        changed_rows(a, b)
    with pytest.raises(Cancelled):
        changed_rows(a, a, cancelled=lambda: True)


def reach() -> Reach:
    """Six positions, the third changed, two layers, a window of one."""
    away = np.abs(np.arange(6) - 2)
    window = np.stack([away <= layer for layer in range(3)]).astype(np.float32)
    causal = np.stack([away == 0, *[np.arange(6) >= 2] * 2]).astype(np.float32)
    full = np.stack([away == 0, *[away >= 0] * 2]).astype(np.float32)
    tokens = stand_in.tokens(("The", " house", " red", " in", " a", " city"))
    return Reach("encoder", tokens, 2, "red", "blue", 1, {"bidirectional": full, "window": window, "causal": causal})


def test_the_first_layer_that_a_change_reaches() -> None:
    found = reach()
    assert found.first_layer("bidirectional").tolist() == [1, 1, 0, 1, 1, 1]
    assert found.first_layer("window").tolist() == [2, 1, 0, 1, 2, -1]
    assert found.first_layer("causal").tolist() == [-1, -1, 0, 1, 1, 1]
    assert found.steps(5) == {"bidirectional": 1, "window": None, "causal": 1, "recurrent": 3}
    assert found.steps(0)["recurrent"] is None
    assert analysis.reach_table(found)["window: first layer"].tolist() == ["2", "1", "0", "1", "2", ""]


def test_the_sentence_counts_positions_and_the_words_between() -> None:
    assert analysis.reach_notice(reach(), 5) == (
        "From “red” to “city”, 3 positions later (2 words between): 1 step with bidirectional attention, never within "
        "2 layers with a window of 1 on each side, 1 step with a causal mask, 3 steps in a recurrent network."
    )
    assert "never with a causal mask, never in a recurrent network" in analysis.reach_notice(reach(), 0)
    assert "1 position earlier" in analysis.reach_notice(reach(), 1)


def test_the_same_token_is_reported_as_no_change() -> None:
    found = edit()
    own = found.tokens("decoder")
    same = replace(found, new=found.old, new_id=int(own.ids[3]))
    assert analysis.notice(same) == ("“Ich” is already at position 3: the same token changes nothing.")
    twin = analysis.notice(replace(found, new=found.old))  # with a space before it, say
    assert f"“Ich” (#{own.ids[3]}) became “Ich” (#77)" in twin
