"""The alignment page as a script: links, judgements, ranking, exports, and odd links and records."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from bartviz.analysis import aligners as ranks
from bartviz.analysis import alignment, gold_alignment, start
from bartviz.app.state import content, session
from bartviz.features.alignment import parts_gold as gold
from bartviz.features.alignment.parts import HOW
from bartviz.language.percentages import percent
from bartviz.record.record import Record
from tests.support import stand_in
from tests.support.pages import App, tables
from tests.support.visits import words


def by_hand(record: Record) -> str:
    return gold_alignment.BY_HAND[record.source_text, record.target_text or ""]


def metrics(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


def test_it_begins_with_the_head_that_agrees_most(app: App, record: Record) -> None:
    at = app("alignment")
    assert not at.exception
    best = ranks.best(ranks.aligners(record), "predicts")
    assert f"Cross {best.name} links" in words(at)
    assert at.code[0].value == gold_alignment.write(alignment.links(best.table.weights))
    assert metrics(at)["One to one"] == percent(best.agreement)
    assert len(at.get("plotly_chart")) == 1


def test_a_link_says_whose_words_are_linked_and_how(app: App, record: Record) -> None:
    at = app("alignment", align="layer", layer="2", reading="token it reads", links="either chooses")
    shown = alignment.table(record, alignment.heads_of(record, 2), reading="reads")
    assert "The mean of the 4 heads of cross layer 2" in words(at)
    assert at.code[0].value == gold_alignment.write(alignment.links(shown.weights, "union"))


def test_a_link_selects_a_set_of_heads(app: App, record: Record) -> None:
    at = app("alignment", align="set", set=["L0H1", "L2H3"])
    assert "The mean of 2 cross heads (L0H1, L2H3)" in words(at)
    at.multiselect[0].set_value([]).run()
    assert f"Cross {start.ribbons(record).head.short} links" in words(at)  # never a set of none


@pytest.mark.parametrize(
    "query",
    [
        {"align": "nobody", "links": "x", "reading": "", "link_weight": "7"},
        {"align": "head", "layer": "99", "head": "-3"},
        {"align": "set", "set": "L9H9,<b>"},
        {"links": "every weight from a threshold", "link_weight": "-2"},
        {"base": "5", "swap": "perhaps", "possible": "perhaps"},
    ],
)
def test_odd_links_are_clamped_to_the_record(app: App, query: dict[str, str]) -> None:
    at = app("alignment", **query)
    assert not at.exception
    assert len(at.get("plotly_chart")) == 1


def test_an_alignment_made_by_hand_judges_and_ranks(app: App, record: Record) -> None:
    at = app("alignment", align="head", layer="1", head="2")
    at.text_area(gold.key_of(record)).set_value("0-0 1-1 2?1 3-4").run()
    shown = alignment.table(record, [alignment.heads_of(record, 1)[2]])
    judged = gold_alignment.score(alignment.links(shown.weights), gold_alignment.read("0-0 1-1 2?1 3-4", 7, 6))
    assert metrics(at)["Error rate (AER)"] == f"{judged.error_rate:.2f}"
    assert metrics(at)["Recall"] == f"{judged.recall:.2f}"
    table: Any = tables(at)[0]
    assert table["error rate"].is_monotonic_increasing


@pytest.mark.slow
def test_our_alignment_is_offered_for_the_example_and_can_be_removed(app: App, record: Record) -> None:
    at = app("alignment")
    press(at, "Use ours")
    assert (
        at.text_area(gold.key_of(record)).value == gold_alignment.BY_HAND[record.source_text, record.target_text or ""]
    )
    press(at, "Clear")
    assert "Error rate (AER)" not in metrics(at)
    press(at, "Start from these links")
    assert metrics(at)["Error rate (AER)"] == "0.00"


@pytest.mark.slow
def test_an_alignment_made_by_hand_goes_into_the_link_of_a_text_and_comes_from_it(
    app: App, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = app("alignment", gold="0-0 1-1")
    assert at.text_area(gold.key_of(record)).value == "0-0 1-1"
    assert "Error rate (AER)" in metrics(at)
    assert "gold" not in at.query_params  # the text of this visit is no part of its link
    monkeypatch.setattr(gold, "shared", lambda: True)
    at.run()
    assert at.query_params["gold"] == "0-0 1-1"
    at.text_area(gold.key_of(record)).set_value("3-4").run()
    assert at.query_params["gold"] == "3-4"
    assert "judge" not in at.query_params
    at.session_state["_gold_begun"] = {gold.key_of(record)}
    at.run()
    assert at.query_params["judge"] == "true"  # more links will be made
    press(at, "Clear")
    assert not {"gold", "judge"} & {*at.query_params}
    assert at.text_area(gold.key_of(record)).value == ""
    at.text_area(gold.key_of(record)).set_value("0-0 " * 1100).run()
    assert "gold" not in at.query_params
    assert "too long for a link" in words(at)


def test_rankings_are_kept_in_the_engines_bytes_and_not_in_the_session(app: App, record: Record) -> None:
    app("alignment")
    assert f"aligners {content.key(record, 'en')}" in session.engine().results._values
    assert session.engine().results.bytes <= session.engine().results.limit


def press(at: AppTest, label: str) -> None:
    next(button for button in at.button if button.label == label).click().run()
    assert not at.exception


def test_what_cannot_be_read_is_reported_with_its_piece(app: App, record: Record) -> None:
    at = app("alignment")
    at.text_area(gold.key_of(record)).set_value("0-0 <b>7_7</b>").run()
    assert "is not a link" in at.error[0].value
    assert "<b>" not in at.error[0].value  # escaped
    assert "Error rate (AER)" not in metrics(at)


def test_counting_from_one_and_the_output_first(app: App, record: Record) -> None:
    at = app("alignment", base="1", swap="true")
    at.text_area(gold.key_of(record)).set_value("5-4").run()
    assert "Error rate (AER)" in metrics(at)
    assert "missed" in words(at)


def test_the_search_for_a_set_shows_it_and_warns(app: App, record: Record) -> None:
    at = app("alignment")
    press(at, "Use ours")
    press(at, "Find the set of heads that agrees best")
    found = ranks.best_set(
        ranks.aligners(record),
        gold_alignment.read(gold_alignment.BY_HAND[record.source_text, record.target_text or ""], 7, 6),
    )
    assert at.multiselect[0].value == [head.short for head in found.heads]
    assert metrics(at)["Error rate (AER)"] == f"{found.error_rate:.2f}"
    assert "which flatters" in words(at)


def test_possible_links_are_those_of_one_direction(app: App) -> None:
    at = app("alignment", possible="true")
    assert "?" in at.code[0].value
    assert "?" not in app("alignment").code[0].value


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_a_model_without_cross_attention_names_models_that_have_it(app: App, kind: Any) -> None:
    at = app("alignment", record=stand_in.record(kind=kind))
    assert not at.exception
    assert "cross\\-attention" in at.info[0].value
    assert "Translate this text instead" in [button.label for button in at.button]
    assert not at.get("plotly_chart")


def test_special_tokens_alone_are_nothing_to_align(app: App) -> None:
    at = app("alignment", record=stand_in.record(source=("<s>", "</s>")))
    assert "nothing to align" in at.info[0].value


def test_korean_and_hostile_words(app: App) -> None:
    korean = stand_in.record(
        source=("<s>", "나는", " <img src=x>", " 간다", "</s>"), output=("<s>", "=1+1", " 집", "</s>")
    )
    at = app("alignment", record=korean, links="either chooses")
    assert not at.exception
    assert "<img" not in words(at)
    assert "나는" in at.get("plotly_chart")[0].proto.spec.encode().decode("unicode_escape", "ignore") or "나는" in str(
        at.get("plotly_chart")[0].proto.spec
    )


def test_a_text_too_long_to_rank_still_shows_a_head(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranks, "LIMIT", 10)
    record = stand_in.record(source=("<s>", " unlike", " any", " other", "</s>"))  # not ranked yet
    at = app("alignment", record=record)
    assert not at.exception
    assert words(at).count("or name a head") == 1
    assert f"Cross {start.ribbons(record).head.short} links" in words(at)


@pytest.mark.slow
def test_long_lines_are_drawn_in_part_with_a_note(app: App) -> None:
    source = ("<s>", *(f" w{number}" for number in range(45)), "</s>")
    at = app("alignment", record=stand_in.record(source=source), links="threshold", link_weight="0.05")
    links = gold_alignment.read(at.code[0].value, 45, 6).sure
    early, late = (sum(start <= i < start + 40 for i, _j in links) for start in (0, 5))
    assert max(early, late) < len(links)
    assert "Source words 0 to 39 of 45 and output words 0 to 5 of 6 are drawn" in words(at)
    assert f"with {early} of {len(links)} links" in words(at)
    at.slider("from_source").set_value(5).run()
    assert f"Source words 5 to 44 of 45 and output words 0 to 5 of 6 are drawn, with {late} of" in words(at)
    assert "Source words 3 to 42" in words(app("alignment", record=stand_in.record(source=source), from_source="3"))
    assert "Source words" not in words(app("alignment"))


@pytest.mark.slow
def test_possible_links_alone_leave_recall_undefined_and_say_so(app: App, record: Record) -> None:
    at = app("alignment", links="threshold", link_weight="1.0")
    at.text_area(gold.key_of(record)).set_value("1?1 2?2").run()
    assert {metrics(at)[name] for name in ("Error rate (AER)", "Precision", "Recall")} == {"–"}
    assert "There are no sure links" in words(at)
    table: Any = tables(at)[0]
    assert "recall" not in table.columns
    assert table["error rate"].isna().all()
    assert "No link names word 0 on either side" in words(at)
    press(at, "Find the set of heads that agrees best")
    assert "nothing to judge" in at.toast[0].value


@pytest.mark.parametrize("links", ["target", "threshold"])
def test_what_widths_mean_is_said_where_there_are_links(app: App, record: Record, links: alignment.Method) -> None:
    at = app("alignment", align="layer", layer="2", links=HOW[links], link_weight="0.3")
    shown = alignment.table(record, alignment.heads_of(record, 2))
    found = alignment.links(shown.weights, links, threshold=0.3)
    assert found
    assert "The number on a line is its weight: the wider the line, the larger the weight." in words(at)
    assert "wider" not in words(app("alignment", links="threshold", link_weight="1.0"))


def test_a_beginner_reads_no_number_that_needs_a_closer_look(app: App, record: Record) -> None:
    closer = app("alignment")
    assert {"One to one", "To special tokens"} <= {*metrics(closer)}
    assert "that pairs words" in words(closer)
    simple = app("alignment", level="beginner")
    assert not metrics(simple)
    assert "that pairs words" not in words(simple)
    judged = app("alignment", level="beginner", gold=by_hand(record))
    assert {*metrics(judged)} == {"Error rate (AER)", "Precision", "Recall"}


def test_dots_and_words_without_a_link_are_explained(app: App, record: Record) -> None:
    shown = alignment.table(record, [alignment.heads_of(record, 1)[2]])
    labels = shown.source.labels
    looked_at = {int(row.argmax()) for row in shown.weights}
    alone = [label for at, label in enumerate(labels) if at not in looked_at and label.isalnum()]
    assert alone
    at = app("alignment", align="head", layer="1", head="2")
    assert "A dot on the map marks a link." in words(at)
    said = "no output word looks at"
    have = "has" if len(alone) == 1 else "have"
    assert f"{', '.join(f'“{word}”' for word in alone[:5])} {have} no link: {said}" in words(at)
    assert said not in words(app("alignment", align="head", layer="1", head="2", links=HOW["source"]))
    judged = app("alignment", align="head", layer="1", head="2", gold=by_hand(record))
    assert said not in words(judged)
    assert "A dot on the map" not in words(judged)
