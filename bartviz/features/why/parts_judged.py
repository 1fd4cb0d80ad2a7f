"""Is a method better than chance on this text, and what becomes of the word without the words that it names?"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.analysis.masks import quote
from bartviz.analysis.verdicts import ALIKE, BETTER, Verdict
from bartviz.app.controls import experiment_tasks, show
from bartviz.features.why import numbers
from bartviz.features.why.numbers import Place, Refused, Shown, Taken
from bartviz.features.why.parts import listed
from bartviz.language import _, later
from bartviz.language.percentages import percent
from bartviz.record.record import Record

if TYPE_CHECKING:
    from bartviz.attribution.judge import Judged
    from bartviz.attribution.removal import Operator
    from bartviz.models.model import Model
    from bartviz.serving.gate import Ticket

PASSES = 300  # runs of the model that one method's verdict takes, about


def judged(record: Record, methods: Sequence[str], by: Operator) -> Judged | Refused | None:
    """Each method against random orders of the words; None while that runs, which a line of progress says."""

    def work(model: Model, ticket: Ticket[Judged | Refused]) -> Judged | Refused:
        from bartviz.features.why.run_attributions import judged

        def progress(done: int, total: int) -> None:
            ticket.report(later("Judging the methods on this text"), done / (total + 1))

        return judged(model, record, methods, by, ticket.cancelled, progress)

    key: dict[str, object] = {"methods": list(methods), "operator": by}
    button = _("Judge the methods on this text") if experiment_tasks.large(record, PASSES) else None
    return experiment_tasks.ask("why_judged", record, key, work, button=button)


def with_verdict(said: str, verdict: Verdict) -> str:
    """A sentence of what a method names, with a warning where the method is no better than chance on this text."""
    if verdict == BETTER:
        return said
    if verdict == ALIKE:
        worth = _("But over all that was written, removing words found this way costs no more than random ones.")
    else:
        worth = _("But over all that was written, removing words found this way costs less than random ones.")
    return f"{said} {worth}"


def remove(record: Record, place: Place, at: int, shown: Shown, by: Operator) -> None:
    """The button that takes the strongest words away, and what the model writes then, beside random words."""
    strong, others = numbers.to_remove(record, place, shown)
    if not strong:
        return
    sets = strong, others
    names = [[shown.source[i].word.text for i in words] for words in sets]

    def work(model: Model, ticket: Ticket[tuple[Taken, ...] | Refused]) -> tuple[Taken, ...] | Refused:
        from bartviz.features.why.run_attributions import removed

        ticket.report(later("Taking words away"))
        return removed(model, record, at, sets, names, by, ticket.cancelled)

    key: dict[str, object] = {"step": at, "sets": [list(words) for words in sets], "operator": by}
    words = listed([quote(word) for word in names[0]])
    label = _("See what the model guesses without {words}", words=words)
    if record.cross is not None:  # its output is a text of its own
        label = _("See what the model writes without {words}", words=words)
    found = experiment_tasks.ask("why_remove", record, key, work, button=label)
    if isinstance(found, Refused):
        st.error(show.plain(str(found.error)))
    elif found is not None:
        show.lead(fallen(found))
        before = None if record.output is None else numbers.before(numbers.places(record)[:at])
        st.html(bars(found, before, place.word or place.label))


def fallen(found: Sequence[Taken]) -> str:
    """Without “buy”: 99% → 3%; without “to”, at random: 99% → 98%."""
    whole, strong, random = (percent(one.share) for one in found)
    return _(
        "Without {words}: {before} → {after}. Without {others}, chosen at random: {before} → {random}.",
        words=listed([quote(word) for word in found[1].words]),
        others=listed([quote(word) for word in found[2].words]),
        before=whole,
        after=strong,
        random=random,
    )


def bars(found: Sequence[Taken], before: str | None, word: str) -> str:
    """A bar for the token's probability with every word, without the strongest and without random ones, and beside each
    what the model then writes from the beginning, in which the ``word`` that was asked about need not be. The likeliest
    token is that after what was written ``before`` at first, so it need not be in the new text either; ``before`` is
    None for a model that fills gaps."""
    strong, others = (listed([quote(word) for word in one.words]) for one in found[1:])
    titles = [
        _("with every word"),
        _("without {words}", words=strong),
        _("without {words}, chosen at random", words=others),
    ]
    rows = []
    for title, one in zip(titles, found, strict=True):
        label, chance = one.likeliest
        said = _likeliest(before, quote(label), percent(chance))
        text = f"<q dir='auto'>{html.escape(one.output)}</q>" if one.output else ""
        if one.output and one.words:
            told = _("written anew from what is left:")
            if not _has(one.output, word):
                told = _("written anew from what is left, now without {word}:", word=quote(word))
            text = f"<small>{html.escape(told)}</small> {text}"
        rows.append(
            f"<div><b>{html.escape(title)}</b><i style='--share:{100 * one.share:.2f}%'></i>"
            f"<span>{percent(one.share)}</span><p>{text} <small>{html.escape(said)}</small></p></div>"
        )
    return f"<div class='bv-why-bars'>{''.join(rows)}</div>"


def _has(text: str, word: str) -> bool:
    """Whether a text has a word, not as a part of another one; of a text without spaces that cannot be told."""
    text, word = text.casefold(), word.casefold()
    if " " not in text or not word.isalnum():
        return word in text
    return word in re.findall(r"\w+", text)


def _likeliest(before: str | None, token: str, share: str) -> str:
    if before is None:
        return _("likeliest here: {token} {share}", token=token, share=share)
    if not before:
        return _("likeliest at the beginning: {token} {share}", token=token, share=share)
    return _("likeliest after {words}, as before: {token} {share}", words=quote(before), token=token, share=share)
