"""Corrupting and repairing a text: the score is the one of training, attention and guesses are those of the model."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import bartviz
from bartviz.analysis import repairs
from bartviz.analysis.denoising import NOISE, words
from bartviz.analysis.repair_columns import written_words
from bartviz.errors import Cancelled, SettingError, TextError
from bartviz.experiments.repair import all_noises, corrupt, guessed, guesses, repair
from bartviz.families.catalogue import EMBEDDED
from tests.support import loaded
from training import denoise, sequence

TEXTS = (
    "The cat is sleeping on the sofa. She reads a book.",
    "나는 차를 사고 싶어요.",
    "car",
    "Ich will ein Auto, bitte!",
)


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", ["bart-tiny-denoise", "small"])
@pytest.mark.parametrize("noise", sorted(NOISE))
def test_accuracy_and_loss_are_those_of_make_evaluate(name: str, noise: str) -> None:
    """Each noise with all four texts, two to a model."""
    model = loaded.model("bart") if name == "small" else bartviz.load(name)
    for seed, text in list(enumerate(TEXTS))[name == "small" :: 2]:
        found = repair(model, text, noise, seed=seed)
        pair = denoise.examples(model.tokenizer, [NOISE[noise](text, np.random.default_rng(seed)).text], [text])
        loss, accuracy = sequence.score(model.network, pair)
        assert found.score.accuracy == pytest.approx(accuracy, abs=1e-6)
        assert found.score.loss == pytest.approx(loss, abs=1e-4)


@pytest.mark.slow
def test_what_is_tokenized_is_what_training_saw() -> None:
    model = bartviz.load("bart-tiny-denoise")
    for noise in NOISE:
        found = repair(model, TEXTS[0], noise, seed=1)
        assert found.given.source.ids.tolist() == sequence.encode(model.tokenizer, [found.noised.text])[0]
        assert found.plain.source.ids.tolist() == sequence.encode(model.tokenizer, [found.noised.source])[0]


@pytest.mark.slow
def test_the_written_text_is_greedy_and_its_words_have_their_tokens_probabilities() -> None:
    model = loaded.model("bart")
    found = repair(model, TEXTS[0], "token masking", seed=2)
    ids = model.tokenizer(found.noised.text, return_tensors="pt")["input_ids"]
    own = model.network.generate(ids, num_beams=1, do_sample=False, max_new_tokens=12)
    output = found.written.output
    assert output is not None
    assert own[0, 1:12].tolist() == output.ids.tolist()[:11]  # the last token is forced to be the end
    for word, place in zip(written_words(found.written), words(found.written.target_text or ""), strict=True):
        steps = [
            step
            for step in found.written.steps
            if (span := output.spans[step.row]) is not None and span[0] < place.end and span[1] > place.start
        ]
        assert word.text == place.text
        assert word.probability == pytest.approx(float(np.prod([step.chosen.probability for step in steps])), abs=1e-6)
    assert all(0 <= word.probability <= 1 for word in written_words(found.written))


def test_the_same_seed_loses_the_same_words() -> None:
    model = loaded.model("bart")
    first, second = (corrupt(model, TEXTS[0], "token deletion", seed=9)[0] for _ in range(2))
    assert first == second


def test_words_that_are_chosen_are_lost_instead_of_any_at_random() -> None:
    model = loaded.model("bart")
    found, _notices = corrupt(model, TEXTS[0], "token masking", seed=9, hidden={0, 2})
    assert found.lost == (0, 2)
    with pytest.raises(SettingError, match="hides no words"):
        corrupt(model, TEXTS[0], "document rotation", hidden={0})


@pytest.mark.slow
def test_a_share_of_0_loses_nothing_and_of_1_every_word() -> None:
    model = loaded.model("bart")
    assert repair(model, TEXTS[0], "token masking", rate=0.0).noised.text == TEXTS[0]
    found = repair(model, TEXTS[0], "token masking", rate=1.0).noised
    assert len(found.lost) == len(found.clean)


@pytest.mark.slow
def test_a_long_text_is_cut_with_a_notice_and_fits() -> None:
    model = loaded.model("bart")
    assert model.info.positions == 128
    for noise in ("text infilling", "sentence permutation"):  # with fewer tokens than before, and with as many
        found = repair(model, "The cat is on the sofa. " * 60, noise, seed=3)
        assert len(found.given.source) <= 128
        assert len(found.plain.source) <= 128
        assert any("The first 128 of" in notice for notice in found.notices)


@pytest.mark.slow
def test_all_five_noises_at_their_own_rates() -> None:
    model = loaded.model("bart")
    found = all_noises(model, TEXTS[0], seed=4)
    assert list(found) == list(NOISE)
    for name, score in found.items():
        assert score.loss == pytest.approx(repair(model, TEXTS[0], name, seed=4).score.loss, abs=1e-6)


@pytest.mark.slow
def test_bert_fills_each_mask_as_the_network_does() -> None:
    model = bartviz.load("bert-tiny-en")
    found = guesses(model, "The <mask> is sleeping on the <mask>.", 5)
    ids = model.tokenizer("The [MASK] is sleeping on the [MASK].", return_tensors="pt")
    with torch.inference_mode():
        logits = model.network(**ids).prediction_logits[0]
    at = (ids["input_ids"][0] == model.tokenizer.mask_token_id).nonzero()[:, 0]
    best = logits[at].softmax(-1).topk(5)
    assert len(found) == 2
    for one, values, tokens in zip(found, best.values.tolist(), best.indices.tolist(), strict=True):
        assert [chance for _, chance in one.candidates] == pytest.approx(values, abs=1e-5)
        names = model.tokenizer.convert_ids_to_tokens(tokens)
        assert [label.removeprefix("⋯") for label, _ in one.candidates] == [name.removeprefix("##") for name in names]


def test_the_best_guess_at_every_word_is_that_of_the_network() -> None:
    model = bartviz.load("bert-tiny-en")
    record = bartviz.capture(model, "The children are playing in the garden.")
    with torch.inference_mode():
        logits = model.network(**model.tokenizer(record.source_text, return_tensors="pt")).prediction_logits[0]
    best = logits.softmax(-1).max(-1)
    found = guessed(model, record)
    assert [p for _label, p in found] == pytest.approx(best.values.tolist(), abs=1e-5)
    seen = best.indices == torch.tensor(record.source.ids)
    labels = zip(found, record.source.labels, strict=True)
    assert [label == own for (label, _p), own in labels] == seen.tolist()
    assert seen.sum() >= len(seen) - 2  # it sees the words, so it mostly repeats them


def test_what_cannot_be_done_is_refused() -> None:
    bart, bert = loaded.model("bart"), loaded.model("bert")
    with pytest.raises(SettingError, match="cannot repair"):
        repair(bert, TEXTS[0])
    with pytest.raises(SettingError, match="choose token masking, "):
        repair(bart, TEXTS[0], "static")
    with pytest.raises(SettingError, match="between 0 and 1"):
        repair(bart, TEXTS[0], rate=1.5)
    with pytest.raises(TextError, match="text is empty"):
        repair(bart, "  ")
    with pytest.raises(SettingError, match="such as BERT"):
        guesses(bart, TEXTS[0])
    with pytest.raises(Cancelled):
        repair(bart, TEXTS[0], cancelled=lambda: True)


def test_the_card_of_the_denoiser_states_all_five() -> None:
    card = repairs.card((EMBEDDED / "bart-tiny-denoise" / "README.md").read_text("utf-8"))
    assert set(card) == set(NOISE)
    assert card["sentence permutation"] == (0.98, 0.067)
    table = repairs.noise_table(all_noises(loaded.model("bart"), TEXTS[0]), card)
    assert table["noise"].tolist() == list(NOISE)
    assert table["right"].le(table["tokens"]).all()
