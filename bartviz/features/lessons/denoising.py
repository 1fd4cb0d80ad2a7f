"""Denoising: BART learned by repairing damaged texts. Five ways to damage one, and how the model repairs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from bartviz.analysis.denoising import MASK, NOISE, Noised, sentences
from bartviz.features.lessons import facts
from bartviz.features.lessons.answers import Choice, Number, Spot, Touch, second, strongest
from bartviz.features.lessons.lesson import Lesson, Step, View
from bartviz.language import _
from bartviz.record import steps as record_steps
from bartviz.record.record import Record
from bartviz.serving import saved_records as records

COPIES = (2, 4)  # the cross head that looks at the token to copy
SENTENCE = "The children are playing in the garden because the weather is good today."
STORY = "The king had three sons. One day he sent them out into the world. Only the youngest came home again."
SEED, ORDER = 18, 5  # of the noise
# What the shipped model makes of these examples, which a test repeats: it repairs two, and fails at the harder two.
RESTORED = {"token masking": True, "text infilling": False, "token deletion": True, "sentence permutation": False}


def _own(record: Record) -> bool:
    """Whether a visitor's own text is damaged, instead of the examples."""
    return record is not records.read("repair")


def _noised(noise: str, record: Record) -> Noised:
    return NOISE[noise](record.source_text if _own(record) else SENTENCE, np.random.default_rng(SEED))


def _reordered(record: Record) -> Noised:
    text = record.source_text if _several(record) else STORY
    return NOISE["sentence permutation"](text, np.random.default_rng(ORDER))


def _several(record: Record) -> bool:
    """Whether a visitor's own text has several sentences, which can change places."""
    return _own(record) and len(sentences(record.source_text)) > 1


def _lacks_whole(record: Record) -> str:
    masked = MASK in record.source_text or "[MASK]" in record.source_text
    return _("it has a mask already") if masked else ""


def _damaged(short: str) -> Callable[[Record], View]:
    """The page Denoising with a noise, of the example or of a visitor's own text."""
    seen: View = {"noise": short, "noise_seed": SEED}
    return lambda record: {**seen, "text_of": "own"} if _own(record) else seen


def _shuffled(record: Record) -> View:
    return {"noise": "permutation", "text_of": "own" if _several(record) else "story", "noise_seed": ORDER}


def _restored(noised: Noised, example: bool) -> Mapping[str, object]:
    """Whether the model repairs an example; of a visitor's own text only the page knows."""
    back = RESTORED[noised.noise]
    return {"back": example and back, "failed": example and not back}


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
    return _counted(_noised("text infilling", record), record)


def _masked(record: Record) -> Mapping[str, object]:
    return _counted(_noised("token masking", record), record)


def _counted(noised: Noised, record: Record) -> Mapping[str, object]:
    masks = sum(word.is_mask for word in noised.words)
    counts = {"lost": len(noised.lost), "words": len(noised.clean), "masks": masks}
    return {**counts, **_restored(noised, not _own(record))}


def _lost(noise: str) -> Number:
    return Number(lambda record: float(len(_noised(noise, record).lost)))


def _deleted(record: Record) -> Mapping[str, object]:
    noised = _noised("token deletion", record)
    names = ", ".join(f"“{noised.clean[index].text}”" for index in noised.lost)
    return {
        "lost": len(noised.lost),
        "left": len(noised.words),
        "words": len(noised.clean),
        "names": names,
        **_restored(noised, not _own(record)),
    }


def _permuted(record: Record) -> Mapping[str, object]:
    noised = _reordered(record)
    return {
        "lost": len(noised.lost),
        "moved": len(noised.moved),
        "words": len(noised.clean),
        **_restored(noised, not _several(record)),
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
            _damaged("masking"),
            facts=_masked,
            record="repair",
            answer=_lost("token masking"),
            own=_lacks_whole,
        ),
        Step("denoising", _damaged("infilling"), facts=_infilled, record="repair", answer=Choice(), own=_lacks_whole),
        Step(
            "denoising",
            _damaged("deletion"),
            facts=_deleted,
            record="repair",
            answer=_lost("token deletion"),
            own=_lacks_whole,
        ),
        Step("denoising", _shuffled, facts=_permuted, record="repair", answer=Choice(), own=_lacks_whole),
    ),
    numbers=True,
)
