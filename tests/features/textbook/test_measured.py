"""The statements of the textbook that need a model, judged by the translator that ships."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BartModel,
    BertConfig,
    BertLMHeadModel,
    T5ForQuestionAnswering,
    T5ForSequenceClassification,
    T5ForTokenClassification,
)

from bartviz import load
from bartviz.errors import Cancelled
from bartviz.families.catalogue import EMBEDDED
from bartviz.features.textbook import CLAIMS, judging, networks, sentences, verdict
from bartviz.features.textbook import chapter_classes as classes
from bartviz.features.textbook import measured as saved
from bartviz.features.textbook import run_measured as measured
from bartviz.features.textbook.judging import Verdict
from bartviz.language import Later, _, later, speaking
from tests.features.textbook.ledger import Wanted, check, found
from training import networks as networks_of_training


@pytest.fixture(scope="module")
def judged() -> Mapping[str, Verdict]:
    return measured.judge_all(load(judging.MODEL))


@lru_cache
def opened() -> Any:
    """The translator as transformers loads it, with eager attention: no code of ours."""
    return networks_of_training.opened(BartForConditionalGeneration, EMBEDDED / judging.MODEL).eval()


@pytest.fixture
def network() -> Iterator[Any]:
    with torch.inference_mode():
        yield opened()


@pytest.mark.slow
def test_every_line_without_a_check_is_judged(judged: Mapping[str, Verdict]) -> None:
    assert list(judged) == [line.number for line in CLAIMS if line.check is None]
    for one in judged.values():
        assert one.why.endswith(".")
    elsewhere = ("5c", "15c", "16d", "16e", "25c", "30c", "31d", "31e", "35d")
    assert all(judging.MODEL in judged[number].basis for number in judged if number not in elsewhere)


@pytest.mark.slow
def test_the_saved_verdicts_are_those_of_the_model_that_ships(judged: Mapping[str, Verdict]) -> None:
    shipped, fixed = saved.verdicts(), {number: verdict(number) for number in saved.LONG}
    assert list(shipped) == [*judged, *fixed]
    for number, now in (dict(judged) | fixed).items():
        assert now is not None
        one = shipped[number]
        assert (one.word, message(one.why), _(one.basis)) == (now.word, message(now.why), _(now.basis)), number
        for before, after in zip(one.numbers, now.numbers, strict=True):
            assert (before.label, before.core, before.agrees) == (after.label, after.core, after.agrees), number
            was, is_now = read(before.found), read(after.found)
            close = is_now if isinstance(is_now, str) else pytest.approx(is_now, rel=0.05, abs=judging.ROUNDING)
            assert was == close, (number, before.label)


def read(found: float | str) -> float | str:
    """A text in the reader's language; a number as it is."""
    return _(found) if isinstance(found, str) else found


def message(text: str) -> str:
    """A message without its values."""
    return text.message if isinstance(text, Later) else text


def test_a_saved_verdict_is_read_as_it_was_written() -> None:
    numbers = (
        judging.Number(later("a share of {n}", n=2), judging.above(judging.Share(0.5)), np.float64(0.75)),
        judging.Number("words", later("yes"), later("no"), core=False, within=judging.NEARLY),
        judging.Number("ends", judging.Between(1, 3), 2, core=False),
    )
    before = Verdict(numbers, later("{why} So.", why=later("{n} of 2.", n=1)), "a run", decides=False, large=False)
    after = saved._verdict(json.loads(saved.to_json({"1": before}))["1"])
    assert after == before
    assert [judging.text(one.found) for one in after.numbers] == [judging.text(one.found) for one in numbers]
    with speaking("pseudo"):
        assert _(after.why) == "⟦⟦1 of 2.⟧ So.⟧"


HOUSE = "house is beautiful and well located in the middle of the city where it"
LINES: dict[str, tuple[str, Wanted, str]] = {
    "9b": ("holds", {"padding tokens": 2, "largest weight": 0}, ""),
    "9c": ("caveat", {"a text alone": 8 * 9, "the same text": 12 * 9}, ""),  # 12 rows of the batch, 9 of 11 columns
    "12g": ("caveat", (0.1, 0.1, 0), ""),
    "16b": ("caveat", {"its mean variance": pytest.approx(1, abs=0.001)}, ""),
    "16e": ("undecided", (), ""),  # gradients at the start decide nothing
    "17": ("holds", [9, 8, 0, 4], ""),
    "18": ("caveat", {"positions from": HOUSE.count(" "), "layers until": 1}, ""),  # 13, and not 12
    "22": ("holds", {"calls of the first encoder layer": 1, "steps of generate()": 8}, ""),
    "22d": ("caveat", [4, 1, "no"], ""),  # it knows no source, but what it writes is no sentence that it has learned
    "25": (
        "caveat",
        {"steps that chose": 5, "rows whose own token": 0, "largest difference": pytest.approx(0, abs=1e-5)},
        "",
    ),
    "25d": ("holds", {"rows with the token": 8}, ""),
    "28": ("caveat", {"one matrix": "yes", "models of the catalogue that tie them: all": 16}, ""),
}


@pytest.mark.slow
@pytest.mark.parametrize("number", LINES)
def test_a_line_has_its_verdict_and_its_numbers(number: str, judged: Mapping[str, Verdict]) -> None:
    check(judged[number], *LINES[number])


@pytest.mark.slow
def test_line_16b_the_learned_gain_changes_the_variance(judged: Mapping[str, Verdict]) -> None:
    assert found(judged["16b"], "with the learned gain") != pytest.approx(1, abs=0.1)


@pytest.mark.thorough
@pytest.mark.slow
def test_line_27_four_beams(judged: Mapping[str, Verdict], network: Any) -> None:
    verdict = judged["27"]
    assert verdict.word == "undecided"  # a small translator stands for large models that summarise
    other = 0
    for text in sentences.SEARCHED:
        ids = load(judging.MODEL).tokenizer(text, return_tensors="pt")["input_ids"]
        one, four = (
            network.generate(ids, num_beams=beams, early_stopping=beams > 1, do_sample=False, max_new_tokens=50)
            for beams in (1, 4)
        )
        other += one.tolist() != four.tolist()
    assert found(verdict, "of 11 sentences") == other > 0
    assert found(verdict, "beams in parallel") == 4
    card = (EMBEDDED / judging.MODEL / "README.md").read_text(encoding="utf-8").splitlines()
    rows = {cells[1].strip(): cells[2].strip() for line in card if len(cells := line.split("|")) == 5}
    assert found(verdict, "BLEU with four beams") == float(rows["4 beams"])
    assert verdict.numbers[-1].claimed == judging.above(float(rows["greedy"]))


@pytest.mark.slow
def test_line_16d_the_gradient_of_pre_norm_falls_with_depth(judged: Mapping[str, Verdict]) -> None:
    """About as 1 / sqrt(layers), and that of post-norm stays as it is (Xiong et al. 2020, theorem 1)."""
    assert judged["16d"].word == "undecided"  # which one ends better, only a training shows
    pre = [networks.gradient(depth, -1, pre=True) for depth in (6, 24)]
    post = [networks.gradient(depth, -1, pre=False) for depth in (6, 24)]
    assert pre[1] / pre[0] == pytest.approx((6 / 24) ** 0.5, abs=0.15)
    assert post[1] / post[0] == pytest.approx(1, abs=0.2)


@pytest.mark.slow
def test_line_24b_the_end_token_of_a_source_helps_a_little(judged: Mapping[str, Verdict], network: Any) -> None:
    assert judged["24b"].word == "undecided"
    assert found(judged["24b"], "of 4 texts") == 4
    lost = []
    for text in sentences.TEXTS:
        ids = load(judging.MODEL).tokenizer(text, return_tensors="pt")["input_ids"]
        written = network.generate(ids, num_beams=1, do_sample=False)
        with_it, without = (
            network(input_ids=source, decoder_input_ids=written[:, :-1]).logits[0, 1:].double().log_softmax(-1)
            for source in (ids, ids[:, :-1])
        )
        wanted = written[0, 2:, None]
        lost += (with_it.gather(1, wanted) - without.gather(1, wanted))[:, 0].tolist()
    assert found(judged["24b"], "lost without it") == pytest.approx(np.mean(lost), rel=1e-3)


def test_line_25c_is_what_the_articles_program_prints(tmp_path: Path) -> None:
    """Its configuration and model, from a folder: `from_pretrained` with the switch in the configuration."""
    small = {
        "d_model": 16,
        "encoder_ffn_dim": 32,
        "decoder_ffn_dim": 32,
        "vocab_size": 40,
        "max_position_embeddings": 32,
    }
    BartModel(BartConfig(encoder_attention_heads=2, decoder_attention_heads=2, **small)).save_pretrained(tmp_path)
    config = BartConfig.from_pretrained(tmp_path, output_attentions=True, output_hidden_states=True)
    model = BartModel.from_pretrained(tmp_path, config=config).eval()
    ids = torch.arange(4, 27)[None]
    out = model(input_ids=ids, decoder_input_ids=torch.tensor([[0]]), output_attentions=True, output_hidden_states=True)
    matrices = (out.encoder_attentions, out.decoder_attentions, out.cross_attentions)
    assert [len(one) for one in matrices] == [config.encoder_layers, config.decoder_layers, config.decoder_layers]
    assert matrices[2][0].shape == (1, 2, 1, 23)
    verdict = networks.returned(load(judging.MODEL), lambda: False)
    check(verdict, "holds", ["6 6 6"], "returns 0 0 0 if the option is only given at the call")


@pytest.mark.slow
def test_line_22b_keys_are_made_once_and_by_each_layer(judged: Mapping[str, Verdict], network: Any) -> None:
    """The cache of generate() at its end holds what each layer makes of the encoder's output."""
    verdict = judged["22b"]
    assert verdict.word == "fails"
    assert [number.found for number in verdict.numbers[:2]] == [1, 4]
    assert [number.agrees for number in verdict.numbers[:2]] == [True, False]
    ids = load(judging.MODEL).tokenizer(sentences.TEXT, return_tensors="pt")["input_ids"]
    out = network.generate(ids, num_beams=1, do_sample=False, return_dict_in_generate=True)
    states = network.get_encoder()(ids).last_hidden_state
    kept = [layer.keys for layer in out.past_key_values.cross_attention_cache.layers]
    for layer, keys in zip(network.get_decoder().layers, kept, strict=True):
        own = layer.encoder_attn.k_proj(states).view(1, ids.shape[1], 8, -1).transpose(1, 2)
        torch.testing.assert_close(own, keys)
    assert min(float((kept[i] - kept[j]).abs().max()) for i in range(4) for j in range(i)) > 0.1


def test_line_5c_gpt_1_is_768_wide() -> None:
    verdict = classes.as_wide_as_gpt(load(judging.MODEL), lambda: False)
    check(verdict, "holds", [768, 12, 12])
    assert [number.claimed for number in verdict.numbers] == [768, 12, 12]  # Radford et al. 2018, section 4.1


def test_line_30c_counts_the_classes_of_transformers() -> None:
    verdict = classes.text_to_text(load(judging.MODEL), lambda: False)
    assert verdict.word == "caveat"
    tasks = {T5ForSequenceClassification, T5ForTokenClassification, T5ForQuestionAnswering}
    assert found(verdict, "T5: classes of transformers that answer in another way") == len(tasks)
    assert all(task.__name__ in verdict.why for task in tasks)


def test_line_31d_bert_writes_under_another_mask() -> None:
    verdict = classes.no_writer(load(judging.MODEL), lambda: False)
    assert verdict.word == "caveat"
    assert found(verdict, "cells of its mask") == 15 * 14 // 2
    assert found(verdict, "classes of transformers") == 1
    small = BertConfig(vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8,
                       is_decoder=True)  # fmt: skip
    written = BertLMHeadModel(small).eval().generate(torch.tensor([[2, 5]]), max_new_tokens=2, do_sample=False)
    assert written.shape[1] > 2


@pytest.mark.slow
def test_line_28b_a_state_resembles_the_next_token(judged: Mapping[str, Verdict], network: Any) -> None:
    verdict = judged["28b"]
    assert verdict.word == "undecided"
    ahead, behind = list[float](), list[float]()
    table = network.get_input_embeddings().weight
    for text in sentences.TEXTS:
        ids = load(judging.MODEL).tokenizer(text, return_tensors="pt")["input_ids"]
        written = network.generate(ids, num_beams=1, do_sample=False)
        out = network(input_ids=ids, decoder_input_ids=written[:, :-1], output_hidden_states=True)
        states = out.decoder_hidden_states[-1][0, 1:]  # the first token is forced
        ahead += torch.cosine_similarity(states, table[written[0, 2:]]).tolist()
        behind += torch.cosine_similarity(states, table[written[0, 1:-1]]).tolist()
    assert found(verdict, "cosine with the embedding") == pytest.approx(np.mean(ahead), abs=1e-3)
    assert verdict.numbers[0].stated == f"> {judging.text(float(np.mean(behind)))}"
    assert found(verdict, "rows that are closer") == sum(a > b for a, b in zip(ahead, behind, strict=True))


def test_it_reports_progress_and_can_be_stopped() -> None:
    model, told = load(judging.MODEL), list[tuple[str, int, int]]()

    def stop(note: str, done: int, total: int) -> None:
        told.append((note, done, total))

    with pytest.raises(Cancelled):
        measured.judge_all(model, cancelled=lambda: True, on_progress=stop)
    assert told[-1] == ("Statement 9b", 1, len(measured.CHECKS))
    assert told[:1] == [("Statement 5c", 0, len(measured.CHECKS))]
