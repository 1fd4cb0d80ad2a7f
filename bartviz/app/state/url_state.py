"""Choices in the address of a page, written as words: ``?kind=cross``, whatever label the option has on the page.

Streamlit's own binding writes an option's label, which changes with the language, so this module binds choices of words
itself. Numbers and switches, as the layer and the head (`controls/pick.py`, `index`), are bound by Streamlit.
Precedence, highest first: an address that was opened (a new visit, a link inside the app, the browser's Back), a click
or a value set by a callback, a choice from an earlier page, the default. A word that is not an option on this page is
kept, and applies again on a page where it is.

All changes of a script run are written in one message at its end, so that one Back undoes them together. One object
holds the whole state. It is fetched once and changed by plain assignments, because Streamlit may end the script run at
any access to the session, and every step may be repeated.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field

import streamlit as st

from bartviz.app import streamlit_internals
from bartviz.app.streamlit_internals import open_page

Words = tuple[str, ...]
MOST_SAID = 40  # characters of a link's word that a message repeats
LAG = 60.0  # seconds for which a slow browser may still send an address older than the one written last
BEHIND = 2.0  # seconds after a script run for which it may at least send what a widget held before that run


@dataclass
class Choice:
    """One choice of this visitor. ``chosen`` is None before any choice; ``in_address`` is the last known address.

    ``restored``: whether ``chosen`` was just restored, so that it also overrides what the widget holds.
    ``held``: what the widget held before it was drawn last.
    ``replaced``: what the widget held before the script last changed it, while a browser may still send that.
    ``until``: the time until which it may; infinite until the script run has ended that changed it.
    """

    key: str
    chosen: Words | None = None
    restored: bool = False
    held: Words | None = None
    replaced: Words | None = None
    until: float = math.inf
    drawn: Words | None = None
    page: str | None = None
    in_address: Words = ()
    older: tuple[tuple[float, Words], ...] = ()
    default: float | None = None  # of a number or a switch, as it was drawn last

    def linked(self, words: Words, page: str) -> bool:
        """Whether a link from this page to itself changed the address: no script run has written these words."""
        return (
            page == self.page
            and bool(words)
            and words != self.in_address
            and words not in dict(self._recent()).values()
        )

    def replace(self, held: Words) -> None:
        """Note that this script run changes what the widget holds."""
        self.replaced, self.until = held, math.inf

    def outdated(self, held: Words, began: float) -> bool:
        """Whether the request of a script run that ``began`` then has the widget's value from before it was changed.

        With every request a browser sends what all widgets hold: not only a click on this one.
        """
        return held == self.replaced and began < self.until

    def sent(self, wanted: Words, previous: Words) -> None:
        """Note that ``wanted`` was written to the address; a slow browser may still send ``previous``."""
        self.older, self.in_address = ((time.monotonic(), previous), *self._recent()), wanted

    def _recent(self) -> tuple[tuple[float, Words], ...]:
        now = time.monotonic()
        return tuple((when, words) for when, words in self.older if now - when < LAG)


@dataclass(frozen=True, slots=True)
class Missing:
    """A link to ``page`` asked for ``asked``, which is not there; ``shown`` is shown instead."""

    page: str
    asked: str
    shown: str


@dataclass
class Address:
    """All choices of a visitor, those of a link that are not available, and the changes to write at the end of the run.

    Defaults are left out of those changes. ``began`` is when this script run began, None if nobody said so.
    ``polled``: what the widgets held when a timer of the browser asked whether a result was there, which it was;
    ``timed``: the same, if that is why this script run began.
    """

    choices: dict[str, Choice] = field(default_factory=dict)
    waiting: dict[str, Words] = field(default_factory=dict)
    missing: dict[str, Missing] = field(default_factory=dict)
    late: bool = False
    began: float | None = None
    polled: dict[str, object] = field(default_factory=dict)
    timed: dict[str, object] = field(default_factory=dict)

    def choice(self, key: str) -> Choice:
        return self.choices.setdefault(key, Choice(key))

    def outdated(self, choice: Choice, held: Words) -> bool:
        """Whether what the widget of this choice holds may be what the browser has not yet replaced."""
        return self.by_timer(choice.key) or choice.outdated(
            held, time.monotonic() if self.began is None else self.began
        )

    def by_timer(self, key: str) -> bool:
        """Whether a timer sent what this widget holds. Only a click changes a widget, and that has its own request."""
        return key in self.timed and st.session_state.get(key) == self.timed[key]

    def seen(self, now: float) -> None:
        """Note when a browser will have seen what the script has changed: where that takes long, drawing does too."""
        pause = BEHIND if self.began is None else max(BEHIND, 2 * (now - self.began))
        for choice in self.choices.values():
            if choice.until == math.inf:
                choice.until = now + pause


def resolve(key: str, held: Words | None, parse: Callable[[Words], Words | None], default: Words) -> Words:
    """The words to draw; call it before the widget.

    ``held`` is the widget's current value. ``parse`` maps words to options, and returns None if they name no option.
    """
    choice, words, (page, back) = address().choice(key), _in_query(key), open_page()
    linked = opened(key)
    if back or (words and page != choice.page) or choice.linked(words, page):
        choice.chosen = words or default
    elif held is not None and not choice.restored and _changed(choice, held, page):
        choice.chosen, choice.replaced = held, None
    choice.held = held
    resolved = default if choice.chosen is None else parse(choice.chosen)
    if resolved is None and linked:
        invalid_choice(key, words[-1], " ".join(default))
    return default if resolved is None else resolved


def _changed(choice: Choice, held: Words, page: str) -> bool:
    """Whether the widget holds what neither this page has drawn nor a slow browser still sends."""
    return page != choice.page or (held != choice.drawn and not address().outdated(choice, held))


def opened(key: str) -> bool:
    """Whether an address with this key was opened: the key is in it, and not because a script run wrote it."""
    choice, words, (page, _) = address().choice(key), _in_query(key), open_page()
    return any(words) and (page != choice.page or choice.linked(words, page))


def asked(key: str) -> Words:
    """The words that are to be drawn under this key, before they are: of the address or of the widget, else those
    chosen on an earlier page; none if there are none."""
    held, choice = st.session_state.get(key), address().choice(key)
    chosen = choice.chosen
    if choice.restored:
        return chosen or ()
    return _in_query(key) or ((held,) if isinstance(held, str) else ()) or chosen or ()


def choose(key: str, words: Words) -> None:
    """Make a choice that this page has in another form, as the player has its step: the next pages begin with it."""
    address().choice(key).chosen = words


def number_chosen(key: str) -> int | None:
    """The number chosen under this key, in an opened address or before; None before any choice."""
    linked = _in_query(key) if opened(key) else ()
    words = linked if linked and linked[-1].isdecimal() and len(linked[-1]) < 6 else address().choice(key).chosen
    return int(float(words[-1])) if words else None


def put_number(key: str, value: float) -> None:
    """Choose a number as if by its picker, which need not be on this page; call it before that is drawn."""
    held = st.session_state.get(key)
    if held is not None and held != value:
        st.session_state[key] = value
    choice = address().choice(key)
    if held is not None and held != value:
        choice.replace((str(float(held)),))
    choice.chosen = (str(float(value)),)


def owner(name: str) -> str | None:
    """For what the numbers that ``belong`` under this name were chosen."""
    found = address().choice(name).chosen
    return found[0] if found else None


def belong(name: str, to: str, defaults: Mapping[str, float]) -> None:
    """Let numbers be those that were chosen ``to`` something, as the layer and head of one kind of attention; numbers
    chosen for another one are kept for when it is shown again. Call it before their pickers are drawn.

    ``defaults``: those of ``to``, by key. Numbers of an opened address stay.
    """
    choices, before, (page, back) = address(), owner(name), open_page()
    if before == to:
        return
    swapped = [] if before is None or back else [key for key in defaults if not opened(key)]
    held = {key: st.session_state.get(key) for key in swapped}
    kept = {key: choices.choice(f"{name} {to} {key}").chosen for key in swapped}
    for key, value in held.items():
        if value is not None or choices.choice(key).page == page:
            default, words = defaults[key], kept[key]
            st.session_state[key] = type(default)(float(words[0])) if words else default
    for key, value in held.items():
        choice = choices.choice(key)
        choices.choice(f"{name} {before} {key}").chosen, choice.chosen = choice.chosen, kept[key]
        if value is not None:
            choice.replace((str(float(value)),))
    choices.choice(name).chosen = (to,)


def derive(key: str, words: Words | None) -> None:
    """Begin a page with what follows from choices on other pages, None for the default, unless its address or the
    session says something else; call it before ``resolve``."""
    choice, (page, back) = address().choice(key), open_page()
    if choice.page != page and not back and key not in st.session_state and not opened(key):
        choice.chosen = words


def invalid_choice(key: str, asked: str, shown: str) -> None:
    """Note that the address asks for something unavailable: ``missing`` returns it until the visitor's next choice."""
    address().missing[key] = Missing(open_page()[0], asked[:MOST_SAID], shown)


def within(key: str, low: float, high: float, *, whole: bool = True) -> str:
    """Bring a number that is bound to ``key`` within ``low`` and ``high``, where an earlier record or model had others.

    Returns the word of the opened address that is no such number; empty if there is none. Call it before the field is
    drawn, which drops that word from the address, and ``number`` after it.
    """
    wrong = _wrong_number(key, low, high, whole)
    if any(map(_is_infinite, streamlit_internals.first_words(key))):  # to convert one to an integer fails
        streamlit_internals.drop_from_address(key)
    clamp(key, low, high)
    return wrong


def clamp(key: str, low: float, high: float) -> None:
    """Bring the number that a widget holds within ``low`` and ``high``; call it before the widget is drawn."""
    held = st.session_state.get(key)
    if held is not None and not low <= held <= high:  # only then: setting a value discards a click made meanwhile
        st.session_state[key] = type(held)(min(max(held, low), high))


def _wrong_number(key: str, low: float, high: float, whole: bool) -> str:
    words = _in_query(key)
    if not words or not words[-1] or key in st.session_state:  # in the session: the visitor has been here
        return ""
    try:
        value = float(words[-1])
    except ValueError:
        return words[-1]
    return "" if low <= value <= high and (value.is_integer() or not whole) else words[-1]


def number(key: str, wrong: str, value: float | str) -> None:
    """Note what a number field shows (words where it is empty), and the wrong word that its address asked for."""
    shown = value if isinstance(value, str) else f"{value:g}"
    if wrong:
        invalid_choice(key, wrong, shown)
    else:
        shows(key, shown)


def missing() -> dict[str, Missing]:
    """Choices that the link asked for and this page does not offer, by key."""
    page, _ = open_page()
    return {key: one for key, one in address().missing.items() if one.page == page}


def shows(key: str, shown: str) -> None:
    """Note what is shown now: if the visitor has chosen something else, what the link lacked no longer matters."""
    noted = address().missing
    if key in noted and noted[key].shown != shown:
        del noted[key]


def publish(key: str, words: Words, default: Words) -> None:
    """Put the words that were drawn into the address; call it after the widget."""
    choices, previous, (page, _) = address(), _in_query(key), open_page()
    choice = choices.choice(key)
    wanted = () if words == default else words or ("",)
    linked = choice.linked(previous, page)
    if choice.page != page:
        choice.in_address, choice.older = previous, ()
    if choice.page == page and choice.held not in (None, words):
        choice.replace(choice.held or ())
    choice.drawn, choice.page = words, page
    shows(key, " ".join(words))
    if wanted != previous or linked:
        choices.waiting[key] = wanted
    else:
        choices.waiting.pop(key, None)
        choice.in_address, choice.older = previous, ()
    if not choices.late or streamlit_internals.in_fragment():
        write()


def begin() -> None:
    """Start a script run that calls ``write`` at its end."""
    choices = address()
    page, _ = open_page()
    now = time.monotonic()
    choices.late, choices.began = True, None
    choices.seen(now)  # of a run that was ended early
    choices.began = now
    choices.timed, choices.polled = choices.polled, {}
    choices.waiting = {key: words for key, words in choices.waiting.items() if choices.choice(key).page == page}


def polled() -> None:
    """Note what the widgets hold before a request of the browser's timer, which found a result, runs the page again.

    A browser that draws slowly may have shown the progress line, whose timer asks, before what the script changed.
    """
    choices, (page, _) = address(), open_page()
    keys = [key for key, choice in choices.choices.items() if choice.page == page and key in st.session_state]
    choices.polled = {key: st.session_state[key] for key in keys}


def write() -> None:
    """Send all waiting changes to the browser in one message."""
    choices = address()
    choices.seen(time.monotonic())
    if choices.waiting:
        for key, before in streamlit_internals.write_query(choices.waiting).items():
            choices.choice(key).sent(choices.waiting[key], before)
        choices.waiting = {}


def carry(key: str, default: float) -> None:
    """Give a number or a switch that Streamlit binds its value from an earlier page.

    Streamlit carries over a value that the visitor changed, but drops one set by a link as soon as the page changes.
    After Back to another page it also ignores the words of the address that widgets of the page before were bound to.
    """
    kept, (page, back) = address().choice(key), open_page()
    here = kept.page == page
    if here and not kept.restored:
        held = () if (value := st.session_state.get(key)) is None else (str(float(value)),)
        if kept.chosen is None and kept.default not in (None, default):  # that of another record
            st.session_state[key] = default
            kept.replace(held)
        elif kept.drawn and held != kept.drawn and address().by_timer(key):
            st.session_state[key] = type(default)(float(kept.drawn[0]))
        elif kept.chosen is None and held and address().outdated(kept, held):
            st.session_state[key] = default
    elif back:
        streamlit_internals.begin_with_address(key)
    elif (kept.chosen or kept.restored) and (here or key not in st.query_params):
        st.session_state[key] = type(default)(float(kept.chosen[0])) if kept.chosen else default


def hold(key: str, default: float) -> None:
    """Let a number's field that the browser does not show have the last choice; call it before the field is drawn.

    With every request the browser sends what such a field had when it was last on the screen, however old that is.
    """
    choice, (page, back), held = address().choice(key), open_page(), st.session_state.get(key)
    if held is None or choice.page != page or back or choice.restored:
        return
    value = type(default)(float(choice.chosen[0])) if choice.chosen else default
    if held != value and (str(held),) != _in_query(key):  # a link may have set it
        st.session_state[key] = value


def keep(key: str, value: float, default: float) -> None:
    """Remember a number or a switch for pages that ``carry`` it."""
    choices, previous, (page, _) = address(), _in_query(key), open_page()
    kept = choices.choice(key)
    if kept.page != page and value != default and not previous:
        choices.waiting[key] = (str(value).lower(),)
    if kept.chosen is not None or value != default:
        kept.chosen = (str(float(value)),)
    kept.default, kept.page, kept.drawn = default, page, (str(float(value)),)
    shows(key, str(value))


def click(key: str) -> None:
    """Note that a click sets the widget of this key: whatever it sets is a choice, even what it held just before."""
    address().choice(key).replaced = None


def chosen() -> dict[str, Words | None]:
    """The visitor's choices now, by key; ``restore`` returns to them."""
    return {key: choice.chosen for key, choice in address().choices.items()}


def restore(before: Mapping[str, Words | None], without: Container[str] = ()) -> None:
    """Return to earlier choices, whatever was chosen or linked since; choices that were not made then are undone.

    Choices ``without`` which the return is made stay. Call it before any widget is drawn, and ``restored`` once the
    script run has completed: until then values of widgets that are still there, or that a browser sends again, do not
    count.
    """
    choices = address()
    for key in {*choices.choices, *before}:
        if key not in without:
            choice = choices.choice(key)
            choice.chosen, choice.restored = before.get(key), True


def must_be_set(key: str, held: object, wanted: object) -> bool:
    """Whether a widget must be set to ``wanted`` before it is drawn: without one yet, its default applies.

    A browser goes on showing and sending what a widget held before ``restore``, unless it is told.
    """
    return address().choice(key).restored or (held is not None and held != wanted)


def restored() -> None:
    """Note that the widgets of this page were drawn with what ``restore`` returned to; drop values of all others."""
    page, _ = open_page()
    for choice in address().choices.values():
        if choice.restored and choice.page != page:
            st.session_state.pop(choice.key, None)
            choice.page = None
        choice.restored = False


def _is_infinite(text: str) -> bool:
    try:
        return math.isinf(float(text))
    except ValueError:
        return False


def address() -> Address:
    """The choices of this visitor; every script run gets the same object."""
    choices: Address = st.session_state.setdefault("_address", Address())
    return choices


def _in_query(key: str) -> Words:
    return tuple(st.query_params.get_all(key))


def is_back() -> bool:
    """Whether the browser's Back or Forward requested this run."""
    return open_page()[1]
