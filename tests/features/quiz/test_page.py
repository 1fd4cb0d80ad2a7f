"""The quiz page as a script: answers, the score, another round, the sheets, and links that make no sense."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from bartviz.app.frame import page_list
from bartviz.app.state import session
from bartviz.features.quiz import AT_LEVEL, COUNT, KINDS, questions
from bartviz.features.quiz import parts as ui
from bartviz.features.quiz.question import Question
from bartviz.record.record import Record, open_record
from bartviz.serving import first_record
from tests.support import records, stand_in, visits

App = Callable[..., AppTest]


def posed(record: Record, seed: int, count: int = COUNT) -> list[Question]:
    """The questions as they are offered, at the level at which ``app`` opens a page."""
    return [one.on_paper for one in questions(record, seed, count, level="intermediate")]


def words(app: AppTest) -> str:
    """All that the page says in HTML of ours and in boxes, as a reader sees it."""
    boxes = " ".join(box.value for box in (*app.success, *app.info, *app.markdown))
    return html.unescape(f"{visits.words(app)} {boxes}").replace("\\", "")


def press(app: AppTest, question: Question, seed: int, place: int, option: int) -> AppTest:
    assert (
        app.button(key=f"quiz_{seed}_{place}_{option}")
        .label.replace("\\", "")
        .endswith(str(question.options[option].text))
    )
    app.button(key=f"quiz_{seed}_{place}_{option}").click().run()
    assert not app.exception
    return app


@pytest.mark.slow
def test_a_round_with_right_answers_has_the_full_score(app: App) -> None:
    page = app("quiz", quiz_seed="3", quiz_count="5")
    for place, question in enumerate(posed(stand_in.record(), 3, 5)):
        assert question.prompt in words(page)
        press(page, question, 3, place, question.answer)
        assert "Right." in words(page)
        assert question.why in words(page)
        if place < 4:
            page.button(key="quiz_next").click().run()
    assert "5 of 5 correct, 5 on the first try" in words(page)
    assert "All 5 questions answered: 5 correct, 5 of them on the first try." in words(page)


def test_a_wrong_answer_says_what_is_true_of_it_and_may_be_followed_by_another(app: App) -> None:
    page = app("quiz", quiz_seed="3")
    question = posed(stand_in.record(), 3)[0]
    wrong = (question.answer + 1) % len(question.options)
    press(page, question, 3, 0, wrong)
    assert question.options[wrong].says in words(page)
    assert question.why not in words(page)
    assert page.button(key=f"quiz_3_0_{wrong}").disabled
    press(page, question, 3, 0, question.answer)
    assert "1 of 1 correct, 0 on the first try" in words(page)
    assert question.why in words(page)


def test_what_was_missed_counts_and_the_end_says_what_to_look_at_again(app: App) -> None:
    page = app("quiz", quiz_seed="3", quiz_count="2")
    for place, question in enumerate(posed(stand_in.record(), 3, 2)):
        wrong = (question.answer + 1) % len(question.options)
        press(page, question, 3, place, question.answer if place else wrong)
        page.number_input(key="quiz_question").set_value(2).run()
    assert "1 of 2 correct, 1 on the first try" in words(page)
    assert "All 2 questions answered: 1 correct, 1 of them on the first try." in words(page)
    page.button(key="quiz_missed_0").click().run()
    assert "Question 1 of 2" in words(page)


def test_a_level_asks_what_it_explains(app: App) -> None:
    for level, kinds in AT_LEVEL.items():
        page = app("quiz", quiz_seed="3", level=level)
        first = questions(stand_in.record(), 3, level=level)[0]
        assert first.prompt in words(page)
        assert first.kind in kinds


def test_the_answer_can_be_shown_and_counts_as_not_found(app: App) -> None:
    page = app("quiz", quiz_seed="3")
    question = posed(stand_in.record(), 3)[0]
    press(page, question, 3, 0, (question.answer + 1) % len(question.options))
    page.button(key="quiz_show_0").click().run()
    assert f"The answer: {question.right.text}" in words(page)
    assert "0 of 1 correct" in words(page)


@pytest.mark.slow
def test_a_new_round_keeps_what_was_found_before(app: App) -> None:
    page = app("quiz", quiz_seed="3", quiz_count="2")
    first = posed(stand_in.record(), 3, 2)[0]
    press(page, first, 3, 0, first.answer)
    next(button for button in page.button if button.label == "New questions").click().run()
    assert page.number_input(key="quiz_seed").value == 4
    assert posed(stand_in.record(), 4, 2)[0].prompt in words(page)
    second = posed(stand_in.record(), 4, 2)[0]
    press(page, second, 4, 0, second.answer)
    assert "2 of 2 correct in this visit" in words(page)


@pytest.mark.parametrize(
    "query", [{"quiz_seed": "-4"}, {"quiz_seed": "1e99"}, {"quiz_seed": "x", "quiz_count": "0"}, {"quiz_count": "999"}]
)
def test_an_invalid_link_still_asks_a_question(app: App, query: dict[str, str]) -> None:
    page = app("quiz", **query)
    assert not page.exception
    assert re.search(r"Question 1 of \d+", words(page))


@pytest.mark.parametrize("record", [records.encoder_only(), records.decoder_only(), records.encoder_decoder(padding=2)])
def test_every_kind_of_record_is_asked(app: App, record: Record) -> None:
    page = app("quiz", record=record)
    assert not page.exception
    assert "Question 1 of 10" in words(page)


def test_another_text_is_another_quiz_and_the_old_answers_are_gone(app: App) -> None:
    page = app("quiz", quiz_seed="3")
    question = posed(stand_in.record(), 3)[0]
    press(page, question, 3, 0, question.answer)
    page.session_state[session.RECORD] = records.encoder_only()
    page.run()
    assert "Question 1 of 10" in words(page)
    assert "1 of 1 correct in this visit" in words(page)
    assert "Right." not in words(page)


def test_tokens_are_escaped_where_they_are_shown(app: App) -> None:
    record = records.encoder_only(("<s>", "a", " <u>", " **x**", " c", " d", " e", "</s>"))
    page = app("quiz", record=record, quiz_count="40")
    assert not page.exception
    body = visits.words(page)
    assert "<s>" not in body
    assert "<u>" not in body


def test_the_link_of_the_first_record_is_short_and_that_of_another_has_model_and_text(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = stand_in.record()
    monkeypatch.setattr(first_record, "record", lambda: record)
    own = ui.Quiz(record, 7, (), [], [])
    monkeypatch.setattr("streamlit.context", type("Context", (), {"url": "http://here/quiz?x=1"}))
    assert ui.link(own) == "http://here/quiz?quiz_seed=7&quiz_count=10"
    other = ui.Quiz(stand_in.record(("<s>", "A & b", "</s>")), 7, (), [], [])
    found = parse_qs(urlsplit(ui.link(other)).query)
    assert found["text"] == ["A & b"]
    assert found["model"] == ["stand-in"]


def test_a_link_asks_the_question_that_it_names_and_the_address_follows_the_visitor(app: App) -> None:
    asked = posed(stand_in.record(), 3, 5)
    page = app("quiz", quiz_seed="3", quiz_count="5", quiz_question="4")
    assert "Question 4 of 5" in words(page)
    assert asked[3].prompt in words(page)
    page.button(key="quiz_back").click().run()
    assert "Question 3 of 5" in words(page)
    assert page.query_params["quiz_question"] == "3"
    assert "Question 5 of 5" in words(app("quiz", quiz_seed="3", quiz_count="5", quiz_question="9"))


def test_a_link_waits_for_its_own_text(app: App) -> None:
    """A visit begins with another record than that of its link: nobody has answered yet, so the place stays."""
    page = app("quiz", quiz_seed="3", quiz_question="4")
    page.session_state[session.RECORD] = records.encoder_only()
    page.run()
    assert "Question 4 of 10" in words(page)


def test_the_csv_opens_its_questions(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the answers there is the link to the question alone, with model, text and number."""
    monkeypatch.setattr("streamlit.context", type("Context", (), {"url": "http://here/base/quiz?x=1"}))
    sheets: dict[str, Callable[[], bytes]] = {}
    monkeypatch.setattr("streamlit.download_button", lambda name, data, **_options: sheets.update({name: data}))
    quiz = ui.Quiz(stand_in.record(("<s>", "A & b", "</s>")), 7, questions(stand_in.record(), 7), [], [])
    for answers in (False, True):
        sheets.clear()
        monkeypatch.setattr("streamlit.toggle", lambda *_args, told=answers, **_options: told)
        ui._sheets(quiz)
        lines = list(csv.DictReader(io.StringIO(sheets["CSV"]().decode("utf-8-sig"))))
        found = urlsplit(lines[3]["quiz"])
        assert (found.netloc, found.path) == ("here", "/base/quiz")
        assert parse_qs(found.query) == {
            "quiz_seed": ["7"],
            "quiz_count": ["10"],
            "quiz_question": ["4"],
            "model": ["stand-in"],
            "text": ["A & b"],
        }
        assert ("link" in lines[0]) == answers
    assert [bool(line["link"]) for line in lines] == [page_list.has(one.page) for one in quiz.questions]
    line, question = next(one for one in zip(lines, quiz.questions, strict=True) if one[0]["link"])
    seen = urlsplit(line["link"])
    assert seen.path == f"/base/{question.page}"
    assert {key: value for key, (value,) in parse_qs(seen.query).items()} == {
        **question.query,
        "model": "stand-in",
        "text": "A & b",
    }


def test_there_is_no_link_to_a_page_that_the_menu_does_not_have() -> None:
    assert ui._address({}, "http://here/quiz", "nowhere", {"row": "1"}) == ""


STARTING = open_record(first_record.FILE)
LINKS = {one.kind: one for level in AT_LEVEL for seed in range(4) for one in questions(STARTING, seed, 20, level=level)}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_link_of_each_kind_sets_the_page(app: App, kind: str) -> None:
    question = LINKS[kind]
    page = app(question.page, record=STARTING, **question.query)
    assert not page.exception
    for key, value in question.query.items():
        held = page.session_state[key] if key in page.session_state else page.query_params[key]
        assert str(held[0] if isinstance(held, list) else held).lower() == value, key
    if question.page == "heads":
        assert f"L{question.query['layer']}" in words(page) or f"layer {question.query['layer']}" in words(page)


def test_it_speaks_korean(app: App) -> None:
    page = app("quiz", quiz_seed="3", lang="ko")
    assert "10문제 중 1번" in words(page)
