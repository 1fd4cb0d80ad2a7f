"""Denoising: BART learned by repairing damaged texts. Five ways to damage one, and what the model makes of it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bartviz.analysis.denoising import NOISE, Noised
from bartviz.language import mark
from bartviz.record.record import Record
from bartviz.teaching.lessons import facts
from bartviz.teaching.lessons.lesson import Lesson, Step

COPIES = (2, 4)  # the cross head that looks at the token to copy
SENTENCE = "The children are playing in the garden because the weather is good today."
STORY = "The king had three sons. One day he sent them out into the world. Only the youngest came home again."
SEED = 1


def _noised(noise: str, text: str = SENTENCE) -> Noised:
    return NOISE[noise](text, np.random.default_rng(SEED))


def _copying(record: Record) -> Mapping[str, object]:
    sure = facts.step_of(record, "car")
    row = facts.predicting(record, "car")
    found = facts.looks_at(record, "cross", *COPIES, row)
    return {**found, "token": "car", "chance": sure.chosen.probability, "bits": sure.entropy}


def _mask(record: Record) -> Mapping[str, object]:
    place = record.source.labels.index("<mask>")
    step = next(step for step in record.steps if step.row == place)
    first, second, third = step.candidates[:3]
    return {
        "token": first.label,
        "chance": first.probability,
        "second": second.label,
        "third": third.label,
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
    names = ", ".join(f"“{noised.clean[place].text}”" for place in noised.lost)
    return {"lost": len(noised.lost), "left": len(noised.words), "names": names}


def _permuted(record: Record) -> Mapping[str, object]:
    noised = _noised("sentence permutation", STORY)
    return {"lost": len(noised.lost), "moved": len(noised.moved), "words": len(noised.clean)}


LESSON = Lesson(
    "denoising",
    mark("Repairing what was lost"),
    mark("BART learned language by repairing damaged texts: masks, holes and shuffled sentences."),
    9,
    (
        Step(
            "decoding",
            mark(
                "This small BART has learned to repair. One word of its input was replaced by <mask>; it writes the "
                "whole sentence again. Here it is about to write “{token}”."
            ),
            mark("How sure is it of this word, and why?"),
            mark(
                "{chance:.1%}: “{token}” stands in the input and need only be copied; {bits:.2f} bits of choice are "
                "left. Most of repairing is copying."
            ),
            {"step": 7},
            facts=_copying,
            record="repair",
        ),
        Step(
            "decoding",
            mark("Two steps earlier: the word that was lost. Look at the bars of the candidates."),
            mark("“{token}” was chosen. Is the model sure?"),
            mark(
                "No, only {chance:.1%}; “{second}” and “{third}” are close behind, and {bits:.1f} bits of choice are "
                "left where copying leaves {copy_bits:.2f}. Many words fit, and it cannot know which one was lost."
            ),
            {"step": 5},
            facts=_mask,
            record="repair",
        ),
        Step(
            "heads",
            mark(
                "A head of the same run that has learned to copy: a row looks at the token that it is going to write. "
                "The chosen row writes “{token}”."
            ),
            mark("There is nothing to copy for it. Where does it look?"),
            mark(
                "At “{key}” ({weight:.2f}), the place where the word is missing. The five words that could be copied "
                "get {mean:.2f} on average from their rows."
            ),
            {"kind": "cross", "layer": COPIES[0], "head": COPIES[1], "row": 4},
            facts=_looks,
            record="repair",
        ),
        Step(
            "denoising",
            mark(
                "The page Denoising damages a text and lets the model repair it. Token masking: some words are "
                "replaced, each by one mask. Three lines: original, damaged, repaired."
            ),
            mark("How many words were lost, and how many masks are there?"),
            mark(
                "{lost} of {words} (the full stop counts), and {masks} masks: one for each. The model sees where, and "
                "how many. This is also how BERT learned."
            ),
            {"noise": "masking"},
            facts=_masked,
            record="repair",
        ),
        Step(
            "denoising",
            mark("Text infilling, BART's own invention: a whole span of words becomes a single mask."),
            mark("Count again. What does the model not know now that it knew before?"),
            mark(
                "{lost} words lost, {masks} masks: how many words a mask stands for, it has to find out by itself. A "
                "mask may even stand for none. A word that fits as well as the original still counts as wrong."
            ),
            {"noise": "infilling"},
            facts=_infilled,
            record="repair",
        ),
        Step(
            "denoising",
            mark("Token deletion: words are gone, and nothing marks the place."),
            mark("Read the damaged line without looking at the original. Would you have noticed?"),
            mark(
                "Gone: {names}. The model must find the place before it can fill it; {left} words and signs are left, "
                "and it needs a feeling for what a whole sentence is."
            ),
            {"noise": "deletion"},
            facts=_deleted,
            record="repair",
        ),
        Step(
            "denoising",
            mark("Sentence permutation: no word is lost, but the sentences stand in another order."),
            mark("Not a word is lost. What does the model have to understand to repair this?"),
            mark(
                "What follows from what. {moved} of {words} words have moved. The encoder sees all sentences at once, "
                "and the decoder begins with the one that can stand first."
            ),
            {"noise": "permutation", "text_of": "story"},
            facts=_permuted,
            record="repair",
        ),
    ),
)
