"""The start page: ribbons between a text and what was made of it."""

from __future__ import annotations

from bartviz.language import mark
from bartviz.teaching.explanations import Explanation

EXPLANATION = Explanation(
    beginner=mark(r"""
**A ribbon says where a word looked.** Above is the text that the model read, below what it wrote. Before it wrote a
word it looked back at the words above: the wider the ribbon, the more it looked there. (A model that only reads looks
at its own text.)

**Try it:** point at a word below, or tap it, and its ribbons stay. Does it look mostly at the word that means the same?
"""),
    intermediate=mark(r"""
**A ribbon is a weight.** The weights $\alpha_{ij}$ of one word $i$ below always sum to 1, so its ribbons share one
width between them:

$$\alpha_{ij} \ge 0, \qquad \sum_j \alpha_{ij} = 1$$

**Which head?** The model looks in many ways at once: each *head* of each layer has weights of its own. Shown is, of
those that look for the word to come, the head whose words choose each other most: a word below looks mostly at a word
above, and no other word below looks at that one as much. Other heads look elsewhere, often at `<s>`, `</s>` or the full
stop.

**"Chosen with 92 %"** is the probability that the model gave to the word before it wrote it; for a word in several
pieces it is the product over them. **Attention shows where a word looked, not why it was chosen.**
"""),
    expert=mark(r"""
**From tokens to words.** Weights are summed over the tokens of a word that is looked at, and averaged over the rows of
the word that looks. A row of the decoder is named by the token that it *predicts*: row $t$ reads token $t$ and chooses
token $t + 1$. Special tokens stay in both lines, so that a row sums to 1. Weights under 0.02 draw no ribbon.

**The head** is the one with the largest score, special tokens left out, among $T$ words below:

$$\frac{1}{T} \sum_{(t, s)} A_{ts} \quad \text{over pairs with} \quad
s = \arg\max_{s'} A_{ts'}, \; t = \arg\max_{t'} A_{t's}$$

It is chosen on this very text, so it looks better here than it may be. *Alignment* judges heads against links that
people drew.

**Weight is not effect.** A wide ribbon can carry a value of nearly no length (Kobayashi et al. 2020), and other weights
can give nearly the same output (Jain and Wallace 2019; Wiegreffe and Pinter 2019 on what follows from that).
"""),
    terms=("token", "attention", "cross-attention", "weight", "head", "layer", "probability", "sink"),
    code="""
import bartviz

model = bartviz.load("bart-tiny-en-de")
record = bartviz.capture(model, "I want to buy a car.")
weights = record.cross.head(1, 0)  # (rows of the decoder, source tokens), rows sum to 1
for step in record.steps:
    row = weights[step.row]
    print(step.chosen.label, "looked at", record.source.labels[row.argmax()], round(float(row.max()), 2))
""",
)
