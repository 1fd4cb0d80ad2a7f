"""The parameters of a model as a treemap; and the articles' models as aligned bars.

The area of each field of the map, headings aside, is its number of parameters (``numbers_areas``).
Encoder teal, decoder vermilion, its cross-attention violet, what both share grey and hatched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from bartviz.analysis import matrix_titles, parameter_totals, plain_words, sentence_words
from bartviz.analysis.parameters import Parameter, from_table
from bartviz.analysis.parameters import parameters as parameters_of
from bartviz.drawing import theme
from bartviz.drawing.arguments import expect
from bartviz.errors import SettingError
from bartviz.features.parameters import numbers_areas
from bartviz.language import _, later, mark
from bartviz.language.percentages import percent
from bartviz.record.attention import Kind

MOST_MATRICES = 1500  # above, the map ends at the sublayers: a browser lays out no more areas at once
_FEW_LAYERS = 8  # whose columns are wide enough for whole words and numbers
_BRIEF = {"self-attention": mark("self"), "cross-attention": mark("cross"), "feed-forward": mark("ff")}
_LONGEST, _FEW_FOR_LONGEST = "cross-attention", 6
_FEW_FOR_LINES = 4  # whose columns on a wall are wide enough for both in a line
_TIGHT = "<span style='letter-spacing:-0.2px'>{}</span>"  # so that the longest fits beside three others on a phone
_SUBLAYER_STEP = {"self-attention": 4, "cross-attention": 4, "feed-forward": 3}  # place on the kind's ramp of eight
_STRIP = 0.005, 0.05  # of a stack's parameters: from there a part is seen, and from there it has room for its name
_LEGIBLE = {"minsize": 12, "mode": "hide"}  # what does not fit is left to the pointer
_HEADING, _PATH = 24, 30  # pixels: the heading of an area, the path below the map
_LINE, _AROUND = 15.6, 8  # pixels: a line of text in a field, and around all lines
_MOST_HEADINGS = {True: 0.6, False: 0.45}  # of the height of a map, if it fills its picture or not; else fewer levels
_FIELDS = 0.55  # of a picture of ``whole`` parameters; headings, of which models have unequally many, take the rest
_WHOLE = 1 << 40  # the whole in the numbers that plotly gets, so that the smallest vector is right
_NEUTRAL = {False: ("#dfe3ea", "#c8cfda"), True: ("#323a48", "#434d5e")}


@dataclass(frozen=True, slots=True)
class Area:
    """One area of the map: its place in the tree, its texts, its colour. ``label`` is its heading where it is
    open, and its name in the path below the map; ``text`` stands on it where it is closed. ``said`` names it with all
    that it is in. ``row``: the matrix, where the area is one. ``line``: its text where a line has room."""

    id: str
    parent: str
    label: str
    text: str
    count: int
    hover: str
    color: str
    hatched: bool = False
    said: str = ""
    row: Parameter | None = None
    line: str = ""

    @property
    def name(self) -> str:
        """Its name without its parameters."""
        return self.label.split(" · ")[0]


def parameters(
    model: str | pd.DataFrame | Sequence[Parameter],
    *,
    title: str | None = None,
    depth: int = 4,
    opened: str | None = None,
    whole: int | None = None,
    dark: bool = False,
    height: int = 430,
) -> go.Figure:
    """A treemap of a model: the area of each field is its number of parameters, headings aside; each matrix is drawn
    once, where it is counted.

    A matrix that is used in several places is hatched and lists them. A click opens an area, down to the single matrix;
    the path below goes back. ``depth`` levels are open at once. ``title`` names the model. ``opened`` is the area that
    fills the map: "encoder", "decoder/layer 3", "decoder/layer 3/feed-forward"; a matrix, by its name, is framed among
    those beside it. ``whole``: how many parameters the picture stands for, so that two pictures of a size compare two
    models, or the same area of both; fields of so many take a little more than half of it, and the path is left out.
    ``model`` is a name of the catalogue, the table of ``bartviz.parameters``, or its rows. Raises ModelError for a name
    that is not known, SettingError for a ``whole`` that is less than what fills the map and for an area that it does
    not have.

    >>> figure = bartviz.figures.parameters("facebook/bart-base")
    """
    expect(model, (str, pd.DataFrame, Sequence), "the name of a model, or the table of bartviz.parameters")
    title = title or (model if isinstance(model, str) else _("model"))
    table = parameters_of(model) if isinstance(model, str) else model
    rows = from_table(table) if isinstance(table, pd.DataFrame) else table
    return treemap(
        rows, title, depth=depth, opened=opened, whole=whole, dark=dark, height=height, with_path=whole is None
    )


def treemap(
    rows: Sequence[Parameter],
    title: str,
    *,
    depth: int = 4,
    opened: str | None = None,
    whole: int | None = None,
    dark: bool = False,
    height: int = 430,
    with_path: bool = False,
    growth: float = 1.0,
) -> go.Figure:
    """The map of ``parameters``. ``with_path``: with the path below it; ``growth``: how much more than its height its
    headings will be enlarged."""
    drawn = areas(rows, title, counts=whole is not None, dark=dark)
    level = level_of(drawn, opened)
    total, bottom = parameter_totals.total(rows), _PATH if with_path else 0
    layout = _laid_out(drawn, level, depth, total if whole is None else whole, height - bottom, growth, whole is None)
    values, colors = _values(drawn, level, layout), theme.palette(dark)
    parents = {area.id: area.parent for area in drawn}
    frames = [area.id == opened != level for area in drawn]
    figure = theme.Figure(
        go.Treemap(
            ids=[area.id for area in drawn],
            parents=[area.parent for area in drawn],
            labels=[_heading(area, parents, level, bold=not with_path) for area in drawn],
            values=[values[area.id] for area in drawn],
            customdata=[(f"{area.hover}<br>{_said(area.count, total)}", area.count) for area in drawn],
            hovertemplate="%{customdata[0]}<extra></extra>",
            text=[_written(area, level, layout.lines(area.id), wide=growth > 1) for area in drawn],
            texttemplate="%{text}",
            textposition="middle center",
            textfont={
                "family": theme.FACE,
                "size": _LEGIBLE["minsize"],
                "color": [theme.ink_on(area.color) for area in drawn],
            },
            branchvalues="total",
            sort=False,
            maxdepth=layout.depth,
            level=level,
            domain={"x": [0, layout.side], "y": [1 - layout.side, 1]},
            # model, layer: parts below each other; component, part of a layer: side by side
            tiling={"pad": 0, "packing": "dice-slice" if layout.rows else "slice-dice"},
            pathbar={
                "visible": with_path,
                "side": "bottom",
                "thickness": 28,  # less shrinks a name below the least size, and it is not drawn
                "textfont": {"family": theme.FACE, "size": 12},
            },
            marker={
                "colors": [area.color for area in drawn],
                "line": {
                    "width": 2 if any(frames) else 1,  # a list of widths breaks the path
                    "color": [colors.ink if framed else colors.line for framed in frames],
                },
                "pad": {"t": _HEADING, "l": 0, "r": 0, "b": 0},  # any beside an area would make narrow ones too small
                "cornerradius": 2,
                "pattern": {
                    "shape": ["/" if area.hatched else "" for area in drawn],
                    "fgcolor": colors.faint,
                    "fgopacity": 0.22,
                    "size": 7,
                    "solidity": 0.25,
                    "fillmode": "overlay",
                },
            },
        )
    )
    theme.layout(figure, dark=dark, height=height)
    figure.update_layout(hoverlabel={"bgcolor": colors.background, "font": {"color": colors.ink}})
    return figure.update_layout(margin={"l": 0, "r": 0, "t": 0, "b": bottom}, uniformtext=_LEGIBLE)


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a map is drawn: its levels, its side as a share of the picture's, whether its parts are below each other, its
    fields, and how many times as large as they are here letters will be."""

    depth: int
    side: float
    rows: bool
    fields: Mapping[str, numbers_areas.Field]
    growth: float

    def lines(self, area: str) -> int | None:
        """How many lines of text fit into a field, at least one; None for what is not a field of this map."""
        if area not in self.fields:
            return None
        return max(1, int((self.fields[area].high / self.growth - _AROUND) / _LINE))


def _laid_out(
    drawn: Sequence[Area], level: str, depth: int, whole: int, height: float, growth: float, fills: bool
) -> _Layout:
    """The map with as many levels, up to ``depth``, as its headings leave room for. ``whole``: the parameters that the
    picture stands for, unless the map ``fills`` it."""
    by_id = {area.id: area for area in drawn}
    held, above, heading = by_id[level].count, by_id[level].parent, _HEADING * growth
    if whole < held:
        message = mark("The picture stands for {whole:,} parameters, but the model has {total:,}.")
        raise SettingError(later(message, whole=whole, total=held))
    rows = True
    while above:
        rows, above = not rows, by_id[above].parent
    for levels in range(depth, 0, -1):
        tree = numbers_areas.tree(((area.id, area.parent, area.count) for area in drawn), level, levels)
        side = 1.0 if fills else numbers_areas.side(tree, height, heading, _FIELDS * held / whole, rows=rows)
        most = _MOST_HEADINGS[fills] * side * height
        if levels == 1 or (side <= 1 and numbers_areas.lost(tree, side * height, heading, rows=rows) <= most):
            break
    return _Layout(levels, side, rows, numbers_areas.fields(tree, side * height, heading, rows=rows), growth)


def _values(drawn: Sequence[Area], level: str, layout: _Layout) -> dict[str, int]:
    """What plotly divides the map by: proportional to the counts in each field, with what headings take elsewhere."""
    total = next(area.count for area in drawn if area.id == level)
    shares: dict[str, float] = {}  # of the open area, for each of the count
    for area in drawn:
        field = layout.fields.get(area.id)
        shares[area.id] = shares.get(area.parent, 1 / total) if field is None else field.share
    values: dict[str, int] = {}
    parents = {area.parent for area in drawn}
    for area in reversed(drawn):
        if area.id not in parents:
            values[area.id] = max(1, round(_WHOLE * shares[area.id] * area.count))
        values[area.parent] = values.get(area.parent, 0) + values[area.id]
    return values


def legend(rows: Sequence[Parameter], *, dark: bool = False) -> dict[str, tuple[tuple[str, ...], int]]:
    """The parts of a layer in the map: the colours of each, the encoder's first, and its parameters in all layers."""
    inside = [row for row in rows if row.count and row.layer is not None]
    return {
        part: (tuple(dict.fromkeys(_color(row, dark) for row in mine)), parameter_totals.total(mine))
        for part, mine in _grouped(inside, lambda row: parameter_totals.sublayer(row.role))
        if part in _SUBLAYER_STEP
    }


def hatched(
    rows: Sequence[Parameter], *, of: Sequence[Parameter] | None = None, dark: bool = False
) -> tuple[tuple[str, ...], list[Parameter]]:
    """What is hatched, since it is used in several places: its colours with the hatching, as backgrounds of CSS, and
    its rows. ``of``: all rows of the model, where ``rows`` are those of an area."""
    used = {matrix.name for matrix in parameter_totals.shared(rows if of is None else of)}
    found = [row for row in rows if row.count and row.layer is None and row.name in used]
    line = theme.palette(dark).faint
    colors = dict.fromkeys(_color(row, dark) for row in found)
    striped = (f"repeating-linear-gradient(135deg, {line} 0 1px, {color} 1px 4px)" for color in colors)
    return tuple(striped), found


def strips(rows: Sequence[Parameter], *, dark: bool = False) -> tuple[tuple[str, ...], int]:
    """What is drawn as strips too narrow for a name, all beside layers: their colours, and how many parameters."""
    colors: dict[str, None] = {}
    found = 0
    for component, mine in _grouped([row for row in rows if row.count], lambda row: row.component):
        total = parameter_totals.total(mine)
        for _place_of, held in _grouped([row for row in mine if row.layer is None], _place):
            count = parameter_totals.total(held)
            if _STRIP[0] <= count / total < _STRIP[1]:
                colors[_component_color(component, dark)] = None
                found += count
    return tuple(colors), found


def without_kind(role: str) -> str:
    """What a weight and its bias are both called."""
    return role.removesuffix(" weight").removesuffix(" bias")


def _component_title(rows: Sequence[Parameter]) -> str:
    """The name of a part of the model, as in the table beside the map."""
    component, roles = rows[0].component, {without_kind(row.role) for row in rows}
    name = roles.pop() if component == "head" and len(roles) == 1 else component  # BERT's pooler, not an output layer
    return sentence_words.capitalized(_("shared embeddings") if component == "shared" else matrix_titles.title(name))


def _component_color(component: str, dark: bool) -> str:
    kind = _kind(component)
    return _NEUTRAL[dark][0] if kind is None else theme.tint(kind, dark)


def areas(rows: Sequence[Parameter], title: str, *, counts: bool = False, dark: bool = False) -> tuple[Area, ...]:
    """Every area, a parent before its children, the model first. ``counts``: with the model's parameters beside its
    title, for which a path has no room.
    """
    return tuple(_areas(rows, title, counts, dark))


def level_of(drawn: Sequence[Area], opened: str | None) -> str:
    """The area that fills the map: the opened one, or that which holds it if it has no parts."""
    if opened is None:
        return drawn[0].id
    area = next((area for area in drawn if area.id == opened), None)
    if area is None:
        raise SettingError(later(mark("The model has no area of that name. Choose one of its map.")))
    return area.id if any(other.parent == area.id for other in drawn) else area.parent


def within(rows: Sequence[Parameter], level: str) -> list[Parameter]:
    """The rows of the area that fills the map."""
    return [row for row in rows if level in _levels(row)]


def _levels(row: Parameter) -> tuple[str, ...]:
    """The areas that a matrix is in, itself included."""
    place = f"{row.component}/{_place(row)}"
    return "model", row.component, place, f"{place}/{parameter_totals.sublayer(row.role)}", row.name


def _heading(area: Area, parents: Mapping[str, str], level: str, *, bold: bool) -> str:
    """What stands above the parts of an area; a column of layers has room for the short name of a layer's part.
    ``bold``: whether the parts of the model stand out and say what they do; the path below a map would print the tags,
    and has no room."""
    if bold and area.parent == "model":
        return f"<b>{area.label.replace(area.said, plain_words.named(area.said, area.id), 1)}</b>"
    return area.text.split("<br>")[0] if parents.get(area.parent) == level and area.row is None else area.label


def _written(area: Area, level: str, lines: int | None, *, wide: bool) -> str:
    """What stands on an area of so many lines (None: of any); on a matrix of the area that fills the map its shape,
    too. The uses of a matrix are written whole or not at all. ``wide``: whether it is for a wall and not for a
    phone."""
    if wide and lines == 1 and area.line:
        return area.line
    name, *others = area.text.split("<br>")
    shaped = [shape(area.row)] if area.row is not None and area.parent == level else []
    written = [name, *shaped, *others]
    if lines is not None and lines < len(written):
        written = written[: min(lines, 2 + len(shaped))]
    return "<br>".join(written)


def shape(row: Parameter) -> str:
    """The sizes of a matrix or vector: 768 × 3,072."""
    return " × ".join(f"{size:,}" for size in row.shape)


def _areas(rows: Sequence[Parameter], title: str, counts: bool, dark: bool) -> Iterator[Area]:
    total, uses = parameter_totals.total(rows), {matrix.name: matrix.uses for matrix in parameter_totals.shared(rows)}
    counted = [row for row in rows if row.count]
    name = theme.escape(title)
    label = _("{model} · {count:,} parameters", model=name, count=total) if counts else name
    yield Area("model", "", label, label, total, name, theme.palette(dark).background)
    for component, mine in _grouped(counted, lambda row: row.component):
        size, color = sum(row.count for row in mine), _component_color(component, dark)
        name = _component_title(mine)
        label = f"{name} · {short(size)}"
        yield Area(component, "model", label, label, size, name, color, said=name)
        layers = Counter(row.name for row in rows if row.component == component)
        yield from _layers(mine, uses, layers, len(counted) <= MOST_MATRICES, color, dark)


def _layers(
    mine: Sequence[Parameter],
    uses: Mapping[str, Sequence[str]],
    layers: Mapping[str, int],
    matrices: bool,
    color: str,
    dark: bool,
) -> Iterator[Area]:
    """The areas of a component: its layers, and the groups outside them (embeddings, final layer norm).

    ``layers``: how many layers use a matrix; more than one only in ALBERT.
    """
    component, title = mine[0].component, _component_title(mine)
    many = len({row.layer for row in mine if row.layer is not None})
    few = many <= _FEW_LAYERS
    for place, held in _grouped(mine, _place):
        where, layer, said = f"{component}/{place}", held[0].layer, _place_said(held[0])
        if layer is None and (len(held) == 1 or len(held) == len(mine)):  # no heading for the only area below another
            alone = len(mine) == 1  # its number is that of the heading above it
            yield from (_matrix(row, component, title, uses, dark, counted=not alone) for row in held)
            continue
        label = sentence_words.capitalized(said) if few or layer is None else f"L{layer}"
        if layer is not None and layers[held[0].name] > 1:
            label = _("One set of weights for {count} layers", count=layers[held[0].name])
        hover = f"{title}, {said}"
        yield Area(where, component, label, label, parameter_totals.total(held), hover, color, said=hover)
        if layer is None:
            yield from (_matrix(row, where, hover, uses, dark) for row in held)
            continue
        for name, group in _grouped(held, lambda row: parameter_totals.sublayer(row.role)):
            inner, texts = f"{where}/{name}", matrix_titles.title(name)
            whole = name not in _BRIEF or (few if name != _LONGEST else many <= _FEW_FOR_LONGEST)
            size = parameter_totals.total(group)
            brief = (_TIGHT.format(texts) if name == _LONGEST else texts) if whole else _(_BRIEF[name])
            written = f"{brief}<br>{short(size)}" if few else brief
            said = f"{hover}, {texts}"
            line = f"{texts} · {short(size)}" if many <= _FEW_FOR_LINES else ""
            yield Area(inner, where, texts, written, size, said, _color(group[0], dark), said=said, line=line)
            if matrices:
                yield from (_matrix(row, inner, hover, uses, dark) for row in group)


def _matrix(
    row: Parameter, parent: str, within: str, uses: Mapping[str, Sequence[str]], dark: bool, *, counted: bool = True
) -> Area:
    """The area of a matrix; ``within`` names all that it is in. ``counted``: whether its number is written on it."""
    role, part = matrix_titles.title(row.role), matrix_titles.title(parameter_totals.sublayer(row.role))
    written = [role.removeprefix(part).strip() or role]  # the part of the layer is named above it
    written += [short(row.count)] * counted
    texts = [f"<b>{theme.escape(row.name)}</b>", f"{role}, {shape(row)}"]
    if row.name in uses:
        used = ", ".join(uses[row.name])
        wide = row.component == "shared" or not counted  # as wide as the map
        written += [_("one matrix for {uses}", uses=used)] if wide else [_("one matrix for"), *uses[row.name]]
        texts.append(_("one matrix, counted once, used as {uses}", uses=used))
    if not row.trainable:
        texts.append(_("computed from sines, never trained"))
    text, hover = "<br>".join(written), "<br>".join(texts)
    said = f"{within}, {role}"
    return Area(row.name, parent, role, text, row.count, hover, _color(row, dark), row.name in uses, said, row)


def _place(row: Parameter) -> str:
    if row.layer is not None:
        return f"layer {row.layer}"
    return "final layer norm" if row.role.startswith("final") else "head" if row.component == "head" else "embeddings"


def _place_said(row: Parameter) -> str:
    return _("layer {layer}", layer=row.layer) if row.layer is not None else matrix_titles.title(_place(row))


def _grouped(rows: Sequence[Parameter], key: Callable[[Parameter], str]) -> Iterator[tuple[str, list[Parameter]]]:
    groups: dict[str, list[Parameter]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return iter(groups.items())


def _said(count: int, total: int) -> str:
    return _("{count:,} parameters, {share}", count=count, share=percent(count / total))


def _kind(component: str) -> Kind | None:
    return "encoder" if component == "encoder" else "decoder" if component == "decoder" else None


def _color(row: Parameter, dark: bool) -> str:
    kind = _kind(row.component)
    if kind is None or row.role.endswith("token embedding"):
        return _NEUTRAL[dark][1]
    name = parameter_totals.sublayer(row.role)
    ramp = theme.scale("cross" if name == "cross-attention" else kind, dark)
    return str(ramp[_SUBLAYER_STEP.get(name, 2)][1])


def short(count: int) -> str:
    """A count in short form: 38.6 M, 789 k, 768."""
    if count >= 999_500:
        return f"{count / 1e6:.1f} M"
    return f"{count / 1e3:.0f} k" if count >= 10_000 else f"{count:,}"


def sizes(table: pd.DataFrame, *, dark: bool = False) -> go.Figure:
    """The articles' models (``analysis.articles.models``) as bars of parts, in millions; a diamond is the number in the
    articles."""
    figure, names = theme.Figure(), list(table["model"])
    colors = dict(zip(parameter_totals.PARTS, _bar_colors(dark), strict=True))
    for part in parameter_totals.PARTS:
        values = table[part] / 1e6
        figure.add_bar(
            y=names,
            x=values,
            name=matrix_titles.title(part),
            orientation="h",
            marker={"color": colors[part], "line": {"width": 0}},
            text=[f"{value:,.0f}" if value > 18 else "" for value in values],
            textposition="inside",
            insidetextanchor="middle",
            textfont={"color": theme.ink_on(colors[part]), "size": 12},
            textangle=0,
            customdata=[f"{count:,}" for count in table[part]],
            hovertemplate=_(
                "{model}: {part}<br>{count} parameters",
                model="%{y}",
                part=matrix_titles.title(part),
                count="%{customdata}",
            )
            + "<extra></extra>",
        )
    figure.add_scatter(
        y=names,
        x=table["claimed"],
        mode="markers",
        name=_("as the articles say"),
        marker={"symbol": "diamond-open", "size": 11, "color": theme.palette(dark).ink, "line": {"width": 2}},
        hovertemplate=_("{model}: {count} million in the articles", model="%{y}", count="%{x}") + "<extra></extra>",
    )
    for model, size, claimed in zip(names, table["parameters"], table["claimed"], strict=True):
        figure.add_annotation(
            y=model,
            x=max(size / 1e6, claimed),
            text=f"{size / 1e6:,.1f}",
            showarrow=False,
            xanchor="left",
            xshift=10,
            font={"family": theme.MONO, "size": 13},
        )
    theme.layout(figure, dark=dark, height=400)
    figure.update_layout(
        barmode="stack",
        bargap=0.3,
        uniformtext=_LEGIBLE,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
    )
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure.update_xaxes(title={"text": _("million parameters, shared matrices counted once"), "font": {"size": 12}})
    return figure.update_xaxes(range=[0, 1.12 * max(table["parameters"].max() / 1e6, table["claimed"].max())])


def _bar_colors(dark: bool) -> tuple[str, str, str, str]:
    neutral = _NEUTRAL[dark]
    return neutral[1], theme.kind_color("encoder", dark), theme.kind_color("decoder", dark), theme.palette(dark).faint
