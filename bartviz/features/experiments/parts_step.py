"""How far does the change of one word reach in one step? The articles' sentence, three masks, layer by layer."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.analysis import edits as analysis
from bartviz.app.controls import pick, show
from bartviz.app.controls.experiment_tasks import ask
from bartviz.app.frame import page
from bartviz.features.experiments.figure import MASKS, reach
from bartviz.features.experiments.figure_panels import SIDE, written
from bartviz.language import _, later, mark, named, plural

if TYPE_CHECKING:
    from bartviz.analysis.edits import Reach
    from bartviz.models.model import Model
    from bartviz.record.record import Record
    from bartviz.serving.gate import Ticket
    from bartviz.text.tokens import Tokens

SENTENCE = (
    "The house is beautiful and well located in the middle of the city "
    "where it is easily accessible by public transport"
)
TEXTS = {"own": mark("this text"), "article": mark("the house and “it”")}
CHANGED, FELT = "house", "it"
WINDOW, WIDEST = "window", 8
MOST = 512  # tokens, because a mask has n x n cells


def draw(record: Record) -> Reach | None:
    """Draw this part; returns the result, for the downloads."""
    lead, maps = st.container(), st.container(key="reach_maps")
    which = pick.one_of(_("In"), named(TEXTS), key="sentence")
    tokens = record.source if which == "own" else _sentence(record)
    if tokens is None:
        return None
    if len(tokens) > MOST:
        show.note(
            _(
                "This part accepts up to {most} tokens, and the text has {count:,}: use the other sentence.",
                most=MOST,
                count=len(tokens),
            )
        )
        return None
    news, felt = _default_positions(tokens, which)
    first, second, third = st.columns([2, 2, 1], gap="medium")
    with first:
        position = pick.index(_("Changed"), len(tokens), key="changed", default=news, names=tokens.labels)
    with second:
        target = pick.index(_("Effect on"), len(tokens), key="felt", default=felt, names=tokens.labels)
    with third:
        window = _window(min(WIDEST, len(tokens)))
    result = _reach(record, which, position, window)
    if result is None:
        return None
    with lead:
        show.lead(analysis.reach_notice(result, target))
    with maps:
        _maps(result, target)
    show.table(analysis.reach_table(result), title=_("The first layer that the change reaches, at each position"))
    return result


def _window(most: int) -> int:
    """The positions on each side of a window."""
    return 1 if most < 2 else pick.slider(_("Window, each side"), 1, most, min(2, most), 1, key=WINDOW)


def _sentence(record: Record) -> Tokens | None:
    def work(model: Model, ticket: Ticket[Tokens]) -> Tokens:
        from bartviz.run.prepare import prepare

        ticket.report(later("Reading the sentence"))
        return prepare(model, SENTENCE).tokens

    return ask("sentence", record, {}, work)


def _default_positions(tokens: Tokens, which: str) -> tuple[int, int]:
    """The default position to change, and where to look for the effect: in one's own text the first and last word."""
    words = [i for i, label in enumerate(tokens.labels) if not tokens.special[i] and any(map(str.isalnum, label))]
    words = words or list(range(len(tokens)))
    if which == "own":
        return words[0], words[-1]
    matches = [[i for i in words if tokens.labels[i].lower() == word] for word in (CHANGED, FELT)]
    return (matches[0] or words[:1])[0], (matches[1] or words[-1:])[0]


def _reach(record: Record, which: str, position: int, window: int) -> Reach | None:
    def work(model: Model, ticket: Ticket[Reach]) -> Reach:
        from bartviz.experiments.edits import reach

        ticket.report(later("Running the sentence under three masks"))
        text = record if which == "own" else SENTENCE
        return reach(model, text, position, window=window, cancelled=ticket.cancelled)

    key: dict[str, object] = {"sentence": which, "position": position, "window": window}
    return ask("reach", record, key, work)


def _maps(result: Reach, target: int) -> None:
    """The three masks side by side, or below each other where a long text needs the width."""
    masks = list(result.changes)
    wide = len(masks) * len(result.tokens) > SIDE
    places = [st.container() for _mask in masks] if wide else st.columns(len(masks), gap="small")
    for place, mask in zip(places, masks, strict=True):
        layer = int(result.first_layer(mask)[target])
        title = _(MASKS[mask]).format(result.window)
        felt = (
            _("{mask}: never arrives there.", mask=title)
            if layer < 0
            else plural(
                "{mask}: arrives there after {count} layer.",
                "{mask}: arrives there after {count} layers.",
                layer,
                mask=title,
            )
        )
        first = mask == masks[0]  # one colour bar for all three
        figure = partial(reach, result, masks=[mask], place=target, bar=first, dark=page.dark())
        with place:
            show.figure(figure, key=f"reach_{mask}", alt=felt)
    message = (
        mark(
            "“{old}” was replaced by “{new}”. Relative change of each state: layers down, positions across, "
            "in powers of ten; 0: exactly as before. The tall frame marks the changed token, single frames the "
            "position where its effect is measured."
        )
        if written(result.changes["causal"])
        else mark(
            "“{old}” was replaced by “{new}”. Relative change of each state: layers down, positions across, "
            "in powers of ten; grey: exactly as before. The tall frame marks the changed token, single frames "
            "the position where its effect is measured."
        )
    )
    show.note(_(message, old=result.old, new=result.new))
