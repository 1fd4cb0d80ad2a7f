"""Denoising: BART learned by repairing damaged texts. Five ways to damage one, and how the model repairs it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bartviz.analysis.denoising import NOISE, Noised
from bartviz.features.lessons import facts
from bartviz.features.lessons.lesson import Lesson, Step
from bartviz.record.record import Record

COPIES = (2, 4)  # the cross head that looks at the token to copy
SENTENCE = "The children are playing in the garden because the weather is good today."
STORY = "The king had three sons. One day he sent them out into the world. Only the youngest came home again."
SEED, ORDER = 18, 5  # of the noise: masked and deleted words come back, a span only in part, the order not at all


def _noised(noise: str, text: str = SENTENCE, seed: int = SEED) -> Noised:
    return NOISE[noise](text, np.random.default_rng(seed))


def _copying(record: Record) -> Mapping[str, object]:
    sure = facts.step_of(record, "car")
    row = facts.predicting(record, "car")
    values = facts.looks_at(record, "cross", *COPIES, row)
    return {**values, "token": "car", "chance": sure.chosen.probability, "bits": sure.entropy}


def _mask(record: Record) -> Mapping[str, object]:
    index = record.source.labels.index("<mask>")
    step = next(step for step in record.steps if step.row == index)
    first, second, third = step.candidates[:3]
    return {
        "token": first.label,
        "chance": first.probability,
        "second": second.label,
        "second_chance": second.probability,
        "third": third.label,
        "third_chance": third.probability,
        "bits": step.entropy,
        "copy_bits": facts.step_of(record, "car").entropy,
    }


def _looks(record: Record) -> Mapping[str, object]:
    step = _mask(record)
    row = facts.predicting(record, str(step["token"]))
    attention = record.attention("cross")
    weights = facts.weights(record, "cross", *COPIES)
    same = [
        weights[row, attention.key.labels.index(word)]
        for word in ("I", "want", "to", "a", "car")
        for row in [facts.predicting(record, word)]
    ]
    return {**facts.looks_at(record, "cross", *COPIES, row), "token": step["token"], "mean": float(np.mean(same))}


def _infilled(record: Record) -> Mapping[str, object]:
    noised = _noised("text infilling")
    masks = sum(word.is_mask for word in noised.words)
    return {"lost": len(noised.lost), "words": len(noised.clean), "masks": masks}


def _masked(record: Record) -> Mapping[str, object]:
    noised = _noised("token masking")
    return {"lost": len(noised.lost), "masks": sum(word.is_mask for word in noised.words), "words": len(noised.clean)}


def _deleted(record: Record) -> Mapping[str, object]:
    noised = _noised("token deletion")
    names = ", ".join(f"“{noised.clean[index].text}”" for index in noised.lost)
    return {"lost": len(noised.lost), "left": len(noised.words), "names": names}


def _permuted(record: Record) -> Mapping[str, object]:
    noised = _noised("sentence permutation", STORY, ORDER)
    return {"lost": len(noised.lost), "moved": len(noised.moved), "words": len(noised.clean)}


LESSON = Lesson(
    "denoising",
    9,
    (
        Step("decoding", {"step": 7}, facts=_copying, record="repair"),
        Step("decoding", {"step": 5}, facts=_mask, record="repair"),
        Step(
            "heads", {"kind": "cross", "layer": COPIES[0], "head": COPIES[1], "row": 4}, facts=_looks, record="repair"
        ),
        Step("denoising", {"noise": "masking", "noise_seed": SEED}, facts=_masked, record="repair"),
        Step("denoising", {"noise": "infilling", "noise_seed": SEED}, facts=_infilled, record="repair"),
        Step("denoising", {"noise": "deletion", "noise_seed": SEED}, facts=_deleted, record="repair"),
        Step(
            "denoising",
            {"noise": "permutation", "text_of": "story", "noise_seed": ORDER},
            facts=_permuted,
            record="repair",
        ),
    ),
)
