"""The engine in a browser writes the tokens that Python writes from the same int8 weights, over held-out sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

import bartviz
from bartviz.record.record import Record
from tests.support import engine
from training import corpus, everyday

COUNT = 400
TIE = 1e-4  # of logits: two candidates that are closer may change places


def sentences() -> list[str]:
    """Sentences of the test split of the corpus; without a corpus those that classes type, which ship."""
    try:
        folder = corpus.folder(None)
    except SystemExit:
        return [case.en for case in everyday.cases()]
    return corpus.unique(pair.en for pair in corpus.pairs(folder, "test"))[:COUNT]


def gap(record: Record, ours: list[int]) -> float:
    """How far Python's logit of the first token that differs is below that of its own; 0 where none does."""
    for step, token in zip(record.steps, ours, strict=False):
        if token != step.chosen.token_id:
            logits = {candidate.token_id: candidate.logit for candidate in step.candidates}
            return logits[step.chosen.token_id] - logits.get(token, -float("inf"))
    return 0.0 if len(ours) == len(record.steps) else float("inf")


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["bart-tiny-en-de", "bart-tiny-denoise"])
def test_held_out_sentences_are_written_alike(name: str, tmp_path: Path) -> None:
    model, texts = engine.shipped(name), sentences()
    found = engine.answers(tmp_path, model, [{"about": "write", "text": text} for text in texts])
    gaps = [gap(bartviz.decode(model, text), ours) for text, ours in zip(texts, found, strict=True)]
    other = [(text, far) for text, far in zip(texts, gaps, strict=True) if far >= TIE]
    assert not other, f"{len(other)} of {len(texts)}: {other[:3]}"
    ties = sum(far > 0 for far in gaps)
    assert ties <= len(texts) // 100, f"{ties} of {len(texts)} texts have ties: too many to tell anything"
