"""What every part of the page has: a heading, its record, a map, and below it the sources and a link."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import streamlit as st

from bartviz.analysis.fooled import FIRST
from bartviz.arrays import Floats
from bartviz.figures.maps import attention_map
from bartviz.language import _, current
from bartviz.record.attention import Attention, Head, Kind
from bartviz.serving import first_record
from bartviz.teaching.quiz.question import kind_said
from bartviz.text.tokens import Tokens
from bartviz.ui.controls import show
from bartviz.ui.frame import page, sitemap
from bartviz.ui.state.once import once

if TYPE_CHECKING:
    from bartviz.record.record import Record

T = TypeVar("T")
HEIGHT = 340


def suited(record: Record, make: Callable[[Record], T | None]) -> tuple[T, Record] | None:
    """What the record shows, else what the shipped one does, with a word about it; None where neither has it."""
    found = once(partial(make, record))
    if found is not None:
        return found, record
    shipped = first_record.record()
    found = None if shipped is None or shipped is record else once(partial(make, shipped))
    if found is None or shipped is None:
        show.note(_("This text has nothing to show here: take a longer one, or a model with an encoder and a decoder."))
        return None
    show.note(
        _(
            "This record has no such attention, so here is what {model} does with “{text}”.",
            model=shipped.model.name,
            text=shipped.source_text,
        )
    )
    return found, shipped


def title(number: int, said: str) -> None:
    """The heading of one warning."""
    st.subheader(f"{number} · {said}", anchor=False)


def below(sources: str, word: str, label: str, query: Mapping[str, str]) -> None:
    """Who found it out, and the page that goes deeper, as the link sets it."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        show.note(sources)
        st.page_link(sitemap.page(word).file, label=label, icon=":material/arrow_forward:", query_params=dict(query))


def place(head: Head, **more: str) -> dict[str, str]:
    """A head as the addresses of the pages name it."""
    return {"kind": head.kind, "layer": str(head.layer), "head": str(head.head), **more}


def kind_of(kind: Kind) -> str:
    """A kind of attention within a sentence, in the visitor's language."""
    return _(kind_said(kind))


def named(head: Head) -> str:
    """A head within a sentence: its kind, and its short name."""
    return f"{kind_of(head.kind)} {head.short}"


def begun(sentence: str) -> str:
    """An English sentence with a capital letter, whatever its first value is; other languages have no need of it."""
    return sentence[:1].upper() + sentence[1:] if current() == "en" else sentence


def one_map(weights: Floats, attention: Attention, rows: Tokens, said: str, key: str, row: int | None = None) -> None:
    """A map with its title above; of a long text the first rows and columns, and it says so: other pages show all."""
    q, k = (slice(0, min(FIRST, length)) for length in weights.shape)
    query, keys = rows.take(q), attention.key.take(k)
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
        dark=page.dark(),
    )
    cut = max(weights.shape) > FIRST
    show.note(begun(said) + (" " + _("(the first {count} tokens)", count=FIRST) if cut else ""))
    show.figure(drawn, key=key, alt=said)
