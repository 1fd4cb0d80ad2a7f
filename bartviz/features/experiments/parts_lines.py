"""Two outputs above each other, stretch by stretch, so that each change is above its replacement."""

from __future__ import annotations

import html
from collections.abc import Sequence

import streamlit as st

from bartviz.analysis.word_colors import NONE, Numbers
from bartviz.drawing.colors import underline
from bartviz.features.experiments.numbers_output_diff import Stretch
from bartviz.language import _
from bartviz.record.attention import Kind
from bartviz.text.tokens import direction

_GONE = "text-decoration:line-through;border-style:dashed"
_NEW = "font-weight:700;outline:2px solid currentColor;outline-offset:1px"
_CELL = "display:inline-grid;vertical-align:top;margin:0 0 .5em 0"


def lines(
    before: Sequence[str],
    after: Sequence[str],
    stretches: Sequence[Stretch],
    *,
    kind: Kind,
    key: str,
    special: tuple[Sequence[bool], Sequence[bool]] | None = None,
    colors: Numbers = (),
) -> None:
    """The labels of two outputs: equal stretches in both lines, removed ones struck through, new ones framed.
    ``colors``: the numbers of the words of the first (``analysis.word_colors``), which those that stay keep."""
    numbers = colors or [NONE] * len(before)
    parts = [_cell([_name(_("before"))], [_name(_("after"))])]
    for stretch in stretches:
        if stretch.same:
            parts += [
                _cell(
                    [_chip(before[i], _of(special, 0, i), underline(numbers[i]))],
                    [_chip(after[j], _of(special, 1, j), underline(numbers[i]))],
                )
                for i, j in zip(range(*_ends(stretch.before)), range(*_ends(stretch.after)), strict=True)
            ]
            continue
        old = [
            _chip(before[i], _of(special, 0, i), underline(numbers[i]) + _GONE) for i in range(*_ends(stretch.before))
        ]
        new = [_chip(after[j], _of(special, 1, j), _NEW) for j in range(*_ends(stretch.after))]
        parts.append(_cell(old or [_nothing()], new or [_nothing()]))
    with st.container(key=key):
        towards = direction(
            after if special is None else [t for t, hide in zip(after, special[1], strict=True) if not hide]
        )
        st.html(f"<p class='bv-text bv-{kind}' dir='{towards}' style='line-height:1.9'>{''.join(parts)}</p>")


def _ends(part: slice) -> tuple[int, int]:
    return int(part.start), int(part.stop)


def _of(special: tuple[Sequence[bool], Sequence[bool]] | None, line: int, place: int) -> bool:
    return special is not None and bool(special[line][place])


def _cell(above: list[str], below: list[str]) -> str:
    return f"<span style='{_CELL}'><span>{''.join(above)}</span><span>{''.join(below)}</span></span>"


def _chip(label: str, special: bool, style: str = "") -> str:
    name = "bv-chip bv-special" if special else "bv-chip"
    return f"<span class='{name}' style='{style}'>{html.escape(label) or '&nbsp;'}</span>"


def _name(label: str) -> str:
    plain = "border-color:transparent;padding-left:0"  # as high as the chips after it
    return f"<span class='bv-chip bv-special' style='{plain}'>{html.escape(label)}</span>"


def _nothing() -> str:
    title = html.escape(_("nothing here"), quote=True)
    return f"<span class='bv-chip bv-special' style='border-style:dashed' title='{title}'>∅</span>"
