"""Pictures of a record for paper and slide: vector, in points, text as text, with a caption, drawn without a browser.

    picture = bartviz.paper.map(record, "cross", 2, 5, width=240)    # a column of 240 points
    picture.save("head.svg")                                         # .pdf and .png with the extra "paper"

    map(record, kind, layer, head)          the weights of a head; without head, or layer, a mean
    lines(record, kind, layer, head)        a line for each weight, queries on the left, keys on the right
    text(record, kind, layer, head, row)    the text shaded by one row
    ribbons(record, "cross L2H5")           two lines of words, ribbons between them
    alignment(record, ["cross L2H5"])       weights between words, a dot on each link
    overview(record, "cross")               all heads, each a small map
    attribution(found)                      what bartviz.attribute gives: steps by the tokens that were read
    latex(table)                            a table for LaTeX, such as one of these:
    parameters(name), measures(record, kind)   where a model's parameters are; every head's measures

Colours go from white to dark evenly in lightness, so that they are ordered in print without colour, too. The same
record gives the same bytes. The caption is in the language of the reader, and says what is drawn, of which model and
text, what names the rows, and the version; ``picture.caption`` has it, and ``captioned=False`` leaves it out.
"""

from bartviz.drawing.paper.alignment import alignment
from bartviz.drawing.paper.attribution import attribution
from bartviz.drawing.paper.heads import lines, map, text  # noqa: A004
from bartviz.drawing.paper.overview import overview
from bartviz.drawing.paper.picture import Picture
from bartviz.drawing.paper.ribbons import ribbons
from bartviz.drawing.paper.table import latex, measures, parameters

__all__ = [
    "Picture",
    "alignment",
    "attribution",
    "latex",
    "lines",
    "map",
    "measures",
    "overview",
    "parameters",
    "ribbons",
    "text",
]
