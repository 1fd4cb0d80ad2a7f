"""The layout of the row of arithmetic: the panels, their captions, and their plotly subplots."""

from __future__ import annotations

from bartviz.analysis.inside import Inside, Shown
from bartviz.analysis.word_colors import Numbers
from bartviz.arrays import Floats
from bartviz.drawing import axes, theme
from bartviz.drawing.cells import Part
from bartviz.drawing.colors import KEY, QUERY, VALUE
from bartviz.drawing.strips import caption
from bartviz.language import _, plural

HEAD, FOOT = 112, 12  # pixels: the query's band with its captions, what is below the last key
MARGIN = {"l": 8, "r": 8, "t": 8, "b": 4}  # pixels around all panels
TOP = 0.012  # of the figure's height, between a panel and its caption
GAP = 0.026  # of the figure's width, between panels
TEXT, NARROW_TEXT = 0.42, 0.62  # of the span of the bars: room for the numbers at an end; with three panels of scores


def panels(one: Inside) -> dict[str, str]:
    """The panel of each plotly subplot: q, keys, products, scaled, bias, score, weight, values, output."""
    names = _names(one)
    found = {f"x{number if number > 1 else ''}y": name for number, name in enumerate(names, start=1)}
    found["xy2"] = "q"
    return found | ({f"x{len(names)}y2": "output"} if one.v is not None else {})


def _names(one: Inside) -> dict[str, float]:
    """The panels from left to right, and their relative widths."""
    if one.bias is None:
        shares = {"keys": 1.5, "products": 1.5, "scaled": 1.15, "weight": 1.2}
    else:
        shares = {"keys": 1.25, "products": 1.25, "scaled": 1.25, "bias": 1.2, "score": 1.25, "weight": 1.2}
    return shares | ({"values": shares["keys"]} if one.v is not None else {})


class Frame:
    """The positions of the panels, and the names of their rows; ``colors`` are the numbers of the keys' words,
    ``plain``: captions that say in words what a panel is for."""

    def __init__(
        self,
        one: Inside,
        shown: Shown,
        dark: bool,
        predicts: str | None = None,
        colors: Numbers = (),
        *,
        plain: bool = False,
    ) -> None:
        self.one, self.shown, self.dark, self.predicts, self.plain = one, shown, dark, predicts, plain
        self.keys = list(shown.keys)
        self.rows = len(self.keys) + (shown.rest > 0)
        self.color = theme.kind_color(one.kind, dark)
        self.labels = [theme.escape(axes.short(one.label(key))) for key in self.keys]
        self.bars = [theme.word_bar(colors[key], dark) if colors else "" for key in self.keys]
        shares = _names(one)
        self.names = list(shares)
        room = (1 - GAP * (len(shares) - 1)) / sum(shares.values())
        self.domains: dict[str, tuple[float, float]] = {}
        left = 0.0
        for name, share in shares.items():
            self.domains[name] = (left, left + room * share)
            left += room * share + GAP
        self.height = HEAD + FOOT + _line(self.rows) * self.rows  # pixels
        self.split = 1 - HEAD / self.height  # the keys' lines end here

    @property
    def lines(self) -> tuple[float, float]:
        """Pixels from the upper edge of the figure to the first line of the keys, and the height of a line."""
        inner = self.height - MARGIN["t"] - MARGIN["b"]
        return MARGIN["t"] + inner * (1 - self.split), inner * self.split / self.rows

    def axis(self, name: str) -> str:
        number = self.names.index(name) + 1
        return "x" if number == 1 else f"x{number}"

    def axes(self) -> dict[str, Part]:
        """The axes: all panels share rows (y); query and output have their own row above (y2)."""
        found: dict[str, Part] = {}
        for number, name in enumerate(self.names, start=1):
            quiet = {"showgrid": False, "showticklabels": False, "ticks": ""} | {"domain": list(self.domains[name])}
            found[f"xaxis{number if number > 1 else ''}"] = quiet | self._range(name) | {"fixedrange": True}
        names = [f"{label}\u2009{bar}" if bar else label for label, bar in zip(self.labels, self.bars, strict=True)]
        if self.shown.rest:
            names.append(f"<i>{others(self.shown.rest)}</i>")
        found["yaxis"] = {
            "range": [self.rows - 0.5, -0.5],
            "domain": [0, self.split],
            "tickvals": list(range(self.rows)),
            "ticktext": names,
            "showgrid": False,
            "tickfont": {"family": theme.MONO, "size": 13},
            "fixedrange": True,
            "ticks": "",
        }
        found["yaxis2"] = {
            "range": [0.5, -0.5],
            "domain": [1 - 62 / self.height, 1 - 38 / self.height],
            "showticklabels": False,
            "showgrid": False,
            "fixedrange": True,
            "anchor": "x",
            "ticks": "",
        }
        return found

    def _range(self, name: str) -> Part:
        if name in ("keys", "products"):
            return {"range": [-0.5, self.one.width - 0.5]}
        if name == "values":
            assert self.one.v is not None
            return {"range": [-0.5, self.one.v.shape[1] - 0.5]}
        if name == "weight":
            return {"range": [0, 1.42], "showline": False}
        return {"range": self.range_of(name)}

    def range_of(self, name: str) -> list[float]:
        """The range of a panel of scores."""
        numbers = {"scaled": self.one.scaled, "bias": self.one.bias, "score": self.one.scores}[name]
        assert numbers is not None
        more = None if name != self.score else self.shown.rest_score
        return _room(numbers[self.keys], more, TEXT if self.one.bias is None else NARROW_TEXT)

    @property
    def score(self) -> str:
        """The panel of the softmax's input."""
        return "scaled" if self.one.bias is None else "score"

    def captions(self) -> list[Part]:
        """The part of the formula above each panel."""
        one, dark = self.one, self.dark
        total, weight, result = _("sum"), _("weight"), _("output")
        total = total if one.scale == 1 else f"{total} × {one.factor}"
        score = "= <b>" + _("score") + "</b>"
        said = {
            "keys": _("{k} of each key", k=_letter("k", KEY, dark)),
            "products": "q × k",
            "scaled": f"{total}<br>{score}" if one.bias is None else total,
            "bias": _("+ bias"),
            "score": score,
            "weight": _("softmax = {weight}", weight=f"<b>{weight}</b>"),
            "values": _("weight × {v}", v=_letter("v", VALUE, dark)),
        }
        if self.plain:
            said["keys"] = _("{k}: the labels", k=_letter("k", KEY, dark))
            said[self.score] = _("{score}:<br>how well it fits", score=f"<b>{_('score')}</b>")
            said["weight"] = _("{weight}: its share", weight=f"<b>{weight}</b>")
        found = [caption(said[name], self.domains[name][0], self.split + TOP, dark) for name in self.names]
        over = 1 - 36 / self.height
        found.append(caption(self._asked(), 0, over, dark))
        if one.v is not None:
            output = _letter(result, VALUE, dark)
            summed = _("{output}: the mixture") if self.plain else _("{output} = sum of weight × v")
            found.append(caption(summed.format(output=output), 1, over, dark, anchor="right"))
        return found

    def _asked(self) -> str:
        """Whose query it is: what the row reads and, in a decoder, what it predicts."""
        reads, predicts = (
            f"<b>{theme.escape(axes.short(label))}</b>" for label in (self.one.query_label, self.predicts or "")
        )
        letter = _letter("q", QUERY, self.dark)
        if self.plain:
            return _("{q}: the question of {word}", q=letter, word=reads if self.predicts is None else predicts)
        if self.predicts is None:
            return _("{q} of the query {query}", q=letter, query=reads)
        return _("{q} of the row that reads {reads} and predicts {predicts}", q=letter, reads=reads, predicts=predicts)


def captions_of(one: Inside) -> dict[str, int]:
    """The number of each panel's caption among the annotations of the figure."""
    names = list(_names(one))
    return {name: number for number, name in enumerate([*names, "q", *(["output"] if one.v is not None else [])])}


def order(one: Inside) -> tuple[str, ...]:
    """The panels in the order in which they are computed."""
    return ("q", *_names(one), *(("output",) if one.v is not None else ()))


def _line(rows: int) -> int:
    """The height of a row in pixels: with many rows less, so that all fit a laptop's screen."""
    return 26 if rows <= 10 else 21 if rows <= 14 else 18


def _letter(letter: str, role: str, dark: bool) -> str:
    return f'<b style="color:{theme.letters(role, dark)}">{letter}</b>'


def others(count: int) -> str:
    """The label of the keys that are not shown one by one."""
    return plural("{count:,} other", "{count:,} others", count)


def _room(numbers: Floats, more: float | None, text: float) -> list[float]:
    """A range with 0, the numbers, and space for ``text`` (a share of their span) beyond the bars' ends."""
    low, high = min(0.0, float(numbers.min())), max(0.0, float(numbers.max()), more or 0.0)
    span = (high - low) or 1.0
    return [low - text * span * (low < 0), high + text * span * (high > 0)]
