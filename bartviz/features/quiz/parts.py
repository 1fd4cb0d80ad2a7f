"""The parts of the quiz page: one question at a time, feedback on the answer, the score, sheets for a class."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.app.controls import export, show
from bartviz.app.frame import levels, page, page_list, record_link, share
from bartviz.app.state import url_state
from bartviz.features.quiz import COUNT, MOST_QUESTIONS, MOST_SEED, figure_sheet, questions
from bartviz.features.quiz.question import READ_SO, Question
from bartviz.language import _, current, plural, speaking
from bartviz.serving import first_record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bartviz.record.record import Record

STYLE = Path(__file__).with_name("style.css")
SEED, NUMBER, PLACE = "quiz_seed", "quiz_count", "quiz_question"
_QUIZ = "_quiz"


@dataclass
class Quiz:
    """A visitor's quiz: the questions of this round, the options tried in each, and the score of earlier rounds.

    This one object holds the quiz's session state; it is fetched once per run and changed by plain assignments.
    """

    record: Record
    seed: int
    questions: tuple[Question, ...]
    taken: list[list[int]]
    shown: list[bool]
    place: int = 0
    before: tuple[int, int, int] = (0, 0, 0)
    wanted: int = field(default=COUNT)
    level: levels.Level = levels.DEFAULT

    @property
    def question(self) -> Question:
        return self.questions[self.place]

    def found(self, place: int) -> bool:
        """Whether the correct option of a question was chosen."""
        return self.questions[place].answer in self.taken[place]

    def done(self, place: int) -> bool:
        """Whether a question was answered correctly or its answer shown."""
        return self.found(place) or self.shown[place]

    def tried(self, place: int) -> bool:
        """Whether anything was answered to a question, right or wrong, or its answer shown."""
        return bool(self.taken[place]) or self.shown[place]

    @property
    def score(self) -> tuple[int, int, int]:
        """The numbers of questions tried, found, and found at the first try in this round."""
        places = range(len(self.questions))
        first = sum(self.taken[at][:1] == [self.questions[at].answer] for at in places)
        return sum(map(self.tried, places)), sum(map(self.found, places)), first

    @property
    def missed(self) -> list[int]:
        """The questions whose answer was not found at the first try."""
        places = range(len(self.questions))
        return [at for at in places if self.tried(at) and self.taken[at][:1] != [self.questions[at].answer]]


def make_quiz(record: Record, seed: int, count: int) -> Quiz:
    """The quiz of this visit: the current round, or a new one if the record, seed, count or level has changed."""
    kept: Quiz | None = st.session_state.get(_QUIZ)
    level = levels.current()
    if kept is not None and kept.record is record and (kept.seed, kept.wanted, kept.level) == (seed, count, level):
        return kept
    drawn = tuple(one.on_paper for one in questions(record, seed, count, level=level))
    before = (0, 0, 0)
    if kept is not None:
        if any(kept.taken) or any(kept.shown):  # else nothing was answered: the text of a link may just have arrived
            st.session_state[PLACE] = 1
        before = (kept.before[0] + kept.score[0], kept.before[1] + kept.score[1], kept.before[2] + kept.score[2])
    taken: list[list[int]] = [[] for _one in drawn]
    quiz = Quiz(record, seed, drawn, taken, [False] * len(drawn), before=before, wanted=count, level=level)
    st.session_state[_QUIZ] = quiz
    return quiz


def choose(record: Record) -> Quiz:
    """The popover with the seed, the number of questions and the sheets; returns the quiz."""
    line, button, popover = st.columns([3, 1.1, 1.1], vertical_alignment="center")
    with popover, st.popover(_("For a class"), width="stretch"):
        seed = _number(_("Seed"), SEED, (0, MOST_SEED), 7, _("The same text, model and seed give the same questions."))
        count = _number(_("Questions"), NUMBER, (1, MOST_QUESTIONS), COUNT, None)
        quiz = make_quiz(record, seed, count)
        hint = _("Counted from 1. It is part of the page's address, so a link opens this question.")
        last = max(len(quiz.questions), 1)
        quiz.place = _number(_("Question"), PLACE, (1, MOST_QUESTIONS), 1, hint, last=last) - 1
        if quiz.questions:
            _sheets(quiz)
    with button:
        st.button(_("New questions"), width="stretch", on_click=_again, args=(quiz,))
    with line.container(key="quiz_score"):
        _score(quiz)
    return quiz


def _number(
    label: str, key: str, ends: tuple[int, int], first: int, hint: str | None, *, last: int | None = None
) -> int:
    """A whole number from the address, clamped to ``ends`` and to ``last``, which changes with the questions."""
    least, most = ends[0], ends[1] if last is None else last
    wrong = url_state.within(key, least, most)
    value = st.number_input(
        label, *ends, first, step=1, key=key, bind="query-params", persist_state="session", help=hint
    )
    number = min(max(int(value), least), most)
    url_state.number(key, wrong, number)
    return number


def _again(quiz: Quiz) -> None:
    """Start another round: a callback. Seeds are consecutive, so that a round can be repeated."""
    st.session_state[PLACE] = 1
    st.session_state[SEED] = (quiz.seed + 1) % (MOST_SEED + 1)


def _score(quiz: Quiz) -> None:
    done, found, first = quiz.score
    if not quiz.questions:
        return
    parts = _("Question {place} of {count}", place=quiz.place + 1, count=len(quiz.questions))
    if done:
        parts += " · " + _("{found} of {done} correct, {first} on the first try", found=found, done=done, first=first)
    if quiz.before[0]:
        earlier = {"found": quiz.before[1] + found, "done": quiz.before[0] + done}
        parts += " · " + _("{found} of {done} correct in this visit", **earlier)
    st.html(f"<p class='bv-score' role='status'>{html.escape(parts)}</p>")
    st.progress(done / len(quiz.questions))


def ask(quiz: Quiz) -> None:
    """At the end the result; the question in large type, its picture, the options as buttons, and the feedback."""
    question = quiz.question
    if quiz.score[0] == len(quiz.questions):
        _result(quiz)
    with st.container(key="quiz_asked"):
        st.html(f"<p class='bv-question'>{html.escape(_(question.prompt))}</p>")
    side_by_side = len(question.grids) == 1 and not question.grids[0].digits
    picture, choice = st.columns([1, 2], gap="medium") if side_by_side else (st.container(), st.container())
    if question.grids:
        with picture:
            st.html(figure_sheet.grids(question))
            show.note(_(READ_SO))
    with choice.container(key="quiz_options", gap="small"):
        _options(quiz, question, upright=side_by_side)
    with st.container(key="quiz_said"):
        _feedback(quiz, question)
    _navigation(quiz)


def _options(quiz: Quiz, question: Question, *, upright: bool) -> None:
    """A button for each option, side by side if they are short and there is no picture next to them."""
    short = not upright and max(len(_(option.text)) for option in question.options) < 24
    columns = st.columns(len(question.options) if short else 1, gap="small")
    taken, done = quiz.taken[quiz.place], quiz.done(quiz.place)
    for index, option in enumerate(question.options):
        right = done and index == question.answer
        mark = ":material/check: " if right else ":material/close: " if index in taken else ""
        columns[index if short else 0].button(
            mark + show.plain(_(option.text)),
            key=f"quiz_{quiz.seed}_{quiz.place}_{index}",
            width="stretch",
            type="primary" if right else "secondary",
            disabled=(done and not right) or (index in taken and not right),
            on_click=_answer,
            args=(quiz, quiz.place, index),
            shortcut=str(index + 1),
        )


def _answer(quiz: Quiz, index: int, option: int) -> None:
    """Record an answer: a callback."""
    if not quiz.done(index) and option not in quiz.taken[index]:
        quiz.taken[index].append(option)


def _feedback(quiz: Quiz, question: Question) -> None:
    """The explanation with a link; after a wrong option a hint, and the invitation to try again."""
    index, taken = quiz.place, quiz.taken[quiz.place]
    if quiz.done(index):
        verdict = _("Right.") if taken[-1:] == [question.answer] else _("The answer: {it}", it=_(question.right.text))
        st.success(f"**{show.plain(verdict)}** {show.plain(_(question.why))}")
        page.link(question.page, _("See it"), question.query, icon=":material/arrow_forward:")
    elif taken:
        st.info(f"{show.plain(_(question.options[taken[-1]].says))} {show.plain(_('Not quite; try another one.'))}")
        st.button(_("Show the answer"), key=f"quiz_show_{index}", type="tertiary", on_click=_show, args=(quiz, index))
    else:
        press = _("Or press its key, 1 to {count}.", count=len(question.options))
        show.note(_("Choose an answer."), keys=press)


def _show(quiz: Quiz, place: int) -> None:
    quiz.shown[place] = True


def _navigation(quiz: Quiz) -> None:
    """The buttons back and next."""
    last = len(quiz.questions) - 1
    with st.container(horizontal=True, gap="small"):
        st.button(
            _("Back"), key="quiz_back", disabled=quiz.place == 0, on_click=_go_to, args=(quiz.place,), shortcut="left"
        )
        st.button(
            _("Next question"),
            key="quiz_next",
            disabled=quiz.place == last,
            on_click=_go_to,
            args=(quiz.place + 2,),
            shortcut="right",
            type="primary" if quiz.done(quiz.place) and quiz.place < last else "secondary",
        )


def _result(quiz: Quiz) -> None:
    """The result of a round, and what to look at again."""
    count, found, first = quiz.score
    message = _(
        "All {count} questions answered: {found} correct, {first} of them on the first try.",
        count=count,
        found=found,
        first=first,
    )
    with st.container(border=True, key="quiz_result"):
        st.markdown(f"**{show.plain(message)}**")
        if not quiz.missed:
            show.note(_("Nothing missed. Continue with new questions, another text or a higher level."))
            return
        show.note(_("To review:"))
        for place in quiz.missed:
            label = f"{place + 1}. {show.plain(_(quiz.questions[place].prompt))}"
            st.button(label, key=f"quiz_missed_{place}", type="tertiary", on_click=_go_to, args=(place + 1,))


def _go_to(number: int) -> None:
    """Go to a question, by its number from 1: a callback."""
    st.session_state[PLACE] = number


def _sheets(quiz: Quiz) -> None:
    """The link to the same quiz, and the files, with or without the answers."""
    whole = link(quiz)
    st.code(whole, language=None, wrap_lines=True)
    show.note(_("Anyone who opens this link gets the same questions."))
    share.note_local(whole)
    answers = st.toggle(_("With the answers"), key="quiz_answers")
    content, spoken = "answers" if answers else "questions", current()
    address = partial(_address, record_link.query(quiz.record), st.context.url)

    def made(ending: str) -> bytes:
        with speaking(spoken):
            if ending == "csv":
                table = figure_sheet.table(quiz.questions, address=address, asked=partial(_question_query, quiz))
                return export.csv(table if answers else table.drop(columns=["answer", "why", "page", "link"]))
            write = figure_sheet.page if ending == "html" else figure_sheet.markdown
            return write(quiz.questions, quiz.record, quiz.seed, answers=answers).encode("utf-8", "replace")

    with st.container(horizontal=True, gap="small"):
        for name, ending, mime in (
            ("HTML", "html", "text/html"),
            ("Markdown", "md", "text/markdown"),
            ("CSV", "csv", "text/csv"),
        ):
            st.download_button(
                name,
                partial(made, ending),
                file_name=f"bartviz-quiz-{quiz.seed}-{content}.{ending}",
                mime=mime,
                on_click="ignore",
                key=f"quiz_{ending}",
            )
    count = len(quiz.questions)
    show.note(plural("{count} question, ready to print.", "{count} questions, ready to print.", count))


def link(quiz: Quiz) -> str:
    """The address of this quiz: its seed and, unless the record is the app's first one, the address words that
    reproduce the record."""
    record_words = {} if quiz.record is first_record.record() else record_link.query(quiz.record)
    query = _question_query(quiz, 1)
    del query[PLACE]
    return _address(record_words, st.context.url, "quiz", query)


def _question_query(quiz: Quiz, number: int) -> dict[str, str]:
    """The address words of a question of the quiz, by its number from 1."""
    level = {} if quiz.level == levels.DEFAULT else {levels.KEY: quiz.level}
    return {SEED: str(quiz.seed), NUMBER: str(quiz.wanted), PLACE: str(number), **level}


def _address(record_words: Mapping[str, str], here: str | None, page: str, query: Mapping[str, str]) -> str:
    """The link to a page from ``here``, the address of the quiz, with the address words of its record.

    Empty if the menu does not have that page.
    """
    if not page_list.has(page):
        return ""
    home = (here or "").split("?")[0].rsplit("/", 1)[0]
    return f"{home}{figure_sheet.path(page, {**query, **record_words})}"
