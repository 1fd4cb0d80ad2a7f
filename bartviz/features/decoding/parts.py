"""The parts of the decoding page around the player: the beam tree, a given output token by token, the rules."""

from __future__ import annotations

import html
from functools import partial
from pathlib import Path
from typing import cast

import streamlit as st

from bartviz.analysis import decoding, sentence_words
from bartviz.app.components import canvas
from bartviz.app.components.player import Place
from bartviz.app.controls import expander, pick, show
from bartviz.app.frame import levels, page, row_names, settings, sidebar
from bartviz.app.state import url_state
from bartviz.browser.canvas.data import Choice, Steps, Views
from bartviz.browser.player.data import revision
from bartviz.features.decoding import numbers_beams as beams
from bartviz.features.decoding import numbers_teacher_forcing as teacher_forcing
from bartviz.features.decoding import parts_branches as branches
from bartviz.features.decoding.figure_beams import beams as tree_figure
from bartviz.language import _, mark, named
from bartviz.language.percentages import percent
from bartviz.record.record import Reading, Record
from bartviz.record.steps import Step
from bartviz.record.vocabulary import SAMPLING

_STYLE = Path(__file__).with_name("style.css")
WHICH = {"all": mark("all continuations"), "kept": mark("those that were kept"), "survivors": mark("texts that ended")}
WEIGHTS = {"head": mark("one head"), "layer": mark("mean of a layer"), "all": mark("mean of all")}
_CANVAS, _SAID = "decoding_canvas", "_decoding_said"  # _SAID: the last choice among all heads
LIGHT_INK = 0.55  # probability from which the chip's text is light


def style(*, plain: bool) -> None:
    """The page's own chips; where less is above the player (``plain``, for a beginner) it is as much higher."""
    st.html(_STYLE)
    if plain:
        st.html("<style>:root { --bv-above: 348px }</style>")


def asked(record: Record) -> Place:
    """The position in the link, else the step of the row chosen on another page, else the one of which the model was
    least sure, where there is most to see; the player clamps it."""
    step = st.query_params.get("step", "")
    begin = _first_step(record)
    named: Reading = "reads" if row_names.switched() else row_names.USUAL
    place = Place(int(step) - 1 if step.isdecimal() and len(step) < 6 else begin, named)
    shown = min(max(place.step, 0), len(record.steps) - 1) + 1
    if step and step != str(shown):
        url_state.invalid_choice("step", step, str(shown))
    else:
        url_state.shows("step", str(shown))
    return place


def _first_step(record: Record) -> int:
    row = pick.shown_row(record, decoding.kind_of(record))
    if row is not None:
        return max((index for index, step in enumerate(record.steps) if step.row <= row), default=0)
    hardest = decoding.least_sure(record)
    return next(index for index, step in enumerate(record.steps) if step is hardest)


def leads_to(record: Record, place: Place) -> None:
    """Let other pages show the row of the step that the visitor went to."""
    if place.step != _first_step(record):
        pick.put_row(record, decoding.kind_of(record), record.steps[place.step].row)


def offered() -> bool:
    """Whether layer and head can be chosen: beginners get the pickers where a link, or a head chosen among all, has set
    them."""
    return levels.at_least("intermediate") or expander.requested("step_weights", ["step_weights", "layer", "head"])


def choices(record: Record) -> tuple[int | None, int | None]:
    """The layer and head whose weights are shown, at first those of the start page; None for the mean."""
    canvas.catch_up(_CANVAS)
    if not offered():
        shown = pick.shown_head(record, decoding.kind_of(record))
        return shown.layer, shown.head
    popover, opened = pick.popover(_("Layer and head"), key="decoding_head")
    with popover:
        return _pickers(record, shown=opened)


def _pickers(record: Record, *, shown: bool) -> tuple[int | None, int | None]:
    kind = decoding.kind_of(record)
    weights = pick.one_of(_("Weights"), named(WEIGHTS), key="step_weights")
    layer = None if weights == "all" else pick.layer(record, kind, shown=shown)
    head = pick.head(record, kind, shown=shown) if weights == "head" else None
    return layer, head


def all_heads(record: Record, place: Place, layer: int | None, head: int | None) -> None:
    """All heads (URL ``all_heads``), in step with the player's step and head. Computed when the section is opened."""
    with st.expander(_("All heads at this step"), key="all_heads", on_change="rerun", bind="query-params") as expander:
        if not expander.open:
            return
        kind = decoding.kind_of(record)
        last: Choice = st.session_state.get(_SAID, Choice(view=_linked_view()))
        rows = tuple(step.row for step in record.steps)
        several, keys = canvas.linked(_CANVAS, canvas.SEVERAL)
        choice = canvas.show(
            record.attention(kind),
            key=_CANVAS,
            query=record.rows(kind, place.reading),
            page_keys=False,
            choice=Choice(
                last.layer if layer is None else layer,
                last.head if head is None else head,
                "all" if layer is None else "layer" if head is None else "head",
                rows[place.step],
                last.view,
                several,
                keys,
            ),
            steps=Steps(revision(record), rows),
            colors=pick.colors_of_words(record).sides(kind, place.reading),
            plain=not levels.at_least("intermediate"),
            on_change=_follow_canvas,
        )
        canvas.publish(canvas.SEVERAL, choice)
        url_state.publish("view", (choice.view,), ("map",))
        show.note(_("Framed: the player's current step. A head chosen here is also shown in the player."))


def _linked_view() -> Views:
    """The view of the heads in the link."""
    view = st.query_params.get("view")
    return cast("Views", view) if view in canvas.VIEWS else "map"


def _follow_canvas(choice: Choice) -> None:
    """Set the player's layer and head to those chosen in the canvas: a callback."""
    st.session_state[_SAID] = choice
    st.session_state["step_weights"] = choice.what
    if choice.what != "all":
        url_state.put_number("layer", choice.layer)  # the closed popover sends what it had
    if choice.what == "head":
        url_state.put_number("head", choice.head)


def beam_tree(record: Record, step: int) -> None:
    """The tree of the search, the finished texts, and greedy search for comparison; nothing without beams."""
    if record.beams is None:
        return
    st.subheader(_("The beam search"), anchor=False)
    show.note(beams.notice(record))
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    with left:
        which = cast("beams.Which", pick.one_of(_("Drawn"), named(WHICH), key="tree"))
    with right:
        branches.greedy_button(record)
    figure = partial(tree_figure, record, which=which, step=step, dark=page.dark())
    show.figure(figure, key="beam_tree", alt=_("The tree of the beam search. {notice}", notice=beams.notice(record)))
    show.note(
        _(
            "Time runs to the right, the strongest continuation is on top; the thick line won. Faint ones were pruned. "
            "Drag to move along; touch or point at a node for its numbers."
        )
    )
    st.html(_texts(record))
    show.table(beams.table(record), title=_("All continuations as a table"))
    show.downloads(
        "beams", title=_("Beams"), table=lambda: beams.table(record), figure=lambda: tree_figure(record, which=which)
    )


def _texts(record: Record) -> str:
    """The finished texts in full, the winner first."""
    lines = [
        f"<tr><td>{'✓' if line['won'] else line['place']}</td><td><bdi>{html.escape(str(line['text']))}</bdi></td>"
        f"<td>{line['tokens']}</td><td>{sentence_words.signed(float(line['total']))}</td>"
        f"<td>{beams.score_text(float(line['score']))}</td></tr>"
        for line in beams.texts(record).to_dict("records")
    ]
    titles = ("", _("text that ended"), _("tokens"), _("sum of log p"), _("score"))
    heads = "".join(f"<th>{html.escape(title)}</th>" for title in titles)
    return f"<table class='bv-texts'><thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def given_output(record: Record) -> None:
    """A given output as chips coloured by probability, each with its rank and the model's own first choice."""
    if not decoding.given(record):
        return
    st.subheader(_("The given output, token by token"), anchor=False)
    show.note(teacher_forcing.notice(record))
    chips = "".join(_chip(step) for step in record.steps)
    written = record.attention("decoder").query.direction
    st.html(f"<div class='bv-given' role='list' dir='{written}'>{chips}</div>")
    show.note(
        _(
            "Colour: the probability that the model gave the token. Below it: its rank among all tokens, and "
            "the model's most probable token if that is a different one."
        )
    )
    show.table(teacher_forcing.table(record), title=_("The given output as a table"))
    show.downloads("given", title=_("The given output, token by token"), table=lambda: teacher_forcing.table(record))


def _chip(step: Step) -> str:
    p, would = step.chosen.probability, teacher_forcing.rather(step)
    ink = " class='bv-light'" if p >= LIGHT_INK else ""
    rather, rank = ("", html.escape(_("{share} · rank {rank}", share=percent(p), rank=teacher_forcing.rank_text(step))))
    if would is not None:
        label = html.escape(_("likelier: {token} {share}", token="{token}", share=percent(would.probability)))
        rather = label.replace("{token}", _bdi(would.label))
    return (
        f"<div role='listitem'><b{ink} style='--w:{100 * min(max(p, 0.0), 1.0):.1f}%'>{_bdi(step.chosen.label)}</b>"
        f"<span>{rank}</span><span>{rather or '&nbsp;'}</span></div>"
    )


def _bdi(label: str) -> str:
    return f"<bdi>{html.escape(label) or '&nbsp;'}</bdi>"


def draw_again(record: Record) -> None:
    """For a text that was drawn at random, where the player has no such button: a button that draws another."""
    seed = record.provenance.settings.get("seed")
    if record.provenance.mode == SAMPLING and isinstance(seed, int):
        st.button(_("Pick again"), key="draw_again", on_click=sidebar.draw_again, args=(seed,))


def made(record: Record) -> None:
    """How the text was written, the rules of the checkpoint, and the steps that one of them decided."""
    used = settings.used(record, without=("rules",))
    for sentence in (_("How this text was made: {used}.", used=used) if used else "", decoding.rules_notice(record)):
        if sentence:
            show.note(sentence)
