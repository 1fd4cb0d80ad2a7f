"""A mask drawn by hand: its cells are painted in the browser, the model runs with it, and both runs are compared."""

from __future__ import annotations

import html
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from bartviz.analysis import drawn_mask, masks, sentence_words
from bartviz.analysis.drawn_mask import STARTS, DrawnMask
from bartviz.analysis.masks import quote
from bartviz.app.controls import pick, show, tasks
from bartviz.app.state import url_state
from bartviz.arrays import Bools
from bartviz.features.masks import parts_squares
from bartviz.language import _, named, plural
from bartviz.language.percentages import percent
from bartviz.record.attention import Kind

if TYPE_CHECKING:
    from bartviz.app.streamlit_internals import DeltaGenerator
    from bartviz.models.model import Model
    from bartviz.record.record import Record
    from bartviz.serving.gate import Ticket

MOST = 128  # tokens of a mask that can be painted
IN_ADDRESS = 400  # characters of a mask in the address
_HELD = "_drawn_mask"
_STYLE = Path(__file__).with_name("style.css")


@dataclass(frozen=True)
class _Held:
    """What is painted: ``begin`` is what the component was given, ``cells`` what it holds now."""

    record: Record
    kind: Kind
    start: str
    begin: Bools
    cells: Bools
    number: int = 0

    @property
    def key(self) -> str:
        return f"painted_{self.number}"


def draw(record: Record, lead: DeltaGenerator) -> None:
    """The square to paint, and beside it what the model computes with it; in the ``lead``, which mask it is. Raises
    WeightsOnlyError."""
    record.expect_model()
    st.html(_STYLE)
    if max(max(record.attention(kind).mask.shape) for kind in record.kinds) > MOST:
        show.note(_("Masks of up to {most} tokens can be drawn: choose a shorter text.", most=MOST))
        return
    which, begin = st.columns([1, 1.6], gap="medium")
    names = {str(kind): sentence_words.kind_alone(kind) for kind in record.kinds}
    word: str = record.kinds[0]
    with which:
        if len(names) > 1:
            word = pick.one_of(_("Mask of"), names, key="mask_of", default="decoder")
    kind = next(one for one in record.kinds if one == word)
    with lead:
        show.lead(masks.painted(record, kind))
    with begin if len(names) > 1 else which:
        start = pick.one_of(_("Begin with"), named(STARTS), key="mask_start")
    left, right = st.columns([1, 1], gap="large")
    with left:
        cells = _painted(record, kind, start)
    with right, st.container(key="mask_result"):
        _result(record, kind, cells)


def _painted(record: Record, kind: Kind, start: str) -> Bools:
    """The cells as they are painted now (URL ``drawn``)."""
    attention, rows = record.attention(kind), record.rows(kind, "predicts")
    held: _Held | None = st.session_state.get(_HELD)
    if held is None or held.record is not record or (held.kind, held.start) != (kind, start):
        begin = drawn_mask.start(start, attention)
        linked = drawn_mask.unpacked(st.query_params.get("drawn", ""), attention) if held is None else None
        begin = begin if linked is None else linked
        held = _Held(record, kind, start, begin, begin, 0 if held is None else held.number + 1)
    elif held.key not in st.session_state:  # after another page
        held = replace(held, begin=held.cells)
    attention = replace(attention, mask=held.begin)
    title = f"{sentence_words.kind_alone(kind)}: {_('your mask')}"
    colors = pick.colors_of_words(record).sides(kind, "predicts")
    square = parts_squares.square(attention, title, query=rows, own=record.attention(kind).mask, colors=colors)
    with st.container(key="mask_painted"):
        text = parts_squares.show([square], row=0, key=held.key, paint=True)
    if text is not None and len(text) == held.begin.size:
        cells = np.array([sign == "1" for sign in text]).reshape(held.begin.shape)
        if cells.any(axis=1).all():
            held = replace(held, cells=cells)
    st.session_state[_HELD] = held
    packed = drawn_mask.packed(held.cells)
    changed = not np.array_equal(held.cells, drawn_mask.start(start, record.attention(kind)))
    url_state.publish("drawn", (packed,) if changed and len(packed) <= IN_ADDRESS else (), ())
    return held.cells


def _result(record: Record, kind: Kind, cells: Bools) -> None:
    def work(model: Model, ticket: Ticket[DrawnMask]) -> DrawnMask:
        from bartviz.experiments.drawn_mask import with_mask

        return with_mask(model, record, kind, cells, cancelled=ticket.cancelled, on_progress=ticket.report)

    key = {
        "model": record.model.fingerprint,
        "ids": record.source.ids.tolist(),
        "output": [] if record.output is None else record.output.ids.tolist(),
        "kind": kind,
        "cells": drawn_mask.packed(cells),
    }
    found = tasks.ask("drawn_mask", record.model.name, key, work)
    if found is None:
        return
    with st.container(key="mask_said"):
        show.lead(sentence(found))
    if found.written is not None:
        own, drawn = found.written
        for label, one, name in ((_("With its own mask"), own, "own"), (_("With your mask"), drawn, "drawn")):
            if one.output is not None:
                show.running_text(one.output, kind="decoder", label=label, key=f"mask_writes_{name}")
    if found.before is not None:
        st.html(rows_table(found))
    show.note(remark(found))
    show.downloads(
        "masks-drawn",
        title=_("The drawn mask"),
        table=partial(DrawnMask.table, found),
        arrays=lambda: {"mask": found.mask},
    )


def sentence(found: DrawnMask) -> str:
    """What the mask does to what the model writes, or to its guesses."""
    own = found.record.attention(found.kind).mask
    differ = int((found.mask != own).sum())
    if not differ:
        return _("This is the model's own mask: nothing changes. Paint some cells.")
    if found.written is None:
        return plural(
            "{count:,} cell differs from the model's own mask: {turned} of {all} best guesses have changed.",
            "{count:,} cells differ from the model's own mask: {turned} of {all} best guesses have changed.",
            differ,
            turned=len(found.turned),
            all=len(found.rows),
        )
    before, after = (one.target_text or "" for one in found.written)
    if before == after:
        said = plural(
            "{count:,} cell differs from the model's own mask, and the model writes the same text.",
            "{count:,} cells differ from the model's own mask, and the model writes the same text.",
            differ,
        )
        return f"{said} {_same_because(found)}"
    return plural(
        "{count:,} cell differs from the model's own mask. The model now writes {text}",
        "{count:,} cells differ from the model's own mask. The model now writes {text}",
        differ,
        text=quote(after),
    )


def _same_because(found: DrawnMask) -> str:
    """Why the text is the same, although probabilities in the table are others."""
    if _all_ahead(found):
        return _(
            "While it writes, what comes later is not there yet: cells above the diagonal count only in the table, "
            "where both runs read the whole output."
        )
    return _("No probability in the table has changed so far that it writes another word.")


def _all_ahead(found: DrawnMask) -> bool:
    """Whether only cells were painted by which a row of the decoder sees what comes later."""
    differs = found.mask != found.record.attention(found.kind).mask
    return found.kind == "decoder" and bool(differs.any()) and not np.tril(differs).any()


def remark(found: DrawnMask) -> str:
    """What is to be known of the comparison."""
    part = _(
        "The mask is used in every layer and head of the {kind}. The table gives both runs the same tokens.",
        kind=sentence_words.before_noun(found.kind),
    )
    if found.kind == "decoder" and found.written is not None and not _all_ahead(found):
        part += " " + _(
            "While the model writes, what comes later is not there yet: cells above the diagonal count only when the "
            "output is given."
        )
    if found.kind == "encoder" and found.record.cross is not None and not found.mask.any(axis=0).all():
        part += " " + _("A column that is closed to every row is padding: cross-attention does not see it either.")
    return part


def rows_table(found: DrawnMask) -> str:
    """HTML: the probability of each token in both runs, and the best token under the mask where it is another one."""
    assert found.before is not None
    assert found.after is not None
    names = (_("next token"), _("its own mask"), _("your mask"), _("best with your mask"))
    if found.record.output is None:
        names = (_("best guess"), *names[1:])
    head = "".join(f"<th scope='col'>{html.escape(name)}</th>" for name in names)
    lines = []
    for place, target in enumerate(found.targets):
        own, drawn = (float(np.exp(one.log_probability[place])) for one in (found.before, found.after))
        other = found.before.best[place] != found.after.best[place]
        best = f"{found.after.labels[place]} {percent(float(found.after.probability[place]))}" if other else ""
        lines.append(
            f"<tr class='{'bv-moved' if other else ''}'><td>{html.escape(target)}</td><td>{percent(own)}</td>"
            f"<td>{percent(drawn)}</td><td>{html.escape(best)}</td></tr>"
        )
    return f"<div class='bv-drawn'><table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
