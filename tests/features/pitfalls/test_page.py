"""The page of warnings as a script: claims with this text's numbers, examples from the shipped record, odd records."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import bartviz
from bartviz.analysis import start
from bartviz.analysis.ablation import Guesses
from bartviz.analysis.attribution_methods import METHODS
from bartviz.analysis.verdicts import ALIKE, BETTER, WORSE, Verdict
from bartviz.app.controls import tasks
from bartviz.app.frame import page_list
from bartviz.features.pitfalls import numbers as pitfalls
from bartviz.features.pitfalls.parts_rerun import READINGS, judged_sentence, surprise_sentence
from bartviz.language.percentages import percent
from bartviz.record.attention import Head
from bartviz.record.record import Record, open_record
from bartviz.serving import first_record
from tests.support import records, stand_in, visits

App = Callable[..., AppTest]


@pytest.fixture(autouse=True)
def nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in's model cannot be loaded: what would run it stays away."""
    monkeypatch.setattr(tasks, "ask", lambda *given, **named: None)


def words(app: AppTest) -> str:
    return html.unescape(visits.words(app))


def test_each_warning_has_a_claim_with_numbers_a_picture_and_a_link(app: App) -> None:
    page = app("pitfalls")
    assert not page.exception
    assert [part.value[:1] for part in page.subheader] == ["1", "2", "3", "4", "5"]
    record = stand_in.record()
    gap, mean, rest = pitfalls.gap(record), pitfalls.average(record), pitfalls.sinks(record)
    assert gap is not None
    assert mean is not None
    assert rest is not None
    said = words(page)
    assert f"({percent(float(gap.weights[gap.looked]))})" in said
    assert f"{mean.mean:.2f} bits of entropy, a row of its heads {mean.heads:.2f}" in said
    assert f"puts {rest.share:.0%} of its weight on special tokens" in said
    assert "Wiegreffe and Pinter 2019" in said
    assert len(page.get("plotly_chart")) == 8
    assert len(page.get("page_link")) >= sum(map(page_list.has, ("compare", "heads", "heads", "alignment")))


def test_a_beginner_reads_of_tokens_and_not_of_bits(app: App) -> None:
    page = app("pitfalls", level="beginner")
    assert len(page.get("plotly_chart")) == 1  # the other pitfalls are folded
    record = stand_in.record()
    gap = pitfalls.gap(record)
    assert gap is not None
    attention = {"cross": "cross-attention"}.get(gap.head.kind, f"{gap.head.kind} attention")
    of = f"head {gap.head.head} of layer {gap.head.layer} ({attention}) of {record.model.name}."
    assert of in words(page)
    page.session_state["folded_pitfalls_2"] = True
    page.run()
    mean = pitfalls.average(stand_in.record())
    assert mean is not None
    said = words(page)
    weights = record.attention(mean.kind).layer(mean.layer)
    first, second = (percent(float(weights.mean(axis=0)[mean.row, column])) for column in (mean.first, mean.second))
    assert f"The mean of the {len(weights)} heads of this layer gives" in said
    assert re.search(f"gives .* {re.escape(first)} and .* {re.escape(second)}\\.", said)
    assert "bits of entropy" not in said
    drawn = " ".join(str(chart.proto.spec) for chart in page.get("plotly_chart"))
    assert "looks at" in drawn
    assert not re.search("attends from|0 to 1", drawn)
    assert "the two entropies" not in said


def test_each_link_says_to_which_page_it_leads(app: App) -> None:
    page = app("pitfalls")
    own = [link.proto.label for link in page.get("page_link") if "→" not in link.proto.label]
    for word in ("compare", "heads", "alignment"):
        label = page_list.page(word).label if page_list.has(word) else ""
        assert any(link.startswith(f"{label}: ") for link in own) == page_list.has(word)


def test_the_framed_row_reads_one_word_and_predicts_another() -> None:
    record = stand_in.record()
    attention, found = record.attention("cross"), 0
    for layer, head in np.ndindex(attention.shape[:2]):
        row = pitfalls.shifted_row(record, Head("cross", layer, head))
        if row is not None:
            found += 1
            assert record.rows("cross", "reads").labels[row] != record.rows("cross", "predicts").labels[row]
            assert not attention.key.special[int(attention.head(layer, head)[row].argmax())]
    assert found


def test_the_links_set_the_view(app: App) -> None:
    page = app("pitfalls")
    gap = pitfalls.gap(stand_in.record())
    assert gap is not None
    queries = [link.proto.query_string for link in page.get("page_link")]
    chosen = {"compare": ("below=contribution", f"layer={gap.head.layer}"), "heads": ("hide=true",)}
    for word, choices in {**chosen, "alignment": ("reading=reads",)}.items():
        assert any(all(one in query for one in choices) for query in queries) == page_list.has(word)


def test_a_record_without_cross_attention_borrows_and_says_so(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    own = records.encoder_only()
    page = app("pitfalls", record=own)
    assert not page.exception
    assert "nothing to show here" in words(page)
    shipped = stand_in.record()
    monkeypatch.setattr(first_record, "record", lambda: shipped)
    other = visits.opened("pitfalls", own, level="intermediate")
    assert f"here is what {shipped.model.name} does with “{shipped.source_text}”" in words(other)


@pytest.mark.parametrize(
    "record",
    [
        records.decoder_only(),
        records.encoder_decoder(padding=2),
        records.encoder_only(("<s>",)),
        stand_in.record(kind="encoder", trained=False),
        stand_in.record(tuple(f" w{at}" for at in range(60))),
    ],
)
def test_odd_records_break_nothing(app: App, record: Record) -> None:
    page = app("pitfalls", record=record)
    assert not page.exception


def test_of_a_long_text_the_first_tokens_are_drawn_and_it_says_so(app: App) -> None:
    page = app("pitfalls", record=stand_in.record(tuple(f" w{at}" for at in range(60))))
    assert "(the first 24 tokens)" in words(page)


def guesses(*chances: float) -> Guesses:
    return Guesses(np.log(np.array(chances, np.float32)), np.zeros(2, np.int64), ("a", "b"), np.zeros(2, np.float32))


HEAD = ("head 1 of layer 3", "links words one to one")


def test_the_surprise_says_what_silencing_did_and_nothing_else() -> None:
    whole = guesses(0.5, 0.8)
    of_all = "the probability of all its tokens together"
    more, less = surprise_sentence(whole, guesses(0.5, 0.9), *HEAD), surprise_sentence(whole, guesses(0.1, 0.5), *HEAD)
    assert f"any less likely: {of_all} is 40% with the head and 45% without it." in more
    assert more.startswith("Switch off head 1 of layer 3, which links words one to one, and ")
    assert f" less likely: {of_all} is 40% with the head and 5.0% without it." in less
    assert f"just as likely: {of_all} stays at 40%." in surprise_sentence(whole, guesses(0.8, 0.5), *HEAD)


def test_the_surprise_of_a_long_text_compares_probabilities_that_are_too_small_to_tell() -> None:
    long = [0.5] * 30  # about one in a billion
    assert surprise_sentence(guesses(*long), guesses(*long), *HEAD).endswith("just as likely.")
    assert "less likely: its probability is 50% of what it was" in surprise_sentence(
        guesses(*long), guesses(*long[1:], 0.25), *HEAD
    )
    assert "any less likely: 2.00 times as likely as before" in surprise_sentence(
        guesses(*long), guesses(*long[1:], 1.0), *HEAD
    )
    same = guesses(0.403), guesses(0.397)  # both are 40%, and not the same
    assert "its probability is 99% of what it was" in surprise_sentence(*same, *HEAD)
    lost = guesses(0.4), guesses(*[1e-30] * 20)  # less than a number of 64 bits can be
    assert "its probability is <0.1% of what it was" in surprise_sentence(*lost, *HEAD)


@pytest.mark.slow
def test_on_the_first_text_the_head_of_the_picture_is_not_what_makes_it_likely() -> None:
    """The surprise after the first pitfall is there: without the head that is drawn the sentence is likelier."""
    record = open_record(first_record.FILE)
    head = start.head_of(record, start.kind_of(record))
    found = bartviz.ablate(bartviz.load(record.model.name), record, {head: 0.0}, write=False)
    assert found.before is not None
    assert found.after is not None
    assert found.effect > 0.01
    assert "any less likely" in surprise_sentence(found.before, found.after, *HEAD)


def test_what_is_said_of_a_test_is_what_the_verdicts_allow() -> None:
    def said(*verdicts: Verdict) -> str:
        return judged_sentence(tuple(zip(READINGS, verdicts, (1.0, 0.52), strict=True)))

    assert said(BETTER, ALIKE).startswith(
        "On this text: best head: better than chance (ahead of 100% of random orders); mean attention: not told apart "
        "(ahead of 52% of random orders)."
    )
    assert "no explanation yet" in said(BETTER, BETTER)
    assert "names words that matter" in said(BETTER, BETTER)
    assert "depends on how attention is read" in said(BETTER, ALIKE)
    assert "depends on how attention is read" in said(WORSE, BETTER)
    assert "nothing shows" in said(ALIKE, WORSE)
    weights_alone = [name for name, method in METHODS.items() if method.needs == "weights"]
    assert set(READINGS) == set(weights_alone)


@pytest.mark.slow
def test_the_verdicts_are_those_of_the_judge() -> None:
    pytest.importorskip("torch")
    from bartviz.attribution.judge import judge
    from bartviz.features.pitfalls.run_judged import verdicts

    model, record = bartviz.load("bart-tiny-en-de"), first_record.record()
    assert record is not None
    found = judge(model, record, READINGS)
    for name, verdict, ahead in verdicts(model, record, READINGS, lambda: False):
        one = found[name]
        assert verdict == one.verdict
        own = one.values.mean()  # what is left of the probabilities: the less, the better
        assert ahead == pytest.approx((one.random > own).mean() + (one.random == own).mean() / 2)
    assert {found[name].verdict for name in READINGS} == {BETTER}  # of the sentence that the app starts with
