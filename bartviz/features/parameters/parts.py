"""The parts of the parameters page: the model (or a configuration), its numbers, and the check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from bartviz.analysis import matrix_titles, parameter_totals, plain_words
from bartviz.analysis.costs import BYTES, FLOPS, Costs
from bartviz.analysis.parameters import Parameter, architecture_of, rows_of
from bartviz.app.controls import expander, large_type, pick, show
from bartviz.app.frame import levels, page
from bartviz.app.state import url_state
from bartviz.errors import ModelError
from bartviz.families import config as configs
from bartviz.families.catalogue import CATALOGUE, entry
from bartviz.families.registry import FAMILIES
from bartviz.features.parameters import parts_open as open_area
from bartviz.features.parameters.figure import (
    Area,
    areas,
    hatched,
    level_of,
    shape,
    short,
    strips,
    within,
    without_kind,
)
from bartviz.features.parameters.figure import legend as parts_of_layers
from bartviz.features.parameters.figure import treemap as figure
from bartviz.features.parameters.figure_costs import bytes_text
from bartviz.features.textbook.articles import Claim
from bartviz.language import _, later, mark, named, plural
from bartviz.language.percentages import percent, tenths
from bartviz.models.files import Files
from bartviz.models.location import find
from bartviz.models.roots import default_roots, listed
from bartviz.record.record import Record
from bartviz.serving import torch_import
from bartviz.serving.limits import TYPED

OWN, ALL, NOTHING = "config.json", "all", "none"
COMPONENTS = {
    ALL: mark("all parts"),
    "shared": mark("shared embeddings"),
    "encoder": mark("encoder"),
    "decoder": mark("decoder"),
    "head": mark("output layer"),
}
_HIGH, _HIGH_LARGE = 430, 400  # pixels: a map ends on a laptop's screen, in large type, where it is a fifth higher, too
_GROWTH = 2 * large_type.FACTOR / (large_type.FACTOR + 1)  # of headings there, of which a map's height has half
_OF_PARTS = {"encoder layers": "encoder", "decoder layers": "decoder", "head": "head", "embeddings": "shared"}
SIGNS = {"True": "✓", "It depends": "~", "False": "✗"}
LENGTHS = (16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192)
USUAL = 512  # tokens, if the model can read that many
EXAMPLE = '{"model_type": "bart", "d_model": 512, "encoder_layers": 4, "decoder_layers": 2, "vocab_size": 32000}'
_HINT = mark(
    "Any model of the catalogue, a folder, or your own configuration. Nothing is downloaded: only sizes are needed."
)
_CHECKED, _ASKED = "_checked", "_check_asked"
_LENGTH_BEFORE = "_length_before"  # the length that the model chosen before begins with


@dataclass(frozen=True)
class Chosen:
    """The page's choice: the model's name, its configuration, and the class that is counted."""

    name: str
    title: str
    config: Mapping[str, Any]
    architecture: str

    @property
    def rows(self) -> tuple[Parameter, ...]:
        return rows_of(configs.sizes(self.config), self.architecture)


def choose() -> tuple[Chosen, Chosen | None]:
    """The pickers of model and class (URL ``of`` and ``class``), at first of the sidebar's model; and of a model beside
    it (URL ``beside``), at first none.

    Shows why a configuration is invalid.
    """
    asked = levels.at_least("intermediate") or expander.requested("parameters_class", ("class",))
    model, second, *kind = st.columns([3, 3, 2] if asked else [1, 1])
    folders = [name for name in listed(default_roots()) if entry(name) is None]
    known_names = [*(known.name for known in CATALOGUE), *folders]
    with model:
        names = [*known_names, OWN]
        labels = {name: name for name in names} | {OWN: _("your own config.json")}
        name = pick.select(_("Which model"), labels, key="of", default=_first(names), hint=_(_HINT))
        text = _pasted() if name == OWN else ""
    try:
        config = configs.parse(text) if name == OWN else _known(name)
        sizes = configs.sizes(config)
    except ModelError as refused:
        st.error(show.plain(str(refused)))
        st.stop()
    variants, architecture = sizes.family.variants, architecture_of(config)
    if kind:
        with kind[0]:
            hint = "; ".join(f"{known} {_(variant.does)}" for known, variant in variants.items())
            architecture = pick.select(_("Its class"), [*variants], key="class", default=architecture, hint=hint)
    title = _("Your {family}", family=sizes.family.title) if name == OWN else name.rsplit("/", 1)[-1]
    chosen = Chosen(name, title, config, architecture)
    with second:
        return chosen, _beside([known for known in known_names if known != name])


def _beside(names: Sequence[str]) -> Chosen | None:
    """The model that is compared; None without one, or where its configuration cannot be read."""
    labels = {NOTHING: _("no other model")} | {name: name for name in names}
    name = pick.select(
        _("Compare with"), labels, key="beside", default=NOTHING, hint=_("Another model, on the same scale.")
    )
    if name == NOTHING:
        return None
    try:
        config = _known(name)
        return Chosen(name, name.rsplit("/", 1)[-1], config, architecture_of(config))
    except ModelError as refused:
        st.error(show.plain(str(refused)))
        return None


def _first(names: Sequence[str]) -> str:
    """The model that is chosen in the sidebar, if its parameters can be counted."""
    chosen = str(st.session_state.get("model"))
    return chosen if chosen in names else names[0]


def treemap(
    chosen: Chosen, *, opened: str | None = None, whole: int | None = None, dark: bool, large: bool
) -> go.Figure:
    """Every matrix of the model as an area; ``opened``: the one that is open; ``whole``: the parameters that the whole
    picture stands for; ``large``: whether it is for large type."""
    height, growth = (_HIGH_LARGE, _GROWTH) if large else (_HIGH, 1.0)
    return figure(
        chosen.rows, chosen.title, opened=opened, whole=whole, dark=dark, height=height, growth=growth
    )  # its path is above it, in sight, and reached by keys


def legend(rows: Sequence[Parameter], level: str, *, counted: bool = True) -> None:
    """The colours of the parts of a layer, of what is hatched, and of what has no room for a name, in the area that
    fills the map. ``counted``: with their parameters there, and the share of the model that these are."""
    total, dark, seen = parameter_totals.total(rows), page.dark(), within(rows, level)
    found = {
        plain_words.named(matrix_titles.title(part), part): held
        for part, held in parts_of_layers(seen, dark=dark).items()
    }
    (striped, used), narrow = hatched(seen, of=rows, dark=dark), strips(seen, dark=dark)
    if used:
        names = dict.fromkeys(_name(row.component, without_kind(row.role)) for row in used)
        found[plain_words.named(", ".join(names), "embeddings")] = striped, parameter_totals.total(used)
    if narrow[1]:
        found[_("other (narrow strips)")] = (), narrow[1]  # their colours are also those of the headings
    if found:
        entries = {
            f"{name} · {short(count)} · {tenths(count / total)}" if counted else name: colors
            for name, (colors, count) in found.items()
        }
        show.legend(entries, label=_("Parts of the model"))


def _name(component: str, role: str, layers: int = 0) -> str:
    """A part of the model as it is called beside the map; ``layers``: it is that many layers."""
    side = _(COMPONENTS[component])
    if component == "shared":
        return side
    part = plural("{count} layer", "{count} layers", layers, count=layers) if layers else matrix_titles.title(role)
    return part if component == "head" else f"{side}: {part}"


def two(chosen: Chosen, other: Chosen) -> str:
    """Two models, or one area of both, on one scale, and the parts as a table. Returns the sentence that leads."""
    models = (chosen, other)
    trees = [areas(one.rows, one.title) for one in models]
    opened = open_area.opened(*trees)
    found = [next((area for area in tree if area.id == opened.id), None) for tree in trees]
    whole = opened.id == trees[0][0].id
    if whole:
        show.what_to_do(_("Choose an area, or a part in the table, to open it in both."))
    else:
        open_area.path(trees[0] if found[0] else trees[1], opened, model=f"{chosen.title}, {other.title}")
    counts = [0 if area is None else _fills(tree, area.id) for tree, area in zip(trees, found, strict=True)]
    titled = not whole or min(counts) < max(counts) / 4  # maps do not name the models, or one has no room for it
    for number, (column, one) in enumerate(zip(st.columns(2), models, strict=True)):
        with column:
            if found[number] is None:
                show.note(_("{model} has no such part.", model=one.title))
                continue
            if titled:
                show.note(_("{model} · {count:,} parameters", model=one.title, count=counts[number]))
            alt = _("Areas of {model}: {notice}", model=one.title, notice=parameter_totals.notice(one.rows))
            drawn = partial(
                treemap,
                one,
                opened=None if whole else opened.id,
                whole=max(counts),
                dark=page.dark(),
                large=large_type.on(),
            )
            show.figure(drawn, key="parameters" if number == 0 else "parameters_beside", alt=alt)
    open_area.listen()
    there = next(tree for tree in trees if opened.id in {area.id for area in tree})
    legend([*chosen.rows, *other.rows], level_of(there, opened.id), counted=False)
    show.note(
        _("One scale: fields of the same area have the same number of parameters in both; headings do not count.")
    )
    _both(models, trees, opened)
    if whole:
        return parameter_totals.difference(chosen.rows, other.rows, (chosen.title, other.title))
    first, second = found
    names = {"area": opened.said, "one": chosen.title, "other": other.title}
    if first is None or second is None:
        has, lacks = (other, chosen) if first is None else (chosen, other)
        return _(
            "{area}: {count:,} numbers in {one}; {other} has no such part.",
            **names | {"one": has.title, "other": lacks.title},
            count=opened.count,
        )
    return _("{area}: {count:,} numbers in {one}, {more:,} in {other}.", **names, count=first.count, more=second.count)


def _fills(tree: Sequence[Area], opened: str) -> int:
    """The parameters of the area that fills the map."""
    level = level_of(tree, opened)
    return next(area.count for area in tree if area.id == level)


def _both(models: tuple[Chosen, Chosen], trees: Sequence[Sequence[Area]], opened: Area) -> None:
    """The parts of two models, or of the area that is open in both, as a table."""
    titles = [one.title for one in models]
    if opened.id == trees[0][0].id:
        table = parameter_totals.beside(models[0].rows, models[1].rows, (titles[0], titles[1]))
        ids = {matrix_titles.title(name): opens for name, opens in _OF_PARTS.items()}
        there = [{area.id for area in tree} for tree in trees]
        lines = []
        for part, *counts in table.itertuples(index=False):
            opens = ids.get(part)  # an area of each model that has this part
            if not all(opens in known for known, count in zip(there, counts, strict=True) if count):
                opens = None
            lines.append((opens, (part, *(f"{count:,}" for count in counts))))
        open_area.table([_("Part"), *table.columns[1:]], lines, sums=True)
        return
    level = level_of(next(tree for tree in trees if opened in tree), opened.id)
    parts = [{area.id: area for area in tree if area.parent == level} for tree in trees]
    every = {**parts[0], **{key: area for key, area in parts[1].items() if key not in parts[0]}}
    open_area.table(
        [_("Part"), *titles],
        [
            (key, (area.name, *(f"{of[key].count:,}" if key in of else "–" for of in parts)))
            for key, area in every.items()
        ],
        current=opened.id,
    )


def _known(name: str) -> Mapping[str, Any]:
    """The configuration of a catalogue model, or of a folder in the configured roots; raises ModelError."""
    known = entry(name)
    if known is not None:
        return known.config
    folder = find(name, default_roots())
    if folder is None:
        raise ModelError(later("That folder is no longer there. Choose another model."))
    Files.of(folder, default_roots())  # refused with advice
    return configs.read(folder)


def _pasted() -> str:
    pasted = st.text_area(
        _("Its configuration"),
        EXAMPLE,
        key="config",
        height=110,
        max_chars=TYPED,
        persist_state="session",
        help=_(
            "The config.json of any of the {count} supported families, such as BERT, BART, T5 or Llama. "
            "Values that it leaves out are transformers' defaults.",
            count=len(FAMILIES),
        ),
    )
    st.button(_("Count it"), key="count")  # leaving the field is enough, but a button is easier to find
    return pasted or ""


def numbers(rows: tuple[Parameter, ...], *, detailed: bool) -> None:
    """Next to the map: the parts, or one part's matrices (URL ``part``).

    ``detailed``: beside the correct total the naive one, which counts a shared matrix wherever it is used; else each
    part's share.
    """
    present = [name for name in parameter_totals.COMPONENTS if any(row.component == name for row in rows)]
    names = named({word: COMPONENTS[word] for word in (ALL, *present)})
    asked = detailed or expander.requested("parameters_part", ("part",))
    part = pick.one_of(_("Part"), names, key="part") if asked else ALL
    if part != ALL:
        table = matrices([row for row in rows if row.component == part])
        config = _thousands([_("Parameters")]) | {
            _("Layer"): st.column_config.NumberColumn(width=50),
            _("Role"): st.column_config.TextColumn(width=180),  # longer ones are cut, not the shape
        }
        st.dataframe(table, hide_index=True, height=340, column_config=config, key="matrices", placeholder="–")
        return
    total, naive = parameter_totals.total(rows), parameter_totals.naive(rows)
    if not detailed:
        _parts_table([(part.area, part.name, part.count) for part in _parts(rows) if part.count], total)
        return
    lines: list[open_area.Line] = [
        (part.area if part.count else None, (part.name, f"{part.count:,}", f"{part.used:,}")) for part in _parts(rows)
    ]
    head = (_("Part"), _("Counted once"), _("Wherever used"))
    open_area.table(head, [*lines, (None, (_("sum"), f"{total:,}", f"{naive:,}"))], sums=True)
    if naive == total:
        show.note(_("Every matrix is used in one place: both columns add up to {total:,}.", total=total))
    else:
        show.note(
            _("{total:,} is right. {naive:,} is wrong: {why}", total=total, naive=naive, why=_why_naive_is_wrong(rows))
        )
    show.note(_("Choose a part for its matrices, name by name."))


@dataclass(frozen=True, slots=True)
class _Part:
    """A line next to the map: its name, the area that it opens, its parameters, and those of all matrices it uses."""

    name: str
    area: str
    count: int
    used: int


def _parts(rows: tuple[Parameter, ...]) -> list[_Part]:
    """The parts of the model, all layers of a side as one."""
    found = []
    for component, role, layers, count, used in parameter_totals.coarse(rows):
        own = (
            row.name for row in rows if row.component == component and row.layer is None and row.role.startswith(role)
        )
        opens = component if layers or component == "shared" else next(own)
        found.append(_Part(_name(component, role, layers), opens, count, used))
    return found


def area(tree: Sequence[Area], chosen: Area, total: int) -> None:
    """Next to the map: the parts of the open area, or what is beside the matrix that is open."""
    parts = [one for one in tree if one.parent == chosen.id] or [one for one in tree if one.parent == chosen.parent]
    shapes = [shape(one.row) if one.row is not None else "–" for one in parts]
    _parts_table([(one.id, one.name, one.count) for one in parts], total, shapes, current=chosen.id)
    if chosen.row is not None:
        show.note(_("Name in the files: {name}", name=chosen.row.name))


def said(chosen: Area, total: int) -> str:
    """The open area in a sentence: its parameters and its share of the model; of a matrix also what it does."""
    values = {"area": chosen.said, "count": chosen.count, "share": percent(chosen.count / total)}
    if chosen.row is None:
        return _("{area}: {count:,} numbers, {share} of the model.", **values)
    told = _("{area}: {shape}, {count:,} numbers, {share} of the model.", shape=shape(chosen.row), **values)
    return f"{told} {matrix_titles.does(chosen.row.role)}".rstrip()


def _parts_table(
    parts: Sequence[tuple[str, str, int]], total: int, shapes: Sequence[str] = (), *, current: str | None = None
) -> None:
    """Parts (area, name, parameters) with their shares of the model; ``shapes`` where one of them is a matrix."""
    shaped = any(shape != "–" for shape in shapes)
    head = (_("Part"), *([_("Shape")] if shaped else []), _("Parameters"), _("Share of the model"))
    lines = [
        (key, (name, *([shapes[at]] if shaped else []), f"{count:,}", tenths(count / total)))
        for at, (key, name, count) in enumerate(parts)
    ]
    open_area.table(head, lines, current=current)


def matrices(rows: list[Parameter]) -> pd.DataFrame:
    """The rows as a table: layer, role, shape, parameters, the name in the state dict, what it is shared with."""
    return pd.DataFrame(
        {
            _("Layer"): pd.array([row.layer for row in rows], dtype="Int64"),
            _("Role"): [_(row.role) for row in rows],
            _("Parameters"): [row.count for row in rows],
            _("Shape"): [" × ".join(f"{size:,}" for size in row.shape) for row in rows],
            _("Name"): [row.name for row in rows],
            _("Counted at"): pd.array([row.shared_with for row in rows], dtype="string"),
        }
    )


def _usual_length(costs: Costs) -> int:
    """The length at first: 512 tokens, or the longest below that the model can read."""
    most = min(costs.sizes.positions or USUAL, USUAL)
    return max((count for count in LENGTHS if count <= most), default=LENGTHS[0])


def length(costs: Costs) -> tuple[int, str]:
    """The pickers of the text's length and the number format (URL ``n`` and ``format``), and the resulting cost."""
    slider, formats = st.columns([3, 2], vertical_alignment="bottom")
    with slider:
        asked, usual = "" if "n" in st.session_state else st.query_params.get("n", ""), _usual_length(costs)
        held = st.session_state.get("n", usual)
        if held not in LENGTHS or held == st.session_state.get(_LENGTH_BEFORE) != usual:
            st.session_state["n"] = usual
        st.session_state[_LENGTH_BEFORE] = usual
        chosen = st.select_slider(
            _("Source tokens n"),
            LENGTHS,
            usual,
            key="n",
            bind="query-params",
            help=_("An encoder-decoder writes as many tokens as it reads."),
        )
    with formats:
        dtype = pick.one_of(_("Number format"), list(BYTES), key="format")
    n = chosen if isinstance(chosen, int) else LENGTHS[0]
    url_state.number("n", "" if asked in map(str, LENGTHS) else asked, n)
    table, memory = costs.operations(n), costs.memory(n, dtype=dtype)
    every = int(table["multiply_adds"].sum())
    scores = int(table[table["part"].isin(["scores", "weighted sums"])]["multiply_adds"].sum())
    metrics = (
        (_("Multiply-adds of one pass"), _big(every), f"{_big(FLOPS * every)} FLOPs"),
        (_("Scores and sums"), percent(scores / every), _("of them; this part grows with n²")),
        (_("Attention of all heads"), bytes_text(memory.attention), _("if it is kept, in float32")),
        (_("Queries and keys instead"), bytes_text(memory.captured), _("what a record keeps")),
    )
    with st.container(horizontal=True, gap="small", key="told"):
        for label, value, note in metrics:
            with st.container(width=178, gap=None):
                st.metric(label, value)
                show.note(note)
    if costs.sizes.positions is not None and n > costs.sizes.positions:
        show.note(
            _(
                "This model has {positions:,} positions: it cannot read {count:,} tokens.",
                positions=costs.sizes.positions,
                count=n,
            )
        )
    return n, dtype


def claims(found: tuple[Claim, ...]) -> None:
    """The articles' statements next to the computed numbers, with the verdict as a word and a symbol."""
    table = pd.DataFrame(
        [
            (claim.topic, claim.claim, _(claim.computed), f"{SIGNS[claim.verdict]} {_(claim.verdict)}")
            for claim in found
        ],
        columns=["", _("The articles say"), _("Computed now"), _("Verdict")],
    )
    st.table(table.set_index(""))


def check(chosen: Chosen, record: Record | None) -> None:
    """The closed form against the loaded model's count, and on request against a model built by transformers."""
    total = parameter_totals.total(chosen.rows)
    if record is not None and record.model.name == chosen.name:
        loaded, same = record.model, record.model.parameters == total
        message = (
            mark("The model of your last run, a {name}, has {count:,}: the same number.")
            if same
            else mark("The model of your last run, a {name}, has {count:,}, not {total:,}: choose its class above.")
        )
        show.note(_(message, name=loaded.architecture, count=loaded.parameters, total=total))
    show.note(
        _(
            "Everything above is computed from the configuration. transformers can build the same class without "
            "weights (on torch's meta device, which takes no memory): name by name, shape by shape, is it the same?"
        )
    )
    request = (chosen.name, chosen.architecture, tuple(row.count for row in chosen.rows))
    st.button(_("Build it and compare"), key="build", on_click=_request_check, args=(request,))
    if st.session_state.get(_ASKED) == request:
        st.session_state[_CHECKED] = (request, _built(chosen))
        st.session_state[_ASKED] = None  # last: the script run may be interrupted before
    kept = st.session_state.get(_CHECKED)
    if kept is not None and kept[0] == request:
        _compared(kept[1])


def _request_check(request: object) -> None:
    """Request that the model be built: a callback."""
    st.session_state[_ASKED] = request


def _built(chosen: Chosen) -> parameter_totals.Comparison:
    """The closed form compared with a model that transformers builds. After a failure it does not retry by itself."""
    with st.spinner(_("Building with transformers; the first time also loads torch")):
        torch_import.load()
        from bartviz.models import skeleton

        try:
            return parameter_totals.compare(chosen.rows, skeleton.build(chosen.config, chosen.architecture))
        except Exception:
            st.session_state[_ASKED] = None
            raise


def _compared(comparison: parameter_totals.Comparison) -> None:
    if comparison.passed:
        st.success(
            _(
                "Equal: all {equal:,} matrices and vectors, in name, shape and ties; {built:,} parameters.",
                equal=comparison.equal,
                built=comparison.built,
            ),
            icon=":material/check:",
        )
        return
    st.error(
        _(
            "Not equal: {closed:,} parameters in closed form, {built:,} built.",
            closed=comparison.closed,
            built=comparison.built,
        )
    )
    lists = {
        _("Different"): comparison.different,
        _("Not built"): comparison.missing,
        _("Only built"): comparison.unexpected,
    }
    for label, names in lists.items():
        if names:
            show.note(f"{label}: {', '.join(names[:20])}{' ...' if len(names) > 20 else ''}")


def _big(count: float) -> str:
    """A count of operations in steps of a thousand: 48.3 G."""
    for unit in ("", "k", "M", "G", "T"):
        if count < 999.5:
            return f"{count:.3g} {unit}".rstrip()
        count /= 1000
    return f"{count:,.3g} P"


def _why_naive_is_wrong(rows: tuple[Parameter, ...]) -> str:
    """Why the naive sum is wrong, for a model that shares something."""
    ties = parameter_totals.shared(rows)
    if not ties:
        return _("it counts one set of weights once for every layer that uses it.")
    places = [_("where it is kept")] if ties[0].name in {row.name for row in rows if row.component == "shared"} else []
    uses = [*places, *(_("as {use}", use=_(use)) for use in ties[0].uses)]
    return _(
        "it counts the shared matrix of {numbers:,} numbers {count} times, {uses}.",
        numbers=ties[0].elements,
        count=len(uses),
        uses=", ".join(uses),
    )


def _thousands(columns: list[str]) -> dict[str, Any]:
    return {column: st.column_config.NumberColumn(format="localized") for column in columns}
