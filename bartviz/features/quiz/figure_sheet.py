"""A quiz as a file for a class: CSV, Markdown, or one HTML page to print; with or without answers.

All texts are in the current language. Tokens are escaped for the format.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from bartviz.drawing import colors
from bartviz.features.quiz.question import LETTERS, READ_SO, Grid, Option, Question
from bartviz.language import _, current
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
    "ol.options{list-style:upper-alpha}.answer{border-left:3px solid #98a2b3;padding-left:.7rem;color:#475467}"
)


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
            f"<section><p><b>{number}.</b> {html.escape(_(one.prompt))}</p>{grids(one)}"
            f"<ol class='options'>{options}</ol>{told}</section>"
        )
    return (
        f"<!doctype html><html lang='{current()}'><head><meta charset='utf-8'><meta name='viewport' "
        f"content='width=device-width'><title>{title}</title><style>{_STYLE}</style></head>"
        f"<body>{''.join(parts)}</body></html>"
    )


def grids(question: Question) -> str:
    """The tables of a question as HTML, side by side; every label escaped."""
    return f"<div class='bv-maps'>{''.join(_table(grid) for grid in question.grids)}</div>" if question.grids else ""


def _table(grid: Grid) -> str:
    """A table whose cells are shaded by their weight; without digits a small picture."""
    names = f"bv-grid bv-{grid.kind or 'any'}{'' if grid.digits else ' bv-small'}"
    caption = f"<caption>{html.escape(_(grid.title))}</caption>" if grid.title else ""
    columns = "".join(f"<th scope='col'>{html.escape(label)}</th>" for label in grid.columns)
    rows = "".join(
        f"<tr><th scope='row'>{html.escape(label)}</th>{''.join(_cell(cell, grid) for cell in cells)}</tr>"
        for label, cells in zip(grid.rows, grid.cells, strict=True)
    )
    return f"<table class='{names}'>{caption}<tbody><tr><th></th>{columns}</tr>{rows}</tbody></table>"


def _cell(cell: float | None, grid: Grid) -> str:
    """A cell shaded by its weight, lighter behind digits so that they stay readable."""
    strength = 0.0 if cell is None else min(cell, 1.0) * (60 if grid.digits else 100)
    number = written(cell)
    return f"<td style='--w:{strength:.0f}%' title='{number}'>{number if grid.digits else ''}</td>"


def _lettered(question: Question) -> list[tuple[str, Option]]:
    return list(zip(LETTERS, question.options, strict=False))


def _plain(text: str) -> str:
    """A text escaped for Markdown."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))
