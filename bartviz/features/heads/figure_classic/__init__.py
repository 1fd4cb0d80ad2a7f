"""The classic view: bertviz's head view and model view (Vig 2019) of a record, for short texts, without the network."""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path

from bartviz.analysis import sentence_words
from bartviz.drawing.arguments import RECORD, expect
from bartviz.errors import SettingError
from bartviz.features.heads.figure_classic.captions import cap, sides, title
from bartviz.features.heads.figure_classic.offline import View, Window, drawn_layers, height, most_tokens, page
from bartviz.language import later
from bartviz.record.attention import Attention, Kind
from bartviz.record.record import Reading, Record
from bartviz.text.tokens import Tokens

_LINE = 40  # pixels that a sentence above the picture takes
_BOX = 26  # and the box of layers


@dataclass(frozen=True, eq=False, repr=False)
class Classic:
    """A drawn view: a notebook shows it, ``save`` writes it as one file.

    ``html``: the whole page; ``captions``: the sentences above the picture, on what it shows and what it leaves out;
    ``height``: in pixels.
    """

    html: str
    captions: tuple[str, ...]
    height: int

    def _repr_html_(self) -> str:
        """The page in its own frame, so that its scripts and those of the notebook do not interfere."""
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" title="{html.escape(self.captions[0])}" width="100%" '
            f'height="{self.height}" style="border:0" sandbox="allow-scripts"></iframe>'
        )

    def __repr__(self) -> str:
        return f"Classic({' '.join(self.captions)!r}, {len(self.html) / 1e6:.2f} MB)"

    def save(self, path: str | Path) -> Path:
        """Write the page as one HTML file, which needs no network; returns its path."""
        file = Path(path)
        file.write_text(self.html, encoding="utf-8")
        return file


def classic(
    found: Record | Attention,
    kind: Kind | None = None,
    *,
    view: View = "head",
    layer: int | None = None,
    reading: Reading = "predicts",
    rows: Tokens | None = None,
    first: tuple[int, int] = (0, 0),
    dark: bool = False,
) -> Classic:
    """One kind of attention of a record as bertviz draws it: queries on the left, keys on the right, and a line for
    every weight.

    ``kind``: encoder, decoder or cross; by default cross-attention if the record has it. ``view``: "head", the heads of
    one ``layer`` (without it all layers and a box to choose from), or "model", a thumbnail of every head. ``reading``:
    whether a record's decoder rows are named by the token that they predict or read; of an ``Attention`` alone ``rows``
    are what they predict. Of a long text, the tokens that fit are drawn, from row and column ``first`` on; the picture
    says which.

    Needs bertviz to be installed, but neither torch nor a network. Raises SettingError for a view, kind or layer that
    is not there, ModelError if bertviz is missing or has another version.

    >>> view = bartviz.figures.classic(record, view="head", layer=2)
    >>> path = view.save("heads.html")  # one file that needs no network
    """
    attention = _attention(found, kind)
    if rows is None:
        rows = found.rows(attention.kind, reading) if isinstance(found, Record) else attention.query
    most = most_tokens(attention, view, layer)
    window = Window(_part(first[0], len(rows), most), _part(first[1], len(attention.key), most))
    named: Reading = "reads" if rows is attention.query else "predicts"
    said = title(view, attention, layer), sides(attention, named), cap(attention, window, most)
    captions = tuple(sentence for sentence in said if sentence)
    drawn = page(view, attention, rows.labels, window=window, layer=layer, dark=dark, captions=captions)
    box = _BOX if view == "head" and len(drawn_layers(view, attention, layer)) > 1 else 0
    return Classic(drawn, captions, height(view, attention, window) + len(captions) * _LINE + box)


def _attention(found: Record | Attention, kind: Kind | None) -> Attention:
    expect(found, (Record, Attention), RECORD)
    if isinstance(found, Record):
        return found.attention(kind or ("cross" if "cross" in found.kinds else found.kinds[0]))
    if kind not in (None, found.kind):
        raise SettingError(
            later("This is {kind} attention: leave the kind out.", kind=sentence_words.later_kind(found.kind))
        )
    return found


def _part(start: int, tokens: int, most: int) -> slice:
    start = min(max(start, 0), max(tokens - most, 0))
    return slice(start, min(start + most, tokens))
