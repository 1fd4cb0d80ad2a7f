"""A second run: what a model left verifies, and nothing that a record shows can be changed without being noticed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import bartviz
from bartviz.errors import RecordError, WeightsOnlyError
from bartviz.experiments import verify as experiment
from bartviz.experiments.same_texts import other_tokens
from bartviz.experiments.verify import NOT_COMPARED, Verification
from bartviz.models.model import Model
from bartviz.record.attention import Attention, Kind
from bartviz.record.beam_tree import BeamTree
from bartviz.record.checks import Check
from bartviz.record.record import Provenance, Record
from bartviz.record.steps import Step
from bartviz.run.rerun import rerun
from bartviz.text.tokens import Tokens
from tests.support import loaded, networks, tampered
from tests.support.tampered import another

TEXT = "We have been waiting for the bus."
SAMPLING = bartviz.Sampling(temperature=1.2, top_k=40, seed=3)


@pytest.fixture(scope="module")
def model() -> Model:
    return loaded.model("bart")


@pytest.fixture(scope="module")
def greedy(model: Model) -> Record:
    return bartviz.decode(model, TEXT, max_new_tokens=7, values=True)


@pytest.fixture(scope="module")
def searched(model: Model) -> Record:
    return bartviz.decode(model, TEXT, max_new_tokens=6, beams=3)


@pytest.fixture(scope="module")
def drawn(model: Model) -> Record:
    return bartviz.decode(model, TEXT, max_new_tokens=6, sample=SAMPLING)


def listed(kind: str, field: str) -> bool:
    """Whether a field is in the list of what is not compared; the checks of the run are, with their fields."""
    return kind == "Check" or any(of.__name__ == kind and field in names for of, names in NOT_COMPARED.items())


def noticed(model: Model, record: Callable[[], Any]) -> bool:
    """Whether a record cannot be made, is not sound, or does not verify."""
    try:
        made = record()
    except RecordError:
        return True
    return not made.sound or not bartviz.verify(model, made)


def left_by(family: str, how: str) -> Record:
    model = loaded.model(family)
    if how == "read":
        target = "a bus" if family in networks.ENCODER_DECODERS else None
        return bartviz.capture(model, TEXT, target=target, values=True)
    ways: dict[str, dict[str, Any]] = {"searched": {"beams": 3}, "drawn": {"sample": SAMPLING}}
    options = ways.get(how, {"values": True})
    return bartviz.decode(model, TEXT, max_new_tokens=5, **options)


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "how"),
    [
        ("bart", "written"),
        ("bart", "searched"),
        ("bart", "drawn"),
        ("gpt2", "written"),
        ("umt5", "read"),  # its layers differ in their bias
        ("bert", "read"),
        ("gemma2", "read"),  # a cap and windows
        ("gpt_oss", "read"),  # sinks
    ],
)
def test_no_field_of_a_record_changes_unnoticed_unless_it_is_listed(family: str, how: str) -> None:
    model, record = loaded.model(family), left_by(family, how)
    assert record.sound
    assert bartviz.verify(model, record)
    unnoticed = [
        f"{kind}.{field}"
        for kind, field, made in tampered.changes(record)
        if not listed(kind, field) and not noticed(model, made)
    ]
    assert unnoticed == []


def test_the_list_of_what_is_not_compared_names_fields_and_says_why(model: Model, greedy: Record) -> None:
    for of, names in NOT_COMPARED.items():
        assert names.keys() <= {field.name for field in fields(of)}
    reasons = {reason for names in NOT_COMPARED.values() for reason in names.values()}
    assert reasons <= set(bartviz.verify(model, greedy).not_compared)


Change = Callable[[Record], Record]
Array = NDArray[Any]


def array(kind: Kind, name: str, change: Callable[[Array], Array]) -> Change:
    def changed(record: Record) -> Record:
        attention = record.attention(kind)
        parts = {name: change(np.array(getattr(attention, name))), "borrowed": False}
        return another(record, **{kind: resampled(another(attention, **parts))})

    return changed


def resampled(attention: Attention) -> Attention:
    """The attention with the kernel's output that its weights and values give, as a forger would write it."""
    if attention.sample is None or attention.v is None:
        return attention
    sample = attention.sample
    output = np.stack(
        [
            np.stack(
                [
                    attention.head(layer, head)[sample.rows[layer]] @ attention.v[layer, head]
                    for head in sample.heads[layer]
                ]
            )
            for layer in range(attention.shape[0])
        ]
    )
    return replace(attention, sample=replace(sample, output=output.astype(np.float32)))


def of(kind: Kind, **change: Any) -> Change:
    return lambda record: another(record, **{kind: resampled(another(record.attention(kind), **change))})


def step(number: int, change: Callable[[Step], Step]) -> Change:
    def changed(record: Record) -> Record:
        steps = list(record.steps)
        steps[number] = change(steps[number])
        return replace(record, steps=tuple(steps))

    return changed


def certain(record: Record) -> Record:
    """Every step 99.99% sure, with numbers that agree with each other."""

    def sure(one: Step) -> Step:
        log_z, rest = one.chosen.logit + 1e-4, 1 - math.exp(-1e-4)
        others = [c for c in one.candidates if c.token_id != one.chosen.token_id]
        low = one.chosen.logit - 12
        chosen = replace(one.chosen, probability=math.exp(-1e-4))
        made = [replace(c, logit=low - n, probability=math.exp(low - n - log_z)) for n, c in enumerate(others)]
        entropy = rest * math.log2(record.model.vocabulary / rest) * 0.5
        return replace(one, chosen=chosen, candidates=(chosen, *made), entropy=entropy, log_probability=-1e-4)

    return replace(record, steps=tuple(map(sure, record.steps)))


def candidate(number: int, place: int, **change: Any) -> Change:
    def changed(one: Step) -> Step:
        candidates = list(one.candidates)
        candidates[place] = replace(candidates[place], **change)
        return replace(one, candidates=tuple(candidates))

    return step(number, changed)


def others_exchanged(one: Step) -> Step:
    """The names and ids of two candidates exchanged, their numbers kept."""
    a, b = one.candidates[1:3]
    first, second = replace(a, token_id=b.token_id, label=b.label), replace(b, token_id=a.token_id, label=a.label)
    return replace(one, candidates=(one.candidates[0], first, second, *one.candidates[3:]))


def less_sure(one: Step) -> Step:
    """One candidate ten times less probable, its logit in agreement."""
    last = one.candidates[-1]
    less = replace(last, probability=last.probability / 10, logit=last.logit - math.log(10))
    return replace(one, candidates=(*one.candidates[:-1], less))


def settings(**change: object) -> Change:
    return lambda record: replace(
        record, provenance=replace(record.provenance, settings={**record.provenance.settings, **change})
    )


def both(*changes: Change) -> Change:
    def changed(record: Record) -> Record:
        for change in changes:
            record = change(record)
        return record

    return changed


def exchanged(a: Array) -> Array:
    return a[:, np.r_[1, 0, 2 : a.shape[1]]]


def exchanged_outputs(a: Array) -> Array:
    return a[:, :, np.r_[1, 0, 2 : a.shape[2]]]


def first_head(a: Array, factor: float) -> Array:
    a[-1, :, 0] *= factor
    return a


def noise(a: Array) -> Array:
    return a + np.random.default_rng(0).normal(size=a.shape).astype(np.float32)


def node(number: int, **change: Any) -> Change:
    def changed(record: Record) -> Record:
        assert record.beams is not None
        nodes = list(record.beams.nodes)
        nodes[number] = replace(nodes[number], **change)
        return replace(record, beams=replace(record.beams, nodes=tuple(nodes)))

    return changed


def searched_tree(record: Record) -> BeamTree:
    assert record.beams is not None
    return record.beams


def named(**change: Any) -> Change:
    """The last token of the tree changed."""
    return lambda record: node(-1, token=another(searched_tree(record).nodes[-1].token, **change))(record)


def tree(**change: Any) -> Change:
    return lambda record: replace(record, beams=another(searched_tree(record), **change))


def doubled(record: Record) -> Record:
    assert record.beams is not None
    nodes = tuple(replace(one, score=2 * one.score) for one in record.beams.nodes)
    return replace(record, beams=replace(record.beams, nodes=nodes))


def drawn_at(p: float) -> Change:
    return step(1, lambda one: replace(one, chosen=replace(one.chosen, filtered=p)))


def one_column(record: Record) -> Array:
    _, heads, rows, columns = record.attention("cross").shape
    bias = np.zeros((heads, rows, columns), np.float32)
    bias[:, :, 2] = 20
    return bias


def with_tokens(record: Record, **change: Any) -> Record:
    """The source tokens changed wherever they are."""
    source = replace(record.source, **change)
    encoder = replace(record.attention("encoder"), query=source, key=source)
    return replace(record, encoder=encoder, cross=replace(record.attention("cross"), key=source))


def checked_by(record: Record, *checks: Check) -> Record:
    kept = [one for one in record.provenance.checks if one.name not in {check.name for check in checks}]
    return replace(record, provenance=replace(record.provenance, checks=(*(kept if checks else ()), *checks)))


GREEDY: dict[str, Change] = {
    "scale negated": lambda r: of("cross", scale=-r.attention("cross").scale)(r),
    "scale times six": lambda r: of("cross", scale=6 * r.attention("cross").scale)(r),
    "scale one per cent": lambda r: of("cross", scale=1.01 * r.attention("cross").scale)(r),
    "a bias on one column": lambda r: of("cross", bias=one_column(r))(r),
    "a cap on the scores": of("cross", softcap=0.01),
    "sinks": lambda r: of("cross", sinks=np.full(r.attention("cross").shape[:2], 9, np.float32))(r),
    "windows of one": lambda r: of("encoder", windows=np.ones(r.attention("encoder").shape[0], np.int64))(r),
    "all queries random": array("decoder", "q", noise),
    "all keys random": array("encoder", "k", noise),
    "two heads exchanged": both(array("encoder", "q", exchanged), array("encoder", "k", exchanged)),
    "values of all heads": array("encoder", "v", noise),
    "W_O of one head times five": array("cross", "out", lambda a: first_head(a, 5)),
    "W_O of one head zero": array("cross", "out", lambda a: first_head(a, 0)),
    "W_O negated": array("encoder", "out", np.negative),
    "W_O of two heads exchanged": array("cross", "out", exchanged_outputs),
    "what the projection adds": array("cross", "out_bias", lambda a: a + 3),
    "another source text": lambda r: replace(r, source_text="We have been waiting for the car."),
    "another source text that is said to be edited": both(
        lambda r: replace(r, source_text="We have been waiting for the car."), settings(mode="edited")
    ),
    "another target text": lambda r: replace(r, target_text="I hate cars and everyone."),
    "another target text that is said to be given": both(
        lambda r: replace(r, target_text="I hate cars and everyone."), settings(mode="given target")
    ),
    "case of the text": lambda r: replace(r, source_text=r.source_text.upper()),
    "a second sentence": lambda r: replace(r, pair_text="And another one."),
    "all steps certain": certain,
    "candidates exchanged": step(1, others_exchanged),
    "another candidate": candidate(1, 2, token_id=5, label="x"),
    "a candidate of no vocabulary": candidate(1, 2, token_id=10**6),
    "the name of a candidate": candidate(1, 2, label="nonsense"),
    "a candidate ten times less probable": step(1, less_sure),
    "entropy a little lower": step(1, lambda one: replace(one, entropy=one.entropy - 0.3)),
    "entropy a little higher": step(1, lambda one: replace(one, entropy=one.entropy + 0.05)),
    "log p": step(1, lambda one: replace(one, log_probability=one.log_probability / 2)),
    "a rule that is none": step(1, lambda one: replace(one, rule="minimum length")),
    "positions": step(1, lambda one: replace(one, position=one.position + 5)),
    "a step dropped": lambda r: replace(r, steps=tuple(r.steps)[1:]),
    "the last step dropped": lambda r: replace(r, steps=tuple(r.steps)[:-1]),
    "a step doubled": lambda r: replace(r, steps=(*r.steps, r.steps[-1])),
    "steps reversed": lambda r: replace(r, steps=tuple(r.steps)[::-1]),
    "no steps": lambda r: replace(r, steps=()),
    "fewer candidates": step(1, lambda one: replace(one, candidates=one.candidates[:3])),
    "probabilities of drawing where nothing was drawn": drawn_at(0.5),
    "words joined": lambda r: with_tokens(r, words=tuple(None if w is None else 0 for w in r.source.words)),
    "a span over the whole text": lambda r: with_tokens(
        r, spans=tuple(span and (0, len(r.source_text)) for span in r.source.spans)
    ),
    "special tokens": lambda r: with_tokens(r, special=~r.source.special),
    "pieces": lambda r: with_tokens(r, pieces=tuple("x" for _ in r.source.pieces)),
    "another size": lambda r: replace(r, model=replace(r.model, parameters=139_420_416)),
    "why the text ended": lambda r: replace(
        r,
        provenance=replace(
            r.provenance, stopped="end token" if r.provenance.stopped != "end token" else "length limit"
        ),
    ),
    "a beam search": settings(mode="beam search", beams=8),
    "rules": settings(rules=("minimum length",)),
    "a limit from the file": lambda r: checked_by(r, Check("the network's logits", 7.0, 1e308)),
    "an invented check": lambda r: checked_by(r, *r.provenance.checks, Check("verified by the authors", 0.0, 1.0)),
    "no checks": checked_by,
}
SEARCHED: dict[str, Change] = {
    "all scores doubled": doubled,
    "one score": node(-1, score=-0.5),
    "one total": node(-1, total=-0.5),
    "text of a pruned hypothesis": node(1, text="I hate cars"),
    "state": node(1, state="pruned"),
    "rank": node(1, rank=0),
    "rule of a hypothesis": node(1, rule="minimum length"),
    "label of a hypothesis": named(label="x"),
    "another hypothesis": named(token_id=5, label="x"),
    "probability of a hypothesis": named(probability=0.9),
    "length penalty": tree(length_penalty=2.0),
    "early stopping": tree(early_stopping="never"),
    "number of beams": tree(beams=8),
    "no tree": lambda r: replace(r, beams=None),
    "one hypothesis less": lambda r: tree(nodes=searched_tree(r).nodes[:-1])(r),
}
DRAWN: dict[str, Change] = {
    "probability of the drawn token": drawn_at(0.99),
    "no probability of the drawn token": step(1, lambda one: replace(one, chosen=replace(one.chosen, filtered=None))),
    "probability of another token": candidate(1, 0, filtered=0.01),
    "another seed": settings(seed=4),
    "another temperature": settings(temperature=0.7),
    "said to be greedy": settings(mode="greedy"),
}


def saved(record: Record, folder: Path) -> Record | None:
    """The record saved by the library, so with a digest of its own, and opened again; None if it is refused."""
    record.save(folder / "changed.safetensors")
    try:
        return bartviz.open(folder / "changed.safetensors")
    except RecordError:
        return None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("of_record", "name"),
    [
        (of_record, name)
        for of_record, made in {"greedy": GREEDY, "searched": SEARCHED, "drawn": DRAWN}.items()
        for name in made
    ],
)
def test_what_was_tampered_with_is_refused_or_not_sound_or_does_not_verify(
    model: Model, of_record: str, name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    record = request.getfixturevalue(of_record)
    change = {"greedy": GREEDY, "searched": SEARCHED, "drawn": DRAWN}[of_record][name]
    try:
        changed = change(record)
    except RecordError:
        return
    assert changed != record
    opened = saved(changed, tmp_path)
    assert opened is None or not opened.sound or not bartviz.verify(model, opened)


@pytest.mark.slow
def test_every_record_that_a_model_leaves_verifies(model: Model, greedy: Record, searched: Record) -> None:
    """Written, branched, given, edited, scaled, padded: however it was made."""
    made = [
        greedy,
        searched,
        bartviz.branch(model, greedy, 2, 9),
        bartviz.branch(model, bartviz.branch(model, searched, 2, 9), 4, 11),
        bartviz.decode(model, TEXT, max_new_tokens=6, force={1: 9, 3: 12}, beams=2),
        bartviz.decode(model, TEXT, max_new_tokens=6, ablate={"decoder L0H1": 0.5}, values=True),
        bartviz.decode(model, TEXT, max_new_tokens=9, min_new_tokens=8, no_repeat_ngram_size=2),
        bartviz.decode(model, TEXT, max_new_tokens=6, use_rules=False, top_k=1),
        bartviz.capture(model, TEXT, target="한국어 👩‍👩‍👧 bus"),
        *bartviz.capture_batch(model, [TEXT, "Stop."], targets=["Halt.", "Der Bus ist da."], padded=True),
        *bartviz.decode_batch(model, [TEXT, "Stop."], max_new_tokens=5),
        *(bartviz.edit(model, greedy, place, 57).changed for place in (0, 3)),
        *(bartviz.edit(model, greedy, place, 57, part="target").changed for place in (0, 3)),
        bartviz.ablate(model, greedy, ["cross L0H1"], write=False).changed,
    ]
    for number, record in enumerate(made):
        assert record.sound, number
        assert bartviz.verify(model, record), (number, bartviz.verify(model, record))


@pytest.mark.slow
def test_two_nearly_equal_choices_are_no_fault(model: Model, greedy: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another machine may round a tie the other way; a token that is clearly second is a fault."""
    plain = rerun

    def other(short: float) -> Callable[..., Any]:
        def made(*args: Any) -> Any:
            result = plain(*args)
            choices = [replace(result.choices[0], token=result.choices[0].token + 1), *result.choices[1:]]
            return replace(result, choices=choices, short=[short, *result.short[1:]])

        return made

    monkeypatch.setattr(experiment, "rerun", other(1e-6))
    assert bartviz.verify(model, greedy)
    monkeypatch.setattr(experiment, "rerun", other(0.5))
    failed = [check.name for check in bartviz.verify(model, greedy) if not check.passed]
    assert failed == ["choices and rules of decoding"]


def test_tokens_of_a_text_of_another_length_are_not_named(model: Model, greedy: Record) -> None:
    """It may be a hundred thousand letters, of a record that somebody has sent."""

    def named() -> Tokens:
        raise AssertionError("every token was named")

    ids = np.arange(len(greedy.source) + 7)
    made = Tokens.lazy(ids, np.zeros(len(ids), np.bool_), np.zeros(len(ids), np.int64), named)
    expected = 7 + sum(int(one) != n for n, one in enumerate(greedy.source.ids))
    assert other_tokens(greedy.source, made) == other_tokens(made, greedy.source) == expected


def test_the_result_is_true_only_if_every_check_passed() -> None:
    passed, failed = Check("mask", 0.0, 0.0, "encoder"), Check("text", 2.0, 0.0)
    unmeasured = Check("file", None, 0.0)
    assert Verification((passed,))
    for checks in ((passed, failed), (failed,), (unmeasured,), ()):
        assert not Verification(checks)
    result = Verification((passed, failed), ("the weather",))
    assert (list(result), len(result), result[1], result[:1]) == ([passed, failed], 2, failed, (passed,))
    assert repr(result) == "<Verification: failed: text; not compared: the weather>"
    assert repr(Verification((passed,))) == "<Verification: 1 checks passed; not compared: nothing>"


def test_given_weights_have_no_model_to_run_again(model: Model) -> None:
    weights = np.full((1, 1, 2, 2), 0.5, np.float32)
    given = bartviz.from_attentions(weights, ["a", "b"])
    with pytest.raises(WeightsOnlyError):
        bartviz.verify(model, given)


def test_a_record_that_says_nothing_of_how_it_was_made_does_not_verify(model: Model, greedy: Record) -> None:
    assert not bartviz.verify(model, replace(greedy, provenance=Provenance()))


@pytest.mark.slow
@pytest.mark.parametrize("token", [10**6, -1])
def test_a_token_of_no_vocabulary_does_not_verify_even_where_it_was_opened(
    model: Model, greedy: Record, token: int, tmp_path: Path
) -> None:
    candidate(1, 2, token_id=token)(greedy).save(tmp_path / "x.safetensors")
    opened = bartviz.open(tmp_path / "x.safetensors", allow_unsound=True)
    assert not bartviz.verify(model, opened)
