"""A visitor's position in a lesson: one object in the session, and ``lesson`` and ``at`` in the address.

A script run calls ``prepare`` before any widget is drawn. It sets the view of a new step, on the page that the step
names. Every run sets it again until one of them has completed (``drawn``): the browser may interrupt a run, and values
that it sent in the meantime would otherwise override the step. For the same reason callbacks set a state rather than
toggle one: they may run twice.

A lesson can be walked with a visitor's own text: its record then takes the place of that of every step, and steps that
cannot be asked of it are passed over, with a word about each. The text is in the address; a link to such a lesson runs
it, on the page Lessons, before the first step.

The view of a step is on loan: on any other page, and after the lesson, the visitor has the choices of before again. So
is that of an example, which a page of the section "Learn" links to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from bartviz.analysis.start import ribbons as words_of
from bartviz.app import streamlit_internals
from bartviz.app.controls import large_type, pick
from bartviz.app.frame import page_hooks, page_list, record_link
from bartviz.app.state import session, url_state
from bartviz.errors import BartvizError, TextError
from bartviz.features.lessons.answers import Painted, Touched
from bartviz.features.lessons.lesson import ADDRESS, Lesson, Reply, Step
from bartviz.features.lessons.parts_course import LESSONS
from bartviz.language import _
from bartviz.record.vocabulary import GIVEN_TARGET
from bartviz.serving import first_record
from bartviz.serving import saved_records as records
from bartviz.serving.request import Request

if TYPE_CHECKING:
    from bartviz.record.record import Record

LESSON, AT, CATALOGUE = "lesson", "at", "lessons"
OWN, OWN_MODEL = page_hooks.OWN, "own_model"  # the visitor's own text, and the model that reads it if it is another one
_WRITTEN = (LESSON, AT, OWN, OWN_MODEL)
MODEL = "bart-tiny-en-de"  # reads a visitor's own text
LONGEST, LEAST_WORDS = 200, 3  # characters of that text, and words of each of its two sides
BY_WORD: dict[str, Lesson] = {lesson.word: lesson for lesson in LESSONS}
if "pitfalls" in BY_WORD:
    BY_WORD["fooled"] = BY_WORD["pitfalls"]  # the word in older links
_STATE, _PLAYER, _ECHO = "_lesson_state", "_player_place", "_echo"
FRAME = ("lang", "level")  # words of the address that belong to no page
_KEPT = ("model", "text", "pair", "target", "special")
_POSITIONS = (_PLAYER, "_decoding_said")  # choices that the pages store in the session, not as words of the address
# Words of the address that choose no view: they stay as the visitor has set them.
EVERYWHERE = frozenset((*FRAME, *_KEPT, *_WRITTEN, large_type.KEY, "too_long"))
_TEACHING = frozenset(page.word for section in page_list.SECTIONS if section.label == "Learn" for page in section.pages)


@dataclass(frozen=True)
class _Before:
    """The state before the lesson: the visitor's record, if any, and the sidebar's controls."""

    record: Record | None
    controls: Mapping[str, object]


@dataclass(frozen=True)
class _Awaited:
    """A lesson that starts when the run of the visitor's own text has ended."""

    lesson: Lesson
    at: int
    request: Request


class Passed(NamedTuple):
    """A step that cannot be asked of the visitor's own text, and why."""

    at: int
    reason: str


@dataclass
class _Loan:
    """The visitor's choices, and what the session held of them, while ``page`` shows a step or an example.

    ``keys``: what the steps have set.
    """

    page: str
    choices: Mapping[str, url_state.Words | None]
    held: Mapping[str, object]
    keys: set[str] = field(default_factory=set)


@dataclass
class LessonState:
    """The lesson state of a session. ``at`` counts from 0; ``reached`` is the number of steps seen in each lesson."""

    lesson: Lesson | None = None
    at: int = 0
    shown: bool = False  # whether the answer is visible
    due: bool = False  # whether the view of the step must still be set
    to: str = ""  # the next page, if it is not that of a step
    said: Reply | str | None = None  # what was said of the visitor's last answer to this step
    told: bool = False  # whether the answer has just been shown or hidden, so that the page still has to follow
    framed: bool = False  # whether the sidebar and the menu are there during a lesson
    reached: dict[str, int] = field(default_factory=dict)
    answered: dict[str, set[int]] = field(default_factory=dict)  # the steps of each lesson that were answered
    revealed: dict[str, set[int]] = field(default_factory=dict)  # the steps whose answer was asked for in this visit
    tries: dict[str, dict[int, bool]] = field(default_factory=dict)  # whether a step's first was right
    places: dict[str, int] = field(default_factory=dict)  # the current step of each lesson
    before: _Before | None = None
    loan: _Loan | None = None
    page: str = ""  # the page of the last script run
    finished: Lesson | None = None  # the lesson that has just ended, until another one starts
    asked: dict[str, str] = field(default_factory=dict)  # what the address asked for in vain, by its key
    own: Record | None = None  # the visitor's own record, in place of those of the steps
    awaited: _Awaited | None = None
    passed: tuple[Passed, ...] = ()  # the steps that the last move has passed over

    @property
    def step(self) -> Step | None:
        return self.lesson.steps[self.at] if self.lesson is not None else None

    @property
    def record(self) -> Record:
        """What the current step is about: the visitor's own record, or the saved one that it names."""
        assert self.step is not None
        return self.own or records.read(self.step.record)

    @property
    def said_of_passed(self) -> list[str]:
        """A sentence for each step that the last move has passed over."""
        return [
            _("Step {step} is left out with your text: {reason}.", step=one.at + 1, reason=one.reason)
            for one in self.passed
        ]

    def missing(self, lesson: Lesson, at: int) -> str:
        """Why a step cannot be asked of the visitor's own text; "" if it can, or there is none."""
        return "" if self.own is None else lesson.steps[at].missing(self.own)

    def next_asked(self, lesson: Lesson, at: int, by: int = 1) -> int:
        """The first step from ``at`` on, or back for ``by`` -1, that can be asked; beyond the ends if none can. Notes
        those that are passed over."""
        passed: list[Passed] = []
        while 0 <= at < len(lesson.steps) and (reason := self.missing(lesson, at)):
            passed.append(Passed(at, reason))
            at += by
        self.passed = tuple(passed)
        return at

    def go(self, lesson: Lesson, at: int, by: int = 1) -> None:
        """Go to a step of a lesson, or past it if it cannot be asked; ``at`` is clamped to its steps."""
        at = self.next_asked(lesson, min(max(at, 0), len(lesson.steps) - 1), by)
        if not 0 <= at < len(lesson.steps):
            at = min(max(self.next_asked(lesson, at - by, -by), 0), len(lesson.steps) - 1)
        self.shown, self.said = False, None
        self.lesson, self.at, self.finished = lesson, at, None
        self.due = True
        self.places[lesson.word] = at
        self.reached[lesson.word] = max(self.reached.get(lesson.word, 0), at + 1)

    def skipped(self, lesson: Lesson, at: int) -> bool:
        """Whether a step that asks for an answer was seen and left without one, the visitor's or the lesson's."""
        here = self.lesson is lesson and self.at == at
        return (
            not here
            and at not in self.revealed.get(lesson.word, ())
            and at < self.reached.get(lesson.word, 0)
            and not self.is_answered(lesson, at)
        )

    def is_answered(self, lesson: Lesson, at: int) -> bool:
        """Whether a step was answered; one that has nothing to answer is when it was seen."""
        if lesson.steps[at].answer is None:
            return at < self.reached.get(lesson.word, 0)
        return at in self.answered.get(lesson.word, ())

    def note_try(self, *, right: bool) -> None:
        """Note the first answer to the current step; an answer that was shown is none of the visitor's. A painted guess
        is not right or wrong."""
        if self.lesson is not None and self.step is not None and not isinstance(self.step.answer, Painted | None):
            self.tries.setdefault(self.lesson.word, {}).setdefault(self.at, right)

    def is_done(self, lesson: Lesson) -> bool:
        """Whether every step of a lesson was answered."""
        return all(self.is_answered(lesson, at) for at in range(len(lesson.steps)))


def current() -> LessonState:
    """The visitor's state; a new one starts at the step that the address names."""
    state: LessonState | None = st.session_state.get(_STATE)
    if state is None:
        state = LessonState()
        _follow_address(state)
        st.session_state[_STATE] = state
    return state


def prepare(page: str) -> None:
    """Before any widget is drawn: set the view of a new step, on its page, and write the step to the address."""
    large_type.begin()
    state = current()
    if url_state.is_back():
        _back(state)
    _take_own(state)
    if state.to:
        if page != state.to:
            streamlit_internals.switch_page(page_list.page(state.to).file, _frame())
        state.to = ""
    step = state.step
    if step is not None and (state.due or (page == step.page and state.loan is None)):
        if page != step.page or _contradicted(step, state.record):
            streamlit_internals.switch_page(page_list.page(step.page).file, {**_frame(), **_address(state)})
        _lend(state, page)
        _apply(state, step)
    else:
        _restore_choices(state, page)
        if state.page in _TEACHING - {page} and not EVERYWHERE.issuperset(st.query_params):
            _lend(state, page)
    state.page = page
    _say_what_lacks(state, page)
    _write_address(state)


def drawn() -> None:
    """Note that a script run has completed, so everything it set was sent."""
    state: LessonState | None = st.session_state.get(_STATE)
    if state is not None:
        state.due = False
        url_state.restored()


def start(word: str, at: int) -> None:
    """Start or continue a lesson at a step: a callback."""
    state = current()
    _save(state)
    state.own = state.awaited = None
    if at == 0:
        state.tries.pop(word, None)
    state.go(BY_WORD[word], at)


def start_own(word: str, text: str) -> None:
    """Start a lesson with the visitor's own text, once a model has read it: a callback. The record that is shown takes
    its place if it is of that text and a link can make it again."""
    state, shown = current(), session.current_record()
    text = text.strip()
    if not text:
        return
    _save(state)
    if shown is not None and shown.source_text == text and is_usable(shown) and _is_plain(shown):
        _begin_own(state, BY_WORD[word], 0, shown)
    else:
        _wait_for(state, BY_WORD[word], 0, MODEL, text)


def lead(word: str, record: Record) -> bool:
    """Start the lesson of a file, whose record was opened; whether it can be walked with it: a callback."""
    state, lesson = current(), BY_WORD.get(word)
    if lesson is None or not lesson.takes_own or not is_usable(record):
        return False
    _save(state)
    _begin_own(state, lesson, 0, record)
    return True


def is_usable(record: Record) -> bool:
    """Whether a lesson can be walked with a record: of an encoder and a decoder, with steps, and enough words to ask
    about."""
    if not record.steps or record.from_weights or record.kinds != ("encoder", "decoder", "cross"):
        return False
    ribbons = words_of(record)
    return all(sum(not word.special for word in line) >= LEAST_WORDS for line in (ribbons.above, ribbons.below))


def go_to(at: int) -> None:
    """Go to a step of the current lesson; after the last one, end the lesson: a callback."""
    state = current()
    if state.lesson is None:
        return
    by = -1 if at < state.at else 1
    if state.next_asked(state.lesson, at, by) >= len(state.lesson.steps):
        state.to = CATALOGUE
        state.places[state.lesson.word] = 0
        state.finished = state.lesson
        leave()
    else:
        state.go(state.lesson, at, by)


def reveal(shown: bool) -> None:
    """Show or hide the answer, and with it what was said of the visitor's: a callback."""
    state = current()
    state.shown = shown
    if shown:
        state.note_try(right=False)
        if state.lesson is not None:
            state.revealed.setdefault(state.lesson.word, set()).add(state.at)
    else:
        state.said = None


def guess_again() -> None:
    """Hide the answer again, from inside the step, so that another guess can be made: a callback."""
    reveal(shown=False)
    current().told = True


def answer(said: Touched | float) -> None:
    """Judge an answer to the current step: a callback."""
    state = current()
    if state.lesson is None:
        return
    state.said = state.lesson.reply(state.at, said, state.record)
    if isinstance(state.said, Reply):
        state.note_try(right=state.said.right)
    if isinstance(state.said, Reply) and state.said.settles:
        state.answered.setdefault(state.lesson.word, set()).add(state.at)
        state.shown = state.told = True


def frame(framed: bool) -> None:
    """Bring the sidebar and the menu back during a lesson, or hide them: a callback."""
    current().framed = framed


def again() -> None:
    """Set the view of the step once more: a callback."""
    current().due = True


def leave() -> None:
    """Leave the lesson and restore the visitor's earlier state: a callback."""
    state = current()
    before = state.before
    shown = st.session_state.get(session.RECORD)
    ours = any(shown is records.read(name) for name in records.NAMES)
    ours = ours or (shown is not None and shown is state.own)
    if before is not None and ours:
        _show(before.record, before.controls)
    state.before = state.own = None
    state.lesson, state.due, state.shown = None, False, False
    if state.loan is not None:
        state.loan.page = ""


def _lend(state: LessonState, page: str) -> None:
    """Store the visitor's choices before a step or an example sets others on this page."""
    if state.loan is None:
        held = {key: st.session_state[key] for key in _POSITIONS if key in st.session_state}
        state.loan = _Loan(page, url_state.chosen(), held)
    state.loan.page = page


def _restore_choices(state: LessonState, page: str) -> None:
    """Restore the visitor's choices where the step or example that has set others is not shown."""
    loan = state.loan
    if loan is None or loan.page == page:
        return
    url_state.restore(loan.choices, without=EVERYWHERE)
    for key in loan.keys:  # Streamlit keeps a value without a widget, for the page that draws one next
        st.session_state.pop(key, None)
    for key in _POSITIONS:
        if key in loan.held:
            st.session_state[key] = loan.held[key]
        else:
            st.session_state.pop(key, None)
    state.loan = None
    stays = state.page == page and not url_state.is_back()
    if stays and not EVERYWHERE.issuperset(st.query_params):  # the address still has the words of the step
        streamlit_internals.switch_page(page_list.page(page).file, _frame())


def _save(state: LessonState) -> None:
    """Save the visitor's state before a lesson replaces it."""
    if state.before is None:
        kept = {key: st.session_state[key] for key in _KEPT if key in st.session_state}
        state.before = _Before(st.session_state.get(session.RECORD), kept)


def _back(state: LessonState) -> None:
    """After the browser's Back or Forward: go to the step in the address with its whole view, or leave."""
    if st.query_params.get(LESSON, "") not in BY_WORD:
        if state.lesson is not None:
            leave()
        return
    _save(state)
    _follow_address(state)
    st.rerun()  # in this run the browser's values override everything set here


def _follow_address(state: LessonState) -> None:
    """Go to the step in the address, if it names a lesson; with a text of its own, once a model has read that."""
    word, at, text = (st.query_params.get(key, usual) for key, usual in ((LESSON, ""), (AT, "1"), (OWN, "")))
    lesson = BY_WORD.get(word)
    if lesson is None:
        state.asked = {LESSON: word} if word else {}
        return
    number = int(at) - 1 if at.isdecimal() and len(at) < 4 else 0
    if text and not (lesson.takes_own and len(text) <= LONGEST):
        state.asked, text = {OWN: text}, ""
    if text and (state.own is None or state.own.source_text != text):
        _wait_for(state, lesson, number, st.query_params.get(OWN_MODEL, MODEL), text)
        return
    if not text:
        state.own = None
    state.go(lesson, number)
    if at != str(state.at + 1) and not state.passed:
        state.asked = {**state.asked, AT: at}


def _wait_for(state: LessonState, lesson: Lesson, at: int, model: str, text: str) -> None:
    """Run the visitor's own text, and start the lesson with its record; meanwhile the page Lessons is shown."""
    state.awaited = _Awaited(lesson, at, Request(model, text))
    state.lesson, state.to = None, CATALOGUE
    try:
        session.submit(state.awaited.request)
    except BartvizError as error:
        session.refuse(error)


def _take_own(state: LessonState) -> None:
    """Start the lesson that waits for a run which has ended; drop it where there is no record to walk it with."""
    awaited = state.awaited
    if awaited is None or session.running() is not None:
        return
    state.awaited = None
    record: Record | None = st.session_state.get(session.RECORD)
    if session.error() is not None or st.session_state.get(session.ASKED) is not awaited.request or record is None:
        state.before = None if state.lesson is None else state.before
    elif record.source_text and is_usable(record):
        _begin_own(state, awaited.lesson, awaited.at, record)
    else:
        _restore(state)
        session.refuse(
            TextError(
                _(
                    "A lesson needs a text of {count} words or more, and an output as long: try a whole sentence.",
                    count=LEAST_WORDS,
                )
            )
        )


def _begin_own(state: LessonState, lesson: Lesson, at: int, record: Record) -> None:
    state.own, state.awaited = record, None
    state.tries.pop(lesson.word, None)
    state.go(lesson, at)


def _restore(state: LessonState) -> None:
    """Show again what was there before a run for a lesson, if that does not begin."""
    if state.before is not None:
        _show(state.before.record, state.before.controls)
    state.before = None


def _is_plain(record: Record) -> bool:
    """Whether a model's name and a text make the record again."""
    return record_link.query(record).keys() <= {"model", "text"}


def _say_what_lacks(state: LessonState, page: str) -> None:
    """Report choices of the address that are not available, once its page is there."""
    text = "" if state.step is None else state.record.source_text
    shown = {LESSON: _(page_list.page(page).label), AT: str(state.at + 1), OWN: text}
    for key, asked in state.asked.items():
        url_state.invalid_choice(key, asked, shown[key])
    state.asked = {}
    url_state.shows(AT, shown[AT])


def _address(state: LessonState) -> dict[str, str]:
    if state.lesson is None:
        return {}
    own = {} if state.own is None else {OWN: state.own.source_text}
    if state.own is not None and state.own.model.name != MODEL:
        own[OWN_MODEL] = state.own.model.name
    return {LESSON: state.lesson.word, AT: str(state.at + 1), **own}


def _frame() -> dict[str, str]:
    return {key: st.query_params[key] for key in FRAME if key in st.query_params}


def _write_address(state: LessonState) -> None:
    """Write the step to the address in one message, unless it is there already."""
    wanted = _address(state)
    if {key: st.query_params[key] for key in _WRITTEN if key in st.query_params} != wanted:
        streamlit_internals.write_query({key: (wanted[key],) if key in wanted else () for key in _WRITTEN})


def _contradicted(step: Step, record: Record) -> bool:
    """Whether the address contradicts the values of the step.

    A widget that is recreated (such as a slider with a new end) prefers the address to the session.
    """
    whole, own_words = step.whole_of(record), ADDRESS.get(step.page, ())
    given = {key: st.query_params[key].lower() for key in whole if key in st.query_params}
    return any(value != str(whole[key]).lower() for key, value in given.items() if key not in own_words)


def _apply(state: LessonState, step: Step) -> None:
    """Set the record, the sidebar's controls and the page's pickers to the values of the step."""
    record = state.record
    whole = step.whole_of(record)
    if state.before is None:  # the visit began with a link: there is no earlier state
        state.before = _Before(None, _first())
    _show(record, records.controls(step.record) if state.own is None else _controls(record))
    own_words, choices = ADDRESS.get(step.page, ()), url_state.address().choices
    for key in (pick.HEAD_OF, pick.ROW_OF, "layer", "head", "row"):  # those of the step belong to its own text and kind
        choices.pop(key, None)
        if key not in whole and key in st.query_params:
            del st.query_params[key]
    if state.loan is not None:
        state.loan.keys.update(whole.keys() - set(own_words))
    for key, value in whole.items():
        if key not in own_words:
            choices.pop(key, None)  # choices from earlier pages do not carry over to a step
            st.session_state[key] = value
        elif st.query_params.get(key) != str(value):
            st.query_params[key] = str(value)
    if step.page == "decoding":
        st.session_state.pop(_PLAYER, None)


def _controls(record: Record) -> dict[str, object]:
    """The sidebar's values for a visitor's own record."""
    given = record.target_text if record.provenance.mode == GIVEN_TARGET else None
    return {
        "model": record.model.name,
        "text": record.source_text,
        "pair": "",
        "target": given or "",
        "special": "gaps",
    }


def _first() -> dict[str, object]:
    """The controls of the app's first record, for a visit that begins with a link to a lesson."""
    first = first_record.record()
    text = first.source_text if first is not None else ""
    st.session_state["_linked"] = st.session_state["_link"] = False
    st.session_state["_source"] = text
    model = {} if first is None else {"model": first.model.name}
    return {**model, "text": text, "pair": "", "target": "", "special": "gaps"}


def _show(record: Record | None, controls: Mapping[str, object]) -> None:
    """Show a record with its controls, and stop this visitor's run."""
    run = session.running()
    if run is not None:
        run.cancel()
    st.session_state[session.RUN] = None
    st.session_state[session.ERROR] = None
    st.session_state[session.RECORD] = record
    st.session_state[_ECHO] = {}
    for key, value in controls.items():
        st.session_state[key] = value
