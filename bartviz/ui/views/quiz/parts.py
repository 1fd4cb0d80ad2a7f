"""The parts of the quiz page: one question at a time, what is said of an answer, the score, the sheets for a class."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from bartviz import export
from bartviz.language import _, current, plural, speaking
from bartviz.serving import first_record
from bartviz.teaching.quiz import COUNT, MOST_QUESTIONS, MOST_SEED, questions, sheet
from bartviz.teaching.quiz.question import READ_SO, Question
from bartviz.ui.controls import show
from bartviz.ui.frame import record_link, sitemap
from bartviz.ui.state import address

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bartviz.record.record import Record

STYLE = Path(__file__).with_name("quiz.css")
SEED, NUMBER, PLACE = "quiz_seed", "quiz_count", "quiz_question"
_QUIZ = "_quiz"


@dataclass
class Quiz:
    """A visitor's quiz: the questions of this round, the options taken of each, and what earlier rounds brought.

    The only thing of the quiz in the session; fetched once a run and changed by plain writes.
    """

    record: Record
    seed: int
    questions: tuple[Question, ...]
    taken: list[list[int]]
    shown: list[bool]
    place: int = 0
    before: tuple[int, int, int] = (0, 0, 0)
    wanted: int = field(default=COUNT)

    @property
    def question(self) -> Question:
        return self.questions[self.place]

    def found(self, place: int) -> bool:
        """Whether the right option of a question has been taken."""
        return self.questions[place].answer in self.taken[place]

    def done(self, place: int) -> bool:
        """Whether there is nothing more to find in a question."""
        return self.found(place) or self.shown[place]

    @property
    def score(self) -> tuple[int, int, int]:
        """Questions done, found, and found at the first try: in this round."""
        places = range(len(self.questions))
        first = sum(self.taken[at][:1] == [self.questions[at].answer] for at in places)
        return sum(map(self.done, places)), sum(map(self.found, places)), first


def of(record: Record, seed: int, count: int) -> Quiz:
    """The quiz of this visit: the one that goes on, or a new round where record, seed or count are others."""
    kept: Quiz | None = st.session_state.get(_QUIZ)
    if kept is not None and kept.record is record and (kept.seed, kept.wanted) == (seed, count):
        return kept
    found = questions(record, seed, count)
    before = (0, 0, 0)
    if kept is not None:
        if any(kept.taken) or any(kept.shown):  # else nobody has begun: a link's own text may just have come
            st.session_state[PLACE] = 1
        before = (kept.before[0] + kept.score[0], kept.before[1] + kept.score[1], kept.before[2] + kept.score[2])
    made = Quiz(record, seed, found, [[] for _one in found], [False for _one in found], before=before, wanted=count)
    st.session_state[_QUIZ] = made
    return made


def choose(record: Record) -> Quiz:
    """The seed and the number of questions, folded away with the sheets; and the quiz that they make."""
    line, button, popover = st.columns([3, 1.1, 1.1], vertical_alignment="center")
    with popover, st.popover(_("For a class"), width="stretch"):
        seed = _number(_("Seed"), SEED, (0, MOST_SEED), 7, _("The same text, model and seed give the same questions."))
        count = _number(_("Questions"), NUMBER, (1, MOST_QUESTIONS), COUNT, None)
        quiz = of(record, seed, count)
        hint = _("From 1. The address of the page says it, so that a link opens this question.")
        at = _number(_("Question"), PLACE, (1, MOST_QUESTIONS), 1, hint)
        quiz.place = max(min(at, len(quiz.questions)), 1) - 1
        if quiz.questions:
            _sheets(quiz)
    with button:
        st.button(_("New questions"), width="stretch", on_click=_again, args=(quiz,))
    with line:
        _score(quiz)
    return quiz


def _number(label: str, key: str, ends: tuple[int, int], first: int, hint: str | None) -> int:
    """A whole number of the address, clamped."""
    address.finite(key)
    held = st.session_state.get(key)
    if held is not None and not ends[0] <= held <= ends[1]:
        st.session_state[key] = first
    value = st.number_input(
        label, *ends, first, step=1, key=key, bind="query-params", persist_state="session", help=hint
    )
    return min(max(int(value), ends[0]), ends[1])


def _again(quiz: Quiz) -> None:
    """Another round: a callback. The seeds of a visit follow each other, so that a round can be made again."""
    st.session_state[PLACE] = 1
    st.session_state[SEED] = (quiz.seed + 1) % (MOST_SEED + 1)


def _score(quiz: Quiz) -> None:
    done, found, first = quiz.score
    if not quiz.questions:
        return
    said = _("Question {place} of {count}", place=quiz.place + 1, count=len(quiz.questions))
    if done:
        said += " · " + _("{found} of {done} found, {first} at the first try", found=found, done=done, first=first)
    if quiz.before[0]:
        earlier = {"found": quiz.before[1] + found, "done": quiz.before[0] + done}
        said += " · " + _("in this visit {found} of {done}", **earlier)
    st.html(f"<p class='bv-score' role='status'>{html.escape(said)}</p>")
    st.progress(done / len(quiz.questions))


def ask(quiz: Quiz) -> None:
    """The question in large type, what there is to look at, the options as buttons, and what is said of an answer."""
    question = quiz.question
    st.html(f"<p class='bv-question'>{html.escape(_(question.prompt))}</p>")
    beside = len(question.grids) == 1 and not question.grids[0].digits
    picture, choice = st.columns([1, 2], gap="medium") if beside else (st.container(), st.container())
    if question.grids:
        with picture:
            st.html(sheet.grids(question))
            show.note(_(READ_SO))
    with choice.container(key="quiz_options", gap="small"):
        _options(quiz, question, upright=beside)
    with st.container(key="quiz_said"):
        _said(quiz, question)
    _ways(quiz)


def _options(quiz: Quiz, question: Question, *, upright: bool) -> None:
    """A button for each option: side by side where they are short and nothing stands beside them."""
    short = not upright and max(len(_(option.text)) for option in question.options) < 24
    columns = st.columns(len(question.options) if short else 1, gap="small")
    taken, done = quiz.taken[quiz.place], quiz.done(quiz.place)
    for at, option in enumerate(question.options):
        right = done and at == question.answer
        mark = ":material/check: " if right else ":material/close: " if at in taken else ""
        columns[at if short else 0].button(
            mark + show.plain(_(option.text)),
            key=f"quiz_{quiz.seed}_{quiz.place}_{at}",
            width="stretch",
            type="primary" if right else "secondary",
            disabled=(done and not right) or (at in taken and not right),
            on_click=_take,
            args=(quiz, quiz.place, at),
            shortcut=str(at + 1),
        )


def _take(quiz: Quiz, place: int, option: int) -> None:
    """Take in an answer: a callback."""
    if not quiz.done(place) and option not in quiz.taken[place]:
        quiz.taken[place].append(option)


def _said(quiz: Quiz, question: Question) -> None:
    """The explanation with its link; after a wrong option what was nearly right, and that one may try again."""
    place, taken = quiz.place, quiz.taken[quiz.place]
    if quiz.done(place):
        said = _("Right.") if taken[-1:] == [question.answer] else _("The answer: {it}", it=_(question.right.text))
        st.success(f"**{show.plain(said)}** {show.plain(_(question.why))}")
        st.page_link(
            sitemap.page(question.page).file,
            label=_("See it"),
            icon=":material/arrow_forward:",
            query_params=dict(question.query),
        )
    elif taken:
        st.info(f"{show.plain(_(question.options[taken[-1]].says))} {show.plain(_('Not yet; try another one.'))}")
        st.button(_("Show the answer"), key=f"quiz_show_{place}", type="tertiary", on_click=_show, args=(quiz, place))
    else:
        show.note(_("Choose an answer, or press its key, 1 to {count}.", count=len(question.options)))


def _show(quiz: Quiz, place: int) -> None:
    quiz.shown[place] = True


def _ways(quiz: Quiz) -> None:
    """Back and on; at the end what came of it."""
    last = len(quiz.questions) - 1
    with st.container(horizontal=True, gap="small"):
        st.button(
            _("Back"), key="quiz_back", disabled=quiz.place == 0, on_click=_go, args=(quiz.place,), shortcut="left"
        )
        st.button(
            _("Next question"),
            key="quiz_next",
            disabled=quiz.place == last,
            on_click=_go,
            args=(quiz.place + 2,),
            shortcut="right",
            type="primary" if quiz.done(quiz.place) and quiz.place < last else "secondary",
        )
    done, found, first = quiz.score
    if done == len(quiz.questions):
        st.success(
            show.plain(
                _(
                    "All {count} questions answered: {found} found, {first} of them at the first try.",
                    count=done,
                    found=found,
                    first=first,
                )
            )
        )


def _go(number: int) -> None:
    """To a question, by its number from 1: a callback."""
    st.session_state[PLACE] = number


def _sheets(quiz: Quiz) -> None:
    """The link that makes the same quiz, and the files: with the answers, or without."""
    st.code(link(quiz), language=None, wrap_lines=True)
    show.note(_("Who opens this link gets the same questions."))
    answers = st.toggle(_("With the answers"), key="quiz_answers")
    told, spoken = "answers" if answers else "questions", current()
    address = partial(_address, record_link.query(quiz.record), st.context.url)

    def made(ending: str) -> bytes:
        with speaking(spoken):
            if ending == "csv":
                table = sheet.table(quiz.questions, address=address, asked=partial(_asked, quiz))
                return export.csv(table if answers else table.drop(columns=["answer", "why", "page", "link"]))
            write = sheet.page if ending == "html" else sheet.markdown
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
                file_name=f"bartviz-quiz-{quiz.seed}-{told}.{ending}",
                mime=mime,
                on_click="ignore",
                key=f"quiz_{ending}",
            )
    count = len(quiz.questions)
    show.note(plural("{count} question, ready to print.", "{count} questions, ready to print.", count))


def link(quiz: Quiz) -> str:
    """The address of this very quiz: its seed and, where the record is not the one that every visit begins with, what
    the record was made from."""
    made = {} if quiz.record is first_record.record() else record_link.query(quiz.record)
    query = _asked(quiz, 1)
    del query[PLACE]
    return _address(made, st.context.url, "quiz", query)


def _asked(quiz: Quiz, number: int) -> dict[str, str]:
    """The words of an address that ask a question of the quiz, by its number from 1."""
    return {SEED: str(quiz.seed), NUMBER: str(quiz.wanted), PLACE: str(number)}


def _address(made: Mapping[str, str], here: str | None, page: str, query: Mapping[str, str]) -> str:
    """The link to a page from ``here``, the address of the quiz: with what its record is made from."""
    home = (here or "").split("?")[0].rsplit("/", 1)[0]
    return f"{home}{sheet.path(page, {**query, **made})}"
