"""The experiments page, part "edit": one token is another one."""

from __future__ import annotations

from bartviz.language import mark
from bartviz.teaching.explanations import Explanation

EXPLANATION = Explanation(
    beginner=mark(r"""
**One word is exchanged: who hears of it?** Each column is a word, each row a floor of the model, the first at the
entrance. A coloured cell has changed; a written 0 has not changed at all.

At the entrance only the exchanged word is different. One floor higher, all words that may look at it have heard of it.

**Try it:** exchange a word in the middle, and see how the colour spreads.
"""),
    intermediate=mark(r"""
**Two runs, one token apart.** Everything else is given as it was, the output too. A cell is a position (column) after a
layer (row): how far its hidden state $h$ moved, as a share of its length, in powers of ten.

$$\frac{\lVert h' - h \rVert}{\lVert h \rVert}$$

**A written 0 is exact:** every number there is equal to the last bit.

**Bidirectional attention** (BERT, the encoder of BART): each position sees every other, so after *one* layer all of
them have heard of the change. **Causal attention** (GPT-2, a decoder): a position sees what came before it alone, so
what stands before the change stays exactly as it was, in every layer. A change of the source reaches the whole decoder
through cross-attention; a change of the target never reaches the encoder.

**Small is not nothing.** That a number moved says that there is a path, not that the meaning changed: look at the
probabilities below.
"""),
    expert=mark(r"""
**Why 0 can be said.** Both runs have the same shape and so go through the same arithmetic in the same order; runs of
different lengths would differ in the last bits without meaning. For that reason a token is replaced by exactly one
other token.

**Rows of attention** are compared by the Jensen-Shannon distance of each row of each head, averaged over heads in the
picture. Under "probabilities", $D(p \,\|\, p')$ of each row is in nats, and $\log p$ is of the record's own next token
in both runs: after a change it need not be the right one any more.

**A change is not a cause.** The new token brings its own meaning along: what moved is the answer to *this* exchange. To
ask what one path carries, states are put from one run into the other (causal mediation, Vig et al. 2020).
"""),
    terms=(
        "token",
        "hidden state",
        "layer",
        "bidirectional",
        "causal",
        "row",
        "Jensen-Shannon distance",
        "KL divergence",
        "probability",
        "teacher forcing",
    ),
    code="""
import bartviz

model = bartviz.load("bart-tiny-en-de")
record = bartviz.capture(model, "I want to buy a car.")
found = bartviz.edit(model, record, 6, "house")  # the token at position 6 of the source
print(found.old, "->", found.new)
print(found.hidden["encoder"].round(3))  # (1 + layers, tokens); 0 only where equal to the last bit
print(found.divergence.round(3))  # KL of each scored row, nats
""",
)
