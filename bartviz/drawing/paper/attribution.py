"""An attribution for paper: a map of its steps by the tokens of the source, and below it one by earlier outputs."""

from __future__ import annotations

from bartviz.analysis import sentence_words
from bartviz.analysis.attribution import Attribution, Axis
from bartviz.arrays import Bools, Floats
from bartviz.drawing import attribution as figure
from bartviz.drawing.arguments import expect
from bartviz.drawing.paper.grid import Cells, Reach, grid
from bartviz.drawing.paper.picture import Picture
from bartviz.drawing.paper.sheet import SMALL, Sheet
from bartviz.drawing.paper.size import COLUMN, check_width
from bartviz.language import _
from bartviz.record.attention import Kind
from bartviz.text.labels import visible
from bartviz.version import __version__


def attribution(found: Attribution, *, width: float = COLUMN, captioned: bool = True) -> Picture:
    """A row is a step, a column a token that was read, and what a step does not read yet is hatched. Shares are
    coloured from 0 to the largest; signed numbers orange (against the word) - neutral - blue (for it), evenly.

    ``found.words()`` has words in place of tokens. width: in points; ``captioned``: with its caption below, which has
    the method, its formula and its source. Raises SettingError, BudgetError for more than 128 rows or columns.
    """
    expect(found, Attribution, figure.NEEDED)
    sheet = Sheet(check_width(width))
    source_unread, earlier_unread = found.unread
    titles = _("explained ↓"), _("source →")
    end = grid(sheet, _cells(found, found.source, found.values, source_unread, found.kind, titles))
    if found.earlier is not None and found.earlier_values is not None and earlier_unread is not None:
        titles = _("explained ↓"), _("earlier output →")
        cells = _cells(found, found.earlier, found.earlier_values, earlier_unread, "decoder", titles)
        end = grid(sheet, cells, end + SMALL)
    return sheet.picture(end, caption(found), written=captioned)


def caption(found: Attribution) -> str:
    """The method, its formula and who proposed it; the model; and what the numbers are."""
    method = found.method
    name = sentence_words.capitalized(_(method.name))
    sentences = [
        _("{method} ({source}) of {model}.", method=name, source=method.source, model=visible(found.model)),
        _("A number is {formula}.", formula=_(method.formula)),
        _("A row explains one token by those that were read."),
    ]
    if found.contrast is not None:
        sentences.append(_("f is the logit of that token minus that of “{token}”.", token=visible(found.contrast)))
    elif method.sums is None:
        sentences.append(_("f is the log-probability of that token, in nats."))
    sentences.append(_("Drawn by bartviz {version}.", version=__version__))
    return " ".join(sentences)


def _cells(found: Attribution, axis: Axis, values: Floats, unread: Bools, kind: Kind, titles: tuple[str, str]) -> Cells:
    reach = Reach(figure.largest(found), found.method.sums is None, figure.unit(found), _("not read yet"))
    return Cells(
        values, ~unread, found.steps.labels, axis.labels, found.steps.special, axis.special, kind, titles, reach=reach
    )
