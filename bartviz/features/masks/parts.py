"""The parts of the masks page: the model's own masks, the formula, a padded batch, other patterns, "about 0"."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np
import streamlit as st

from bartviz.analysis import mask_value, masks, sentence_words
from bartviz.analysis.mask_patterns import PATTERNS, cut, example_bias, pattern
from bartviz.analysis.word_colors import NONE
from bartviz.app.controls import pick, show, tasks
from bartviz.app.frame import levels, page, page_hooks, row_names
from bartviz.arrays import Floats
from bartviz.errors import BartvizError, NotFetched
from bartviz.features.masks import parts_batch as batch
from bartviz.features.masks import parts_downloads as downloads
from bartviz.features.masks import parts_squares
from bartviz.features.masks.figure import TITLES, SharedSize, View, shared_size, square
from bartviz.features.masks.figure_patterns import gallery, row_bars
from bartviz.language import _, mark
from bartviz.record.attention import Attention, Kind
from bartviz.record.record import Reading, Record
from bartviz.record.softmax import masked_softmax

if TYPE_CHECKING:
    import plotly.graph_objects as go

NUMBER_NAMES: Mapping[str, str] = {name: "-3.4e38" if name == "lowest" else name for name in mask_value.NUMBERS}
ADDED: View = "additive"
VIEW_NAMES: Mapping[View, str] = {
    "pattern": mark("what is hidden"),
    ADDED: mark("numbers added"),
    "weights": mark("weights"),
}
SMALL = 312  # pixels of a square with its labels, which is a third of the page wide
MOST = 24  # tokens to which a pattern is applied
RELATIVE, DRAW = "relative", "draw"
TEXTS = ("The cat sleeps.", "Yes!")
OLDER = ("row_decoder", "row_cross", "row_encoder")  # address words of links in which each square had its own row
_BATCH = "_masks_batch"
_HINT = mark(
    "The cells that a mask hides; the numbers that the formula adds; the weights that remain in a head; or a mask of "
    "your own, with which the model then runs."
)


@dataclass(frozen=True, slots=True)
class Shown:
    """How the squares are shown: the view, the added number, the layer and head of the weights, the row that is
    framed, and what names the rows of a decoder."""

    view: View
    number: str
    layer: int
    head: int
    row: int
    reading: Reading = "reads"


def choose(record: Record) -> Shown | None:
    """The pickers above the squares; only those that the view needs are drawn. None: a mask is drawn by hand."""
    which, naming = st.columns([2.7, 2.1], vertical_alignment="center")
    with which:
        views = [view for view in VIEW_NAMES if view != ADDED or _asks_for_numbers()]
        names = {str(view): _(VIEW_NAMES[view]) for view in views} | {DRAW: _("draw your own")}
        word = pick.one_of(_("Show"), names, key="view", hint=_(_HINT) if levels.at_least("intermediate") else None)
    if word == DRAW:
        return None
    view = cast("View", word)
    if view == "pattern" and not levels.at_least("intermediate") and not page_hooks.current().leads():
        do = [_("Touch a row to see how much it may look at.")]
        if _hides(record):
            said = _(
                "Each row is a word that is read, or about to be written. Coloured: what it may look at. Hatched: what "
                "is hidden from it."
            )
            do.insert(0, said)
        with naming:
            show.what_to_do(" ".join(do))
    shapes = [record.attention(kind).shape for kind in record.kinds]
    kind = pick.shown_kind(record)
    reading: Reading = "reads"
    if record.output is not None:
        reading = row_names.choose(naming)
    _follow_older_link()
    pick.shown_row(record, kind)  # of this text
    row = parts_squares.row(max(shape[2] for shape in shapes), pick.first_row(record, kind))
    number, shown = "lowest", pick.shown_head(record, kind)
    layer, head = shown.layer, shown.head
    if view == ADDED:
        number = pick.one_of(_("A closed cell gets"), NUMBER_NAMES, key="number", default="lowest")
    if view == "weights":
        left, right, meaning = st.columns([1.6, 1.6, 1.6], vertical_alignment="center")
        first = pick.first_head(record, kind)
        with left:
            layer = pick.index(_("Layer"), max(shape[0] for shape in shapes), key="layer", default=first.layer)
        with right:
            head = pick.index(_("Head"), max(shape[1] for shape in shapes), key="head", default=first.head)
        told = [_("The stronger a cell's colour, the more its row looks there; a faint cell is allowed, too.")]
        if _hides(record):
            told.append(_("Hatched: it is hidden."))
        with meaning:
            show.what_to_do(" ".join(told))
    return Shown(view, number, layer, head, row, reading)


def _hides(record: Record) -> bool:
    """Whether a mask of the record closes any cell."""
    return not all(record.attention(kind).mask.all() for kind in record.kinds)


def _asks_for_numbers() -> bool:
    """The numbers that are added are part of the formula, which beginners see only by a link or in a lesson."""
    asked = ADDED in (st.query_params.get("view"), st.session_state.get("view"))
    return asked or levels.at_least("intermediate")


def _follow_older_link() -> None:
    """Choose the row of an older link, the decoder's if it names several."""
    given = [st.query_params.pop(key) for key in OLDER if key in st.query_params]
    if given and "row" not in st.query_params:
        st.query_params["row"] = given[0]
        if given[0].isdecimal() and len(given[0]) < 6:
            st.session_state["row"] = int(given[0])


def squares(record: Record, shown: Shown) -> None:
    """One square for each kind, its row framed, with a sentence on what that row may see."""
    told = levels.at_least("intermediate")
    shapes = {kind: masks.shape(record.attention(kind).mask) for kind in record.kinds}
    drawn = [
        parts_squares.square(
            record.attention(kind),
            _title(kind, shapes[kind], shown.view, told=told),
            view=shown.view,
            number=shown.number,
            layer=shown.layer,
            head=shown.head,
            query=record.rows(kind, shown.reading),
            colors=pick.colors_of_words(record).sides(kind, shown.reading),
            partners=_partners(record, shown.reading) if kind == "encoder" else (),
            plain=not told,
        )
        for kind in record.kinds
    ]
    with st.container(key="squares"):
        parts_squares.show(drawn, row=shown.row, key="mask_squares")


def _title(kind: Kind, shape: masks.Shape, view: View, *, told: bool) -> str:
    """What a square is titled; a beginner's title of weights has the head in words, and no room for more."""
    if told:
        return f"{_(TITLES[kind])}: {shape.name}"
    return _(TITLES[kind]) if view == "weights" else f"{_(TITLES[kind])}: {shape.plain}"


def _partners(record: Record, reading: Reading) -> list[int]:
    """The row of the encoder for each row of the decoder: where the word of the same colour begins, -1 for none."""
    if record.cross is None:
        return []
    rows, source = pick.colors_of_words(record).sides("cross", reading)
    return [source.index(number) if number != NONE and number in source else -1 for number in rows]


def _square(attention: Attention, shown: Shown, title: str, within: SharedSize, *, key: str) -> None:
    st.markdown(f"**{title}**")
    row = min(shown.row, attention.shape[2] - 1)
    sentence = masks.row_sentence(attention, row)
    figure = partial(
        square,
        attention,
        view=shown.view,
        row=row,
        dark=page.dark(),
        height=SMALL + (40 if shown.view == "weights" else 0),
        within=within,
    )
    show.figure(figure, key=f"square_{attention.kind}{key}", alt=f"{title}. {sentence}")
    show.note(sentence)


def formula(attention: Attention, number: str) -> None:
    """The formula with the mask, in this model's own numbers."""
    width = attention.queries.shape[-1]
    scaled = (
        rf"\frac{{QK^{{\mathsf T}}}}{{\sqrt{{{width}}}}}"
        if np.isclose(attention.scale, width**-0.5)
        else r"QK^{\mathsf T}"
    )
    bias = r" + B_{\text{relative}}" if attention.bias is not None else ""
    value = {"-10,000": "-10^4", "-1e9": "-10^9", "lowest": r"-3.4\cdot10^{38}", "-inf": r"-\infty"}[number]
    opened, shut = _("if open,"), _("if closed")
    closed = rf"\underbrace{{M}}_{{0\text{{ {opened} }}{value}\text{{ {shut}}}}}"
    st.latex(rf"\operatorname{{softmax}}\Bigl({scaled}{bias} + {closed}\Bigr)\,V")


def padding(record: Record) -> None:
    """A batch of unequal lengths: the current text and two shorter ones, padded to the longest. Raises
    WeightsOnlyError."""
    record.expect_model()
    st.markdown(
        _(
            "A model can run several texts in one pass only if they are equally long, so the shorter ones "
            "are padded. The mask closes the padding to every row: **its columns get no weight**, whatever "
            "the scores are."
        )
    )
    with st.form("batch", border=False):
        boxes = st.columns(len(TEXTS))
        others = [
            box.text_input(_("Text {number}", number=place + 2), text, max_chars=300, key=f"batch_{place}")
            for place, (box, text) in enumerate(zip(boxes, TEXTS, strict=True))
        ]
        submitted = st.form_submit_button(_("Run the three texts in one pass"))
    if submitted:
        try:
            ran = batch.run(record.model.name, [record.source_text, *others])
            st.session_state[_BATCH] = (record, ran)
        except BartvizError as error:
            st.error(show.plain(str(error)))
            if isinstance(error, NotFetched):
                tasks.offer(error, key="fetch_batch")
    kept = st.session_state.get(_BATCH)
    if kept is not None and kept[0] is record:
        _batch(kept[1])


def _batch(records: tuple[Record, ...]) -> None:
    """The padded squares of each text, and the share of the pass that is padding."""
    kind: Kind = "encoder" if records[0].encoder is not None else "decoder"
    attentions = [record.attention(kind) for record in records]
    lengths = [int(one.mask.any(axis=0).sum()) for one in attentions]
    total, filled = attentions[0].shape[3] * len(attentions), attentions[0].shape[3] * len(attentions) - sum(lengths)
    show.lead(
        _(
            "{lengths} tokens, padded to {longest} each: {filled} of {total} columns are padding "
            "({share:.0%}), computed and thrown away.",
            lengths=", ".join(map(str, lengths)),
            longest=attentions[0].shape[3],
            filled=filled,
            total=total,
            share=filled / total,
        )
    )
    weights = pick.switch(_("Weights of L0H0"), key="batch_weights")
    rows = attentions[0].shape[2]
    heads = Shown(
        "weights" if weights else "pattern",
        "lowest",
        0,
        0,
        pick.index(_("Row"), rows, key="batch_row", default=rows // 2),
    )
    downloads.batch(attentions)
    with st.container(key="squares_batch"):
        columns = st.columns(len(attentions), gap="medium")
    for number, (column, one) in enumerate(zip(columns, attentions, strict=True)):
        with column:
            title = _("Text {number}: {count} tokens", number=number + 1, count=lengths[number])
            _square(one, heads, title, shared_size(attentions), key=f"_batch{number}")


def patterns(record: Record) -> None:
    """The gallery, and the effect of one pattern on a row of this text's own scores."""
    st.html(gallery(16, dark=page.dark()))
    kind: Kind = "encoder" if record.encoder is not None else "decoder"
    short = cut(record.attention(kind), MOST)
    names = {name: known.title for name, known in PATTERNS.items()} | {RELATIVE: _("relative bias")}
    left, right = st.columns([1, 1.6], gap="large")
    with left:
        name = _pattern_name(names)
        settings = _settings(name)
        layer = pick.index(_("Layer"), short.shape[0], key="pattern_layer")
        head = pick.index(_("Head"), short.shape[1], key="pattern_head")
        row = pick.index(_("Row"), short.shape[2], key="pattern_row", default=short.shape[2] // 2)
    before, after, changed = _effect(short, name, settings, layer, head)
    with right:
        bars = _row_bars(changed, before, after, row, names[name])
        _show_effect(changed, bars, row, names[name])
        sentence = _(
            "Scores of {head}, {count} tokens of this text: the same for every pattern.",
            head=sentence_words.head(kind, layer, head),
            count=short.shape[2],
        )
        caveat = f" {_('The bias is made up; a trained model has learned it.')}" if name == RELATIVE else ""
        show.note(sentence + caveat)
        downloads.effect(changed, before, after, row, name, bars)


def _pattern_name(names: Mapping[str, str]) -> str:
    name = pick.select(_("Pattern"), names, key="pattern", default="window")
    bias = _("T5 adds a learned number for each distance (Raffel et al. 2020).")
    show.note(bias if name == RELATIVE else PATTERNS[name].note)
    return name


def _settings(name: str) -> dict[str, int]:
    known = {} if name == RELATIVE else PATTERNS[name].settings
    return {
        key: setting.lowest
        + pick.index(
            _("{setting}, from {lowest}", setting=sentence_words.capitalized(setting.title), lowest=setting.lowest),
            9,
            key=f"set_{key}",
            default=setting.default - setting.lowest,
        )
        for key, setting in known.items()
    }


def _effect(
    short: Attention, name: str, settings: Mapping[str, int], layer: int, head: int
) -> tuple[Floats, Floats, Attention]:
    """The weights (n, n) with nothing closed and with the pattern, and the attention with the pattern."""
    n = short.shape[2]
    scores = short.scores(layer, head)
    before = masked_softmax(scores.copy(), short.mask)
    if name == RELATIVE:
        bias = np.broadcast_to(example_bias(n), (short.shape[1], n, n))
        return before, masked_softmax(scores + example_bias(n), short.mask), replace(short, bias=bias)
    changed = replace(short, mask=pattern(name, n, **settings))
    return before, masked_softmax(scores, changed.mask), changed


def _row_bars(changed: Attention, before: Floats, after: Floats, row: int, title: str) -> partial[go.Figure]:
    return partial(
        row_bars,
        before[row],
        after[row],
        changed.key.labels,
        kind=changed.kind,
        mask=changed.mask[row],
        special=changed.key.special,
        name=_("with {pattern}", pattern=title),
        dark=page.dark(),
    )


def _show_effect(changed: Attention, bars: partial[go.Figure], row: int, title: str) -> None:
    left, right = st.columns([1, 1.5])
    view: View = "additive" if changed.bias is not None else "pattern"
    with left:
        drawn = partial(square, changed, view=view, row=row, dark=page.dark(), height=320)
        alt = f"{_('Pattern: {name}.', name=title)} {masks.row_sentence(changed, row)}"
        show.figure(drawn, key="pattern_square", alt=alt)
    with right:
        alt = _("Weights of one row with and without {pattern}", pattern=title)
        show.figure(bars, key="pattern_row_bars", alt=alt)


def zero(record: Record) -> None:
    """When "about 0" is exactly 0, in computed numbers; and a row that may look nowhere."""
    kind: Kind = "encoder" if record.encoder is not None else "decoder"
    short = cut(record.attention(kind), MOST)
    limits = ", ".join(
        _("{limit} in {format}", limit=math.floor(mask_value.exactly_zero_from(to)), format=to)
        for to in mask_value.FORMATS
    )
    st.markdown(
        _(
            "Adding a number does not forbid anything, it only makes a weight small. Below a limit the "
            "format has no smaller number and the weight is **exactly 0**: computed here, from {limits} on. "
            "With -10 a closed key would still get {weight:.6f} next to an open one with the same score.",
            limits=limits,
            weight=np.exp(-10.0),
        )
    )
    number, to, at = st.columns(3, vertical_alignment="center")
    with number:
        name = pick.one_of(_("A closed cell gets"), NUMBER_NAMES, key="zero_number", default="-10,000")
    with to:
        given = pick.one_of(_("Number format of the scores"), mask_value.FORMATS, key="zero_format")
    with at:
        row = pick.index(_("Row"), short.shape[2], key="zero_row")
    format_ = cast("mask_value.Format", given)
    _closed_row(short, row, name, format_)
    if short.shape[3] > 1:
        frame = mask_value.compare_numbers(short.scores(0, 0)[row])
        title = _("Every number in every format, for this row")
        show.table(frame, title=title)
        show.downloads("masks-zero", title=title, table=frame)


def _closed_row(short: Attention, row: int, name: str, to: mask_value.Format) -> None:
    """The weights of a row that may look nowhere, hatched because they are meaningless."""
    scores = short.scores(0, 0)[row]
    none = np.zeros(scores.size, np.bool_)
    before = mask_value.softmax_added(scores, ~none, 0.0, to)
    after = mask_value.softmax_added(scores, none, mask_value.number_of(name, to), to)
    outcome = mask_value.outcome(after, before)
    show.lead(
        _("If every key were closed to {token}: {outcome}", token=masks.quote(short.query.labels[row]), outcome=outcome)
    )
    figure = partial(
        row_bars,
        before,
        np.nan_to_num(after),
        short.key.labels,
        kind=short.kind,
        mask=none,
        special=short.key.special,
        name=_("with everything closed"),
        dark=page.dark(),
    )
    show.figure(figure, key="closed_row", alt=_("Weights of a row with every key closed"))
