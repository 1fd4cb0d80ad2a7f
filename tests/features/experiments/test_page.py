"""The experiments page as a script, on a real (small, random) model: texts, links and refusals."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import streamlit
from streamlit.testing.v1 import AppTest

import bartviz
from bartviz.analysis import ablation, sentence_words, start
from bartviz.experiments.ablation import ablate, ablate_sweep
from bartviz.experiments.edits import edit
from bartviz.features.experiments import parts_heads as heads
from bartviz.features.experiments import parts_token as token
from bartviz.features.experiments.parts import EXPERIMENTS
from bartviz.language import speaking
from bartviz.language.percentages import percent
from bartviz.models.model import Model
from bartviz.models.roots import default_roots
from bartviz.record.attention import Head
from bartviz.record.record import Record
from bartviz.serving import saved_records
from bartviz.serving.engine import Engine
from bartviz.teaching.explanations import explanation, parts
from tests.support.pages import App, tables
from tests.support.visits import words

pytestmark = pytest.mark.usefixtures("engine")
TEXT, TARGET = "The cat is sleeping on the sofa.", "Die Katze schläft auf dem Sofa."
Subject = tuple[Model, Record]


@pytest.fixture
def subject(root: Path, engine: Engine) -> Subject:
    model = bartviz.load("small-bart", roots=default_roots())
    return model, bartviz.capture(model, TEXT, target=TARGET)


def specs(app: AppTest) -> list[str]:
    return [chart.proto.spec for chart in app.get("plotly_chart")]


@pytest.mark.slow
def test_it_begins_with_the_head_of_the_first_picture(app: App, subject: Subject) -> None:
    """One sentence and two bars: the token whose probability that head changes most; no other head is measured."""
    model, record = subject
    head = start.ribbons(record).head
    page = app("experiments", record=record, level="beginner")
    assert not page.exception
    assert page.multiselect[0].value == [str(head)]
    found = ablate(model, record, [str(head)])
    assert found.before is not None
    assert found.after is not None
    change = np.exp(found.after.log_probability) - np.exp(found.before.log_probability)
    most = int(np.abs(change).argmax())
    was, now = (percent(float(np.exp(one.log_probability[most]))) for one in (found.before, found.after))
    token, way = f"“{found.targets[most]}”", "rises" if change[most] > 0 else "falls"
    ends = f"stays at {now}" if was == now else f"{way} from {was} to {now}"
    said = words(page)
    name = f"head {head.head} of layer {head.layer} ({sentence_words.attention(head.kind)})"
    assert f"Without {name}, the probability of {token} {ends}" in said
    assert "is the head pictured on the Start page" in said
    assert "lowers log p most" not in said
    assert not specs(page)


@pytest.mark.slow
def test_the_first_run_of_a_visit_begins_with_the_head_that_it_needs_most(app: App) -> None:
    record, model = saved_records.read(heads.RUN), bartviz.load("bart-tiny-en-de", roots=default_roots())
    sweep = ablate_sweep(model, record)
    assert sweep.heads[sweep.ranked()[0]] == heads.NEEDED
    page = app("experiments", record=record, level="beginner")
    assert page.multiselect[0].value == [str(heads.NEEDED)]
    moved = ablation.most_moved(ablate(model, record, [str(heads.NEEDED)]))
    assert moved is not None
    assert moved.was - moved.now > 0.1
    said = words(page)
    assert (record.target_text or "").replace(f" {moved.token} ", f" <b>{moved.token}</b> ", 1) in said
    name = f"head {heads.NEEDED.head} of layer {heads.NEEDED.layer} ({heads.NEEDED.kind} attention)"
    assert name in page.multiselect[0].options
    falls = f"the probability of “{moved.token}” falls from {percent(moved.was)} to {percent(moved.now)}"
    assert f"Without {name}, {falls}" in said
    found = ablate(model, record, [str(heads.NEEDED)])
    assert found.before is not None
    assert found.after is not None
    whole = [percent(float(np.exp(one.log_probability.sum()))) for one in (found.before, found.after)]
    assert (
        f"The probability of all its tokens together, special ones included, falls from {whole[0]} to {whole[1]}."
        in said
    )
    assert "Of all heads, this one matters most here." in said
    louder = words(app("experiments", record=record, level="beginner", factor="0.5"))
    assert "this one matters most" not in louder  # how much it needs a head is measured without that head
    several = words(app("experiments", record=record, level="beginner", silenced=["cross L3H1", "cross L1H4"]))
    assert "Without 2 heads, the probability of “" in several
    other = words(app("experiments", record=record, level="beginner", silenced="cross L3H1"))
    assert "this one matters most" not in other
    assert "This is the head pictured on the Start page" in other
    assert "has the same number" not in other
    for kind in ("encoder", "decoder"):
        namesake = words(app("experiments", record=record, level="beginner", silenced=f"{kind} L3H1"))
        assert "it has the same number, but belongs to the cross-attention." in namesake
    assert "the Start page" not in words(app("experiments", record=record, level="beginner", silenced="encoder L3H2"))


@pytest.mark.slow
def test_the_head_of_another_page_is_the_one_that_is_silenced(app: App, subject: Subject) -> None:
    first = start.head_of(subject[1], "decoder")
    other = Head("decoder", 1 - first.layer, 1 - first.head)
    page = app("heads", record=subject[1], kind="decoder", layer=str(other.layer), head=str(other.head))
    page.switch_page("pages/experiments.py").run()
    assert page.multiselect[0].value == [str(other)]


@pytest.mark.slow
def test_every_head_is_measured_and_the_costliest_is_a_press_away(app: App, subject: Subject) -> None:
    model, record = subject
    sweep = ablate_sweep(model, record)
    page = app("experiments", record=record)
    assert not page.exception
    best = sweep.heads[sweep.ranked()[0]]
    said = words(page)
    assert f"{best} lowers log p most" in said
    assert "Michel et al. 2019" in said
    simple = words(app("experiments", record=record, level="beginner", measure="log_probability"))
    assert "Orange: without it the model is less sure" in simple
    assert "nats" not in simple
    table: Any = tables(page)[0]
    np.testing.assert_allclose(
        table["log p change (nats)"], ablation.sweep_table(sweep)["log p change (nats)"], atol=1e-4
    )
    first = page.button(key=f"ablation_ranked_{sweep.ranked()[0]}")
    assert first.label == str(best)
    first.click().run()
    assert page.multiselect[0].value == [str(best)]
    assert f"With {best} silenced" in words(page)


@pytest.mark.parametrize(("language", "instead"), [("en", "is silenced instead"), ("ko", "대신 누른 헤드가 꺼지고")])
def test_who_does_what_the_beginner_is_told_silences_heads(language: str, instead: str) -> None:
    """The head of the first picture is silenced at first, and the first click takes its place."""
    best, other = {"x": 1, "y": 0}, {"x": 2, "y": 0}
    at_first = ["cross L0H1"]
    assert clicked(at_first, best, preset=at_first) == []
    assert clicked(at_first, other, preset=at_first) == ["cross L0H2"]
    assert clicked(at_first, other) == ["cross L0H1", "cross L0H2"]
    assert clicked(["cross L1H0"], other, preset=at_first) == ["cross L1H0", "cross L0H2"]
    with speaking(language):
        assert instead in explanation("ablation").beginner.split("**")[-1]


@pytest.mark.slow
def test_the_maps_of_all_heads_keep_their_title_when_one_is_chosen(app: App, subject: Subject) -> None:
    page = app("experiments", record=subject[1], level="beginner")
    label = "Which head matters most? Silence each in turn"
    page.session_state["folded_sweep"] = True
    page.run()
    assert "it is silenced instead" in words(page)
    assert "nats" not in words(page)
    assert "if before it is 100%" in words(page)
    next(button for button in page.button if "ablation_ranked_" in str(button.key)).click().run()
    assert not page.exception
    assert [part.proto.expanded for part in page.expander if part.proto.label == label] == [True]
    assert re.search("it is silenced instead|to silence it", words(page))
    assert "scale" not in words(page)


def clicked(chosen: list[str], cell: dict[str, int], *, preset: list[str] | None = None) -> list[str]:
    """The silenced heads after a click on a cell of the cross-attention's map; ``preset`` is the page's own choice."""
    chart = SimpleNamespace(selection=SimpleNamespace(points=[cell]))
    state = {heads.SILENCED: chosen, "worth_cross_0": chart, heads.PRESET: preset}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streamlit, "session_state", state)
        heads._clicked("worth_cross_0", "cross")
    after = state[heads.SILENCED]
    assert isinstance(after, list)
    return after


@pytest.mark.slow
def test_an_expert_puts_the_mean_in_a_heads_place(app: App, subject: Subject) -> None:
    model, record = subject
    page = app("experiments", record=record, silenced="cross L1H1", toward="mean", level="expert")
    assert not page.exception
    said = words(page)
    found = ablate(model, record, ["cross L1H1"], mean=True)
    assert ablation.notice(found) in said
    assert "With the mean of cross L1H1: “" in said
    assert ablation.sweep_notice(ablate_sweep(model, record, mean=True)) in said
    assert "replaced by the mean" not in words(app("experiments", record=record, silenced="cross L1H1", level="expert"))


@pytest.mark.slow
def test_the_link_names_heads_and_factor(app: App, subject: Subject) -> None:
    model, record = subject
    page = app("experiments", record=record, experiment="ablation", silenced="cross L1H1", factor="0.5", level="expert")
    assert page.multiselect[0].value == ["cross L1H1"]
    found = ablate(model, record, {"cross L1H1": 0.5})
    assert "With cross L1H1 multiplied by 0.5" in words(page)
    table: Any = tables(page)[1]
    np.testing.assert_allclose(table["p after"], np.exp(found.after.log_probability), atol=1e-5)  # type: ignore[union-attr]


@pytest.mark.slow
def test_what_is_compared_is_stated(app: App, subject: Subject) -> None:
    """A factor of 1; a record that was given its target; a record of a run with silenced heads."""
    model, record = subject
    said = words(app("experiments", record=record, silenced="cross L1H1", factor="1"))
    assert "a factor of 1 leaves each head unchanged" in said
    said = words(app("experiments", record=record, silenced="decoder L0H0", factor="0"))
    assert "a factor of 1" not in said
    assert "Above what it wrote" not in said
    assert ("Above what greedy search writes" in said) or ("still writes the same" in said)
    assert "made with scaled heads" not in said
    silenced = bartviz.capture(model, TEXT, target=TARGET, ablate=["cross L0H1"])
    for experiment in ("ablation", "edit"):
        said = words(app("experiments", record=silenced, experiment=experiment))
        assert "This record was made with scaled heads (cross L0H1 x 0)" in said


@pytest.mark.slow
def test_no_head_or_all_but_one_are_a_press_away(app: App, subject: Subject) -> None:
    _, record = subject
    page = app("experiments", record=record)
    kept = start.head_of(record, start.kind_of(record))
    (button,) = (button for button in page.button if button.label.startswith("All of L"))
    assert button.label.startswith(f"All of L{kept.layer} except H{kept.head}")
    button.click().run()
    others = [head for head in range(record.attention(kept.kind).shape[1]) if head != kept.head]
    assert page.multiselect[0].value == [f"{kept.kind} L{kept.layer}H{head}" for head in others]
    next(button for button in page.button if button.label == "None").click().run()
    assert page.multiselect[0].value == []
    assert not page.exception
    assert "With each head silenced in turn" in words(page)
    assert "No head is silenced: choose one" in words(page)


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.parametrize("experiment", ["ablation", "edit", "reach"])
@pytest.mark.parametrize(
    "query",
    [
        {"silenced": "cross L99H0", "factor": "1e9", "measure": "x", "mode": ""},
        {"position": "999", "changed": "-1", "felt": "abc", "window": "77", "side": "sideways", "moved": "<b>"},
    ],
)
def test_odd_links_are_clamped_to_the_record(
    app: App, subject: Subject, experiment: str, query: dict[str, str]
) -> None:
    page = app("experiments", record=subject[1], experiment=experiment, level="expert", **query)
    assert not page.exception
    assert specs(page)


def test_a_changed_target_leaves_the_encoder_alone(app: App, subject: Subject) -> None:
    model, record = subject
    page = app("experiments", record=record, experiment="edit", side="target", position="4", replace="#9")
    assert not page.exception
    found = edit(model, record, 4, 9, part="target")
    assert f"all {len(record.source)} encoder states stay bit-identical" in words(page)
    assert "The tokens before it cannot feel the change; those after it do." in words(page)
    assert found.before is not None
    assert found.after is not None
    turned = np.flatnonzero(found.before.best != found.after.best)
    said = "the likeliest word stays the same everywhere"
    if len(turned):
        said = f"“{found.before.labels[turned[0]]}” becomes “{found.after.labels[turned[0]]}”"
    assert f"“{found.old}” → “{found.new}”: {said}" in words(page)
    bits = f"{int(found.same.sum())} of {len(found.rows)} rows of logits are bit-identical"
    assert bits in words(page)
    beginner = {"level": "beginner", "position": "4", "replace": "#9"}
    assert bits not in words(app("experiments", record=record, experiment="edit", side="target", **beginner))


@pytest.mark.slow
def test_a_beginner_is_shown_the_changed_word_and_its_substitutes_first(app: App, subject: Subject) -> None:
    """What the maps show is a later question; a link that answers it brings the choice."""
    page = app("experiments", record=subject[1], experiment="edit", level="beginner")
    assert "moved" not in {group.key for group in page.button_group}
    said = words(page)
    order = [said.index(part) for part in ("class='bv-lead bv-headline'", "framed token", "Layers down")]
    assert order == sorted(order)
    assert re.search("Replace “.+” by one of these", said)
    page = app("experiments", record=subject[1], experiment="edit", level="beginner", moved="attention")
    assert page.button_group(key="moved").value == "attention"


@pytest.mark.slow
def test_a_long_text_leaves_the_maps_their_room(app: App, subject: Subject) -> None:
    """Maps of many positions stand below each other, none is squeezed to a sliver; the text stands below them."""
    model, record = subject
    page = app("experiments", record=record, experiment="edit")
    assert "0, or grey" not in words(page)
    text = " ".join([TEXT] * 7)
    long = bartviz.capture(model, text, target=TARGET)
    assert len(long.source) + len(long.attention("decoder").query) > 96
    page = app("experiments", record=long, experiment="edit")
    assert not page.exception
    columns = [column for column in page.get("column") if column.get("plotly_chart")]
    assert not columns
    said = words(page)
    assert said.index("Layers down, positions across.") < said.index("the framed token is replaced")
    assert ("0, or grey" in said) == (len(long.source) > 96)


def test_a_short_map_next_to_a_long_one_stays_wide_enough() -> None:
    assert token._widths([70, 9]) == [74, 28]
    assert token._widths([30, 31, 32]) == [34, 35, 36]


def test_what_is_offered_is_taken_by_a_press(app: App, subject: Subject) -> None:
    page = app("experiments", record=subject[1], experiment="edit")
    offers = [button for button in page.button if str(button.key).startswith("offer_")]
    if len(offers) < 2:
        pytest.fail("this text should be offered several tokens")
    offers[1].click().run()
    assert page.text_input(key="replace").value
    assert not page.exception


def test_several_tokens_are_refused_in_our_words(app: App, subject: Subject) -> None:
    page = app("experiments", record=subject[1], experiment="edit", replace="<b>two</b> words")
    assert not page.exception
    assert "tokens for this model" in page.error[0].value
    assert "two" not in page.error[0].value.replace("two<", "")


@pytest.mark.slow
def test_the_house_is_heard_of_in_one_step(app: App, subject: Subject) -> None:
    page = app("experiments", record=subject[1], experiment="reach", sentence="article")
    assert not page.exception
    assert "1 step with bidirectional attention" in words(page)
    assert len(specs(page)) == 3
    page = app("experiments", record=subject[1], experiment="reach", changed="2", felt="1")
    assert "1 position" in words(page)


def test_the_news_begins_in_the_visitors_own_text(app: App, subject: Subject) -> None:
    _, record = subject
    page = app("experiments", record=record, experiment="reach")
    assert not page.exception
    tokens = record.source
    words_ = [i for i, label in enumerate(tokens.labels) if not tokens.special[i] and any(map(str.isalnum, label))]
    assert [page.slider(key=key).value for key in ("changed", "felt")] == [words_[0], words_[-1]]
    page = page.slider(key="changed").set_value(words_[1]).run()
    named = [page.slider(key=key).label for key in ("changed", "felt")]
    assert named == [f"Changed: {record.source.labels[words_[1]]}", f"Effect on: {record.source.labels[words_[-1]]}"]
    assert "house" not in " ".join(specs(page))


def test_a_text_that_is_refused_is_not_offered_again(app: App, subject: Subject) -> None:
    page = app("experiments", record=subject[1], experiment="edit", replace="<b>two</b> words")
    assert page.error
    assert "Run it again" not in [button.label for button in page.button]


@pytest.mark.slow
def test_a_selected_factor_is_not_set_again(app: App, subject: Subject) -> None:
    """Setting a widget in every run would undo what the visitor pressed while the run was on its way."""
    page = app("experiments", record=subject[1], silenced="cross L1H1", factor="0.5", level="expert")
    page.slider(key="factor").set_value(0.6).run()
    state = page.session_state["factor"]
    assert state == pytest.approx(0.6)
    assert not any(proto.set_value for proto in [page.slider(key="factor").proto])


@pytest.mark.slow
@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_models_of_one_stack_have_the_same_experiments(app: App, root: Path, family: str) -> None:
    record = bartviz.capture(bartviz.load(f"small-{family}", roots=default_roots()), TEXT)
    for experiment, least in (("ablation", 2), ("edit", 2), ("reach", 3)):
        page = app("experiments", record=record, experiment=experiment)
        assert not page.exception
        assert not page.error
        assert len(specs(page)) >= least


@pytest.mark.slow
def test_a_large_model_is_asked_for_first(app: App, subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    from bartviz.app.controls import experiment_tasks

    monkeypatch.setattr(experiment_tasks, "LARGE", 1.0)
    page = app("experiments", record=subject[1])
    assert "not measured yet" in specs(page)[0]
    count = sum(shape.shape[0] * shape.shape[1] for shape in map(subject[1].attention, subject[1].kinds))
    next(button for button in page.button if f"all {count} heads" in button.label).click().run()
    assert " lowers log p most" in words(page)


@pytest.mark.slow
def test_a_record_of_another_checkpoint_is_refused(app: App, subject: Subject) -> None:
    from dataclasses import replace

    model, record = subject
    other = replace(record, model=replace(model.info, fingerprint="another"))
    page = app("experiments", record=other, experiment="edit", replace="#9")
    assert "another model" in page.error[0].value


def test_a_click_selects_a_head_and_the_same_click_again_deselects_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from bartviz.features.experiments import parts_heads as heads

    state: dict[str, Any] = {"silenced": ["cross L0H0"]}
    monkeypatch.setattr("bartviz.features.experiments.parts_heads.st.session_state", state)

    def click(*points: dict[str, Any]) -> list[str]:
        state["chart"] = SimpleNamespace(selection=SimpleNamespace(points=points))
        heads._clicked("chart", "encoder")
        return list(state["silenced"])

    one = {"x": 2, "y": 1, "customdata": {"0": 1, "1": 2}}
    assert click(one) == ["cross L0H0", "encoder L1H2"]
    assert click() == ["cross L0H0", "encoder L1H2"]
    assert click(one) == ["cross L0H0"]
    assert click(one, {"x": 0, "y": 0}) == ["cross L0H0", "encoder L1H2", "encoder L0H0"]
    assert state[heads.CLICKS] == 4


def test_every_choice_is_explained() -> None:
    assert sorted(EXPERIMENTS) == sorted(parts("experiments"))
