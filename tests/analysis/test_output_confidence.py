"""Confidence in an output: by hand, by the mode of decoding, and on the shipped translator."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import pytest

import bartviz
from bartviz.analysis.output_confidence import UNSURE, notice, output_confidence
from bartviz.models.model import Model
from bartviz.record.record import Record
from bartviz.record.steps import Candidate, Step
from tests.support import loaded, stand_in

OUTPUT = ("<s>", "Ich", " kau", "fe", ".", "</s>")
BY_HAND = (0.9, 0.5, 0.4, 0.5, 0.8, 1.0)  # "kaufe" is 0.4 x 0.5
# Sentences that the translator gets wrong, and plain ones that it gets right.
WRONG = (
    "The cobbler mended the worn-out boots.",
    "The blacksmith sharpened the scythe.",
    "We toasted marshmallows over the campfire.",
    "The plumber fixed the leaking faucet.",
)
RIGHT = ("I want to buy a car.", "Where is the train station?", "My brother is older than me.")


def record(mode: str | None = "greedy", forced: tuple[int, ...] = (0,), shares: tuple[float, ...] = BY_HAND) -> Record:
    """A text whose tokens have these probabilities; those of ``forced`` were decided by a rule."""
    made = stand_in.record(output=OUTPUT)
    steps = tuple(
        Step(row, row, Candidate(row, label, share, 0.0), (), 1.0, math.log(share), "forced" if row in forced else None)
        for row, (label, share) in enumerate(zip(OUTPUT, shares, strict=True))
    )
    settings = {} if mode is None else {"mode": mode}
    return replace(made, steps=steps, target_text="Ich kaufe.", provenance=replace(made.provenance, settings=settings))


def test_the_mean_and_the_least_sure_words_by_hand() -> None:
    found = output_confidence(record())
    assert found is not None
    assert found.tokens == 5  # the end token too, the forced one not
    assert found.mean == pytest.approx((0.5 * 0.4 * 0.5 * 0.8 * 1.0) ** (1 / 5))
    ((word, share),) = found.least  # "Ich" has 0.5, which is not below one half
    assert word == "kaufe"
    assert share == pytest.approx(0.2)
    assert found.unsure
    assert not found.drawn


def test_a_text_is_unsure_below_three_quarters_and_not_at_them() -> None:
    at = output_confidence(record(shares=(1.0, *(UNSURE + 1e-9,) * 5)))
    below = output_confidence(record(shares=(1.0, *(UNSURE - 1e-3,) * 5)))
    assert at is not None
    assert below is not None
    assert not at.unsure
    assert below.unsure
    assert "mean of 0.74;" in notice(record(shares=(1.0, *(UNSURE - 1e-3,) * 5)))  # never rounded up to the limit
    assert notice(record(shares=(1.0, *(0.76,) * 5))) == ""


def test_the_notice_with_and_without_numbers() -> None:
    words = "The model was unsure of this text: it may be wrong. Least sure: “kaufe”."
    assert notice(record(), numbers=False) == words
    assert notice(record()) == (
        "The model was unsure of this text: it may be wrong. Least sure: “kaufe” (20%). The probabilities of its 5 "
        "tokens have a geometric mean of 0.60; this line appears below 0.75."
    )


@pytest.mark.parametrize("mode", ["given target", "one pass", "ablated", "edited", None])
def test_a_text_that_this_run_did_not_choose_has_no_confidence(mode: str | None) -> None:
    assert output_confidence(record(mode)) is None
    assert notice(record(mode)) == ""


def test_rules_choose_nothing() -> None:
    assert output_confidence(record(forced=(0, 1, 2, 3, 4, 5))) is None
    found = output_confidence(record(forced=(0, 2)))  # of "kaufe" only the second half was the model's choice
    assert found is not None
    assert found.least == (("Ich", 0.5), ("kaufe", 0.5))


def test_a_drawn_text_is_called_drawn() -> None:
    said = notice(record("sampling"))
    assert said.startswith("This text was sampled at random, and the model gave it little probability.")
    assert "unsure" not in said


def test_where_words_are_sure_the_sign_that_is_not_is_named() -> None:
    found = output_confidence(record(shares=(1.0, 0.99, 0.99, 0.99, 0.1, 0.9)))
    assert found is not None
    assert [word for word, _share in found.least] == ["."]


def test_an_encoder_writes_nothing() -> None:
    assert output_confidence(stand_in.record("encoder")) is None


@pytest.mark.parametrize("family", ["bart", "gpt2", "t5"])
def test_every_model_that_writes(family: str) -> None:
    made = bartviz.decode(loaded.model(family), "The cat is going", max_new_tokens=4)
    found = output_confidence(made)
    assert found is not None
    free = [step for step in made.steps if step.rule is None]
    assert found.mean == pytest.approx(math.prod(step.chosen.probability for step in free) ** (1 / len(free)), rel=1e-4)
    goes_on = "how to continue" in notice(made)
    assert goes_on == (family == "gpt2" and found.unsure)


@cache
def translator() -> Model:
    return bartviz.load("bart-tiny-en-de")


@pytest.mark.slow
@pytest.mark.parametrize("text", WRONG)
def test_mistakes_of_the_translator_are_flagged(text: str) -> None:
    made = bartviz.decode(translator(), text)
    assert "it may be wrong" in notice(made)
    words = output_confidence(made)
    assert words is not None
    assert all(word in (made.target_text or "") for word, _share in words.least)


@pytest.mark.parametrize("text", RIGHT)
def test_plain_sentences_are_not(text: str) -> None:
    assert notice(bartviz.decode(translator(), text)) == ""


@pytest.mark.slow
def test_beams_drawn_texts_given_ones_and_branches_of_the_translator() -> None:
    model, text = translator(), WRONG[0]
    greedy = bartviz.decode(model, text)
    beams = bartviz.decode(model, text, beams=4)
    found = output_confidence(beams)
    assert found is not None
    free = [step.log_probability for step in beams.steps if step.rule is None]  # the path that won
    assert found.mean == pytest.approx(math.exp(sum(free) / len(free)))
    assert "sampled at random" in notice(bartviz.decode(model, text, sample=bartviz.Sampling(seed=1)))
    assert notice(bartviz.capture(model, text, target=greedy.target_text)) == ""
    branch = bartviz.branch(model, greedy, 4, " Wie")
    own = output_confidence(branch)
    assert own is not None
    assert own.tokens == sum(step.rule is None for step in branch.steps) < len(branch.steps)
