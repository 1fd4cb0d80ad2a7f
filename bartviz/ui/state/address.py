"""Choices that stand in the address of a page as words: ``?kind=cross``, whatever the option is called on the page.

Streamlit's own binding writes an option's label, which a translation changes; so a choice is bound here by hand. What
counts, in this order: an address that somebody has given (a visit that begins, a link inside the app, the browser's
Back), what the visitor has clicked or a callback has set, what was chosen on an earlier page, the default. A word that
the page does not have is not forgotten: it counts again where it is one of the options.

All changes of a script run are written in one message at its end, so that one Back takes them back. One object holds
what belongs together; it is fetched once and changed by plain writes, because each access of the session may end the
script run, and each step may be repeated.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

Words = tuple[str, ...]
LAG = 60.0  # seconds for which a slow browser may still send an address that it had before we wrote another


@dataclass
class Choice:
    """One choice of this visitor. ``chosen`` None: nothing yet; ``told``: what the address says, as far as known."""

    key: str
    chosen: Words | None = None
    drawn: Words | None = None
    page: str | None = None
    told: Words = ()
    older: tuple[tuple[float, Words], ...] = ()

    def linked(self, said: Words, page: str) -> bool:
        """Whether a link from this page to itself has brought an address that no run of ours has written."""
        return page == self.page and bool(said) and said != self.told and said not in dict(self._recent()).values()

    def sent(self, wanted: Words, said: Words) -> None:
        """The address was written; a slow browser may still send the one before."""
        self.older, self.told = ((time.monotonic(), said), *self._recent()), wanted

    def _recent(self) -> tuple[tuple[float, Words], ...]:
        now = time.monotonic()
        return tuple((when, words) for when, words in self.older if now - when < LAG)


@dataclass
class Address:
    """All choices of a visitor, and what is to be written at the end of the run (the default is left out)."""

    choices: dict[str, Choice] = field(default_factory=dict)
    waiting: dict[str, Words] = field(default_factory=dict)
    late: bool = False

    def choice(self, key: str) -> Choice:
        return self.choices.setdefault(key, Choice(key))


def take(key: str, held: Words | None, understood: Callable[[Words], Words | None], default: Words) -> Words:
    """What to draw, before the widget is drawn.

    ``held``: what the widget has; ``understood`` gives the options that words stand for, None where they name none.
    """
    choice, said, (page, back) = address().choice(key), _said(key), _where()
    if back or (said and page != choice.page) or choice.linked(said, page):
        choice.chosen = said or default
    elif held is not None and (held != choice.drawn or page != choice.page):
        choice.chosen = held
    words = default if choice.chosen is None else understood(choice.chosen)
    return default if words is None else words


def tell(key: str, words: Words, default: Words) -> None:
    """What was drawn goes into the address, after the widget was drawn."""
    ours, said, (page, _) = address(), _said(key), _where()
    choice = ours.choice(key)
    wanted = () if words == default else words or ("",)
    linked = choice.linked(said, page)
    if choice.page != page:
        choice.told, choice.older = said, ()
    choice.drawn, choice.page = words, page
    if wanted != said or linked:
        ours.waiting[key] = wanted
    else:
        ours.waiting.pop(key, None)
        choice.told, choice.older = said, ()
    if not ours.late or _in_fragment():
        write()


def begin() -> None:
    """A script run begins that calls ``write`` at its end."""
    ours = address()
    page, _ = _where()
    ours.late = True
    ours.waiting = {key: words for key, words in ours.waiting.items() if ours.choice(key).page == page}


def write() -> None:
    """Send what waits to the browser, in one message."""
    context, ours = get_script_run_ctx(), address()
    if context is None or not ours.waiting:
        return
    with context.session_state.query_params() as query:
        before = {key: tuple(query.get_all(key)) for key in ours.waiting}
        for key, words in ours.waiting.items():
            if words:
                query.set_with_no_forward_msg(key, list(words) if len(words) > 1 else words[0])
            else:
                query.discard_param_no_forward_msg(key)
        query._send_query_param_msg()  # as ``st.query_params`` does, which can only write one change after the other
    for key, words in ours.waiting.items():
        ours.choice(key).sent(words, before[key])
    ours.waiting = {}


def carry(key: str, default: float) -> None:
    """Give a number or a switch that Streamlit binds the value it had on an earlier page.

    Streamlit carries what was moved, but forgets what a link has set as soon as the page is changed.
    """
    kept, (page, back) = address().choice(key), _where()
    if kept.page != page and not back and kept.chosen and key not in st.query_params:
        st.session_state[key] = type(default)(float(kept.chosen[0]))


def keep(key: str, value: float, default: float) -> None:
    """Remember a number or a switch for the pages that ``carry`` it."""
    ours, said, (page, _) = address(), _said(key), _where()
    kept = ours.choice(key)
    if kept.page != page and value != default and not said:
        ours.waiting[key] = (str(value).lower(),)
    kept.chosen, kept.page = (str(float(value)),), page


def finite(key: str) -> None:
    """Forget an endless number (``inf``, ``1e999``) that the address has for a number field, before that is drawn.

    Streamlit makes a whole number of it, fails, and takes the page with it.
    """
    context = get_script_run_ctx()
    if context is None:
        return
    with context.session_state.query_params() as query:
        if any(map(_endless, query._initial_query_params.get(key, ()))):  # what a field begins with
            del query._initial_query_params[key]
            query.remove_param(key)


def _endless(said: str) -> bool:
    try:
        return math.isinf(float(said))
    except ValueError:
        return False


def address() -> Address:
    """The choices of this visitor, the same object in every script run."""
    found: Address = st.session_state.setdefault("_address", Address())
    return found


def _said(key: str) -> Words:
    return tuple(st.query_params.get_all(key))


def _where() -> tuple[str, bool]:
    """The page of this run, and whether the browser's Back or Forward has asked for it."""
    context = get_script_run_ctx()
    return ("", False) if context is None else (context.page_script_hash, context.is_history_navigation)


def is_back() -> bool:
    """Whether the browser's Back or Forward has asked for this run."""
    return _where()[1]


def _in_fragment() -> bool:
    context = get_script_run_ctx()
    return context is not None and bool(context.fragment_ids_this_run)
