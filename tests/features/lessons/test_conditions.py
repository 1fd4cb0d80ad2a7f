"""What the lessons say of numbers is said only where it is so: for the shipped records, and for other texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from bartviz.families.catalogue import entry
from bartviz.features.lessons import texts
from bartviz.features.lessons.lesson import HOME, Lesson
from bartviz.features.lessons.parts_course import LESSONS
from bartviz.language import LANGUAGES, speaking
from bartviz.record.record import Record
from bartviz.serving import saved_records as records
from bartviz.teaching import prose

STEPS = [
    pytest.param(lesson, at, id=f"{lesson.word}-{at + 1}") for lesson in LESSONS for at in range(len(lesson.steps))
]
OTHERS = ("I want to buy a house.", "I want to buy a new car.")  # the words that the lessons ask about are in them
# What is not so in a lesson on purpose: what the model does not manage to repair.
COMPARES = re.compile(
    r"\b(close|nearly|hardly|almost|larger|smaller|fewer|stronger|weaker|pale|stands? out|half|quarter|blurred|twice|"
    r"unsure|surer|most|mostly|least)\b",
    re.IGNORECASE,
)


def more(value: str, than: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda found: found[value] > found[than]


def large(setting: str) -> float:
    """How many times as large a setting of BART-large is as that of BART-base."""
    one, other = (entry(f"facebook/bart-{size}") for size in ("large", "base"))
    assert one is not None
    assert other is not None
    return float(one.config[setting]) / float(other.config[setting])


def always(_found: Mapping[str, Any]) -> bool:
    """It holds of any numbers: by definition, or because the token that it names is found by that number."""
    return True


# Sentences that compare without a condition, by their first words: when each is true.
UNCONDITIONAL: dict[tuple[str, int, str], Callable[[Mapping[str, Any]], bool]] = {
    ("arithmetic", 4, "the score of the first is larger by"): lambda found: found["gap"] >= 0,
    ("arithmetic", 6, "Mostly at"): lambda found: found["weight"] > 0.5,
    ("attention", 3, "The stronger a cell"): always,
    ("attention", 3, "The column of"): always,
    ("attention", 3, "a token of the source may be"): lambda found: found["least_sum"] < 0.2,
    ("attention", 7, "It looks most at"): more("weight", "second_weight"),
    ("born", 1, "At step 0 no head"): lambda found: found["most"] < 1 / 4,  # a text has at least four places
    ("corpus", 4, "{name} has the most"): always,
    ("cross", 2, "The larger the weight"): always,
    ("cross", 6, "The matrices that compute"): always,
    ("cross", 5, "a pair is linked where"): always,
    ("decoding", 6, "Most is lost at"): always,
    ("denoising", 1, "Most of repairing"): more("chance", "gap"),
    ("heads", 1, "Most blurred is"): more("bits", "fewest"),
    ("heads", 6, "Of {heads} heads"): always,
    ("parameters", 5, "twice as many layers"): lambda _found: large("encoder_layers") == 2 and large("d_model") > 1,
    ("parameters", 6, "Every part is there"): more("base", "total"),
    ("pitfalls", 1, "The chosen row predicts"): always,
    ("pitfalls", 6, "In this row"): always,
    ("heads", 6, "Stronger points are later layers"): always,
    ("why", 1, "The more the head"): always,
}


def facts(lesson: Lesson, at: int, record: Record) -> Mapping[str, Any]:
    return lesson.facts(at, record)


def told(lesson: Lesson, at: int) -> list[str]:
    """What a step says besides its question: what to look at, and the answer."""
    see, _ask, answer, *_more = prose.paragraphs(HOME, lesson.word, str(at + 1))
    return [see, answer]


@pytest.mark.parametrize(("lesson", "at"), STEPS)
def test_every_condition_is_a_fact_and_the_point_of_a_step_comes_true(lesson: Lesson, at: int) -> None:
    found = facts(lesson, at, records.read(lesson.steps[at].record))
    used: dict[str, set[str]] = {}
    for language in LANGUAGES:
        with speaking(language):
            whole = "\n".join(prose.paragraphs(HOME, lesson.word, str(at + 1)))
        used[language] = {one[1] for one in texts.CONDITION.finditer(whole)}
    assert used["ko"] == used["en"]
    for name in used["en"]:
        assert isinstance(found[name], bool), f"{name}: {found[name]!r}"
        assert found[name], f"{name} does not hold here"


def unconditional(lesson: Lesson, at: int) -> list[str]:
    """Its sentences that compare, outside all conditions."""
    plain = [texts.CONDITION.sub("", text) for text in told(lesson, at)]
    sentences = [one.strip() for text in plain for one in re.split(r"(?<=[.?!:;]) ", text)]
    return [one for one in sentences if COMPARES.search(one)]


@pytest.mark.parametrize(("lesson", "at"), STEPS)
def test_a_sentence_that_compares_without_a_condition_is_true(lesson: Lesson, at: int) -> None:
    found = facts(lesson, at, records.read(lesson.steps[at].record))
    for sentence in unconditional(lesson, at):
        check = checked(lesson, at, sentence)
        assert check is not None, f"{lesson.word} {at + 1} needs a condition or a check: {sentence}"
        assert check(found), sentence


def checked(lesson: Lesson, at: int, sentence: str) -> Callable[[Mapping[str, Any]], bool] | None:
    named = (
        check
        for (word, number, begins), check in UNCONDITIONAL.items()
        if (word, number) == (lesson.word, at + 1) and sentence.startswith(begins)
    )
    return next(named, None)


@pytest.mark.slow
@pytest.mark.parametrize("text", OTHERS)
def test_what_is_said_of_other_texts_is_so_too(text: str) -> None:
    """Steps on the first record, with another text that has the words which they ask about, say the truth."""
    pytest.importorskip("torch")
    import bartviz

    record = bartviz.capture(bartviz.load("bart-tiny-en-de"), text, values=True)
    said = 0
    for lesson in LESSONS:
        for at, step in enumerate(lesson.steps):
            if step.record != "start" or (step.own is not None and step.own(record)):
                continue
            try:
                found = facts(lesson, at, record)
            except (LookupError, ValueError, StopIteration):  # this text has not the words that the step asks about
                continue
            said += 1
            for language in LANGUAGES:
                with speaking(language):
                    whole = [texts.filled(one, found) for one in told(lesson, at)]
                assert not re.search(r"[{}]|\w\? ", whole[1]), whole
            for sentence in unconditional(lesson, at):
                check = checked(lesson, at, sentence)
                assert check is not None
                assert check(found), f"{lesson.word} {at + 1}, of “{text}”: {sentence}"
    assert said > 25
