"""Denoising: BART learned by repairing damaged texts. Five ways to damage one, and how the model repairs it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bartviz.analysis.denoising import NOISE, Noised
from bartviz.features.lessons import facts
from bartviz.features.lessons.answers import Choice, Number, Spot, Touch, second, strongest
from bartviz.features.lessons.lesson import Lesson, Step
from bartviz.record import steps as record_steps
from bartviz.record.record import Record

COPIES = (2, 4)  # the cross head that looks at the token to copy
SENTENCE = "The children are playing in the garden because the weather is good today."
STORY = "The king had three sons. One day he sent them out into the world. Only the youngest came home again."
SEED, ORDER = 18, 5  # of the noise
# What the shipped model makes of these examples, which a test repeats: it repairs two, and fails at the harder two.
RESTORED = {"token masking": True, "text infilling": False, "token deletion": True, "sentence permutation": False}


def _noised(noise: str, text: str = SENTENCE, seed: int = SEED) -> Noised:
    return NOISE[noise](text, np.random.default_rng(seed))


def _copying(record: Record) -> Mapping[str, object]:
    sure = facts.step_of(record, "car")
    row = facts.predicting(record, "car")
    values = facts.looks_at(record, "cross", *COPIES, row)
    return {
        **values,
        "token": "car",
        "chance": sure.chosen.probability,
        "bits": sure.entropy,
        "gap": _gap(record).chosen.probability,
    }


def _gap(record: Record) -> record_steps.Step:
    """The step that writes the lost word."""
    index = record.source.labels.index("<mask>")
    return next(step for step in record.steps if step.row == index)


def _others(record: Record) -> list[Spot]:
    return second(_gap(record))


def _mask(record: Record) -> Mapping[str, object]:
    step = _gap(record)
    first, rival, third = step.candidates[:3]
    return {
        "token": first.label,
        "chance": first.probability,
        "second": rival.label,
        "second_chance": rival.probability,
        "unsure": first.probability < 0.5,
        "ahead": first.probability > 2 * rival.probability,
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
    return {
        **facts.looks_at(record, "cross", *COPIES, row),
        "token": step["token"],
        "mean": float(np.mean(same)),
        "gap": _sees_gap(record),
    }


def _sees_gap(record: Record) -> bool:
    """Whether the head looks most at the mask where the lost word is written."""
    best = max(_sources(record), key=lambda spot: spot.right)
    return best.label == "<mask>"


def _sources(record: Record) -> list[Spot]:
    row = facts.predicting(record, _gap(record).chosen.label)
    return strongest(facts.weights(record, "cross", *COPIES)[row], record.attention("cross").key.labels)


def _infilled(record: Record) -> Mapping[str, object]:
    noised = _noised("text infilling")
    masks = sum(word.is_mask for word in noised.words)
    lost, words = len(noised.lost), len(noised.clean)
    return {"lost": lost, "words": words, "masks": masks, "back": RESTORED[noised.noise]}


def _masked(record: Record) -> Mapping[str, object]:
    noised = _noised("token masking")
    masks = sum(word.is_mask for word in noised.words)
    return {"lost": len(noised.lost), "masks": masks, "words": len(noised.clean), "back": RESTORED[noised.noise]}


def _lost(noise: str) -> Number:
    return Number(lambda record: float(len(_noised(noise).lost)))


def _deleted(record: Record) -> Mapping[str, object]:
    noised = _noised("token deletion")
    names = ", ".join(f"“{noised.clean[index].text}”" for index in noised.lost)
    return {
        "lost": len(noised.lost),
        "left": len(noised.words),
        "words": len(noised.clean),
        "names": names,
        "back": RESTORED[noised.noise],
    }


def _permuted(record: Record) -> Mapping[str, object]:
    noised = _noised("sentence permutation", STORY, ORDER)
    return {
        "lost": len(noised.lost),
        "moved": len(noised.moved),
        "words": len(noised.clean),
        "back": RESTORED[noised.noise],
    }


LESSON = Lesson(
    "denoising",
    9,
    (
        Step("decoding", {"step": 7}, facts=_copying, record="repair", answer=Choice()),
        Step("decoding", {"step": 5}, facts=_mask, record="repair", answer=Touch("candidate", _others)),
        Step(
            "heads",
            {"kind": "cross", "layer": COPIES[0], "head": COPIES[1], "row": 4},
            facts=_looks,
            record="repair",
            answer=Touch("column", _sources),
        ),
        Step(
            "denoising",
            {"noise": "masking", "noise_seed": SEED},
            facts=_masked,
            record="repair",
            answer=_lost("token masking"),
        ),
        Step(
            "denoising", {"noise": "infilling", "noise_seed": SEED}, facts=_infilled, record="repair", answer=Choice()
        ),
        Step(
            "denoising",
            {"noise": "deletion", "noise_seed": SEED},
            facts=_deleted,
            record="repair",
            answer=_lost("token deletion"),
        ),
        Step(
            "denoising",
            {"noise": "permutation", "text_of": "story", "noise_seed": ORDER},
            facts=_permuted,
            record="repair",
            answer=Choice(),
        ),
    ),
)
