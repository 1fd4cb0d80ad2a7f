"""Lines 31e and 35d: the BERT that ships, as transformers loads it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pytest
import torch
from transformers import BertForPreTraining

from bartviz import load
from bartviz.errors import Cancelled
from bartviz.families.catalogue import EMBEDDED
from bartviz.features.textbook import chapter_sublayers as sublayers
from bartviz.features.textbook import claim
from bartviz.features.textbook.judging import MODEL, Bound
from bartviz.features.textbook.sentences import FACTS, GRAMMAR, PAIRS
from tests.features.textbook.ledger import found
from training import networks


def never() -> bool:
    return False


@lru_cache
def opened() -> Any:
    return networks.opened(BertForPreTraining, EMBEDDED / sublayers.MODEL).eval()


@torch.inference_mode()
def test_line_31e_pairs_as_the_network_judges_them() -> None:
    verdict = sublayers.reads_first(load(MODEL), never)
    assert claim("31e").judged(verdict).word == "caveat"
    tokenizer, right = load(sublayers.MODEL).tokenizer, 0
    seconds = [second for _, second in PAIRS]
    for place, (first, second) in enumerate(PAIRS):
        for label, other in ((0, second), (1, (seconds * 2)[place + 6])):  # 0: it follows, as in the original
            logits = opened()(**tokenizer(first, other, return_tensors="pt")).seq_relationship_logits
            right += int(logits.argmax()) == label
    assert [number.found for number in verdict.numbers if number.label.startswith("24 pairs")] == [right, right]
    assert found(verdict, "all last states but that of [CLS]") == 0
    assert f"judges {right} of 24 pairs right, where guessing gives 12" in verdict.why


@pytest.mark.slow
@torch.inference_mode()
def test_line_35d_sublayers_without_weights() -> None:
    verdict = sublayers.facts(load(MODEL), never)
    assert claim("35d").judged(verdict).word == "undecided"
    tokenizer = load(sublayers.MODEL).tokenizer

    def log_p(gaps: tuple[tuple[str, str], ...]) -> float:
        total = 0.0
        for text, word in gaps:
            ids = tokenizer(text, return_tensors="pt")["input_ids"]
            (wanted,) = tokenizer(word, add_special_tokens=False)["input_ids"]  # a word of one piece
            row = opened()(input_ids=ids).prediction_logits[0, ids[0].tolist().index(tokenizer.mask_token_id)]
            total += float(row.log_softmax(-1)[wanted])
        return total / len(gaps)

    lost: dict[tuple[object, str], float] = {}
    for gaps in (FACTS, GRAMMAR):
        before = log_p(gaps)
        for part in ("output.dense", "attention.output.dense"):
            for layer in opened().bert.encoder.layer:
                dense = layer.get_submodule(part)
                kept = {name: tensor.clone() for name, tensor in dense.state_dict().items()}
                dense.weight.zero_()
                dense.bias.zero_()
                lost[gaps, part] = lost.get((gaps, part), 0) + (before - log_p(gaps)) / 4
                dense.load_state_dict(kept)
    assert found(verdict, "12 facts") == pytest.approx(lost[FACTS, "output.dense"], rel=1e-3)
    assert found(verdict, "12 gaps") == pytest.approx(lost[GRAMMAR, "attention.output.dense"], rel=1e-3)
    bounds = [number.claimed.than for number in verdict.numbers if isinstance(number.claimed, Bound)]
    wanted = [lost[FACTS, "attention.output.dense"], lost[GRAMMAR, "output.dense"]]
    assert bounds == pytest.approx(wanted, rel=1e-3)


def test_words_that_belong_in_a_gap_have_an_entry_of_their_own() -> None:
    vocabulary = load(sublayers.MODEL).tokenizer.get_vocab()
    assert all(word in vocabulary and text.count("[MASK]") == 1 for text, word in (*FACTS, *GRAMMAR))


@pytest.mark.parametrize("check", [sublayers.reads_first, sublayers.facts])
def test_it_can_be_stopped(check: Any) -> None:
    with pytest.raises(Cancelled):
        check(load(MODEL), lambda: True)
