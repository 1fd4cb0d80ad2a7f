"""Silence heads: the map of what each is worth, the heads that are ticked, and what becomes of the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import streamlit as st

from bartviz.analysis import ablation as analysis
from bartviz.analysis.stretches import aligned, paired
from bartviz.attention import Head, Kind
from bartviz.errors import SettingError
from bartviz.figures.ablation import UNITS, largest, moved, probabilities, worth
from bartviz.ui import page, pick, show
from bartviz.ui.experiments.asking import ask, large, say_ablated
from bartviz.ui.experiments.lines import lines
from bartviz.ui.search import ruled

if TYPE_CHECKING:
    from bartviz.analysis.ablation import Ablation, Measure, Sweep
    from bartviz.gate import Ticket
    from bartviz.models import Model
    from bartviz.record import Record

MEASURES = {
    "log_probability": "log p",
    "divergence": "KL",
    "changed": "best tokens",
    "distance": "states",
}
MODES = {"each": "scale it alone", "only": "scale all others of its layer"}
SILENCED, FACTOR = "silenced", "factor"
FIRST, CLICKS = "_silenced_first", "_silenced_clicks"
EXPLAIN = """
**A cell is a head.** Its colour says what happens to this text when the head's output is multiplied by the factor (0
silences it; Michel, Levy and Neubig 2019). The tokens of the output are given again, so each is compared with itself:
orange, the record's own output becomes less likely; blue, it becomes *more* likely without the head.

**Ablation is not importance.** Heads compensate: two heads that do the same work can each be silenced at no cost, and
only both together show. So a cell near 0 does not prove that a head is useless, and a strong one says that *this text*
needs it. "Scale all others of its layer" asks the opposite: is this head alone enough for its layer?

**Before and after.** The bars are probabilities of the same tokens, given in both runs. The two lines of chips are what
the model then writes by itself, where one changed word changes everything after it. A model that fills masks shows its
best guesses instead.

**What other heads did then:** mean Jensen-Shannon distance of their rows, 0 to 1. Heads before the silenced one cannot
notice it: their 0 is exact.

The change rides on one run. No other visitor and no later run sees it.
"""


@dataclass(frozen=True, slots=True)
class Chosen:
    """How the heads are measured."""

    measure: Measure
    keep: bool
    factor: float


def draw(record: Record) -> tuple[Ablation | None, Sweep | None]:
    """The whole part; gives what was found, for the downloads."""
    said = st.container()
    say_ablated(record)
    chosen = _settings(record)
    place = st.container()
    sweep = _sweep(record, chosen)
    heads = _heads(record, sweep)
    with place:
        _maps(record, chosen, sweep, heads)
    found = _ablate(record, heads, chosen.factor) if heads else None
    with said:
        show.lead(_lead(found, sweep, heads))
    if found is not None:
        _found(found)
    if sweep is not None:
        show.table(analysis.sweep_table(sweep), title="Every head, ranked")
    if found is not None:
        show.table(analysis.rows_table(found), title="Every token, before and after")
    return found, sweep


def _lead(found: Ablation | None, sweep: Sweep | None, heads: list[Head]) -> str:
    if found is not None:
        return analysis.notice(found)
    if sweep is not None:
        return analysis.sweep_notice(sweep)
    return "Click heads to silence them, or measure every head in turn." if not heads else "Running the text again."


def _settings(record: Record) -> Chosen:
    first, second, third = st.columns([2.2, 2, 1.2], vertical_alignment="center")
    with first:
        measure = pick.one_of("Coloured by the change of", MEASURES, key="measure")
    with second:
        mode = pick.one_of("For each head", MODES, key="mode")
    with third:
        if FACTOR in st.session_state:
            st.session_state[FACTOR] = min(max(float(st.session_state[FACTOR]), 0.0), 2.0)
        hint = "0 silences a head, 1 leaves it as it is, 2 doubles its output."
        factor = st.slider("Factor", 0.0, 2.0, 0.0, 0.1, key=FACTOR, bind="query-params", help=hint)
    return Chosen(cast("Measure", measure), mode == "only", float(factor))


def _sweep(record: Record, chosen: Chosen) -> Sweep | None:
    """Every head in turn: at once where that is quick, else when it is asked for."""
    count = sum(shape[0] * shape[1] for shape in _shapes(record).values())

    def work(model: Model, ticket: Ticket[Sweep]) -> Sweep:
        from bartviz.ablation import ablate_sweep

        def progress(done: int, total: int) -> None:
            ticket.report(f"Head {done:,} of {total:,}", done / total)

        return ablate_sweep(
            model, record, keep=chosen.keep, factor=chosen.factor, cancelled=ticket.cancelled, on_progress=progress
        )

    key: dict[str, object] = {"keep": chosen.keep, "factor": chosen.factor}
    button = f"Measure all {count:,} heads, one after the other" if large(record, count) else None
    return ask("sweep", record, key, work, lambda sweep: sweep.nbytes, button=button)


def _shapes(record: Record) -> dict[Kind, tuple[int, int]]:
    return {kind: record.attention(kind).shape[:2] for kind in record.kinds}


def _maps(record: Record, chosen: Chosen, sweep: Sweep | None, heads: list[Head]) -> None:
    """One grid for each kind, side by side, in the same colours; a click ticks a head or takes it away."""
    shapes = _shapes(record)
    measure = chosen.measure
    if sweep is not None and measure not in sweep.measures:
        measure = sweep.measures[0]
        show.note("This network names no words, so heads are measured by how far the hidden states move.")
    high = None if sweep is None else largest(sweep, measure)
    columns = st.columns([shape[1] + 3 for shape in shapes.values()], gap="small")
    for column, kind in zip(columns, record.kinds, strict=True):
        figure = worth({kind: sweep}, shapes, measure=measure, chosen=heads, high=high, clicks=True, dark=page.dark())
        said = f"{kind} heads, {shapes[kind][0]} layers of {shapes[kind][1]}"
        said += f", by {UNITS[measure]}" if sweep is not None else ", not measured yet"
        with column:
            _clickable(figure, kind, said)
    if sweep is not None:
        also = f"{analysis.sweep_notice(sweep)} " if heads else ""
        show.note(f"{also}Click heads to scale them together.")


def _clickable(figure: Any, kind: Kind, said: str) -> None:
    key = f"worth_{kind}_{st.session_state.get(CLICKS, 0)}"  # new after a click: only then the same cell counts again
    config = {"displaylogo": False, "toImageButtonOptions": {"format": "svg", "filename": f"worth_{kind}"}}
    st.plotly_chart(
        figure, key=key, theme=None, config=config, alt=said, selection_mode="points",
        on_select=lambda: _toggle(key, kind),
    )  # fmt: skip


def _toggle(key: str, kind: Kind) -> None:
    """Take in a click: a head that is ticked is freed, another one is ticked."""
    chosen: list[str] = list(st.session_state.get(SILENCED, []))
    for point in st.session_state[key].selection.points:
        if {"x", "y"} <= set(point):
            name = str(Head(kind, int(point["y"]), int(point["x"])))
            chosen = [one for one in chosen if one != name] if name in chosen else [*chosen, name]
    st.session_state[SILENCED] = chosen
    st.session_state[CLICKS] = st.session_state.get(CLICKS, 0) + 1


def _heads(record: Record, sweep: Sweep | None) -> list[Head]:
    """The heads that are ticked; at first the one that the sweep found to matter most."""
    names = [str(Head(k, layer, head)) for k, (depth, wide) in _shapes(record).items()
             for layer in range(depth) for head in range(wide)]  # fmt: skip
    if SILENCED in st.session_state:
        st.session_state[SILENCED] = [name for name in st.session_state[SILENCED] if name in names]
    if sweep is not None and st.session_state.get(FIRST) is not record and not st.query_params.get_all(SILENCED):
        st.session_state[SILENCED] = st.session_state.get(SILENCED) or [str(sweep.heads[sweep.ranked()[0]])]
        st.session_state[FIRST] = record
    left, right = st.columns([5, 1.3], vertical_alignment="bottom")
    with left:
        chosen = st.multiselect(
            "Heads that are scaled together", names, key=SILENCED, bind="query-params",
            persist_state="session", placeholder="Click heads in the map, or type their names",
        )  # fmt: skip
    with right, st.popover("Several at once", width="stretch"):
        _several(record)
    return [Head.parse(name) for name in chosen if name in names]


def _several(record: Record) -> None:
    """Whole layers, and all but one head."""
    kind = pick.kind(record)
    layer, head = pick.layer(record, kind), pick.head(record, kind)
    shape = record.attention(kind).shape
    one = Head(kind, layer, head)
    row = [Head(kind, layer, other) for other in range(shape[1])]
    every = [Head(kind, deep, other) for deep in range(shape[0]) for other in range(shape[1])]
    sets = {
        f"All heads of {kind} L{layer}": row,
        f"All of L{layer} but H{head}": [other for other in row if other != one],
        f"All {kind} heads but {one.short}": [other for other in every if other != one],
        "None": [],
    }
    for label, heads in sets.items():
        st.button(label, key=f"set_{label}", width="stretch", on_click=_take, args=([str(name) for name in heads],))


def _take(names: list[str]) -> None:
    st.session_state[SILENCED] = names


def _ablate(record: Record, heads: list[Head], factor: float) -> Ablation | None:
    def work(model: Model, ticket: Ticket[Ablation]) -> Ablation:
        from bartviz.ablation import ablate

        model = ruled(model, record.provenance.settings.get("min_new_tokens"))
        return ablate(
            model, record, dict.fromkeys(heads, factor), cancelled=ticket.cancelled, on_progress=ticket.report
        )

    key = {"heads": sorted(map(str, heads)), "factor": factor}
    return ask("ablate", record, key, work, lambda found: found.nbytes)


def _found(found: Ablation) -> None:
    """What became of the output, of each token's probability, and of the attention of other heads."""
    _written(found)
    title = "The same tokens, given again" if found.before is not None else "How far each hidden state moved"
    st.markdown(f"**{title}**")
    alt = "Probability of each token before and after. " + analysis.notice(found)
    show.figure(probabilities(found, dark=page.dark()), key="ablation_bars", alt=alt)
    st.markdown("**What other heads did then**")
    if not any(change.any() for change in found.attention.values()):
        show.note(
            "Nothing: a factor of 1 leaves each head as it is, so every row of attention is equal to the last bit."
            if set(found.factors.values()) == {1.0}
            else "Nothing: every row of attention is equal to the last bit. Only heads after these can notice."
        )
        return
    widths = [change.shape[1] + 3 for change in found.attention.values()]
    for column, (kind, change) in zip(st.columns(widths, gap="small"), found.attention.items(), strict=True):
        alt = f"How far the attention of each {kind} head moved, at most {change.max():.3f}."
        with column:
            show.figure(moved(found, dark=page.dark(), kinds=[kind]), key=f"moved_{kind}", alt=alt)
    show.note("Mean Jensen-Shannon distance of a head's rows, 0 to 1; a written 0 is exact; framed, the scaled heads.")


def _written(found: Ablation) -> None:
    kind = found.record.kinds[-1]
    if found.written is not None:
        outputs = [part.output for part in found.written]
        before, after = outputs
        if before is None or after is None:
            raise SettingError("The run wrote nothing.")
        stretches = aligned(before, after)
        same = all(stretch.same for stretch in stretches)
        wrote = "what it wrote" if found.written[0] is found.record else "what greedy search writes"
        show.note(
            "It now writes the same output, token for token."
            if same
            else f"Above {wrote}, below what it writes now: struck through what fell out, framed what is new."
        )  # fmt: skip
        special = (before.special.tolist(), after.special.tolist())
        lines(before.labels, after.labels, stretches, kind=kind, key="written", special=special)
    elif found.before is not None and found.after is not None:
        show.note("The model's best guesses at these places, above before and below after.")
        lines(found.before.labels, found.after.labels, paired(found), kind=kind, key="written")


__all__ = ["EXPLAIN", "draw"]
