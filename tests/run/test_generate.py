"""decode() against generate(): the same tokens, the same rules, and all attention of every step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import GenerationConfig, PreTrainedTokenizerFast

import bartviz
from bartviz.errors import BudgetError, Cancelled, SettingError
from bartviz.language import _, speaking
from bartviz.run import rules
from bartviz.run.prepare import unread
from bartviz.text import tokenize
from tests.support import loaded
from tests.support.writers import TEXT, WRITERS, chosen, generated, one_pass, source_of, with_rules

NEW = 24


@pytest.mark.some("0")
@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("family", WRITERS)
def test_greedy_tokens_are_those_of_generate(family: str, seed: int) -> None:
    model = loaded.model(family)
    text = (TEXT, "I want to buy a car.", "Ich will ein Auto kaufen, aber die Katze schläft.")[seed]
    record = bartviz.decode(model, text, max_new_tokens=NEW)
    assert chosen(record) == generated(family, model, source_of(record), max_new_tokens=NEW)


RULES: dict[str, dict[str, Any]] = {
    "n-grams": {"no_repeat_ngram_size": 2},
    "minimum": {"min_length": 12},
    "new minimum": {"min_new_tokens": 10},
    "forced ends": {"forced_bos_token_id": 7, "forced_eos_token_id": 2},
    "penalty": {"repetition_penalty": 1.7},
    "excluded": {"suppress_tokens": [9, 11, 12], "begin_suppress_tokens": [20, 21]},
    "bad words": {"bad_words_ids": [[15], [17, 18]]},
    "source n-grams": {"encoder_no_repeat_ngram_size": 2, "encoder_repetition_penalty": 1.3},
    "all of a summary": {
        "no_repeat_ngram_size": 3,
        "min_length": 10,
        "forced_bos_token_id": 5,
        "forced_eos_token_id": 2,
    },
}


@pytest.mark.some("bart")
@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("family", ["bart", "t5", "marian"])
def test_the_checkpoints_rules_act_as_in_generate(family: str, name: str) -> None:
    model = with_rules(loaded.model(family), **RULES[name])
    record = bartviz.decode(model, TEXT, max_new_tokens=NEW)
    assert chosen(record) == generated(family, model, record.source.ids, max_new_tokens=NEW)


@pytest.mark.slow
@pytest.mark.parametrize("family", WRITERS)
def test_a_step_is_a_row_of_one_pass(family: str) -> None:
    """Rows collected step by step, with the final keys, are the attention of a teacher-forced pass."""
    model = loaded.model(family)
    record = bartviz.decode(model, TEXT, max_new_tokens=NEW)
    assert record.decoder is not None
    for kind, expected in one_pass(family, record).items():
        for layer, weights in enumerate(expected):
            np.testing.assert_allclose(record.attention(kind).layer(layer), weights, atol=2e-5)
    assert (record.decoder.head(0, 0)[np.triu_indices(len(record.decoder.query), 1)] == 0).all()
    assert all(check.passed for check in record.provenance.checks)


def test_log_probabilities_add_up_to_the_sequence_score() -> None:
    model = loaded.model("bart")
    decoded = bartviz.decode(model, TEXT, max_new_tokens=NEW, use_rules=False)
    assert decoded.output is not None
    ids = torch.from_numpy(decoded.source.ids.copy())[None]
    labels = torch.tensor([chosen(decoded)])
    assert decoded.decoder is not None
    read = torch.from_numpy(decoded.decoder.query.ids.copy())[None]
    with torch.inference_mode():
        loss = loaded.reference("bart")(input_ids=ids, decoder_input_ids=read, labels=labels).loss
    assert decoded.log_probability == pytest.approx(-float(loss) * len(decoded.steps), abs=2e-4 * len(decoded.steps))


def test_a_forced_first_token_shows_its_own_probability() -> None:
    model = with_rules(loaded.model("bart"), forced_bos_token_id=7)
    step = bartviz.decode(model, TEXT, max_new_tokens=4).steps[0]
    assert step.chosen.token_id == 7
    assert step.rule == "forced first token"
    assert step.chosen.probability < 0.9


def test_a_rule_that_changes_nothing_is_not_named() -> None:
    model = with_rules(loaded.model("bart"), no_repeat_ngram_size=20, min_length=1)
    record = bartviz.decode(model, TEXT, max_new_tokens=8)
    assert {step.rule for step in record.steps[:-1]} <= {None}


@pytest.mark.slow
def test_a_blocked_repetition_names_the_rule() -> None:
    """A model that would say one token for ever is stopped by the n-gram block, and the step says so."""
    plain = bartviz.decode(loaded.model("bart"), TEXT, max_new_tokens=NEW, use_rules=False)
    model = with_rules(loaded.model("bart"), no_repeat_ngram_size=1)
    record = bartviz.decode(model, TEXT, max_new_tokens=NEW)
    assert len(set(chosen(record))) == len(chosen(record))
    if len(set(chosen(plain))) < len(chosen(plain)):
        assert "no 1 tokens repeated" in {step.rule for step in record.steps}


def test_the_minimum_length_is_named_where_it_acts() -> None:
    logits = torch.tensor([[0.0, 1.0, 5.0]])
    generation = GenerationConfig(eos_token_id=2, min_length=3)
    active = rules.active(generation, prompt=1, longest=9, source=None)
    assert rules.choose(active, torch.tensor([[0]]), logits) == rules.Choice(1, "minimum length")
    assert rules.choose(active, torch.tensor([[0, 1, 1]]), logits) == rules.Choice(2, None)
    assert logits.tolist() == [[0.0, 1.0, 5.0]]


def test_a_forced_rule_is_named_even_where_the_model_agrees() -> None:
    generation = GenerationConfig(eos_token_id=2, forced_bos_token_id=1, forced_eos_token_id=2)
    active = rules.active(generation, prompt=1, longest=3, source=None)
    logits = torch.tensor([[0.0, 4.0, 1.0]])
    assert rules.choose(active, torch.tensor([[0]]), logits) == rules.Choice(1, "forced first token")
    assert rules.choose(active, torch.tensor([[0, 1]]), logits) == rules.Choice(2, "forced end token")


def test_why_it_stopped_is_stated() -> None:
    model = loaded.model("bart")
    assert (
        bartviz.decode(with_rules(model, eos_token_id=None), TEXT, max_new_tokens=3).provenance.stopped
        == "length limit"
    )
    ends = with_rules(model, forced_bos_token_id=model.generation.eos_token_id)
    record = bartviz.decode(ends, TEXT, max_new_tokens=3)
    assert (record.provenance.stopped, len(record.steps), record.target_text) == ("end token", 1, "")


@pytest.mark.parametrize("beams", [1, 3])
def test_an_end_that_the_length_forced_is_the_length_limit(beams: int) -> None:
    model = with_rules(loaded.model("bart"), forced_eos_token_id=2)
    record = bartviz.decode(model, TEXT, max_new_tokens=4, beams=beams)
    last = record.steps[-1]
    assert (len(record.steps), last.chosen.token_id, last.rule) == (4, 2, "forced end token")
    assert last.candidates[0].token_id != 2
    assert record.provenance.stopped == "length limit"


def test_a_forced_token_is_at_its_position() -> None:
    model = loaded.model("bart")
    record = bartviz.decode(model, TEXT, max_new_tokens=10, force={2: 33, 4: " Auto"})
    assert record.steps[2].chosen.token_id == 33
    assert record.steps[2].rule == record.steps[4].rule == "chosen by you"
    forced = [step for step in record.steps[4:] if step.rule == "chosen by you"]
    assert "Auto" in "".join(piece for piece in record.output.pieces[4 : 4 + len(forced)])  # type: ignore[union-attr]
    plain = bartviz.decode(model, TEXT, max_new_tokens=10)
    assert chosen(record)[:2] == chosen(plain)[:2]


@pytest.mark.parametrize("force", [{-1: 3}, {0: 10**6}, {0: -1}, {0: ""}])
def test_what_cannot_be_forced_is_refused(force: dict[int, Any]) -> None:
    with pytest.raises(SettingError, match="forced"):
        bartviz.decode(loaded.model("bart"), TEXT, force=force)


@pytest.mark.parametrize("new", [0, -1, 10**9])
def test_an_impossible_length_is_refused_with_the_limits(new: int) -> None:
    with pytest.raises(SettingError, match="choose 1 to"):
        bartviz.decode(loaded.model("bart"), TEXT, max_new_tokens=new)


@pytest.mark.slow
def test_the_positions_end_a_text() -> None:
    model = with_rules(loaded.model("gpt2"), eos_token_id=None)
    record = bartviz.decode(model, TEXT, max_new_tokens=1000)
    assert record.decoder is not None
    assert len(record.decoder.query) == 127  # 128 tokens with the last one, which is not fed
    assert record.provenance.stopped == "length limit"


def test_an_encoder_writes_nothing_and_says_what_to_choose() -> None:
    with pytest.raises(SettingError, match="choose an encoder-decoder"):
        bartviz.decode(loaded.model("bert"), TEXT)


def test_progress_is_reported_and_a_run_can_be_stopped() -> None:
    seen: list[tuple[int, int]] = []

    def on_step(step: int, longest: int) -> None:
        seen.append((step, longest))

    with pytest.raises(Cancelled):
        bartviz.decode(loaded.model("bart"), TEXT, max_new_tokens=9, on_step=on_step, cancelled=lambda: len(seen) == 3)
    assert seen == [(1, 9), (2, 9), (3, 9)]


def test_the_budget_is_refused_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bartviz.run.memory_limit.MAX_BYTES", 1000)
    with pytest.raises(BudgetError, match="limit"):
        bartviz.decode(loaded.model("bart"), TEXT)


def test_values_are_kept_when_asked_for() -> None:
    record = bartviz.decode(loaded.model("bart"), TEXT, max_new_tokens=5, values=True)
    assert record.cross is not None
    assert record.cross.v is not None
    assert record.cross.v.shape == record.cross.keys.shape
    assert bartviz.decode(loaded.model("bart"), TEXT, max_new_tokens=5).cross.v is None  # type: ignore[union-attr]


def test_the_longest_text_has_a_first_token_only() -> None:
    """The record of a prompt that continues: rows of the prompt first, one step for each new token."""
    record = bartviz.decode(loaded.model("gpt2"), TEXT, max_new_tokens=5)
    assert record.decoder is not None
    assert record.output is not None
    rows = len(record.decoder.query)
    assert [step.row for step in record.steps] == list(range(rows - len(record.steps), rows))
    assert record.output.ids[:-1].tolist() == record.decoder.query.ids[1:].tolist()
    assert record.output.ids[-len(record.steps) :].tolist() == chosen(record)


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 3), st.integers(1, 3), st.integers(0, 10))
def test_any_rules_give_the_tokens_of_generate(first: int, ngram: int, penalty: int, least: int) -> None:
    model = loaded.model("bart")
    model = with_rules(
        model,
        no_repeat_ngram_size=ngram,
        repetition_penalty=float(penalty),
        min_length=least,
        forced_bos_token_id=first % model.info.vocabulary,
    )
    record = bartviz.decode(model, "I want to buy a car.", max_new_tokens=14)
    assert chosen(record) == generated("bart", model, record.source.ids, max_new_tokens=14)


def test_settings_that_mean_nothing_are_refused() -> None:
    with pytest.raises(SettingError, match="choose 1 or more"):
        bartviz.decode(loaded.model("bart"), TEXT, top_k=0)


@pytest.mark.parametrize("text", ["나는 오늘 새 자동차를 사고 싶어요.", "Я хочу купить машину.", "我想买车。"])
def test_a_script_that_the_model_does_not_read_is_reported(text: str) -> None:
    model = bartviz.load("bart-tiny-en-de")
    (said,) = bartviz.decode(model, text, max_new_tokens=2).provenance.notices
    assert said.startswith("The model hardly knows this script: 100% of the letters are not in its vocabulary")
    with speaking("ko"):
        assert _(said).startswith("모델은 이 문자를 거의 모릅니다. 글자의 100%가 어휘에 없어서")
    (said,) = bartviz.capture(bartviz.load("bert-tiny-en"), text).provenance.notices
    assert said.startswith("The model does not know this script: 100% of the letters")


@pytest.mark.parametrize("text", ["I want to buy a car. 🐈", "Größe für dich", "I like 김치 very much.", "😀😀 hello"])
def test_letters_count_and_not_the_bytes_of_a_few_signs(text: str) -> None:
    for name in ("bart-tiny-en-de", "bert-tiny-en"):
        assert bartviz.capture(bartviz.load(name), text, target=None).provenance.notices == ()


def test_a_model_that_knows_a_script_reads_it_without_a_notice() -> None:
    """Its vocabulary holds most Korean syllables, a few only as bytes, as in large byte-level vocabularies."""
    words = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        special_tokens=["<s>", "<pad>", "</s>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), min_frequency=2
    )
    words.train_from_iterator(["나는 오늘 새 자동차를 사고 싶어요."] * 3, trainer)
    korean = PreTrainedTokenizerFast(tokenizer_object=words, bos_token="<s>", pad_token="<pad>", eos_token="</s>")
    text = "나는 자동차를 팔고 싶어요."
    unknown, split = unread(tokenize.encode(korean, text), korean, text)[:2]
    assert unknown == 0
    assert 0 < split < 0.3  # of 11 letters the two bytes of one
    assert unread(tokenize.encode(korean, "хочу"), korean, "хочу")[:2] == (0, 1)


def test_several_lines_are_said_to_be_one_text() -> None:
    model = bartviz.load("bart-tiny-en-de")
    record = bartviz.decode(model, "The cat sleeps.\n\nThe dog runs.\nI read.\n", max_new_tokens=2)
    assert record.provenance.notices == ("The text has 3 lines; they are read as one text.",)
    assert bartviz.decode(model, "The cat sleeps.\n", max_new_tokens=2).provenance.notices == ()


def test_a_forced_position_that_is_never_reached_is_reported() -> None:
    record = bartviz.decode(loaded.model("bart"), TEXT, max_new_tokens=3, force={9: np.int64(33)})  # type: ignore[dict-item]
    assert record.provenance.notices == ("The text ended before position 9: the token forced there is not in it.",)


def test_a_decoded_record_is_the_same_after_saving(tmp_path: Path) -> None:
    record = bartviz.decode(with_rules(loaded.model("bart"), no_repeat_ngram_size=3), TEXT, max_new_tokens=3)
    record.save(tmp_path / "x.safetensors")
    assert bartviz.open(tmp_path / "x.safetensors") == record
