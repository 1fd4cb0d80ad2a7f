"""The pickers of the pages: each is in the address under its key, and clamped to the record.

The address holds words, never labels: the caller translates the labels. A value from a link or an earlier record is
clamped before it is used as an index. A choice carries over to every page with the same key, so two pages whose options
differ use different keys.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import streamlit as st

from bartviz.analysis import sentence_words, start, word_colors
from bartviz.analysis.word_colors import WordColors
from bartviz.analysis.words import word_groups
from bartviz.app.controls import show
from bartviz.app.state import content, url_state
from bartviz.app.state.result_cache import cached
from bartviz.app.state.url_state import Words
from bartviz.language import _
from bartviz.record.attention import Head, Kind
from bartviz.record.record import Reading, Record

if TYPE_CHECKING:
    from bartviz.app.streamlit_internals import DeltaGenerator

Options = Sequence[str] | Mapping[str, str]
N = TypeVar("N", int, float)
HEAD_OF, ROW_OF = "_head_of", "_row_of"  # the kind that the layer and head belong to, the text that the row does
_TYPED = 50  # characters that a visitor may type
_INTEGER = re.compile(r"[0-9]{1,5}(\.0)?")


def one_of(label: str, options: Options, *, key: str, default: str | None = None, hint: str | None = None) -> str:
    """One of a few words, side by side; if ``options`` is a mapping, its values are the translated labels."""

    def draw(names: Mapping[str, str], word: str) -> object:
        return st.segmented_control(
            label, list(names), default=word, format_func=names.__getitem__, key=key, help=hint, required=True
        )

    return _one(options, key, default, draw)


def select(label: str, options: Options, *, key: str, default: str | None = None, hint: str | None = None) -> str:
    """One of many words, in a dropdown; otherwise like ``one_of``."""

    def draw(names: Mapping[str, str], word: str) -> object:
        words = list(names)
        return st.selectbox(label, words, index=words.index(word), format_func=names.__getitem__, key=key, help=hint)

    return _one(options, key, default, draw)


def or_typed(
    label: str, options: Options, *, key: str, default: str | None = None, hint: str | None = None, most: int = _TYPED
) -> str:
    """One of some words, or text that the visitor types, of which the first ``most`` characters count."""
    names = _names(options)
    first = _first(names, default)
    held = st.session_state.get(key)

    def parse(given: Words) -> Words | None:
        return ((_word(given[-1], names) or given[-1])[:most],) if given and given[-1].strip() else None

    (word,) = url_state.resolve(key, (held,) if isinstance(held, str) and held else None, parse, (first,))
    if url_state.must_be_set(key, held, word):
        st.session_state[key] = word
    words = list(names) if word in names else [*names, word]
    chosen = st.selectbox(
        label,
        words,
        index=words.index(word),
        format_func=lambda each: names.get(each, each),
        key=key,
        help=hint,
        accept_new_options=True,
    )
    word = str(chosen)[:most] if chosen else first
    url_state.publish(key, (word,), (first,))
    return word


def several(
    label: str,
    options: Options,
    *,
    key: str,
    default: Sequence[str] = (),
    hint: str | None = None,
    placeholder: str | None = None,
) -> tuple[str, ...]:
    """Any number of words, in the order chosen; for none the address has ``?key=``."""
    names = _names(options)
    first = tuple(word for word in default if word in names)

    def parse(given: Words) -> Words | None:
        words_found = tuple(dict.fromkeys(word for part in given if (word := _word(part, names)) is not None))
        return words_found if words_found or given in ((), ("",)) else None

    held = st.session_state.get(key)
    had = tuple(held) if isinstance(held, list | tuple) else None  # another page may hold a single word under this key
    asked = st.query_params.get_all(key) if url_state.opened(key) else []
    words = url_state.resolve(key, had, parse, first)
    unknown = [part for part in asked if part and _word(part, names) is None]
    if unknown:
        url_state.invalid_choice(key, ", ".join(unknown), " ".join(words))
    if url_state.must_be_set(key, held if had is None else had, words):
        st.session_state[key] = list(words)
    chosen = st.multiselect(
        label, list(names), list(words), format_func=names.__getitem__, key=key, help=hint, placeholder=placeholder
    )
    url_state.publish(key, tuple(chosen), first)
    return tuple(chosen)


def tabs(names: Mapping[str, str], *, key: str, default: str | None = None) -> tuple[str, DeltaGenerator]:
    """Tabs by word and translated label; returns the word of the open tab, and its container."""
    first = _first(names, default)
    label: str | None = st.session_state.get(key)
    held = None if label is None else _word(label, names)
    (word,) = url_state.resolve(key, None if held is None else (held,), _parser(names), (first,))
    if (label is None and word != first) or url_state.must_be_set(key, label, names[word]):
        st.session_state[key] = names[word]
    drawn = st.tabs(list(names.values()), default=names[first], key=key, on_change="rerun")
    opened = next(((name, tab) for name, tab in zip(names, drawn, strict=True) if tab.open), (first, drawn[0]))
    url_state.publish(key, (opened[0],), (first,))
    return opened


def popover(label: str, *, key: str) -> tuple[DeltaGenerator, bool]:
    """A popover, and whether what it holds is on the screen: while it is closed the browser shows none of its fields
    and sends what they had before a click elsewhere chose something else (``url_state.hold``)."""
    drawn = st.popover(label, key=key, width="stretch", on_change="rerun")
    before, st.session_state[f"_{key}_open"] = st.session_state.get(f"_{key}_open", False), drawn.open
    return drawn, bool(before and drawn.open)  # in the run that opens it, the fields are told what to show


def index(
    label: str,
    count: int,
    *,
    key: str,
    default: int = 0,
    hint: str | None = None,
    names: Sequence[str] = (),
    shown: bool = True,
) -> int:
    """An index 0 ... count - 1 on a slider; draws nothing if there is only one. ``count`` >= 1.

    ``names`` of what is counted, as the tokens of a text: that of the chosen one follows the label. ``shown``: whether
    the slider is on the screen (``popover``).
    """
    last = count - 1
    first = min(max(default, 0), last)
    if last < 1:
        st.session_state.pop(key, None)
        return 0
    url_state.carry(key, first)
    if not shown:
        url_state.hold(key, first)
    asked = st.query_params.get(key, "") if url_state.opened(key) else ""
    url_state.clamp(key, 0, last)
    if names:
        held = st.session_state.get(key, int(asked) if asked in map(str, range(count)) else first)
        label = f"{label}: {show.plain(names[min(max(int(held), 0), last)])}"
    value = min(max(int(st.slider(label, 0, last, first, key=key, bind="query-params", help=hint)), 0), last)
    if asked and asked not in map(str, range(count)):
        url_state.invalid_choice(key, asked, str(value))
    url_state.keep(key, value, first)
    return value


def slider(label: str, low: N, high: N, default: N, step: N, *, key: str, hint: str | None = None) -> N:
    """A number from ``low`` to ``high`` on a slider."""
    wrong = url_state.within(key, low, high, whole=isinstance(low, int))
    value = st.slider(label, low, high, default, step, key=key, bind="query-params", help=hint)
    value = min(max(value, low), high)  # the browser may still send one of an earlier range
    url_state.number(key, wrong, value)
    return value


def switch(label: str, *, key: str, default: bool = False, hint: str | None = None) -> bool:
    """A toggle."""
    url_state.carry(key, default)
    value = bool(st.toggle(label, default, key=key, bind="query-params", help=hint))
    url_state.keep(key, value, default)
    return value


def kind(record: Record, counts: Mapping[Kind, int] | None = None) -> Kind:
    """One of the record's kinds of attention (URL ``kind``), at first that of the start page. ``counts``: a number that
    is written behind the name of each."""
    names: dict[str, str] = {kind: sentence_words.kind_alone(kind) for kind in record.kinds}
    if counts is not None:
        names = {kind: f"{name} ({counts[kind]})" for kind, name in zip(record.kinds, names.values(), strict=True)}
    chosen = one_of(_("Attention"), names, key="kind", default=start.kind_of(record))
    return next(kind for kind in record.kinds if kind == chosen)


def shown_kind(record: Record) -> Kind:
    """The kind of attention that has been chosen, on any page, else that of the start page."""
    asked = url_state.asked("kind")
    return next((kind for kind in record.kinds if kind in asked), start.kind_of(record))


def layer(record: Record, kind: Kind, *, default: int | None = None, shown: bool = True) -> int:
    """A layer of that kind (URL ``layer``), counted from 0; at first that of ``first_head``."""
    first = _of_kind(record, kind).layer if default is None else default
    return index(_("Layer"), record.attention(kind).shape[0], key="layer", default=first, shown=shown)


def head(record: Record, kind: Kind, *, default: int | None = None, shown: bool = True) -> int:
    """A head of that kind (URL ``head``), counted from 0; at first that of ``first_head``."""
    first = _of_kind(record, kind).head if default is None else default
    return index(_("Head"), record.attention(kind).shape[1], key="head", default=first, shown=shown)


def first_head(record: Record, kind: Kind) -> Head:
    """The head that a page shows before any is chosen: the same for a record on every page."""
    return cached(partial(start.head_of, record, kind))


def at_hand(record: Record) -> Head:
    """The head that the visitor has looked at on another page; before that, the one of the start page's picture."""
    words = {key: found[0] for key, found in url_state.chosen().items() if found}
    usual = start.kind_of(record)
    kind = next((kind for kind in record.kinds if kind == words.get("kind")), usual)
    first, shape = first_head(record, kind), record.attention(kind).shape
    layer, head = (
        int(float(words.get(key, default))) for key, default in (("layer", first.layer), ("head", first.head))
    )
    return Head(kind, layer, head) if layer < shape[0] and head < shape[1] else first


def one_head(
    record: Record, kind: Kind, left: DeltaGenerator | None = None, right: DeltaGenerator | None = None
) -> tuple[int, int]:
    """The layer and the head of that kind, each in its container if there are two; at first ``first_head``."""
    with left or nullcontext():
        layer_ = layer(record, kind)
    with right or nullcontext():
        return layer_, head(record, kind)


def shown_head(record: Record, kind: Kind) -> Head:
    """The head of that kind that has been chosen, on any page, else ``first_head``: for a page without pickers."""
    first = _of_kind(record, kind)
    layers, heads = record.attention(kind).shape[:2]
    layer, head = url_state.number_chosen("layer"), url_state.number_chosen("head")
    return Head(
        kind,
        first.layer if layer is None else min(layer, layers - 1),
        first.head if head is None else min(head, heads - 1),
    )


def put_head(record: Record, head: Head) -> None:
    """Choose a head in another form than by its layer and number; other pages then show it for its kind."""
    if head != shown_head(record, head.kind):
        url_state.put_number("layer", head.layer)
        url_state.put_number("head", head.head)


def _of_kind(record: Record, kind: Kind) -> Head:
    """Let the layer and head be those of one kind, which has its own; returns its first head."""
    first = first_head(record, kind)
    url_state.belong(HEAD_OF, kind, {"layer": first.layer, "head": first.head})
    return first


def colors_of_words(record: Record) -> WordColors:
    """The colours of the record's words, the same on every page."""
    head = first_head(record, "cross") if record.cross is not None else None
    return cached(partial(word_colors.of, record, head))


def first_row(record: Record, kind: Kind) -> int:
    """The row that a page shows before any is chosen: that of the word which the start page is about."""
    return cached(partial(start.row_of, record, kind))


def row(
    record: Record, kind: Kind, count: int, *, label: str | None = None, words: bool = False, names: Sequence[str] = ()
) -> int:
    """A row of that kind (URL ``row``), counted from 0, of its tokens or, with ``words``, of its words.

    The row is a word of the text that is shown: kinds whose rows are the same words have it in common, and a new text
    begins with its own. ``names``: as for ``index``.
    """
    first = first_row(record, kind)
    first = _word_of(record, kind, first) if words else first
    _of_side(record, kind, first, words=words)
    return index(label or _("Row"), count, key="row", default=first, names=names)


def shown_row(record: Record, kind: Kind) -> int | None:
    """The row of tokens that has been chosen, on any page; None before any choice."""
    _of_side(record, kind, first_row(record, kind), words=False)
    return url_state.number_chosen("row")


def linked_row(record: Record, kind: Kind) -> int | None:
    """``shown_row`` on a page that has no picker for it: also that of a link and of the browser's Back; the page
    publishes the row that it shows."""

    def number(words: Words) -> Words:
        return tuple(str(int(float(word))) for word in words[-1:] if _INTEGER.fullmatch(word))

    shown_row(record, kind)  # of this text
    words = url_state.resolve("row", None, number, ())
    return int(words[0]) if words else None


def put_row(record: Record, kind: Kind, row: int) -> None:
    """Choose a row of tokens in another form than by its number, as by a step of the output."""
    if row != shown_row(record, kind):
        url_state.put_number("row", row)


def _of_side(record: Record, kind: Kind, first: int, *, words: bool) -> None:
    """Let the row be one of this kind's tokens, or of its words."""
    side = "source" if kind == "encoder" else "output"
    text = content.key(record.model.name, record.texts, record.target_text, side)
    to, other = (f"{text} words", f"{text} tokens") if words else (f"{text} tokens", f"{text} words")
    held = url_state.number_chosen("row")
    same = url_state.owner(ROW_OF) == other and held is not None and not url_state.opened("row")
    url_state.belong(ROW_OF, to, {"row": first})
    if same and held is not None:  # only what is counted has changed
        groups = word_groups(record.rows(kind))
        url_state.put_number("row", _word_of(record, kind, held) if words else groups[min(held, len(groups) - 1)][0])


def _word_of(record: Record, kind: Kind, row: int) -> int:
    """The word of a row of tokens."""
    groups = word_groups(record.rows(kind))
    return next((word for word, tokens in enumerate(groups) if row in tokens), 0)


def reading() -> Reading:
    """How decoder rows are labelled (URL ``reading``): by the token a row reads, or by the one it predicts."""
    names = {"predicts": _("token it predicts"), "reads": _("token it reads")}
    chosen = one_of(_("Rows are named by"), names, key="reading")
    return "reads" if chosen == "reads" else "predicts"


def by_words(*, default: bool = False) -> bool:
    """Whether pieces of a word are merged (URL ``words``): summed over keys, averaged over queries."""
    return switch(_("Merge pieces into words"), key="words", default=default)


def _one(options: Options, key: str, default: str | None, draw: Callable[[Mapping[str, str], str], object]) -> str:
    names = _names(options)
    first = _first(names, default)
    held = st.session_state.get(key)
    (word,) = url_state.resolve(
        key, (held,) if isinstance(held, str) and held in names else None, _parser(names), (first,)
    )
    if url_state.must_be_set(key, held, word):
        st.session_state[key] = word
    chosen = draw(names, word)
    word = str(chosen) if chosen in names else word
    url_state.publish(key, (word,), (first,))
    return word


def _names(options: Options) -> dict[str, str]:
    return dict(options) if isinstance(options, Mapping) else {option: option for option in options}


def _first(names: Mapping[str, str], default: str | None) -> str:
    return default if default is not None and default in names else next(iter(names))


def _parser(names: Mapping[str, str]) -> Callable[[Words], Words | None]:
    def parse(words: Words) -> Words | None:
        word = _word(words[-1], names) if words else None
        return None if word is None else (word,)

    return parse


def _word(text: str, names: Mapping[str, str]) -> str | None:
    """The option for a word or, in older links, for a label (English or translated)."""
    if text in names:
        return text
    meant = {text.casefold(), _(text).casefold()}
    return next((word for word, label in names.items() if {word.casefold(), label.casefold()} & meant), None)


def clicked_head(figure: str, layers: int, heads: int) -> tuple[int, int] | None:
    """The layer and head of the point that was clicked in a figure whose points are counted layer by layer."""
    points = st.session_state[figure].selection.points
    index = points[0].get("point_index") if points else None
    return divmod(index, heads) if isinstance(index, int) and 0 <= index < layers * heads else None
