"""The sentences above the classic view: its heads, its two sides, and which part of a long text is left out."""

from __future__ import annotations

from bartviz.analysis import sentence_words
from bartviz.features.heads.figure_classic.offline import CELLS, View, Window
from bartviz.language import _
from bartviz.record.attention import Attention
from bartviz.record.record import Reading


def title(view: View, attention: Attention, layer: int | None) -> str:
    """The heads that are drawn, and how to use the view."""
    layers, heads = attention.shape[:2]
    kind = sentence_words.kind(attention.kind)
    if view == "model":
        return _(
            "All {layers} x {heads} {kind} heads as thumbnails: choose one to see it large.",
            layers=layers,
            heads=heads,
            kind=kind,
        )
    if layer is None:
        return _(
            "The {heads} heads of one {kind} layer, one colour each: choose the layer, touch or point at a token "
            "to see where it looks; touch a square to switch its head off.",
            heads=heads,
            kind=kind,
        )
    return _(
        "{heads} heads of {kind} layer {layer}, one colour each: touch or point at a token to see where it looks; "
        "touch a square to switch its head off.",
        heads=heads,
        kind=kind,
        layer=layer,
    )


def sides(attention: Attention, reading: Reading) -> str:
    """The meaning of the left and the right side, and the labels of decoder rows."""
    if attention.kind == "encoder":
        return _("Left: the token that looks (a row). Right: the token that is looked at (a column).")
    if reading == "reads":
        return _(
            "Left: the token that looks (a row), named by the token that the decoder reads there. Right: the "
            "token that is looked at (a column)."
        )
    return _(
        "Left: the token that looks (a row), named by the token that the decoder predicts there. Right: the "
        "token that is looked at (a column)."
    )


def cap(attention: Attention, window: Window, most: int) -> str:
    """A note on what is left out, and why; empty if everything is shown."""
    all_rows, all_columns = attention.shape[2:]
    if window.shape == (all_rows, all_columns):
        return ""
    rows, columns = window.rows, window.columns
    return _(
        "Rows {first_row} to {last_row} of {all_rows:,} and columns {first_column} to {last_column} of "
        "{all_columns:,} are shown: this view draws a line for every weight, and shows at most {most} tokens "
        "per side for this model ({weights:,} weights, 1 MB). Other tokens are left out, so the lines of a "
        "token need not sum to 1.",
        first_row=rows.start,
        last_row=rows.stop - 1,
        all_rows=all_rows,
        first_column=columns.start,
        last_column=columns.stop - 1,
        all_columns=all_columns,
        most=most,
        weights=CELLS,
    )
