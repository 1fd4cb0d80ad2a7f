"""Helpers that show a sentence, a figure, the text shaded by weights, or a table, and offer files.

Tokens and visitors' texts are escaped here and never reach Markdown.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar
from zlib import crc32

import numpy as np
import streamlit as st
from numpy.typing import ArrayLike

from bartviz.analysis import sentence_words
from bartviz.analysis.word_colors import NONE, Numbers
from bartviz.app.components.invisible import unseen
from bartviz.app.controls import expander, export, large_type
from bartviz.app.controls.columns import CELLS, COLUMNS, HEADS
from bartviz.app.controls.export import File
from bartviz.app.state import result_cache
from bartviz.drawing.colors import underline
from bartviz.errors import BudgetError, WeightsOnlyError
from bartviz.language import _
from bartviz.language.percentages import percent
from bartviz.reading.encodings import megabytes
from bartviz.record.attention import Kind
from bartviz.serving import torch_import
from bartviz.text.labels import CONTINUES
from bartviz.text.tokens import Tokens

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from bartviz.app.streamlit_internals import DeltaGenerator
    from bartviz.drawing.paper import Picture
    from bartviz.record.record import Record

_SIDEWAYS = unseen("sideways", Path(__file__).parents[1] / "components" / "sideways" / "sideways.js")
T = TypeVar("T")
Maybe: TypeAlias = T | Callable[[], T] | None
_MARKDOWN = re.compile(r"([!-/:-@\[-`{-~])")  # every ASCII character that may be Markdown syntax
_ALL_HEADS = "bartviz-all-heads.csv"
_EXPLORER = "bartviz-explorer.html"
_MOST_EXPLORED = 50_000_000  # weights of a record whose explorer a server makes: some ten seconds of work
_ROW_BYTES = 40  # about, of one weight in the table of all heads
_LARGE = 1 << 20  # bytes of a file whose size its button states
INK_TURNS = 0.55  # above this share of the kind's colour, letters turn light


def plain(text: str) -> str:
    """The text escaped for places that render Markdown (labels, errors)."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def place(key: str) -> DeltaGenerator:
    """Reserve space for content that is computed later; a first.css sets the height for its key."""
    reserved = st.container(key=key, gap=None)
    reserved.html("<i hidden></i>")  # an empty container would not be there
    return reserved.container()


def halves(
    key: str, widths: Sequence[float], *, align: Literal["center", "bottom"] = "bottom", after: bool = False
) -> list[DeltaGenerator]:
    """Columns of small controls, two in a line on a phone; ``after``: after the first, which has a line of its own."""
    with st.container(key=f"halves_{'after_' if after else ''}{key}"):
        return st.columns(widths, vertical_alignment=align)


@contextmanager
def keeps_focus(key: str) -> Iterator[None]:
    """A container of buttons and of what they bring: if the one that was pressed is gone, the focus goes to the button
    of its name or to the first sentence that it brought (``focus.js``)."""
    with st.container(key=f"focus_{key}"):
        yield


@contextmanager
def sideways(key: str) -> Iterator[None]:
    """A container whose picture scrolls sideways where the window is narrow (the style of its key says so)."""
    with st.container(key=key):
        yield
        with st.container(key=f"sideways_{key}"):
            _SIDEWAYS(key=f"sideways_{key}_script", data={"box": key})


def lead(sentence: str, explains: tuple[str, str] | None = None) -> None:
    """The one sentence on what to notice in *this* text; shown literally, so it may contain tokens. ``explains``: a
    term in it, and its definition, which is shown while the term is pointed at, or has been touched, or has the focus.
    """
    st.html(f"<p class='bv-lead'>{_explained(sentence, explains)}</p>")


def what_to_do(sentence: str) -> None:
    """What a visitor can do in the picture, in the page's own type, above it; shown literally."""
    st.html(f"<p class='bv-do'>{html.escape(sentence)}</p>")


def note(sentence: str, *, keys: str = "", explains: tuple[str, str] | None = None) -> None:
    """A small line next to a control or below a picture; shown literally. ``keys``: for those who have a keyboard;
    ``explains`` as of ``lead``.
    """
    pressed = f" <span class='bv-keys'>{html.escape(keys)}</span>" if keys else ""
    st.html(f"<p class='bv-note'>{_explained(sentence, explains)}{pressed}</p>")


def _explained(sentence: str, explains: tuple[str, str] | None) -> str:
    """The sentence as HTML, with the definition of a term that is marked where it comes first."""
    if explains is None:
        return html.escape(sentence)
    term, said = map(html.escape, explains)
    key = f"role-{crc32(f'{sentence}{term}'.encode())}"
    marked = f"<dfn class='bv-role' tabindex='0' aria-describedby='{key}'>{term}</dfn>"
    definition = f" <span class='bv-definition' role='tooltip' id='{key}'>{said}</span>"
    return html.escape(sentence).replace(term, marked, 1) + definition


def shares_as_bars(shares: Mapping[str, float], *, kind: Kind | None, alt: str) -> None:
    """A large bar for each name, as long as its share (0 to 1), below each other, in the colour of a kind of attention
    (None: grey); ``alt`` says for screen readers what they show."""
    rows = "".join(
        f"<span>{html.escape(name)}</span><i style='--share:{100 * share:.2f}%'></i><b>{percent(share)}</b>"
        for name, share in shares.items()
    )
    color = "" if kind is None else f" style='--kind:var(--bv-{kind})'"
    st.html(f"<div class='bv-shares'{color} role='img' aria-label=\"{html.escape(alt, quote=True)}\">{rows}</div>")


def legend(entries: Mapping[str, Sequence[str]], *, label: str) -> None:
    """What the colours of a picture mean: each meaning with its colours; ``label`` says of what, for screen readers."""
    items = []
    for meaning, colors in entries.items():
        swatches = "".join(f"<i style='background:{color}'></i>" for color in colors)
        items.append(f"<li>{swatches}{html.escape(meaning)}</li>")
    st.html(f"<ul class='bv-parts' aria-label='{html.escape(label, quote=True)}'>{''.join(items)}</ul>")


def spoken(sentence: str) -> None:
    """A line for screen readers alone, which takes no room."""
    st.html(f"<p class='bv-note bv-unseen'>{html.escape(sentence)}</p>")


def missing(error: WeightsOnlyError) -> None:
    """A notice in place of what a record of given weights cannot show."""
    st.info(plain(str(error)))


@contextmanager
def or_missing() -> Iterator[None]:
    """A part of a page, or the notice where a record of given weights cannot show it."""
    try:
        yield
    except WeightsOnlyError as error:
        missing(error)


def figure(
    drawn: partial[go.Figure],
    *,
    key: str,
    alt: str,
    on_click: Callable[[], None] | None = None,
    name: str = "",
    fills: bool = False,
) -> partial[go.Figure]:
    """A plotly figure in its own colours, with an SVG button; ``alt`` describes it in words.

    ``drawn`` is the call that makes the figure, and its cache key; it is returned, for ``downloads``. ``on_click`` is
    called when a point is clicked; ``name`` is the stem of the SVG file, by default the key. ``fills``: it is as high
    as a style makes the element of its key.
    """
    config = {"displaylogo": False, "toImageButtonOptions": {"format": "svg", "filename": name or key}}
    cached = result_cache.figure(drawn, large_type.FACTOR if large_type.on() else 1.0, touched=on_click is not None)
    how: dict[str, Any] = {"height": "stretch"} if fills else {}
    if on_click is not None:
        how |= {"selection_mode": "points", "on_select": on_click}
    st.plotly_chart(cached, key=key, theme=None, config=config, alt=alt, **how)
    return drawn


def running_text(
    tokens: Tokens,
    weights: ArrayLike | None = None,
    *,
    kind: Kind = "encoder",
    chosen: int | None = None,
    label: str = "",
    colors: Numbers = (),
    key: str,
) -> None:
    """The text itself as chips, shaded by weight (n,) in 0..1 with the colour of ``kind``; ``chosen`` is framed.

    Special tokens are small and grey, a word's pieces touch, words are separated; each chip's hover names its weight.
    ``label`` is a small line above, shown literally; ``colors`` are the numbers of the tokens' words
    (``analysis.word_colors``), which underline them. Raises ValueError unless there is one weight per token.
    """
    shading = None if weights is None else np.asarray(weights, dtype=float)
    if shading is not None and shading.shape != (len(tokens),):
        raise ValueError(f"{shading.shape} weights for {len(tokens)} tokens.")
    numbers = colors or [NONE] * len(tokens)
    chips = []
    for index, (special, joined) in enumerate(zip(tokens.special, tokens.joined, strict=True)):
        names = ["bv-chip", *(["bv-special"] if special else []), *(["bv-joined"] if joined else [])]
        written = tokens.labels[index].removeprefix(CONTINUES) or CONTINUES if joined else tokens.labels[index]
        chips.append(
            _chip(written, None if shading is None else shading[index], names, index == chosen, numbers[index])
        )
    above = f"<p class='bv-note'>{html.escape(label)}</p>" if label else ""
    with st.container(key=key):
        st.html(f"{above}<p class='bv-text bv-{kind}' dir='{tokens.direction}'>{''.join(chips)}</p>")


def _chip(label: str, weight: float | None, names: list[str], chosen: bool, number: int = NONE) -> str:
    tooltip, style = "", underline(number)
    if weight is not None:
        share = min(max(weight, 0.0), 1.0)
        tooltip, style = f" title='{weight:.3f}'", f"{style}--w:{100 * share:.1f}%"
        names = [*names, "bv-strong"] if share > INK_TURNS else names
    names = [*names, "bv-chosen"] if chosen else names
    style = f" style='{style}'" if style else ""
    return f"<span class='{' '.join(names)}'{style}{tooltip}>{html.escape(label) or '&nbsp;'}</span>"


def table(
    frame: pd.DataFrame | Callable[[], pd.DataFrame], *, title: str | None = None, key: str | None = None
) -> None:
    """The numbers of a figure in an expander, for screen readers and for anyone who wants to read them.

    It is made and sent when it is opened: the script that draws a table is heavy for a browser. A ``partial`` that
    makes it is cached, like that of a figure. ``key``: what the table is on its page, if its title changes.
    """
    title = title or _("The same numbers as a table")
    st.fragment(_table)(frame, title, key or title)


def _table(frame: pd.DataFrame | Callable[[], pd.DataFrame], title: str, key: str) -> None:
    with expander.section(title, key=key) as opened:
        if not opened:
            return
        if isinstance(frame, partial):
            shown = result_cache.cached(partial(_made_in_words, frame))
        else:
            shown = in_words(frame() if callable(frame) else frame)
        st.dataframe(shown, hide_index=True, column_config=headers(shown))


def _made_in_words(make: partial[pd.DataFrame]) -> pd.DataFrame:
    return in_words(make())


def headers(names: Iterable[object]) -> dict[str, Any]:
    """The translated names of a table's columns, for ``column_config``; files keep the English names."""
    return {str(name): _(str(name)) if name in COLUMNS else str(name) for name in names}


def in_words(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with translated cells, in columns that hold only the app's own words (such as a kind) or heads."""
    texts = {str(name): cells for name, cells in frame.items() if cells.dtype.kind == "O"}
    translatable = {name: cells for name, cells in texts.items() if (values := set(cells.dropna())) and values <= CELLS}
    translated = {name: cells.map(_, na_action="ignore") for name, cells in translatable.items()}
    heads = {
        name: cells.map(sentence_words.heads, na_action="ignore") for name, cells in texts.items() if name in HEADS
    }
    return frame.assign(**translated | heads)


def downloads(
    name: str,
    *,
    title: str = "",
    table: Maybe[pd.DataFrame] = None,
    arrays: Maybe[Mapping[str, ArrayLike]] = None,
    figure: Maybe[go.Figure | str] = None,
    picture: Maybe[Picture] = None,
    passport: Maybe[str] = None,
    record: Record | None = None,
    atlas: Callable[[], bytes] | None = None,
    of: str = "",
) -> None:
    """Add files to the page's download button: CSV (formulas quoted), NPZ, the figure as one offline HTML file, a
    picture for paper as SVG, the passport of a head as a page to print, an atlas as one file, which
    ``bartviz.open_atlas`` reads; and of a record all weights of all heads (CSV), the explorer as one HTML file, and the
    record itself, which ``bartviz.open`` reads. A figure passed as a string is such an HTML file already. A record with
    too many weights for a table gets a note in its place.

    ``name`` is the file's stem, and ``of`` its subject ("cross-L2H5"): the app's words, never a visitor's. ``title``
    says which part of the page it is, in the reader's language; without one, what the page shows at first. Callables
    run only when a file is chosen. The toolbar of a figure, on the page and in its file, saves an SVG.
    """
    from bartviz.analysis import all_heads
    from bartviz.record import store

    stem = f"bartviz-{name}-{of}" if of else f"bartviz-{name}"
    files: list[File] = []
    if table is not None:
        files.append(File("CSV", f"{stem}.csv", "text/csv", lambda: export.csv(_made(table))))
    if arrays is not None:
        files.append(File("NPZ", f"{stem}.npz", "application/octet-stream", lambda: export.npz(_made(arrays))))
    if figure is not None:
        files.append(File("HTML", f"{stem}.html", "text/html", lambda: _page(_made(figure), stem)))
    if picture is not None:
        files.append(File(_("SVG for paper"), f"{stem}.svg", "image/svg+xml", partial(_svg, picture)))
    if passport is not None:
        make = partial(_encoded, passport)
        files.append(File(_("Head report to print"), f"{stem}.passport.html", "text/html", make))
    if atlas is not None:
        files.append(File(_("Atlas"), f"bartviz-{name}.zip", "application/zip", atlas, True))
    if files:
        export.offer(name, title or _("What this page shows"), files, place=1 if title else 0)
    if record is None:
        return
    files, refusal = [], ""
    try:
        files.append(File(_all_heads(all_heads.check(record)), _ALL_HEADS, "text/csv", partial(_weights, record)))
    except BudgetError as error:
        refusal = str(error)
    if all_heads.count(record) <= _MOST_EXPLORED:
        files.append(File(_("Page to explore it"), _EXPLORER, "text/html", partial(_explorer, record)))
    files.append(
        File(
            _("Save to open again"),
            f"{stem}.safetensors",
            "application/octet-stream",
            partial(store.encode, record),
            True,
        )
    )
    whole = _("{part}: the whole run", part=title) if title else _("The whole run")
    export.offer(f"{name}_run", whole, files, refusal, place=2)


def _all_heads(rows: int) -> str:
    """The label of the table of all heads, with its size if that is large."""
    size = rows * _ROW_BYTES
    return _("All heads (CSV, about {size})", size=megabytes(size)) if size > _LARGE else _("All heads (CSV)")


def _weights(record: Record) -> bytes:
    from bartviz.analysis import all_heads

    torch_import.pages()
    return export.csv(all_heads.table(record))


def _explorer(record: Record) -> bytes:
    from bartviz.explorer.file import page

    torch_import.pages()
    return page(record)


def _svg(picture: Picture | Callable[[], Picture]) -> bytes:
    return _made(picture).svg.encode()


def _encoded(page: str | Callable[[], str]) -> bytes:
    return _made(page).encode()


def _page(figure: go.Figure | str, name: str) -> bytes:
    return figure.encode("utf-8", "replace") if isinstance(figure, str) else export.offline_html(figure, name)


def _made(given: T | Callable[[], T]) -> T:
    if not callable(given):
        return given
    torch_import.pages()  # the first page loads without some imports that files need
    return given()
