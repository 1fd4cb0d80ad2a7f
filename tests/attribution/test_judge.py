"""One text judged: its numbers against the eager network, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import bartviz
from bartviz.analysis.verdicts import ALIKE, BETTER, WORSE
from bartviz.analysis.words import words
from bartviz.attribution.attribute import COMPUTED
from bartviz.attribution.erasure import replacement
from bartviz.attribution.judge import FEWEST, judge, without
from bartviz.attribution.question import Parts, Question, asked
from bartviz.attribution.reading import Reading
from bartviz.attribution.removal import OPERATORS, Removal
from bartviz.corpus.shipped import NAMES
from bartviz.errors import SettingError, TextError
from tests.attribution import subjects
from tests.support import loaded, networks

GIVEN: dict[str, Any] = {"token": None, "contrast": None, "cancelled": lambda: False}
CAR = "I want to buy a car."


def inverted(question: Question) -> Parts:
    return Parts(-COMPUTED["leave-one-out"](question).source)


@pytest.mark.slow
@pytest.mark.some("bart", "t5", "marian", "gpt2", "bert", "distilbert")
@pytest.mark.parametrize("family", networks.FAMILIES)
@pytest.mark.parametrize("operator", ["delete", "mask"])
def test_a_probability_is_that_of_the_eager_network_on_the_shorter_text(family: str, operator: Any) -> None:
    model, one, module = loaded.model(family), subjects.record(family), subjects.network(family)
    rows, ids = subjects.steps(family)
    last = len(rows) - 1
    reading = Reading.of(asked(model, one, step=last, **GIVEN))
    removal = Removal(reading, operator, np.random.default_rng(0))
    gone = np.zeros((2, len(reading.words)), np.bool_)
    gone[1, [0, -1]] = True
    values = removal.values(gone)[:, 0]
    source, row = one.source.ids.tolist(), rows[last]
    if one.cross is None and model.info.kind != "encoder":
        source = source[: row + 1]
    marked = [False] * len(source)
    for word in (reading.words[0], reading.words[-1]):
        for token in range(word.start, word.end):
            marked[token] = True
    if operator == "mask":
        changed = [replacement(model) if mark else token for token, mark in zip(source, marked, strict=True)]
    else:
        changed = [token for token, mark in zip(source, marked, strict=True) if not mark]
        if one.cross is None:
            row = sum(not mark for mark in marked[: row + 1]) - 1
    with torch.no_grad():
        whole = subjects.log_p(module, subjects.given(one), rows, ids)[last].exp()
        less = subjects.log_p(module, subjects.given(one, np.array(changed)), [row], ids[-1:])[0].exp()
    np.testing.assert_allclose(values, [whole, less], rtol=2e-3, atol=1e-6)


@pytest.mark.slow
def test_the_steps_of_a_text_in_one_pass_are_those_of_each_alone() -> None:
    model, one = loaded.model("bart"), subjects.record("bart")
    question = asked(model, one, step=None, **GIVEN)
    reading = Reading.of(question)
    sets = np.random.default_rng(0).random((6, len(reading.words))) < 0.5
    together = Removal(reading, "delete", np.random.default_rng(0)).values(sets)
    for step in range(len(question.rows)):
        alone = Reading.of(question, slice(step, step + 1))
        np.testing.assert_allclose(
            Removal(alone, "delete", np.random.default_rng(0)).values(sets)[:, 0],
            together[:, step],
            rtol=1e-3,
            atol=1e-7,
        )


@pytest.mark.slow
@pytest.mark.parametrize("operator", OPERATORS)
def test_leave_one_out_is_better_than_chance_and_inverted_it_is_worse(operator: Any) -> None:
    model = bartviz.load("bart-tiny-en-de")
    own = {
        "right": COMPUTED["leave-one-out"],
        "inverted": inverted,
        "nothing": lambda q: Parts(np.zeros((6, 9), np.float32)),
    }
    found = judge(model, CAR, own, operator=operator)
    assert found["right"].verdict == BETTER
    assert found["inverted"].verdict == WORSE
    assert found["nothing"].verdict == ALIKE
    assert found.tokens[4] == "kaufen"
    assert found.words[3] == "buy"
    assert found["right"].scores[4].argmax() == 3
    assert found.values[4] > 0.9
    table = found.to_dataframe()
    assert table.verdict.tolist() == [BETTER, WORSE, ALIKE]
    assert (table.rate >= table.p - 1e-12).all()


@pytest.mark.slow
@pytest.mark.parametrize("family", ["bart", "gpt2", "bert"])
def test_places_are_those_of_the_words_of_an_attribution(family: str) -> None:
    model, one = loaded.model(family), subjects.record(family)
    found = judge(model, one, ["gradient x input"], orders=20)
    labels = bartviz.attribute(model, one, method="gradient x input").words().source.labels
    assert found.words == tuple(labels[place] for place in found.places)
    scores = found["gradient x input"].scores
    assert scores.shape == (len(found.steps), len(found.words))
    unread = np.isnan(scores)
    assert unread.any() == (family == "gpt2")  # a decoder's steps do not read what comes after them
    assert not unread[-1].any()


@pytest.mark.slow
def test_without_the_word_another_one_is_written() -> None:
    model = bartviz.load("bart-tiny-en-de")
    found = without(model, CAR, [4], step=5, operator="delete")
    assert (found.token, found.read) == ("kaufen", "I want to a car.")
    assert found.written_before[0] == "kaufen"
    assert found.written_before[1] == pytest.approx(found.before, abs=1e-5)
    assert found.written_after[0] != "kaufen"
    again = bartviz.capture(model, found.read, target="Ich möchte ein Auto kaufen.")
    assert np.exp(again.steps[5].log_probability) == pytest.approx(found.after, rel=1e-3)
    nothing = without(model, CAR, [], step=5)
    assert nothing.before == nothing.after
    assert nothing.read == CAR


@pytest.mark.slow
def test_a_guess_is_a_word_and_never_the_one_that_is_missing() -> None:
    translator, denoiser, masked = (bartviz.load(name) for name in NAMES)
    for model, text, filler in (
        (translator, CAR, None),
        (translator, CAR, masked),
        (denoiser, CAR, None),
        (masked, "I want to <mask> a car.", None),
    ):
        kept = [word.text for word in words(bartviz.capture(model, text, allow_special=True).source)][1:-1]
        for place in (1, 2):  # I, want
            found = without(model, text, [place], operator="fill-in", filler=filler)
            read = found.read.replace(str(model.tokenizer.mask_token), " <mask>").split()
            assert read[place - 1].isalpha()
            assert read[place - 1].lower() != kept[place - 1].lower()


WHAT: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "a method": ({"methods": ["magic"]}, SettingError, "no method magic"),
    "an operator": ({"operator": "burn"}, SettingError, "no operator burn: choose delete, mask, exchange or fill-in"),
    "a measure": ({"measure": "beauty"}, SettingError, "no measure beauty: choose comprehensiveness"),
    "a filler": ({"operator": "fill-in"}, SettingError, "fills no masks of its own"),
    "a wrong filler": (
        {"operator": "fill-in", "filler": loaded.model("gpt2")},
        SettingError,
        "filled by a model that fills masks",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WHAT)
def test_what_is_not_there_is_refused(name: str) -> None:
    options, kind, said = WHAT[name]
    with pytest.raises(kind, match=said):
        judge(loaded.model("bart"), subjects.record("bart"), **({"methods": ["mean attention"]} | options))


@pytest.mark.slow
def test_too_few_words_and_a_word_that_stays_are_refused() -> None:
    model = bartviz.load("bart-tiny-en-de")
    with pytest.raises(TextError, match=f"Fewer than {FEWEST} words"):
        judge(model, "Go!")
    with pytest.raises(SettingError, match=r"Word 0 cannot be taken away: choose of 1 \(I\), 2 \(want\)"):
        without(model, CAR, [0])


@pytest.mark.parametrize("family", ["bart", "t5"])
def test_an_output_without_words_is_refused(family: str) -> None:
    model, one = loaded.model(family), subjects.record(family)
    assert one.output is not None
    silent = replace(one, output=replace(one.output, special=np.ones(len(one.output), np.bool_)))
    with pytest.raises(TextError, match="wrote no word here"):
        judge(model, silent, ["mean attention"])
