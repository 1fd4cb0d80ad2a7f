"""Guess first: each statement with three answers to choose from; its verdict is shown once one is chosen."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping

import streamlit as st

from bartviz.features.textbook.judging import CHAPTERS, NAMES, Claim, Verdict, Word
from bartviz.language import _

ANSWERS: Mapping[str, str] = {"true": NAMES["holds"], "false": NAMES["fails"], "depends": NAMES["caveat"]}
# The right answers, none if it is undecided. Who calls a statement false of which a part does not hold is right, too.
MEANT: Mapping[Word, tuple[str, ...]] = {"holds": ("true",), "fails": ("false",), "caveat": ("depends", "false")}
_GUESSES = "_guesses"  # of the visit: the number of a line -> the first answer


def given() -> dict[str, str]:
    """The visitor's first answer to each line that was answered, by the line's number."""
    guesses: dict[str, str] = st.session_state.setdefault(_GUESSES, {})
    return guesses


def say(number: str, answer: str) -> None:
    """Answer a line: a callback. A second answer does not count."""
    given().setdefault(number, answer)


def forget(numbers: list[str]) -> None:
    """Take the answers to these lines back: a callback."""
    for number in numbers:
        given().pop(number, None)


@st.fragment
def ask(
    chosen: tuple[Claim, ...],
    found: Mapping[str, Verdict],
    question: Callable[[Claim], None],
    answered: Callable[[Claim, Verdict, str], None],
    *,
    headed: bool = True,
) -> None:
    """The lines as questions. ``question`` draws a line without its verdict, ``answered`` one with it, and with a
    sentence on the visitor's answer. ``headed``: each chapter has its title."""
    _score([line.number for line in chosen], found)
    chapter = ""
    with st.container(key="textbook_questions"):
        for line in chosen:
            if headed and line.chapter != chapter:
                st.subheader(_(CHAPTERS[chapter := line.chapter]), anchor=False)
            verdict, guess = found[line.number], given().get(line.number)
            if guess is not None:
                answered(line, verdict, _outcome(verdict, guess))
            else:
                with st.container(key=f"claim_open_{line.number}", gap=None):
                    question(line)
                    _buttons(line)


def _outcome(verdict: Verdict, guess: str) -> str:
    said = _(ANSWERS[guess])
    if verdict.word == "undecided":
        return _("You said “{answer}”. It cannot be tested here.", answer=said)
    if verdict.word == "caveat":
        agree = sum(number.agrees for number in verdict.numbers)
        parts = {"all": len(verdict.numbers), "agree": agree, "differ": len(verdict.numbers) - agree}
        if guess == "true":
            return _(
                "You said “{answer}”, which is partly right: the statement holds for {agree} of {all} numbers, and not "
                "for {differ}.",
                answer=said,
                **parts,
            )
        return _(
            "You said “{answer}”, and that counts: the statement holds for {agree} of {all} numbers, and not for "
            "{differ}, so it depends.",
            answer=said,
            **parts,
        )
    if guess in MEANT[verdict.word]:
        return _("You said “{answer}”, and the numbers agree.", answer=said)
    return _("You said “{answer}”. The numbers say otherwise.", answer=said)


def _buttons(line: Claim) -> None:
    with st.container(horizontal=True, gap="small", key=f"guess_{line.number}"):
        for answer, label in ANSWERS.items():
            st.button(_(label), key=f"guess_{line.number}_{answer}", on_click=say, args=(line.number, answer))


def _score(numbers: list[str], found: Mapping[str, Verdict]) -> None:
    said = [number for number in numbers if number in given() and number in found]
    judged = [number for number in said if found[number].word in MEANT]
    right = [number for number in judged if given()[number] in MEANT[found[number].word]]
    partly = [number for number in judged if found[number].word == "caveat" and number not in right]
    sentence = _(
        "{said} of {count} answered. True, false, or does it depend? Choose, then see what the numbers say.",
        said=len(said),
        count=len(numbers),
    )
    if partly:
        sentence = _(
            "{right} of {said} right and {partly} in part, of {count} statements here.",
            right=len(right),
            partly=len(partly),
            said=len(judged),
            count=len(numbers),
        )
    elif judged:
        sentence = _(
            "{right} of {said} right, of {count} statements here.",
            right=len(right),
            said=len(judged),
            count=len(numbers),
        )
    with st.container(horizontal=True, vertical_alignment="center", key="guess_score"):
        st.html(f"<p class='bv-said' role='status'>{html.escape(sentence)}</p>", width="content")
        if said:
            st.button(_("Guess again"), key="guess_again", type="tertiary", on_click=forget, args=(said,))
