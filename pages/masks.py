"""Who may see whom? The model's own masks for this text, a padded batch, other patterns, about 0 or exactly 0."""

import streamlit as st

from bartviz.analysis import masks as analysis
from bartviz.figures import masks as figure
from bartviz.ui import masks, page, show

EXPLAIN = """
**A square is a mask.** Each row is a token that looks, each column a token that is looked at. A coloured cell is open,
a hatched one closed: its weight is 0, and a map never shows it as a small weight.

**Encoder:** every token looks at every token; only padding is closed. **Decoder:** a token looks at itself and at what
came before it. In training all rows are computed at once and the mask keeps the answer hidden; while generating, what
would come later does not exist yet. **Cross:** every row of the decoder looks at the whole source.

**In the formula** a mask is a matrix *M* that is added to the scores: 0 where a cell is open, a large negative number
where it is closed. After the softmax its weight is *about* 0, and in the number formats that are used *exactly* 0.
Models differ in the number; fused kernels take the open cells alone, which is the same as minus infinity.

**A row that may look nowhere** still gets weights that sum to 1. They mean nothing; here they are hatched by the mask,
since their values look like any others.

**Row labels** of decoder squares are the tokens that a row *reads*: the mask is about what it may read.
"""


def main() -> None:
    record = page.begin("masks")
    show.lead(analysis.notice(record))
    shown = masks.choose(record)
    masks.squares(record, shown)
    masks.formula(record.attention(record.kinds[0]), shown.number)
    batch, patterns, zero = st.tabs(
        ["A batch of unequal lengths", "Other patterns", "About 0 or exactly 0"], on_change="rerun", key="part"
    )
    if batch.open:
        with batch:
            masks.padding(record)
    if patterns.open:
        with patterns:
            masks.patterns(record)
    if zero.open:
        with zero:
            masks.zero(record)
    show.table(analysis.table(record), title="Every row of every mask as a table")
    show.explain(EXPLAIN)
    show.downloads(
        "masks",
        table=lambda: analysis.table(record),
        arrays=lambda: {kind: record.attention(kind).mask for kind in record.kinds},
        figure=lambda: figure(record, dark=page.dark()),
    )


main()
