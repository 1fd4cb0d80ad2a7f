"""Where does each word look? Every layer and head of the text, one of them large."""

import streamlit as st

from bartviz.analysis import heads as analysis
from bartviz.figures import heads as figure
from bartviz.ui import heads, page, show

EXPLAIN = """
**A row attends to columns.** Each row is a token that looks, each column a token that is looked at; the stronger the
colour, the more of that column's *value* goes into the row's output. The weights of a row sum to 1.

**Layers and heads.** Each layer has several heads, and each head looks in its own way. The small maps show all of them
at once; small means that each block of tokens shows its largest weight. The large map is exact.

**Means.** A mean over heads hides heads: where one looks left and one looks right, the mean looks both ways. It is
offered, and called a mean: at the end of each line of small maps, and below them that of all heads.

**Several tokens at once.** Shift and click, or drag along a token axis: the mean of the rows is shaded, and the sum is
said. Choose columns, and the text shows who looks at them, all taken together.

**Special tokens and full stops** often take much of the weight: a head that has nothing to look for rests there. They
can be hidden; then the hidden share is stated, and rows no longer sum to 1 unless they are divided by what is left.

**Decoder rows.** Row *t* reads token *t* and predicts token *t* + 1. Both names are offered; alignments are right by
the token that a row predicts.

Attention shows where a head looked, not why the model said what it said.
"""


def main() -> None:
    record = page.begin("heads")
    place = st.container()
    chosen = heads.choose(record)
    shown = chosen.view()
    with place:
        show.lead(analysis.notice(shown))
    choice = heads.large(chosen)
    heads.note(chosen, shown)
    heads.numbers(shown, choice)
    show.explain(EXPLAIN)
    show.downloads(
        "heads",
        table=lambda: analysis.table(shown),
        arrays=lambda: analysis.arrays(chosen.attention, chosen.layer, chosen.rows),
        figure=lambda: figure(
            chosen.attention, layer=chosen.layer, head=chosen.head, query=chosen.rows, words=chosen.words,
            hide_sinks=chosen.hide_sinks, renormalise=chosen.renormalise, range=chosen.range, dark=page.dark(),
        ),
        record=record,
    )  # fmt: skip


main()
