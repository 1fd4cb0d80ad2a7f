"""Guess first: each statement with three answers to choose from; its verdict is shown once one is chosen."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Literal

import streamlit as st

from bartviz.features.textbook.judging import CHAPTERS, NAMES, Claim, Verdict, Word
from bartviz.language import _

ANSWERS: Mapping[str, str] = {"true": NAMES["holds"], "false": NAMES["fails"], "depends": NAMES["caveat"]}
MEANT: Mapping[Word, str] = {"holds": "true", "fails": "false", "caveat": "depends"}  # the right answer, if decided
Mark = Literal["right", "part", "wrong", "open"]
SIGNS: Mapping[Mark, str] = {"right": "✓", "part": "~", "wrong": "✗", "open": "?"}
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
    answered: Callable[[Claim, Verdict, Mark, str], None],
    *,
    headed: bool = True,
    alone: str = "",
) -> None:
    """The lines as questions. ``question`` draws a line without its verdict, ``answered`` one with it, and with
    whether the visitor was right and a sentence on it. ``headed``: each chapter has its title. ``alone``: the number of
    a line beside which there is no other."""
    _score([line.number for line in chosen], found)
    chapters = [list(lines) for _name, lines in groupby(chosen, lambda line: line.chapter)] if headed else [chosen]
    with st.container(key="textbook_questions"):
        for lines in chapters:
            if headed:
                st.subheader(_(CHAPTERS[lines[0].chapter]), anchor=False)
            for pair in _pairs(lines, alone):  # on a wide screen beside each other
                with st.container(key=f"textbook_pair_{pair[0].number}"):
                    for line in pair:
                        _line(line, found[line.number], question, answered)


def _pairs(lines: list[Claim] | tuple[Claim, ...], alone: str) -> list[list[Claim]]:
    pairs: list[list[Claim]] = []
    for line in lines:
        if pairs and len(pairs[-1]) == 1 and alone not in (line.number, pairs[-1][0].number):
            pairs[-1].append(line)
        else:
            pairs.append([line])
    return pairs


def _line(
    line: Claim,
    verdict: Verdict,
    question: Callable[[Claim], None],
    answered: Callable[[Claim, Verdict, Mark, str], None],
) -> None:
    guess = given().get(line.number)
    if guess is not None:
        answered(line, verdict, judge(verdict.word, guess), _outcome(verdict, guess))
        return
    with st.container(key=f"claim_open_{line.number}", gap=None):
        question(line)
        _buttons(line)


def judge(word: Word, guess: str) -> Mark:
    """Whether an answer is right. Who decides for true or false where it depends is right in part."""
    if word not in MEANT:
        return "open"
    return "right" if guess == MEANT[word] else "part" if word == "caveat" else "wrong"


def _outcome(verdict: Verdict, guess: str) -> str:
    said, mark = _(ANSWERS[guess]), judge(verdict.word, guess)
    if mark == "open":
        return _("You said “{answer}”. It cannot be tested here.", answer=said)
    if verdict.word == "caveat":
        agree = sum(number.agrees for number in verdict.numbers)
        parts = {"all": len(verdict.numbers), "agree": agree, "differ": len(verdict.numbers) - agree}
        if mark == "part":
            return _(
                "You said “{answer}”, which is partly right: the statement holds for {agree} of {all} numbers, and not "
                "for {differ}.",
                answer=said,
                **parts,
            )
        return _(
            "You said “{answer}”, and the numbers agree: the statement holds for {agree} of {all} numbers, and not for "
            "{differ}.",
            answer=said,
            **parts,
        )
    if mark == "right":
        return _("You said “{answer}”, and the numbers agree.", answer=said)
    return _("You said “{answer}”. The numbers say otherwise.", answer=said)


def _buttons(line: Claim) -> None:
    with st.container(horizontal=True, gap="small", key=f"guess_{line.number}"):
        for answer, label in ANSWERS.items():
            st.button(_(label), key=f"guess_{line.number}_{answer}", on_click=say, args=(line.number, answer))


def _score(numbers: list[str], found: Mapping[str, Verdict]) -> None:
    said = [number for number in numbers if number in given() and number in found]
    marks = [judge(found[number].word, given()[number]) for number in said]
    right, partly, judged = marks.count("right"), marks.count("part"), len(marks) - marks.count("open")
    sentence = _(
        "{said} of {count} answered. True, false, or does it depend? Choose, then see what the numbers say.",
        said=len(said),
        count=len(numbers),
    )
    if partly:
        sentence = _(
            "Right: {right} of {said}. Right in part: {partly}. Statements here: {count}.",
            right=right,
            partly=partly,
            said=judged,
            count=len(numbers),
        )
    elif judged:
        sentence = _(
            "Right: {right} of {said}. Statements here: {count}.", right=right, said=judged, count=len(numbers)
        )
    with st.container(horizontal=True, vertical_alignment="center", key="guess_score"):
        st.html(f"<p class='bv-said' role='status'>{html.escape(sentence)}</p>", width="content")
        if said:
            st.button(_("Guess again"), key="guess_again", type="tertiary", on_click=forget, args=(said,))
