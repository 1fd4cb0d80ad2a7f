"""The answer of an experiment, large: one token's probability without a head, or a word that another one brings."""

from __future__ import annotations

import html

import numpy as np
import streamlit as st

from bartviz.analysis import ablation as analysis
from bartviz.analysis import prediction
from bartviz.analysis.ablation import Ablation, Moved
from bartviz.analysis.edits import Edit
from bartviz.analysis.masks import quote
from bartviz.analysis.measures import padding
from bartviz.app.controls import show
from bartviz.app.frame import levels
from bartviz.features.experiments.figure_ablation import kind_of
from bartviz.language import _, mark, plural
from bartviz.language.percentages import percent

_STAYS = mark("{condition}: {token} stays at {now}")
_MOVES = mark("{condition}: {token} {was} → {now}")


def headline(found: Ablation) -> str:
    """“Without encoder L3H1: “ein” 78% → 61%”; empty where the model predicts nothing."""
    if (number := analysis.value(found)) is not None:
        label, first, second = number
        said = {"token": quote(label), "was": f"{first:.2f}", "now": f"{second:.2f}"}
        return _(_of_number(said["was"], said["now"], rises=second > first), condition=_condition(found), **said)
    moved = analysis.most_moved(found)
    if moved is None:
        return ""
    was, now = percent(moved.was), percent(moved.now)
    message = _of_probability(was, now, rises=moved.now > moved.was)
    return _(message, condition=_condition(found), token=quote(moved.token), was=was, now=now)


def _of_probability(was: str, now: str, *, rises: bool) -> str:
    """The message of a change of a probability; for a beginner a sentence."""
    if levels.at_least("intermediate"):
        return _STAYS if was == now else _MOVES
    if was == now:
        return mark("{condition}, the probability of {token} stays at {now}")
    if rises:
        return mark("{condition}, the probability of {token} rises from {was} to {now}")
    return mark("{condition}, the probability of {token} falls from {was} to {now}")


def _of_number(was: str, now: str, *, rises: bool) -> str:
    """The same of a number that the model gives."""
    if was == now:
        return _STAYS
    if levels.at_least("intermediate"):
        return _MOVES
    if rises:
        return mark("{condition}, {token} rises from {was} to {now}")
    return mark("{condition}, {token} falls from {was} to {now}")


def _condition(found: Ablation) -> str:
    """Which head is changed, and how; of several only their number."""
    factors, count = set(found.factors.values()), len(found.factors)
    name = "" if count > 1 else levels.head_with_kind(next(iter(found.factors)))
    if found.mean:
        return (
            _("With the means of {count} heads", count=count) if not name else _("With the mean of {head}", head=name)
        )
    if factors == {0.0}:
        return _("Without {count} heads", count=count) if not name else _("Without {head}", head=name)
    times = ", ".join(f"{factor:g}" for factor in sorted(factors))
    if not name:
        return _("With {count} heads × {times}", count=count, times=times)
    return _("With {head} × {times}", head=name, times=times)


def meaning(found: Ablation) -> str:
    """What the change does to all that the model writes or guesses, in words without numbers."""
    if found.before is None or found.after is None:
        return _of_labels(found)
    if found.written is not None:
        before, after = (part.output for part in found.written)
        if before is not None and after is not None and before.ids.tolist() != after.ids.tolist():
            return _("The model now writes something else.")
        if found.effect > analysis.QUIET:
            return _("The model still writes the same text and is even surer of it.")
        if found.effect < -analysis.QUIET:
            return _("The model still writes the same text but is less sure of it.")
        return _("The model still writes the same text and is about as sure of it.")
    turned = len(found.turned)
    if not turned:
        return _("Its best guesses stay the same.")
    return plural("Its best guess changes in {count} place.", "Its best guess changes in {count} places.", turned)


def of_all(found: Ablation) -> str:
    """What becomes of the probability of the written text as a whole: both numbers where they can be compared, else
    their quotient, as those of long texts are tiny. Empty where it hardly changes, or no text is shown."""
    moved = analysis.most_moved(found)
    if moved is None or found.before is None or found.after is None or not written(found, moved):
        return ""
    if abs(found.effect) <= analysis.QUIET:
        return ""
    whole = analysis.of_whole(found.before, found.after)
    if whole.told:
        message = (
            mark("The probability of all its tokens together, special ones included, rises from {was} to {now}.")
            if whole.times > 1
            else mark("The probability of all its tokens together, special ones included, falls from {was} to {now}.")
        )
        return _(message, was=percent(whole.was), now=percent(whole.now))
    if whole.times > 1:
        return _("All its tokens together become {times:,.1f} times as likely.", times=whole.times)
    return _("All its tokens together are only {share:%} as likely as before.", share=whole.times)


def _of_labels(found: Ablation) -> str:
    """The same of a model that was fine-tuned to label: what it says now, and how sure it is."""
    was, now = found.said, found.changed.prediction
    if was is None or now is None or was.scale == "none":
        return ""
    if was.task == "tokens":
        count = int((~found.record.source.special[: len(was.logits)]).sum())
        turned = round(found.label_turned * count)
        if not turned:
            return _("Every token keeps its label.")
        return plural(
            "{count} token of {all} gets another label.",
            "{count} tokens of {all} get another label.",
            turned,
            all=count,
        )
    if was.task == "answer":
        first, second = (prediction.answer(found.record, one) for one in (was, now))
        if first is None or second is None:
            return ""
        same = (first.first, first.last) == (second.first, second.last)
        return (
            _still(found, quote(first.text))
            if same
            else _("The model now answers {answer}.", answer=quote(second.text))
        )
    if was.scale == "sigmoid":
        others = np.flatnonzero((was.logits[0] >= 0) != (now.logits[0] >= 0))
        if not len(others):
            return _("The model finds the same labels as before.")
        listed = ", ".join(quote(was.labels[place]) for place in others)
        return _("What it finds changes for these labels: {labels}.", labels=listed)
    label, other = (quote(one.labels[int(one.logits[0].argmax())]) for one in (was, now))
    return _still(found, label) if label == other else _("The model now says {label}.", label=other)


def _still(found: Ablation, said: str) -> str:
    """What it says is the same, and how sure it is."""
    if found.label_log_probability > analysis.QUIET:
        return _("The model still says {label}, and is even surer of it.", label=said)
    if found.label_log_probability < -analysis.QUIET:
        return _("The model still says {label}, but is less sure of it.", label=said)
    return _("The model still says {label}, and is about as sure of it.", label=said)


def replaced(found: Edit) -> str:
    """What one replaced token does to the likeliest words: “buy” → “sell”: “kaufen” becomes “verkaufen”."""
    change = _("{old} → {new}", old=quote(found.old), new=quote(found.new))
    if found.before is None or found.after is None:
        return change
    turned = np.flatnonzero(found.before.best != found.after.best)
    if not len(turned):
        return _("{change}: the likeliest word stays the same everywhere", change=change)
    first = int(turned[0])
    was, now = quote(found.before.labels[first]), quote(found.after.labels[first])
    return _("{change}: {was} becomes {now}", change=change, was=was, now=now)


def felt(found: Edit) -> str:
    """How soon the other tokens feel the change, and how many of the likeliest words are others now."""
    change = found.hidden[found.edited][:, ~padding(found.record, found.edited)]  # (L + 1, n)
    reached, count = int((change[1] > 0).sum()), change.shape[1]
    if not change.any():
        said = _("No state changes.")
    elif reached == count:
        said = _("After one layer every token has felt the change.")
    elif found.edited == "decoder" and not change[:, : found.position].any():
        said = _("The tokens before it cannot feel the change; those after it do.")
    else:
        said = plural(
            "After one layer {count} token of {all} has felt the change.",
            "After one layer {count} tokens of {all} have felt the change.",
            reached,
            all=count,
        )
    if found.before is None or found.after is None:
        return said
    turned = int((found.before.best != found.after.best).sum())
    more = plural(
        "{count} of {all} most likely words has changed.",
        "{count} of {all} most likely words have changed.",
        turned,
        all=len(found.rows),
    )
    return f"{said} {more}" if turned > 1 else said


def sentence(text: str) -> None:
    """The answer as the largest sentence of the page."""
    st.html(f"<p class='bv-lead bv-headline'>{html.escape(text)}</p>")


def written(found: Ablation, moved: Moved) -> str:
    """The text that the model wrote, as HTML, with the token in bold; empty for other models."""
    record = found.record
    span = None if record.output is None or moved.row is None else record.output.spans[moved.row]
    if span is None or not record.target_text:
        return ""
    before, token, after = (record.target_text[part] for part in (slice(span[0]), slice(*span), slice(span[1], None)))
    return f"{html.escape(before)}<b>{html.escape(token)}</b>{html.escape(after)}"


def draw(found: Ablation) -> None:
    """The text in which the token is, and its two probabilities as bars in the colour of the heads' kind, one above the
    other."""
    moved = analysis.most_moved(found)
    if moved is None:
        return
    if text := written(found, moved):
        st.html(f"<p class='bv-written' dir='auto'>{text}</p>")
    silent = set(found.factors.values()) == {0.0} and not found.mean
    if silent:
        several = len(found.factors) > 1
        names = (_("with the heads"), _("without them")) if several else (_("with the head"), _("without it"))
    else:
        names = _("before"), _("with the change")
    shares = dict(zip(names, (moved.was, moved.now), strict=True))
    show.shares_as_bars(shares, kind=kind_of(found), alt=headline(found))
