"""The heads page: every layer and head, one of them large."""

from __future__ import annotations

from bartviz.language import mark
from bartviz.teaching.explanations import Explanation

EXPLANATION = Explanation(
    beginner=mark(r"""
**A row looks at columns.** Each row of the large square is a word that looks, each column a word that is looked at. The
stronger the colour, the more it looks there. The shares of a row always make 100 % together.

The small squares are the model's many *heads*, floor by floor (*layers*). Each looks in its own way: one perhaps at the
word before, one at the full stop, one at the word that means the same.

**Try it:** click two small squares. Do you see a slanted line? That head goes along with the text, word by word.
"""),
    intermediate=mark(r"""
**A row attends to columns.** The stronger the colour, the more of that column's *value* goes into the row's output:

$$o_i = \sum_j \alpha_{ij} v_j, \qquad \sum_j \alpha_{ij} = 1$$

**Layers and heads.** Each layer has several heads, and each head looks in its own way. The small maps show all of them
at once; small means that each block of tokens shows its largest weight. The large map is exact.

**Means.** A mean over heads hides heads: where one looks left and one looks right, the mean looks both ways. It is
offered, and called a mean: at the end of each line of small maps, and below them that of all heads.

**Several tokens at once.** Shift and click, or drag along a token axis: the mean of the rows is shaded, and the sum is
said. Choose columns, and the text shows who looks at them, all taken together.

**Special tokens and full stops** often take much of the weight: a head that has nothing to look for rests there. They
can be hidden; then the hidden share is stated, and rows no longer sum to 1 unless they are divided by what is left.

**Decoder rows.** Row $t$ reads token $t$ and predicts token $t + 1$. Both names are offered; alignments are right by
the token that a row predicts.

Attention shows where a head looked, not why the model said what it said.
"""),
    expert=mark(r"""
**Definitions.** $\alpha^{lh} = \mathrm{softmax}(q^{lh} k^{lh\top} \cdot \mathrm{scale} + b + M)$ for layer $l$ and
head $h$, both counted from 0, computed from the queries and keys that the layer used. Merged into words, weights are
summed over the tokens of a column's word and averaged over those of a row's word, so rows still sum to 1:

$$A_{ts} = \frac{1}{|t|} \sum_{i \in t} \sum_{j \in s} \alpha_{ij}$$

**Colours.** The range is fixed to 0 and 1, so that maps can be compared. "Each row's largest" divides by the row's
maximum; "powers of ten" goes from 0.0001 to 1. Both change what looks important: neither is a probability any more.

**What a map cannot say.** Weights are not effects: values of little length (Kobayashi et al. 2020) and heads that stand
in for each other (Michel et al. 2019) are not seen in it. Weight on delimiters mostly changes little (Clark et al.
2019, section 3.2). From the second layer on a column is a *place*: its state already holds other words too
(Abnar and Zuidema 2020; Brunner et al. 2020).
"""),
    terms=("attention", "self-attention", "cross-attention", "row", "weight", "layer", "head", "value", "sink", "mask"),
    code="""
import bartviz

model = bartviz.load("bart-tiny-en-de")
record = bartviz.capture(model, "I want to buy a car.")
print(record.encoder.shape)  # layers, heads, rows, keys
weights = record.encoder.head(1, 2)  # (rows, keys), rows sum to 1
print(record.encoder.layer(1).mean(axis=0).round(2))  # a mean over heads: call it one
figure = bartviz.figures.heads(record.cross, layer=2)  # a plotly figure
""",
)
