"""A beam search in numbers that a person can check, then as properties of random trees."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bartviz.errors import RecordError, SettingError
from bartviz.features.decoding import numbers_beams as beams
from bartviz.record.beam_tree import BeamTree
from bartviz.record.record import Record
from tests.support import trees


def test_scores_have_enough_digits_for_any_length_penalty() -> None:
    """-437.800 / 126^2 against -437.858 / 126^2."""
    assert [beams.score_text(total / 126**2) for total in (-437.800, -437.858)] == ["−0.027576", "−0.027580"]
    assert beams.score_text(-0.5364) == "−0.536"


def test_texts_that_ended_are_ranked_and_written_out() -> None:
    found = beams.texts(trees.record())
    assert list(found["text"]) == ["Ho Tag", "Hallo"]
    assert list(found["won"]) == [True, False]
    assert list(found["tokens"]) == [3, 3]
    assert found["probability"][0] == pytest.approx(0.324)
    assert found["probability"][1] == pytest.approx(0.2)
    assert found["score"][0] == pytest.approx(math.log(0.324) / 3)


def test_the_table_has_a_line_for_each_continuation() -> None:
    found = beams.table(trees.record())
    assert len(found) == 12
    line = found.iloc[9]
    assert (line["parent"], line["step"], line["rank"], line["token"]) == (5, 3, 2, "</s>")
    assert (line["state"], line["text"]) == ("finished", "Hallo")
    assert found["parent"].isna().sum() == 4
    assert found["rule"].dropna().tolist() == ["minimum length"]


def test_the_outcome_of_each_is_stated() -> None:
    said = beams.reasons(trees.tree())
    assert said[0] == "expanded"
    assert said[2] == "pruned: not among the 2 strongest of this step"
    assert said[8].startswith("won")
    assert "lower score" in said[9]
    assert sum(reason.startswith("pruned") for reason in said) == 6


def test_a_pruned_beam_differs_from_one_that_continues() -> None:
    tree = trees.large(beams=3, steps=6, seed=1)
    followed = {node.parent for node in tree.nodes if node.state != "pruned"}
    for number, reason in enumerate(beams.reasons(tree)):
        if tree.nodes[number].state == "open":
            assert (reason == "expanded") == (number in followed)


def test_survivors_lead_to_a_text_that_ended() -> None:
    assert beams.survivors(trees.tree()) == {0, 1, 4, 5, 8, 9}


def test_what_is_drawn_can_be_chosen() -> None:
    tree = trees.tree()
    assert len(beams.shown(tree).nodes) == 12
    assert beams.shown(tree, "kept").nodes == (0, 1, 4, 5, 8, 9)
    assert beams.shown(tree, "survivors").nodes == (0, 1, 4, 5, 8, 9)
    with pytest.raises(SettingError, match="all, kept or survivors"):
        beams.shown(tree, "none")  # type: ignore[arg-type]
    with pytest.raises(SettingError):
        beams.shown(tree, most=0)


def test_the_winner_is_drawn_first() -> None:
    found = beams.shown(trees.tree(), most=3)
    assert found.nodes == (1, 4, 8)
    assert found.left_out == 9


@given(seed=st.integers(0, 50), most=st.integers(1, 80), which=st.sampled_from(("all", "kept", "survivors")))
def test_no_node_without_its_parent_and_none_lost_from_the_count(seed: int, most: int, which: beams.Which) -> None:
    tree = trees.large(beams=2, steps=8, seed=seed)
    everything = beams.shown(tree, which, 1000)
    found = beams.shown(tree, which, most)
    assert everything.left_out == 0
    assert len(found.nodes) <= most
    assert len(found.nodes) + found.left_out == len(everything.nodes)
    assert all(tree.nodes[n].parent in (None, *found.nodes) for n in found.nodes)


def test_where_the_winner_was_not_the_locally_best() -> None:
    assert [step.position for step, _token in beams.turns(trees.record())] == [0]
    said = beams.notice(trees.record())
    assert "At step 1 the winner has “Ho” (40%) though “Ha” had 50%" in said
    assert "2 texts ended" in said


def ruled(position: int, rule: str, rival: int, **settings: object) -> Record:
    """The record of the tree by hand: at one step a rule acted against the token of the node ``rival``."""
    record = trees.record(**settings)
    rivals = {position: (record.beams or trees.tree()).nodes[rival].token}
    steps = tuple(
        replace(
            step,
            rule=rule if step.position == position else None,
            candidates=(rivals.get(step.position, step.chosen), step.chosen),
        )
        for step in record.steps
    )
    return replace(record, steps=steps)


def test_greedy_search_is_said_to_be_the_same_only_where_it_is() -> None:
    same = "greedy search would write the same"
    assert same in beams.notice(ruled(0, "forced first token", 0))
    assert same in beams.notice(ruled(2, "minimum length", 8))  # the token is the most probable one all the same
    chosen = ruled(0, "chosen by you", 0)
    assert "though “Ha” had 50%: greedy search would have gone there" in beams.notice(chosen)
    assert [(step.position, token.label) for step, token in beams.turns(chosen)] == [(0, "Ha")]


def test_a_rule_that_the_record_cannot_judge_is_named() -> None:
    said = beams.notice(ruled(0, "chosen by you", 0, rules=("minimum length",)))
    assert said.endswith("A rule acted at step 1 (chosen by you), so greedy search may differ.")
    assert beams.turns(ruled(0, "chosen by you", 0, rules=("forced first token",))) == ()
    assert beams.turns(ruled(0, "chosen by you", 0, rules=("forced end token",))) != ()
    strongest = ruled(2, "minimum length", 11)  # “</s>” is the strongest that the rule leaves
    assert beams.turns(strongest) == ()
    assert [step.position for step in beams.unsure(strongest)] == [2]


def test_what_a_rule_leaves_to_greedy_search_is_in_the_tree() -> None:
    found = beams.turns(ruled(0, "minimum length", 2))  # “He” may not be: “Ha” is the strongest that is left
    assert [(step.position, token.label) for step, token in found] == [(0, "Ha")]


def test_decoded_text_goes_before_joined_labels() -> None:
    tree = trees.tree()
    nodes = list(tree.nodes)
    nodes[1], nodes[4], nodes[8] = (
        replace(nodes[n], text=said) for n, said in ((1, "Ho"), (4, "Ho, T"), (8, "Ho, T."))
    )
    told = replace(tree, nodes=tuple(nodes))
    assert beams.text(told, 8) == "Ho, T."
    assert beams.all_texts(told)[11] == "Ho, T!"  # pruned after “Ho, T”: its own label is joined
    assert beams.all_texts(told)[9] == "Hallo"
    assert beams.texts(replace(trees.record(), beams=told))["text"].tolist() == ["Ho, T.", "Hallo"]


def test_one_step_is_no_steps() -> None:
    record = trees.record()
    one = BeamTree(2, 1.0, True, trees.tree().nodes[:4], 1)
    assert "2 beams, 1 step: 4 continuations" in beams.notice(replace(record, beams=one, steps=record.steps[:1]))


def test_a_record_without_beams_says_so(record: Record) -> None:
    with pytest.raises(RecordError, match="2 or more beams"):
        beams.table(record)


@pytest.mark.parametrize(
    ("label", "special"), [("</s>", True), ("[SEP]", True), ("<", False), ("[]", False), ("a", False)]
)
def test_special_labels(label: str, special: bool) -> None:
    assert beams.is_special(label) is special


def test_all_texts_are_those_of_each_node() -> None:
    tree = trees.large(beams=3, steps=7)
    assert beams.all_texts(tree) == tuple(beams.text(tree, number) for number in range(len(tree.nodes)))
    assert beams.all_texts(trees.tree())[9] == "Hallo"
