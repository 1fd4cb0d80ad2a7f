"""A quiz as a file for a class: CSV, Markdown, or one HTML page to print; with or without answers.

All texts are in the current language. Tokens are escaped for the format.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from bartviz.analysis.start import FAINTEST
from bartviz.analysis.word_colors import NONE
from bartviz.drawing import colors
from bartviz.drawing.colors import underline
from bartviz.features.quiz.question import LETTERS, READ_SO, Grid, Option, Question, Touch
from bartviz.language import _, current
from bartviz.language.percentages import percent
from bartviz.record.record import Record

if TYPE_CHECKING:
    import pandas as pd

_MARKS = re.compile(r"([\\`*_\[\]<>#|~$&])")  # what Markdown could take for its own within a line
_STYLE = (
    "body{font:15px/1.5 'Source Sans Pro','Noto Sans','Noto Sans CJK KR',sans-serif;max-width:46rem;margin:2rem auto;"
    "padding:0 1rem;color:#1d2430}li{margin:.2rem 0}section{break-inside:avoid;margin:1.6rem 0}"
    "table{border-collapse:collapse;font:12px 'Source Code Pro','Noto Sans Mono','Noto Sans CJK KR',monospace;"
    "margin:.5rem 0}th,td{border:1px solid #d0d5dd;padding:.1rem .35rem;text-align:right;font-weight:400;"
    "print-color-adjust:exact;-webkit-print-color-adjust:exact}.bv-maps{display:flex;flex-wrap:wrap;gap:1rem}"
    + "".join(f".bv-{kind}{{--kind:{light}}}" for kind, (light, _dark) in colors.KIND.items())
    + ".bv-any{--kind:#475467}"
    "td{background:color-mix(in srgb,var(--kind) var(--w,0%),transparent)}"
    ".bv-small td{width:.62rem;height:.62rem;padding:0}.bv-small th{font-size:9px;border:0;padding:0 .15rem}"
    ".bv-small th[scope=col]{writing-mode:vertical-rl;transform:rotate(180deg)}caption{text-align:left;font-weight:600}"
    ".bv-line span{border:1px solid #d0d5dd;border-radius:3px;padding:0 .3rem;margin-right:.25rem}"
    ".bv-line .bv-marked{border:2px solid #1d2430;font-weight:600}"
    ".bv-ribbons p{display:flex;margin:0}.bv-ribbons p>*{text-align:center}"
    ".bv-ribbons div{position:relative;height:5rem}"
    ".bv-ribbons i{position:absolute;inset:0;background:var(--kind);opacity:.6;print-color-adjust:exact;"
    "-webkit-print-color-adjust:exact}.bv-ribbons .bv-marked{font-weight:600;text-decoration:underline}"
    "ol.options{list-style:upper-alpha}.answer{border-left:3px solid #98a2b3;padding-left:.7rem;color:#475467}"
)


APART = 2
"""Letters between two words of a line with ribbons."""
WIDEST = 3.0
"""Half the width of a ribbon of weight 1, in per cent of the line."""
STEPS = 48
"""Straight pieces of each side of a ribbon."""

Query = Mapping[str, str]
Address = Callable[[str, Query], str]


def path(page: str, query: Query) -> str:
    """The address of a page within the app, with its query."""
    return f"/{page}?{urlencode(query)}" if query else f"/{page}"


def table(
    questions: Sequence[Question], *, address: Address = path, asked: Callable[[int], Query] | None = None
) -> pd.DataFrame:
    """One line for each question: number, kind, question, the options A to D, the answer's letter, why, the page that
    shows it, and its link.

    ``address`` returns the link of a page and its query, with model and text, so that it shows the same record.
    ``asked`` returns the query of a question by its number, for a column ``quiz`` with the link that asks it.
    """
    import pandas as pd

    lines = []
    for number, one in enumerate((one.on_paper for one in questions), 1):
        texts = [_(option.text) for option in one.options]
        options = dict(zip(LETTERS, [*texts, *[""] * (len(LETTERS) - len(texts))], strict=True))
        asks = {} if asked is None else {"quiz": address("quiz", asked(number))}
        lines.append(
            {"number": number, "kind": one.kind, "question": _(one.prompt)}
            | options
            | asks
            | {"answer": LETTERS[one.answer], "why": _(one.why), "page": one.page, "link": address(one.page, one.query)}
        )
    extra = [] if asked is None else ["quiz"]
    return pd.DataFrame(
        lines, columns=["number", "kind", "question", *LETTERS, *extra, "answer", "why", "page", "link"]
    )


def about(record: Record, seed: int) -> str:
    """The model and text of the questions, so that a class can repeat them."""
    said = " | ".join(record.texts)
    return _("Model {model}, seed {seed}. Text: {text}", model=record.model.name, text=said, seed=seed)


def markdown(questions: Sequence[Question], record: Record, seed: int, *, answers: bool) -> str:
    """The sheet in Markdown: numbered questions with options A to D, with or without the answer after each."""
    lines = [f"# {_('Quiz on attention')}", "", _plain(about(record, seed)), "", _(READ_SO), ""]
    for number, one in enumerate((one.on_paper for one in questions), 1):
        lines += [f"## {number}. {_plain(_(one.prompt))}", ""]
        if one.line:
            lines += [" · ".join(_plain(word) for word in one.line), ""]
        for grid in one.grids:
            lines += [*_markdown_grid(grid), ""]
        lines += [f"- {letter}: {_plain(_(option.text))}" for letter, option in _lettered(one)]
        if answers:
            lines += ["", f"**{LETTERS[one.answer]}.** {_plain(_(one.why))}"]
        lines.append("")
    return "\n".join(lines)


def _markdown_grid(grid: Grid) -> list[str]:
    heading = [f"*{_plain(_(grid.title))}*", ""] if grid.title else []
    columns = " | ".join(_plain(label) for label in grid.columns)
    rows = [
        f"| {_plain(label)} | {' | '.join(written(cell) for cell in cells)} |"
        for label, cells in zip(grid.rows, grid.cells, strict=True)
    ]
    return [*heading, f"| | {columns} |", "|---" * (len(grid.columns) + 1) + "|", *rows]


def written(cell: float | None) -> str:
    """A number of a grid: two decimals, or a question mark for the one that is asked for."""
    return "?" if cell is None else f"{cell:.2f}"


def page(questions: Sequence[Question], record: Record, seed: int, *, answers: bool) -> str:
    """The sheet as one HTML page without scripts, for printing: no question breaks across two pages."""
    title = html.escape(_("Quiz on attention"))
    parts = [f"<h1>{title}</h1><p>{html.escape(about(record, seed))}</p><p>{html.escape(_(READ_SO))}</p>"]
    for number, one in enumerate((one.on_paper for one in questions), 1):
        options = "".join(f"<li>{html.escape(_(option.text))}</li>" for option in one.options)
        told = f"<p class='answer'><b>{LETTERS[one.answer]}.</b> {html.escape(_(one.why))}</p>" if answers else ""
        parts.append(
            f"<section><p><b>{number}.</b> {html.escape(_(one.prompt))}</p>{picture(one)}"
            f"<ol class='options'>{options}</ol>{told}</section>"
        )
    return (
        f"<!doctype html><html lang='{current()}'><head><meta charset='utf-8'><meta name='viewport' "
        f"content='width=device-width'><title>{title}</title><style>{_STYLE}</style></head>"
        f"<body>{''.join(parts)}</body></html>"
    )


def picture(question: Question, marks: Mapping[str, str] | None = None) -> str:
    """The line of words and the maps of a question as HTML; every label escaped.

    ``marks``: what was touched, "right" or "wrong" by its place; with it, what can be touched is a button.
    """
    places = _Places(question.touch, marks or {}, on_screen=marks is not None)
    words = "".join(
        places.button("word", str(at), _word(label, at == question.marked), label)
        for at, label in enumerate(question.line)
    )
    line = f"<p class='bv-line'>{words}</p>" if words else ""
    if question.grids and question.grids[0].ribbons:
        return line + _ribbons(question, places)
    only = len(question.grids) == 1
    maps = "".join(_table(grid, number, places, large=only) for number, grid in enumerate(question.grids))
    return line + (f"<div class='bv-maps'>{maps}</div>" if maps else "")


def _ribbons(question: Question, places: _Places) -> str:
    """Two lines of words and a ribbon for every weight that the start page draws; each word has room for its letters.

    A word that was found keeps its ribbons, and the others grow pale; colours that pair the words come only then, since
    they would answer, and so do hidden ribbons. All are cut out by CSS, because Streamlit takes drawings out of HTML.
    """
    grid, touch = question.grids[0], question.touch
    found = [int(place) for place, mark in places.marks.items() if mark == "right"]
    down = touch is not None and touch.what == "row"  # the answer is a word below
    above, below = (_middles(line) for line in (grid.columns, grid.rows))
    row_colors, column_colors = grid.colors if found else ((), ())
    hidden = question.marked if question.hidden and places.on_screen and not found else None
    shown = [
        (t, s, weight)
        for t, weights in enumerate(grid.cells)
        for s, weight in enumerate(weights)
        if weight is not None and weight >= FAINTEST and t != hidden
    ]
    drawn = "".join(
        f"<i{' class=bv-pale' if found and (t if down else s) not in found else ''} "
        f"style='clip-path:polygon({_outline(above[s], below[t], weight * WIDEST)})'></i>"
        for t, s, weight in shown
    )
    said = html.escape(" ".join(_widest(grid, shown)), quote=True)
    lines = [
        "".join(
            f"<span style='flex:{len(label) + APART} 1 0'{places.area(what, str(at))}>"
            f"{places.button(what, str(at), _word(label, asked and at == question.marked, number), label)}</span>"
            for at, (label, number) in enumerate(zip(labels, numbers or [NONE] * len(labels), strict=True))
        )
        for what, labels, numbers, asked in (
            ("column", grid.columns, column_colors, down),
            ("row", grid.rows, row_colors, not down),
        )
    ]
    return (
        f"<div class='bv-ribbons bv-{grid.kind}'><p>{lines[0]}</p><div role='img' aria-label='{said}'>{drawn}</div>"
        f"<p>{lines[1]}</p></div>"
    )


def _widest(grid: Grid, shown: Sequence[tuple[int, int, float]]) -> list[str]:
    """What a picture shows, for those who do not see it: where the widest ribbon of each word below goes."""
    widest: dict[int, tuple[int, float]] = {}
    for t, s, weight in shown:
        if t not in widest or weight > widest[t][1]:
            widest[t] = s, weight
    return [
        _(
            "The widest ribbon of {low} goes up to {high}, with {share} of the attention.",
            low=f"“{grid.rows[t]}”",
            high=f"“{grid.columns[s]}”",
            share=percent(weight),
        )
        for t, (s, weight) in widest.items()
    ]


def _outline(high: float, low: float, half: float) -> str:
    """The corners of a ribbon from ``high`` at the top to ``low`` at the bottom, in per cent of its box."""
    ways = [at / STEPS for at in range(STEPS + 1)]
    line = [(high + (low - high) * way * way * (3 - 2 * way), 100 * way) for way in ways]  # as smooth at both ends
    corners = [(x - half, y) for x, y in line] + [(x + half, y) for x, y in reversed(line)]
    return ",".join(f"{x:.2f}% {y:.2f}%" for x, y in corners)


def _middles(labels: Sequence[str]) -> list[float]:
    """The middle of each word of a line in per cent of its width."""
    ends = list(accumulate((len(label) + APART for label in labels), initial=0))
    return [50 * (left + right) / ends[-1] for left, right in pairwise(ends)]


def _word(label: str, marked: bool, number: int = NONE) -> str:
    """``number``: that of the word's colour, which underlines it."""
    style = f" style='{underline(number)}'" if number != NONE else ""
    return f"<span{' class=bv-marked' if marked else ''}{style}>{html.escape(label)}</span>"


@dataclass(frozen=True)
class _Places:
    """What of a picture can be touched, and what has been."""

    touch: Touch | None
    marks: Mapping[str, str]
    on_screen: bool

    def has(self, what: str, place: str) -> bool:
        if not self.on_screen or self.touch is None or self.touch.what != what:
            return False
        return what == "cell" or int(place) in self.touch.places

    def area(self, what: str, place: str) -> str:
        """The attributes of everything that counts as a touch of this place."""
        if not self.has(what, place):
            return ""
        mark = self.marks.get(place, "")
        return f" data-place='{place}'" + (f" class='bv-{mark}'" if mark else "")

    def button(self, what: str, place: str, inner: str, said: str) -> str:
        """The part of the place that has the focus, or what is in it where it cannot be touched."""
        if not self.has(what, place):
            return inner
        mark = self.marks.get(place, "")
        sign = {"right": " ✓", "wrong": " ✗"}.get(mark, "")
        return (
            f"<button type='button' class='bv-touch bv-touch-{what} bv-{mark}' data-place='{place}' "
            f"aria-label='{html.escape(said + sign)}'>{inner}{sign}</button>"
        )


def _table(grid: Grid, number: int, places: _Places, *, large: bool) -> str:
    """A table whose cells are shaded by their weight; without digits a picture, on a screen a ``large`` one."""
    large = large and places.on_screen and not grid.digits
    form = "bv-digits" if grid.digits else "bv-small bv-large" if large else "bv-small"
    names = f"bv-grid bv-{grid.kind or 'any'} {form}"
    title = _(grid.title)
    caption = places.button("map", str(number), html.escape(title), title)
    columns = "".join(
        f"<th scope='col'{places.area('column', str(at))}>"
        f"{places.button('column', str(at), html.escape(label), label)}</th>"
        for at, label in enumerate(grid.columns)
    )
    rows = "".join(
        f"<tr{places.area('row', str(at))}><th scope='row'>"
        f"{places.button('row', str(at), html.escape(label), label)}</th>"
        f"{''.join(_cell(cell, grid, (at, column), places) for column, cell in enumerate(cells))}</tr>"
        for at, (label, cells) in enumerate(zip(grid.rows, grid.cells, strict=True))
    )
    head = f"<caption>{caption}</caption>" if title else ""
    whole = places.area("map", str(number)).replace(" class='", f" class='{names} ")
    attributes = whole if "class=" in whole else f" class='{names}'{whole}"
    if large:
        attributes += f" style='--across: {len(grid.columns)}; --down: {len(grid.rows)}'"
    return f"<table{attributes}>{head}<tbody><tr><th></th>{columns}</tr>{rows}</tbody></table>"


def _cell(cell: float | None, grid: Grid, at: tuple[int, int], places: _Places) -> str:
    """A cell shaded by its weight, lighter behind digits so that they stay readable."""
    strength = 0.0 if cell is None else min(cell, 1.0) * (60 if grid.digits else 100)
    number, (row, column) = written(cell), at
    inner = places.button(
        "cell", f"{row} {column}", number if grid.digits else "", f"{grid.rows[row]}, {grid.columns[column]}"
    )
    inner = inner if grid.digits or "<button" in inner else ""
    told = "" if places.on_screen and places.touch is not None and not grid.digits else f" title='{number}'"
    if grid.digits and places.on_screen:  # a small screen has the token above each number
        told += f" data-column='{html.escape(grid.columns[column])}'"
    return f"<td style='--w:{strength:.0f}%'{told}{places.area('column', str(column))}>{inner}</td>"


def _lettered(question: Question) -> list[tuple[str, Option]]:
    return list(zip(LETTERS, question.options, strict=False))


def _plain(text: str) -> str:
    """A text escaped for Markdown."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))
