"""Silence heads: the map of each head's importance, the selected heads, and the effect on the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, cast

import streamlit as st

from bartviz.analysis import ablation as analysis
from bartviz.analysis import sentence_words, start
from bartviz.app.controls import expander, pick, show
from bartviz.app.controls.experiment_tasks import ask, identity, large, note_ablated
from bartviz.app.frame import levels, page, related_links
from bartviz.app.state import url_state
from bartviz.errors import SettingError
from bartviz.features.experiments import parts_headline as headline
from bartviz.features.experiments.figure_ablation import PLAIN, largest, moved, probabilities, worth
from bartviz.features.experiments.numbers_output_diff import aligned, paired
from bartviz.features.experiments.parts_lines import lines
from bartviz.language import _, later, mark, named
from bartviz.record.attention import Head, Kind
from bartviz.record.prediction import FOLLOWS
from bartviz.serving import saved_records

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from bartviz.analysis.ablation import Ablation, Measure, Sweep
    from bartviz.models.model import Model
    from bartviz.record.record import Record
    from bartviz.serving.gate import Ticket

MEASURES = {
    "log_probability": mark("log p"),
    "divergence": mark("KL"),
    "changed": mark("best tokens"),
    "labels": mark("labels"),
    "label_log_probability": mark("log p of the label"),
    "label_margin": mark("margin"),
    "value_change": mark("change of the value"),
    "distance": mark("states"),
}
_WITHOUT_WORDS: Mapping[Measure, str] = {
    "labels": mark(
        "This model does not predict tokens, so heads are measured by how far the probabilities of its labels move."
    ),
    "value_change": mark(
        "This model does not predict tokens, so heads are measured by how far the number that it gives moves."
    ),
    "distance": mark("This model does not predict tokens, so heads are measured by how far the hidden states move."),
}
MODES = {"each": mark("scale it"), "only": mark("scale the rest of its layer")}
OUTPUTS = {"zero": "0", "mean": mark("its mean over this text")}
SILENCED, FACTOR, TOWARD, LOUDEST = "silenced", "factor", "toward", 2.0
CLICKS = "_silenced_clicks"
RANKED = 5  # heads that are offered by name
PRESET = "_silenced_preset"  # the head that the page chose, until the visitor chooses
RUN, NEEDED = "start", Head("encoder", 3, 1)  # of the heads of this saved run the one that its text needs most


@dataclass(frozen=True, slots=True)
class Chosen:
    """How the heads are measured."""

    measure: Measure
    keep: bool
    factor: float
    mean: bool


def draw(record: Record) -> tuple[Ablation | None, Sweep | None]:
    """Draw this part; returns the results, for the downloads."""
    note_ablated(record)
    heads, factor = _heads(record)
    mean = _mean()
    lead, answer = show.place("lead"), show.place("ablation_answer")
    ablation = _ablate(record, heads, factor, mean=mean) if heads else None
    with lead:
        headline.sentence(_lead(ablation, heads))
    if ablation is not None:
        with answer:
            headline.draw(ablation)
            _said(record, ablation)
            _written(ablation)
    sweep = None
    asked = ("measure", "mode")
    with levels.aside(_("Which head matters most? Silence each in turn"), key="sweep", names=asked) as opened:
        if opened and (ablation is not None or not heads):  # else the first run says what is wrong, or goes on
            sweep = _every_head(record, heads, factor, mean=mean)
    if ablation is not None:
        with levels.aside(_("Every token, and every other head"), key="ablation_more") as opened:
            if opened:
                _effects(ablation)
                labels = analysis.labels_table(ablation)
                if labels is not None:
                    show.table(labels, title=_("What the model says, before and after"))
                show.table(analysis.rows_table(ablation), title=_("Every token, before and after"))
    if len(heads) == 1 and levels.at_least("intermediate"):
        related_links.to_other_views(record, "experiments", heads[0])
    return ablation, sweep


def _lead(ablation: Ablation | None, heads: list[Head]) -> str:
    if ablation is not None:
        return headline.headline(ablation) or analysis.notice(ablation)
    if heads:
        return _("Running the text again.")
    return _("No head is silenced: choose one.")


def _said(record: Record, ablation: Ablation) -> None:
    """Which heads these are, and what their change means for the whole text; from Intermediate on with the numbers."""
    parts = [headline.meaning(ablation), headline.of_all(ablation)]
    if ablation.factors == {NEEDED: 0.0} and not ablation.mean and _is_saved(record):
        parts.append(_("Of all heads, this one matters most here."))
    first = pick.first_head(record, start.kind_of(record))
    if list(ablation.factors) == [first]:
        parts.append(_("This is the head pictured on the Start page."))
    show.lead(" ".join(part for part in parts if part))
    if [(head.layer, head.head) for head in ablation.factors if head != first] == [(first.layer, first.head)]:
        show.note(
            _(
                "The head pictured on the Start page is a different one: it has the same number, but belongs to the "
                "{attention}.",
                attention=sentence_words.attention(first.kind),
            )
        )
    if levels.at_least("intermediate"):
        show.note(analysis.notice(ablation))


def _mean() -> bool:
    """For experts: what becomes of a silenced head's output, 0 or its mean over the text."""
    if not (levels.at_least("expert") or expander.requested("ablation_mean", (TOWARD,))):
        return False
    hint = _(
        "A head's output may never be near 0. Its mean over the positions of this text takes away only what differs "
        "from position to position (Wang et al. 2023)."
    )
    word = pick.one_of(_("A silenced head's output becomes"), named(OUTPUTS), key=TOWARD, hint=hint)
    return word == "mean"


def _every_head(record: Record, heads: list[Head], factor: float, *, mean: bool) -> Sweep | None:
    """The maps of all heads, each silenced in turn; a click selects one."""
    chosen = _settings(record, factor, mean=mean)
    maps = show.place("ablation_maps")
    sweep = _sweep(record, chosen)
    with maps:
        _maps(record, chosen, sweep, heads)
    if sweep is None:
        return None
    _ranking(sweep)
    show.table(analysis.sweep_table(sweep), title=_("Every head, ranked"))
    return sweep


def _settings(record: Record, factor: float, *, mean: bool) -> Chosen:
    there = _measures(record)
    measures: dict[str, str] = {key: title for key, title in MEASURES.items() if key in there}
    if not (levels.at_least("intermediate") or expander.requested("sweep_settings", ("measure", "mode"))):
        return Chosen(there[0], keep=False, factor=factor, mean=mean)
    first, second = st.columns([2.2, 2], vertical_alignment="center")
    with first:
        measure = pick.one_of(_("Coloured by the change of"), named(measures), key="measure")
    with second:
        mode = pick.one_of(_("For each head"), named(MODES), key="mode")
    return Chosen(cast("Measure", measure), mode == "only", factor, mean)


def _measures(record: Record) -> tuple[Measure, ...]:
    """The measures that a sweep of this record may have, as far as the record itself can say."""
    said = record.prediction
    if said is None:
        return (*analysis.OF_WORDS, "distance")
    if said.scale == "none":
        return ("value_change", "distance")
    words = analysis.OF_WORDS if record.pair_text is not None and said.labels == FOLLOWS else ()
    return (*words, *analysis.OF_LABELS, "distance")


def _sweep(record: Record, chosen: Chosen) -> Sweep | None:
    """Every head in turn: at once if that is quick, else on the press of a button."""
    count = sum(shape[0] * shape[1] for shape in _shapes(record).values())

    def work(model: Model, ticket: Ticket[Sweep]) -> Sweep:
        from bartviz.experiments.ablation import ablate_sweep

        def progress(done: int, total: int) -> None:
            ticket.report(later("Head {done:,} of {total:,}", done=done, total=total), done / total)

        return ablate_sweep(
            model,
            record,
            keep=chosen.keep,
            factor=chosen.factor,
            mean=chosen.mean,
            cancelled=ticket.cancelled,
            on_progress=progress,
        )

    key: dict[str, object] = {"keep": chosen.keep, "factor": chosen.factor, "mean": chosen.mean}
    label = _("Measure all {count:,} heads, one after the other", count=count)
    return ask("sweep", record, key, work, button=label if large(record, count) else None)


def _shapes(record: Record) -> dict[Kind, tuple[int, int]]:
    return {kind: record.attention(kind).shape[:2] for kind in record.kinds}


def _maps(record: Record, chosen: Chosen, sweep: Sweep | None, heads: list[Head]) -> None:
    """One grid for each kind, side by side, in the same colours; a click selects or deselects a head."""
    shapes = _shapes(record)
    measure = chosen.measure
    if sweep is not None:
        measure = measure if measure in sweep.measures else sweep.measures[0]
        if "log_probability" not in sweep.measures and measure in _WITHOUT_WORDS:
            show.note(_(_WITHOUT_WORDS[measure]))
    high = None if sweep is None else largest(sweep, measure)
    show.what_to_do(_(_first_step(chosen, heads)))
    plain = not levels.at_least("intermediate") and not (chosen.keep or chosen.factor or chosen.mean)
    columns = st.columns([shape[1] + 3 for shape in shapes.values()], gap="small")
    same = measure in analysis.SIGNED  # all kinds share its colour scale
    for column, kind in zip(columns, record.kinds, strict=True):
        bar = not same or kind == record.kinds[0]
        figure = partial(
            worth,
            {kind: sweep},
            shapes,
            measure=measure,
            chosen=heads,
            high=high,
            clicks=True,
            bar=bar,
            plain=plain,
            dark=page.dark(),
        )
        message = (
            mark("{kind} heads, {layers} layers of {heads}, by {measure}")
            if sweep is not None
            else mark("{kind} heads, {layers} layers of {heads}, not measured yet")
        )
        alt = _(
            message,
            kind=sentence_words.capitalized(sentence_words.kind(kind)),
            layers=shapes[kind][0],
            heads=shapes[kind][1],
            measure=_(PLAIN[measure] if plain and measure in PLAIN else analysis.UNITS[measure]),
        )
        with column:
            _clickable(figure, kind, alt)
    if sweep is not None:
        said = [analysis.sweep_notice(sweep), _("Head by head as in Michel et al. 2019.")]
        if plain:
            said = [_("Each square is a head (H) of a layer (L).")]
            if measure in analysis.FALLING:
                said += [_("Orange: without it the model is less sure; blue: surer.")]
            if measure == "log_probability":
                said += [_("The numbers: the probability of the text without the head, if before it is 100%.")]
        show.note(" ".join(said))


def _first_step(chosen: Chosen, heads: Sequence[Head]) -> str:
    """What a touch of a head in the picture does."""
    if chosen.factor:
        return mark("Choose heads in the picture to scale them together.")
    if PRESET in st.session_state:
        return mark("Choose a head in the picture: it is silenced instead.")
    if not heads:
        return mark("Choose a head in the picture to silence it.")
    return mark("Choose another head in the picture to silence it too, or a framed one to switch it on again.")


def _clickable(drawn: partial[go.Figure], kind: Kind, alt: str) -> None:
    key = f"worth_{kind}_{st.session_state.get(CLICKS, 0)}"  # changes, so that a cell can be clicked again
    show.figure(drawn, key=key, name=f"worth_{kind}", alt=alt, on_click=partial(_clicked, key, kind))


def _ranking(sweep: Sweep) -> None:
    """The heads that matter most, as buttons: what a click in the maps does is there for keys, too."""
    with st.container(horizontal=True, key="ablation_ranking", vertical_alignment="center"):
        show.note(_("Most important first:"))
        for place in sweep.ranked()[:RANKED]:
            head = sweep.heads[place]
            name = show.plain(levels.head_with_kind(head))
            st.button(name, key=f"ablation_ranked_{place}", on_click=_toggle, args=([head],))


def _clicked(key: str, kind: Kind) -> None:
    """Handle a click in a map: a callback."""
    points = st.session_state[key].selection.points
    _toggle([Head(kind, int(point["y"]), int(point["x"])) for point in points if {"x", "y"} <= set(point)])


def _toggle(heads: Sequence[Head]) -> None:
    """Select these heads, or no longer: a callback. The visitor's first head takes the place of the page's own."""
    chosen: list[str] = list(st.session_state.get(SILENCED, []))
    preset = st.session_state.pop(PRESET, None)
    for name in map(str, heads):
        if name in chosen:
            chosen = [other for other in chosen if other != name]
        else:
            chosen = [name] if chosen == preset else [*chosen, name]
    st.session_state[SILENCED] = chosen
    url_state.click(SILENCED)
    st.session_state[CLICKS] = st.session_state.get(CLICKS, 0) + 1


def _heads(record: Record) -> tuple[list[Head], float]:
    """The selected heads, at first one that the page chooses; and the factor."""
    names = {
        str(Head(k, layer, head)): levels.head_with_kind(Head(k, layer, head))
        for k, (depth, wide) in _shapes(record).items()
        for layer in range(depth)
        for head in range(wide)
    }
    first = [str(_first(record))]
    more = levels.at_least("intermediate") or expander.requested("ablation_settings", (FACTOR,))
    places = st.columns([4, 1.3, 1.3] if more else [1], vertical_alignment="bottom")
    with places[0]:
        chosen = pick.several(
            _("Silenced heads"),
            names,
            key=SILENCED,
            default=first,
            placeholder=_("Choose heads in the map, or type their names"),
        )
    if list(chosen) != first:
        st.session_state.pop(PRESET, None)
    elif not st.session_state.get(CLICKS):
        st.session_state[PRESET] = first
    factor = 0.0
    if more:
        with places[1]:
            hint = _("0 silences a head, 1 leaves it unchanged, 2 doubles its output.")
            factor = pick.slider(_("Factor"), 0.0, LOUDEST, 0.0, 0.1, key=FACTOR, hint=hint)
        with places[2], st.popover(_("Several at once"), width="stretch"):
            _several(record)
    return [Head.parse(name) for name in chosen], factor


def _first(record: Record) -> Head:
    """The head that the visitor looks at on other pages. Before that the one of the start page's picture, or of the run
    that every visit begins with the one that matters most: without the picture's its text hardly changes."""
    shown = pick.at_hand(record)
    return NEEDED if shown == pick.first_head(record, start.kind_of(record)) and _is_saved(record) else shown


def _is_saved(record: Record) -> bool:
    """Whether this is the run that every visit begins with."""
    return identity(record) == identity(saved_records.read(RUN))


def _several(record: Record) -> None:
    """Whole layers, and all but one head."""
    kind = pick.kind(record)
    layer, head = pick.one_head(record, kind)
    shape = record.attention(kind).shape
    one = Head(kind, layer, head)
    row = [Head(kind, layer, other) for other in range(shape[1])]
    every = [Head(kind, deep, other) for deep in range(shape[0]) for other in range(shape[1])]
    kind_name = sentence_words.kind(kind)
    sets = {
        "layer": (_("All heads of {kind} L{layer}", kind=kind_name, layer=layer), row),
        "others": (
            _("All of L{layer} except H{head}", layer=layer, head=head),
            [other for other in row if other != one],
        ),
        "all": (
            _("All {kind} heads except {head}", kind=kind_name, head=one.short),
            [other for other in every if other != one],
        ),
        "none": (_("None"), []),
    }
    for word, (label, heads) in sets.items():
        st.button(label, key=f"set_{word}", width="stretch", on_click=_select, args=([str(name) for name in heads],))


def _select(names: list[str]) -> None:
    st.session_state[SILENCED] = names
    url_state.click(SILENCED)


def _ablate(record: Record, heads: list[Head], factor: float, *, mean: bool) -> Ablation | None:
    def work(model: Model, ticket: Ticket[Ablation]) -> Ablation:
        from bartviz.experiments.ablation import ablate

        return ablate(
            model,
            record,
            dict.fromkeys(heads, factor),
            mean=mean,
            cancelled=ticket.cancelled,
            on_progress=ticket.report,
        )

    key = {"heads": sorted(map(str, heads)), "factor": factor, "mean": mean}
    return ask("ablate", record, key, work)


def _effects(ablation: Ablation) -> None:
    """The effect on each token's probability, and on the attention of other heads."""
    title = (
        mark("**The same tokens, given again**")
        if ablation.before is not None
        else mark("**How far each hidden state moved**")
    )
    st.markdown(_(title))
    alt = f"{_('Probability of each token before and after.')} {analysis.notice(ablation)}"
    show.figure(partial(probabilities, ablation, dark=page.dark()), key="ablation_bars", alt=alt)
    st.markdown(_("**How other heads changed**"))
    if not any(change.any() for change in ablation.attention.values()):
        show.note(
            _("Nothing: a factor of 1 leaves each head unchanged, so every row of attention is bit-identical.")
            if set(ablation.factors.values()) == {1.0}
            else _("Nothing: every row of attention is bit-identical. Only heads in later layers can change.")
        )
        return
    widths = [change.shape[1] + 3 for change in ablation.attention.values()]
    for column, (kind, change) in zip(st.columns(widths, gap="small"), ablation.attention.items(), strict=True):
        alt = _(
            "How far the attention of each {kind} head moved, at most {most:.3f}.",
            kind=sentence_words.kind(kind),
            most=change.max(),
        )
        with column:
            show.figure(partial(moved, ablation, dark=page.dark(), kinds=[kind]), key=f"moved_{kind}", alt=alt)
    show.note(
        _("Mean Jensen-Shannon distance of a head's rows, 0 to 1; a written 0 is exact; framed, the scaled heads.")
    )


def _written(ablation: Ablation) -> None:
    """The output, or the best guesses, before and after; nothing where they are the same."""
    kind = ablation.record.kinds[-1]
    if ablation.written is not None:
        before, after = (part.output for part in ablation.written)
        if before is None or after is None:
            raise SettingError(_("The run wrote nothing."))
        stretches = aligned(before, after)
        if all(stretch.same for stretch in stretches):
            return
        message = (
            mark("Above: what it wrote. Below: what it writes now. Struck through: removed. Framed: new.")
            if ablation.written[0] is ablation.record
            else mark(
                "Above: what greedy search writes. Below: what it writes now. Struck through: removed. Framed: new."
            )
        )
        show.note(_(message))
        special = (before.special.tolist(), after.special.tolist())
        colors = pick.colors_of_words(ablation.written[0]).predicts
        lines(before.labels, after.labels, stretches, kind=kind, key="written", special=special, colors=colors)
    elif ablation.before is not None and ablation.after is not None and len(ablation.turned):
        show.note(_("The model's best guesses at these positions: before above, after below."))
        lines(ablation.before.labels, ablation.after.labels, paired(ablation), kind=kind, key="written")
