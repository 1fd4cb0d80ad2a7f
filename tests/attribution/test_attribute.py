"""What may be asked, what is refused, and whether the methods find a cause that was planted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bartviz
from bartviz.analysis.attribution_methods import METHODS
from bartviz.attribution.attribute import COMPUTED
from bartviz.errors import Cancelled, SettingError
from tests.attribution import subjects
from tests.attribution.planted_cause import copier, permuted
from tests.support import loaded, networks


def test_every_method_is_described_and_computed() -> None:
    assert METHODS.keys() == COMPUTED.keys()
    assert all(method.formula and method.source for method in METHODS.values())
    assert {method.name for method in METHODS.values() if method.contrasts} == {
        "leave-one-out",
        "gradient x input",
        "contrast",
        "integrated gradients",
    }


WHAT: dict[str, tuple[dict[str, Any], str]] = {
    "a method": ({"method": "magic"}, "no method magic: choose leave-one-out, .* or best head"),
    "a step": ({"step": 99}, "no step 99 to explain: choose 0 to "),
    "a contrast by weights": (
        {"method": "mean attention", "contrast": 5},
        "leave-one-out, gradient x input, contrast or integrated",
    ),
    "a token id": ({"contrast": 10**6}, "not in the vocabulary"),
    "a second target": ({"target": "Ja."}, "has its output already"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WHAT)
def test_what_is_not_there_is_refused(name: str) -> None:
    options, said = WHAT[name]
    with pytest.raises(SettingError, match=said):
        bartviz.attribute(loaded.model("bart"), subjects.record("bart"), **options)


@pytest.mark.slow
def test_a_token_is_not_compared_with_itself_nor_a_record_with_another_model() -> None:
    one = subjects.record("bart")
    assert one.output is not None
    own = int(one.output.ids[one.steps[1].row])
    with pytest.raises(SettingError, match="compared with itself"):
        bartviz.attribute(loaded.model("bart"), one, step=1, contrast=own)
    with pytest.raises(SettingError, match="another model"):
        bartviz.attribute(loaded.model("bart", 1), one)


@pytest.mark.slow
def test_a_model_that_predicts_no_tokens_is_refused(tmp_path: Any) -> None:
    model = bartviz.load(networks.save("bert", tmp_path / "bare", architecture="BertModel"))
    with pytest.raises(SettingError, match="predicts no tokens"):
        bartviz.attribute(model, subjects.TEXT)


@pytest.mark.slow
@pytest.mark.parametrize(
    "architecture",
    [
        "BertForSequenceClassification",
        "BertForTokenClassification",
        "BertForQuestionAnswering",
        "BartForSequenceClassification",
    ],
)
def test_a_model_that_labels_is_refused_and_told_what_asks_for_labels(architecture: str, tmp_path: Any) -> None:
    family = architecture[:4].lower()
    model = bartviz.load(networks.save(family, tmp_path / "labels", architecture=architecture))
    with pytest.raises(SettingError, match=r"labels texts .* bartviz\.ablate"):
        bartviz.attribute(model, subjects.TEXT)
    one = bartviz.capture(model, subjects.TEXT)
    before, after = one.prediction, bartviz.ablate(model, one, ["encoder L0H0"], write=False).changed.prediction
    assert before is not None
    assert after is not None
    assert (before.logits != after.logits).any()


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_stopped_run_stops(method: str) -> None:
    with pytest.raises(Cancelled):
        bartviz.attribute(loaded.model("bart"), subjects.record("bart"), method=method, cancelled=lambda: True)


# Integrated gradients of a T5 take many points at every step: tests/attribution/test_gradients.py has one step of it.
COSTLY = ("t5", "integrated gradients")
CASES = [
    pytest.param(family, method, marks=[pytest.mark.thorough] if (family, method) == COSTLY else ())
    for family in (*subjects.WRITERS, "bert")
    for method in METHODS
]


@pytest.mark.some
@pytest.mark.slow
@pytest.mark.parametrize(("family", "method"), CASES)
def test_one_step_alone_has_the_numbers_that_it_has_among_all(family: str, method: str) -> None:
    model, one = loaded.model(family), subjects.record(family)
    every = bartviz.attribute(model, one, method=method)
    last = len(every.steps) - 1
    alone = bartviz.attribute(model, one, method=method, step=last)
    assert alone.steps.labels == every.steps.labels[-1:]
    np.testing.assert_array_equal(alone.rows, every.rows[-1:])
    near = 2e-2 * max(1.0, np.abs(every.values).max()) if method == "integrated gradients" else 2e-4
    np.testing.assert_allclose(alone.values, every.values[-1:], atol=near)
    if family == "gpt2":  # nothing of what comes after the step's own row
        assert not np.triu(every.values, 1 + int(every.rows[0])).any()


@pytest.mark.slow
def test_a_text_is_run_and_its_words_are_named() -> None:
    model = bartviz.load("bart-tiny-en-de")
    found = bartviz.attribute(model, "I want to buy a car.")
    output = bartviz.capture(model, "I want to buy a car.").output
    assert output is not None
    assert found.steps.labels == output.labels
    given = bartviz.attribute(model, "I want to buy a car.", "Ich will ein Auto.")
    assert [word for word in given.words().steps.labels if word.isalpha()] == ["Ich", "will", "ein", "Auto"]


@pytest.mark.slow
def test_at_a_gap_the_models_own_word_or_another_one_is_explained() -> None:
    model = bartviz.load("bert-tiny-en")
    own = bartviz.attribute(model, "A man is riding a <mask>.")
    assert len(own.steps) == 1
    other = bartviz.attribute(model, "A man is riding a <mask>.", "car")
    assert other.steps.labels == ("car",)
    assert other.explained[0] <= own.explained[0]


@pytest.mark.slow
def test_silenced_heads_stay_silent() -> None:
    """f is that of the record's own run, in which they were."""
    model = loaded.model("bart")
    heads = [f"encoder L{layer}H{head}" for layer in range(3) for head in range(4)]
    one = bartviz.capture(model, subjects.TEXT, target=subjects.TARGET, ablate=heads)
    found = bartviz.attribute(model, one, method="gradient x input")
    np.testing.assert_allclose(found.explained, [step.log_probability for step in one.steps], atol=1e-4)
    erased = bartviz.attribute(model, one)
    np.testing.assert_allclose(erased.explained, found.explained, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 4, 6])
def test_a_planted_cause_is_named(seed: int) -> None:
    """Each word has the one before it as its translation, and is copied from one position of the source: every method
    names that position, among the words, in every step. (Not the best head: the row that reads the start looks at
    special tokens here, so the start page takes the head for one that looks back.)"""
    model = copier(seed)
    one, chain = permuted(model, seed)
    for method in METHODS.keys() - {"best head"}:
        found = bartviz.attribute(model, one, method=method)
        for step, word in enumerate(chain[1:], start=2):
            (cause,) = np.flatnonzero(one.source.ids == word)
            spoken = np.where(one.source.special, -np.inf, found.values[step])
            assert spoken.argmax() == cause, (method, step)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("family", ["bart", "bert"])
def test_progress_is_told_and_never_goes_back(family: str, method: str) -> None:
    told: list[tuple[str, float | None]] = []
    model, one = loaded.model(family), subjects.record(family)
    bartviz.attribute(model, one, method=method, on_progress=lambda note, share: told.append((str(note), share)))
    assert {note for note, _share in told} == {f"Explaining by {method}"}
    shares = [share for _note, share in told if share is not None]
    assert shares == sorted(shares)
    assert all(0 <= share < 1 for share in shares)
    if METHODS[method].needs == "more passes":
        assert shares[0] == 0
        assert len(shares) > 1 or family == "bert"  # whose few words are one batch


@pytest.mark.slow
def test_gradients_stop_between_steps() -> None:
    """A pass back for each step follows the last pass of the tape, which is what asks elsewhere."""
    model, one = loaded.model("bart"), subjects.record("bart")

    def asked(**more: Any) -> int:
        times = 0

        def ask() -> bool:
            nonlocal times
            times += 1
            return False

        bartviz.attribute(model, one, method="gradient x input", cancelled=ask, **more)
        return times

    every = asked()
    assert every - asked(step=0) == len(one.steps) - 1
    left = iter([False] * (every - 1))
    with pytest.raises(Cancelled):
        bartviz.attribute(model, one, method="gradient x input", cancelled=lambda: next(left, True))
