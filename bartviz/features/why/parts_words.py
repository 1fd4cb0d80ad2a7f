"""The two lines of words: one that was written is chosen by a click, and all are shaded by what they have to do with
it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from bartviz.analysis import sentence_words, start
from bartviz.analysis.attribution import Attribution
from bartviz.analysis.attribution_methods import Method
from bartviz.analysis.masks import quote
from bartviz.app.controls import pick, show
from bartviz.app.frame import levels, page_hooks
from bartviz.browser.scripts import bundle
from bartviz.drawing.colors import word_places
from bartviz.features.why import numbers
from bartviz.features.why.numbers import Chip, Place, Shown
from bartviz.language import _
from bartviz.language.percentages import fine
from bartviz.record.attention import Kind
from bartviz.record.record import Record

Left = tuple[Sequence[float | None], Sequence[float | None], float]
KEY = "why_line"
AGAINST = (  # as in words.css
    "repeating-linear-gradient(45deg, color-mix(in srgb, currentColor 22%, transparent) 0 2px, transparent 2px 6px)"
)
BECOMES = " → "
LONG = 90  # words of both lines, above which each scrolls in itself
_FILES = Path(__file__).parent
_MOUNT = st.components.v2.component(
    "bartviz.why",
    html=(_FILES / "words.html").read_text("utf-8"),
    css=(_FILES / "words.css").read_text("utf-8"),
    js=bundle(_FILES / "words.js"),
)


def draw(record: Record, places: Sequence[Place], at: int, found: Attribution | None, said: str) -> None:
    """Both lines, with the place ``at`` chosen, and what was written before where that counts most; not shaded until
    the numbers are there. ``said`` is what these say, for screen readers when a word was chosen."""
    shown = None if found is None else numbers.shown(record, found)
    guess = "" if found is None or record.output is not None else found.steps.labels[0]
    told = found is not None and numbers.has_fallen(found) and not is_long(record, places)
    left = numbers.left(record, found) if found is not None and told else None
    sent = payload(record, filled(places, at, guess), at, shown, said, left)
    do = []
    if found is not None:
        words = [*sent["source"], *(word for index, word in enumerate(sent["output"]) if index != at)]
        numbered = [word for word in words if word["number"]]
        strongest = max(numbered, key=lambda word: abs(float(word["share"])), default={"number": ""})["number"]
        change = (sent["output"][at]["number"], strongest.rpartition(BECOMES.lstrip())[2]) if strongest else None
        do.append(bars(found.method, quote(found.steps.labels[0]), change))
    if len(places) > 1 and not page_hooks.current().leads():  # a lesson says itself what to do
        do.append(_("Touch another word in the bottom row to see what it depends on."))
    if do:
        show.what_to_do(" ".join(do))
    data = json.dumps(sent).encode()  # bytes: else pandas is imported
    _MOUNT(data=data, key=KEY, on_place_change=partial(_choose, record, places))
    if shown is not None and (colors := meanings(start.kind_of(record), shown)):
        show.legend(colors, label=_("Colours of the words"))
    if not levels.at_least("intermediate"):  # whose lead says it
        return
    before = None if shown is None else shown.before
    word = "" if before is None else quote(places[before].label)
    show.note(_("Among the words written earlier, {word} counts even more.", word=word) if word else "")


def is_long(record: Record, places: Sequence[Place]) -> bool:
    """Whether each line scrolls in itself: then bars are short, and have no numbers."""
    return len(numbers.source_words(record)) + len(places) > LONG


def bars(method: Method, token: str, change: tuple[str, str] | None = None) -> str:
    """What the bars say, and the numbers at them by the ``change`` at the longest: the token's probability with all
    words and without that one. A method that only reads weights says where a model looked, not what speaks for the
    token."""
    if method.needs == "weights":
        return _("The taller a word's bar, the more the model looked at it when it chose {token}.", token=token)
    if method.needs == "more passes" and method.sums is None:
        if change is not None:
            return _(
                "“{whole} → {left}” next to a word means: with that word hidden, the probability of {token} goes from "
                "{whole} to {left}. The taller the bar, the greater the drop (on a logarithmic scale). A word without "
                "a bar matters far less.",
                token=token,
                whole=change[0],
                left=change[1],
            )
        return _(
            "The taller a bar, the less likely {token} becomes when that word is hidden. A word without a bar "
            "matters far less.",
            token=token,
        )
    return _("The taller a word's bar, the more it speaks for {token}.", token=token)


def meanings(kind: Kind, shown: Shown) -> dict[str, tuple[str, ...]]:
    """What the colours of the bars that are shown mean, with CSS backgrounds: where there are two, or a word
    that speaks against the token."""
    found: dict[str, tuple[str, ...]] = {}
    if kind != "decoder" and any(share >= numbers.SEEN for share in shown.written):
        found = {_("words of the text"): (f"var(--bv-{kind})",), _("words written earlier"): ("var(--bv-decoder)",)}
    shares = (*(chip.share for chip in shown.source), *shown.written)
    return found | ({_("speaks against it"): (AGAINST,)} if any(share < numbers.HATCHED for share in shares) else {})


def filled(places: Sequence[Place], at: int, guess: str) -> tuple[Place, ...]:
    """The places with the model's guess where a gap is chosen."""
    fill = replace(places[at], label=guess, special=False) if places[at].special and guess else places[at]
    return (*places[:at], fill, *places[at + 1 :])


def payload(
    record: Record, places: Sequence[Place], at: int, shown: Shown | None, said: str, left: Left | None = None
) -> dict[str, Any]:
    """The component's data: plain JSON, whose texts the component escapes. ``left``: how likely the token is without
    each word (``numbers.left``), which is written on its bar, and with all of them."""
    source = [Chip(word, 0.0, 0.0) for word in numbers.source_words(record)] if shown is None else shown.source
    written = [0.0] * len(places) if shown is None else shown.written
    colors = pick.colors_of_words(record)
    read = word_places(colors.source[chip.word.start] for chip in source)
    wrote = colors.source if record.output is None else colors.predicts
    foretold = word_places(wrote[place.row] for place in places)
    of_read, of_written, whole = left or ((None,) * len(source), (None,) * len(places), None)

    def written_at(share: float, without: float | None) -> str:
        return "" if without is None or abs(share) < numbers.SEEN else fine(without)

    at_read = changes([written_at(chip.share, one) for chip, one in zip(source, of_read, strict=True)], whole)
    at_written = changes([written_at(*one) for one in zip(written, of_written, strict=True)], whole)
    if whole is not None:
        at_written[at] = fine(whole)
    return {
        "kind": start.kind_of(record),
        "source": [
            {
                "text": chip.word.text,
                "special": chip.word.special,
                "share": round(chip.share, 3),
                "say": "" if shown is None else sentence_words.signed(chip.value),
                "number": number,
                "color": color,
            }
            for chip, number, color in zip(source, at_read, read, strict=True)
        ],
        "output": [
            {
                "text": place.label,
                "joined": place.joined,
                "special": place.special,
                "share": round(share, 3),
                "say": "",
                "number": number,
                "color": color,
            }
            for place, share, number, color in zip(places, written, at_written, foretold, strict=True)
        ],
        "chosen": at,
        "said": said,
        "long": is_long(record, places),
        "labels": {"all": _("Why this word?"), "source": _("text that was read"), "output": _("words to explain")},
    }


def changes(left: Sequence[str], whole: float | None) -> list[str]:
    """The numbers of a line of words: what a probability was and becomes; only that where a neighbour has one, too.

    >>> changes(["", "6%", "", "50%", "70%"], 0.97)
    ['', '97% → 6%', '', '→ 50%', '→ 70%']
    """
    before = "" if whole is None else fine(whole)
    padded = ["", *left, ""]
    alone = [not padded[i] and not padded[i + 2] for i in range(len(left))]
    return [
        f"{before if free else ''}{BECOMES}{one}".strip() if one else "" for one, free in zip(left, alone, strict=True)
    ]


def _choose(record: Record, places: Sequence[Place]) -> None:
    """Explain the word of a browser's message: a callback."""
    if (index := asked(st.session_state[KEY].get("place"), len(places))) is not None:
        pick.put_row(record, start.kind_of(record), places[index].row)


def asked(message: object, count: int) -> int | None:
    """The place in a browser's message; None unless there is one."""
    return message if type(message) is int and 0 <= message < count else None
