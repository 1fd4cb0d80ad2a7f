"""The parts of the page: which word and method, the numbers as they come, the methods side by side, and the heads that
looked at the strongest words."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.analysis import sentence_words, start
from bartviz.analysis.attribution import Attribution
from bartviz.analysis.attribution_methods import METHODS, Needs
from bartviz.analysis.masks import quote
from bartviz.analysis.words import Word
from bartviz.app.controls import expander, experiment_tasks, pick, show
from bartviz.app.frame import levels, page
from bartviz.app.state import url_state
from bartviz.features.why import numbers
from bartviz.features.why.numbers import Carrier, Place, Refused, Shown
from bartviz.language import _, later, mark, plural
from bartviz.language.percentages import percent
from bartviz.record.record import Record

if TYPE_CHECKING:
    from bartviz.app.streamlit_internals import DeltaGenerator
    from bartviz.attribution.removal import Operator
    from bartviz.models.model import Model
    from bartviz.serving.gate import Ticket

Found = Attribution | Refused
STYLE = Path(__file__).with_name("style.css")
STAND_INS: dict[Operator, str] = {
    "mask": mark("the mask token"),
    "delete": mark("nothing: it is left out"),
    "exchange": mark("another word of the text"),
    "fill-in": mark("the guess of a model that fills gaps"),
}
USUAL = next(iter(METHODS))
PASSES = {"weights": 1, "values": 2, "gradients": 40, "more passes": 40}
"""Runs of the model that methods take for one word, by what they need, about; what is there soonest first."""
SOONEST = tuple(PASSES)
HEADS = 5  # that are named with a link
HOW: dict[Needs, str] = {
    "more passes": mark(
        "For this method one token after the other passes nothing on to the others, and the colour says how "
        "much that changes what the model makes of the text. It gives shares: no word can speak against the "
        "touched one."
    ),
    "gradients": mark(
        "This method hides no word. It asks the network how a tiny change of each word would change the "
        "touched one. A hatched word speaks against it. A missing word is a large change, which may do "
        "something else: the button under the words tries that."
    ),
    "values": mark(
        "This method hides no word. It reads from the network how much each word passes on to the touched "
        "one. That is never negative, and it need not matter: the button under the words tries what happens "
        "without the strongest."
    ),
    "weights": mark(
        "This method hides no word. Its colours are weights of attention: they say where the model looked "
        "when it chose the touched word. A word that was looked at need not matter: the button under the "
        "words tries what happens without the strongest."
    ),
}
"""How methods find their numbers, by what they need; those with further passes and signs hide words (``HIDES``)."""
HIDES = mark(
    "To find out, the words that the model has read or written are hidden from it one at a time. If the touched "
    "word becomes less likely, the hidden word spoke for it. If it becomes likelier, the hidden word spoke against "
    "it and is hatched."
)


def place(record: Record, places: Sequence[Place]) -> int:
    """The place that is explained: that of the row that was chosen, here or on another page (URL ``row``)."""
    kind = start.kind_of(record)
    row = pick.linked_row(record, kind)
    at = numbers.chosen(record, places, row)
    usual = places[numbers.chosen(record, places, None)].row
    if row is not None:  # a link's row, too, is the choice of the runs that follow
        url_state.choose("row", (str(places[at].row),))
    url_state.publish("row", (str(places[at].row),), (str(usual),))
    return at


def method() -> str:
    """The method of the large picture (URL ``method``)."""
    return pick.select(_("Method"), {name: _(name) for name in METHODS}, key="method")


def how(name: str) -> str:
    """How a method finds its numbers, in a paragraph."""
    chosen = METHODS[name]
    return _(HIDES if chosen.needs == "more passes" and chosen.sums is None else HOW[chosen.needs])


def contrast(record: Record, at: int, name: str) -> str | None:
    """Another token that the model could have written (URL ``instead``), or None: why this one and not that one?"""
    if not METHODS[name].contrasts or at >= len(record.steps):
        return None
    step = record.steps[at]
    others = [one for one in step.candidates if one.token_id != step.chosen.token_id]
    alone = _("the likeliest other token") if METHODS[name].always_contrasts else _("nothing: alone")
    names = {"": alone} | {f"#{one.token_id}": f"{show.plain(one.label)} {percent(one.probability)}" for one in others}
    label = _("Compared with")
    return pick.select(label, names, key="instead", hint=_("Why the word that was written, and not this one?")) or None


def operator() -> Operator:
    """What stands in place of a word that is taken away (URL ``operator``)."""
    names: dict[str, str] = {word: _(label) for word, label in STAND_INS.items()}
    chosen = pick.select(_("In place of a word that is taken away"), names, key="operator")
    return next(word for word in STAND_INS if word == chosen)


@dataclass(frozen=True, slots=True)
class Choice:
    """The method of the large picture, the token that is compared with, and what stands in for words taken away.
    ``waits``: the method that was chosen, where another one is shown until it is there."""

    method: str
    instead: str | None
    operator: Operator
    waits: str | None = None


def choose(record: Record, at: int) -> Choice:
    """The pickers; a beginner has none of them, but that of the method where a link or a lesson has chosen one."""
    name, instead, by = USUAL, None, next(iter(STAND_INS))
    if levels.at_least("intermediate"):
        columns = st.columns(3 if levels.at_least("expert") else 2)
        with columns[0]:
            name = method()
        with columns[1]:
            instead = contrast(record, at, name)
        if len(columns) > 2:
            with columns[2]:
                by = operator()
    elif expander.requested("why_method", ["method"]):
        name = method()
    return Choice(name, instead, by)


def quick(record: Record) -> str:
    """The method that is shown while a slow one waits: it reads what the network has computed anyway."""
    return "mean attention" if experiment_tasks.large(record, PASSES["values"]) else "norms of weighted values"


def slow(record: Record, name: str) -> bool:
    """Whether a method takes so long for this record that a button starts it."""
    return name != quick(record) and experiment_tasks.large(record, PASSES[METHODS[name].needs])


def first(record: Record, at: int, chosen: Choice, above: DeltaGenerator) -> tuple[Choice, Found | None]:
    """The numbers of the large picture and what they answer: while a slow method waits, the quick one instead of it,
    and why it waits is said ``above`` with a button."""
    if not slow(record, chosen.method):
        return chosen, found(record, at, chosen.method, chosen.instead)
    shown = quick(record)
    with above:
        why = st.empty()
        result = found(record, at, chosen.method, chosen.instead)
    if result is not None:
        return chosen, result
    with why:
        show.note(
            _(
                "With a text and a model of this size, {method} may take ten seconds, or minutes on a slow machine, so "
                "the page asks first. Until the answer is there, the words are shaded by {shown}.",
                method=_(chosen.method),
                shown=_(shown),
            )
        )
    return replace(chosen, method=shown, instead=None, waits=chosen.method), found(record, at, shown)


def found(record: Record, at: int, name: str, instead: str | None = None) -> Found | None:
    """The numbers of one method for a place; None while they are computed, which a line of progress says."""

    def work(model: Model, ticket: Ticket[Found]) -> Found:
        from bartviz.features.why.run_attributions import explained

        def progress(_note: str, share: float | None) -> None:
            ticket.report(later("Asking a method: {method}", method=later(name)), share)

        return explained(model, record, name, at, instead, ticket.cancelled, progress)

    key: dict[str, object] = {"step": at, "instead": instead or ""}
    button = _("Ask {method}", method=_(name)) if slow(record, name) else None
    task = f"why_{name}" if instead is None else "why_instead"
    return experiment_tasks.ask(task, record, key, work, button=button)


def in_order() -> list[str]:
    """The methods, those that are there soonest first."""
    return sorted(METHODS, key=lambda name: SOONEST.index(METHODS[name].needs))


def named(place: Place, found: Attribution) -> str:
    """The token that is explained, in quotes: the model's guess where it is a gap, and of which word it is a piece."""
    (label,) = found.steps.labels
    if place.word:
        return _("{piece} in {word}", piece=quote(place.label), word=quote(place.word))
    return quote(label)


def said(name: str, place: Place, found: Attribution, shown: Shown, before: Place | None = None) -> str:
    """Which words a method names: “kaufen”: leave-one-out points to “buy”, “want” and “car”. ``before``: what was
    written earlier and counts even more, which a beginner is told first."""
    token, method = named(place, found), _(name)
    if found.contrast is not None:
        token = _("{token} and not {other}", token=token, other=quote(found.contrast))
    words = [quote(shown.source[i].word.text) for i in shown.named()]
    plain = name == USUAL and not levels.at_least("intermediate")
    if plain and before is not None and not words:
        return _(
            "{token} depends on {before}, which was written before it, and hardly on any word of the text.",
            token=token,
            before=quote(before.label),
        )
    if not words:
        return _("{token}: {method} points to no word of the text.", token=token, method=method)
    if plain:
        if before is not None:
            return plural(
                "{before}, which was written earlier, matters most for {token}. Among the words of the text, {words} "
                "matters most.",
                "{before}, which was written earlier, matters most for {token}. Among the words of the text, {words} "
                "matter most.",
                len(words),
                token=token,
                before=quote(before.label),
                words=listed(words),
            )
        return plural(
            "Among the words of the text, {words} matters most for {token}: without it, {token} is less likely.",
            "Among the words of the text, {words} matter most for {token}: without one of them, {token} is less "
            "likely.",
            len(words),
            token=token,
            words=listed(words),
        )
    return _("{token}: {method} points to {words}.", token=token, method=method, words=listed(words))


def listed(words: Sequence[str]) -> str:
    """Words in a sentence: “a”, “b” and “c”."""
    *before, last = words
    return _("{words} and {last}", words=", ".join(before), last=last) if before else last


def side_by_side(
    record: Record, at: int, chosen: Choice, known: Attribution, results: dict[str, Found]
) -> DeltaGenerator:
    """Every method as a line of shaded words, those that are there soonest first; ``known``: what was chosen. Fills
    ``results``, and returns the place of the lines."""
    st.subheader(_("The same word by every method"), anchor=False)
    show.note(_("Beside each: is it better than random orders of the words, over all that was written from this text?"))
    if chosen.instead is None:
        results[chosen.method] = known
    drawn = st.empty()
    for name in in_order():
        drawn.html(strips(record, results, {}, chosen.method))
        if name not in results and name != chosen.waits:  # its button stands above
            result = found(record, at, name)
            if result is None:
                return drawn
            results[name] = result
    drawn.html(strips(record, results, {}, chosen.method))
    return drawn


def strips(record: Record, results: Mapping[str, Found], verdicts: Mapping[str, str], bold: str) -> str:
    """One line for each method: its words, shaded, and what it is worth here."""
    kind = start.kind_of(record)
    lines = [_strip(record, name, results.get(name), verdicts.get(name, ""), name == bold) for name in METHODS]
    return f"<div class='bv-why-strips bv-why-{kind}' role='list'>{''.join(lines)}</div>"


def _strip(record: Record, name: str, result: Found | None, verdict: str, bold: bool) -> str:
    label = html.escape(_(name))
    label = f"<b>{label}</b>" if bold else label
    body = "<span class='bv-note'>…</span>"
    if isinstance(result, Refused):
        body = f"<span class='bv-note'>{html.escape(str(result.error))}</span>"
    elif result is not None:
        body = "".join(_chip(chip) for chip in numbers.shown(record, result).source if not chip.word.special)
    value = f"<em>{html.escape(verdict)}</em>"
    return f"<div role='listitem'><span>{label} {value}</span><p dir='auto'>{body}</p></div>"


def _chip(chip: numbers.Chip) -> str:
    against = " bv-against" if chip.share < numbers.HATCHED else ""
    style = f"--w:{50 * max(chip.share, 0.0):.0f}%"
    title = sentence_words.signed(chip.value)
    return f"<i class='bv-why-chip{against}' style='{style}' title='{title}'>{html.escape(chip.word.text)}</i>"


def carried(record: Record, at: Place, found: Attribution, shown: Shown) -> None:
    """The heads that looked at the strongest words when the token was chosen, each with a link, and the layers."""
    strong = [shown.source[i].word for i in shown.strongest()]
    if not strong:
        return
    heads = numbers.carriers(record, at.row, strong)
    st.subheader(_("Which heads looked there?"), anchor=False)
    show.note(
        _(
            "The share of a head's weight, in the row of {token}, that is on {words}. A head that looks there need not "
            "be the one that matters: silence it to see.",
            token=named(at, found),
            words=listed([quote(word.text) for word in strong]),
        )
    )
    with st.container(horizontal=True, gap="small", key="why_heads"):
        for one in heads[:HEADS]:
            _link(one, at.row)
    _further(record, at, strong[0])
    if levels.at_least("intermediate"):
        layers = ", ".join(f"{layer}: {percent(float(share))}" for layer, share in enumerate(numbers.by_layer(heads)))
        show.note(_("The mean of each layer's heads: {layers}", layers=layers))


def _further(record: Record, at: Place, word: Word) -> None:
    """What else is known of the token and its strongest word: the layers before the last, and heads put back."""
    with st.container(horizontal=True, gap="small", key="why_further"):
        seen = {"kind": start.kind_of(record), "row": str(at.row), "around": "lens"}
        page.link("inside", _("Reading earlier layers"), seen, icon=":material/arrow_forward:")
        changed = {"experiment": "edit", "side": "source", "position": str(word.start), "put": "head"}
        page.link("experiments", _("Which heads carry the change?"), changed, icon=":material/arrow_forward:")


def _link(one: Carrier, row: int) -> None:
    head = one.head
    name = sentence_words.head(head.kind, head.layer, head.head)
    query = {"kind": head.kind, "layer": str(head.layer), "head": str(head.head), "row": str(row)}
    page.link("heads", f"{name} · {percent(one.share)}", {**query, "weights": "head", "view": "map"})
