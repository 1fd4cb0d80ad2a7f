"""Rules on many texts at once: the tokens that each allows, and which one decided."""

from __future__ import annotations

import pytest
import torch
from transformers import GenerationConfig

from bartviz.run import rules

LOGITS = torch.tensor([[0.0, 1.0, 5.0, 4.0], [3.0, 1.0, 0.0, 2.0]])  # two texts, four words, 2 is the end
IDS = torch.tensor([[0, 3], [0, 1]])


def applied(**settings: object) -> rules.Applied:
    active = rules.active(GenerationConfig(eos_token_id=2, **settings), prompt=1, longest=9)
    return rules.apply(active, IDS, LOGITS)


def test_no_rules_leave_the_scores_as_they_are() -> None:
    assert applied().scores is LOGITS
    assert applied().deciding(0, 2) is None


def test_a_rule_decides_only_where_it_removed_the_first_choice() -> None:
    found = applied(min_length=5)
    assert torch.isneginf(found.scores[:, 2]).all()
    assert found.deciding(0, 3) == "minimum length"  # 3 goes on because 2, the first choice, may not
    assert found.deciding(1, 0) is None  # its own first choice
    assert found.deciding(1, 3) is None  # the second choice, and the first was allowed


def test_the_rule_that_did_it_is_named_among_several() -> None:
    found = applied(no_repeat_ngram_size=1, min_length=5)
    assert [rule.name for rule, _ in found.stages] == ["no 1 tokens repeated", "minimum length"]
    assert found.deciding(0, 1) == "minimum length"  # 3 was repeated, but the first choice was the end
    assert found.deciding(1, 3) == "no 1 tokens repeated"  # 0 was there before


def test_a_forced_token_is_named_even_where_it_is_the_first_choice() -> None:
    active = rules.active(GenerationConfig(eos_token_id=2, forced_eos_token_id=2), prompt=1, longest=3)
    found = rules.apply(active, IDS, LOGITS)
    assert found.deciding(0, 2) == "forced end token"
    assert found.scores.tolist() == [[-torch.inf, -torch.inf, 0.0, -torch.inf]] * 2


def test_a_new_minimum_stands_in_place_of_the_minimum() -> None:
    """As in generate(): both count up to the end token, and the later setting wins."""
    active = rules.active(GenerationConfig(eos_token_id=2, min_length=9, min_new_tokens=1), prompt=1, longest=9)
    assert [rule.name for rule in active] == ["minimum length"]
    assert rules.apply(active, IDS, LOGITS).scores is not None
    assert rules.apply(active, IDS, LOGITS).deciding(0, 2) is None


def test_probabilities_sum_to_one_again_after_the_rules() -> None:
    found = applied(suppress_tokens=[2], renormalize_logits=True)
    assert found.scores.exp().sum(dim=-1).tolist() == pytest.approx([1, 1])
    assert found.deciding(0, 3) == "excluded tokens"
