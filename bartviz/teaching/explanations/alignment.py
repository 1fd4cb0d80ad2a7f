"""The alignment page: which word became which."""

from __future__ import annotations

from bartviz.language import mark
from bartviz.teaching.explanations import Explanation

EXPLANATION = Explanation(
    beginner=mark(r"""
**A line joins two words that seem to belong together**, one of the text and one of its translation. Nobody told the
model which words belong together: the lines are read from where it looked while it wrote, and some may be wrong.

A head that links well acts like a finger that follows the text while reading aloud. Some do, most don't.

**Try it:** do lines cross? There the two languages put their words in a different order.
"""),
    intermediate=mark(r"""
**From attention to links.** Weights between tokens are made weights between words first: summed over the pieces of a
source word, averaged over the rows of an output word. Special tokens are no words; how much went to them is stated.

**Rows by what they predict, or read.** Row $t$ of the decoder reads word $t$ and chooses word $t + 1$. It looked around
in order to choose, so links are named by the word that a row **predicts**. But a few heads look back at the source of
the word just **read**: named by what they predict, all their links are shifted by one. Agreement cannot tell the two
apart, since a shifted line is as tidy as a right one. The ends of the text often can (the column *looks* of the
ranking), and an alignment made by hand always.

**Which pairs are linked.** *Both choose each other*: few links, mostly right. *Either*: more links, more of them
wrong. *Both, then neighbours* begins with the first and adds from the second what touches a link and joins a word that
has none.

**Judged by hand.** Sure links $S$ are those that everybody would draw, possible links $P$ those that can be defended.
Of the links found, $A$:

$$\text{precision} = \frac{|A \cap P|}{|A|}, \qquad \text{recall} = \frac{|A \cap S|}{|S|}, \qquad
\text{error rate} = 1 - \frac{|A \cap S| + |A \cap P|}{|A| + |S|}$$

Round marks are sure links, diamonds possible ones, crosses neither; a filled mark was found, a hollow one was not.

Attention shows where a head looked, not why the model said what it said.
"""),
    expert=mark(r"""
**Definitions.** $S \subseteq P$. The error rate is Och and Ney's (2003); several sentences are counted together, not
averaged. Where no link is sure it is $1 - \text{precision}$; where none is found either, $0 / 0$, it is none, and such
heads stand last. *Both, then neighbours* is grow-diag (Koehn, Och and Marcu 2003, section 4) without its final step.
*Agreement*, by which heads are ranked without links made by hand, is the weight on pairs that choose each other, over
the number of output words.

**One sentence proves little.** The best of many heads on one sentence is partly luck: choose the head on some
sentences, judge it on others. A low error rate also depends on how freely possible links were drawn (Fraser and Marcu
2007 show how weakly it predicts translation quality).

**What a word is.** Runs of letters and digits, and every other sign alone; in Korean a word keeps its particles, so
links of Korean are coarser than those of its morphemes.

**Alignment is not translation.** A translation can be right where the links of a head are wrong, and many heads never
align (Ding et al. 2019; Ferrando and Costa-jussà 2021).
"""),
    terms=("alignment", "cross-attention", "weight", "head", "row", "gold", "precision", "recall", "AER", "piece"),
    code="""
import bartviz
from bartviz.analysis import alignment, pharaoh
from bartviz.record.attention import Head

model = bartviz.load("bart-tiny-en-de")
record = bartviz.capture(model, "I want to buy a car.", target="Ich will ein Auto kaufen.")
table = alignment.table(record, [Head("cross", 1, 0)])  # weights between words, (target, source)
links = alignment.links(table.weights, "mutual")
print(pharaoh.write(links))
gold = pharaoh.read("0-0 1-1 3-4 4-2 5-3 6-5", len(table.source), len(table.target))
print(pharaoh.score(links, gold).error_rate)
""",
)
