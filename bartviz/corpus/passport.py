"""A head's passport: everything an atlas has on it, as one HTML page to read or print. It loads nothing.

The role with the evidence for and against it, the distribution of its values, how far and at which tokens it looks, its
rank among the heads of its kind, examples, and the most similar heads.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bartviz.analysis import corpus as analysis
from bartviz.analysis import sentence_words
from bartviz.analysis.corpus_measures import measure_of
from bartviz.corpus.looks import Look, distance_name
from bartviz.corpus.sums import Bins
from bartviz.drawing import theme
from bartviz.drawing.paper.sheet import FAINT, Sheet, escape, number
from bartviz.errors import SettingError, choices
from bartviz.language import _, current, mark
from bartviz.version import __version__

if TYPE_CHECKING:
    import pandas as pd

    from bartviz.corpus.atlas import Atlas
    from bartviz.record.attention import Head

EXAMPLES: Mapping[str, str] = {
    "highest": mark("Strongest examples"),
    "lowest": mark("Weakest examples"),
    "typical": mark("Typical examples"),
    "random": mark("Random texts"),
}
TITLES: Mapping[Look, str] = {"key": mark("Tokens it looks at"), "query": mark("Tokens that look")}
_STYLE = Path(__file__).with_name("passport.css")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_WIDE, _HIGH = 460.0, 110.0  # points of the drawing


def passport(atlas: Atlas, head: Head, measure: str | None = None) -> str:
    """The page of a head; ``measure``: of the distribution and the examples, by default the one of its role.

    Raises SettingError for a head or a measure that the atlas lacks.
    """
    rows = analysis.of_head(atlas.heads, head).dropna(subset=["mean"])
    if rows.empty:
        raise SettingError(f"There is no head {head} in this atlas: choose {choices(analysis.ranges(atlas.heads))}.")
    found = analysis.evidence(atlas.heads, atlas.histograms, head)
    chosen = found.measure if measure is None else measure
    known = list(rows["measure"])
    if chosen not in known:
        raise SettingError(f"{head} has no measure {chosen}: choose {choices(known)}.")
    of = atlas.description
    title = sentence_words.capitalized(
        _("{head} of {model}", head=sentence_words.head(head.kind, head.layer, head.head), model=of["model"]["name"])
    )
    corpus = _("{texts:,} texts of {corpus}", texts=of["texts"], corpus=of["corpus"]["name"])
    about = measure_of(chosen)
    measured = f"{about.title}, {about.unit}"
    body = [
        f"<h1>{escape(title)}</h1>",
        f"<p class=small>{escape(corpus)} · bartviz {escape(__version__)}</p>",
        f"<p>{escape(analysis.notice(found, head))}</p>",
        f"<p>{escape(analysis.effect(atlas.heads, head))}</p>",
        f"<h2>{escape(_('How it differs from text to text'))}</h2>",
        _bars(atlas.histograms, head, chosen, atlas.bins(chosen)),
        f"<p class=small>{escape(measured)}. {escape(about.says)}</p>",
        *_looks(atlas, head),
        f"<h2>{escape(_('Every measure'))}</h2>",
        _table(analysis.passport(atlas.heads, head)),
        *_examples(atlas.examples, head, chosen),
        f"<h2>{escape(_('Most similar heads'))}</h2>",
        _table(analysis.neighbours(atlas.heads, head)),
        f"<p class=small>{escape(_(atlas.source) if atlas.source else '')}</p>",
    ]
    return (
        f'<!doctype html>\n<html lang="{escape(current())}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
        f"<style>{_STYLE.read_text('utf-8')}</style></head><body><main>\n"
        + "\n".join(body)
        + "\n</main></body></html>\n"
    )


def _bars(histograms: pd.DataFrame, head: Head, measure: str, bins: Bins) -> str:
    """How many texts have which value, as an SVG."""
    rows = analysis.of_head(histograms, head)
    rows = rows[rows["measure"] == measure].sort_values("bin")
    width = bins.width
    starts, counts = rows["bin"].tolist(), rows["texts"].tolist()
    top, end = max(counts), measure_of(measure).highest or starts[-1] + width
    begin = min(starts[0], 0.0) if bins.start < 0 else bins.start
    span = end - begin
    sheet = Sheet(_WIDE)
    color = theme.kind_color(head.kind)
    for start, count in zip(starts, counts, strict=True):
        high = _HIGH * count / top
        sheet.rect(_WIDE * (start - begin) / span, _HIGH - high, _WIDE * width / span - 1, high, color)
    sheet.path(f"M0 {number(_HIGH)}H{number(_WIDE)}", stroke=FAINT, fill="none")
    for share, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        sheet.text(share * _WIDE, _HIGH + 10, f"{begin + share * span:g}", anchor=anchor, fill=FAINT)
    said = _("The tallest bar: {count:,} texts", count=top)
    sheet.text(_WIDE, 8, said, anchor="end", fill=FAINT)
    return sheet.picture(_HIGH + 14, said, written=False).svg


def _looks(atlas: Atlas, head: Head) -> Sequence[str]:
    """How far the head looks, and at which tokens, where the atlas has that."""
    import pandas as pd

    if not atlas.has_looks:
        return []
    far = atlas.distances(head)
    far = far[far["special"] | (far["share"] > 0)]
    ends = zip(far["special"], far["nearest"], far["farthest"], strict=True)
    names = [_("special") if special else distance_name(*bounds) for special, *bounds in ends]
    columns = {"distance": names} | {name: far[name].to_numpy() for name in ("share", "low", "high", "even")}
    looks = atlas.looks(head)
    parts = [f"<h2>{escape(_('How far it looks'))}</h2>", _table(pd.DataFrame(columns))]
    for side, title in TITLES.items():
        rows = looks.loc[looks["side"] == side, ["token", "lift", "low", "high", "share", "texts"]]
        if len(rows):
            parts += [f"<h2>{escape(_(title))}</h2>", _table(rows)]
    return parts


def _table(table: pd.DataFrame) -> str:
    cells = [[_cell(value) for value in row] for row in table.itertuples(index=False, name=None)]
    head = "".join(f"<th>{escape(_(str(name)))}</th>" for name in table.columns)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in cells)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _examples(table: pd.DataFrame, head: Head, measure: str) -> Sequence[str]:
    rows = analysis.of_head(table, head)
    rows = rows[rows["measure"] == measure].sort_values("rank")
    parts = []
    for which, title in EXAMPLES.items():
        shown = [
            f"<li><b>{row['value']:.2f}</b> {'<br>'.join(escape(part) for part in _said(row))}</li>"
            for row in rows[rows["which"] == which].to_dict("records")
        ]
        if shown:
            parts.append(f"<section><h2>{escape(_(title))}</h2><ul>{''.join(shown)}</ul></section>")
    return parts


def _said(row: Mapping[Any, Any]) -> list[str]:
    """The text of an example, with its second sentence and its output."""
    return [row[name] for name in ("text", "pair", "target") if isinstance(row[name], str) and row[name]]
