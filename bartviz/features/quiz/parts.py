"""The parts of the quiz page: one question at a time, feedback on the answer, the score, sheets for a class."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.app.components.invisible import unseen
from bartviz.app.components.link_field import link_field
from bartviz.app.controls import export, pick, show
from bartviz.app.frame import levels, page, page_list, record_link, share
from bartviz.app.state import url_state
from bartviz.features.quiz import COUNT, MOST_QUESTIONS, MOST_SEED, figure_sheet, questions
from bartviz.features.quiz.question import READ_SO, Question
from bartviz.language import _, current, mark, plural, speaking
from bartviz.serving import first_record

if TYPE_CHECKING:
    from bartviz.app.streamlit_internals import DeltaGenerator
    from bartviz.record.record import Record

STYLE = Path(__file__).with_name("style.css")
SEED, NUMBER, PLACE = "quiz_seed", "quiz_count", "quiz_question"
_QUIZ, _TOUCHED, _CLASS = "_quiz", "quiz_touched", "quiz_class"
_TOUCH = unseen("quiz_touch", Path(__file__).with_name("touch.js"))
WORDS_ALONE = mark("The tokens in their order. There is no map here: it would show the answer.")
HIDDEN = mark("You will see the framed word’s ribbons once you have answered. What do the other ribbons suggest?")
TOUCH = {
    "row": mark("Touch the row."),
    "column": mark("Touch the column."),
    "cell": mark("Touch the cell in the map."),
    "map": mark("Touch the map."),
    "word": mark("Touch the token."),
    "ribbon": mark("Touch the word in the picture."),
}


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
    ended: bool = False  # whether the result is shown

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
    def marks(self) -> dict[str, str]:
        """The places of the picture that were touched, and once it is found the right one."""
        touch, taken = self.question.touch, self.taken[self.place]
        if touch is None:
            return {}

        def at(row: int, place: int) -> str:
            return f"{row} {place}" if touch.what == "cell" else str(place)

        marks = {at(touch.row, touch.places[option]): "wrong" for option in taken if option >= 0}
        if self.done(self.place):
            marks[at(touch.row, touch.places[self.question.answer])] = "right"
        return marks

    @property
    def score(self) -> tuple[int, int, int]:
        """The numbers of questions tried, found, and found at the first try in this round."""
        places = range(len(self.questions))
        first = sum(self.taken[at][:1] == [self.questions[at].answer] for at in places)
        return sum(map(self.tried, places)), sum(map(self.found, places)), first

    @property
    def again(self) -> list[int]:
        """Up to three questions that were tried and not found at once, of different kinds where there are such."""
        missed = [at for at, one in enumerate(self.questions) if self.tried(at) and self.taken[at][:1] != [one.answer]]
        kinds = [self.questions[at].kind for at in missed]
        repeated = [at for number, at in enumerate(missed) if kinds[number] in kinds[:number]]
        return sorted(sorted(missed, key=lambda at: at in repeated)[:3])


def make_quiz(record: Record, seed: int, count: int) -> Quiz:
    """The quiz of this visit: the current round, or a new one if the record, seed or count has changed, or the level
    where no answer would be lost by it."""
    kept: Quiz | None = st.session_state.get(_QUIZ)
    level = levels.current()
    same = kept is not None and kept.record is record and (kept.seed, kept.wanted) == (seed, count)
    if kept is not None and same and (kept.level == level or (kept.score[0] and not kept.ended)):
        return kept
    drawn = questions(record, seed, count, level=level)
    before = (0, 0, 0)
    if kept is not None:
        if any(kept.taken) or any(kept.shown):  # else nothing was answered: the text of a link may just have arrived
            url_state.put_number(PLACE, 1)
        before = (kept.before[0] + kept.score[0], kept.before[1] + kept.score[1], kept.before[2] + kept.score[2])
    taken: list[list[int]] = [[] for _one in drawn]
    quiz = Quiz(record, seed, drawn, taken, [False] * len(drawn), before=before, wanted=count, level=level)
    st.session_state[_QUIZ] = quiz
    return quiz


def choose(record: Record) -> tuple[Quiz, DeltaGenerator]:
    """The score, and below the place of the question the button for new ones and the popover with the seed, the number
    of questions and the sheets; returns the quiz and that place."""
    line, body = show.place("quiz_score"), show.place("quiz_body")
    button, popover, _room = show.halves("quiz", [1.1, 1.1, 3], align="center")
    with popover:
        held, shown = pick.popover(_("For a class"), key=_CLASS)
    with held:
        hint = _("The same text, model and number give the same questions.")
        seed = _number(_("Number of this quiz"), SEED, (0, MOST_SEED), 7, hint, shown=shown)
        count = _number(_("How many questions"), NUMBER, (1, MOST_QUESTIONS), COUNT, None, shown=shown)
        quiz = make_quiz(record, seed, count)
        hint = _("Counted from 1. It is part of the page's address, so a link opens this question.")
        last = max(len(quiz.questions), 1)
        quiz.place = _number(_("Question shown"), PLACE, (1, MOST_QUESTIONS), 1, hint, last=last, shown=shown) - 1
        if quiz.questions:
            _sheets(quiz)
    with button:
        _new(quiz)
    with line:
        _score(quiz)
    return quiz, body


def _number(
    label: str, key: str, ends: tuple[int, int], first: int, hint: str | None, *, last: int | None = None, shown: bool
) -> int:
    """A whole number from the address, clamped to ``ends`` and to ``last``, which changes with the questions."""
    if not shown:
        url_state.hold(key, first)
    least, most = ends[0], ends[1] if last is None else last
    wrong = url_state.within(key, least, most)
    value = st.number_input(
        label, *ends, first, step=1, key=key, bind="query-params", persist_state="session", help=hint
    )
    number = min(max(int(value), least), most)
    url_state.number(key, wrong, number)
    url_state.keep(key, number, first)
    return number


def _new(quiz: Quiz) -> None:
    """The button for another round; it asks first where that throws answers away."""
    answered = quiz.score[0]
    if not answered or quiz.ended:
        st.button(_("New questions"), key="quiz_renew", width="stretch", on_click=_again, args=(quiz,))
    elif st.button(_("New questions"), key="quiz_renew", width="stretch"):
        st.dialog(_("New questions?"))(_confirm)(quiz, answered)


def _confirm(quiz: Quiz, answered: int) -> None:
    """What is lost with another round, and the choice."""
    count = len(quiz.questions)
    st.write(_("You have answered {answered} of {count} questions.", answered=answered, count=count))
    st.write(_("New questions replace these and your answers to them."))
    with st.container(horizontal=True, gap="small"):
        new = st.button(_("New questions"), key="quiz_replace", type="primary", on_click=_again, args=(quiz,))
        if st.button(_("Keep these questions"), key="quiz_keep") or new:
            st.rerun()


def _again(quiz: Quiz) -> None:
    """Start another round: a callback. Seeds are consecutive, so that a round can be repeated."""
    url_state.put_number(PLACE, 1)
    url_state.put_number(SEED, (quiz.seed + 1) % (MOST_SEED + 1))


def _score(quiz: Quiz) -> None:
    done, found, first = quiz.score
    if not quiz.questions:
        return
    place = {"place": quiz.place + 1, "count": len(quiz.questions)}
    parts = _("Your result") if quiz.ended else _("Question {place} of {count}", **place)
    parts += " · " + _("Level: {level}", level=_(levels.NAMES[quiz.level]))
    if quiz.level != (chosen := levels.current()):
        parts += " · " + _("new questions will be for: {level}", level=_(levels.NAMES[chosen]))
    if done and not quiz.ended:
        parts += " · " + _("{found} of {done} correct, {first} on the first try", found=found, done=done, first=first)
    if quiz.before[0]:
        earlier = {"found": quiz.before[1] + found, "done": quiz.before[0] + done}
        parts += " · " + _("{found} of {done} correct in this visit", **earlier)
    here = -1 if quiz.ended else quiz.place
    tried = "".join(
        f"<i class='{'bv-on' if quiz.tried(at) else ''}{' bv-here' if at == here else ''}'></i>"
        for at in range(len(quiz.questions))
    )
    score = f"<p class='bv-score' role='status'>{html.escape(parts)}</p>"
    st.html(f"{score}<p class='bv-segments' aria-hidden='true'>{tried}</p>")


def ask(quiz: Quiz) -> None:
    """The question in large type, its picture, which is touched, or else the options as buttons, and the feedback."""
    question = quiz.question
    with st.container(key="quiz_asked"):
        st.html(f"<p class='bv-question' tabindex='-1'>{html.escape(_(question.prompt))}</p>{_how(question)}")
    beside = len(question.grids) == 1 and not question.grids[0].digits
    widths = [5, 3] if _has_ribbons(question) else [1, 1]
    picture, choice = st.columns(widths, gap="medium") if beside else (st.container(), st.container())
    with picture:
        _picture(quiz, question)
    with choice:
        if question.touch is None:
            with st.container(key="quiz_options", gap="small"):
                _options(quiz, question, upright=beside)
        with st.container(key="quiz_said"):
            _feedback(quiz, question)
        _navigation(quiz)


def _how(question: Question) -> str:
    """How a question is answered in its picture, as HTML; empty for one that has buttons."""
    if question.touch is None:
        return ""
    touch = html.escape(_(TOUCH["ribbon" if _has_ribbons(question) else question.touch.what]))
    keys = html.escape(_("Or use Tab, the arrow keys and Enter."))
    hidden = html.escape(_(HIDDEN)) + " " if question.hidden else ""
    return f"<p class='bv-do'>{hidden}{touch} <span class='bv-keys'>{keys}</span></p>"


def _picture(quiz: Quiz, question: Question) -> None:
    """The picture of a question; where its parts are the options, they can be touched."""
    if question.touch is not None or question.grids:
        with st.container(key="quiz_picture"):
            st.html(figure_sheet.picture(question, quiz.marks))
    with st.container(key="quiz_listen"):
        answers = len(quiz.taken[quiz.place]) + quiz.shown[quiz.place]
        told = {"box": "quiz_picture", "question": f"{quiz.seed}/{quiz.place}", "answers": answers}
        _TOUCH(key=_TOUCHED, data=told, on_touched_change=partial(_touched, quiz))
    if question.grids:
        show.note(
            _("The wider a ribbon, the more this attention head, one small part of the model, looked there.")
            if _has_ribbons(question)
            else _(READ_SO)
        )
    elif question.line:
        show.note(_(WORDS_ALONE))


def _has_ribbons(question: Question) -> bool:
    return any(grid.ribbons for grid in question.grids)


def _touched(quiz: Quiz) -> None:
    """Take the part of the picture that was touched for an answer: a callback. What a browser sends is untrusted."""
    sent = st.session_state.get(_TOUCHED, {}).get("touched")
    if not isinstance(sent, Mapping) or sent.get("question") != f"{quiz.seed}/{quiz.place}":
        return
    touch, place = quiz.question.touch, str(sent.get("place"))
    numbers = [int(one) for one in place.split(" ") if one.isdecimal() and len(one) < 4]
    if touch is None or len(numbers) != (2 if touch.what == "cell" else 1):
        return
    if touch.what == "cell" and numbers[0] != touch.row:
        if numbers[0] < len(quiz.question.grids[0].rows) and not quiz.done(quiz.place):
            quiz.taken[quiz.place].append(-1 - numbers[0])
    elif numbers[-1] in touch.places:
        _answer(quiz, quiz.place, touch.places.index(numbers[-1]))


def _options(quiz: Quiz, question: Question, *, upright: bool) -> None:
    """A button for each option, side by side if they are short and there is no picture next to them."""
    options = question.options
    short = not upright and max(len(_(option.text)) for option in options) < 24
    columns = st.columns(len(options) if short else 1, gap="small")
    taken, done = quiz.taken[quiz.place], quiz.done(quiz.place)
    for index, option in enumerate(options):
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
        st.html(_verdict("bv-said-right", verdict, _(question.why)))
        page.link(question.page, _("See it"), question.query, icon=":material/arrow_forward:")
    elif taken:
        st.html(_verdict("bv-said-wrong", _("Not quite:"), _says(question, taken[-1]), _("Try another one.")))
        st.button(_("Show the answer"), key=f"quiz_show_{index}", type="tertiary", on_click=_show, args=(quiz, index))
    elif question.touch is not None:
        st.html(f"<p class='bv-awaited'>{html.escape(_('Here you will see whether you are right.'))}</p>")
    else:
        press = _("Or press its key, 1 to {count}.", count=len(question.options))
        show.note(_("Choose an answer."), keys=press)


def _verdict(name: str, verdict: str, *rest: str) -> str:
    """What is said of an answer, the verdict first; it has the focus when it has been given."""
    said = html.escape(" ".join(rest))
    return f"<p class='bv-verdict {name}' role='status' tabindex='-1'><b>{html.escape(verdict)}</b> {said}</p>"


def _says(question: Question, taken: int) -> str:
    """What is true of a wrong answer: an option, or a row that was not asked about (as -1 - row)."""
    if taken >= 0 or question.touch is None:
        return _(question.options[taken].says)
    names = question.grids[0].rows
    return _(
        "That cell is in the row “{touched}”; the question is about the row “{asked}”.",
        touched=names[-1 - taken],
        asked=names[question.touch.row],
    )


def _show(quiz: Quiz, place: int) -> None:
    quiz.shown[place] = True


def _navigation(quiz: Quiz) -> None:
    """The buttons back and next, which skips a question that nothing was answered to; after the last one comes the
    result."""
    last = quiz.place == len(quiz.questions) - 1
    done = quiz.score[0] == len(quiz.questions) if last else quiz.done(quiz.place)
    onward = _("Next question") if quiz.tried(quiz.place) else _("Skip this question")
    with st.container(horizontal=True, gap="small"):
        st.button(
            _("Back"),
            key="quiz_back",
            disabled=quiz.place == 0,
            on_click=_go_to,
            args=(quiz, quiz.place),
            shortcut="left",
        )
        st.button(
            _("Your result") if last else onward,
            key="quiz_next",
            on_click=_end if last else _go_to,
            args=(quiz,) if last else (quiz, quiz.place + 2),
            shortcut="right",
            type="primary" if done else "secondary",
        )


def result(quiz: Quiz) -> None:
    """The end of a round: the score, up to three things to look at again, each with a reason and a link, and again."""
    count, (done, found, first) = len(quiz.questions), quiz.score
    with st.container(key="quiz_result"):
        score = _("{first} of {count} on the first try", first=first, count=count)
        more = _("{found} found in the end, {left} not answered.", found=found, left=count - done)
        st.html(f"<p class='bv-question' role='status'>{html.escape(score)}</p>")
        if found > first or done < count:
            show.note(more)
        again = quiz.again
        if again:
            show.lead(_("To look at again:"))
        elif done < count:
            show.lead(_("Go back to the questions that you have not answered."))
        else:
            show.lead(_("Nothing missed. Continue with new questions, another text or a higher level."))
        for place, column in zip(again, st.columns(3, gap="small"), strict=False):
            with column.container(border=True, height="stretch", key=f"quiz_again_{place}"):
                _once_more(quiz, place)
        with st.container(horizontal=True, gap="small"):
            st.button(_("New questions"), key="quiz_new", type="primary", on_click=_again, args=(quiz,))
            st.button(_("The same ones again"), key="quiz_same", on_click=_repeat, args=(quiz,))
            left = next((place for place in range(count) if not quiz.tried(place)), count - 1)
            st.button(
                _("Back to the questions"), key="quiz_back", type="tertiary", on_click=_go_to, args=(quiz, left + 1)
            )


def _once_more(quiz: Quiz, place: int) -> None:
    """A question that was missed: what was answered, what is right, and the page that shows it."""
    question, taken = quiz.questions[place], quiz.taken[place]
    number = {"number": place + 1, "prompt": show.plain(_(question.prompt))}
    st.button(
        _("{number}. {prompt}", **number),
        key=f"quiz_missed_{place}",
        type="tertiary",
        on_click=_go_to,
        args=(quiz, place + 1),
    )
    wrong = next((one for one in taken if one != question.answer), None)
    said = _says(question, wrong) if wrong is not None else _("You had the answer shown.")
    show.note(said)
    show.note(_("The answer: {it}", it=_(question.right.text)))
    page.link(question.page, _("See it"), question.query, icon=":material/arrow_forward:")


def _end(quiz: Quiz) -> None:
    """Show the result: a callback."""
    quiz.ended = True


def _repeat(quiz: Quiz) -> None:
    """Ask the same questions again, from the first one: a callback."""
    quiz.taken = [[] for _one in quiz.questions]
    quiz.shown = [False] * len(quiz.questions)
    _go_to(quiz, 1)


def _go_to(quiz: Quiz, number: int) -> None:
    """Go to a question, by its number from 1: a callback."""
    quiz.ended = False
    url_state.put_number(PLACE, number)


def _sheets(quiz: Quiz) -> None:
    """The link to the same quiz, and the files, with or without the answers."""
    whole = link(quiz)
    link_field(whole, key=f"{_CLASS}_link")
    show.note(_("Anyone who opens this link gets the same questions."))
    share.note_local(whole)
    if not share.is_local(whole):
        share.scan(whole, key=_CLASS)
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
    if quiz.wanted == COUNT:
        del query[NUMBER]
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
    return share.addressed(f"{home}/{page}", {**query, **record_words})
