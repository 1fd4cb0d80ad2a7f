"""The two sides of the page: the runs, their masks as small squares, and a map of one head of each."""

from __future__ import annotations

import html
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.analysis import head_names, head_view, inputs, sentence_words
from bartviz.analysis.measures import of_record
from bartviz.analysis.words import word_groups
from bartviz.app.components import canvas
from bartviz.app.controls import pick, show, tasks
from bartviz.app.frame import levels, sidebar
from bartviz.app.state import url_state
from bartviz.app.state.result_cache import cached
from bartviz.arrays import Bools
from bartviz.browser.canvas.data import Choice
from bartviz.families.catalogue import entry
from bartviz.families.family import ModelKind
from bartviz.families.registry import FAMILIES
from bartviz.features.side import numbers
from bartviz.language import _, mark
from bartviz.record.attention import Head, Kind
from bartviz.record.record import Record
from bartviz.serving import request as requests
from bartviz.serving.request import Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bartviz.models.model import Model
    from bartviz.serving.gate import Ticket

MODELS: dict[ModelKind, str] = {"encoder": "bert-tiny-en", "encoder-decoder": "bart-tiny-en-de"}  # that ship
_WORD = "_side_word"  # the text, and the number of its word
CELLS = 16  # along a side of a small square, at most
SHORT = 14  # words, up to which both maps stand side by side on a phone
MEANINGS: dict[Kind, str] = {
    "encoder": mark("reads in both directions"),
    "decoder": mark("writes from left to right"),
    "cross": mark("looks from output to text"),
}


def side(record: Record, kind: ModelKind) -> Record | None:
    """The text of the record in a model of that kind: the visitor's own if it is one; None until it is computed."""
    return record if record.model.kind == kind else _run(MODELS[kind], kind, record)


def is_short(record: Record) -> bool:
    """Whether the maps of the text have so few rows and columns that they can be small."""
    return len(word_groups(record.source)) <= SHORT


def writer(record: Record) -> str:
    """Which of the two models writes: its family, as in the page's title; its own name where both are of one family, or
    of one that is not listed."""
    names, families = dict(MODELS), {kind: found.family for kind, name in MODELS.items() if (found := entry(name))}
    if (own := record.model.kind) in names:
        names[own], families[own] = record.model.name, record.model.family
    family = families.get("encoder-decoder", "")
    apart = family in FAMILIES and family != families.get("encoder")
    return FAMILIES[family].title if apart else names["encoder-decoder"]


def _run(name: str, kind: ModelKind, record: Record) -> Record | None:
    special = sidebar.reads_special(sidebar.kind_of(name), record.source_text, "")
    request = Request(name, record.source_text, allow_special=special)
    asked = {"text": request.text, "special": request.allow_special}
    found: Record | None = tasks.ask(f"side_{kind}", name, asked, partial(_record, request=request))
    return found


def _record(model: Model, ticket: Ticket[Record], *, request: Request) -> Record:
    return requests.record(model, ticket, replace(request, pair=None))


def to_read() -> None:
    """How to read the squares."""
    show.what_to_do(_("Coloured cells show where a word may look."))


def squares(record: Record) -> None:
    """Each kind of attention as a small square of open cells, with what it means in words."""
    drawn = []
    for kind in record.kinds:
        attention = record.attention(kind)
        opened, cells = numbers.seen(attention)
        said = _("{opened} of {cells} cells are open", opened=f"{opened:,}", cells=f"{cells:,}")
        name = html.escape(sentence_words.capitalized(sentence_words.before_noun(kind)))
        meaning = html.escape(_(MEANINGS[kind]))
        drawn.append(
            f"<figure data-kind='{kind}'>{_square(attention.mask, said)}"
            f"<figcaption><b>{name}</b> <span>{meaning}</span><br><small>{html.escape(said)}</small></figcaption>"
            "</figure>"
        )
    if record.decoder is None and record.model.family in FAMILIES:
        none = _("no decoder: {family} is not built to write", family=FAMILIES[record.model.family].title)
        drawn.append(f"<figure class='bv-none'><figcaption>{html.escape(none)}</figcaption></figure>")
    title = html.escape(record.model.name)
    st.html(f"<h3 class='bv-side-model'>{title}</h3><div class='bv-mask-squares'>{''.join(drawn)}</div>")


def _square(mask: Bools, said: str) -> str:
    """A mask as a picture: a coloured cell is open."""
    small = numbers.shrunk(mask, CELLS)
    cells = "".join(f"<i{' class=open' if is_open else ''}></i>" for is_open in small.ravel().tolist())
    style = f"grid-template-columns: repeat({small.shape[1]}, 1fr)"
    return f"<div role='img' aria-label='{html.escape(said)}' style='{style}'>{cells}</div>"


def marks(records: Sequence[Record]) -> list[str]:
    """What is written in the maps but not in the text: the tokens around it, and small letters for capital ones."""
    said = inputs.marks_sentence([record.source for record in records])
    small = [record.model.name for record in records if _small(record)]
    return [said] * bool(said) + [_("{model} reads only lower-case letters.", model=name) for name in small]


def _small(record: Record) -> bool:
    """Whether the tokenizer has made all capital letters of the text small."""
    tokens = record.source
    read = "".join(label for label, special in zip(tokens.labels, tokens.special, strict=True) if not special)
    return record.source_text != record.source_text.lower() and read == read.lower()


def head_of(record: Record, side: str, first: Head) -> Head:
    """The head of the encoder that is shown, at first ``first`` (URL ``left`` or ``right``)."""
    layers, count = record.attention("encoder").shape[:2]
    every = [Head("encoder", layer, head) for layer in range(layers) for head in range(count)]
    does = {} if record.from_weights else head_names.names(cached(partial(of_record, record, "encoder")))
    names = {str(head): _named(head, does.get((head.layer, head.head))) for head in every}
    return Head.parse(pick.select(_("Head of {model}", model=record.model.name), names, key=side, default=str(first)))


def place_of_picker(side: str) -> None:
    """The place of the picker of a head until there is a run: on a phone both pickers are above both maps."""
    show.place(f"side_picker_{side}")


def _named(head: Head, does: head_names.Name | None) -> str:
    """A head, and what it does in this text where it has a name."""
    name = levels.head_within(head)
    return name if does is None else f"{name} · {does.short}"


def looked_at(record: Record) -> Head | None:
    """The head of the encoder that the visitor has chosen on another page; None before any is."""
    head = pick.at_hand(record)
    chosen = url_state.number_chosen("layer") is not None or url_state.number_chosen("head") is not None
    return head if chosen and head.kind == "encoder" else None


def framed_word(record: Record) -> int:
    """Which word of the text is framed in both, special tokens not counted: the one last chosen in either map, at
    first that of the row every page shows first."""
    text, chosen = st.session_state.get(_WORD, ("", 0))
    return chosen if text == record.source_text else _first_word(record)


def _first_word(record: Record) -> int:
    row, groups = pick.first_row(record, "encoder"), word_groups(record.source)
    return next((number for number, at in enumerate(_spoken(record)) if row <= groups[at][-1]), 0)


def _spoken(record: Record) -> list[int]:
    """The words of the source that are not special tokens."""
    return [at for at, group in enumerate(word_groups(record.source)) if not record.source.special[group[0]]]


def labels(record: Record) -> tuple[str, ...]:
    """The words of the text, as the rows and columns of a map of the encoder are called."""
    return tuple(
        head_view.view(record.attention("encoder"), 0, 0, query=record.rows("encoder"), words=True).query_labels
    )


def map_of(record: Record, side: str, head: Head, word: int, beside: Record | None) -> None:
    """A large map of one head of the encoder, in which the row of a word is framed; one that is chosen here
    is framed in the other map, too. ``beside``: the other record."""
    places = _spoken(record)

    def follow(choice: Choice) -> None:
        if choice.row in places:
            st.session_state[_WORD] = record.source_text, places.index(choice.row)

    canvas.show(
        record.attention("encoder"),
        key=f"side_{side}",
        overview=False,
        label=record.model.name,
        choice=Choice(head.layer, head.head, row=places[min(word, len(places) - 1)] if places else 0),
        query=record.rows("encoder"),
        words=True,
        page_keys=False,
        colors=pick.colors_of_words(record).sides("encoder"),
        plain=not levels.at_least("intermediate"),
        beside=() if beside is None else labels(beside),
        on_change=follow,
    )
