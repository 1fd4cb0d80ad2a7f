"""Pictures of results for paper and slide: vector, in points, text as text, with a caption, drawn without a browser.

    picture = bartviz.paper.map(record, "cross", 2, 5, width=240)    # a column of 240 points
    picture.save("head.svg")                                         # .pdf and .png with the extra "paper"

    map(record, kind, layer, head)          the weights of a head; without head, or layer, a mean
    lines(record, kind, layer, head)        a line for each weight, queries on the left, keys on the right
    text(record, kind, layer, head, row)    the text shaded by one row
    ribbons(record, "cross L2H5")           two lines of words, ribbons between them
    alignment(record, ["cross L2H5"])       weights between words, a dot on each link
    overview(record, "cross")               all heads, each a small map
    attribution(found)                      what bartviz.attribute gives: steps by the tokens that were read
    rollout(record, kind)                   the share of each token after all layers, by the weights
    contributions(record, "cross L2H5")     the length of what each key adds to a row, through one head

Of all heads over a corpus or in an experiment:

    atlas(atlas, measure, kind)             the mean of each head, and which intervals leave out even attention
    atlas_pair(atlas, other, measure, kind) what differs between two atlases, head by head, tested
    scatter(atlas, x, y, kind)              one measure by another, with the intervals of both
    sweep(found, record)                    what silencing each head changes, of bartviz.ablate_sweep

Tables, for ``latex(table, columns=[...])``:

    heads(atlas, kind, measures)            means of heads with their intervals
    rounded(table)                          numbers with an interval, such as those of bartviz.find_heads, rounded by it
    parameters(name), measures(record, kind)   where a model's parameters are; every head's measures

Colours go from white to dark evenly in lightness, so that they are ordered in print without colour, too. The same
record gives the same bytes. The caption is in the language of the reader, and says what is drawn, of which model and
text, what names the rows, and the version; ``picture.caption`` has it, and ``captioned=False`` leaves it out.
"""

from bartviz.drawing.paper.alignment import alignment
from bartviz.drawing.paper.atlas import atlas, atlas_pair, scatter
from bartviz.drawing.paper.attribution import attribution
from bartviz.drawing.paper.flow import contributions, rollout
from bartviz.drawing.paper.heads import lines, map, text  # noqa: A004
from bartviz.drawing.paper.overview import overview
from bartviz.drawing.paper.picture import Picture
from bartviz.drawing.paper.ribbons import ribbons
from bartviz.drawing.paper.sweep import sweep
from bartviz.drawing.paper.table import heads, heads_caption, latex, measures, parameters, rounded, with_interval

__all__ = [
    "Picture",
    "alignment",
    "atlas",
    "atlas_pair",
    "attribution",
    "contributions",
    "heads",
    "heads_caption",
    "latex",
    "lines",
    "map",
    "measures",
    "overview",
    "parameters",
    "ribbons",
    "rollout",
    "rounded",
    "scatter",
    "sweep",
    "text",
    "with_interval",
]
