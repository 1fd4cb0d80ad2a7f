"""How much is explained: three levels, chosen under "Display" and kept for the visit (URL ``level``).

Everyone starts as a beginner: an expert will find the setting, a beginner would not look for it. A level decides what
is explained and what is open at first; everything stays reachable at every level.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import streamlit as st

from bartviz.analysis import sentence_words
from bartviz.app.controls import expander, pick, show
from bartviz.app.frame import page_list
from bartviz.app.state import display_fields
from bartviz.language import _, mark, plural
from bartviz.language.percentages import percent
from bartviz.record.attention import Head
from bartviz.teaching.explanations import Explanation, explanation
from bartviz.teaching.glossary import Term, glossary

Level: TypeAlias = Literal["beginner", "intermediate", "expert"]
LEVELS: tuple[Level, ...] = get_args(Level)
DEFAULT: Level = "beginner"
NAMES = {"beginner": mark("Beginner"), "intermediate": mark("Intermediate"), "expert": mark("Expert")}
KEY = "level"
_DISPLAY = re.compile(r"^\$\$(?!\n)(.+?)\$\$$", re.MULTILINE | re.DOTALL)
_LABELS = {entry.word: entry.label for entry in page_list.PAGES}
_SEEN = "_level_seen"
_MORE = mark("Explain more ({level})")
TERMS = 5  # shown at once; the others are one click away


@dataclass(slots=True)
class _Seen:
    """The level of the last explanation, and the page on which the visitor changed the level."""

    level: Level
    asked_on: str = ""


def current() -> Level:
    """The level of this visit."""
    chosen = st.session_state.get(KEY) or st.query_params.get(KEY)  # a link's, until the picker is drawn
    return next((level for level in LEVELS if level == chosen), DEFAULT)


def at_least(level: str) -> bool:
    """Whether this visit's level is ``level`` or higher."""
    return LEVELS.index(current()) >= LEVELS.index(level)


def head_name(head: Head) -> str:
    """The name of a head that begins a sentence: in words for beginners."""
    return sentence_words.capitalized(head_within(head))


def head_within(head: Head) -> str:
    """``head_name`` within a sentence."""
    if at_least("intermediate"):
        return sentence_words.head(head.kind, head.layer, head.head)
    return sentence_words.head_in_words(head.layer, head.head)


def head_with_kind(head: Head) -> str:
    """The same where heads of several kinds of attention are told apart."""
    if at_least("intermediate"):
        return sentence_words.head(head.kind, head.layer, head.head)
    return _("{place} ({attention})", place=head_within(head), attention=sentence_words.attention(head.kind))


def share(value: float) -> str:
    """A share of weight: 69% for beginners, 0.69 for others."""
    return f"{value:.2f}" if at_least("intermediate") else percent(value)


def choose() -> Level:
    """The level picker."""
    pick.one_of(
        _("Explained for"),
        {level: _(name) for level, name in NAMES.items()},
        key=KEY,
        default=DEFAULT,
        hint=_("How much detail is shown: pictures and words, then formulas, then definitions, sources and code."),
    )
    return current()


def explain(word: str, *, with_terms: bool = True, how: str = "") -> None:
    """The terms of a page with their definitions, and "What am I seeing?" at the level of this visit: for beginners,
    who read that first, it has the terms at its end. ``how``: its second paragraph, where that depends on what is
    chosen."""
    try:
        texts = explanation(word)
    except LookupError:  # a test makes sure that every page has one
        return
    first = at_least("intermediate")
    if first and with_terms:
        terms(texts.terms, key=word)
    with st.expander(_("What am I seeing?"), expanded=_open(word)):
        with st.container(key=f"explained_{word}"):
            _texts(texts, how)
        if not first and with_terms:
            terms(texts.terms, key=word)
        _level_buttons(word)


def terms(names: Sequence[str], *, key: str) -> None:
    """The first glossary terms in a line, the others folded behind it, and all of them for beginners; hovering over
    one, tapping it or focusing it with Tab shows its definition.

    ``key`` is the word of the page (or of a part of the experiments page).
    """
    if names:
        definitions = glossary()
        chips = [_chip(definitions[name], f"term-{key}-{number}", key) for number, name in enumerate(names)]
        shown = TERMS if at_least("intermediate") else 0
        first, more = ("".join(part) for part in (chips[:shown], chips[shown:]))
        label = html.escape(_("Words explained"))  # outside the f-string, where the message finder sees it
        if more:
            summary = html.escape(plural("{count} more term", "{count} more terms", len(chips) - shown))
            more = f"<details class='bv-more-terms'><summary>{summary if first else label}</summary>{more}</details>"
        begins = f"<span class='bv-note'>{label}</span> " if first else ""
        st.html(f"<div class='bv-terms'>{begins}{first}{more}</div>")


def defined(names: Sequence[str], *, key: str) -> str:
    """A line of glossary terms as HTML, each with its definition, for a sentence that uses them; empty for none.

    ``key`` is of the sentence, within its page."""
    chips = "".join(_chip(glossary()[name], f"term-{key}-{number}", "") for number, name in enumerate(names))
    begins = html.escape(_("Explain:"))
    return f"<div class='bv-terms'><span class='bv-note'>{begins}</span> {chips}</div>" if chips else ""


@contextmanager
def aside(label: str, *, key: str, names: Sequence[str] = ()) -> Iterator[bool]:
    """A section that has a title and is folded for beginners, unless a link asks for it, and is plain at higher levels.

    Yields whether it is open, so that the content of a closed section need not be computed. ``names`` are the URL words
    of the choices inside: a link (or a lesson) that sets one of them opens the section.
    """
    if at_least("intermediate"):
        with st.container(key=f"aside_{key}"):
            yield True
        return
    with expander.section(label, key=key, names=names) as opened:
        yield opened


def _chip(term: Term, key: str, here: str) -> str:
    definition = term.text
    if term.page != here and here in _LABELS and term.page in _LABELS:
        definition += " " + _("See it on the page {page}.", page=_(_LABELS[term.page]))
    return (
        f"<dfn class='bv-term' tabindex='0' aria-describedby='{key}'>{html.escape(term.name)}"
        f"<span class='bv-definition' role='tooltip' id='{key}'>{html.escape(definition)}</span></dfn>"
    )


def _open(word: str) -> bool:
    """Open for beginners, and on the page where the level was just changed, so that the new text can be read."""
    level = current()
    seen: _Seen = st.session_state.setdefault(_SEEN, _Seen(level))
    if seen.level != level:
        seen.asked_on, seen.level = word, level
    return level == "beginner" or seen.asked_on == word


def _texts(explained: Explanation, how: str) -> None:
    """The texts up to this level; for experts also the formulas of the terms and equivalent library code."""
    first, *others = explained.beginner.split("\n\n")
    beginner = "\n\n".join([first, *([how] if how else []), *others])
    texts = {"beginner": beginner, "intermediate": explained.intermediate, "expert": explained.expert}
    for level in LEVELS:
        if at_least(level) and texts[level]:
            if level != LEVELS[0]:
                st.html(f"<p class='bv-level'>{html.escape(_(NAMES[level]))}</p>")
            st.markdown(displayed(texts[level]))
    if at_least("expert"):
        known = glossary()
        formulas = [known[name] for name in explained.terms if known[name].formula]
        if formulas:
            st.markdown(_("**Terms as formulas**"))
            st.markdown("\n".join(f"- {term.name}: &ensp;${term.formula}$" for term in formulas))
        if explained.code:
            st.markdown(_("**The same with the library**"))
            st.code(explained.code.strip(), language="python")


def displayed(text: str) -> str:
    """The text with each $$ formula on a line of its own, as Markdown requires for display formulas.

    A line with several formulas, separated by \\qquad, may break only at the separators.
    """
    return _DISPLAY.sub(lambda match: f"$$\n{_breakable(match[1])}\n$$", text)


def _breakable(formula: str) -> str:
    parts = [part.strip() for part in formula.split(r"\qquad")]
    return formula if len(parts) == 1 else r" \qquad \allowbreak ".join(f"{{{part}}}" for part in parts)


def more() -> str:
    """What the button that explains more says."""
    return _(_MORE, level=_(NAMES[LEVELS[LEVELS.index(current()) + 1]]))


def _level_buttons(word: str) -> None:
    """Buttons for one level up or down, next to the text; they name it, as all of the page changes to it."""
    position = LEVELS.index(current())
    ways = {mark("Explain less ({level})"): position - 1, _MORE: position + 1}
    with show.keeps_focus(f"levels_{word}"), st.container(horizontal=True, gap="small"):
        for label, other in ways.items():
            if 0 <= other < len(LEVELS):
                st.button(
                    _(label, level=_(NAMES[LEVELS[other]])),
                    key=f"to_{LEVELS[other]}_{word}",
                    type="tertiary",
                    on_click=_set_level,
                    args=(LEVELS[other],),
                )


def _set_level(level: Level) -> None:
    display_fields.put(KEY, level)
