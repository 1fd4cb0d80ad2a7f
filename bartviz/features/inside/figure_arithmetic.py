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

ASKED, HEAD, FOOT = 68, 42, 48  # pixels: the query's band with its caption, the captions, the output below the values
LARGER = 9  # pixels by which a row is higher on a wall
BAND = 24  # pixels of the query's or the output's numbers
MARGIN = {"l": 8, "r": 8, "t": 8, "b": 4}  # pixels around all panels
TOP = 0.012  # of the figure's height, between a panel and its caption
GAP, WIDE_GAP = 0.026, 0.05  # of the figure's width, between all panels or those of one part
_ROOT = "<span style='letter-spacing:-0.24em'>√</span>"  # its bar reaches over what follows
TEXT = 0.75  # of the span of the bars: room for the numbers at an end
PARTS = (("keys", "products"), ("scaled", "bias", "score", "weight"), ("values",))  # the row in three figures


def panels(one: Inside) -> dict[str, str]:
    """The panel of each plotly subplot: q, keys, products, scaled, bias, score, weight, values, output."""
    names = _names(one)
    found = {f"x{number if number > 1 else ''}y": name for number, name in enumerate(names, start=1)}
    found["xy2"] = "q"
    return found | ({f"x{len(names)}y3": "output"} if one.v is not None else {})


def _names(one: Inside) -> dict[str, float]:
    """The panels from left to right, and their relative widths."""
    if one.bias is None:
        shares = {"keys": 1.5, "products": 1.5, "scaled": 1.3, "weight": 1.15}
    else:
        shares = {"keys": 1.25, "products": 1.25, "scaled": 1.25, "bias": 1.2, "score": 1.25, "weight": 1.2}
    return shares | ({"values": shares["keys"]} if one.v is not None else {})


class Frame:
    """The positions of the panels, and the names of their rows; ``colors`` are the numbers of the keys' words,
    ``plain``: captions that say in words what a panel is for, ``part``: the number of the one of ``PARTS`` that is
    drawn, None for the whole row, ``large``: rows are as high as a wall has room for."""

    def __init__(
        self,
        one: Inside,
        shown: Shown,
        dark: bool,
        predicts: str | None = None,
        colors: Numbers = (),
        *,
        plain: bool = False,
        part: int | None = None,
        large: bool = False,
    ) -> None:
        self.one, self.shown, self.dark, self.predicts, self.plain = one, shown, dark, predicts, plain
        self.keys = list(shown.keys)
        self.rows = len(self.keys) + (shown.rest > 0)
        self.color = theme.kind_color(one.kind, dark)
        self.labels = [theme.escape(axes.short(one.label(key))) for key in self.keys]
        self.bars = [theme.word_bar(colors[key], dark) if colors else "" for key in self.keys]
        shares = _names(one)
        self.names = list(shares)
        self.drawn = self.names if part is None else [name for name in self.names if name in PARTS[part]]
        gap = GAP if part is None else WIDE_GAP
        room = (1 - gap * (len(self.drawn) - 1)) / sum(shares[name] for name in self.drawn)
        self.domains: dict[str, tuple[float, float]] = {}
        left = 0.0
        for name in self.drawn:
            self.domains[name] = (left, min(left + room * shares[name], 1.0))
            left += room * shares[name] + gap
        head, foot = HEAD + ASKED * ("keys" in self.drawn), FOOT * ("values" in self.drawn)
        line = _line(self.rows) + LARGER * large
        self.letters = 14 if line > 20 else 12  # the size of words and numbers
        self.inner = head + foot + line * self.rows  # pixels of all panels
        self.height = self.inner + MARGIN["t"] + MARGIN["b"]
        self.split, self.bottom = 1 - head / self.inner, foot / self.inner  # the keys' lines are between them

    def axis(self, name: str) -> str:
        number = self.names.index(name) + 1
        return "x" if number == 1 else f"x{number}"

    def axes(self) -> dict[str, Part]:
        """The axes: all panels share rows (y); the query has a row of its own above (y2), the output one below (y3)."""
        found: dict[str, Part] = {}
        for name in self.drawn:
            quiet = {"showgrid": False, "showticklabels": False, "ticks": ""} | {"domain": list(self.domains[name])}
            found[f"xaxis{self.axis(name)[1:]}"] = quiet | self._range(name) | {"fixedrange": True}
        names = [f"{label}\u2009{bar}" if bar else label for label, bar in zip(self.labels, self.bars, strict=True)]
        if self.shown.rest:
            names.append(f"<i>{others(self.shown.rest)}</i>")
        found["yaxis"] = {
            "range": [self.rows - 0.5, -0.5],
            "domain": [self.bottom, self.split],
            "tickvals": list(range(self.rows)),
            "ticktext": names,
            "showgrid": False,
            "tickfont": {"family": theme.MONO, "size": self.letters},
            "fixedrange": True,
            "anchor": self.axis(self.drawn[0]),
            "ticks": "",
        }
        if "keys" in self.drawn:
            found["yaxis2"] = self._band("keys", self.inner - 38 - BAND)
        if "values" in self.drawn:
            found["yaxis3"] = self._band("values", FOOT - BAND - 4)
        return found

    def _band(self, name: str, bottom: int) -> Part:
        """The axis of a row of its own above or below a panel, so many pixels above the end of the panels."""
        return {
            "range": [0.5, -0.5],
            "domain": [bottom / self.inner, (bottom + BAND) / self.inner],
            "showticklabels": False,
            "showgrid": False,
            "fixedrange": True,
            "anchor": self.axis(name),
            "ticks": "",
        }

    def _range(self, name: str) -> Part:
        if name in ("keys", "products"):
            return {"range": [-0.5, self.one.width - 0.5]}
        if name == "values":
            assert self.one.v is not None
            return {"range": [-0.5, self.one.v.shape[1] - 0.5]}
        if name == "weight":
            return {"range": [0, 1.6], "showline": False}
        return {"range": self.range_of(name)}

    def range_of(self, name: str) -> list[float]:
        """The range of a panel of scores."""
        numbers = {"scaled": self.one.scaled, "bias": self.one.bias, "score": self.one.scores}[name]
        assert numbers is not None
        more = None if name != self.score else self.shown.rest_score
        return _room(numbers[self.keys], more)

    @property
    def score(self) -> str:
        """The panel of the softmax's input."""
        return "scaled" if self.one.bias is None else "score"

    def captions(self) -> list[Part]:
        """The part of the formula above each panel."""
        one, dark = self.one, self.dark
        total, weight, result = _("row sum"), _("weight"), _("output")
        scaled = total if one.scale == 1 else f"{total} {one.factor.replace('√', _ROOT)}"
        score = "= <b>" + _("score") + "</b>"
        said = {
            "keys": _("{k} of each key", k=_letter("k", KEY, dark)),
            "products": "q × k",
            "scaled": f"{scaled}<br>{score}" if one.bias is None else scaled,
            "bias": _("+ bias"),
            "score": score,
            "weight": _("softmax = {weight}", weight=f"<b>{weight}</b>"),
            "values": _("weight × {v}", v=_letter("v", VALUE, dark)),
        }
        if self.plain:
            said["keys"] = _(
                "{k} (keys): the labels,<br>{count} numbers each", k=_letter("k", KEY, dark), count=one.width
            )
            said["products"] = _("q × k:<br>number by number")
            said["scaled"] = scaled
            fit = _("{score}: the fit", score="<b>" + _("score") + "</b>")
            said[self.score] = f"{said['scaled']} =<br>{fit}" if one.bias is None else f"=<br>{fit}"
            said["weight"] = _("softmax =<br>{weight}: its share", weight=f"<b>{weight}</b>")
            said["values"] = _("weight × {v}:<br>what is taken", v=_letter("v", VALUE, dark))
        found = [
            caption(said[name], self.domains.get(name, (0,))[0], self.split + TOP, dark) | self._shown(name)
            for name in self.names
        ]
        over = 1 - 36 / self.inner
        found.append(caption(self._asked(), 0, over, dark) | self._shown("keys"))
        if one.v is not None:
            output = _letter(result, VALUE, dark)
            left = self.domains.get("values", (0,))[0]
            found.append(caption(_("sum = {output}", output=output), left, 0, dark) | self._shown("values"))
        return found

    def _shown(self, name: str) -> Part:
        """Whether a caption is drawn: its number among all (``captions_of``) is the same in each part."""
        return {} if name in self.drawn else {"visible": False}

    def _asked(self) -> str:
        """Whose query it is: what the row reads and, in a decoder, what it predicts."""
        reads, predicts = (
            f"<b>{theme.escape(axes.short(label))}</b>" for label in (self.one.query_label, self.predicts or "")
        )
        letter = _letter("q", QUERY, self.dark)
        if self.plain:
            if self.predicts is not None:
                return _("{q} (query): the question when writing {word}", q=letter, word=predicts)
            return _("{q} (query): the question of {word}", q=letter, word=reads)
        if self.predicts is None:
            return _("{q} of the query {query}", q=letter, query=reads)
        return _(
            "{q} of the row that reads {reads}<br>and predicts {predicts}", q=letter, reads=reads, predicts=predicts
        )


def captions_of(one: Inside) -> dict[str, int]:
    """The number of each panel's caption among the annotations of the figure."""
    names = list(_names(one))
    return {name: number for number, name in enumerate([*names, "q", *(["output"] if one.v is not None else [])])}


def order(one: Inside) -> tuple[str, ...]:
    """The panels in the order in which they are computed."""
    return ("q", *_names(one), *(("output",) if one.v is not None else ()))


def _line(rows: int) -> int:
    """The height of a row in pixels: with many rows less, so that all fit a laptop's screen."""
    return 24 if rows <= 10 else 21 if rows <= 14 else 17


def _letter(letter: str, role: str, dark: bool) -> str:
    return f'<b style="color:{theme.letters(role, dark)}">{letter}</b>'


def others(count: int) -> str:
    """The label of the keys that are not shown one by one."""
    return plural("{count:,} other", "{count:,} others", count)


def _room(numbers: Floats, more: float | None) -> list[float]:
    """A range with 0, the numbers, and space for their texts beyond the bars' ends."""
    low, high = min(0.0, float(numbers.min())), max(0.0, float(numbers.max()), more or 0.0)
    span = (high - low) or 1.0
    return [low - TEXT * span * (low < 0), high + TEXT * span * (high > 0)]
