"""The quiz page as a script: answers, the score, another round, the sheets, and links that make no sense."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable, Collection, Mapping
from functools import cache
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
STARTING = open_record(first_record.FILE)


def posed(record: Record, seed: int, count: int = COUNT) -> list[Question]:
    """The questions at the level at which ``app`` opens a page."""
    return list(questions(record, seed, count, level="intermediate"))


def words(app: AppTest) -> str:
    """All that the page says in HTML of ours and in boxes, as a reader sees it."""
    boxes = " ".join(box.value for box in (*app.success, *app.info, *app.markdown))
    return html.unescape(f"{visits.words(app)} {boxes}").replace("\\", "")


def press(app: AppTest, question: Question, seed: int, place: int, option: int) -> AppTest:
    """Give an answer: by the button of the option, or by touching its place in the picture."""
    if question.touch is not None:
        at = str(question.touch.places[option])
        return touch(app, f"{seed}/{place}", f"{question.touch.row} {at}" if question.touch.what == "cell" else at)
    button = app.button(key=f"quiz_{seed}_{place}_{option}")
    assert button.label.replace("\\", "").endswith(str(question.options[option].text))
    button.click().run()
    assert not app.exception
    return app


def touch(app: AppTest, question: str, place: object) -> AppTest:
    """What the browser sends of a touch, whatever it is."""
    sent = {ui._TOUCHED: {"touched": {"question": question, "place": place}}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("streamlit.session_state", sent)
        ui._touched(app.session_state[ui._QUIZ])
    app.run()
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
    page.button(key="quiz_next").click().run()
    assert "5 of 5 on the first try" in words(page)
    assert "Nothing missed." in words(page)
    page.button(key="quiz_same").click().run()
    assert "Question 1 of 5" in words(page)
    assert "correct" not in words(page)


def test_a_question_is_skipped_until_something_is_answered_to_it(app: App) -> None:
    page = app("quiz", quiz_seed="3", quiz_count="2")
    question = posed(stand_in.record(), 3, 2)[0]
    assert page.button(key="quiz_next").label == "Skip this question"
    press(page, question, 3, 0, (question.answer + 1) % len(question.options))
    assert page.button(key="quiz_next").label == "Next question"
    page.button(key="quiz_next").click().run()
    assert page.button(key="quiz_next").label == "Your result"


def test_a_wrong_answer_says_what_is_true_of_it_and_may_be_followed_by_another(app: App) -> None:
    asked = posed(stand_in.record(), 3)
    place = next(at for at, one in enumerate(asked) if one.touch is None)
    page = app("quiz", quiz_seed="3", quiz_question=str(place + 1))
    question = asked[place]
    wrong = (question.answer + 1) % len(question.options)
    press(page, question, 3, place, wrong)
    assert question.options[wrong].says in words(page)
    assert question.why not in words(page)
    assert page.button(key=f"quiz_3_{place}_{wrong}").disabled
    press(page, question, 3, place, question.answer)
    assert "1 of 1 correct, 0 on the first try" in words(page)
    assert question.why in words(page)


def test_a_cell_is_touched_and_another_row_is_told_from_another_cell(app: App) -> None:
    record = STARTING
    asked = questions(record, 8)
    place, question = next((at, one) for at, one in enumerate(asked) if one.touch and one.touch.what == "cell")
    assert question.touch is not None
    page = app("quiz", record=record, quiz_seed="8", quiz_question=str(place + 1), level="beginner")
    name, row, right = f"8/{place}", question.touch.row, question.answer
    other = row - 1 if row else row + 1
    for nonsense in (None, "", "x", "1", f"{row} 999", "999 0", "-1 0", f"{row} 0 0"):
        touch(page, name, nonsense)
    touch(page, "9/0", f"{row} {right}")  # a late message, about a question that is gone
    assert "correct" not in words(page)
    touch(page, name, f"{other} {right}")
    names = question.grids[0].rows
    assert f"That cell is in the row “{names[other]}”; the question is about the row “{names[row]}”" in words(page)
    wrong = right - 1 if right else right + 1
    touch(page, name, f"{row} {wrong}")
    assert question.options[wrong].says in words(page)
    touch(page, name, f"{row} {right}")
    assert question.why in words(page)
    assert "1 of 1 correct, 0 on the first try" in words(page)


def test_the_end_has_three_things_to_look_at_again_with_links(app: App) -> None:
    asked = posed(stand_in.record(), 3, 5)
    page = app("quiz", quiz_seed="3", quiz_count="5")
    for place, question in enumerate(asked):
        if place < 4:
            press(page, question, 3, place, (question.answer + 1) % len(question.options))
        page.button(key="quiz_next").click().run()
    assert "0 of 5 on the first try" in words(page)
    assert "0 found in the end, 1 not answered." in words(page)
    kept = [at for at in range(5) if f"quiz_missed_{at}" in {button.key for button in page.button}]
    assert len(kept) == 3
    assert len({asked[at].kind for at in kept}) == min(3, len({one.kind for one in asked[:4]}))
    for at in kept:
        question = asked[at]
        wrong = (question.answer + 1) % len(question.options)
        assert question.options[wrong].says in words(page)
        assert str(question.right.text) in words(page)
    pages = [link.proto.page for link in page.get("page_link") if link.proto.label == "See it"]
    assert len(pages) == 3
    page.button(key=f"quiz_missed_{kept[1]}").click().run()
    assert f"Question {kept[1] + 1} of 5" in words(page)


def test_the_three_are_of_different_kinds_where_there_are_such() -> None:
    made = questions(STARTING, 7, 10, level="expert")
    quiz = ui.Quiz(STARTING, 7, made, [[(one.answer + 1) % len(one.options)] for one in made], [False] * 10)
    assert len(quiz.again) == len({made[at].kind for at in quiz.again}) == 3


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
    page.button(key="quiz_renew").click().run()
    page.button(key="quiz_replace").click().run()
    assert page.number_input(key="quiz_seed").value == 4
    assert posed(stand_in.record(), 4, 2)[0].prompt in words(page)
    second = posed(stand_in.record(), 4, 2)[0]
    press(page, second, 4, 0, second.answer)
    assert "2 of 2 correct in this visit" in words(page)


def test_new_questions_ask_before_answers_are_lost(app: App) -> None:
    page = app("quiz", quiz_seed="3")
    asked = posed(stand_in.record(), 3)
    press(page, asked[0], 3, 0, asked[0].answer)
    page.button(key="quiz_renew").click().run()
    assert "You have answered 1 of 10 questions." in words(page)
    assert page.number_input(key="quiz_seed").value == 3
    page.button(key="quiz_keep").click().run()
    assert "Question 1 of 10" in words(page)
    assert "1 of 1 correct" in words(page)
    assert "quiz_replace" not in {button.key for button in page.button}


def test_new_questions_come_at_once_where_nothing_is_lost(app: App) -> None:
    page = app("quiz", quiz_seed="3")
    page.button(key="quiz_renew").click().run()
    assert page.number_input(key="quiz_seed").value == 4


@pytest.mark.parametrize(("level", "name"), [("beginner", "Beginner"), ("expert", "Expert")])
def test_the_level_of_the_questions_stands_beside_their_number(app: App, level: str, name: str) -> None:
    assert f"Question 1 of 10 · Level: {name}" in words(app("quiz", level=level))


def test_another_level_keeps_the_round_once_a_question_is_answered(app: App) -> None:
    page = app("quiz", quiz_seed="3")
    page.button(key="to_expert_quiz").click().run()
    assert "Question 1 of 10 · Level: Expert" in words(page)  # nothing was answered
    page.button(key="to_intermediate_quiz").click().run()
    asked = posed(stand_in.record(), 3, 10)
    press(page, asked[0], 3, 0, asked[0].answer)
    page.button(key="to_expert_quiz").click().run()
    assert not page.exception
    assert "Question 1 of 10 · Level: Intermediate · new questions will be for: Expert" in words(page)
    assert "1 of 1 correct" in words(page)
    page.session_state["quiz_class"] = True
    page.run()
    page.number_input(key="quiz_seed").set_value(4).run()
    assert "Level: Expert" in words(page)
    assert "new questions will" not in words(page)


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
    assert ui.link(own) == "http://here/quiz?quiz_seed=7"
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


def test_a_round_that_was_not_answered_is_not_said_to_have_no_mistake_and_leads_to_what_is_left(app: App) -> None:
    page = app("quiz", quiz_seed="3", quiz_count="5")
    press(page, page.session_state[ui._QUIZ].question, 3, 0, page.session_state[ui._QUIZ].question.answer)
    for _place in range(5):
        page.button(key="quiz_next").click().run()
    assert "1 of 5 on the first try" in words(page)
    assert "4 not answered" in words(page)
    assert "Nothing missed" not in words(page)
    assert "Go back to the questions that you have not answered." in words(page)
    page.button(key="quiz_back").click().run()
    assert "Question 2 of 5" in words(page)


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


@cache
def linked() -> dict[str, Question]:
    """A question of each kind. They take seconds: no time for whoever only collects the tests."""
    rounds = [questions(STARTING, seed, 20, level=level) for level in AT_LEVEL for seed in range(4)]
    return {one.kind: one for asked in rounds for one in asked}


def without(query: Mapping[str, str], keys: Collection[str]) -> dict[str, str]:
    return {key: value for key, value in query.items() if key not in keys}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_link_of_each_kind_sets_the_page(app: App, kind: str) -> None:
    question = linked()[kind]
    page = app(question.page, record=STARTING, **question.query)
    assert not page.exception
    first = {key for key in question.query if key not in page.session_state and key not in page.query_params}
    for key, value in question.query.items():
        if key not in first:
            held = page.session_state[key] if key in page.session_state else page.query_params[key]
            assert str(held[0] if isinstance(held, list) else held).lower() == value, key
    if first:  # what the page shows anyway is not in its address
        assert words(app(question.page, record=STARTING, **without(question.query, first))) == words(page)
    if question.page == "heads":
        assert f"L{question.query['layer']}" in words(page) or f"layer {question.query['layer']}" in words(page)


def test_it_speaks_korean(app: App) -> None:
    page = app("quiz", quiz_seed="3", lang="ko")
    assert "10문제 중 1번" in words(page)


@pytest.mark.slow
def test_a_beginners_question_has_a_map_or_says_why_it_has_none(app: App) -> None:
    record = stand_in.record()
    asked = questions(record, 3, COUNT, level="beginner")
    assert any(not question.grids for question in asked)
    for place, question in enumerate(asked, 1):
        page = app("quiz", level="beginner", quiz_seed="3", quiz_question=str(place))
        assert question.prompt in words(page)
        assert (ui.WORDS_ALONE in words(page)) == (not question.grids)
        assert question.grids or question.line
