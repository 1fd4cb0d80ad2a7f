"""Pitfalls that need another run: sharp heads that can be silenced, attention put to a test, and the same architecture
untrained."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from bartviz.analysis import ablation, head_names, sentence_words, start
from bartviz.analysis.measures import of_record
from bartviz.analysis.verdicts import BETTER, Verdict
from bartviz.app.controls import pick, show
from bartviz.app.controls.experiment_tasks import ask
from bartviz.app.frame import levels, page
from bartviz.app.state.result_cache import cached
from bartviz.features.pitfalls import figure as figures
from bartviz.features.pitfalls import numbers_experiment_findings as experiment_findings
from bartviz.features.pitfalls.parts import capitalized, link, one_map, row_names, sources_and_link, where
from bartviz.language import _, later, mark
from bartviz.language.percentages import percent
from bartviz.record.attention import Head, Kind

if TYPE_CHECKING:
    from bartviz.analysis.ablation import Ablation, Guesses, Sweep
    from bartviz.models.model import Model
    from bartviz.record.record import Record
    from bartviz.serving.gate import Ticket

Verdicts = tuple[tuple[str, Verdict, float], ...]
TAKES = mark("This takes a while with a model of this size.")
READINGS = ("best head", "mean attention")  # of METHODS, those that read nothing but weights
RANDOM_SEED = 0
LARGE = 50_000_000
"""Parameters from which a second network (200 MB) is created only on request."""
ALIKE = 0.005
"""Two probabilities of a text are alike if they differ by less: by half of a per cent."""


def surprise(record: Record) -> None:
    """Silence the head of the start page's picture, the one that explains best: how likely is the text without it?"""
    head = pick.first_head(record, start.kind_of(record))

    def work(model: Model, ticket: Ticket[Ablation]) -> Ablation:
        from bartviz.experiments.ablation import ablate

        return ablate(model, record, {head: 0.0}, write=False, cancelled=ticket.cancelled)

    label = _("Silence {head}", head=levels.head_with_kind(head)) if record.model.parameters > LARGE else None
    found: Ablation | None = ask("pitfalls_surprise", record, {"head": str(head)}, work, button=label)
    if found is None or found.before is None or found.after is None:
        return
    said = surprise_sentence(found.before, found.after, levels.head_with_kind(head), _habit(record, head))
    show.lead(said)
    whole = ablation.of_whole(found.before, found.after)
    if whole.told:
        shares = {_("with the head"): whole.was, _("without it"): whole.now}
        show.shares_as_bars(shares, kind=head.kind, alt=said)
    show.note(_("It is {place} ({attention}) of {model}.", **where(head, record)))
    link("experiments", _("silence this head"), {"experiment": "ablation", "silenced": str(head)})


def _habit(record: Record, head: Head) -> str:
    """What the head does in this text, or where else it is shown."""
    found = head_names.name(cached(partial(of_record, record, head.kind)), head.layer, head.head)
    return _("the start page shows") if found is None else found.alone


def surprise_sentence(before: Guesses, after: Guesses, head: str, does: str) -> str:
    """What happens to the probability of the whole text, the product of its tokens', when a head, as it is called and
    with what it ``does``, is silenced.

    Both probabilities are told where a reader can compare them, else their quotient: those of long texts are tiny.
    """
    whole = ablation.of_whole(before, after)
    of_head = {"head": head, "does": does}
    said = of_head | {"before": percent(whole.was), "after": percent(whole.now)}
    if abs(whole.times - 1) < ALIKE:
        if min(whole.was, whole.now) < ablation.SMALLEST:
            return _("Switch off {head}, which {does}, and the model finds the same text just as likely.", **of_head)
        return _(
            "Switch off {head}, which {does}, and the model finds the same text just as likely: the "
            "probability of all its tokens together stays at {before}.",
            **of_head,
            before=said["before"],
        )
    if whole.times > 1:
        if whole.told:
            return _(
                "Switch off {head}, which {does}, and the same text does not become any less "
                "likely: the probability of all its tokens together is {before} with the head and {after} "
                "without it.",
                **said,
            )
        return _(
            "Switch off {head}, which {does}, and the same text does not become any less "
            "likely: {times:,.2f} times as likely as before.",
            **of_head,
            times=whole.times,
        )
    if whole.told:
        return _(
            "Switch off {head}, which {does}, and the model finds the same text less likely: the "
            "probability of all its tokens together is {before} with the head and {after} without it. That is an "
            "effect; the picture alone shows none.",
            **said,
        )
    return _(
        "Switch off {head}, which {does}, and the model finds the same text less likely: its "
        "probability is {share} of what it was. That is an effect; the picture alone shows none.",
        **of_head,
        share=percent(whole.times),
    )


def silence(record: Record) -> None:
    """Silence every head in turn, on request: which look sharply, and which matter."""

    def work(model: Model, ticket: Ticket[Sweep]) -> Sweep:
        from bartviz.experiments.ablation import ablate_sweep

        def progress(done: int, total: int) -> None:
            ticket.report(_("Head {done:,} of {total:,}", done=done, total=total), done / total)

        return ablate_sweep(model, record, cancelled=ticket.cancelled, on_progress=progress)

    shapes = [record.attention(kind).shape for kind in record.kinds]
    count = sum(shape[0] * shape[1] for shape in shapes)
    label = _("Silence each of the {count} heads in turn", count=count)
    sweep: Sweep | None = ask("pitfalls_sweep", record, {}, work, button=label)
    if sweep is None:
        if record.model.parameters > LARGE:
            show.note(_(TAKES))
        return
    if "log_probability" not in sweep.measures:
        show.note(_("This model does not predict tokens, so there is no log p that a head could change."))
        return
    finding = experiment_findings.quiet(
        sweep, {kind: cached(partial(of_record, record, kind)) for kind in record.kinds}
    )
    show.lead(capitalized(_quiet_sentence(finding)))
    plain = not levels.at_least("intermediate")
    name = "" if finding.quietest is None else levels.head_name(finding.heads[finding.quietest])
    drawn = partial(figures.sharp_and_silent, finding, plain=plain, name=name, dark=page.dark())
    show.figure(drawn, key="pitfalls_quiet", alt=_quiet_sentence(finding))
    show.note(
        _(
            "Each point is a head: the further right, the more sharply it looks; the further from 100%, the more "
            "switching it off changes. The grey area: heads that put at least half of a row's weight on one token and "
            "change little."
        )
        if plain
        else _(
            "Each point is a head: the further right, the more sharply it looks; the further from 0, the more "
            "silencing it changes. The grey area: sharp heads that change little."
        )
    )
    if finding.quietest is not None:
        sources_and_link(
            _(
                "Michel et al. 2019; Voita et al. 2019. Heads can replace each other: that silencing one "
                "costs nothing does not prove that it does nothing."
            ),
            "experiments",
            _("silence this head"),
            {"experiment": "ablation", "silenced": str(finding.heads[finding.quietest])},
        )


def _quiet_sentence(finding: experiment_findings.Quiet) -> str:
    if finding.quietest is None:
        return _("No head of this text puts half of a row's weight on one token.")
    change = float(finding.change[finding.quietest])
    values = {
        "head": levels.head_with_kind(finding.heads[finding.quietest]),
        "peak": float(finding.peak[finding.quietest]),
        "change": change,
        "idle": finding.idle,
        "sharp": finding.sharp,
    }
    if levels.at_least("intermediate"):
        return _(
            "On average {head} puts {peak:.2f} of a row's weight on one token, and silencing it changes log p by "
            "{change:+.3f} nats. Of {sharp} heads with at least 0.5 there, {idle} change it by less than 0.1.",
            **values,
        )
    plain = {**values, "now": math.exp(change), "limit": math.expm1(experiment_findings.LITTLE)}
    return " ".join(
        [
            _(
                "Heads that look sharply can often be switched off: one at a time, {idle} of {sharp} change the "
                "probability of the text by less than {limit:.0%}.",
                **plain,
            )
            if 2 * finding.idle > finding.sharp
            else _(
                "Switched off one at a time, {idle} of the {sharp} heads that look sharply change the probability of "
                "the text by less than {limit:.0%}.",
                **plain,
            ),
            _(
                "For example, {head} puts {peak:.0%} of a row's weight on one token, on average; without it the text "
                "is {now:.0%} as likely as with it.",
                **plain,
            ),
        ]
    )


def judged(record: Record) -> None:
    """Take the words away that attention names, on request: does it name them better than chance?"""

    def work(model: Model, ticket: Ticket[Verdicts]) -> Verdicts:
        from bartviz.features.pitfalls.run_judged import verdicts

        ticket.report(later("Taking words away in random orders"))
        return verdicts(model, record, READINGS, ticket.cancelled)

    label = _("Test whether attention names the words that matter")
    found: Verdicts | None = ask("pitfalls_judged", record, {}, work, button=label)
    if found is None:
        if record.model.parameters > LARGE:
            show.note(_(TAKES))
        return
    said = judged_sentence(found)
    show.lead(said)
    names = {_(name): ahead for name, _verdict, ahead in found}
    show.shares_as_bars(names | {_("by chance"): 0.5}, kind=None, alt=said)
    show.note(
        _("The bars: the share of random orders of the words that a reading of attention beats; chance beats half.")
    )
    sources_and_link(
        _(
            "Words are taken away in the order of their weights, and in random orders (Samek et al. 2017; Benjamini "
            "and Hochberg 1995)."
        ),
        "why",
        "",
        {"method": READINGS[0]},
    )


def judged_sentence(found: Verdicts) -> str:
    """The verdicts on two readings of attention, and what they allow to say of this text."""
    ahead_of = mark("{reading}: {verdict} (ahead of {share} of random orders)")
    told = "; ".join(
        _(ahead_of, reading=_(name), verdict=_(verdict), share=percent(ahead)) for name, verdict, ahead in found
    )
    said = _("On this text: {verdicts}.", verdicts=told)
    good = sum(verdict == BETTER for _name, verdict, _ahead in found)
    if good == len(found):
        return f"{said} " + _(
            "So here attention names words that matter. That is no explanation yet: on another text it may fail, and "
            "its map would look as clear. Only the test tells."
        )
    if good:
        return f"{said} " + _("So it depends on how attention is read, and a map does not say which reading holds.")
    return f"{said} " + _("So nothing shows that attention names the words that matter here, however clear the map is.")


def untrained(record: Record) -> None:
    """Run the same architecture with random weights on the same text."""

    def work(model: Model, ticket: Ticket[Record]) -> Record:
        from bartviz.features.pitfalls.run_random_weights import untrained_record

        ticket.report(_("Drawing random weights"), None)
        return untrained_record(model, record, seed=RANDOM_SEED, cancelled=ticket.cancelled)

    wait = record.model.parameters > LARGE
    label = _("Draw random weights for this architecture")
    fresh: Record | None = ask(
        "pitfalls_untrained", record, {"seed": RANDOM_SEED}, work, button=label if wait else None
    )
    if fresh is None:
        return
    kind: Kind = "cross" if record.cross is not None else record.kinds[0]
    before, after = (_evenness(shown, kind) for shown in (record, fresh))
    if before is None or after is None:
        return
    show.lead(_less_even(kind, before, after, learned=fresh.model.trained))
    _sharpest(record, fresh, kind)
    sources_and_link(
        _("Random weights: normal, with the configuration's spread. Every page warns if a model looks untrained."),
        "compare",
        _("how even every head is"),
        {"kind": kind, "x": "evenness", "y": "peak", "below": "all"},
    )


def _less_even(
    kind: Kind, before: experiment_findings.Evenness, after: experiment_findings.Evenness, *, learned: bool
) -> str:
    """How even the rows are with random weights, compared with the model itself."""
    values = {"attention": sentence_words.attention(kind), "even": after.share, "own": before.share}
    if levels.at_least("intermediate"):
        bits = {"after": after.bits, "possible": after.possible, "before": before.bits}
        sentence = _(
            "With random weights a row of {attention} has {after:.2f} of {possible:.2f} possible bits "
            "({even:.1%} of even), in this model {before:.2f} ({own:.0%}).",
            **values,
            **bits,
        )
    else:
        sentence = _(
            "How evenly a row of {attention} spreads its weight (100%: the same on all tokens): {even:.1%} with random "
            "weights, {own:.0%} in this model.",
            **values,
        )
    if learned or not levels.at_least("intermediate"):
        return sentence
    return f"{sentence} " + _(
        "The weights show that nothing was learned: every layer norm still has a gain of exactly 1."
    )


def _sharpest(record: Record, fresh: Record, kind: Kind) -> None:
    """The head with the most peaked rows, next to the same head with random weights."""
    attention = record.attention(kind)
    measured = cached(partial(of_record, record, kind)).values["peak"]  # (L, H)
    layer, head = (int(index) for index in np.unravel_index(int(np.nan_to_num(measured).argmax()), measured.shape))
    names = row_names(record, kind)
    own = _("{head} of {model}", head=levels.head_with_kind(Head(kind, layer, head)), model=record.model.name)
    if not record.model.trained:
        own += " " + _("(looks untrained itself)")
    first, second = st.columns(2, gap="small", vertical_alignment="bottom")
    with first:
        one_map(record, attention.head(layer, head), attention, names, own, "pitfalls_trained")
    with second:
        one_map(
            record,
            fresh.attention(kind).head(layer, head),
            attention,
            names,
            _("The same head without any training"),
            "pitfalls_random",
        )


def _evenness(record: Record, kind: Kind) -> experiment_findings.Evenness | None:
    """How even the rows of one kind are; None if no row counts."""
    results = cached(partial(experiment_findings.evenness, record, [kind]))
    return results[0] if results else None
