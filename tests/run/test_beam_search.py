"""Beam search: by hand on five words, then against generate(), then the attention of the winning text."""

from __future__ import annotations

import copy
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load, save

import bartviz
from bartviz.errors import BudgetError, Cancelled, RecordError, SettingError
from bartviz.models.model import Model
from bartviz.record import store
from bartviz.record.beam_tree import BeamTree, EarlyStopping, Hypothesis
from bartviz.record.record import NODE_BYTES, Record
from bartviz.record.steps import Candidate
from bartviz.run.beam_search import Search, Settings
from tests.support import loaded, networks
from tests.support.writers import TEXT, WRITERS, chosen, generate, one_pass, source_of, with_rules

START, END, A, B, C = range(5)
# p(next | last): A looks better than B at first, but after B the text may end at once.
TOY = torch.tensor(
    [
        [0.0, 0.0, 0.5, 0.4, 0.1],  # after the start
        [0.0, 1.0, 0.0, 0.0, 0.0],
        [0.0, 0.1, 0.2, 0.3, 0.4],  # after A
        [0.0, 0.9, 0.06, 0.01, 0.03],  # after B
        [0.0, 0.97, 0.01, 0.01, 0.01],  # after C
    ]
)


def toy(**changes: Any) -> Search:
    """The search through the toy distribution: at most three words after the start."""
    search = Search([START], Settings(**({"beams": 2} | changes)), longest=4, ends=[END])
    while not search.done:
        search.advance(TOY[search.ids[:, -1]].log())
    return search


def words(search: Search, number: int | None) -> list[int]:
    found: list[int] = []
    while number is not None:
        found.insert(0, search.nodes[number].token)
        number = search.nodes[number].parent
    return found


def test_the_hand_sized_search() -> None:
    search = toy()
    seen = [(node.step, words(search, n), node.rank, node.state) for n, node in enumerate(search.nodes)]
    assert seen[:7] == [
        (0, [A], 0, "open"),
        (0, [B], 1, "open"),
        (0, [C], 2, "pruned"),
        (1, [B, END], 0, "finished"),  # 0.4 * 0.9 = 0.36
        (1, [A, C], 1, "open"),  # 0.5 * 0.4 = 0.20
        (1, [A, B], 2, "open"),  # 0.15
        (1, [A, A], 3, "pruned"),  # 0.10
    ]
    assert [(words(search, n), search.nodes[n].state) for n in (7, 8)] == [
        ([A, C, END], "finished"),  # 0.2 * 0.97 = 0.194
        ([A, B, END], "finished"),
    ]
    assert [node.state for node in search.nodes[9:]] == ["pruned", "pruned"]
    assert [node.score for node in search.nodes[:9]] == pytest.approx(
        [
            math.log(p) / n
            for p, n in [(0.5, 1), (0.4, 1), (0.1, 1), (0.36, 2), (0.2, 2), (0.15, 2), (0.1, 2), (0.194, 3), (0.135, 3)]
        ],
        abs=1e-6,
    )
    assert search.best == 3


def test_a_length_penalty_makes_the_longer_text_win() -> None:
    """log 0.36 / 4 = -0.255 against log 0.194 / 9 = -0.182."""
    assert words(toy(), toy().best) == [B, END]
    longer = toy(length_penalty=2.0)
    assert words(longer, longer.best) == [A, C, END]


def test_no_length_penalty_ranks_by_probability_and_never_stops_too_early() -> None:
    search = toy(length_penalty=0.0, early_stopping="never")
    assert words(search, search.best) == [B, END]
    assert search.nodes[search.best or 0].score == pytest.approx(math.log(0.36), abs=1e-6)


def test_early_stopping_ends_with_as_many_texts_as_beams() -> None:
    table = torch.tensor([[0.0, 0.4, 0.3, 0.2, 0.1]] * 5).log()
    counts = {}
    ways: tuple[EarlyStopping, ...] = (True, "never")
    for early in ways:
        search = Search([START], Settings(2, 0.0, early), longest=9, ends=[END])
        while not search.done:
            search.advance(table[:2])
        counts[early] = sum(node.state == "finished" for node in search.nodes)
        assert words(search, search.best) == [END]
    assert counts[True] == 2


@pytest.mark.slow
@given(
    st.lists(st.lists(st.floats(-4, 4, width=32), min_size=4, max_size=4), min_size=4, max_size=4),
    st.sampled_from([0.0, 0.5, 1.0, 2.0, -1.0]),
)
def test_enough_beams_find_the_best_of_all_texts(logits: list[list[float]], penalty: float) -> None:
    """Four words, at most three after the start: nothing is pruned, so the winner is the best of every text."""
    table = torch.tensor(logits).log_softmax(dim=-1)
    search = Search([START], Settings(16, penalty, "never"), longest=4, ends=[END])
    while not search.done:
        search.advance(table[search.ids[:, -1]])

    def texts(last: int, left: int) -> list[tuple[float, int]]:
        """The sum of log p and the length of every text that goes on from here."""
        found = []
        for word in range(4):
            here = float(table[last, word])
            rest = [(0.0, 0)] if word == END or left == 1 else texts(word, left - 1)
            found += [(here + total, 1 + length) for total, length in rest]
        return found

    every = [total / length**penalty for total, length in texts(START, 3)]
    assert search.best is not None
    assert search.nodes[search.best].score == pytest.approx(max(every), abs=1e-4)


def test_rules_that_leave_no_token_are_reported() -> None:
    search = Search([START], Settings(2), longest=4, ends=[END])
    with pytest.raises(SettingError, match="forbid every token"):
        search.advance(torch.full((2, 5), -torch.inf))


def both(model: Model, network: Any, text: str, beams: int, new: int) -> None:
    """Our search and generate() find the same tokens and the same score."""
    record = bartviz.decode(model, text, beams=beams, max_new_tokens=new)
    real = generate(model, network, source_of(record), num_beams=beams, do_sample=False, max_new_tokens=new)
    assert chosen(record) == real.ids
    assert record.beams is not None
    assert record.beams.nodes[record.beams.best].score == pytest.approx(real.score, rel=1e-5, abs=1e-6)


RULES: dict[str, dict[str, Any]] = {
    "none": {},
    "summary": {
        "length_penalty": 2.0,
        "early_stopping": True,
        "min_length": 10,
        "no_repeat_ngram_size": 3,
        "forced_bos_token_id": 5,
        "forced_eos_token_id": 2,
    },
    "short": {"length_penalty": -0.5, "early_stopping": "never"},
    "translation": {"bad_words_ids": [[5]], "renormalize_logits": True, "early_stopping": True},
    "penalties": {"repetition_penalty": 1.4, "encoder_repetition_penalty": 1.3, "length_penalty": 0.0},
}


@pytest.mark.some("bart")
@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("family", WRITERS)
def test_tokens_and_score_are_those_of_generate(family: str, name: str) -> None:
    model = with_rules(loaded.model(family), **RULES[name])
    both(model, loaded.reference(family, implementation="sdpa"), TEXT, 4, 20)


@pytest.mark.slow
@pytest.mark.parametrize("changes", [{}, {"no_repeat_ngram_size": 1, "min_length": 9, "length_penalty": 3.0}])
@pytest.mark.parametrize("text", ["I want to buy a car.", "The old house by the lake was sold yesterday."])
def test_the_translator_that_ships_writes_what_generate_writes(text: str, changes: dict[str, Any]) -> None:
    model = with_rules(bartviz.load("bart-tiny-en-de"), **changes)
    network = copy.deepcopy(model.network)
    network.set_attn_implementation("sdpa")
    both(model, network, text, 4, 40)


@pytest.mark.slow
def test_a_summarizers_settings_come_from_its_files(tmp_path: Path) -> None:
    """Those of bart-large-cnn: 4 beams, 56 to 142 tokens, penalty 2, no 3 tokens twice, early stopping."""
    folder = networks.save("bart", tmp_path / "bart", seed=3, spread=0.3, max_position_embeddings=160)
    networks.edit(
        folder,
        "generation_config.json",
        num_beams=4,
        min_length=56,
        max_length=142,
        length_penalty=2.0,
        no_repeat_ngram_size=3,
        early_stopping=True,
        forced_bos_token_id=0,
        forced_eos_token_id=2,
    )
    model = bartviz.load(folder)
    record = bartviz.decode(model, TEXT, beams="own")
    network = copy.deepcopy(model.network)
    network.set_attn_implementation("sdpa")
    ids = torch.from_numpy(record.source.ids.copy())[None]
    with torch.inference_mode():
        real = network.generate(ids, attention_mask=torch.ones_like(ids))[0, 1:].tolist()
    assert chosen(record) == real
    assert 56 <= len(real) + 1 <= 142
    assert record.steps[0].rule == "forced first token"


@pytest.mark.slow
@given(st.data())
def test_any_rules_and_any_ends_give_what_generate_gives(data: st.DataObject) -> None:
    """End tokens are among the likely ones, so that texts end early, late and at once."""
    family = data.draw(st.sampled_from(["bart", "marian", "pegasus", "t5", "gpt2"]))
    model = loaded.model(family)
    likely = [c.token_id for step in plain(family).steps for c in step.candidates[:6]]
    ends = data.draw(st.lists(st.sampled_from(likely), min_size=1, max_size=4, unique=True))
    model = with_rules(
        model,
        eos_token_id=ends if len(ends) > 1 else ends[0],
        length_penalty=data.draw(st.sampled_from([1.0, 0.0, 2.0, -1.0, 0.7])),
        early_stopping=data.draw(st.sampled_from([True, False, "never"])),
        no_repeat_ngram_size=data.draw(st.sampled_from([0, 2, 3])),
        min_new_tokens=data.draw(st.sampled_from([None, 4])),
    )
    new = data.draw(st.sampled_from([5, 12]))
    both(model, loaded.reference(family, implementation="sdpa"), TEXT, data.draw(st.integers(2, 5)), new)


PLAIN: dict[str, Record] = {}


def plain(family: str) -> Record:
    if family not in PLAIN:
        PLAIN[family] = bartviz.decode(loaded.model(family), TEXT, max_new_tokens=10, use_rules=False)
    return PLAIN[family]


def early(family: str) -> Record:
    """A search whose winner ends before the search does, in a beam that was then given to another text."""
    model = loaded.model(family)
    end = plain(family).steps[2].candidates[1].token_id
    model = with_rules(model, eos_token_id=end, early_stopping="never", length_penalty=0.0, min_new_tokens=2)
    return bartviz.decode(model, TEXT, beams=3, max_new_tokens=16, values=True)


@pytest.mark.some("bart", "t5", "marian", "gpt2")
@pytest.mark.slow
@pytest.mark.parametrize("family", WRITERS)
def test_the_rows_are_those_of_the_winner_through_all_its_beams(family: str) -> None:
    for record in (early(family), bartviz.decode(loaded.model(family), TEXT, beams=4, max_new_tokens=20)):
        tree = record.beams
        assert tree is not None
        assert [tree.nodes[n].token.token_id for n in tree.path(tree.best)] == chosen(record)
        for kind, expected in one_pass(family, record).items():
            for layer, weights in enumerate(expected):
                np.testing.assert_allclose(record.attention(kind).layer(layer), weights, atol=2e-5)
        assert all(check.passed for check in record.provenance.checks)


@pytest.mark.slow
def test_some_winner_ended_before_its_search() -> None:
    """Else the test above would not see whether the keys of a beam that has ended are kept."""
    trees = [record.beams for record in map(early, WRITERS)]
    assert any(tree is not None and tree.nodes[tree.best].step + 1 < tree.steps for tree in trees)


def test_steps_are_those_of_the_text_by_itself() -> None:
    """The same candidates, entropies and probabilities as when the tokens are given one by one."""
    model = loaded.model("bart")
    record = bartviz.decode(model, TEXT, beams=4, max_new_tokens=9)
    given = bartviz.decode(model, TEXT, max_new_tokens=9, force=dict(enumerate(chosen(record))))
    for step, alone in zip(record.steps, given.steps, strict=True):
        assert (step.position, step.row, step.chosen.token_id) == (alone.position, alone.row, alone.chosen.token_id)
        assert step.entropy == pytest.approx(alone.entropy, abs=1e-4)
        assert step.log_probability == pytest.approx(alone.log_probability, abs=1e-4)
        assert [c.token_id for c in step.candidates] == [c.token_id for c in alone.candidates]
        assert [c.label for c in step.candidates] == [c.label for c in alone.candidates]


def test_values_and_silenced_heads_are_those_of_the_text_by_itself() -> None:
    model, heads = loaded.model("bart"), ["cross L1H0", "decoder L0H1"]
    record = bartviz.decode(model, TEXT, beams=3, max_new_tokens=9, values=True, ablate=heads)
    given = bartviz.decode(
        model, TEXT, max_new_tokens=9, values=True, ablate=heads, force=dict(enumerate(chosen(record)))
    )
    for kind in record.kinds:
        one, two = record.attention(kind), given.attention(kind)
        for name in ("q", "k", "v"):
            np.testing.assert_allclose(getattr(one, name), getattr(two, name), atol=2e-5)
    assert record.provenance.settings["ablated"] == ("cross L1H0 x 0", "decoder L0H1 x 0")
    assert record.beams is not None
    assert record.nbytes == given.nbytes + NODE_BYTES * len(record.beams.nodes)


def test_totals_are_the_models_own_and_scores_have_the_rules() -> None:
    model = with_rules(loaded.model("bart"), forced_bos_token_id=5, forced_eos_token_id=None)
    record = bartviz.decode(model, TEXT, beams=3, max_new_tokens=8)
    tree = record.beams
    assert tree is not None
    best = tree.nodes[tree.best]
    assert best.total == pytest.approx(record.log_probability, abs=1e-5)
    first = record.steps[0]
    assert first.rule == "forced first token"
    assert best.score * len(record.steps) == pytest.approx(best.total - first.log_probability, abs=1e-4)
    free = bartviz.decode(loaded.model("bart"), TEXT, beams=3, max_new_tokens=8, use_rules=False, length_penalty=0.5)
    assert free.beams is not None
    for node in free.beams.nodes:
        assert node.score == pytest.approx(node.total / (node.step + 1) ** 0.5, abs=1e-4)


def test_every_continuation_that_was_looked_at_is_in_the_tree() -> None:
    """Twice as many as beams at each step, the first by their sums; as many as beams go on."""
    tree = bartviz.decode(loaded.model("marian"), TEXT, beams=3, max_new_tokens=7, use_rules=False).beams
    assert tree is not None
    for step in range(tree.steps):
        found = [node for node in tree.nodes if node.step == step]
        assert [node.rank for node in found] == list(range(6))
        assert [node.total for node in found] == sorted((node.total for node in found), reverse=True)
        if step < tree.steps - 1:
            assert sum(node.state == "open" for node in found) == 3
    assert [node.state for node in tree.nodes].count("best") == 1
    assert tree.nodes[tree.best].state == "best"


def test_a_rule_that_acts_is_named_in_the_tree_and_in_the_step() -> None:
    model = with_rules(loaded.model("bart"), no_repeat_ngram_size=1, forced_eos_token_id=None)
    record = bartviz.decode(model, TEXT, beams=2, max_new_tokens=20)
    assert len(set(chosen(record))) == len(record.steps)
    own = [step.candidates[0].token_id for step in record.steps]
    repeated = [step for step, first in zip(record.steps, own, strict=True) if first in chosen(record)[: step.position]]
    assert repeated
    assert {step.rule for step in repeated} == {"no 1 tokens repeated"}


def test_a_forced_token_is_in_every_beam() -> None:
    record = bartviz.decode(loaded.model("bart"), TEXT, beams=3, max_new_tokens=8, force={2: 33})
    assert record.beams is not None
    third = [node for node in record.beams.nodes if node.step == 2]
    assert {node.token.token_id for node in third} == {33}
    assert {node.rule for node in third} == {"chosen by you"}
    assert record.steps[2].rule == "chosen by you"


@pytest.mark.slow
def test_the_checkpoints_own_settings() -> None:
    summary = {"num_beams": 4, "length_penalty": 2.0, "early_stopping": True, "min_length": 6, "max_length": 14}
    model = with_rules(loaded.model("bart"), no_repeat_ngram_size=3, **summary)
    record = bartviz.decode(model, TEXT, beams="own")
    said = record.provenance.settings
    assert {name: said[name] for name in ("mode", "beams", "length_penalty", "early_stopping", "max_new_tokens")} == {
        "mode": "beam search",
        "beams": 4,
        "length_penalty": 2.0,
        "early_stopping": True,
        "max_new_tokens": 13,
    }
    assert said["rules"] == ("no 3 tokens repeated", "minimum length", "forced end token")
    assert bartviz.decode(loaded.model("bart"), TEXT, beams="own", max_new_tokens=3).beams is None
    assert record.provenance.notices == ()
    mixed = bartviz.decode(with_rules(model, do_sample=True), TEXT, beams="own")
    assert mixed.target_text == record.target_text
    assert "searched without sampling" in mixed.provenance.notices[0]
    drawn = with_rules(loaded.model("gpt2"), do_sample=True, temperature=0.7, top_k=9, top_p=None)
    said = bartviz.decode(drawn, TEXT, beams="own", max_new_tokens=3).provenance.settings
    assert (said["mode"], said["temperature"], said["top_k"]) == ("sampling", 0.7, 9)


def test_length_and_repetition_can_be_chosen() -> None:
    model = with_rules(loaded.model("bart"), min_length=20)
    end = plain("bart").steps[0].candidates[0].token_id
    short = with_rules(model, eos_token_id=end)
    assert len(bartviz.decode(short, TEXT, min_new_tokens=0, max_new_tokens=9).steps) == 1
    record = bartviz.decode(short, TEXT, min_new_tokens=3, no_repeat_ngram_size=1, max_new_tokens=9)
    assert len(record.steps) >= 4
    assert record.steps[0].rule == "minimum length"
    assert (record.provenance.settings["min_new_tokens"], record.provenance.settings["no_repeat_ngram_size"]) == (3, 1)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"beams": 0}, "choose 1"),
        ({"beams": 1000}, "choose 1"),
        ({"beams": "all"}, "own"),
        ({"length_penalty": 2.0}, "2 beams or more"),
        ({"early_stopping": True}, "2 beams or more"),
        ({"beams": 2, "length_penalty": math.inf}, "length_penalty is inf"),
        ({"beams": 2, "length_penalty": 99.0}, "choose -10 to 10"),
        ({"beams": 2, "early_stopping": "soon"}, "never"),
        ({"beams": 2, "sample": bartviz.Sampling()}, "leave out beams or sample"),
        ({"min_new_tokens": -1}, "choose 0"),
        ({"no_repeat_ngram_size": 10**9}, "choose 0"),
    ],
)
def test_what_does_not_go_together_is_refused(options: dict[str, Any], word: str) -> None:
    with pytest.raises(SettingError, match=word):
        bartviz.decode(loaded.model("bart"), TEXT, **options)


def test_progress_is_reported_and_a_search_can_be_stopped() -> None:
    seen: list[tuple[int, int]] = []

    def on_step(step: int, longest: int) -> None:
        seen.append((step, longest))

    with pytest.raises(Cancelled):
        bartviz.decode(
            loaded.model("bart"), TEXT, beams=3, max_new_tokens=9, on_step=on_step, cancelled=lambda: len(seen) == 3
        )
    assert seen == [(1, 9), (2, 9), (3, 9)]


def test_beams_count_against_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    model = loaded.model("bart")
    size = bartviz.decode(model, TEXT, max_new_tokens=8).nbytes
    monkeypatch.setattr("bartviz.run.memory_limit.MAX_BYTES", 2 * size)
    bartviz.decode(model, TEXT, max_new_tokens=8)
    with pytest.raises(BudgetError, match="limit"):
        bartviz.decode(model, TEXT, beams=8, max_new_tokens=8)


def test_a_node_takes_no_more_than_it_is_counted_for() -> None:
    tree = bartviz.decode(loaded.model("bart"), TEXT, beams=4, max_new_tokens=20).beams
    assert tree is not None
    parts = [
        (node, node.token, node.total, node.score, node.token.probability, node.token.logit) for node in tree.nodes
    ]
    real = sum(sys.getsizeof(part) for one in parts for part in one) / len(parts)
    assert NODE_BYTES / 2 < real <= NODE_BYTES


def test_a_tree_is_the_same_after_saving(tmp_path: Path) -> None:
    record = bartviz.decode(loaded.model("bart"), TEXT, beams=3, early_stopping="never", max_new_tokens=5)
    record.save(tmp_path / "x.safetensors")
    again = bartviz.open(tmp_path / "x.safetensors")
    assert again == record
    assert again.beams == record.beams


def test_an_older_record_without_trees_opens() -> None:
    record = bartviz.decode(loaded.model("bart"), TEXT, max_new_tokens=3)
    data = store.encode(record)
    length = int.from_bytes(data[:8], "little")
    header = json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["bartviz"])
    del header["value"]["beams"]
    for step in header["value"]["steps"]:
        for candidate in (step["chosen"], *step["candidates"]):
            del candidate["filtered"]
    older = save(load(data), metadata={"bartviz": json.dumps(header)})
    assert store.decode(older, Record)[0] == record


def test_an_older_tree_without_texts_opens() -> None:
    record = bartviz.decode(loaded.model("bart"), TEXT, beams=2, max_new_tokens=3)
    data = store.encode(record)
    length = int.from_bytes(data[:8], "little")
    header = json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["bartviz"])
    for told in header["value"]["beams"]["nodes"]:
        del told["text"]
    older = store.decode(save(load(data), metadata={"bartviz": json.dumps(header)}), Record)[0]
    assert older.beams is not None
    assert {one.text for one in older.beams.nodes} == {None}


def node(step: int, parent: int | None, token: int = 7) -> Hypothesis:
    return Hypothesis(step, parent, Candidate(token, "x", 0.5, 1.0), -0.7, -0.7, 0, "open")


@pytest.mark.parametrize(
    ("nodes", "best"),
    [((), 0), ((node(0, None),), 1), ((node(1, None),), 0), ((node(0, None), node(2, 0)), 1), ((node(0, 0),), 0)],
)
def test_a_tree_that_does_not_hang_together_is_refused(nodes: tuple[Hypothesis, ...], best: int) -> None:
    with pytest.raises(RecordError, match="beam tree"):
        BeamTree(2, 1.0, False, nodes, best)


def test_a_tree_of_another_text_is_refused(record: Record) -> None:
    from dataclasses import replace

    with pytest.raises(RecordError, match="not the text of the record"):
        replace(record, beams=BeamTree(2, 1.0, False, (node(0, None, 10**6),), 0))
