"""How much is explained: three levels, chosen in the sidebar and remembered through the visit (URL ``level``).

The first is where everybody begins: who knows more finds the choice, who does not would not look for it. A level
decides what is told and what lies open at first, never what can be reached.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import streamlit as st

from bartviz.language import _, mark
from bartviz.teaching.explanations import Explanation, explanation
from bartviz.teaching.glossary import Term, glossary
from bartviz.ui.controls import pick
from bartviz.ui.frame import sitemap

Level: TypeAlias = Literal["beginner", "intermediate", "expert"]
LEVELS: tuple[Level, ...] = get_args(Level)
DEFAULT: Level = "beginner"
NAMES = {"beginner": mark("Beginner"), "intermediate": mark("Intermediate"), "expert": mark("Expert")}
KEY = "level"
STYLE = Path(__file__).with_name("levels.css")
_DISPLAY = re.compile(r"^\$\$(?!\n)(.+?)\$\$$", re.MULTILINE | re.DOTALL)
_LABELS = {entry.word: entry.label for entry in sitemap.PAGES}
_SEEN, _UNFOLDED = "_level_seen", "_unfolded"


@dataclass(slots=True)
class _Seen:
    """The level that the last page was explained at, and the page on which another one was asked for."""

    level: Level
    asked_on: str = ""


def current() -> Level:
    """The level of this visit."""
    chosen = st.session_state.get(KEY, DEFAULT)
    return next((level for level in LEVELS if level == chosen), DEFAULT)


def at_least(level: Level) -> bool:
    """Whether this visit's level is that one or a higher one."""
    return LEVELS.index(current()) >= LEVELS.index(level)


def choose() -> Level:
    """The choice of the level; the sidebar draws it, and the style that the terms of all pages need."""
    st.html(STYLE)
    pick.one_of(
        _("Explained for"),
        {level: _(name) for level, name in NAMES.items()},
        key=KEY,
        default=DEFAULT,
        hint=_("How much is said: pictures and words, then formulas, then definitions, sources and code."),
    )
    return current()


def explain(word: str) -> None:
    """The terms of a page with their definitions, and "What am I seeing?" at the level of this visit."""
    try:
        told = explanation(word)
    except LookupError:  # a test holds that every page has one
        return
    terms(told.terms, key=word)
    with st.expander(_("What am I seeing?"), expanded=_open(word)):
        _texts(told)
        _ways(word)


def terms(names: Sequence[str], *, key: str) -> None:
    """Terms of the glossary in a line; pointing at one, tapping it or reaching it by Tab shows its definition.

    ``key``: the word of the page they stand on (or of a part of the experiments page).
    """
    if names:
        known = glossary()
        chips = "".join(_chip(known[name], f"term-{key}-{number}", key) for number, name in enumerate(names))
        label = html.escape(_("Terms"))  # not within the f-string: messages are not looked for there
        st.html(f"<p class='bv-terms'><span class='bv-note'>{label}</span> {chips}</p>")


@contextmanager
def aside(label: str, *, key: str, names: Sequence[str] = ()) -> Iterator[bool]:
    """What a beginner need not see at once: folded away for one, open for all others, and where a link wants it.

    Gives whether it is open: what is in it need not be made while it is not. ``names``: the URL words of the choices
    inside; a link (or a lesson) that sets one of them unfolds the place for the rest of the visit.
    """
    unfolded: set[str] = st.session_state.setdefault(_UNFOLDED, set())
    if any(name in st.query_params or name in st.session_state for name in names):
        unfolded.add(key)
    if key in unfolded or at_least("intermediate"):
        with st.container(key=f"aside_{key}"):
            yield True
        return
    with st.expander(label, key=f"folded_{key}", on_change="rerun") as folded:
        yield bool(folded.open)


def _chip(term: Term, key: str, here: str) -> str:
    told = term.text
    if term.page not in ("", here) and here in _LABELS:
        told += " " + _("See it on the page {page}.", page=_(_LABELS[term.page]))
    return (
        f"<dfn class='bv-term' tabindex='0' aria-describedby='{key}'>{html.escape(term.name)}"
        f"<span class='bv-definition' role='tooltip' id='{key}'>{html.escape(told)}</span></dfn>"
    )


def _open(word: str) -> bool:
    """Open for beginners, and where the level was just changed: who asks for more wants to read it."""
    level = current()
    seen: _Seen = st.session_state.setdefault(_SEEN, _Seen(level))
    if seen.level != level:
        seen.asked_on, seen.level = word, level
    return level == "beginner" or seen.asked_on == word


def _texts(told: Explanation) -> None:
    """The texts of the level and of those below it; for experts the terms' formulas and code that does the same."""
    texts = {"beginner": told.beginner, "intermediate": told.intermediate, "expert": told.expert}
    for level in LEVELS:
        if at_least(level) and texts[level]:
            if level != LEVELS[0]:
                st.html(f"<p class='bv-level'>{html.escape(_(NAMES[level]))}</p>")
            st.markdown(displayed(texts[level]))
    if at_least("expert"):
        known = glossary()
        formulas = [known[name] for name in told.terms if known[name].formula]
        if formulas:
            st.markdown(_("**Terms as formulas**"))
            st.markdown("\n".join(f"- {term.name}: &ensp;${term.formula}$" for term in formulas))
        if told.code:
            st.markdown(_("**The same with the library**"))
            st.code(told.code.strip(), language="python")


def displayed(text: str) -> str:
    """The text with its formulas between $$ on lines of their own, as Markdown wants them where they fill a line.

    A line of several formulas, \\qquad between them, may break there and nowhere else.
    """
    return _DISPLAY.sub(lambda found: f"$$\n{_breaking(found[1])}\n$$", text)


def _breaking(formula: str) -> str:
    parts = [part.strip() for part in formula.split(r"\qquad")]
    return formula if len(parts) == 1 else r" \qquad \allowbreak ".join(f"{{{part}}}" for part in parts)


def _ways(word: str) -> None:
    """One level up or down, where it is read: on a phone the sidebar is folded away."""
    place = LEVELS.index(current())
    ways = {mark("Explain less"): place - 1, mark("Explain more"): place + 1}
    with st.container(horizontal=True, gap="small"):
        for label, other in ways.items():
            if 0 <= other < len(LEVELS):
                st.button(
                    _(label), key=f"to_{LEVELS[other]}_{word}", type="tertiary", on_click=_go, args=(LEVELS[other],)
                )


def _go(level: Level) -> None:
    st.session_state[KEY] = level


__all__ = [
    "DEFAULT",
    "KEY",
    "LEVELS",
    "Level",
    "aside",
    "at_least",
    "choose",
    "current",
    "displayed",
    "explain",
    "terms",
]
