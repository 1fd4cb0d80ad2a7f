"""What another run shows: heads that look sharply and may be silenced, and the same architecture untrained."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from bartviz.analysis import experiment_findings, fooled
from bartviz.analysis.measures import of_record
from bartviz.figures import fooled as figures
from bartviz.language import _
from bartviz.record.attention import Head, Kind
from bartviz.ui.controls import show
from bartviz.ui.frame import page
from bartviz.ui.state.once import once
from bartviz.ui.views.experiments.asking import ask
from bartviz.ui.views.fooled.parts import begun, below, kind_of, named, one_map, title

if TYPE_CHECKING:
    from bartviz.analysis.ablation import Sweep
    from bartviz.models.model import Model
    from bartviz.record.record import Record
    from bartviz.serving.gate import Ticket

RANDOM_SEED = 0
LARGE = 50_000_000
"""Parameters from which on a second network is drawn only when asked for: 200 MB."""


def silence(record: Record) -> None:
    """Every head in turn, when asked for: who looks sharply, and who matters."""

    def work(model: Model, ticket: Ticket[Sweep]) -> Sweep:
        from bartviz.experiments.ablation import ablate_sweep

        def progress(done: int, total: int) -> None:
            ticket.report(_("Head {done:,} of {total:,}", done=done, total=total), done / total)

        return ablate_sweep(model, record, cancelled=ticket.cancelled, on_progress=progress)

    shapes = [record.attention(kind).shape for kind in record.kinds]
    count = sum(shape[0] * shape[1] for shape in shapes)
    label = _("Silence each of {count} heads, one after the other", count=count)
    sweep: Sweep | None = ask("fooled_sweep", record, {}, work, lambda found: found.nbytes, button=label)
    if sweep is None:
        return
    found = experiment_findings.quiet(sweep, {kind: once(partial(of_record, record, kind)) for kind in record.kinds})
    show.lead(begun(_quiet_said(found)))
    show.figure(partial(figures.sharp_and_silent, found, dark=page.dark()), key="fooled_quiet", alt=_quiet_said(found))
    if found.quietest is not None:
        below(
            _(
                "Michel et al. 2019; Voita et al. 2019. Heads can stand in for each other: no cost is no proof that a "
                "head does nothing."
            ),
            "experiments",
            _("Silence it"),
            {"experiment": "ablation", "silenced": str(found.heads[found.quietest])},
        )


def _quiet_said(found: experiment_findings.Quiet) -> str:
    if found.quietest is None:
        return _("No head of this text puts half of a row's weight on one token.")
    told = {
        "head": named(found.heads[found.quietest]),
        "peak": float(found.peak[found.quietest]),
        "change": float(found.change[found.quietest]),
        "idle": found.idle,
        "sharp": found.sharp,
    }
    return _(
        "{head} puts {peak:.2f} of a row's weight on one token on the mean, and silencing it changes log p by "
        "{change:+.3f} nats. Of {sharp} heads that look so sharply, {idle} change it by less than 0.1.",
        **told,
    )


def untrained(record: Record) -> None:
    """The same architecture with random weights, on the same text."""
    title(5, _("Untrained weights show nothing, however neat the map"))

    def work(model: Model, ticket: Ticket[Record]) -> Record:
        from bartviz.experiments.untrained import untrained_record

        ticket.report(_("Drawing random weights"), None)
        return untrained_record(model, record, seed=RANDOM_SEED, cancelled=ticket.cancelled)

    wait = record.model.parameters > LARGE
    label = _("Draw random weights for this architecture")
    fresh: Record | None = ask(
        "fooled_untrained",
        record,
        {"seed": RANDOM_SEED},
        work,
        lambda found: found.nbytes,
        button=label if wait else None,
    )
    if fresh is None:
        return
    kind: Kind = "cross" if record.cross is not None else record.kinds[0]
    before, after = (_evenness(one, kind) for one in (record, fresh))
    if before is None or after is None:
        return
    show.lead(_less_even(kind, before, after, learned=fresh.model.trained))
    _sharpest(record, fresh, kind)
    below(
        _(
            "Random weights: normal, with the configuration's spread. A model that looks untrained is named in large "
            "letters on every page."
        ),
        "compare",
        _("How even every head is"),
        {"kind": kind, "x": "evenness", "y": "peak", "below": "all"},
    )


def _less_even(
    kind: Kind, before: experiment_findings.Evenness, after: experiment_findings.Evenness, *, learned: bool
) -> str:
    """How even the rows are with random weights, and how even they are in the model itself."""
    told = {
        "kind": kind_of(kind),
        "after": after.bits,
        "possible": after.possible,
        "even": after.share,
        "before": before.bits,
        "own": before.share,
    }
    said = _(
        "With random weights a row of {kind} attention has {after:.2f} of {possible:.2f} possible bits "
        "({even:.1%} of even), in this model {before:.2f} ({own:.0%}).",
        **told,
    )
    if learned:
        return said
    return f"{said} " + _(
        "That nothing was learned shows in the weights: every layer norm still has a gain of exactly 1."
    )


def _sharpest(record: Record, fresh: Record, kind: Kind) -> None:
    """The head whose rows are the most peaked, beside itself with random weights."""
    attention = record.attention(kind)
    measured = once(partial(of_record, record, kind)).values["peak"]  # (L, H)
    layer, head = (int(at) for at in np.unravel_index(int(np.nan_to_num(measured).argmax()), measured.shape))
    names = fooled.names(record, kind)
    own = _("{head} of {model}", head=named(Head(kind, layer, head)), model=record.model.name)
    if not record.model.trained:
        own += " " + _("(looks untrained itself)")
    first, second = st.columns(2, gap="small", vertical_alignment="bottom")
    with first:
        one_map(attention.head(layer, head), attention, names, own, "fooled_trained")
    with second:
        one_map(
            fresh.attention(kind).head(layer, head),
            attention,
            names,
            _("The same head before any training"),
            "fooled_random",
        )


def _evenness(record: Record, kind: Kind) -> experiment_findings.Evenness | None:
    """How even the rows of one kind are, where rows count."""
    found = once(partial(experiment_findings.evenness, record, [kind]))
    return found[0] if found else None
