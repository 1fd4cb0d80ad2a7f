"""Shared elements of the page's parts: a heading, a suitable record, a map, and the sources with a link."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from bartviz.analysis import sentence_words
from bartviz.app.controls import pick, show
from bartviz.app.frame import levels, page, page_list
from bartviz.app.state.result_cache import cached
from bartviz.arrays import Floats
from bartviz.drawing.maps import attention_map, in_percent
from bartviz.features.pitfalls.numbers import FIRST
from bartviz.language import _, current
from bartviz.record.attention import Attention, Head, Kind
from bartviz.serving import first_record
from bartviz.text.tokens import Tokens

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from bartviz.record.record import Reading, Record

T = TypeVar("T")
HEIGHT = 340
ARROW = ":material/arrow_forward:"


def suited(record: Record, make: Callable[[Record], T | None]) -> tuple[T, Record] | None:
    """A finding in the record, else in the embedded one with a note; None if neither has it."""
    finding = cached(partial(make, record))
    if finding is not None:
        return finding, record
    shipped = first_record.record()
    finding = None if shipped is None or shipped is record else cached(partial(make, shipped))
    if finding is None or shipped is None:
        show.note(_("This text has nothing to show here: take a longer one, or a model with an encoder and a decoder."))
        return None
    show.note(
        _(
            "This record has no such attention, so here is what {model} does with “{text}”.",
            model=shipped.model.name,
            text=shipped.source_text,
        )
    )
    return finding, shipped


def sources_and_link(sources: str, word: str, what: str, query: Mapping[str, str]) -> None:
    """The sources, which a beginner does not need, and a link to the page with more detail."""
    if levels.at_least("intermediate"):
        show.note(sources)
    link(word, what, query)


def link(word: str, what: str, query: Mapping[str, str]) -> None:
    """A link that says where it leads: the page, and ``what`` is seen there unless the page's name says it."""
    if page_list.has(word):
        label = _(page_list.page(word).label)
        page.link(word, _("{page}: {what}", page=label, what=what) if what else label, query, icon=ARROW)


def head_query(head: Head, **more: str) -> dict[str, str]:
    """The address words of a head."""
    return {"kind": head.kind, "layer": str(head.layer), "head": str(head.head), **more}


def row_names(record: Record, kind: Kind) -> Tokens:
    """The tokens that name the rows, as on the other pages: of a decoder those that they predict."""
    return record.rows(kind, "predicts")


def where(head: Head, record: Record) -> dict[str, str]:
    """The words of a sentence that says for a beginner, too, which head of which model a picture or number is of."""
    place = sentence_words.head_in_words(head.layer, head.head)
    return {"place": place, "attention": sentence_words.attention(head.kind), "model": record.model.name}


def capitalized(sentence: str) -> str:
    """The sentence with a capital first letter, in English only."""
    return sentence[:1].upper() + sentence[1:] if current() == "en" else sentence


def one_map(
    record: Record,
    weights: Floats,
    attention: Attention,
    rows: Tokens,
    caption: str,
    key: str,
    row: int | None = None,
    reading: Reading = "predicts",
) -> None:
    """A map with its title, its words in the colours that they have in ``record``, a decoder's rows named as by
    ``reading``; for a long text only the first rows and columns, with a note."""
    q, k = (slice(0, min(FIRST, length)) for length in weights.shape)
    query, keys = rows.take(q), attention.key.take(k)
    colors = pick.colors_of_words(record).sides(attention.kind, reading)
    plain = not levels.at_least("intermediate")
    writes = attention.kind != "encoder" and reading == "predicts"
    drawn = partial(
        attention_map,
        np.ascontiguousarray(weights[q, k]),
        query.labels,
        keys.labels,
        kind=attention.kind,
        mask=np.ascontiguousarray(attention.mask[q, k]),
        row=row if row is not None and row < len(query) else None,
        query_special=query.special,
        key_special=keys.special,
        height=HEIGHT,
        colors=(colors[0][q], colors[1][k]),
        dark=page.dark(),
        query_title=None if not plain else _("to write ↓") if writes else _("word ↓"),
        key_title=_("looks at →") if plain else None,
    )
    cut = max(weights.shape) > FIRST
    show.note(capitalized(caption) + (" " + _("(the first {count} tokens)", count=FIRST) if cut else ""))
    show.figure(partial(_in_percent, drawn) if plain else drawn, key=key, alt=caption)


def _in_percent(drawn: Callable[[], go.Figure]) -> go.Figure:
    return in_percent(drawn())
