"""The parts of the textbook page: the statements, each with its verdict, its numbers and a link."""

from __future__ import annotations

import html
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from bartviz.analysis import start
from bartviz.app.controls import pick, show
from bartviz.app.frame import languages, levels, page, page_list
from bartviz.app.state import content, url_state
from bartviz.app.state.result_cache import cached
from bartviz.features import textbook
from bartviz.features.textbook import CLAIMS, claim, measured
from bartviz.features.textbook import parts_guess as guess
from bartviz.features.textbook.judging import (
    ABOUT,
    BELIEVED,
    CHAPTERS,
    NAMES,
    SIGNS,
    SOURCES,
    WORDS,
    Chapter,
    Claim,
    Verdict,
    text,
)
from bartviz.language import _, current, named
from bartviz.record.record import Record
from bartviz.serving import saved_records

Verdicts = Mapping[str, Verdict]
STYLE = Path(__file__).with_name("style.css")
ALL, FIRST, GUESS = "all", "believed", "guess"
ABOUT_WEIGHTS = "35c"  # the statement that says for a beginner what a weight is
SHOWN = "start"  # the saved run that is drawn
DRAWN = 16  # cached drawings of the lines, about 0.2 MB each


def judged(record: Record | None) -> Verdicts:
    """The verdict of every statement: saved where it needs a run of the model that ships."""
    return cached(partial(textbook.verdicts, record, measured.verdicts()))


def lead(verdicts: Verdicts) -> None:
    """How many statements there are, and how many of them have a verdict."""
    undecided = textbook.tally(verdicts)["undecided"]
    show.lead(
        _(
            "{claims} statements from texts about BERT, which reads, BART, which reads and writes, and their "
            "relatives. {tested} of them could be checked against measurements.",
            claims=len(CLAIMS),
            tested=len(CLAIMS) - undecided,
        )
    )


def tally(verdicts: Verdicts) -> None:
    """How many statements hold and how many do not, as a bar with its legend: below the statements, where nobody takes
    it for a score of their own."""
    counts = textbook.tally(verdicts)
    bar, legend = "", ""
    for word in WORDS:
        if count := counts[word]:
            bar += f"<span class='bv-is-{word}' style='flex:{count}'></span>"
            legend += f"<li class='bv-is-{word}'><i>{SIGNS[word]}</i> {_safe(_(NAMES[word]))} <b>{count}</b></li>"
    title = _safe(_("What we found for all {claims} statements", claims=len(CLAIMS)))
    st.html(
        f"<p class='bv-found'>{title}</p><div class='bv-tally' aria-hidden='true'>{bar}</div>"
        f"<ul class='bv-tallied'>{legend}</ul>"
    )


def sources() -> None:
    """Where the statements are from."""
    articles = "; ".join(_(title) for word, title in SOURCES.items() if word != "none")
    show.note(_("From five articles: {articles}.", articles=articles))


def choose(found: Verdicts) -> tuple[Claim, ...]:
    """The lines of one chapter and verdict (URL ``chapter``, ``verdict``); with the switch ``guess`` of any verdict.

    A link to a line opens its chapter. Beginners begin with what many people believe, and guess first, unless a
    link asks for a line or a verdict.
    """
    counts = textbook.tally(found)
    chapters = {FIRST: _("What many people believe")} | named(CHAPTERS) | {ALL: _("All chapters")}
    verdicts = {ALL: _("All")} | {word: f"{SIGNS[word]} {_(NAMES[word])} ({counts[word]})" for word in WORDS}
    asked = next((line.chapter for line in CLAIMS if line.number == st.query_params.get("line")), None)
    by_verdict, verdict = st.query_params.get("verdict") in WORDS, ALL
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom", key="textbook_choice"):
        with st.container(width=280):
            first = FIRST if not levels.at_least("intermediate") else next(iter(CHAPTERS))
            default = asked or (ALL if by_verdict else first)
            line = "" if asked or "chapter" in st.session_state else st.query_params.get("line", "")
            chapter = pick.select(_("Chapter"), chapters, key="chapter", default=default)
            if line:
                url_state.invalid_choice("line", line, chapters[chapter])
        with st.container(width="content"):
            beginner = not levels.at_least("intermediate") and asked is None and not by_verdict
            hint = _("Each verdict stays hidden until you answer.")
            guessing = pick.switch(_("Guess first"), key=GUESS, default=beginner, hint=hint)
        if not guessing:
            with st.container(width="content"):
                verdict = pick.one_of(_("Verdict"), verdicts, key="verdict")
    lines = [claim(number) for number in BELIEVED] if chapter == FIRST else CLAIMS
    return tuple(
        line for line in lines if chapter in (ALL, FIRST, line.chapter) and verdict in (ALL, found[line.number].word)
    )


def _picture() -> None:
    """What a weight is: one row, over its text."""
    record = saved_records.read(SHOWN)
    kind = start.kind_of(record)
    head, row = start.head_of(record, kind), start.row_of(record, kind)
    attention = record.attention(kind)
    label = _(
        "An example of weights: where one head of a small translation model looked when the model wrote “{word}”. The "
        "stronger a word's colour, the larger its weight.",
        word=record.rows(kind).labels[row],
    )
    weights = attention.head(head.layer, head.head)[row]
    show.running_text(attention.key, weights, kind=kind, label=label, key="textbook_weights")


def lines(chosen: tuple[Claim, ...], found: Verdicts) -> None:
    """The lines, chapter by chapter, and a link to the next chapter."""
    if not chosen:
        show.note(_("No statement has this verdict here. Choose another verdict, or all chapters."))
    elif st.session_state.get(GUESS):
        headed = st.session_state.get("chapter") != FIRST
        alone = "" if levels.at_least("intermediate") else ABOUT_WEIGHTS
        guess.ask(chosen, found, _question, _answered, headed=headed, alone=alone)
    else:
        wanted = st.query_params.get("line", "")
        numbers = [line.number for line in chosen]
        key = content.key(numbers, found, wanted, current(), levels.current())
        _lines(key, numbers, found, wanted)
    _next_chapter({line.chapter for line in chosen})


def _next_chapter(shown: set[Chapter]) -> None:
    """A link to the chapter after the only one that is shown; after what many people believe, to the first."""
    words = list(CHAPTERS)
    here = [words.index(chapter) for chapter in shown]
    if st.session_state.get("chapter") == FIRST:
        here = [-1]
    if len(here) != 1 or here[0] + 1 == len(words):
        return
    after = words[here[0] + 1]
    label, query = _("Next chapter: {title}", title=_(CHAPTERS[after])), {"chapter": after}
    page.link("textbook", label, query, icon=":material/arrow_forward:")


@st.cache_data(max_entries=DRAWN, show_spinner=False)
def _lines(key: str, _numbers: list[str], _found: Verdicts, _wanted: str) -> None:
    """Draw the lines; ``key`` covers everything they depend on. Streamlit replays the output for the same key."""
    chosen = [line for line in CLAIMS if line.number in _numbers]
    for chapter, name in CHAPTERS.items():
        in_chapter = [line for line in chosen if line.chapter == chapter]
        if in_chapter:
            st.subheader(_(name), anchor=False)
        for line in in_chapter:
            verdict = _found[line.number]
            with st.container(key=f"claim_{verdict.word}_{line.number}", gap=None):
                st.html(_card(line, verdict, unfolded=line.number == _wanted))
                _link(line)


def _question(line: Claim) -> None:
    """A line without its verdict."""
    beginner = not levels.at_least("intermediate")
    terms = levels.defined(BELIEVED.get(line.number, ()), key=f"line-{line.number}") if beginner else ""
    st.html(f"<div class='bv-claim'>{_head(line, '')}{terms}</div>")
    if line.number == ABOUT_WEIGHTS and beginner:
        _picture()


def _answered(line: Claim, verdict: Verdict, mark: guess.Mark, outcome: str) -> None:
    """A line with its verdict, after the visitor's answer: the colour is that of the answer, right or wrong."""
    sign = f"<i aria-hidden='true'>{guess.SIGNS[mark]}</i>"
    with st.container(key=f"claim_said_{mark}_{line.number}", gap=None):
        st.html(
            f"<p class='bv-outcome bv-outcome-{mark}' role='status'>{sign} {_safe(outcome)}</p>"
            + _card(line, verdict, unfolded=False, named=True)
        )
        if line.number == ABOUT_WEIGHTS and not levels.at_least("intermediate"):
            _picture()
        _link(line)


def _link(line: Claim) -> None:
    """A link to the view that shows the statement; in a new tab if that needs another model."""
    if not page_list.has(line.page):
        return
    label = _("See it: {page}", page=_(page_list.page(line.page).label))
    if "model" not in line.query:
        page.link(line.page, label, line.query, icon=":material/arrow_forward:")
        return
    address = f"{line.page}?{urlencode(dict(line.query) | {languages.KEY: current(), levels.KEY: levels.current()})}"
    hint = _("Opens in a new tab, where {model} runs.", model=line.query["model"])
    st.link_button(label, address, icon=":material/open_in_new:", type="tertiary", help=hint)


def _card(line: Claim, verdict: Verdict, *, unfolded: bool, named: bool = False) -> str:
    """One line as HTML; all texts are escaped. ``named``: beside an answer, the verdict says that it is the statement's
    and stands before its reason."""
    numbers = _folded(_("Numbers"), _numbers(line, verdict), unfolded=unfolded)
    badge, why = _badge(verdict, named=named), _safe(_(verdict.why))
    head = _head(line, "") + f"<p>{badge} {why}</p>" if named else _head(line, badge) + f"<p>{why}</p>"
    return f"<div class='bv-claim'>{head}{numbers}</div>"


def _head(line: Claim, badge: str) -> str:
    number = f"<span class='bv-line'>{line.number}</span>" if levels.at_least("expert") else ""
    title = f"<h4>{_safe(line.title)}</h4>{number}"
    return f"<div class='bv-head'>{badge}{title}</div><p class='bv-said'>{_safe(line.said)}</p>"


def _badge(verdict: Verdict, *, named: bool) -> str:
    sign, name = SIGNS[verdict.word], _(NAMES[verdict.word])
    if named:
        return f"<span class='bv-verdict'>{_safe(_('The statement: {verdict}.', verdict=name))}</span>"
    return f"<span class='bv-verdict'><span class='bv-sign' aria-hidden='true'>{sign}</span> {_safe(name)}</span>"


def _folded(title: str, content: str, *, unfolded: bool) -> str:
    return f"<details{' open' if unfolded else ''}><summary>{_safe(title)}</summary>{content}</details>"


def _numbers(line: Claim, verdict: Verdict) -> str:
    """The numbers found next to those claimed, the source, and the basis of the computation."""
    rows = "".join(
        f"<tr class='{'' if number.agrees else 'bv-off'}'><td>{_safe(_(number.label))}</td>"
        f"<td class='bv-number'>{_safe(number.stated)}</td>"
        f"<td class='bv-number'>{_safe(text(number.found))}</td><td>{'✓' if number.agrees else '≠'}</td>"
        f"<td>{'' if number.core else _safe(_('beyond the claim'))}</td></tr>"
        for number in verdict.numbers
    )
    names = ("", _("Claimed"), _("Found"), "", "")
    header = "".join(f"<th class='{'bv-number' if name else ''}' scope='col'>{_safe(name)}</th>" for name in names)
    return (
        f"<div class='bv-scroll'><table><thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table></div>"
        f"<p class='bv-basis'>{_safe(_('Computed from: {basis}', basis=_(verdict.basis)))}</p>"
        f"<p class='bv-from'>{_safe(_('The statement is about {about}.', about=_(ABOUT[line.about])))}</p>"
        f"<p class='bv-from'>{_safe(_('Source: {source}', source=line.source))}</p>"
    )


def _safe(text: str) -> str:
    return html.escape(text, quote=True)
