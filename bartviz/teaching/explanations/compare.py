"""The compare page: all heads by two measures, and two of them beside each other."""

from __future__ import annotations

from bartviz.language import mark
from bartviz.teaching.explanations import Explanation

EXPLANATION = Explanation(
    beginner=mark(r"""
**A point is a head.** Two numbers say where it lies, such as how widely the head looks and how well it links words; you
choose them above the picture. Heads that do the same lie close together, one that does something of its own lies apart.
But two neighbours may still look at different words: only their maps tell.

Choose two of them, **A** and **B**: the maps below show both, and the third what differs. Orange is where A looks more,
blue where B does.

**Try it:** take a point far from all others as A. What does its map look like?
"""),
    intermediate=mark(r"""
**Where a point lies** is what the head does with *this* text, by two numbers that you choose; the matrix shows a third
one for every layer and head. *What is measured* has each formula, unit, range and source. Two of them:

$$\text{entropy} = -\sum_j \alpha_{ij} \log_2 \alpha_{ij}, \qquad \text{mean distance} = \sum_j \alpha_{ij}\, |i - j|$$

**Names** are given only with their score and the threshold that it passed; a head that passes none is unclassified.
They hold for this text: a head that looks at the previous token here may do something else elsewhere.

**A and B** may be any two heads: of other layers, other kinds, another text or another model (*Other run*). A
difference needs the same tokens on both sides.

**Jensen-Shannon distance** compares two rows of weights: 0 if they are equal, 1 if they have no key in common.

**Weight is not contribution.** A head may put its weight on a token whose value is nearly nothing; the tab *Attention
and contribution* shows both. Neither says why the model chose a word.
"""),
    expert=mark(r"""
**Jensen-Shannon distance** is the square root of the divergence in bits, a metric (Endres and Schindelin 2003),
averaged over the rows that have a choice and are no special tokens:

$$d(p, q) = \sqrt{H\left(\tfrac{p + q}{2}\right) - \tfrac{1}{2} H(p) - \tfrac{1}{2} H(q)}$$

**Contribution** of key $j$ to row $i$ through head $h$, and of all heads together (Kobayashi et al. 2020, equations 2
and 3). In the second the vectors are summed before their length is taken, so they may cancel:

$$\lVert \alpha_{ij}^h W_O^h v_j^h \rVert, \qquad \Bigl\lVert \sum_h \alpha_{ij}^h W_O^h v_j^h \Bigr\rVert$$

**Rollout** (Abnar and Zuidema 2020) averages the heads of a layer, gives half of each row to the residual, and
multiplies the layers. Values, feed-forward parts and LayerNorm are left out, and half is a convention:

$$R_l = \tfrac{1}{2}\left(\bar{A}_l + I\right) R_{l-1}, \qquad R_{-1} = I$$

**Reading the scatter.** Measures differ in which rows count; *What is measured* says which. Padding never does.
One sentence is one sample: take several texts before you name a head.
"""),
    terms=(
        "head",
        "weight",
        "entropy",
        "sink",
        "Jensen-Shannon distance",
        "contribution",
        "rollout",
        "value",
        "residual",
    ),
    code="""
import bartviz
from bartviz.analysis import contributions, distance, measures, rollout

model = bartviz.load("bart-tiny-en-de")
record = bartviz.capture(model, "I want to buy a car.", values=True)
measured = measures.of_record(record, "encoder")
print(measured.values["entropy"].round(2))  # (layers, heads), bits
apart = distance.distances(record.encoder, 1, 0)  # (layers, heads): how far each head is from L1H0
print(rollout.rollout(record.encoder).round(2))  # (tokens, tokens), rows sum to 1
print(contributions.norms(record.encoder, 1, 0).round(2))  # lengths of what each key adds
figure = bartviz.figures.compare(record.encoder, x="distance", y="previous")
""",
)
