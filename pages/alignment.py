"""Which word became which? Word links read from cross-attention, judged by hand, and the heads that align."""

from bartviz.analysis import alignment as analysis
from bartviz.figures.alignment import lines
from bartviz.ui import alignment, page, show

EXPLAIN = """
**From attention to links.** While a translation is written, some heads look at the source word that is being
translated. Weights between tokens are made weights between words first: summed over the pieces of a source word,
averaged over the rows of an output word. Special tokens are no words; how much went to them is stated.

**Rows by what they predict, or read.** Row *t* of the decoder reads word *t* and chooses word *t* + 1. It looked
around in order to choose, so links are named by the word that a row **predicts**. But a few heads look back at the
source of the word just **read**: named by what they predict, all their links are shifted by one. Agreement cannot tell
the two apart, since a shifted line is as tidy as a right one; only an alignment made by hand can.

**Which pairs are linked.** *Both choose each other*: few links, mostly right. *Either*: more links, more of them
wrong. *Both, then neighbours* begins with the first and adds from the second what touches a link and joins a word that
has none (grow-diag, Koehn, Och and Marcu 2003).

**Judged by hand.** Sure links *S* are those that everybody would draw, possible links *P* those that can be defended.
Of the links found *A*: precision = |A ∩ P| / |A|, recall = |A ∩ S| / |S|, and the **alignment error rate**
1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|), 0 is perfect (Och and Ney 2003). Round marks are sure links, diamonds possible
ones, crosses neither; a filled mark was found, a hollow one was not.

**One sentence proves little.** A head that is best here may be lucky. Words are runs of letters and digits, and every
other sign alone; in Korean a word keeps its particles.

Attention shows where a head looked, not why the model said what it said.
"""


def main() -> None:
    record = alignment.aligning(page.begin("alignment"))
    chosen = alignment.choose(record)
    show.lead(analysis.notice(chosen.shown, chosen.links, chosen.gold))
    alignment.picture(chosen)
    alignment.numbers(record, chosen)
    alignment.line(chosen)
    alignment.ranking(chosen)
    show.table(
        analysis.link_table(chosen.shown, chosen.links, chosen.gold), title="Every link with its weight as a table"
    )
    show.explain(EXPLAIN)
    show.downloads(
        "alignment",
        table=lambda: analysis.link_table(chosen.shown, chosen.links, chosen.gold),
        arrays=lambda: alignment.arrays(chosen),
        figure=lambda: lines(chosen.shown, chosen.links, gold=chosen.gold, dark=page.dark()),
        record=record,
    )


main()
